"""Write a question that one passage answers."""

from __future__ import annotations

from collections.abc import Mapping

from ragways.models.task import Task
from ragways.tasks.question_asked import Asked, Passages, check_asked, numbered


def _render(passages: Passages) -> Mapping[str, object]:
    return {"passages": numbered(passages)}


# Without a model, questions come from templates over facts (evaluation/questions), which is not a thing of one call.
QUESTION_FACTUAL = Task(
    "question factual",
    prompt="question-factual",
    reply=Asked,
    temperature=0.7,
    max_output=512,
    check=check_asked,
    render=_render,
)
