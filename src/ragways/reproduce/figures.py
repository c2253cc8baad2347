"""Figures of a variant as a source reports them, each with its 95 % interval, and with its range where it ran often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from statistics import fmean, median
from typing import Literal

from ragways.evaluation.record import Record
from ragways.evaluation.score import MetricScore, ParadigmScores
from ragways.evaluation.statistics.inference import interval


@dataclass(frozen=True, slots=True)
class Figure:
    """A value, its 95 % interval over `n` questions, and its least and most over the runs.

    Of several runs the value is the median. None is what there is not: `low` and `high` of a sum that was paid once, a
    range of one run.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class VariantRun:
    """What a variant did: its scores, and its records that did not fail."""

    scores: ParadigmScores
    records: Sequence[Record]


Reading = Callable[[VariantRun], Figure]


@dataclass(frozen=True)
class MetricReading:
    """The mean of a metric, over all questions or those of a type; as a sum over the questions where `summed`."""

    metric: str
    scale: float = 100.0
    of_type: str = ""
    summed: bool = False

    def __call__(self, run: VariantRun) -> Figure:
        found = self._score(run.scores)
        if found.mean is None:
            return Figure(n=found.n)
        scale = found.n if self.summed else self.scale
        over = found.repeats
        return Figure(
            value=scale * (over.median if over else found.mean),
            low=None if found.low is None else scale * found.low,
            high=None if found.high is None else scale * found.high,
            n=found.n,
            minimum=scale * over.minimum if over else None,
            maximum=scale * over.maximum if over else None,
        )

    def _score(self, row: ParadigmScores) -> MetricScore:
        if not self.of_type:
            return row.metrics.get(self.metric, MetricScore())
        found = row.by_type.get(self.of_type)
        return found.metrics.get(self.metric, MetricScore()) if found is not None else MetricScore()


@dataclass(frozen=True)
class RecordReading:
    """The mean or the median over the questions of something that each record tells, or does not."""

    of: Callable[[Record], float | None]
    by: Literal["mean", "median"] = "mean"

    def __call__(self, run: VariantRun) -> Figure:
        by_question: dict[str, list[float]] = defaultdict(list)
        by_repeat: dict[int, list[float]] = defaultdict(list)
        for record in run.records:
            if (value := self.of(record)) is not None:
                by_question[record.question].append(value)
                by_repeat[record.repeat].append(value)
        if not by_question:
            return Figure(n=0)
        middle = fmean if self.by == "mean" else median
        values = [fmean(some) for some in by_question.values()]
        runs = [middle(some) for some in by_repeat.values()]
        low, high = interval(values) if self.by == "mean" else median_interval(values)
        several = len(runs) > 1
        return Figure(
            value=median(runs) if several else middle(values),
            low=low,
            high=high,
            n=len(values),
            minimum=min(runs) if several else None,
            maximum=max(runs) if several else None,
        )


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """A 95 % interval of the median: the values between which it lies that often, by the binomial distribution alone.

    None where there are too few (fewer than six).
    """
    ordered, n = sorted(values), len(values)
    below, at = 0.0, -1
    while below + comb(n, at + 1) / 2**n <= 0.025:
        at += 1
        below += comb(n, at) / 2**n
    return (None, None) if at < 0 else (ordered[at], ordered[n - 1 - at])


# What columns are read by


def mean(metric: str, *, scale: float = 100.0, of_type: str = "") -> MetricReading:
    """The mean of a metric, over all questions or those of a type."""
    return MetricReading(metric, scale, of_type)


def total(metric: str) -> MetricReading:
    """The sum of a metric over the questions, as CRAG's truthfulness is."""
    return MetricReading(metric, summed=True)


def _tokens(record: Record) -> float | None:
    return record.usage.all_tokens if record.usage.calls else None


tokens = RecordReading(_tokens)
"""Tokens a question, in and out; nothing where no model was called."""
median_tokens = RecordReading(_tokens, by="median")
usd = RecordReading(lambda record: record.usage.usd if record.usage.calls else None)
seconds = RecordReading(lambda record: None if record.replies_known else record.seconds)
"""Of answers without cached replies."""


def construction_tokens(run: VariantRun) -> Figure:
    """Tokens that building the layers it needs has cost; nothing where no model built them."""
    made = run.scores.resources.construction
    return Figure(made.tokens if made is not None and made.calls else None)


def construction_usd(run: VariantRun) -> Figure:
    made = run.scores.resources.construction
    return Figure(made.usd if made is not None and made.calls else None)


def tokens_with_construction(run: VariantRun) -> Figure:
    """Tokens a question, with its share of what building the layers has cost."""
    found, made = tokens(run), run.scores.resources.construction
    if made is None or not made.tokens_per_question or found.value is None:
        return found
    low, high = (None if end is None else end + made.tokens_per_question for end in (found.low, found.high))
    return replace(found, value=found.value + made.tokens_per_question, low=low, high=high)
