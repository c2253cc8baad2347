"""Paradigms compared with each other, or all with one, on one metric, with every count that a reader needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.intervals import SEED
from ragways.evaluation.statistics.holm import holm
from ragways.evaluation.statistics.paired import Comparison, compare
from ragways.evaluation.statistics.power import ALPHA, LeastEffect, in_words, least_effect
from ragways.evaluation.statistics.repeats import Repeats, over_repeats
from ragways.evaluation.statistics.values import Counts, Values, averaged, count

Verdict = Literal["better", "worse", "no difference shown", "not compared"]


@dataclass(frozen=True, slots=True)
class Row:
    """a against b: `verdict` is on a, by the p that Holm's correction gave; "better" minds whether less is better."""

    a: str
    b: str
    comparison: Comparison
    adjusted: float | None
    verdict: Verdict
    least: LeastEffect

    def data(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, **self.comparison.data(), "adjusted": self.adjusted,
                "verdict": self.verdict, "least": self.least.data()}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All rows of one metric; `counts` and `repeats` are by paradigm."""

    metric: str
    less_is_better: bool
    baseline: str
    alpha: float
    rows: tuple[Row, ...]
    counts: Mapping[str, Counts]
    repeats: Mapping[str, Repeats]
    sentence: str
    """What so many questions would mostly miss."""

    def data(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "less_is_better": self.less_is_better,
            "baseline": self.baseline,
            "alpha": self.alpha,
            "rows": [row.data() for row in self.rows],
            "counts": {name: counts.data() for name, counts in self.counts.items()},
            "repeats": {name: repeats.data() for name, repeats in self.repeats.items()},
            "sentence": self.sentence,
        }


def compare_all(
    values: Mapping[str, Values],
    *,
    metric: str = "",
    less_is_better: bool = False,
    baseline: str = "",
    alpha: float = ALPHA,
    seed: int = SEED,
    scale: float = 100.0,
    unit: str = "points",
) -> Comparisons:
    """Every pair of paradigms, or each against the baseline; those that lack a value on a question lose the pair."""
    if baseline and baseline not in values:
        raise UsageError(f"no answers of {baseline!r} are among them", did_you_mean(baseline, values))
    questions = {question for rows in values.values() for question in rows}
    pairs = [(name, baseline) for name in values if name != baseline] if baseline else list(combinations(values, 2))
    means = {name: averaged({q: rows.get(q, ()) for q in questions}) for name, rows in values.items()}
    found = [compare(means[a][0], means[b][0], seed=seed, why_a=means[a][1], why_b=means[b][1]) for a, b in pairs]
    rows = _rows(pairs, found, less_is_better=less_is_better, alpha=alpha)
    return Comparisons(
        metric=metric,
        less_is_better=less_is_better,
        baseline=baseline,
        alpha=alpha,
        rows=rows,
        counts={name: count(rows, questions) for name, rows in values.items()},
        repeats={name: over_repeats(rows) for name, rows in values.items()},
        sentence=in_words([row.least for row in rows], scale=scale, unit=unit),
    )


def _rows(
    pairs: list[tuple[str, str]], found: list[Comparison], *, less_is_better: bool, alpha: float
) -> tuple[Row, ...]:
    # A pair without a question in common was not compared, and does not make the others' p larger.
    made = [at for at, one in enumerate(found) if one.p is not None]
    adjusted = dict(zip(made, holm([found[at].p or 0.0 for at in made]), strict=True))
    return tuple(
        Row(
            a, b, one, adjusted.get(at), _verdict(one, adjusted.get(at), less_is_better, alpha),
            least_effect(one.n, one.deviation, alpha=alpha, comparisons=len(made)),
        )
        for at, ((a, b), one) in enumerate(zip(pairs, found, strict=True))
    )  # fmt: skip


def _verdict(one: Comparison, adjusted: float | None, less_is_better: bool, alpha: float) -> Verdict:
    if adjusted is None or one.difference is None:
        return "not compared"
    if adjusted > alpha:
        return "no difference shown"
    return "better" if (one.difference > 0) != less_is_better else "worse"
