"""Write the questions that an answer answers, without having seen the one that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.models.task import Task

COUNT = 3
"""Questions to write for each answer."""


@dataclass(frozen=True, slots=True)
class Questions:
    """`noncommittal`: the answer evades, so that no question would be answered by it."""

    noncommittal: bool
    questions: tuple[str, ...]


def _check(reply: Questions, variables: Mapping[str, object]) -> str | None:  # noqa: ARG001
    if len(reply.questions) != COUNT:
        return f"there are {len(reply.questions)} questions, and there must be {COUNT}"
    return None if all(question.strip() for question in reply.questions) else "a question is empty"


def _render(answer: str) -> Mapping[str, object]:
    return {"answer": answer, "count": COUNT}


QUESTIONS = Task(
    "judge questions", prompt="judge-questions", reply=Questions, max_output=500, check=_check, render=_render
)
