"""Paradigms on the same questions: their differences, how far these can be believed, and what could not be paired.

`compare` takes two sides; `compare_all` takes every pair of paradigms on one metric, or all against a baseline, with
every count that a reader needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.statistics.inference import (
    ALPHA,
    DRAWS,
    ROUNDING,
    SEED,
    DetectableEffect,
    detectable_effect,
    holm,
    in_words,
    means,
    sign_flip,
)
from ragways.evaluation.statistics.values import (
    NOT_ASKED,
    Repeats,
    ScoreCounts,
    Values,
    averaged,
    count,
    over_repeats,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Quality = Literal["better", "worse", "no difference shown", "not compared"]


@dataclass(frozen=True)
class Comparison:
    """`difference` is a's mean less b's over the n questions that both have; None where nothing could be computed.

    `missing_a` and `missing_b` count, by reason, the questions left out because that side has no value for them;
    `dropped` is the number of questions left out, of which either or both sides had none.
    """

    n: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    exact: bool = False
    deviation: float | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    dropped: int = 0
    missing_a: Mapping[str, int] = field(default_factory=dict)
    missing_b: Mapping[str, int] = field(default_factory=dict)


def compare(
    a: Mapping[str, float | Sequence[float]],
    b: Mapping[str, float | Sequence[float]],
    *,
    seed: int = SEED,
    level: float = 0.95,
    why_a: Mapping[str, str] | None = None,
    why_b: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare values by question; several of one question are averaged first. `why_a`: questions without a value."""
    import numpy as np

    first, gaps_a = averaged(_rows(a))
    second, gaps_b = averaged(_rows(b))
    gaps_a, gaps_b = {**(why_a or {}), **gaps_a}, {**(why_b or {}), **gaps_b}
    every = sorted(first.keys() | second.keys() | gaps_a.keys() | gaps_b.keys())
    shared = [question for question in every if question in first and question in second]
    counted = Comparison(
        n=len(shared),
        dropped=len(every) - len(shared),
        missing_a=_reasons(every, first, gaps_a),
        missing_b=_reasons(every, second, gaps_b),
    )
    if not shared:
        return counted
    values_a, values_b = np.array([first[q] for q in shared]), np.array([second[q] for q in shared])
    return _compared(counted, values_a, values_b, seed=seed, level=level)


def _rows(values: Mapping[str, float | Sequence[float]]) -> dict[str, Sequence[float]]:
    return {q: value if isinstance(value, Sequence) else (value,) for q, value in values.items()}


def _reasons(every: Sequence[str], found: Mapping[str, float], gaps: Mapping[str, str]) -> dict[str, int]:
    return dict(sorted(Counter(gaps.get(q, NOT_ASKED) for q in every if q not in found).items()))


def _compared(counted: Comparison, values_a: Floats, values_b: Floats, *, seed: int, level: float) -> Comparison:
    import numpy as np

    differences = values_a - values_b
    # What rounding left of a difference of means over repeats is none.
    differences[np.abs(differences) <= ROUNDING * np.maximum(np.abs(values_a), np.abs(values_b))] = 0.0
    low = high = deviation = None
    if counted.n > 1:
        deviation = float(differences.std(ddof=1))
    if counted.n > 1 and np.ptp(differences) > ROUNDING:  # all alike tell nothing of how they might differ
        drawn = means(differences, draws=DRAWS, seed=seed)
        low, high = map(float, np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    p, exact = sign_flip(differences, seed=seed)
    return replace(
        counted,
        mean_a=float(values_a.mean()),
        mean_b=float(values_b.mean()),
        difference=float(differences.mean()),
        low=low,
        high=high,
        p=p,
        exact=exact,
        deviation=deviation,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


@dataclass(frozen=True, kw_only=True)
class PairComparison(Comparison):
    """The comparison of paradigm `a` with paradigm `b`, as one of several.

    `adjusted` is p after Holm's correction over all pairs. `verdict` is on `a`, by that p; "better" minds whether less
    is better. `detectable` is the minimum true difference that would mostly be found.
    """

    a: str
    b: str
    adjusted: float | None
    verdict: Quality
    detectable: DetectableEffect


@dataclass(frozen=True)
class Comparisons:
    """All pairs of one metric; `counts` and `repeats` are by paradigm; `sentence` says what so many questions would
    mostly miss.
    """

    metric: str
    less_is_better: bool
    baseline: str
    alpha: float
    rows: tuple[PairComparison, ...]
    counts: Mapping[str, ScoreCounts]
    repeats: Mapping[str, Repeats]
    sentence: str

    def table(self, rows: Sequence[PairComparison] | None = None) -> Table:
        """A row a pair: the difference with its interval, p after Holm's correction, and the verdict on the first."""
        columns = [
            Column("first"),
            Column("second"),
            Column("difference", "+.3f", "right"),
            Column("95 % interval", align="right"),
            Column("p (Holm)", ".3g", "right"),
            Column("verdict on the first"),
            Column("questions", align="right"),
            Column("left out", align="right"),
        ]
        less = " (less is better)" if self.less_is_better else ""
        cells = [_cells(row) for row in (self.rows if rows is None else rows)]
        return Table.of(columns, cells, title=f"{self.metric}{less}", notes=[self.sentence])

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def _cells(row: PairComparison) -> list[Cell]:
    between = f"{row.low:+.3f} to {row.high:+.3f}" if row.low is not None else None
    return [row.a, row.b, row.difference, between, row.adjusted, row.verdict, row.n, row.dropped]


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
    rows = _corrected(pairs, found, less_is_better=less_is_better, alpha=alpha)
    return Comparisons(
        metric=metric,
        less_is_better=less_is_better,
        baseline=baseline,
        alpha=alpha,
        rows=rows,
        counts={name: count(rows, questions) for name, rows in values.items()},
        repeats={name: over_repeats(rows) for name, rows in values.items()},
        sentence=in_words([row.detectable for row in rows], scale=scale, unit=unit),
    )


def _corrected(
    pairs: list[tuple[str, str]], found: list[Comparison], *, less_is_better: bool, alpha: float
) -> tuple[PairComparison, ...]:
    # A pair without a question in common was not compared, and does not make the others' p larger.
    made = [at for at, one in enumerate(found) if one.p is not None]
    adjusted = dict(zip(made, holm([found[at].p or 0.0 for at in made]), strict=True))
    return tuple(
        PairComparison(
            **vars(one),
            a=a,
            b=b,
            adjusted=adjusted.get(at),
            verdict=_verdict(one, adjusted.get(at), less_is_better, alpha),
            detectable=detectable_effect(one.n, one.deviation, alpha=alpha, comparisons=len(made)),
        )
        for at, ((a, b), one) in enumerate(zip(pairs, found, strict=True))
    )


def _verdict(one: Comparison, adjusted: float | None, less_is_better: bool, alpha: float) -> Quality:
    if adjusted is None or one.difference is None:
        return "not compared"
    if adjusted > alpha:
        return "no difference shown"
    return "better" if (one.difference > 0) != less_is_better else "worse"
