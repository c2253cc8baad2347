"""Paradigms on the same questions: their differences, how far these can be believed, and what could not be paired.

`compare` takes two sides; `compare_all` takes every pair of paradigms on one metric, or all against a baseline, with
every count that a reader needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.metric import SIGNED, Metric, deciding
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import (
    ALPHA,
    FEWEST,
    ROUNDING,
    SEED,
    DetectableEffect,
    Inference,
    detectable_effect,
    holm,
    in_words,
    infer,
    shared_clusters,
    sign_flip,
)
from ragways.evaluation.statistics.values import (
    FAILED,
    NOT_ASKED,
    ScoreCounts,
    Value,
    Values,
    averaged,
    count,
    filled,
    gather,
    number,
    reason,
    source_documents,
    span_of,
    unscored_share,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NOTHING = DetectableEffect(0, None, 0)
Quality = Literal["better", "worse", "no difference shown", "depends on missing values", "not compared"]


@dataclass(frozen=True)
class Comparison:
    """`difference` is a's mean less b's over the n questions that both have; None where nothing could be computed. An
    answer that failed is an outcome: its value is 0, or the worst where less is better.

    `missing_a` and `missing_b` count, by reason, the questions left out because that side has no value for them;
    `dropped` is the number of questions left out, of which either or both sides had none. `one_sided` questions lack a
    value, or that of a repeat, on a side that was asked. That leaves the difference as it is, unless such gaps are more
    frequent on one side than chance gives: then `least` and `most` are what the difference would be, were all that is
    missing as bad, or as good, for a as can be; `low`, `high` and p hold whatever is missing, and `depends` says that
    they leave open what one of the bounds would show.

    `documents` is not 0 where questions share documents: so many, each taken as one.

    Of several comparisons (`compare_all`), `a` and `b` are paradigms and `adjusted` is p after Holm's correction over
    all pairs. The intervals of all pairs hold together (Bonferroni). A difference is shown where that p is at most .05
    and the interval excludes 0. `verdict` is on `a`; "better" minds whether less is better. `detectable` is the minimum
    true difference that would mostly be found.
    """

    n: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    deviation: float | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    dropped: int = 0
    missing_a: Mapping[str, int] = field(default_factory=dict)
    missing_b: Mapping[str, int] = field(default_factory=dict)
    one_sided: int = 0
    least: float | None = None
    most: float | None = None
    depends: bool = False
    documents: int = 0
    yes_no: bool = False
    a: str = ""
    b: str = ""
    adjusted: float | None = None
    verdict: Quality = "not compared"
    detectable: DetectableEffect = NOTHING

    @property
    def apart(self) -> bool:
        """Whether the interval excludes 0. Differences that are all alike have none."""
        return self.low is None or self.high is None or self.low > 0 or self.high < 0

    def difference_text(self, between: str = " to ") -> str | None:
        """The difference, or between what it lies where one side has more gaps; None where there is none."""
        if self.least is None or self.most is None:
            return None
        return f"{self.least:+.3f}" + (f"{between}{self.most:+.3f}" if self.least < self.most else "")


def compare(
    a: Mapping[str, Value | Sequence[Value]],
    b: Mapping[str, Value | Sequence[Value]],
    *,
    seed: int = SEED,
    level: float = 0.95,
    documents: Mapping[str, tuple[str, ...]] | None = None,
    span: tuple[float, float] | None = None,
    failure: float = 0.0,
    beyond: float = 0.0,
) -> Comparison:
    """Compare values by question; several of one question are averaged first.

    `documents` names those of questions that share some (`source_documents`). `span` is between which values the metric
    lies, as far as what is missing could be; as the values suggest where it is not given. `failure` is the value of an
    answer that failed. p is that of a difference of `beyond`.
    """
    rows_a, rows_b = _with_failures(_rows(a), _rows(b), failure)
    (means_a, gaps_a), (means_b, gaps_b) = averaged(rows_a), averaged(rows_b)
    questions = sorted(rows_a.keys() | rows_b.keys())
    paired = [question for question in questions if question in means_a and question in means_b]
    # A question that one side was not asked says nothing of how it would have done.
    comparable = [
        question
        for question in questions
        if (question in means_a or question in means_b) and rows_a.get(question) and rows_b.get(question)
    ]
    lacking = [unscored_share(rows_a[question]) - unscored_share(rows_b[question]) for question in comparable]
    comparison = Comparison(
        n=len(paired),
        dropped=len(questions) - len(paired),
        missing_a=_reasons(questions, means_a, gaps_a),
        missing_b=_reasons(questions, means_b, gaps_b),
        one_sided=sum(unscored_share([*rows_a[one], *rows_b[one]]) > 0 for one in comparable),
        yes_no=all(value in (0, 1) for question in paired for value in (means_a[question], means_b[question])),
    )
    if not paired:
        return comparison
    comparison = _compared(
        comparison, [means_a[question] for question in paired], [means_b[question] for question in paired]
    )
    bounded = sign_flip(lacking)[0] <= ALPHA
    used = comparable if bounded else paired
    clusters = shared_clusters(used, documents or {})
    low, high = span or span_of([*rows_a.values(), *rows_b.values()])
    yes_no = comparison.yes_no
    inferred = []
    for for_a, for_b in [(low, high), (high, low)] if bounded else [(low, low)]:
        values_a = [filled(rows_a[one], for_a) if bounded else means_a[one] for one in used]
        values_b = [filled(rows_b[one], for_b) if bounded else means_b[one] for one in used]
        differences, least = _differences(values_a, values_b), 1.0 if yes_no else 0.0
        limits = (-1.0, 1.0) if yes_no else None
        found = infer(differences, clusters, level=level, least=least, span=limits, seed=seed)
        inferred.append(replace(found, p=infer(differences - beyond, clusters, seed=seed).p) if beyond else found)
    return _bounded(comparison, inferred[0], inferred[-1], beyond, documents=len({names[0] for names in clusters}))


def _rows(values: Mapping[str, Value | Sequence[Value]]) -> dict[str, Sequence[Value]]:
    return {question: value if isinstance(value, Sequence) else (value,) for question, value in values.items()}


def _with_failures(
    rows_a: Mapping[str, Sequence[Value]], rows_b: Mapping[str, Sequence[Value]], failure: float
) -> tuple[dict[str, Sequence[Value]], dict[str, Sequence[Value]]]:
    """A failed answer has this value where the question has one at all: the other side, or another repeat, has one."""
    scorable = {
        one for rows in (rows_a, rows_b) for one, row in rows.items() if any(number(v) is not None for v in row)
    }

    def outcomes(rows: Mapping[str, Sequence[Value]]) -> dict[str, Sequence[Value]]:
        return {
            one: [failure if reason(value) == FAILED else value for value in row] if one in scorable else row
            for one, row in rows.items()
        }

    return outcomes(rows_a), outcomes(rows_b)


def _reasons(questions: Sequence[str], means: Mapping[str, float], gaps: Mapping[str, str]) -> dict[str, int]:
    return dict(
        sorted(Counter(gaps.get(question, NOT_ASKED) for question in questions if question not in means).items())
    )


def _differences(values_a: Sequence[float], values_b: Sequence[float]) -> Floats:
    import numpy as np

    first, second = np.array(values_a), np.array(values_b)
    differences: Floats = first - second
    # What rounding left of a difference of means over repeats is none.
    differences[np.abs(differences) <= ROUNDING * np.maximum(np.abs(first), np.abs(second))] = 0.0
    return differences


def _compared(counted: Comparison, values_a: Sequence[float], values_b: Sequence[float]) -> Comparison:
    """What is seen on the questions that both have."""
    differences = _differences(values_a, values_b)
    return replace(
        counted,
        mean_a=sum(values_a) / counted.n,
        mean_b=sum(values_b) / counted.n,
        difference=float(differences.mean()),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


def _bounded(found: Comparison, least: Inference, most: Inference, beyond: float, *, documents: int) -> Comparison:
    """With what holds whatever is missing: the interval from that of the one bound to that of the other, and their
    larger p, or 1 where they lie to both sides of what is tested.
    """
    aside = least is most or least.mean > beyond or most.mean < beyond
    known = least.low is not None and most.high is not None
    p = max(least.p, most.p) if aside else 1.0
    return replace(
        found,
        low=least.low if known else None,
        high=most.high if known else None,
        p=p,
        deviation=max((one.deviation for one in (least, most) if one.deviation is not None), default=None),
        least=least.mean,
        most=most.mean,
        depends=p > ALPHA >= min(least.p, most.p),
        documents=documents,
    )


COMPARISONS = (
    Column("metric"), Column("first", key="a"), Column("second", key="b"), Column("difference", "+.3f", "right"),
    Column("low", "+.3f", "right"), Column("high", "+.3f", "right"), Column("p (Holm)", ".3g", "right", "adjusted"),
    Column("verdict on the first", key="verdict"), Column("questions", key="n"), Column("left out", key="dropped"),
    Column("won", key="wins"), Column("tied", key="ties"), Column("lost", key="losses"),
    Column("one-sided", key="one_sided"), Column("least", "+.3f", "right"), Column("most", "+.3f", "right"),
    Column("least effect", ".3f", "right", "effect"),
)  # fmt: skip


@dataclass(frozen=True)
class Comparisons:
    """All pairs of one metric; `counts` are by paradigm; `sentence` says what so many questions would mostly miss, and
    whether they share documents. `unlike_questions`: ids that several runs use for different questions, not paired.
    """

    metric: str
    less_is_better: bool
    baseline: str
    rows: tuple[Comparison, ...]
    counts: Mapping[str, ScoreCounts]
    sentence: str
    unlike_questions: int = 0

    def cells(self, row: Comparison) -> list[Cell]:
        """A comparison as a row of a table under `COMPARISONS`."""
        own = {**vars(row), "metric": self.metric, "effect": row.detectable.effect}
        return [own[column.name] for column in COMPARISONS]

    def table(self) -> Table:
        """A row a pair: the difference with its interval, p after Holm's correction, and the verdict on the first."""
        less = " (less is better)" if self.less_is_better else ""
        names = ("a", "b", "low", "high", "adjusted", "verdict", "n", "dropped")
        columns = [column for column in COMPARISONS if column.name in names]
        columns.insert(2, Column("difference", align="right"))
        rows = [{**vars(row), "difference": row.difference_text()} for row in self.rows]
        return Table.of(columns, rows, title=f"{self.metric}{less}", notes=[self.sentence])

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def compare_records(
    records: Sequence[Record],
    metric: Metric,
    *,
    baseline: str = "",
    documents: Mapping[str, tuple[str, ...]] | None = None,
) -> Comparisons:
    """The paradigms of scored records on one metric. `documents`, where they are known already: `source_documents`.

    UsageError for an advisory metric: no verdict may rest on it.
    """
    return compare_all(
        gather(records, deciding(metric).name),
        metric=metric.name,
        less_is_better=metric.less_is_better,
        baseline=baseline,
        documents=source_documents(records) if documents is None else documents,
        span=(-1.0, 1.0) if metric.name in SIGNED else None,
    )


