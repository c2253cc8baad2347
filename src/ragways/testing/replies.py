"""What the loopback server answers: well, by itself or by a function of yours, or with a fault on purpose.

By itself it says an echo, the smallest value that fits a schema, or a vector from a hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Literal, get_args

OLLAMA_CONTEXT = 32_768
MODEL = "loopback"
PIECE = 16
"""Characters of one event of a streamed reply."""
MOST_COMMENTS = 1000
PART = 64
"""Bytes of one part of a body that drips."""
_DEPTH = 32
Body = Mapping[str, object]

FaultKind = Literal[
    "slow",  # waits `seconds`, then answers as usual
    "dripping",  # a reply with `seconds` between its events, or between parts of its body
    "silent",  # a stream of comments alone, `seconds` apart
    "limited",  # 429, with `Retry-After: seconds` when seconds are given
    "down",  # 503, with `Retry-After: seconds` when seconds are given
    "closed",  # closes the connection without an answer
    "cut",  # promises more than it sends, then closes
    "garbled",  # 200 with a body that is no JSON
    "page",  # 200 with a web page
    "error",  # 200 with an error object
    "empty",  # 200 with no choices
    "wrong",  # valid JSON that fits no schema
    "malformed",  # broken JSON as the message's text
    "halved",  # the message ends in its middle, and says that it is whole
    "no-usage",  # leaves out the count of tokens
    "nan",  # embeddings that are no numbers
    "short",  # one embedding too few
]
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to do wrong, on every request or some: the first `requests`, until `until` s, a `share` of them."""

    kind: FaultKind
    seconds: float | None = None
    requests: int | None = None
    until: float | None = None
    share: float = 1.0

    def strikes(self, number: int, running: float) -> bool:
        """Whether request `number` (from 1), `running` seconds after the start, is hit. No dice: 0.25 is every 4th."""
        if self.requests is not None and number > self.requests:
            return False
        if self.until is not None and running >= self.until:
            return False
        return int(number * self.share) > int((number - 1) * self.share)

    @classmethod
    def parse(cls, text: str) -> Fault:
        """`limited:share=0.2,seconds=1` as a fault; ValueError when it is none."""
        kind, _, rest = text.partition(":")
        if kind not in FAULT_KINDS:
            raise ValueError(f"{kind!r} is none of {', '.join(FAULT_KINDS)}")
        values = dict(pair.split("=", 1) for pair in rest.split(",") if pair)
        unknown = values.keys() - {"seconds", "requests", "until", "share"}
        if unknown:
            raise ValueError(f"a fault has no {', '.join(sorted(unknown))}")
        return cls(
            kind,
            seconds=float(values["seconds"]) if "seconds" in values else None,
            requests=int(values["requests"]) if "requests" in values else None,
            until=float(values["until"]) if "until" in values else None,
            share=float(values.get("share", 1.0)),
        )


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came in, with its body as JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`events`, where there are any, are sent one by one instead of the body, `pause` seconds apart.

    So are the parts of a body, if there is a pause.

    `cut`: send only so many bytes of the body, or so many events, then hang up; 0 sends nothing at all.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    events: tuple[bytes, ...] = ()
    pause: float = 0.0
    cut: int | None = None
    streamed_as: str = "text/event-stream"

    @classmethod
    def json(cls, data: object, status: int = 200, **headers: str) -> HttpResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(data).encode(), named)

    @classmethod
    def error(cls, status: int, message: str, **headers: str) -> HttpResponse:
        return cls.json({"error": {"message": message, "type": "loopback"}}, status, **headers)

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        if self.events:
            lines += [f"content-type: {self.streamed_as}", "transfer-encoding: chunked"]
        else:
            lines += ["content-type: application/json", f"content-length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    @property
    def halved(self) -> HttpResponse:
        """The same, cut off in the middle."""
        return replace(self, cut=len(self.events or self.body) // 2)


class Routes:
    """What is answered to which path, well or with a fault."""

    def __init__(
        self,
        reply: Callable[[Mapping[str, object]], object],
        forms: frozenset[str],
        refuses: frozenset[str],
        dimension: int,
        streams: bool,
        context: int | None,
    ) -> None:
        self._context = context
        self._reply = reply
        self._forms = forms
        self._refuses = refuses
        self._dimension = dimension
        self._streams = streams

    def answer(self, request: HttpRequest, fault: Fault | None) -> HttpResponse:
        kind = fault.kind if fault is not None else ""
        if fault is not None and (failed := _failed(fault)) is not None:
            return failed
        path = request.path.partition("?")[0].removeprefix("/v1")
        if (request.method, path) == ("GET", "/models"):
            limit = {"max_model_len": self._context} if self._context else {}
            return HttpResponse.json({"object": "list", "data": [{"id": MODEL, "object": "model", **limit}]})
        if (request.method, path) == ("POST", "/api/show"):
            return HttpResponse.json({"model_info": {"loopback.context_length": self._context or OLLAMA_CONTEXT}})
        if (request.method, path) == ("POST", "/embeddings"):
            response = self._embeddings(request.body, kind)
        elif (request.method, path) == ("POST", "/chat/completions"):
            response = self._chat(request.body, kind)
        elif (request.method, path) == ("POST", "/api/chat"):
            response = self._ollama(request.body)
        else:
            return HttpResponse.error(404, f"there is no {request.method} {path} here")
        if fault is not None and kind == "dripping":
            return replace(response, pause=fault.seconds or 0.0)
        return response.halved if kind == "cut" else response

    def _refusal(self, body: Mapping[str, object]) -> str:
        """Why a request is answered 400; nothing where it is not."""
        form = body.get("response_format")
        asked = form.get("type") if isinstance(form, dict) else None
        if asked is not None and asked not in self._forms:
            return f"response_format {asked} is not supported"
        for name in sorted(self._refuses & body.keys()):
            return f"Unsupported parameter: '{name}'"
        return ""

    def _chat(self, body: Mapping[str, object], kind: str) -> HttpResponse:
        if refusal := self._refusal(body):
            return HttpResponse.error(400, refusal)
        if kind == "empty":
            return HttpResponse.json({"choices": []})
        said = {"wrong": '{"unexpected": [1, 2, 3]}', "malformed": '{"text": <<broken>> ]'}.get(kind)
        message = said if said is not None else self._reply(body)
        if isinstance(message, HttpResponse):
            return message
        if kind == "halved" and isinstance(message, str):
            message = message[: 2 * len(message) // 3]
        forced = _forced_tool(body)
        if forced and isinstance(message, str) and "{" in message:
            call = {"id": "call-1", "type": "function", "function": {"name": forced, "arguments": message}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        if isinstance(message, dict) and "choices" in message:
            completion = message
        else:
            whole = message if isinstance(message, dict) else {"role": "assistant", "content": message}
            completion = _completion(body, whole, usage=kind != "no-usage", most=self._context)
        if body.get("stream") is True and self._streams:
            options = body.get("stream_options")
            usage = isinstance(options, dict) and options.get("include_usage") is True
            return HttpResponse(events=tuple(_events(completion, usage=usage)))
        return HttpResponse.json(completion)

    def _ollama(self, body: Mapping[str, object]) -> HttpResponse:
        """Answer as Ollama does: what does not fit into the context named in the call is cut in silence."""
        schema, options = body.get("format"), body.get("options")
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        wished = {**body, **({"response_format": form} if schema else {})}
        told = self._reply(wished)
        message = dict(told) if isinstance(told, dict) else {"role": "assistant", "content": told}
        given = options.get("num_ctx") if isinstance(options, dict) else None
        usage = _completion(wished, message, usage=True, most=given if isinstance(given, int) else 4096)["usage"]
        last = {
            "model": body.get("model", MODEL), "done": True, "done_reason": "stop",
            "prompt_eval_count": usage["prompt_tokens"], "eval_count": usage["completion_tokens"],
        }  # fmt: skip
        if body.get("stream") is not True:
            return HttpResponse.json({**last, "message": message})
        content = str(message.get("content") or "")
        pieces = [
            {"message": {**message, "content": content[at : at + PART]}} for at in range(0, len(content) or 1, PART)
        ]
        lines = [*pieces, {**last, "message": {"role": "assistant", "content": ""}}]
        events = tuple(json.dumps({"done": False, **line}).encode() + b"\n" for line in lines)
        return HttpResponse(events=events, streamed_as="application/x-ndjson")

    def _embeddings(self, body: Mapping[str, object], kind: str) -> HttpResponse:
        given = body.get("input")
        texts = [str(text) for text in given] if isinstance(given, list) else [str(given)]
        rows = [
            {"object": "embedding", "index": at, "embedding": vector(text, self._dimension)}
            for at, text in enumerate(texts)
        ]
        if kind == "nan":
            rows[0]["embedding"] = [float("nan")] * self._dimension
        if kind == "short":
            rows.pop()
        if kind == "wrong":
            rows = [row | {"embedding": [0.5]} for row in rows]
        rows.reverse()  # an endpoint may send them in any order; `index` tells
        data: dict[str, object] = {"object": "list", "data": rows, "model": body.get("model", MODEL)}
        if kind != "no-usage":
            tokens = sum(_tokens(text) for text in texts)
            data["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
        return HttpResponse.json(data)


def _failed(fault: Fault) -> HttpResponse | None:
    """The faults that do not depend on what was asked."""
    wait = {"retry_after": f"{fault.seconds:g}"} if fault.seconds is not None else {}
    if fault.kind == "limited":
        return HttpResponse.error(429, "too many requests", **wait)
    if fault.kind == "down":
        return HttpResponse.error(503, "down for a while", **wait)
    if fault.kind == "closed":
        return HttpResponse(cut=0)
    if fault.kind == "silent":
        return HttpResponse(events=(b": nothing yet\n\n",) * MOST_COMMENTS, pause=fault.seconds or 0.0)
    return {
        "garbled": HttpResponse(body=b'{"choices": [not what you asked for'),
        "page": HttpResponse(body=b"<!doctype html><title>Sign in</title>"),
        "error": HttpResponse.json({"error": {"message": "something went wrong inside"}}),
    }.get(fault.kind)


def _completion(
    body: Mapping[str, object], message: dict[str, object], *, usage: bool, most: int | None = None
) -> dict[str, Any]:
    given = body.get("messages")
    messages = given if isinstance(given, list) else []
    read = sum(_tokens(str(one.get("content"))) for one in messages if isinstance(one, dict))
    read = min(read, most or read)
    written = _tokens(str(message.get("content")))
    data: dict[str, Any] = {
        "id": "loopback-1",
        "object": "chat.completion",
        "model": body.get("model", MODEL),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
        ],
    }
    if usage:
        data["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return data


def _tokens(text: str) -> int:
    return len(text) // 4 + 1  # near enough for a server that costs nothing


def _events(completion: Mapping[str, Any], *, usage: bool) -> Iterator[bytes]:
    """A completion as the events of a stream: its text piece by piece, tool calls, the end, and what it cost."""
    head = {"id": completion.get("id", ""), "object": "chat.completion.chunk", "model": completion.get("model", MODEL)}
    for choice in completion["choices"]:
        message = choice.get("message") or {}
        text = message.get("content") or ""
        deltas = [{"content": text[at : at + PIECE]} for at in range(0, len(text), PIECE)]
        deltas += [{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(message.get("tool_calls") or ())]
        for delta in deltas:
            yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}]})
    if usage and "usage" in completion:
        yield _event({**head, "choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


def _event(data: object) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def default_reply(body: Body, size: int = 0) -> str:
    """An echo of the last message, or what fits the asked-for schema; the first text in it is filled to `size`."""
    schema = _schema(body)
    if schema is not None:
        return json.dumps(_Instance(schema, size).make(schema), ensure_ascii=False)
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    said = str(last.get("content", "")) if isinstance(last, dict) else ""
    return _filled(f"You said: {said[:500]}", size)


def vector(text: str, dimension: int) -> list[float]:
    """The same text, the same vector, on every machine; components from −1 to 1."""
    data = hashlib.shake_256(text.encode("utf-8", "replace")).digest(2 * dimension)
    return [int.from_bytes(data[2 * at : 2 * at + 2], "big") / 32767.5 - 1 for at in range(dimension)]


def _filled(text: str, size: int) -> str:
    return text if len(text) >= size else f"{text} {' '.join(f'filler {n}' for n in range(size // 8 + 1))}"[:size]


def _schema(body: Body) -> dict[str, object] | None:
    form, tools = body.get("response_format"), body.get("tools")
    if _forced_tool(body) and isinstance(tools, list):
        return dict(tools[0]["function"]["parameters"])
    if not isinstance(form, dict):
        return None
    inner = form.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else {"type": "object"}


def _forced_tool(body: Body) -> str:
    """The name of the tool that must be called, if one must."""
    choice = body.get("tool_choice")
    return str(choice["function"]["name"]) if isinstance(choice, dict) else ""


class _Instance:
    """The smallest value of a schema: first of the choices, shortest lists."""

    def __init__(self, schema: dict[str, object], size: int) -> None:
        self._definitions = schema.get("$defs", {})
        self._size = size

    def make(self, schema: object, depth: int = 0) -> object:
        if not isinstance(schema, dict) or depth > _DEPTH:
            return None
        if "$ref" in schema and isinstance(self._definitions, dict):
            return self.make(self._definitions.get(str(schema["$ref"]).rpartition("/")[2]), depth + 1)
        if "const" in schema:
            return schema["const"]
        for choices in ("enum", "anyOf", "oneOf", "allOf"):
            options = schema.get(choices)
            if isinstance(options, list) and options:
                return options[0] if choices == "enum" else self.make(options[0], depth + 1)
        return self._of_type(schema, depth)

    def _of_type(self, schema: dict[str, object], depth: int) -> object:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = kind[0] if kind else "null"
        if kind == "object":
            properties = schema.get("properties")
            parts = properties.items() if isinstance(properties, dict) else ()
            return {name: self.make(part, depth + 1) for name, part in parts}
        if kind == "array":
            few = schema.get("minItems", 0)
            fixed = schema.get("prefixItems")
            if isinstance(fixed, list):
                return [self.make(part, depth + 1) for part in fixed]
            return [self.make(schema.get("items"), depth + 1) for _ in range(few if isinstance(few, int) else 0)]
        if kind == "string":
            return self._string(schema)
        low = schema.get("minimum", 0)
        return {"integer": low, "number": low, "boolean": False}.get(str(kind))

    def _string(self, schema: dict[str, object]) -> str:
        size, self._size = self._size, 0
        least = schema.get("minLength", 0)
        return _filled("text", max(size, least if isinstance(least, int) else 0))
