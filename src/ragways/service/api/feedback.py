"""What people say of answers: kept as questions with a verdict, in the layout that evaluations read.

A good answer becomes the gold answer of its question; of a bad one, the correction does. A bad answer without a
correction is kept with its verdict, and its question has no gold answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from ragways.evaluation.datasets.reading import plain_row
from ragways.evaluation.question import Question
from ragways.retrieval.ask import LONGEST_QUESTION
from ragways.service.auth import Access, collection
from ragways.service.errors import ERRORS, Conflict, Full

router = APIRouter(tags=["feedback"], responses=ERRORS)
LARGEST = 64 << 20
"""Bytes of the feedback on a collection."""
BLOCK = 1 << 16
"""Bytes that are read at once."""
LONGEST_ANSWER = 20_000
LONGEST_LINE = 1 << 20
"""Bytes; a letter of a text takes at most six of them."""


class FeedbackRequest(BaseModel):
    """What somebody says of an answer."""

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
    """The id under which it is kept: that of its question."""

    id: str


def as_question(said: FeedbackRequest, id: str, by: str, at: str) -> Question:
    """Feedback as a question of an evaluation."""
    gold = said.answer if said.verdict == "good" else said.correction
    provenance: dict[str, Any] = {"kind": "feedback", "by": by, "at": at}
    provenance |= said.model_dump(exclude={"question"})
    return Question(id, said.question, (gold,) if gold.strip() else (), "feedback", (), provenance)


@router.post("/collections/{collection}/feedback", status_code=201, response_model=FeedbackKept)
async def add(access: Annotated[Access, Depends(collection("read"))], body: FeedbackRequest) -> Response:
    """Say whether an answer was good."""
    id = secrets.token_hex(8)
    question = as_question(body, id, access.caller.key, datetime.now(UTC).isoformat(timespec="seconds"))
    await asyncio.to_thread(_append, access.collection.feedback, json.dumps(plain_row(question)).encode() + b"\n")
    access.service.audit.note(access.caller, "feedback", collection=access.collection.name, verdict=body.verdict)
    return JSONResponse({"id": id}, 201)


@router.get(
    "/collections/{collection}/feedback",
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "a line of JSON for each question"}},
)
async def feedback(access: Annotated[Access, Depends(collection("read"))]) -> Response:
    """All feedback, as questions that `ragways eval run --questions` reads."""
    return StreamingResponse(_blocks(access.collection.feedback), media_type="application/x-ndjson")


_one_at_a_time = threading.Lock()


def _blocks(path: Path) -> Iterator[bytes]:
    """A file piece by piece, as it was at the beginning: what is added meanwhile is left out, so lines are whole."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        with _one_at_a_time:
            left = os.fstat(file.fileno()).st_size
        while left and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block


def _append(path: Path, line: bytes) -> None:
    """Add a whole line, or nothing; the disk has it before the client is told so."""
    with _one_at_a_time, path.open("a+b", buffering=0) as file:
        size = _whole_lines(file)
        if size + len(line) > LARGEST:
            raise Conflict("there is no room for more feedback", "fetch it, then delete the set feedback")
        if file.write(line) < len(line):
            file.truncate(size)
            raise Full("there is no room on the disk", "tell whoever runs the server")
        os.fsync(file.fileno())


def _whole_lines(file: FileIO) -> int:
    """The size of a file without half a line at its end, which a power cut may have left: that is taken off."""
    size = os.fstat(file.fileno()).st_size
    tail = os.pread(file.fileno(), LONGEST_LINE, max(0, size - LONGEST_LINE))
    if tail and not tail.endswith(b"\n"):
        size -= len(tail) - (tail.rfind(b"\n") + 1)
        file.truncate(size)
    return size
