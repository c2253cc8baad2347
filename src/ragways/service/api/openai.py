"""OpenAI's API, under /v1: a paradigm of a collection is a model (`docs/fused`).

The last user message is the question; the messages before make it whole, as in a conversation. System messages and
settings of sampling are ignored; what would change the meaning of a reply and is not supported (tools, several choices)
is refused. Citations, evidence and the like are in the field `ragways` of the message, or of a stream's last chunk.
"""

from __future__ import annotations

import base64
import json
import struct
import time
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from ragways import __version__
from ragways.core.errors import RagwaysError
from ragways.core.text import clean
from ragways.retrieval.ask import LONGEST_QUESTION, PARADIGMS
from ragways.service.api.ask import ParadigmSettings, PerRequest, Style, Where
from ragways.service.api.conversations import made_whole
from ragways.service.api.events import COMMENT, event_response, happening
from ragways.service.auth import Access, Service, caller, collection, service_of
from ragways.service.collections import Collection
from ragways.service.conversations import RewrittenQuestion
from ragways.service.errors import BadRequest, NotFound, ServiceError, as_service, request_id
from ragways.service.keys import Caller
from ragways.service.work.child import OnEvent
from ragways.tasks.follow_up import Turn

router = APIRouter(prefix="/v1", include_in_schema=False)
EMBEDDER = "embedder"
MOST_MESSAGES = 500
MOST_TEXTS = 512
MOST_CHARACTERS = 200_000
"""Texts of one request to be embedded, and their characters together: what a worker can do within a request's time."""
_SHOWN = ("citations", "evidence", "paradigm", "route", "abstained", "chance", "way", "note", "usage", "seconds")
_USUAL: dict[str, tuple[Any, ...]] = {
    "n": (None, 1), "tools": (None, []), "functions": (None, []), "logprobs": (None, False), "stop": (None, "", []),
    "logit_bias": (None, {}), "modalities": (None, ["text"]),
}  # fmt: skip
"""Options that are accepted with these values alone."""
_ANEW = "\n\n(The answer begins anew.)\n\n"


class ContentPart(BaseModel):
    """A part of a message; only text can be read."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def plain(self) -> str:
        if isinstance(self.content, list):
            if any(part.type not in ("text", "refusal") for part in self.content):
                raise BadRequest("only text can be asked", "send messages whose parts are of type text")
            return clean("".join(part.text or "" for part in self.content))
        return clean(self.content or "")


class StreamOptions(BaseModel):
    """What a stream ends with."""

    include_usage: bool = False


class RagwaysOptions(BaseModel):
    """What only ragways knows, sent in a field of its own (`extra_body={"ragways": {…}}`)."""

    model_config = ConfigDict(extra="forbid")

    where: Where = None
    settings: ParadigmSettings = Field(default_factory=dict)
    budget: PerRequest = None
    style: Style = None


class ChatRequest(BaseModel):
    """A chat to be continued. Fields that are not named here are not looked at."""

    model: str = Field(max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    ragways: RagwaysOptions = Field(default_factory=RagwaysOptions)
    n: int | None = 1
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    logprobs: bool | None = None
    stop: str | list[str] | None = None
    logit_bias: dict[str, float] | None = None
    modalities: list[str] | None = None
    response_format: dict[str, Any] | None = None

    def check(self) -> None:
        """Raise for the first option that is not supported."""
        if wrong := next((name for name, usual in _USUAL.items() if getattr(self, name) not in usual), None):
            raise UnsupportedParameter(f"{wrong} is not supported here", "leave it out", wrong)
        if (self.response_format or {}).get("type", "text") != "text":
            raise UnsupportedParameter("response_format is not supported here", "leave it out", "response_format")
        if any(message.role in ("tool", "function") for message in self.messages):
            raise UnsupportedParameter("messages of tools are not supported here", "send text alone", "messages")

    def turns(self) -> tuple[list[Turn], str]:
        """The turns before, and the question: the last message, which is the user's."""
        messages = [message for message in self.messages if message.role in ("user", "assistant")]
        if not messages or messages[-1].role != "user" or not (question := messages[-1].plain.strip()):
            raise UnsupportedParameter("the last message is no question", "end with a user's message", "messages")
        if len(question) > LONGEST_QUESTION:
            raise UnsupportedParameter(
                "the question is too long", f"ask in at most {LONGEST_QUESTION:,} characters", "messages"
            )
        turns, before = [], ""
        for message in messages[:-1]:
            if message.role == "user":
                before = message.plain
            elif before:
                turns.append(Turn(before, message.plain))
                before = ""
        return turns, question


