"""Figures of a variant as a source reports them, each with its 95 % interval, and with its range where it ran often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from statistics import fmean, median
from typing import Literal

from ragways.core.table import Table
from ragways.evaluation.record import Record
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
    """What a variant did: its name in the run, the tables of the run, and its records that did not fail."""

    name: str
    tables: Mapping[str, Table]
    records: Sequence[Record]

    def cost(self, column: str) -> float | None:
        """A cost of the variant; None where it is not known."""
        cost: float | None = self.tables["costs"].cell(column, paradigm=self.name)
        return cost


Reading = Callable[[VariantRun], Figure]


@dataclass(frozen=True)
class MetricReading:
    """The mean of a metric, over all questions or those of a type; as a sum over the questions where `summed`."""

    metric: str
    scale: float = 100.0
    of_type: str = ""
    summed: bool = False

    def __call__(self, run: VariantRun) -> Figure:
        where = {"metric": self.metric, "paradigm": run.name, "type": self.of_type}
        columns = ("mean", "low", "high", "n", "median", "minimum", "maximum")
        mean, low, high, n, middle, least, most = (run.tables["figures"].cell(column, **where) for column in columns)
        if mean is None:
            return Figure(n=n or 0)
        scale = n if self.summed else self.scale
        several = middle is not None
        return Figure(
            value=scale * (middle if several else mean),
            low=None if low is None else scale * low,
            high=None if high is None else scale * high,
            n=n,
            minimum=scale * least if several else None,
            maximum=scale * most if several else None,
        )


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
    return Figure(run.cost("index_tokens") if run.cost("index_calls") else None)


def construction_usd(run: VariantRun) -> Figure:
    return Figure(run.cost("index_usd") if run.cost("index_calls") else None)


def tokens_with_construction(run: VariantRun) -> Figure:
    """Tokens a question, with its share of what building the layers has cost."""
    found, each = tokens(run), run.cost("index_tokens_each")
    if not each or found.value is None:
        return found
    low, high = (None if end is None else end + each for end in (found.low, found.high))
    return replace(found, value=found.value + each, low=low, high=high)
