"""A source's experiment as a declaration: what it ran, on what, with which parameters, and what it reported.

A column says how a figure is read off a run; the published one stands beside ours, whatever differs between them.
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
class MetricValue:
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
class PublishedColumn:
    """A column of a source's table. `judge` must have been asked; `published` is by the source's name of a variant,
    missing where the source says nothing.
    """

    label: str
    value: Value
    published: Mapping[str, float] = field(default_factory=dict)
    digits: int = 1
    judge: str = ""
    metric: Metric | None = None
    """One beside the usual ones that the run must be scored by."""

    def n(self, row: ParadigmScores) -> int | None:
        """Questions that the figure is a mean over; None where it is one over all answers (tokens, seconds)."""
        return self.value.n(row) if isinstance(self.value, MetricValue) else None


@dataclass(frozen=True)
class PublishedVariant:
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
class ExperimentData:
    """Files of one data set, by the names they go by; no corpus means that the questions hold it or lie beside it."""

    name: str
    format: str
    questions: tuple[str, ...]
    corpus: tuple[str, ...] = ()
    columns: tuple[PublishedColumn, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """What a source ran. The questions are those of the data, sampled `per_type`, or `generated` over the corpus,
    so many of each kind. `differs` says what is not as it was there.
    """

    name: str
    title: str
    model: str
    variants: tuple[PublishedVariant, ...]
    data: tuple[ExperimentData, ...]
    columns: tuple[PublishedColumn, ...]
    differs: tuple[str, ...]
    chunking: Literal["section", "thesis", "router-bench", "agentic"] = "section"
    per_type: int | None = None
    evidence_only: bool = False
    generated: Mapping[str, int] = field(default_factory=dict)
    duel: bool = False

    def columns_on(self, data: ExperimentData) -> tuple[PublishedColumn, ...]:
        return (*data.columns, *self.columns)


@dataclass(frozen=True)
class LocatedData:
    """A data set that was found, with its files."""

    data: ExperimentData
    questions: Path | None
    corpus: Path | None


def locate(experiment: Experiment, folder: Path) -> list[LocatedData]:
    """The data sets of an experiment that lie in a folder or in folders of it; an error names what was looked for."""
    places = [folder, *sorted(place for place in folder.iterdir() if place.is_dir())] if folder.is_dir() else []
    found = []
    for data in experiment.data:
        for place in places:
            questions, corpus = _first(place, data.questions), _first(place, data.corpus)
            if (questions or not data.questions) and (corpus or not data.corpus):
                found.append(LocatedData(data, questions, corpus))
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


def published(names: Sequence[str], *values: float | None) -> dict[str, float]:
    """A column of a source's table, in the order of its variants; None where it says nothing."""
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def mean(metric: str, *, scale: float = 100.0, of_type: str = "") -> MetricValue:
    """The mean of a metric, over all questions or those of a type."""
    return MetricValue(metric, scale, of_type)


def total(metric: str) -> MetricValue:
    """The sum of a metric over the questions, as CRAG's truthfulness is."""
    return MetricValue(metric, summed=True)


def tokens(row: ParadigmScores) -> float | None:
    """Tokens a question, in and out; nothing where no model was asked."""
    used = row.resources.total
    return used.tokens if used.calls else None


def seconds(row: ParadigmScores) -> float | None:
    return row.resources.seconds
