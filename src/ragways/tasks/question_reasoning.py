"""Write a question that only a chain of documents answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragways.models.task import Task
from ragways.tasks.question_asked import Asked, Passages, complaint, numbered


def _render(passages: Passages, bridges: Sequence[str]) -> Mapping[str, object]:
    return {
        "passages": numbered(passages),
        "count": len(passages),
        "bridges": "\n".join(f"{n} to {n + 1}: {name}" for n, name in enumerate(bridges, start=1)),
    }


def _check(reply: Asked, variables: Mapping[str, object]) -> str | None:
    bridges = variables["bridges"]
    names = [name for name in bridges if isinstance(name, str)] if isinstance(bridges, Sequence) else []
    for number, name in enumerate(names, start=1):
        if name.casefold() in reply.question.casefold():
            return f"the question names bridge {number}, which it should describe instead"
    return complaint(reply.question, reply.answer)


QUESTION_REASONING = Task(
    "question reasoning",
    prompt="question-reasoning",
    reply=Asked,
    temperature=0.7,
    max_output=768,
    check=_check,
    render=_render,
)
