"""Figures of a run, computed from its records and judgements alone, so that they can be computed again at any time.

First every record gets a value for each metric (`score_all`): computed from the record, or judged and kept beside it.
Then the values become means by paradigm and by type of question (`score`), with intervals and with counts of what could
not be scored, and why (`gaps`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from ragways.evaluation.judging import Judgement, JudgementKey, Judgements, current_judgements
from ragways.evaluation.metric import Metric, Refusals, Score
from ragways.evaluation.metrics import METRICS, record_metrics
from ragways.evaluation.record import Record, Records, RunInfo
from ragways.evaluation.resources.sampler import ResourceSample, samples_of
from ragways.evaluation.resources.usage import LayerCosts, ParadigmUsage, usage
from ragways.evaluation.statistics.inference import interval, shared_clusters
from ragways.evaluation.statistics.values import source_documents

Documents = Mapping[str, tuple[str, ...]]
UNTYPED = "(none)"
"""What questions without a type are called where others have one."""
SIGNED = frozenset({"crag-coarse", "crag-fine"})
"""Metrics from −1 to 1: their means are no shares, even where no answer happened to be wrong."""
NAMED = 3
"""Paradigms that are named one by one where several lack a value."""


# Values of records


@dataclass(frozen=True)
class Scored:
    """A record and its values by the name of the metric."""

    record: Record
    values: dict[str, Score]


def scored(folder: Path, *more: Metric, refusals: Refusals = "declared") -> Iterator[Scored]:
    """Every record of a run with its values; `more` are metrics beside the usual ones (`recall@20`).

    `refusals`: a refusal counts as each metric declares, or as the metric's source counts it.
    """
    return score_all(Records(folder), Judgements(folder).latest(), more, refusals)


def score_all(
    records: Iterable[Record],
    judged: dict[JudgementKey, Judgement] | None = None,
    more: Iterable[Metric] = (),
    refusals: Refusals = "declared",
) -> Iterator[Scored]:
    """Records with their values; `judged` are the judgements that are known of them.

    A metric that no judge was asked for anywhere is left out; a record it was not asked for is unscored, and so is one
    whose answer is no longer the one that was judged.
    """
    known = judged or {}
    asked = {metric for *_, metric in known}
    names = [name for name in METRICS if name in asked]
    alone = dict.fromkeys((*record_metrics(), *(metric for metric in more if metric.of is not None)))
    for record in records:
        values = {metric.name: metric.score(record) for metric in alone}
        own = current_judgements(known, record, names)
        for name in names:
            found = own[name].score if name in own else METRICS[name].score(record)
            values[name] = METRICS[name].counted(found, record, refusals)
        yield Scored(record, values)


# Means by paradigm


@dataclass(frozen=True, slots=True)
class RepeatRange:
    """Median and range of the means of the repeats."""

    median: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class MetricScore:
    """The mean of a metric over questions, each the mean of its repeats, with its 95 % interval.

    `mean` is None where nothing was scored; `low` and `high` are None where there is no interval. `n` and
    `unscored_questions`, those without a value in any repeat, count questions; `unscored` and `why` count answers.
    `repeats` is None where there was one.
    """

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    unscored: int = 0
    unscored_questions: int = 0
    why: Mapping[str, int] = field(default_factory=dict)
    repeats: RepeatRange | None = None


@dataclass(frozen=True, slots=True)
class TypeScores:
    """The scores of the questions of one type. `failed` counts answers, `failed_questions` those whose answers all did:
    these are in no mean and in no other count.
    """

    failed: int
    failed_questions: int
    metrics: Mapping[str, MetricScore]


@dataclass(frozen=True, slots=True)
class ParadigmScores:
    """All figures of one paradigm of a run; `by_type` is empty where questions have no types."""

    paradigm: str
    records: int
    questions: int
    repeats: int
    failed: int
    failed_questions: int
    metrics: Mapping[str, MetricScore]
    by_type: Mapping[str, TypeScores]
    resources: ParadigmUsage


def score(
    run: Iterable[Scored], *, built: LayerCosts | None = None, samples: Iterable[ResourceSample] = ()
) -> list[ParadigmScores]:
    """The scores of each paradigm, in the order in which they come.

    What answers cost is among them, with what the index had cost (`built`) and the machine's load (`samples`) where
    they are known.
    """
    by_paradigm: dict[str, list[Scored]] = defaultdict(list)
    for row in run:
        by_paradigm[row.record.paradigm].append(row)
    records = [row.record for rows in by_paradigm.values() for row in rows]
    used = usage(records, built=built, samples=samples)
    documents = source_documents(records)
    return [_of_paradigm(name, rows, used[name], documents) for name, rows in by_paradigm.items()]


def score_run(folder: Path, *more: Metric, refusals: Refusals = "declared") -> list[ParadigmScores]:
    """The scores of the run in a folder, with all that the folder tells. `refusals` as in `scored`."""
    info = RunInfo.read(folder)
    return score(
        scored(folder, *more, refusals=refusals), built=info.construction if info else None, samples=samples_of(folder)
    )


def _of_paradigm(name: str, rows: Sequence[Scored], used: ParadigmUsage, documents: Documents) -> ParadigmScores:
    whole = _of_some(rows, documents)
    return ParadigmScores(
        paradigm=name,
        records=len(rows),
        questions=len({row.record.question for row in rows}),
        repeats=len({row.record.repeat for row in rows}),
        failed=whole.failed,
        failed_questions=whole.failed_questions,
        metrics=whole.metrics,
        by_type=_by_type(rows, documents),
        resources=used,
    )


def _by_type(rows: Sequence[Scored], documents: Documents) -> dict[str, TypeScores]:
    by: dict[str, list[Scored]] = defaultdict(list)
    for row in rows:
        by[row.record.type or UNTYPED].append(row)
    return {} if set(by) == {UNTYPED} else {type: _of_some(some, documents) for type, some in sorted(by.items())}


def _of_some(rows: Sequence[Scored], documents: Documents) -> TypeScores:
    answered = [row for row in rows if not row.record.error]
    with_answer = {row.record.question for row in answered}
    return TypeScores(
        failed=len(rows) - len(answered),
        failed_questions=len({row.record.question for row in rows} - with_answer),
        metrics={name: _of_metric(answered, name, documents) for name in rows[0].values},
    )


def _of_metric(rows: Sequence[Scored], name: str, documents: Documents) -> MetricScore:
    by_question: dict[str, list[float]] = defaultdict(list)
    by_repeat: dict[int, list[float]] = defaultdict(list)
    why: Counter[str] = Counter()
    for row in rows:
        own = row.values[name]
        if own.value is None:
            why[own.why] += 1
        else:
            by_question[row.record.question].append(own.value)
            by_repeat[row.record.repeat].append(own.value)
    without = {row.record.question for row in rows} - by_question.keys()
    # The mean of its repeats for each question, so that repeats do not make an interval look narrow.
    values = [sum(some) / len(some) for some in by_question.values()]
    # Questions on one document are not independent, unless there are so few documents that nothing else can be said.
    low, high = interval(values, share=name not in SIGNED, clusters=shared_clusters(list(by_question), documents))
    return MetricScore(
        mean=sum(values) / len(values) if values else None,
        low=low,
        high=high,
        n=len(values),
        unscored=why.total(),
        unscored_questions=len(without),
        why=dict(sorted(why.items())),
        repeats=_over_repeats(by_repeat),
    )


def _over_repeats(by_repeat: Mapping[int, Sequence[float]]) -> RepeatRange | None:
    if len(by_repeat) < 2:
        return None
    means = [sum(values) / len(values) for values in by_repeat.values()]
    return RepeatRange(median(means), min(means), max(means))


# What could not be scored


@dataclass(frozen=True, slots=True)
class Gap:
    """So many answers of each of these paradigms have no value, for this reason; `every`: there are no others."""

    metric: str
    why: str
    answers: int
    paradigms: tuple[str, ...]
    every: bool

    @property
    def whose(self) -> str:
        """The paradigms in words."""
        if self.every:
            return "each paradigm"
        more = len(self.paradigms) - NAMED
        return ", ".join(self.paradigms[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def gaps(rows: Sequence[ParadigmScores]) -> Iterator[Gap]:
    """What could not be scored, metric by metric, paradigms that lack as many together.

    Counts are never added up over paradigms, which share their questions.
    """
    for metric in dict.fromkeys(name for row in rows for name in row.metrics):
        alike: dict[tuple[str, int], list[str]] = {}
        for row in rows:
            for why, count in row.metrics[metric].why.items() if metric in row.metrics else ():
                alike.setdefault((why, count), []).append(row.paradigm)
        for (why, count), names in alike.items():
            yield Gap(metric, why, count, tuple(names), len(names) == len(rows))
