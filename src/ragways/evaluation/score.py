"""Score a run: the values of its records, and tables of means with intervals, counts and costs.

An unscored answer is never 0: it is in no mean, and is counted with its reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from ragways.core.table import Cell, Column, Table
from ragways.evaluation.judging import Judgement, JudgementKey, Judgements, current_judgements
from ragways.evaluation.metric import SIGNED, Metric, Refusals
from ragways.evaluation.metrics import METRICS, record_metrics
from ragways.evaluation.record import Record, Run
from ragways.evaluation.resources.sampler import ResourceSample, samples_of
from ragways.evaluation.resources.usage import LayerCosts, usage
from ragways.evaluation.statistics.inference import interval, shared_clusters
from ragways.evaluation.statistics.values import source_documents

UNTYPED = "(none)"
"""The type of questions without one, where others have one."""
NAMED = 3
"""Paradigms that are named one by one where several lack a value."""
FIGURES = (
    Column("metric"), Column("paradigm"), Column("type"), Column("mean", ".3f", "right"), Column("low", ".2f", "right"),
    Column("high", ".2f", "right"), Column("questions", key="n"), Column("unscored", key="unscored_questions"),
    Column("answers unscored", key="unscored"), Column("failed"), Column("failed questions", key="failed_questions"),
    Column("median", ".3f", "right"), Column("minimum", ".3f", "right"), Column("maximum", ".3f", "right"),
    Column("why unscored", key="why"),
)  # fmt: skip
"""A row for each metric, paradigm and type of question; the type is empty for all questions together.

