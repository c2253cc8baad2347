"""Write a question about an entity, a relation or a stretch of the graph, with the text behind it."""

from __future__ import annotations

from collections.abc import Mapping

from ragways.models.task import Task
from ragways.tasks.question_asked import AskedOf, Passages, check_asked_of, numbered

LEVELS = {
    "node": "one entity: ask about what it is, does or is known for",
    "edge": "one relation between two entities: ask what joins them, why, or to what effect",
    "subgraph": "a part of a knowledge graph: ask what only the whole of it shows, such as a pattern, a course of "
    "events or the part that several entities play together",
}


def _render(level: str, structure: str, summary: str, passages: Passages) -> Mapping[str, object]:
    return {
        "level": LEVELS[level],
        "structure": structure,
        "summary": summary or "(none)",
        "passages": numbered(passages),
    }


QUESTION_STRUCTURE = Task(
    "question structure",
    prompt="question-structure",
    reply=AskedOf,
    temperature=0.7,
    max_output=768,
    check=check_asked_of,
    render=_render,
)


def _render_digest(passages: Passages) -> Mapping[str, object]:
    return {"passages": numbered(passages)}


QUESTION_DIGEST = Task("question digest", prompt="question-digest", reply=str, max_output=512, render=_render_digest)
"""The text behind a stretch of the graph in a few sentences, which the question is then written with."""
