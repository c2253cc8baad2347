"""Write a question that looks as if a passage answered it, and is not answered anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.question_asked import Passages, complaint, numbered

CHANGES = {
    "swapped": "ask the same of the other entity named below instead, of which nothing of the sort is said",
    "removed": "ask for a property of what the passage speaks of that one would expect to be known, and that it does "
    "not state",
    "moved": "give the question a date or year, other than the true one, at which what it asks about did not happen",
}


@dataclass(frozen=True, slots=True)
class Unanswered:
    question: str


def _render(passages: Passages, change: str, other: str) -> Mapping[str, object]:
    return {"passages": numbered(passages), "change": CHANGES[change], "other": other or "(none)"}


def _check(reply: Unanswered, variables: Mapping[str, object]) -> str | None:
    other = str(variables["other"])
    if other and other.casefold() not in reply.question.casefold():
        return "the question must hold the name of the other entity"
    return complaint(reply.question, "none")


QUESTION_UNANSWERABLE = Task(
    "question unanswerable",
    prompt="question-unanswerable",
    reply=Unanswered,
    temperature=0.7,
    max_output=384,
    check=_check,
    render=_render,
)
