"""Answer a generated question from given passages or from memory alone, and say whether two answers are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.question_asked import Passages, numbered


@dataclass(frozen=True, slots=True)
class Same:
    same: bool


def _render(question: str, passages: Passages) -> Mapping[str, object]:
    return {"question": question, "passages": numbered(passages)}


QUESTION_GROUNDED = Task("question grounded", prompt="question-grounded", reply=str, max_output=512, render=_render)
QUESTION_CLOSED = Task("question closed", prompt="question-closed", reply=str, max_output=256)
QUESTION_SAME = Task("question same", prompt="question-same", reply=Same, max_output=64)
