"""Jobs over HTTP: start, list, watch, cancel, go on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from ragways.layers.table import check_layers
from ragways.service.api.events import COMMENT, QUIET, event_response, sse
from ragways.service.auth import Reading, Service, Writing, caller, service_of
from ragways.service.collections import Collection
from ragways.service.errors import ERRORS, Conflict, NotFound
from ragways.service.feedback import FEEDBACK
from ragways.service.jobs import Job, JobKind, JobState
from ragways.service.keys import Caller

router = APIRouter(tags=["jobs"], responses=ERRORS)
SET_NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"
Name = Annotated[str, Field(min_length=1, max_length=200)]
Budget = Annotated[float | None, Field(ge=0, le=1000, description="USD that the job may spend")]
Seed = Annotated[int, Field(ge=0, lt=2**31, description="of every draw")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    budget: Budget = None


class IndexJob(_Request):
    """Bring the index up to date with the files: read what is new or changed, remove what is gone."""

    kind: Literal["index"]
    layers: list[Name] | None = Field(None, max_length=20, description="unset: those that the collection wants")
    rebuild: bool = Field(False, description="start anew; what was paid for is kept")


class PlanJob(_Request):
    """Report what an index job would do and cost, without doing it."""

    kind: Literal["plan"]
    layers: list[Name] | None = Field(None, max_length=20, description="unset: those that the collection wants")


class QuestionsJob(_Request):
    """Make a set of questions from the documents, for evaluations."""

    kind: Literal["questions"]
    name: str = Field(pattern=SET_NAME, description="of the set; one of this name is replaced")
    count: int = Field(10, ge=1, le=1000, description="so many of each kind")
    kinds: list[Name] = Field(default_factory=list, max_length=50, description="empty: all that the index allows")
    without_model: bool = Field(False, description="by templates, even where the server has a model")
    seed: Seed = 0


class EvaluateJob(_Request):
    """Ask a set of questions of some paradigms, score the answers and write a report."""

    kind: Literal["evaluate"]
    questions: str = Field(pattern=SET_NAME, description="a set of questions, or feedback")
    paradigms: list[Name] = Field(min_length=1, max_length=30, description="maybe with settings: naive[k=20]")
    metrics: list[Name] = Field(default_factory=list, max_length=20, description="empty: recall@5, f1, accuracy")
    limit: int | None = Field(None, ge=1, le=100_000, description="only the first so many questions")
    repeats: int = Field(1, ge=1, le=10, description="how often each question is asked")
    seed: Seed = 0


class ResumeRequest(_Request):
    """How a job is to go on."""

    budget: Annotated[float | None, Field(ge=0, le=1000, description="USD from now on; unset: as before")] = None


JobRequest = Annotated[IndexJob | PlanJob | QuestionsJob | EvaluateJob, Field(discriminator="kind")]


class JobInfo(BaseModel):
    """A job and how it stands."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    collection: str
    kind: JobKind
    state: JobState
    progress: dict[str, Any] | None = Field(description="stage, done, total, note; stages: how far each of them came")
    result: dict[str, Any] | None
    error: dict[str, Any] | None = Field(description="code, message and cure")
    created: str
    started: str | None
    ended: str | None
    by: str = Field(description="the id of the key that it was started with, or last resumed with")


class JobList(BaseModel):
    """The newest jobs of a collection, newest first."""

    jobs: list[JobInfo]


def info(job: Job, found: Collection) -> JobInfo:
    """A job as clients see it: with the name of its collection."""
    return JobInfo.model_validate(job).model_copy(update={"collection": found.name})


