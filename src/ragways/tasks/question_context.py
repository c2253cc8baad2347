"""Write a question on a group of passages, and make it harder in one way."""

from __future__ import annotations

from collections.abc import Mapping

from ragways.models.task import Task
from ragways.tasks.question_asked import AskedOf, Passages, check_asked_of, numbered

EVOLUTIONS = {
    "reasoning": "it must take several steps of thought, each resting on a stated fact",
    "multi-context": "it must need facts of at least two of the passages at once",
    "comparative": "it must compare two or more things, such as which came first or how they differ",
}


def _render(passages: Passages) -> Mapping[str, object]:
    return {"passages": numbered(passages)}


def _render_evolved(question: str, answer: str, how: str, passages: Passages) -> Mapping[str, object]:
    return {"question": question, "answer": answer, "how": EVOLUTIONS[how], "passages": numbered(passages)}


QUESTION_CONTEXT = Task(
    "question context",
    prompt="question-context",
    reply=AskedOf,
    temperature=0.7,
    max_output=768,
    check=check_asked_of,
    render=_render,
)
QUESTION_EVOLVED = Task(
    "question evolved",
    prompt="question-evolved",
    reply=AskedOf,
    temperature=0.7,
    max_output=768,
    check=check_asked_of,
    render=_render_evolved,
)
