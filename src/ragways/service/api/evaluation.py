"""Sets of questions and evaluation runs over HTTP. Jobs of the kinds `questions` and `evaluate` make them."""

from __future__ import annotations

import asyncio
import html
import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from ragways.service.api.jobs import FEEDBACK, SET_NAME
from ragways.service.auth import Reading, Writing
from ragways.service.collections import Collection
from ragways.service.errors import ERRORS, NotFound
from ragways.service.feedback import changing

router = APIRouter(tags=["evaluation"], responses=ERRORS)
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
    """The sets of a collection; `feedback` is made of what people said of answers."""

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


@router.get("/collections/{collection}/questions", response_model=QuestionSets)
async def sets(access: Reading) -> Response:
    """The sets of questions there are."""
    return JSONResponse({"sets": await asyncio.to_thread(_sets, access.collection)})


def _sets(found: Collection) -> list[dict[str, Any]]:
    files = sorted(found.questions.glob("*.jsonl")) + ([found.feedback] if found.feedback.is_file() else [])
    return [
        {"name": file.stem, "questions": _lines(file), "made": _time(file), "about": _json(_about(file))}
        for file in files
    ]


@router.get(
    "/collections/{collection}/questions/{name}",
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "a line of JSON for each question"}},
)
async def questions(access: Reading, name: SetName) -> Response:
    """A set of questions in the layout that `ragways eval run --questions` reads."""
    file = access.collection.feedback if name == FEEDBACK else access.collection.questions / f"{name}.jsonl"
    return await _file(file, "set of questions", "application/x-ndjson")


@router.delete("/collections/{collection}/questions/{name}", status_code=204)
async def delete_questions(access: Writing, name: SetName) -> Response:
    """Delete a set of questions; of `feedback`, everything that was said so far."""
    file = access.collection.feedback if name == FEEDBACK else access.collection.questions / f"{name}.jsonl"
    try:
        with changing(file):
            file.unlink()
    except FileNotFoundError:
        raise NotFound("set of questions") from None
    _about(file).unlink(missing_ok=True)
    access.note("questions.delete", name=name)
    return Response(status_code=204)


@router.get("/collections/{collection}/runs", response_model=RunList)
async def runs(access: Reading) -> Response:
    """The evaluation runs there are; one that is under way is among the jobs."""
    return JSONResponse({"runs": await asyncio.to_thread(_runs, access.collection)})


def _runs(found: Collection) -> list[dict[str, Any]]:
    told = []
    for file in sorted(found.runs.glob(f"*/{FIGURES}"), key=lambda path: path.stat().st_mtime, reverse=True):
        if (figures := _json(file)) is not None:
            paradigms = [one["paradigm"] for one in figures["paradigms"]]
            kept = {name: figures[name] for name in ("questions", "asked", "metrics")}
            told.append({"id": file.parent.name, "made": _time(file), "paradigms": paradigms, **kept})
    return told


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
