"""A source's experiment as a declaration: what it ran, on what, with which parameters, and what it reported.

`Column`s say how a figure is read off a run; the published one stands beside ours, whatever differs between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ragways.core.errors import UsageError
from ragways.evaluation.metric import Metric
from ragways.evaluation.score import MetricScore, ParadigmScores

Value = Callable[[ParadigmScores], float | None]


@dataclass(frozen=True)
class Mean:
    """The mean of a metric, over all questions or those of a type; as a sum over the questions where `summed`."""

    metric: str
    scale: float = 100.0
    of_type: str = ""
    summed: bool = False

    def __call__(self, row: ParadigmScores) -> float | None:
        figure = self._figure(row)
        return None if figure.mean is None else figure.mean * (figure.n if self.summed else self.scale)

    def n(self, row: ParadigmScores) -> int:
        """Over how many questions it is one."""
        return self._figure(row).n

    def _figure(self, row: ParadigmScores) -> MetricScore:
        if not self.of_type:
            return row.metrics.get(self.metric, MetricScore())
        found = row.by_type.get(self.of_type)
        return found.metrics.get(self.metric, MetricScore()) if found is not None else MetricScore()


@dataclass(frozen=True)
class Column:
    """`judge` must have been asked; `published` is by way, missing where the source says nothing."""

    label: str
    value: Value
    published: Mapping[str, float] = field(default_factory=dict)
    digits: int = 1
    judge: str = ""
    metric: Metric | None = None
    """One beside the usual ones that the run must be scored by."""

    def n(self, row: ParadigmScores) -> int | None:
        """Questions that the figure is a mean over; None where it is one over all answers (tokens, seconds)."""
        return self.value.n(row) if isinstance(self.value, Mean) else None


@dataclass(frozen=True)
class Way:
    """A paradigm with the source's settings, and what the source calls it."""

    paradigm: str
    published: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_model: bool = False

    @property
    def label(self) -> str:
        """Its name in the run's records."""
        return f"{self.paradigm} ({self.published})"


@dataclass(frozen=True)
class Data:
    """Files of one data set, by the names they go by; no corpus means that the questions hold it or lie beside it."""

    name: str
    format: str
    questions: tuple[str, ...]
    corpus: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """`questions`: those of the data, sampled `per_type`; or generated over the corpus, so many of each kind."""

    name: str
    title: str
    model: str
    ways: tuple[Way, ...]
    data: tuple[Data, ...]
    columns: tuple[Column, ...]
    differs: tuple[str, ...]
    chunking: Literal["section", "thesis", "router-bench", "agentic"] = "section"
    per_type: int | None = None
    evidence_only: bool = False
    generated: Mapping[str, int] = field(default_factory=dict)
    duel: bool = False

    def columns_on(self, data: Data) -> tuple[Column, ...]:
        return (*data.columns, *self.columns)


@dataclass(frozen=True)
class Located:
    """A data set that was found, with its files."""

    data: Data
    questions: Path | None
    corpus: Path | None


def locate(experiment: Experiment, folder: Path) -> list[Located]:
    """The data sets of an experiment that lie in a folder or in folders of it; an error names what was looked for."""
    places = [folder, *sorted(place for place in folder.iterdir() if place.is_dir())] if folder.is_dir() else []
    found = []
    for data in experiment.data:
        for place in places:
            questions, corpus = _first(place, data.questions), _first(place, data.corpus)
            if (questions or not data.questions) and (corpus or not data.corpus):
                found.append(Located(data, questions, corpus))
                break
    if not found:
        wanted = "; or ".join(
            f"{data.name}: {' and '.join(' or '.join(names) for names in (data.questions, data.corpus) if names)}"
            for data in experiment.data
        )
        raise UsageError(f"{folder} holds no data of {experiment.name}", f"put there {wanted}")
    return found


def _first(place: Path, names: tuple[str, ...]) -> Path | None:
    return next((file for name in names for file in sorted(place.glob(name))), None)


def published(ways: Sequence[str], *values: float | None) -> dict[str, float]:
    """A column of a source's table, in the order of its ways; None where it says nothing."""
    return {way: value for way, value in zip(ways, values, strict=True) if value is not None}


def mean(metric: str, *, scale: float = 100.0, of_type: str = "") -> Mean:
    """The mean of a metric, over all questions or those of a type."""
    return Mean(metric, scale, of_type)


def total(metric: str) -> Mean:
    """The sum of a metric over the questions, as CRAG's truthfulness is."""
    return Mean(metric, summed=True)


def tokens(row: ParadigmScores) -> float | None:
    """Tokens a question, in and out; nothing where no model was asked."""
    used = row.resources.total
    return used.tokens if used.calls else None


def seconds(row: ParadigmScores) -> float | None:
    return row.resources.seconds
