"""Ollama by its own API, `/api/chat`.

Its OpenAI-compatible one cuts what is longer than the context, which is 4,096 tokens on most machines, in silence, and
cannot be asked for more. Here the context is named with every call, and a reply says how much was read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace

from ragways.core.stream import OnText
from ragways.core.trace import Usage
from ragways.models.call import Call, Message, ModelTraits, Reply, ToolCall
from ragways.models.limits import TryAgain, count_call
from ragways.models.repeats import RepeatsItself, RepeatWatch, cut_to_one_copy
from ragways.models.reply import whole_characters
from ragways.models.tokens import count_text
from ragways.models.transport import Extras, Refused, Transport

_USUAL = ModelTraits()
USUAL_CONTEXT = 16_384
"""Tokens asked for where none are set: the largest prompts with their replies fit, and so does the memory they take."""


class OllamaModel:
    """`POST {host}/api/chat`, one try a call."""

    def __init__(
        self,
        base_url: str,
        key: str | None,
        model: str,
        *,
        timeout: float = 60.0,
        total_timeout: float = 1800.0,
        extras: Extras | None = None,
        traits: ModelTraits = _USUAL,
    ) -> None:
        host = base_url.rstrip("/").removesuffix("/v1")
        self._transport = Transport(host, key, timeout=timeout, total_timeout=total_timeout, extras=extras)
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._wanted = traits.context
        self._context: int | None = None
        self._top_p = traits.top_p
        self._think = traits.effort

    def __repr__(self) -> str:
        return f"OllamaModel({self.base_url!r}, model={self._model!r})"

    @property
    def name(self) -> str:
        return self._model

    @property
    def base_url(self) -> str:
        return self._base_url

    async def context(self) -> int:
        """Return how many tokens a call may read and write: what is set, at most what the model was made for."""
        if self._context is None:
            most = await self._most()
            wanted = self._wanted or USUAL_CONTEXT
            self._context = min(wanted, most) if most else wanted
        return self._context

    async def _most(self) -> int | None:
        try:
            about = await self._transport.post("/api/show", {"model": self._model})
        except (Refused, TryAgain):
            return None
        facts = about.get("model_info") if about else None
        found = facts.items() if isinstance(facts, dict) else ()
        sizes = [value for name, value in found if str(name).endswith(".context_length") and isinstance(value, int)]
        return sizes[0] if sizes else None

    async def send(self, call: Call) -> Reply:
        return await self._ask(call, None)

    async def stream(self, call: Call, on_text: OnText) -> Reply:
        """As `send`; the text is passed on as it comes."""
        return await self._ask(call, on_text)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _ask(self, call: Call, on_text: OnText | None) -> Reply:
        began = time.perf_counter()
        body = await self._body(call, streaming=on_text is not None)
        parts = _Parts(on_text)
        try:
            whole = await self._transport.post("/api/chat", body, parts.take if on_text is not None else None)
            if whole is not None:
                parts.take(whole)
            reply = parts.reply(self._model)
        except RepeatsItself:
            reply = Reply(cut_to_one_copy(parts.text), model=self._model, finish="repeats")
        except Refused as refused:
            raise refused.explained(self.base_url, self._model) from None
        if on_text is not None and (whole is not None or reply.repeats):
            on_text(reply.text, restart=True)
        if reply.usage.calls == 0:
            usage = Usage(calls=1, input=count_call(call), output=count_text(parts.text))
            reply = replace(reply, usage=usage, estimated=True)
        return replace(reply, seconds=time.perf_counter() - began)

    async def _body(self, call: Call, *, streaming: bool) -> dict[str, object]:
        options: dict[str, object] = {
            "num_ctx": await self.context(),
            "num_predict": call.max_output,
            "temperature": call.temperature,
        }
        if self._top_p is not None:
            options["top_p"] = self._top_p
        if call.seed is not None:
            options["seed"] = call.seed
        body: dict[str, object] = {
            "model": self._model,
            "messages": [_message(message) for message in call.messages],
            "stream": streaming,
            "options": options,
        }
        if call.schema is not None:
            body["format"] = call.schema
        if call.tools:
            body["tools"] = [
                {"type": "function", "function": {"name": tool.name, "description": tool.description,
                                                  "parameters": tool.parameters}}
                for tool in call.tools
            ]  # fmt: skip
        if self._think:
            body["think"] = self._think
        return body


class _Parts:
    """A reply put together from the lines of a stream, or from its only one."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._watch = RepeatWatch()
        self._begun = False
        self._pieces: list[str] = []
        self._calls: list[ToolCall] = []
        self._last: Mapping[str, object] = {}

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, line: Mapping[str, object]) -> bool:
        """Take a line; return whether it carries anything."""
        if line.get("done"):
            self._last = line
        message = line.get("message")
        if not isinstance(message, dict):
            return bool(line.get("done"))
        content = message.get("content")
        if isinstance(content, str) and content:
            self._pieces.append(content)
            if self._on_text is not None:
                self._on_text(content, restart=not self._begun)
                self._begun = True
                self._watch.take(content)
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                given = function.get("arguments")
                arguments = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
                name = str(function.get("name") or "")
                self._calls.append(ToolCall(f"call{len(self._calls) + 1}", name, whole_characters(arguments)))
        return bool(line.get("done") or content or message.get("thinking") or message.get("tool_calls"))

    def reply(self, model: str) -> Reply:
        """Return the whole reply; one that was cut off by the line is tried again."""
        if not self._last:
            raise TryAgain("the reply was cut off in mid-stream", lost=True)
        read, written = (self._last.get(name) for name in ("prompt_eval_count", "eval_count"))
        counted = isinstance(read, int) and isinstance(written, int) and read > 0
        usage = Usage(calls=1, input=read, output=written) if counted else Usage()  # type: ignore[arg-type]
        finish = "tool_calls" if self._calls else str(self._last.get("done_reason") or "stop")
        return Reply(
            text=whole_characters(self.text), usage=usage, model=str(self._last.get("model") or model),
            tool_calls=tuple(self._calls), finish=finish,
        )  # fmt: skip


def _message(message: Message) -> dict[str, object]:
    body: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _object(call.arguments)}} for call in message.tool_calls
        ]
    return body


def _object(arguments: str) -> object:
    """Arguments as the object that they are, or as they were written."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return {"arguments": arguments}
