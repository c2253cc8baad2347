"""Write a question whose answer draws on several documents about one entity, if they mean the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.question_asked import Passages, complaint, numbered


@dataclass(frozen=True, slots=True)
class Summarised:
    """`same` is false, and the rest empty, where the documents speak of several entities of that name."""

    same: bool
    question: str = ""
    answer: str = ""
    passages: tuple[int, ...] = ()


def _render(entity: str, passages: Passages) -> Mapping[str, object]:
    return {"entity": entity, "passages": numbered(passages)}


def _check(reply: Summarised, variables: Mapping[str, object]) -> str | None:
    if not reply.same:
        return None
    passages, entity = variables["passages"], str(variables["entity"])
    shown = len(passages) if isinstance(passages, Sequence) else 0
    if len({number for number in reply.passages if 1 <= number <= shown}) < 2:
        return f"the answer must draw on at least two of the passages, which are numbered 1 to {shown}"
    if entity.casefold() not in reply.question.casefold():
        return "the question must hold the name of the entity"
    return complaint(reply.question, reply.answer)


QUESTION_SUMMARY = Task(
    "question summary",
    prompt="question-summary",
    reply=Summarised,
    temperature=0.7,
    max_output=1024,
    check=_check,
    render=_render,
)
