"""Any OpenAI-compatible endpoint for chat: OpenAI, Anthropic, Gemini, Mistral, vLLM, Ollama, llama.cpp, LM Studio…

Endpoints that call themselves compatible differ. What one understands is learnt from its 400s, once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ragways.core.stream import OnText
from ragways.core.trace import Usage
from ragways.models.call import Call, Message, Reply, ToolCall
from ragways.models.limits import TryAgain, count_call, token_count
from ragways.models.reply import is_strict, whole_characters
from ragways.models.tokens import count_text
from ragways.models.transport import Refused, Transport

MOST_TOOL_CALLS = 1000


class Endpoint:
    """`POST {base_url}/chat/completions`, one try a call. The layers around it are those of the client."""

    def __init__(self, base_url: str, key: str | None, model: str, *, timeout: float = 60.0) -> None:
        self._transport = Transport(base_url, key, timeout=timeout)
        self._model = model
        self._dialect = Dialect()

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, model={self._model!r})"

    @property
    def name(self) -> str:
        return self._model

    @property
    def base_url(self) -> str:
        return self._transport.base_url

    async def send(self, call: Call) -> Reply:
        return await self._timed(call, None)

    async def stream(self, call: Call, on_text: OnText) -> Reply:
        """As `send`, by server-sent events. An endpoint that knows no streams gives its text in one piece."""
        return await self._timed(call, on_text)

    async def _timed(self, call: Call, on_text: OnText | None) -> Reply:
        began = time.perf_counter()
        data, streamed = await self._asked(call, on_text)
        reply = _reply(data, self._model)
        if on_text is not None and not streamed:
            on_text(reply.text, restart=True)
        if reply.usage.calls == 0:
            usage = Usage(calls=1, input=count_call(call), output=count_text(reply.text))
            reply = replace(reply, usage=usage, estimated=True)
        return replace(reply, seconds=time.perf_counter() - began)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _asked(self, call: Call, on_text: OnText | None) -> tuple[Mapping[str, object], bool]:
        """What the endpoint answers, and whether it was a stream.

        A 400 may mean that it does not know a word we used: say it more simply.
        """
        dialect, first = self._dialect, None
        while True:
            streamed = _Streamed(on_text)
            body = dialect.body(self._model, call, streaming=on_text is not None)
            try:
                data = await self._transport.post(
                    "/chat/completions", body, streamed.take if on_text is not None else None
                )
            except Refused as refused:
                first = first or refused
                known = refused.status in (400, 422)
                simpler = dialect.simpler(call, refused.said, on_text is not None) if known else None
                if simpler is None:
                    raise first.explained(self.base_url, self._model) from None
                dialect = simpler
            else:
                if first is not None:
                    self._dialect = dialect
                return (streamed.whole(), True) if data is None else (data, False)


class _Streamed:
    """A streamed reply put together from its events, in the form of one that was not streamed."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._pieces: list[str] = []
        self._tool_calls: dict[int, dict[str, str]] = {}
        self._finish: object = None
        self._done = False
        self._rest: dict[str, object] = {}

    def take(self, event: dict[str, object]) -> None:
        self._done = self._done or bool(event.get("done"))
        self._rest |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        try:
            for choice in event.get("choices") or ():  # type: ignore[attr-defined]
                self._finish = choice.get("finish_reason") or self._finish
                delta = choice.get("delta") or {}
                self._take_text(_text(delta.get("content")))
                for part in delta.get("tool_calls") or ():
                    self._take_tool_call(part)
        except (KeyError, TypeError, AttributeError):
            raise TryAgain("an event of the stream is not one of a reply", lost=True) from None

    def _take_text(self, piece: str) -> None:
        if piece:
            if self._on_text is not None:
                self._on_text(piece, restart=not self._pieces)
            self._pieces.append(piece)

    def _take_tool_call(self, part: Mapping[str, object]) -> None:
        function = part.get("function")
        given = function if isinstance(function, dict) else {}
        at = part.get("index")
        at = at if isinstance(at, int) and 0 <= at < MOST_TOOL_CALLS else 0
        call = self._tool_calls.setdefault(at, {"id": "", "name": "", "arguments": ""})
        call["id"] = call["id"] or str(part.get("id") or "")
        call["name"] = call["name"] or str(given.get("name") or "")
        call["arguments"] += str(given.get("arguments") or "")

    def whole(self) -> Mapping[str, object]:
        if self._finish is None and not self._done:
            raise TryAgain("the reply was cut off in mid-stream", lost=True)
        calls = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(self._tool_calls.items())
        ]
        message = {"content": "".join(self._pieces), "tool_calls": calls}
        return {**self._rest, "choices": [{"message": message, "finish_reason": self._finish}]}


