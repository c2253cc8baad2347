"""What people say of answers: kept as questions with a verdict, in the layout that evaluations read.

A good answer becomes the gold answer of its question; of a bad one, the correction does. A bad answer without a
correction is kept with its verdict, and its question has no gold answer.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from ragways.evaluation.datasets.reading import plain_row
from ragways.evaluation.question import Question
from ragways.retrieval.ask import LONGEST_QUESTION
from ragways.service import feedback as lines
from ragways.service.auth import Reading
from ragways.service.errors import ERRORS

router = APIRouter(tags=["feedback"], responses=ERRORS)
LONGEST_ANSWER = 20_000


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
async def add(access: Reading, body: FeedbackRequest) -> Response:
    """Say whether an answer was good."""
    id = secrets.token_hex(8)
    question = as_question(body, id, access.caller.key, datetime.now(UTC).isoformat(timespec="seconds"))
    await asyncio.to_thread(lines.append, access.collection.feedback, json.dumps(plain_row(question)).encode() + b"\n")
    access.note("feedback", verdict=body.verdict)
    return JSONResponse({"id": id}, 201)


@router.get(
    "/collections/{collection}/feedback",
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "a line of JSON for each question"}},
)
async def feedback(access: Reading) -> Response:
    """All feedback, as questions that `ragways eval run --questions` reads."""
    return StreamingResponse(lines.blocks(access.collection.feedback), media_type="application/x-ndjson")
