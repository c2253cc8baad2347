"""Any OpenAI-compatible endpoint for chat: OpenAI, Anthropic, Gemini, Mistral, vLLM, Ollama, llama.cpp, LM Studio…"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from ragways.core.trace import Usage
from ragways.models.bound import count_call, count_text
from ragways.models.call import Call, Reply, ToolCall
from ragways.models.dialect import Dialect
from ragways.models.traffic import TryAgain
from ragways.models.wire import Refused, Wire


class Endpoint:
    """`POST {base_url}/chat/completions`, one try a call. The layers around it are those of the client."""

    def __init__(self, base_url: str, key: str | None, model: str, *, timeout: float = 60.0) -> None:
        self._wire = Wire(base_url, key, timeout=timeout)
        self._model = model
        self._dialect = Dialect()

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, model={self._model!r})"

    @property
    def name(self) -> str:
        return self._model

    @property
    def base_url(self) -> str:
        return self._wire.base_url

    async def send(self, call: Call) -> Reply:
        began = time.perf_counter()
        data = await self._said(call)
        reply = _reply(data, self._model)
        if reply.usage.calls == 0:
            usage = Usage(calls=1, input=count_call(call), output=count_text(reply.text))
            reply = replace(reply, usage=usage, estimated=True)
        return replace(reply, seconds=time.perf_counter() - began)

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def _said(self, call: Call) -> Mapping[str, object]:
        """What the endpoint answers. A 400 may mean that it does not know a word we used: say it more simply."""
        dialect, first = self._dialect, None
        while True:
            try:
                data = await self._wire.post("/chat/completions", dialect.body(self._model, call))
            except Refused as refused:
                first = first or refused
                simpler = dialect.simpler(call, refused.said) if refused.status in (400, 422) else None
                if simpler is None:
                    raise first.explained(self.base_url, self._model) from None
                dialect = simpler
            else:
                if first is not None:
                    self._dialect = dialect
                return data


def _reply(data: Mapping[str, object], model: str) -> Reply:
    try:
        choice = data["choices"][0]  # type: ignore[index]
        message = choice["message"]
        content = message.get("content")
        calls = tuple(_tool_call(one) for one in message.get("tool_calls") or ())
        finish = str(choice.get("finish_reason") or "stop")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise TryAgain("the reply has no message in it") from None
    return Reply(
        text=_sound(_text(content)),
        usage=_usage(data.get("usage")),
        model=str(data.get("model") or model),
        tool_calls=calls,
        finish=finish,
    )


def _text(content: object) -> str:
    """A text, or the texts of a list of parts, which some endpoints send."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _sound(text: str) -> str:
    """Without halves of characters, which no database takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _tool_call(data: Mapping[str, object]) -> ToolCall:
    function = data["function"]
    if not isinstance(function, dict):
        raise TypeError
    return ToolCall(str(data.get("id") or ""), str(function["name"]), _sound(str(function.get("arguments") or "{}")))


def _usage(data: object) -> Usage:
    """Tokens as the endpoint counted them; an empty usage when it sent none."""
    if not isinstance(data, dict) or not (_number(data, "prompt_tokens") or _number(data, "completion_tokens")):
        return Usage()
    read, written = _number(data, "prompt_tokens"), _number(data, "completion_tokens")
    return Usage(
        calls=1,
        input=read,
        output=written,
        cached=min(read, _number(data.get("prompt_tokens_details"), "cached_tokens")),
        reasoning=min(written, _number(data.get("completion_tokens_details"), "reasoning_tokens")),
    )


def _number(data: object, name: str) -> int:
    value = data.get(name) if isinstance(data, dict) else None
    return max(0, int(value)) if isinstance(value, int | float) and math.isfinite(value) else 0