def _reply(data: Mapping[str, object], model: str) -> Reply:
    try:
        choice = data["choices"][0]  # type: ignore[index]
        message = choice["message"]
        content = message.get("content")
        calls = tuple(_tool_call(call) for call in message.get("tool_calls") or ())
        finish = str(choice.get("finish_reason") or "stop")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise TryAgain("the reply has no message in it", lost=True) from None
    return Reply(
        text=whole_characters(_text(content)),
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


def _tool_call(data: Mapping[str, object]) -> ToolCall:
    function = data["function"]
    if not isinstance(function, dict):
        raise TypeError
    return ToolCall(
        str(data.get("id") or ""), str(function["name"]), whole_characters(str(function.get("arguments") or "{}"))
    )


def _usage(data: object) -> Usage:
    """Tokens as the endpoint counted them; an empty usage when it sent none."""
    read, written = token_count(data, "prompt_tokens"), token_count(data, "completion_tokens")
    if not isinstance(data, dict) or read is None or written is None or not read + written:
        return Usage()
    return Usage(
        calls=1,
        input=read,
        output=written,
        cached=min(read, token_count(data.get("prompt_tokens_details"), "cached_tokens") or 0),
        reasoning=min(written, token_count(data.get("completion_tokens_details"), "reasoning_tokens") or 0),
    )


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to say a call. `max_tokens` first: an old server ignores the newer name, and nothing bounds its reply."""

    form: Literal["json_schema", "json_object", "plain"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True
    stream: Literal["with usage", "plain", "no"] = "with usage"

    def simpler(self, call: Call, said: str, streaming: bool = False) -> Dialect | None:
        """What to try after a 400 that said `said`; None when nothing is left to leave out."""
        said = said.lower()
        if streaming and self.stream != "no" and "stream" in said:
            return replace(self, stream="plain" if self.stream == "with usage" and "stream_options" in said else "no")
        if self.limit == "max_tokens" and "max_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if self.seed and call.seed is not None and "seed" in said:
            return replace(self, seed=False)
        if call.schema is None or self.form == "plain":
            return None
        return replace(self, form="json_object" if self.form == "json_schema" else "plain")

    def body(self, model: str, call: Call, streaming: bool = False) -> dict[str, object]:
        """The JSON to send."""
        body: dict[str, object] = {
            "model": model,
            "messages": [_message(m) for m in self._messages(call)],
            self.limit: call.max_output,
        }
        if self.temperature:
            body["temperature"] = call.temperature
        if self.seed and call.seed is not None:
            body["seed"] = call.seed
        if call.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
                }
                for t in call.tools
            ]
        if call.schema is not None and self.form != "plain":
            body["response_format"] = self._format(call)
        if streaming and self.stream != "no":
            body["stream"] = True
            if self.stream == "with usage":  # else no tokens are counted in a stream
                body["stream_options"] = {"include_usage": True}
        return body

    def _format(self, call: Call) -> dict[str, object]:
        if self.form == "json_object":
            return {"type": "json_object"}
        schema = {"name": call.schema_name, "schema": call.schema, "strict": is_strict(call.schema)}
        return {"type": "json_schema", "json_schema": schema}

    def _messages(self, call: Call) -> tuple[Message, ...]:
        return call.messages if call.schema is None or self.form == "json_schema" else with_schema(call)


def with_schema(call: Call) -> tuple[Message, ...]:
    """The messages with the schema in words, for a model that cannot be held to it otherwise."""
    if call.schema is None:
        return call.messages
    wish = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(call.schema)}"
    first, rest = (call.messages[0], call.messages[1:]) if call.messages else (Message("system", ""), ())
    if first.role != "system":
        return (Message("system", wish), *call.messages)
    return (replace(first, content=f"{first.content}\n\n{wish}".strip()), *rest)


def _message(message: Message) -> dict[str, object]:
    body: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body
