"""What the loopback server answers to which path, well or with a fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ragways.models.faults import Fault
from ragways.models.loopback_http import Answer, Request
from ragways.models.loopback_reply import vector

MODEL = "loopback"


class Routes:
    def __init__(
        self,
        reply: Callable[[Mapping[str, object]], object],
        forms: frozenset[str],
        refuses: frozenset[str],
        dimension: int,
    ) -> None:
        self._reply = reply
        self._forms = forms
        self._refuses = refuses
        self._dimension = dimension

    def answer(self, request: Request, fault: Fault | None) -> Answer:
        kind = fault.kind if fault is not None else ""
        if fault is not None and (failed := _failed(fault)) is not None:
            return failed
        path = request.path.partition("?")[0].removeprefix("/v1")
        if (request.method, path) == ("GET", "/models"):
            return Answer.json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        if (request.method, path) == ("POST", "/embeddings"):
            said = self._embeddings(request.body, kind)
        elif (request.method, path) == ("POST", "/chat/completions"):
            said = self._chat(request.body, kind)
        else:
            return Answer.error(404, f"there is no {request.method} {path} here")
        return replace(said, cut=len(said.body) // 2) if kind == "cut" else said

    def _chat(self, body: Mapping[str, object], kind: str) -> Answer:
        form = body.get("response_format")
        asked = form.get("type") if isinstance(form, dict) else None
        if asked is not None and asked not in self._forms:
            return Answer.error(400, f"response_format {asked} is not supported")
        for name in sorted(self._refuses & body.keys()):
            return Answer.error(400, f"Unsupported parameter: '{name}'")
        if kind == "empty":
            return Answer.json({"choices": []})
        said = {"wrong": '{"unexpected": [1, 2, 3]}', "malformed": '{"text": <<broken>> ]'}.get(kind)
        message = said if said is not None else self._reply(body)
        if isinstance(message, dict) and "choices" in message:
            return Answer.json(message)
        if not isinstance(message, dict):
            message = {"role": "assistant", "content": message}
        return Answer.json(_completion(body, message, usage=kind != "no-usage"))

    def _embeddings(self, body: Mapping[str, object], kind: str) -> Answer:
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
        return Answer.json(data)


def _failed(fault: Fault) -> Answer | None:
    """The faults that do not depend on what was asked."""
    if fault.kind == "limited":
        wait = {"retry_after": f"{fault.seconds:g}"} if fault.seconds is not None else {}
        return Answer.error(429, "too many requests", **wait)
    if fault.kind == "down":
        return Answer.error(503, "down for a while")
    if fault.kind == "closed":
        return Answer(cut=0)
    if fault.kind == "garbled":
        return Answer(body=b"<html>not what you asked for")
    if fault.kind == "error":
        return Answer.json({"error": {"message": "something went wrong inside"}})
    return None


def _completion(body: Mapping[str, object], message: dict[str, object], *, usage: bool) -> dict[str, object]:
    given = body.get("messages")
    messages = given if isinstance(given, list) else []
    read = sum(_tokens(str(one.get("content"))) for one in messages if isinstance(one, dict))
    written = _tokens(str(message.get("content")))
    data: dict[str, object] = {
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
