"""Asking over HTTP: one answer, streamed or whole; several side by side; what a paradigm finds; which way is taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from ragways import __version__
from ragways.core.errors import UsageError
from ragways.retrieval.ask import LONGEST_QUESTION, PARADIGMS
from ragways.service.api.conversations import made_whole
from ragways.service.api.events import event_response, streamed
from ragways.service.auth import Access, Reading, caller, service_of
from ragways.service.errors import ERRORS, NotFound, request_id
from ragways.service.keys import Caller
from ragways.service.work.child import OnEvent
from ragways.store.where import LONGEST as LONGEST_FILTER
from ragways.tasks.follow_up import TURNS, Turn

router = APIRouter(tags=["ask"], responses=ERRORS)
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "the whole of it, or events as they come"}
}
Where = Annotated[
    str | None,
    Field(max_length=LONGEST_FILTER, description='only documents that match, e.g. date>2020 and path~"api/"'),
]
PerRequest = Annotated[float | None, Field(ge=0, le=1000, description="USD that this may spend")]
Style = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="of an answer by a model: brief, full, or words of one's own; "
        "in conversations and on the page full unless set",
    ),
]
ParadigmSettings = Annotated[dict[str, str | int | float | bool], Field(max_length=40, description="of the paradigm")]


class QuestionRequest(BaseModel):
    """A question, and the documents to answer it from."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION, description="in a whole sentence")
    where: Where = None


class WayToAnswer(QuestionRequest):
    """A question, and the way to answer it."""

    paradigm: str = Field("auto", max_length=100, description="the way to answer; GET /api/v1/paradigms lists them")
    settings: ParadigmSettings = Field(default_factory=dict)


class AnswerOptions(BaseModel):
    """What an answer may cost, and how it is given."""

    budget: PerRequest = None
    stream: bool = Field(False, description="send steps and text as they come, as server-sent events")
    rendered: bool = Field(False, description="give answers as trees of blocks, too, as the page shows them")
    style: Style = None


class AskRequest(WayToAnswer, AnswerOptions):
    """A question to be answered."""

    conversation: str | None = Field(
        None, max_length=64, description="that this belongs to; the question is made whole from the turns before"
    )


class CompareRequest(QuestionRequest, AnswerOptions):
    """A question to be answered in several ways."""

    paradigms: list[Annotated[str, Field(max_length=100)]] = Field(
        min_length=1, max_length=30, description="the ways to answer it"
    )


@router.get("/paradigms")
async def paradigms(_: Annotated[Caller, Depends(caller("read"))]) -> list[dict[str, Any]]:
    """The ways of answering: what each does, the layers it needs, and its settings with their defaults."""
    return [
        {"name": one.name, "summary": one.summary, "needs": sorted(one.needs), "settings": one.settings}
        for one in PARADIGMS.values()
    ]


@router.get("/me")
async def me(request: Request, who: Annotated[Caller, Depends(caller("read"))]) -> dict[str, Any]:
    """Who the caller is to the server: what the key may do, and what it has spent."""
    service = service_of(request)
    account = service.ledger.account(who.key)
    return {
        "tenant": who.tenant,
        "scopes": sorted(who.scopes),
        "collections": list(who.collections),
        "budget": None if account.usd is None else {"usd": account.usd, "spent": account.spent, "held": account.held},
        "model": bool(service.config.settings.model.name),
        "keys": not who.local,
        "version": __version__,
    }


@router.post("/collections/{collection}/ask", responses=STREAMED)
async def ask(request: Request, access: Reading, body: AskRequest) -> Response:
    """Answer a question. Streamed, the events are `rewritten`, `step`, `text`, and at the end `result` or `error`."""
    arguments = body.model_dump(include={"question", "paradigm", "settings", "where", "rendered"})
    chat = body.rendered or body.conversation is not None
    arguments["style"] = body.style or (access.service.chat_style if chat else None)
    if (id := body.conversation) is None:
        return await _answer(request, access, "ask", arguments, body.budget, body.stream)
    stored = access.service.conversations
    stored.find(access.caller, access.collection.id, id)

    async def turn(on_event: OnEvent | None) -> Any:  # noqa: ANN401 - JSON
        turns = [Turn(each.whole, each.answer) for each in stored.turns(id, TURNS)]
        rewritten = await made_whole(access, turns, body.question, body.budget)
        if on_event is not None:
            on_event("rewritten", rewritten.shown())
        left = None if body.budget is None else max(0.0, body.budget - rewritten.usd)
        result, _ = await access.paid("ask", {**arguments, "question": rewritten.question}, left, on_event)
        stored.add(id, body.question, rewritten, result)
        return {**result, "rewritten": rewritten.shown()}

    return await _reply(request, turn, body.stream)


@router.post("/collections/{collection}/compare", responses=STREAMED)
async def compare(request: Request, access: Reading, body: CompareRequest) -> Response:
    """Answer a question in several ways, with their evidence aligned. Streamed, each `answer` comes as it is there."""
    arguments = body.model_dump(include={"question", "paradigms", "where", "rendered"})
    arguments["style"] = body.style or (access.service.chat_style if body.rendered else None)
    arguments["paradigms"] = list(dict.fromkeys(PARADIGMS.find(name).name for name in body.paradigms))
    return await _answer(request, access, "compare", arguments, body.budget, body.stream)


@router.post("/collections/{collection}/retrieve")
async def retrieve(request: Request, access: Reading, body: WayToAnswer) -> Response:
    """What a paradigm retrieves for a question, best first, without an answer."""
    return await _answer(request, access, "retrieve", body.model_dump())


@router.post("/collections/{collection}/route")
async def route(request: Request, access: Reading, body: QuestionRequest) -> Response:
    """Which way `auto` would take, what every way is worth and costs, and what that rests on. Nothing is answered."""
    return await _answer(request, access, "route", body.model_dump())


async def _answer(
    request: Request,
    access: Access,
    operation: str,
    arguments: dict[str, Any],
    budget: float | None = None,
    stream: bool = False,
) -> Response:
    async def work(on_event: OnEvent | None) -> Any:  # noqa: ANN401 - JSON
        return (await access.paid(operation, arguments, budget, on_event))[0]

    return await _reply(request, work, stream)


async def _reply(request: Request, work: Callable[[OnEvent | None], Awaitable[Any]], stream: bool) -> Response:
    return event_response(streamed(work, request_id(request))) if stream else JSONResponse(await work(None))


@router.get("/collections/{collection}/documents/{id:path}")
async def document(access: Reading, id: str) -> Response:
    """A whole document, with its sections."""
    return await _looked_up(access, "document", id)


@router.get("/collections/{collection}/evidence/{id:path}")
async def evidence(access: Reading, id: str) -> Response:
    """What an id stands for, in its place: a passage with the text around it, an entity, a relation, a report."""
    return await _looked_up(access, "evidence", id)


async def _looked_up(access: Access, operation: str, id: str) -> Response:
    if len(id) > 500:
        raise NotFound("id")
    try:
        return JSONResponse(await access.call(operation, id=id))
    except UsageError:
        raise NotFound("id", "ids stand beside the evidence of answers") from None
