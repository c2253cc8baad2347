"""Sets of questions, evaluation runs and feedback over HTTP. Jobs of the kinds `questions` and `evaluate` make the
first two.

Feedback is stored as questions with a verdict, in the layout that evaluations read. A good answer becomes the gold
answer of its question; of a bad one, the correction does. Without a correction the question has no gold answer.
"""

from __future__ import annotations

import asyncio
import html
import json
import re
import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from ragways.evaluation.datasets.reading import plain_row
from ragways.evaluation.question import Question
from ragways.retrieval.ask import LONGEST_QUESTION
from ragways.service.api.jobs import SET_NAME
from ragways.service.auth import Access, Reading, Writing
from ragways.service.collections import Collection
from ragways.service.errors import ERRORS, NotFound
from ragways.service.feedback import FEEDBACK

router = APIRouter(tags=["evaluation"], responses=ERRORS)
LONGEST_ANSWER = 20_000
SetName = Annotated[str, InPath(pattern=SET_NAME, description="a set of questions")]
RunId = Annotated[str, InPath(pattern="^[0-9a-f]{16}$", description="a run: the id of the job that made it")]
FIGURES, REPORT = "figures.json", "report.html"
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"')


class QuestionSetInfo(BaseModel):
    """A set of questions."""

    name: str
    questions: int
    made: str = Field(description="when it was made or last added to")
    about: dict[str, Any] | None = Field(description="how and on what it was made, and what was not checked")


class QuestionSets(BaseModel):
    """The sets of a collection; `feedback` is made of verdicts on answers."""

    sets: list[QuestionSetInfo]


class EvaluationRun(BaseModel):
    """An evaluation run that has ended."""

    id: str
    made: str
    questions: str = Field(description="the set that was asked")
    asked: int
    paradigms: list[str]
    metrics: list[str]


class RunList(BaseModel):
    """The runs of a collection, newest first."""

    runs: list[EvaluationRun]