@router.post("/collections/{collection}/jobs", status_code=202)
async def start(access: Writing, body: JobRequest) -> JobInfo:
    """Put a job into the queue. Watch it with GET /jobs/{id}/events."""
    # Loaded with the first job: the server starts sooner without it.
    from ragways.evaluation.questions.generate import find_kinds

    service, found = access.service, access.collection
    arguments = body.model_dump(exclude={"kind", "budget"})
    if isinstance(body, IndexJob | PlanJob):
        if found.files is None:
            raise Conflict("this collection is only read", "index its folder where it was made")
        named = (found.wanted or None) if body.layers is None else body.layers
        arguments["layers"] = None if named is None else sorted(check_layers(named))
    elif isinstance(body, QuestionsJob):
        find_kinds(body.kinds)
        if body.name == FEEDBACK:
            raise Conflict("a set of questions cannot have this name", "choose another name")
    else:
        _check_evaluation(service, found, body)
    job = service.jobs.add(access.caller, found, body.kind, arguments, body.budget)
    access.note(f"job.{body.kind}", job=job.id)
    return info(job, found)


def _check_evaluation(service: Service, found: Collection, body: EvaluateJob) -> None:
    from ragways.evaluation.metrics import find_metric
    from ragways.evaluation.run import parse_variants

    for paradigm in body.paradigms:
        parse_variants(paradigm, service.config.settings.paradigms)
    for metric in body.metrics:
        find_metric(metric)
    file = found.questions / f"{body.questions}.jsonl"
    if not (service.feedback.summary(found.id)[0] if body.questions == FEEDBACK else file.is_file()):
        raise NotFound("set of questions", "make one with a job of kind questions")
    if body.questions != FEEDBACK and not file.stat().st_size:
        raise Conflict(
            f"the set {body.questions} holds no question",
            "make one with a job of kind questions; of few documents or without a model there may be too little to ask",
        )


@router.get("/collections/{collection}/jobs")
async def jobs(access: Reading, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> JobList:
    """The newest jobs of a collection."""
    found = access.service.jobs.of(access.collection, limit)
    return JobList(jobs=[info(job, access.collection) for job in found])


@router.get("/jobs/{id}")
async def job(request: Request, who: Annotated[Caller, Depends(caller("read"))], id: str) -> JobInfo:
    """A job and how it stands."""
    return info(*service_of(request).jobs.seen(who, id))


@router.post("/jobs/{id}/cancel")
async def cancel(request: Request, who: Annotated[Caller, Depends(caller("write"))], id: str) -> JobInfo:
    """End a job. What it has done is not lost, and it can go on."""
    service = service_of(request)
    _, found = service.jobs.seen(who, id)
    ended = await service.jobs.cancel(id)
    service.audit.note(who, "job.cancel", collection=found.name, job=id)
    return info(ended, found)


@router.post("/jobs/{id}/resume")
async def resume(
    request: Request, who: Annotated[Caller, Depends(caller("write"))], id: str, body: ResumeRequest | None = None
) -> JobInfo:
    """Have a job go on that failed or was cancelled, maybe with another budget. Your key pays from now on."""
    service = service_of(request)
    _, found = service.jobs.seen(who, id)
    again = service.jobs.resume(who, id, None if body is None else body.budget)
    service.audit.note(who, "job.resume", collection=found.name, job=id)
    return info(again, found)


@router.get(
    "/jobs/{id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "`progress` as it comes, then `done`"}},
)
async def events(request: Request, who: Annotated[Caller, Depends(caller("read"))], id: str) -> Response:
    """How a job goes on, as server-sent events: first how it stands, and `done` with the job at its end."""
    service = service_of(request)
    _, found = service.jobs.seen(who, id)

    async def stream() -> AsyncIterator[bytes]:
        quiet = 0
        async for event in service.jobs.events(id, quiet=1.0):
            quiet = quiet + 1 if event is None else 0
            if event is not None:
                name, value = event
                yield sse(name, info(value, found).model_dump() if isinstance(value, Job) else value)
            elif quiet % QUIET == 0:
                yield COMMENT
            if getattr(getattr(request.app.state, "server", None), "should_exit", False):
                return  # who watches a job must not hold up a server that is to end

    return event_response(stream())