class EmbeddingsRequest(BaseModel):
    """Texts to be embedded, each as it is or as its cl100k tokens, which is how LangChain sends them."""

    model: str = Field(max_length=200)
    input: str | list[str] | list[int] | list[list[int]]
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = None

    def texts(self) -> list[str | list[int]]:
        if isinstance(self.input, str):
            return [clean(self.input)]
        several = [self.input] if self.input and isinstance(self.input[0], int) else self.input
        return [clean(text) if isinstance(text, str) else list(text) for text in several]  # type: ignore[arg-type]


class UnsupportedParameter(ServiceError):
    """A parameter that is not supported, or has a value that is not; `param` names it."""

    def __init__(self, message: str, cure: str, param: str, status: int = 400, code: str = "unsupported") -> None:
        super().__init__(status, code, message, cure)
        self.param = param

    def openai_body(self, request: str) -> dict[str, Any]:
        body = super().openai_body(request)
        return {"error": {**body["error"], "param": self.param}}


# Models


@router.get("/models")
async def models(request: Request, who: Annotated[Caller, Depends(caller("read"))]) -> dict[str, Any]:
    """Every paradigm of every collection that the key may see, where the layers it needs are built."""
    service = service_of(request)
    return {
        "object": "list",
        "data": [row for one in service.collections.visible(who) for row in _models(service, one)],
    }


@router.get("/models/{model:path}")
async def model(request: Request, model: str, _: Annotated[Caller, Depends(caller("read"))]) -> dict[str, Any]:
    """One of them."""
    access, name = await _resolved(request, model)
    return _model(access.collection, name)


def _models(service: Service, one: Collection) -> list[dict[str, Any]]:
    return [_model(one, name) for name in _able(service, one)]


def _able(service: Service, one: Collection) -> list[str]:
    """Paradigms that a collection can answer by, and its embedder."""
    if not one.layers or one.trouble:
        return []
    names = [name for name, paradigm in PARADIGMS.items() if paradigm.needs <= set(one.layers)]
    embedders = [EMBEDDER] if "vectors" in one.layers else []
    return [name for name in names if name != "llm-only" or service.config.settings.model.name] + embedders


def _model(one: Collection, name: str) -> dict[str, Any]:
    made = int(datetime.fromisoformat(one.created).timestamp())
    return {"id": f"{one.name}/{name}", "object": "model", "created": made, "owned_by": "ragways"}


async def _resolved(request: Request, model: str) -> tuple[Access, str]:
    """The collection and the paradigm that a model names; the same error whatever of it is not there."""
    name, _, paradigm = model.partition("/")
    try:
        access = await collection("read")(request, name)
    except NotFound:
        access = None
    if access is None or paradigm not in _able(access.service, access.collection):
        what = "there is no such model, or this key may not use it"
        raise UnsupportedParameter(what, "GET /v1/models lists them", "model", 404, "model_not_found")
    return access, paradigm


# Chat


@router.post("/chat/completions")
async def chat(request: Request, body: ChatRequest) -> Response:
    """Answer the last message of a chat from the documents of a collection."""
    access, paradigm = await _resolved(request, body.model)
    body.check()
    if paradigm == EMBEDDER:
        raise UnsupportedParameter("this model embeds texts", "POST /v1/embeddings", "model")
    completion = ChatCompletion(access, body, paradigm, request_id(request))
    if not body.stream:
        return JSONResponse(await completion.whole())
    events = happening(completion.work)
    # What is refused at once has its status; after that, the stream has begun and an error is an event.
    first = await anext(events)
    return event_response(completion.chunks(first, events))


