"""Figures of a variant as a source reports them, each with its 95 % interval, and with its range where it ran often."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import comb
from statistics import fmean, median
from typing import Literal

from ragways.core.table import Table
from ragways.evaluation.metric import SIGNED
from ragways.evaluation.record import Record
from ragways.evaluation.resources.sampler import ResourceSample
from ragways.evaluation.resources.usage import LayerCosts, split
from ragways.evaluation.statistics.inference import interval
from ragways.store.cache import Spent


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
    """What a variant did: its name in the run, the tables of the run, its scored records that did not fail, samples of
    the machine's load, and what each layer of the index cost.
    """

    name: str
    tables: Mapping[str, Table]
    records: Sequence[Record]
    samples: Sequence[ResourceSample] = ()
    built: LayerCosts = field(default_factory=dict)

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
        bottom, top = (-1.0, 1.0) if self.metric in SIGNED else (min(0.0, mean), 1.0)
        return Figure(
            value=scale * (middle if several else mean),
            low=None if low is None else scale * max(bottom, low),
            high=None if high is None else scale * min(top, high),
            n=n,
            minimum=scale * least if several else None,
            maximum=scale * most if several else None,
        )


@dataclass(frozen=True)
class RecordReading:
    """The mean, the median or the sum over the questions of something that each record has, or has not. It is never
    below 0, and where it is a `share` never above 1. With `whole` it is unknown where a record has not.
    """

    of: Callable[[Record], float | None]
    by: Literal["mean", "median", "sum"] = "mean"
    share: bool = False
    whole: bool = False

    def __call__(self, run: VariantRun) -> Figure:
        by_question: dict[str, list[float]] = defaultdict(list)
        by_repeat: dict[int, list[float]] = defaultdict(list)
        for record in run.records:
            if (value := self.of(record)) is not None:
                by_question[record.question].append(value)
                by_repeat[record.repeat].append(value)
            elif self.whole:
                return Figure(n=0)
        if not by_question:
            return Figure(n=0)
        middle = median if self.by == "median" else fmean
        values = [fmean(some) for some in by_question.values()]
        runs = [middle(some) for some in by_repeat.values()]
        low, high = median_interval(values) if self.by == "median" else interval(values, share=self.share)
        several, scale = len(runs) > 1, len(values) if self.by == "sum" else 1
        return Figure(
            value=scale * (median(runs) if several else middle(values)),
            low=None if low is None else scale * max(0.0, low),
            high=None if high is None else scale * high,
            n=len(values),
            minimum=scale * min(runs) if several else None,
            maximum=scale * max(runs) if several else None,
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


def share(metric: str, values: Collection[float]) -> RecordReading:
    """The share of the answers with one of these values of a metric, among those that have a value."""
    return RecordReading(
        lambda record: None if (value := record.value(metric)) is None else float(value in values), share=True
    )


def passed(*metrics: str, least: float = 0.5) -> RecordReading:
    """How many questions have at least this value of every one of the metrics, as a test case of deepeval passes."""

    def of(record: Record) -> float | None:
        values = [record.value(metric) for metric in metrics]
        known = [value for value in values if value is not None]
        return float(min(known) >= least) if len(known) == len(metrics) else None

    return RecordReading(of, by="sum", share=True)


def used(field: str, by: Literal["mean", "median"] = "mean") -> RecordReading:
    """What an answer used (`input`, `output`, `reasoning`, `usd`), where a model was set: 0 if it was not called."""
    return RecordReading(lambda record: getattr(record.usage, field) if _with_model(record) else None, by, whole=True)


def _with_model(record: Record) -> bool:
    return bool(record.made.model or record.usage.calls)


def _generation(record: Record) -> float | None:
    parts = split(record.steps, record.usage) if _with_model(record) else None
    return parts[1].all_tokens if parts else None


def _retrieval(record: Record) -> float | None:
    parts = split(record.steps, record.usage) if _with_model(record) else None
    return parts[0].all_tokens if parts else None


tokens = used("all_tokens")
"""Tokens a question, in and out; nothing where no model was set."""
median_tokens = used("all_tokens", by="median")
generation_tokens = RecordReading(_generation)
"""Tokens of the call that made the answer."""
context_tokens = RecordReading(lambda record: record.usage.evidence)
"""Tokens of the evidence that was shown."""
pieces = RecordReading(lambda record: float(len(record.evidence)))
"""Pieces of evidence that were shown."""
seconds = RecordReading(lambda record: None if record.replies_known else record.seconds)
"""Of answers without cached replies."""


def construction(part: Literal["input", "output", "tokens", "usd"]) -> Reading:
    """What building the layers of a variant has cost; nothing where no model built them."""

    def read(run: VariantRun) -> Figure:
        if not run.cost("index_calls"):
            return Figure()
        layers = str(run.tables["costs"].cell("index_layers", paradigm=run.name)).split(", ")
        spent = sum((run.built.get(layer, Spent()) for layer in layers), Spent())
        known = run.cost(f"index_{part}") if part in ("tokens", "usd") else getattr(spent, part)
        return Figure(known)

    return read


def with_construction(reading: Reading) -> Reading:
    """Tokens a question, with its share of what building the layers has cost."""

    def read(run: VariantRun) -> Figure:
        found, each = reading(run), run.cost("index_tokens_each")
        if not each or found.value is None:
            return found
        low, high = (None if end is None else end + each for end in (found.low, found.high))
        return replace(found, value=found.value + each, low=low, high=high)

    return read


tokens_with_construction = with_construction(tokens)
retrieval_with_construction = with_construction(RecordReading(_retrieval))


def cpu_percent(run: VariantRun) -> Figure:
    """The share of the machine's processors that this process and its children used, sample by sample."""
    cores = os.cpu_count() or 1
    pairs = [(one, two) for one, two in pairwise(run.samples) if two.label == run.name and two.at > one.at]
    shares = [(two.cpu - one.cpu) / (two.at - one.at) / cores for one, two in pairs if two.cpu >= one.cpu]
    return _spread([100 * min(1.0, value) for value in shares])


def memory_percent(run: VariantRun) -> Figure:
    """The share of the machine's memory that this process and its children had, sample by sample."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return Figure()
    return _spread([100 * sample.memory / whole for sample in run.samples if sample.label == run.name])


def _spread(values: Sequence[float]) -> Figure:
    return Figure(fmean(values), minimum=min(values), maximum=max(values)) if values else Figure()