Means are over questions, each the mean of its repeats; `low` and `high` are the ends of the 95 % interval. `unscored`
counts answers, `unscored_questions` those without a value in any repeat. `median`, `minimum` and `maximum` are of the
means of the repeats, where there are several.
"""


def scored(run: Run, *more: Metric, refusals: Refusals = "declared") -> list[Record]:
    """The records of a run with their values; `more` are metrics beside the usual ones (`recall@20`).

    `refusals`: a refusal counts as each metric declares, or as the metric's source counts it.
    """
    return list(with_values(run.records, Judgements(run.folder).latest(), more, refusals))


def with_values(
    records: Iterable[Record],
    judged: Mapping[JudgementKey, Judgement] | None = None,
    more: Iterable[Metric] = (),
    refusals: Refusals = "declared",
) -> Iterator[Record]:
    """Records with their values, from the records and from the judgements of them.

    A metric that no judge scored anywhere is left out. A record that it was not scored for is unscored, and so is one
    whose answer is no longer the one that was judged.
    """
    known = judged or {}
    by_judge = {metric for *_, metric in known}
    names = [name for name in METRICS if name in by_judge]
    alone = dict.fromkeys((*record_metrics(), *(metric for metric in more if metric.of is not None)))
    for record in records:
        values = {metric.name: metric.score(record) for metric in alone}
        own = current_judgements(known, record, names)
        for name in names:
            score = own[name].score if name in own else METRICS[name].score(record)
            values[name] = METRICS[name].counted(score, record, refusals)
        yield replace(record, values=values)


def score(run: Run, *more: Metric, refusals: Refusals = "declared") -> dict[str, Table]:
    """The tables of a run, as `score_records` makes them; `more` and `refusals` as in `scored`."""
    records = scored(run, *more, refusals=refusals)
    return score_records(records, built=run.info.construction, samples=samples_of(run.folder))


def score_records(
    records: Iterable[Record], *, built: LayerCosts | None = None, samples: Iterable[ResourceSample] = ()
) -> dict[str, Table]:
    """Tables of records with values: `paradigms` (counts), `figures` (means), `unscored` (reasons) and `costs`.

    Costs include what the layers of the index cost (`built`) and the machine's load (`samples`), where they are known.
    """
    by_paradigm: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_paradigm[record.paradigm].append(record)
    ordered = [record for records in by_paradigm.values() for record in records]
    documents = source_documents(ordered)
    figures = [figure for records in by_paradigm.values() for figure in _figures(records, documents)]
    unscored = [reason for records in by_paradigm.values() for reason in _unscored(records)]
    counts = [{"paradigm": paradigm, **_counts(records)} for paradigm, records in by_paradigm.items()]
    return {
        "paradigms": Table.of(list(counts[0]) if counts else ["paradigm"], counts, name="paradigms"),
        "figures": Table.of(FIGURES, figures, name="figures", by="metric"),
        "unscored": Table.of(["metric", "paradigm", "why", "answers"], unscored, name="unscored"),
        "costs": usage(ordered, built=built, samples=samples),
    }


def _counts(records: Sequence[Record]) -> dict[str, Cell]:
    answered = {record.question for record in records if not record.error}
    return {
        "records": len(records),
        "questions": len({record.question for record in records}),
        "repeats": len({record.repeat for record in records}),
        "failed": sum(bool(record.error) for record in records),
        "failed_questions": len({record.question for record in records} - answered),
    }


def _figures(records: Sequence[Record], documents: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, Cell]]:
    """The figures of one paradigm: of all questions, then those of each type where there are types."""
    by_type: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_type[record.type or UNTYPED].append(record)
    types = {} if set(by_type) == {UNTYPED} else dict(sorted(by_type.items()))
    for type, own in {"": records, **types}.items():
        counts = _counts(own)
        for metric in records[0].values:
            yield {
                "metric": metric, "paradigm": records[0].paradigm, "type": type, **_figure(own, metric, documents),
                "failed": counts["failed"], "failed_questions": counts["failed_questions"],
            }  # fmt: skip


def _figure(records: Sequence[Record], metric: str, documents: Mapping[str, tuple[str, ...]]) -> dict[str, Cell]:
    by_question: dict[str, list[float]] = defaultdict(list)
    by_repeat: dict[int, list[float]] = defaultdict(list)
    for record in records:
        if (value := record.value(metric)) is not None:
            by_question[record.question].append(value)
            by_repeat[record.repeat].append(value)
    # The mean of its repeats for each question, so that repeats do not make an interval look narrow.
    values = [sum(some) / len(some) for some in by_question.values()]
    # Questions on one document are not independent, unless there are too few documents to cluster by.
    clusters = shared_clusters(list(by_question), documents)
    low, high = interval(values, share=metric not in SIGNED, clusters=clusters)
    means = [sum(some) / len(some) for some in by_repeat.values()]
    several = len(means) > 1
    answered = [record for record in records if not record.error]
    return {
        "why": "; ".join(f"{why or 'no reason given'}: {many:,}" for why, many in _reasons(records, metric).items()),
        "mean": sum(values) / len(values) if values else None,
        "low": low,
        "high": high,
        "n": len(values),
        "unscored": sum(record.value(metric) is None for record in answered),
        "unscored_questions": len({record.question for record in answered} - by_question.keys()),
        "median": median(means) if several else None,
        "minimum": min(means) if several else None,
        "maximum": max(means) if several else None,
    }


def _unscored(records: Sequence[Record]) -> Iterator[dict[str, Cell]]:
    """Why answers of one paradigm have no value, and how many."""
    for metric in records[0].values:
        for reason, answers in _reasons(records, metric).items():
            yield {"metric": metric, "paradigm": records[0].paradigm, "why": reason, "answers": answers}


def _reasons(records: Sequence[Record], metric: str) -> dict[str, int]:
    why = Counter(record.values[metric].why for record in records if not record.error and record.value(metric) is None)
    return dict(sorted(why.items()))


def gaps(tables: Mapping[str, Table]) -> Table:
    """The unscored answers, metric by metric; paradigms that lack as many for one reason share a row.

    Counts are never added up over paradigms, which share their questions.
    """
    every = len(tables["paradigms"])
    alike: dict[tuple[Cell, ...], list[str]] = defaultdict(list)
    for metric, paradigm, why, answers in tables["unscored"].rows:
        alike[metric, why, answers].append(str(paradigm))
    order = {name: at for at, name in enumerate(dict.fromkeys(tables["figures"].column("metric")))}
    keys = sorted(alike, key=lambda key: order[str(key[0])])
    rows = [(metric, _named(alike[metric, why, answers], every), answers, why) for metric, why, answers in keys]
    columns: list[str | Column] = ["metric", "of", Column("unscored", key="answers"), "why"]
    return Table.of(columns, rows, title="Unscored answers, by paradigm and reason", name="unscored")


def _named(paradigms: Sequence[str], every: int) -> str:
    if len(paradigms) == every:
        return "each paradigm"
    more = len(paradigms) - NAMED
    return ", ".join(paradigms[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def nested(tables: Mapping[str, Table]) -> list[dict[str, Any]]:
    """The tables as JSON of one object for each paradigm: counts, `metrics`, `by_type` and `resources`."""
    why: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for metric, paradigm, reason, answers in tables["unscored"].rows:
        why[str(paradigm), str(metric)][str(reason)] = int(answers or 0)
    found: dict[str, dict[str, Any]] = {}
    for row in tables["paradigms"].to_plain():
        found[str(row["paradigm"])] = {**row, "metrics": {}, "by_type": {}}
    for figure in tables["figures"].to_plain():
        metric, paradigm, type = (str(figure.pop(name)) for name in ("metric", "paradigm", "type"))
        over = {name: figure.pop(name) for name in ("median", "minimum", "maximum")}
        failed = {name: figure.pop(name) for name in ("failed", "failed_questions")}
        figure.pop("why")
        own = {**figure, "repeats": over if over["median"] is not None else None}
        if type:
            found[paradigm]["by_type"].setdefault(type, {**failed, "metrics": {}})["metrics"][metric] = own
        else:
            found[paradigm]["metrics"][metric] = own | {"why": why[paradigm, metric]}
    for costs in tables["costs"].to_plain():
        total = {name: costs[name] for name in ("calls", "tokens", "input", "output", "reasoning", "usd")}
        found[str(costs["paradigm"])]["resources"] = {**costs, "total": total}
    return list(found.values())