class FeedbackRequest(BaseModel):
    """A verdict on an answer."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    answer: str = Field(max_length=LONGEST_ANSWER, description="the answer that was given")
    verdict: Literal["good", "bad"]
    correction: str = Field("", max_length=LONGEST_ANSWER, description="what the answer should have been")
    paradigm: str = Field("", max_length=200, description="the way that was taken")
    evidence: list[Annotated[str, Field(max_length=200)]] = Field(
        default_factory=list, max_length=200, description="ids of the evidence that the answer rests on"
    )


class FeedbackKept(BaseModel):
    """The id under which it is stored: that of its question."""

    id: str


def as_question(given: FeedbackRequest, id: str, by: str, at: str) -> Question:
    """Feedback as a question of an evaluation."""
    gold = given.answer if given.verdict == "good" else given.correction
    provenance: dict[str, Any] = {"kind": "feedback", "by": by, "at": at}
    provenance |= given.model_dump(exclude={"question"})
    return Question(id, given.question, (gold,) if gold.strip() else (), "feedback", (), provenance)


@router.get("/collections/{collection}/questions")
async def sets(access: Reading) -> QuestionSets:
    """The sets of questions there are."""
    sets = await asyncio.to_thread(_sets, access.collection)
    count, at = access.service.feedback.summary(access.collection.id)
    if count:
        sets.append(QuestionSetInfo(name=FEEDBACK, questions=count, made=at, about=None))
    return QuestionSets(sets=sets)


def _sets(found: Collection) -> list[QuestionSetInfo]:
    return [
        QuestionSetInfo(name=file.stem, questions=_lines(file), made=_time(file), about=_json(_about(file)))
        for file in sorted(found.questions.glob("*.jsonl"))
    ]


@router.get(
    "/collections/{collection}/questions/{name}",
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "a line of JSON for each question"}},
)
async def questions(access: Reading, name: SetName) -> Response:
    """A set of questions in the layout that `ragways eval run --questions` reads."""
    if name != FEEDBACK:
        return await _file(access.collection.questions / f"{name}.jsonl", "set of questions", "application/x-ndjson")
    if not access.service.feedback.summary(access.collection.id)[0]:
        raise NotFound("set of questions")
    return _feedback(access)


@router.delete("/collections/{collection}/questions/{name}", status_code=204)
async def delete_questions(access: Writing, name: SetName) -> Response:
    """Delete a set of questions; of `feedback`, all of it."""
    file = access.collection.questions / f"{name}.jsonl"
    if not (access.service.feedback.remove(access.collection.id) if name == FEEDBACK else file.is_file()):
        raise NotFound("set of questions")
    file.unlink(missing_ok=True)
    _about(file).unlink(missing_ok=True)
    access.note("questions.delete", name=name)
    return Response(status_code=204)


@router.get("/collections/{collection}/runs")
async def runs(access: Reading) -> RunList:
    """The evaluation runs there are; one that is under way is among the jobs."""
    return RunList(runs=await asyncio.to_thread(_runs, access.collection))


def _runs(found: Collection) -> list[EvaluationRun]:
    files = sorted(found.runs.glob(f"*/{FIGURES}"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [
        EvaluationRun(
            **{name: figures[name] for name in ("questions", "asked", "metrics")},
            id=file.parent.name,
            made=_time(file),
            paradigms=[one["paradigm"] for one in figures["paradigms"]],
        )
        for file in files
        if (figures := _json(file)) is not None
    ]


@router.get("/collections/{collection}/runs/{id}")
async def run(access: Reading, id: RunId) -> Response:
    """The figures of a run: of each paradigm, means with their intervals, counts and costs."""
    return await _file(access.collection.runs / id / FIGURES, "run", "application/json")


@router.get(
    "/collections/{collection}/runs/{id}/report.html",
    response_class=Response,
    responses={200: {"content": {"text/html": {}}, "description": "a page"}},
)
async def report(access: Reading, id: RunId) -> Response:
    """The report of a run: one page that fetches nothing. Its script runs in a sandbox, apart from our other pages."""
    page = await _file(access.collection.runs / id / REPORT, "run", "text/html; charset=utf-8")
    policy = _POLICY.search(bytes(page.body[:65536]).decode("utf-8", "replace"))
    own = html.unescape(policy[1]) if policy is not None else "default-src 'none'"
    page.headers["Content-Security-Policy"] = f"sandbox allow-scripts allow-downloads; {own}"
    return page


@router.delete("/collections/{collection}/runs/{id}", status_code=204)
async def delete_run(access: Writing, id: RunId) -> Response:
    """Delete a run with its answers, figures and report."""
    folder = access.collection.runs / id
    if folder.is_symlink() or not folder.is_dir():
        raise NotFound("run")
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    access.note("run.delete", run=id)
    return Response(status_code=204)


# Feedback


@router.post("/collections/{collection}/feedback", status_code=201, response_model=FeedbackKept)
async def add(access: Reading, body: FeedbackRequest) -> Response:
    """Say whether an answer was good."""
    id = secrets.token_hex(8)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    question = as_question(body, id, access.caller.key, at)
    access.service.feedback.add(access.collection.id, at, json.dumps(plain_row(question)))
    access.note("feedback", verdict=body.verdict)
    return JSONResponse({"id": id}, 201)


@router.get(
    "/collections/{collection}/feedback",
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "a line of JSON for each question"}},
)
async def feedback(access: Reading) -> Response:
    """All feedback, as questions that `ragways eval run --questions` reads."""
    return _feedback(access)


def _feedback(access: Access) -> Response:
    lines = access.service.feedback.lines(access.collection.id)
    return StreamingResponse(lines, media_type="application/x-ndjson")


async def _file(path: Path, what: str, kind: str) -> Response:
    try:
        return Response(await asyncio.to_thread(path.read_bytes), media_type=kind)
    except OSError:
        raise NotFound(what) from None


def _about(file: Path) -> Path:
    from ragways.evaluation.questions.generate import about_file  # loaded when it is needed

    return about_file(file)


def _json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _time(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