def compare_all(
    values: Mapping[str, Values],
    *,
    metric: str = "",
    less_is_better: bool = False,
    baseline: str = "",
    documents: Mapping[str, tuple[str, ...]] | None = None,
    span: tuple[float, float] | None = None,
) -> Comparisons:
    """Every pair of paradigms, or each against the baseline, on the questions of which both have a value.

    What one of them lacks more often than the other, though it was asked, could turn a verdict: there is none then.
    `documents` names those of questions that share some (`source_documents`); `span` is between which values the metric
    lies.
    """
    if baseline and baseline not in values:
        raise UsageError(f"no answers of {baseline!r} are among them", did_you_mean(baseline, values))
    questions = {question for rows in values.values() for question in rows}
    pairs = [(name, baseline) for name in values if name != baseline] if baseline else list(combinations(values, 2))
    every = {name: {q: rows.get(q, ()) for q in questions} for name, rows in values.items()}
    scored = {name: averaged(rows)[0].keys() for name, rows in values.items()}
    # A pair without a question in common was not compared, and does not make the others' p larger.
    many = sum(bool(scored[a] & scored[b]) for a, b in pairs)
    between = span or span_of(row for rows in values.values() for row in rows.values())
    level, failure = 1 - ALPHA / max(1, many), 1.0 if less_is_better else 0.0
    found = [
        compare(every[a], every[b], level=level, documents=documents, span=between, failure=failure) for a, b in pairs
    ]
    rows = _corrected(pairs, found, less_is_better=less_is_better)
    detectable = in_words([row.detectable for row in rows])
    return Comparisons(
        metric=metric,
        less_is_better=less_is_better,
        baseline=baseline,
        rows=rows,
        counts={name: count(rows, questions) for name, rows in values.items()},
        sentence=" ".join(filter(None, (detectable, _shared_documents(questions, documents or {})))),
    )


