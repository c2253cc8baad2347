"""Find the entities that a question names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragways.models.task import Task

Names = Callable[[str], list[str]]
"""The names in a text that the graph knows."""


@dataclass(frozen=True, slots=True)
class Entities:
    """Names as the question writes them, the most important first."""

    entities: tuple[str, ...]


async def _without(question: str, names: Names) -> Entities:
    """The names in the question that the graph knows."""
    return Entities(tuple(names(question)))


def _render(question: str, names: Names) -> Mapping[str, object]:  # noqa: ARG001
    return {"question": question}


QUESTION_ENTITIES = Task(
    "question entities", prompt="question-entities", reply=Entities, without=_without, render=_render, max_output=256
)
