"""Judges of a run against its labels: how far each agrees with people, and means that the labels correct.

Any metric from 0 to 1 that measures what was labelled is held against the labels, whether a model, an embedder or a
rule computes it. Where several people labelled one answer, the mean of what they said counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.labels import LABEL_VALUES, NUMBERS, VERDICTS, Label, Labels, LabelVerdict
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.record import Key
from ragways.evaluation.report.comparisons import TELLING, telling_first
from ragways.evaluation.report.runs import ReportedRun
from ragways.evaluation.score import Scored, scored
from ragways.evaluation.statistics.inference import shared_clusters
from ragways.evaluation.statistics.labelled import CorrectedMean, Kappa, corrected_mean, weighted_kappa
from ragways.evaluation.statistics.values import source_documents

LEVELS_NOTE = (
    "Kappa with linear weights: 1 is full agreement, 0 what chance gives. A value counts as wrong below 0.25, as right "
    "from 0.75, as partly right between."
)
MEANS_NOTE = (
    "Corrected: what the mean would be had people labelled every answer, from the judge's values of all and the labels "
    "of some (prediction-powered inference). Weight: how much the judge counts in it."
)


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of one metric with the labels."""

    metric: str
    kappa: Kappa


@dataclass(frozen=True)
class LabellerAgreement:
    """The agreement of two labellers on the answers that both labelled: no judge can be expected to do better."""

    a: str
    b: str
    kappa: Kappa


@dataclass(frozen=True)
class MetricCorrection:
    """The mean of a metric for one paradigm, corrected by labels."""

    paradigm: str
    metric: str
    figure: CorrectedMean


@dataclass(frozen=True)
class LabelAgreement:
    """What the labels of a run tell of its judges. `counts`: labels by value; `outdated`: labels of answers that have
    been replaced since, which are in no figure.
    """

    verdict: str
    about: str
    labellers: tuple[str, ...]
    counts: Mapping[str, int]
    outdated: int
    judges: tuple[JudgeAgreement, ...]
    people: tuple[LabellerAgreement, ...]
    means: tuple[MetricCorrection, ...]

    def tables(self, metrics: Sequence[str] = ()) -> list[Table]:
        """Agreement, that of people among each other, and corrected means: of these metrics, or of the usual ones."""
        names = list(dict.fromkeys(one.metric for one in self.means))
        wanted = list(metrics) or [name for name in names if name in TELLING] or names
        said = ", ".join(f"{count:,} {value}" for value, count in self.counts.items())
        notes = [f"{said}; by {', '.join(self.labellers)}.", LEVELS_NOTE]
        if self.outdated:
            notes.append(f"{self.outdated:,} labels are of answers that have been replaced since, and in no figure.")
        judges = [(one.metric, one.kappa) for one in self.judges]
        people = [(f"{one.a}, {one.b}", one.kappa) for one in self.people]
        found = [_kappas("metric", judges, f"agreement with people: {self.about}", notes)]
        found += [_kappas("labellers", people, "agreement of people with each other")] if people else []
        found += [_means(name, [one for one in self.means if one.metric == name]) for name in wanted]
        return [*found[:-1], replace(found[-1], notes=(*found[-1].notes, MEANS_NOTE))] if self.means else found


@dataclass(frozen=True)
class RunAgreement(LabelAgreement):
    """What the labels of one of the runs of a report tell."""

    run: str = ""


def _kappas(head: str, rows: Sequence[tuple[str, Kappa]], title: str, notes: Sequence[str] = ()) -> Table:
    columns: list[str | Column] = [
        head, Column("kappa", ".2f", "right"), Column("95 % interval", align="right"),
        Column("same verdict", ".0%", "right"), "answers",
    ]  # fmt: skip
    cells = [[name, own.kappa, _between(own.low, own.high), own.agreed, own.n] for name, own in rows]
    return Table.of(columns, cells, title=title, notes=[*notes, *_whys((name, own.why) for name, own in rows)])


def _means(metric: str, rows: Sequence[MetricCorrection]) -> Table:
    columns: list[str | Column] = [
        "paradigm", Column("judge's\nmean", ".3f", "right"), Column("corrected", align="right"),
        Column("labels alone", align="right"), Column("labelled", align="right"), Column("weight", ".2f", "right"),
    ]  # fmt: skip
    return Table.of(
        columns,
        [_mean_cells(one) for one in rows],
        title=f"{metric}, and corrected by labels, with 95 % intervals",
        notes=_whys((one.paradigm, one.figure.why) for one in rows),
    )


def _mean_cells(one: MetricCorrection) -> list[Cell]:
    own = one.figure
    return [
        one.paradigm, own.raw, _with_interval(own.mean, own.low, own.high),
        _with_interval(own.labels, own.labels_low, own.labels_high), f"{own.labelled:,} of {own.n:,}", own.weight,
    ]  # fmt: skip


def _with_interval(mean: float | None, low: float | None, high: float | None) -> str | None:
    return None if mean is None else f"{mean:.3f}\n({_between(low, high) or '–'})"