def _shared_documents(questions: Collection[str], documents: Mapping[str, tuple[str, ...]]) -> str:
    """In words, what is made of questions on one document; empty where none share one."""
    units = {documents.get(question, (f"question {question}",))[0] for question in questions}
    if len(units) == len(questions):
        return ""
    if len(units) < FEWEST:
        return f"The questions come from {len(units):,} documents: what is shown holds for these alone."
    return f"Questions on one document count as one: {len(questions):,} questions, {len(units):,} documents."


def _corrected(
    pairs: list[tuple[str, str]], found: list[Comparison], *, less_is_better: bool
) -> tuple[Comparison, ...]:
    made = [at for at, one in enumerate(found) if one.p is not None]
    adjusted = dict(zip(made, holm([found[at].p or 0.0 for at in made]), strict=True))
    return tuple(
        replace(
            one,
            a=a,
            b=b,
            adjusted=adjusted.get(at),
            verdict=_verdict(one, adjusted.get(at), less_is_better),
            detectable=detectable_effect(
                one.n,
                one.deviation,
                comparisons=len(made),
                clusters=one.documents,
                differing=one.wins + one.losses if one.yes_no and one.ties < one.n else None,
            ),
        )
        for at, ((a, b), one) in enumerate(zip(pairs, found, strict=True))
    )


def _verdict(one: Comparison, adjusted: float | None, less_is_better: bool) -> Quality:
    if adjusted is None or one.least is None:
        return "not compared"
    if adjusted <= ALPHA and one.apart:
        return "better" if (one.least > 0) != less_is_better else "worse"
    return "depends on missing values" if one.depends else "no difference shown"
