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
from ragways.service.auth import Access, caller, collection, service_of
from ragways.service.conversations import whole_question
from ragways.service.errors import ERRORS, NotFound, request_id
from ragways.service.events import event_response, told
from ragways.service.keys import Caller
from ragways.service.workers import OnEvent
from ragways.store.where import LONGEST as LONGEST_FILTER

router = APIRouter(tags=["ask"], responses=ERRORS)
Reading = Annotated[Access, Depends(collection("read"))]
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "the whole of it, or events as they come"}
}


STYLE = "of an answer by a model: brief, full, or words of one's own; in conversations and on the page full unless set"


class QuestionRequest(BaseModel):
    """What is asked, of which documents, and what it may cost."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION, description="what to ask, in a whole sentence")
    where: str | None = Field(
        None, max_length=LONGEST_FILTER, description='only documents that match, e.g. date>2020 and path~"api/"'
    )


class WayToAnswer(QuestionRequest):
    """A question, and the way to answer it."""

    paradigm: str = Field("auto", max_length=100, description="the way to answer; GET /api/v1/paradigms lists them")
    settings: dict[str, str | int | float | bool] = Field(
        default_factory=dict, max_length=40, description="of the paradigm"
    )


class AskRequest(WayToAnswer):
    """A question to be answered."""

    budget: float | None = Field(None, ge=0, le=1000, description="USD that this may spend")
    stream: bool = Field(False, description="send steps and text as they come, as server-sent events")
    rendered: bool = Field(False, description="give answers as trees of blocks, too, as the page shows them")
    style: str | None = Field(None, max_length=2000, description=STYLE)
    conversation: str | None = Field(
        None, max_length=64, description="that this belongs to; the question is made whole from the turns before"
    )


class CompareRequest(QuestionRequest):
    """A question to be answered in several ways."""

    paradigms: list[Annotated[str, Field(max_length=100)]] = Field(
        min_length=1, max_length=30, description="the ways to answer it"
    )
    budget: float | None = Field(None, ge=0, le=1000, description="USD that all of them together may spend")
    stream: bool = Field(False, description="send steps, text and answers as they come, as server-sent events")
    rendered: bool = Field(False, description="give answers as trees of blocks, too, as the page shows them")
    style: str | None = Field(None, max_length=2000, description=STYLE)


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
    kept = access.service.conversations
    kept.find(access, id)

    async def turn(on_event: OnEvent | None) -> Any:  # noqa: ANN401 - JSON
        rewritten = await whole_question(access, id, body.question, body.budget)
        if on_event is not None:
            on_event("rewritten", rewritten.shown())
        left = None if body.budget is None else max(0.0, body.budget - rewritten.usd)
        result = await _worked(access, "ask", {**arguments, "question": rewritten.question}, left, on_event)
        kept.add(access, id, body.question, rewritten, result)
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
    """What a paradigm finds for a question, best first, without an answer."""
    return await _answer(request, access, "retrieve", body.model_dump(), None, False)


@router.post("/collections/{collection}/route")
async def route(request: Request, access: Reading, body: QuestionRequest) -> Response:
    """Which way `auto` would take, what every way is worth and costs, and what that rests on. Nothing is answered."""
    return await _answer(request, access, "route", body.model_dump(), None, False)


async def _answer(
    request: Request, access: Access, operation: str, arguments: dict[str, Any], budget: float | None, stream: bool
) -> Response:
    return await _reply(request, lambda on_event: _worked(access, operation, arguments, budget, on_event), stream)


async def _worked(
    access: Access, operation: str, arguments: dict[str, Any], budget: float | None, on_event: OnEvent | None
) -> Any:  # noqa: ANN401 - JSON
    """Have a worker do it, under the budget of the key and of the request."""
    service, who = access.service, access.caller
    with service.ledger.hold(who, budget) as held:
        return await service.workers.call(
            operation, access.collection, arguments, tenant=who.tenant, on_event=on_event, held=held
        )


async def _reply(request: Request, work: Callable[[OnEvent | None], Awaitable[Any]], stream: bool) -> Response:
    if stream:
        return event_response(told(work, request_id(request)))
    return JSONResponse(await work(None))


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
        found = await access.service.workers.call(operation, access.collection, {"id": id}, tenant=access.caller.tenant)
    except UsageError:
        raise NotFound("id", "ids stand beside the evidence of answers") from None
    return JSONResponse(found)