def _between(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _whys(named: Iterable[tuple[str, str]]) -> list[str]:
    """Why figures are missing, a line a reason."""
    by: dict[str, list[str]] = defaultdict(list)
    for name, why in named:
        by[why].append(name)
    return [f"{', '.join(names)}: {why}." for why, names in by.items() if why]


def label_agreement(folder: Path, verdict: str = "correct", *more: Metric) -> LabelAgreement:
    """The judges of a run against its labels; `more` are metrics beside the usual ones. UsageError where there are no
    labels.
    """
    if verdict not in VERDICTS:
        raise UsageError(f"there is no verdict {verdict!r}", f"name one of {', '.join(VERDICTS)}")
    found = agreement_of(list(scored(folder, *more)), Labels(folder), verdict)
    if found is None:
        raise UsageError(f"{folder} has no labels of what is {verdict}", f"give some: ragways eval label {folder}")
    return found


def agreement_of(rows: Sequence[Scored], labels: Labels, verdict: str) -> LabelAgreement | None:
    """The same of scored records; None where none of them has a label."""
    current = labels.current((row.record for row in rows), verdict)
    given = [label for some in current.values() for label in some]
    if not given:
        return None
    counts = Counter(label.value for label in given)
    people = _consensus(current)
    metrics = _metrics(rows, VERDICTS[verdict])
    return LabelAgreement(
        verdict=verdict,
        about=VERDICTS[verdict].about,
        labellers=tuple(sorted({label.by for label in given})),
        counts={value: counts[value] for value in LABEL_VALUES},
        outdated=len(labels.latest(verdict)) - len(given),
        judges=tuple(JudgeAgreement(name, _judge_kappa(rows, people, name)) for name in metrics),
        people=tuple(_between_people(given)),
        means=tuple(_corrections(rows, people, metrics)),
    )


def _metrics(rows: Sequence[Scored], verdict: LabelVerdict) -> list[str]:
    """The metrics that measure what was labelled, the usual ones first; those with a value outside 0 to 1 are not."""
    known = [find_metric(name) for name in dict.fromkeys(name for row in rows for name in row.values)]
    fitting = telling_first([metric for metric in known if verdict.measured_by(metric)])
    return [metric.name for metric in fitting if all(0 <= value <= 1 for value in _values(rows, metric.name).values())]


def _values(rows: Iterable[Scored], metric: str) -> dict[Key, float]:
    return {
        row.record.key: value
        for row in rows
        if not row.record.error and metric in row.values and (value := row.values[metric].value) is not None
    }


def _consensus(current: Mapping[Key, Sequence[Label]]) -> dict[Key, float]:
    """What people say of each answer: the mean of their labels. What all of them skipped is left out."""
    said = {key: [NUMBERS[one.value] for one in some if one.value in NUMBERS] for key, some in current.items()}
    return {key: sum(values) / len(values) for key, values in said.items() if values}


def _judge_kappa(rows: Sequence[Scored], people: Mapping[Key, float], metric: str) -> Kappa:
    values = _values(rows, metric)
    shared = [key for key in people if key in values]
    return weighted_kappa([(people[key], values[key]) for key in shared], [key[0] for key in shared])


def _between_people(given: Iterable[Label]) -> Iterable[LabellerAgreement]:
    said: dict[str, dict[Key, float]] = defaultdict(dict)
    for label in given:
        if label.value in NUMBERS:
            said[label.by][label.question, label.paradigm, label.repeat] = NUMBERS[label.value]
    for a, b in combinations(sorted(said), 2):
        shared = [key for key in said[a] if key in said[b]]
        if shared:
            pairs = [(said[a][key], said[b][key]) for key in shared]
            yield LabellerAgreement(a, b, weighted_kappa(pairs, [key[0] for key in shared]))


def _corrections(
    rows: Sequence[Scored], people: Mapping[Key, float], metrics: Sequence[str]
) -> Iterable[MetricCorrection]:
    documents = source_documents(row.record for row in rows)
    paradigms = list(dict.fromkeys(row.record.paradigm for row in rows))
    for metric in metrics:
        values = _values(rows, metric)
        for name in paradigms:
            judged = _by_question(values, name)
            said = {question: value for question, value in _by_question(people, name).items() if question in judged}
            others = [question for question in judged if question not in said]
            yield MetricCorrection(name, metric, corrected_mean(
                list(said.values()),
                [judged[question] for question in said],
                [judged[question] for question in others],
                clusters=shared_clusters(list(said), documents),
                other_clusters=shared_clusters(others, documents),
            ))  # fmt: skip


def _by_question(values: Mapping[Key, float], paradigm: str) -> dict[str, float]:
    """The mean over the repeats of each question."""
    by: dict[str, list[float]] = defaultdict(list)
    for (question, name, _), value in values.items():
        if name == paradigm:
            by[question].append(value)
    return {question: sum(some) / len(some) for question, some in by.items()}


def label_section(runs: Sequence[ReportedRun]) -> tuple[RunAgreement, ...]:
    """Of the runs with labels, a value for each verdict; paradigms as they are called in the report."""
    found = []
    for run in runs:
        # Labels name records as they were made.
        rows = [Scored(record, row.values) for record, row in zip(run.records, run.rows, strict=True)]
        for verdict in VERDICTS:
            if (own := agreement_of(rows, Labels(run.folder), verdict)) is not None:
                means = tuple(replace(one, paradigm=run.paradigms[one.paradigm]) for one in own.means)
                found.append(RunAgreement(**vars(replace(own, means=means)), run=run.name))
    return tuple(found)
