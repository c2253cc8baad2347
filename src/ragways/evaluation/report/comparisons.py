"""Paradigms against each other, of one run or several: on one metric, or as the section of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.evaluation.metric import Metric, deciding
from ragways.evaluation.report.runs import read_runs
from ragways.evaluation.score import SIGNED, MetricScore, ParadigmScores, Scored
from ragways.evaluation.statistics.comparison import Comparisons, compare_all
from ragways.evaluation.statistics.values import gather, source_documents

TELLING = (
    "accuracy", "judged-correct", "crag-fine", "f1", "faithfulness", "recall@5", "all-evidence@8", "hallucinated",
    "abstained",
)  # fmt: skip
"""The metrics that are shown first."""
COMPARISONS = 1200
"""Comparisons in all."""
COMPARED_QUESTIONS = 250_000
"""Questions of all comparisons together: some seconds of work."""
CORRECTED = (
    "p is corrected (Holm) over the pairs of each metric, not over metrics: where many metrics are looked at, some "
    "differ by chance."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class RunComparisons(Comparisons):
    """Comparisons of all paradigms of several runs. `unlike_questions`: ids under which the runs ask different
    questions, which are never paired.
    """

    unlike_questions: int


def compare_runs(folders: Sequence[Path], metric: Metric, *, baseline: str = "") -> RunComparisons:
    """Every pair of paradigms of these runs on one metric, or each against the baseline, on the questions they share.

    Of several runs, paradigms are told apart by run. UsageError where there are not two paradigms.
    """
    runs = read_runs(folders, metric)
    rows = [row for run in runs for row in run.rows]
    names = {row.record.paradigm for row in rows}
    if len(names) < 2:
        raise UsageError(
            f"there is only one paradigm to compare: {next(iter(names), 'none')}",
            "ask more of them (ragways eval run --paradigms) or name a second run",
        )
    compared = compare_scored(rows, metric, baseline=baseline)
    unlike = {id for run in runs for id, name in run.questions.items() if id != name}
    return RunComparisons(**vars(compared), unlike_questions=len(unlike))


def compare_scored(
    rows: Sequence[Scored],
    metric: Metric,
    *,
    baseline: str = "",
    documents: Mapping[str, tuple[str, ...]] | None = None,
) -> Comparisons:
    """The paradigms of scored records on one metric. `documents`, where they are known already: `source_documents`.

    Every verdict of a report comes from here. UsageError for an advisory metric.
    """
    return compare_all(
        gather(rows, deciding(metric).name),
        metric=metric.name,
        less_is_better=metric.less_is_better,
        baseline=baseline,
        documents=source_documents(row.record for row in rows) if documents is None else documents,
        span=(-1.0, 1.0) if metric.name in SIGNED else None,
    )


@dataclass(frozen=True, slots=True)
class ComparisonSection:
    """A table a metric, as many as can be compared in a reasonable time; the other metrics are `left_out`. Advisory
    ones are in neither.
    """

    tables: tuple[Comparisons, ...]
    left_out: tuple[str, ...]
    note: str = CORRECTED


def telling_first(metrics: Sequence[Metric]) -> list[Metric]:
    """The telling metrics first, advisory ones last. Those of a judge come first among the others: who paid for them
    wants to see them.
    """
    order = {name: place for place, name in enumerate(TELLING)}
    return sorted(metrics, key=lambda one: (one.advisory, order.get(one.name, len(order)), one.of is not None))


def comparison_section(
    rows: Sequence[Scored], metrics: Sequence[Metric], *, baseline: str = ""
) -> ComparisonSection | None:
    """Paradigms against each other, or all against the baseline. None where there is nothing to compare with."""
    names = list(dict.fromkeys(row.record.paradigm for row in rows))
    if len(names) < 2:
        return None
    pairs = len(names) - 1 if baseline else len(names) * (len(names) - 1) // 2
    asked = len({row.record.question for row in rows})
    ordered = telling_first([one for one in metrics if not one.advisory])
    chosen = ordered[: max(1, min(COMPARISONS // pairs, COMPARED_QUESTIONS // (pairs * asked)))]
    documents = source_documents(row.record for row in rows)
    tables = tuple(compare_scored(rows, one, baseline=baseline, documents=documents) for one in chosen)
    return ComparisonSection(tables, tuple(one.name for one in ordered[len(chosen) :]))


def best_of(rows: Sequence[ParadigmScores], tables: Iterable[Comparisons]) -> dict[str, list[str]]:
    """By metric: the paradigm of the best mean, and all that were not shown to differ from it.

    Empty where that is every one of them, or where the best was not compared with all others: nothing is best then.
    """
    return {table.metric: _best(rows, table) for table in tables}


def _best(rows: Sequence[ParadigmScores], table: Comparisons) -> list[str]:
    sign = -1 if table.less_is_better else 1
    known = _means(rows, table)
    ordered = sorted(known, key=lambda name: -sign * known[name])
    if not ordered:
        return []
    first, others = ordered[0], ordered[1:]
    beaten = {pair.b: pair.verdict == "better" for pair in table.rows if pair.a == first}
    beaten |= {pair.a: pair.verdict == "worse" for pair in table.rows if pair.b == first}
    alike = [name for name in others if not beaten.get(name)]
    return [] if len(alike) == len(others) or not set(others) <= set(beaten) else [first, *alike]


def verdict(
    rows: Sequence[ParadigmScores],
    tables: Sequence[Comparisons],
    costs: Mapping[str, Mapping[str, float]],
    words: Mapping[str, str],
) -> str:
    """What to use, in one or two sentences: the cheapest of those that were not shown to be worse than the best.

    `tables` compare the paradigms, the most telling metric first: the first on which their means differ decides.
    `costs` are by paradigm, `words` name each kind of cost. Says so where nothing was shown, and what so many questions
    could not have shown.
    """
    if not tables:
        return "Nothing to choose from: one paradigm was asked."
    table = next((one for one in tables if len(set(_means(rows, one).values())) > 1), tables[0])
    means = _means(rows, table)
    if not means:
        return f"Nothing to choose by: no answer has a score of {table.metric}. {table.sentence}".strip()
    leading = _best(rows, table)
    among = leading or list(means)
    kind = next((one for one in words if any(costs.get(name, {}).get(one) for name in means)), "")
    sign = -1 if table.less_is_better else 1
    chosen = min(among, key=lambda name: (costs.get(name, {}).get(kind, float("inf")), -sign * means[name]))
    cost = costs.get(chosen, {}).get(kind)
    price = "" if cost is None else f", {cost:{',.0f' if cost >= 100 else '.3g'}} {words[kind]}"
    said = f"Use {chosen}: {table.metric} {means[chosen]:.3f}{price}"
    others = [name for name in among if name != chosen]
    listed = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
    cheapest = "the cheapest" if cost is not None else "the best mean"
    if not leading:
        shown = f"with {table.baseline} alone" if table.baseline else "with each other"
        said = f"Compared {shown}, none is shown to be the best on {table.metric}. {said}, {cheapest} of all"
    elif others:
        said += f"; {cheapest} of those not shown to be worse than the best ({listed})"
    else:
        said += "; it is shown to be better than each of the others"
    return f"{said}. {table.sentence}".strip()


def _means(rows: Sequence[ParadigmScores], table: Comparisons) -> dict[str, float]:
    means = {row.paradigm: row.metrics.get(table.metric, MetricScore()).mean for row in rows}
    return {name: mean for name, mean in means.items() if mean is not None}
