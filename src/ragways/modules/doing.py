"""Helper tasks: what a paradigm asks of the model on its way to an answer."""

from __future__ import annotations

from typing import TypeVar

from ragways.core.errors import UnusableReply
from ragways.core.trace import current_span, span
from ragways.models.client import ModelClient
from ragways.models.task import Task
from ragways.modules.traced import brief

T = TypeVar("T")

INSTEAD = "rule, after an unusable reply"


async def do_or_rule(model: ModelClient, task: Task[T], /, **variables: object) -> T:
    """Do a task; where the model gives no usable reply, by the rule instead, and the trace says so.

    A keyword or a verdict that could not be read must not cost the whole answer. The answer itself is never replaced:
    whoever asked a model for it must not take a rule's word for the model's.
    """
    try:
        found = await model.do(task, **variables)
    except UnusableReply:
        if task.without is None:
            raise
        with span(task.name) as here:
            here.way = INSTEAD
            found = await task.without(**variables)
    tell(found)
    return found


def tell(reply: object) -> None:
    """Leave a task's reply in the span of that task, the last one done here."""
    if done := current_span().children:
        done[-1].details["output"] = brief(reply)
