"""A judge scores a record with help from outside it: an embedder, or a language model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.record import Record

if TYPE_CHECKING:
    from ragways.models.client import ModelClient
    from ragways.models.embed import Embedder
    from ragways.models.task import Task


@dataclass(frozen=True)
class JudgeResources:
    """What judges work with: the client of the judging model (or of none) and the embedder."""

    model: ModelClient
    embedder: Embedder


@dataclass(frozen=True)
class Judge:
    """`score` gives a value for each of `metrics`; it is asked only of records that have what one of them needs.

    `tasks` are all that it may ask a model: where the prompt of one changes, what it said before is judged again.
    """

    name: str
    summary: str
    by: Literal["embedder", "model"]
    metrics: tuple[Metric, ...]
    score: Callable[[JudgeResources, Record], Awaitable[Mapping[str, Score]]]
    tasks: tuple[Task[Any, Any], ...] = ()