class ChatCompletion:
    """One answer in OpenAI's shapes."""

    def __init__(self, access: Access, body: ChatRequest, paradigm: str, request: str) -> None:
        self._access, self._body, self._request = access, body, request
        self._turns, self._question = body.turns()
        self._arguments = {"paradigm": paradigm, **body.ragways.model_dump(include={"where", "settings"})}
        self._head = {
            "id": f"chatcmpl-{request}", "created": int(time.time()), "model": body.model,
            "system_fingerprint": f"ragways-{__version__}",
        }  # fmt: skip

    async def work(self, on_event: OnEvent) -> dict[str, Any]:
        """The result, with the question as it was understood."""
        options = self._body.ragways
        rewritten = await made_whole(self._access, self._turns, self._question, options.budget)
        left = None if options.budget is None else max(0.0, options.budget - rewritten.usd)
        style = options.style or self._access.service.chat_style
        arguments = {**self._arguments, "question": rewritten.question, "style": style}
        result, _ = await self._access.paid("ask", arguments, left, on_event)
        return {**result, "rewritten": rewritten}

    async def whole(self) -> dict[str, Any]:
        """The answer at once."""
        pieces: list[str] = []

        def on_event(name: str, data: Any) -> None:  # noqa: ANN401 - JSON
            if name == "text":
                pieces[:] = [*(() if data["restart"] else pieces), data["text"]]

        result = await self.work(on_event)
        text = "".join(pieces)
        message = {"role": "assistant", "content": text, "refusal": None, "ragways": _ragways(result)}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(result)}

    async def chunks(
        self, first: tuple[str, Any], events: AsyncGenerator[tuple[str, Any], None]
    ) -> AsyncGenerator[bytes, None]:
        """The answer as it is written, in server-sent events; the last says [DONE]."""
        written = False
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            event: tuple[str, Any] | None = first
            while event is not None:
                name, data = event
                if name == "text":
                    # What was sent cannot be taken back: the stream says where it begins anew.
                    anew = _ANEW if data["restart"] and written else ""
                    written |= bool(data["text"])
                    yield self._chunk({"content": anew + data["text"]})
                elif name == "result":
                    yield self._chunk({}, finish="stop", ragways=_ragways(data))
                    if self._body.stream_options and self._body.stream_options.include_usage:
                        yield _data(
                            {**self._head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(data)}
                        )
                elif not name:
                    yield COMMENT
                event = await anext(events, None)
            yield b"data: [DONE]\n\n"
        except (ServiceError, RagwaysError) as error:
            yield _data(as_service(error).openai_body(self._request))
        finally:
            await events.aclose()

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: object) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._head, "object": "chat.completion.chunk", "choices": [choice], **more})


def _ragways(result: dict[str, Any]) -> dict[str, Any]:
    rewritten: RewrittenQuestion = result["rewritten"]
    return {**{name: result[name] for name in _SHOWN}, "rewritten": rewritten.shown()}


def _usage(result: dict[str, Any]) -> dict[str, Any]:
    """Tokens of the model, those of making the question whole included; none where no model was asked."""
    usage, (read, written) = result["usage"], result["rewritten"].tokens
    read, written = read + usage["input"], written + usage["output"]
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": usage["cached"]},
        "completion_tokens_details": {"reasoning_tokens": usage["reasoning"]},
    }


def _data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


# Embeddings


@router.post("/embeddings")
async def embeddings(request: Request, body: EmbeddingsRequest) -> Response:
    """Vectors of texts by the embedder of a collection, as its passages were embedded."""
    access, name = await _resolved(request, body.model)
    if name != EMBEDDER:
        raise UnsupportedParameter("this model answers questions", f"embed with …/{EMBEDDER}", "model")
    texts = body.texts()
    if not texts or not all(texts):
        raise UnsupportedParameter("there is a text without characters", "leave it out", "input")
    if len(texts) > MOST_TEXTS or sum(map(len, texts)) > MOST_CHARACTERS:
        bound = f"send at most {MOST_TEXTS} texts and {MOST_CHARACTERS:,} characters at once"
        raise UnsupportedParameter("these are too many texts", bound, "input", 413, "too_large")
    found, _ = await access.paid("embed", {"texts": texts})
    vectors: Sequence[list[float]] = found["vectors"]
    if body.dimensions not in (None, len(vectors[0])):
        raise UnsupportedParameter(f"this embedder has {len(vectors[0])} dimensions", "leave it out", "dimensions")
    as_base64 = body.encoding_format == "base64"
    rows = [
        {"object": "embedding", "index": number, "embedding": _base64(vector) if as_base64 else vector}
        for number, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": found["tokens"], "total_tokens": found["tokens"]}
    return JSONResponse({"object": "list", "data": rows, "model": body.model, "usage": usage})


def _base64(vector: Sequence[float]) -> str:
    """32-bit floats, little-endian, as OpenAI's client reads them."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")
