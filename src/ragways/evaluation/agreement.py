"""Judges of a run against its labels: how far each agrees with people, and means that the labels correct.

Any metric from 0 to 1 that measures what was labelled is compared with the labels, whether a model, an embedder or a
rule computes it. Where several people labelled one answer, the mean of their labels counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.labels import LABEL_VALUES, NUMBERS, VERDICTS, Label, Labels, LabelVerdict
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.record import Key, Record, Run
from ragways.evaluation.score import scored
from ragways.evaluation.statistics.inference import shared_clusters
from ragways.evaluation.statistics.labelled import CorrectedMean, Kappa, corrected_mean, weighted_kappa
from ragways.evaluation.statistics.values import source_documents

KAPPA_NOTE = (
    "Kappa with linear weights: 1 is full agreement, 0 what chance gives. A value counts as wrong below 0.25, as right "
    "from 0.75, as partly right between. Of two people, no judge can be expected to agree with them more."
)
MEANS_NOTE = (
    "Corrected: what the mean would be had people labelled every answer, from the judge's values of all and the labels "
    "of some (prediction-powered inference). Weight: how much the judge counts in it."
)
AGREEMENTS = (
    Column("run"), Column("labels of"), Column("by", key="of"), Column("kappa", ".2f", "right"),
    Column("low", ".2f", "right"), Column("high", ".2f", "right"), Column("same verdict", ".0%", "right", "agreed"),
    Column("answers", key="n"), Column("why not", key="why"),
)  # fmt: skip
MEANS = (
    Column("run"), Column("labels of"), Column("metric"), Column("paradigm"),
    Column("judge's mean", ".3f", "right", "raw"), Column("corrected", ".3f", "right", "mean"),
    Column("low", ".2f", "right"), Column("high", ".2f", "right"), Column("labels alone", ".3f", "right", "labels"),
    Column("their low", ".2f", "right", "labels_low"), Column("their high", ".2f", "right", "labels_high"),
    Column("labelled"), Column("of", key="n"), Column("weight", ".2f", "right"), Column("why not", key="why"),
)  # fmt: skip

LabelledRun = tuple[str, Path, Sequence[Record], Mapping[str, str]]
"""The name of a run, its folder, its records with values, and the names of its paradigms in the report."""


def label_agreement(run: Run, verdict: str = "correct", *more: Metric) -> list[Table]:
    """The tables of one run and one verdict; `more` are metrics beside the usual ones. UsageError where there are no
    labels.
    """
    if verdict not in VERDICTS:
        raise UsageError(f"there is no verdict {verdict!r}", f"name one of {', '.join(VERDICTS)}")
    tables = agreement_tables([(run.folder.name, run.folder, scored(run, *more), {})], [verdict])
    if not tables[0].rows:
        raise UsageError(
            f"{run.folder} has no labels of what is {verdict}", f"give some: ragways eval label {run.folder}"
        )
    return tables


def agreement_tables(runs: Iterable[LabelledRun], verdicts: Sequence[str] = tuple(VERDICTS)) -> list[Table]:
    """How far judges agree with the labels of these runs, and people with each other; and the corrected means."""
    rows: list[list[Cell]] = []
    means: list[list[Cell]] = []
    notes: list[str] = []
    for name, folder, records, names in runs:
        for verdict in verdicts:
            labels = Labels(folder)
            current = labels.current(records, verdict)
            given = [label for some in current.values() for label in some]
            if not given:
                continue
            head: list[Cell] = [name, verdict]
            people, metrics = _consensus(current), _metrics(records, VERDICTS[verdict])
            rows += [[*head, metric, *_kappa(_judge_kappa(records, people, metric))] for metric in metrics]
            rows += [[*head, f"{a}, {b}", *_kappa(kappa)] for a, b, kappa in _between_people(given)]
            for metric, paradigm, figure in _corrections(records, people, metrics):
                means.append([*head, metric, names.get(paradigm, paradigm), *_mean(figure)])
            outdated = len(labels.latest(verdict)) - len(given)
            notes.append(f"{name}: {VERDICTS[verdict].about} {_counted(given, outdated)}")
    return [
        Table.of(AGREEMENTS, rows, title="Agreement with people", notes=[*notes, KAPPA_NOTE], name="labels"),
        Table.of(MEANS, means, title="Means corrected by labels", notes=[MEANS_NOTE], name="corrected"),
    ]


def _counted(given: Sequence[Label], outdated: int) -> str:
    counts = Counter(label.value for label in given)
    listed = ", ".join(f"{counts[value]:,} {value}" for value in LABEL_VALUES)
    old = f" {outdated:,} labels are of answers that have been replaced since, and in no figure." if outdated else ""
    return f"{listed}; by {', '.join(sorted({label.by for label in given}))}.{old}"


def _kappa(own: Kappa) -> list[Cell]:
    return [own.kappa, own.low, own.high, own.agreed, own.n, own.why]


def _mean(own: CorrectedMean) -> list[Cell]:
    return [own.raw, own.mean, own.low, own.high, own.labels, own.labels_low, own.labels_high, own.labelled, own.n,
            own.weight, own.why]  # fmt: skip


def _metrics(records: Sequence[Record], verdict: LabelVerdict) -> list[str]:
    """The metrics that measure what was labelled; those with a value outside 0 to 1 are not among them."""
    known = [find_metric(name) for name in dict.fromkeys(name for record in records for name in record.values)]
    fitting = [metric.name for metric in known if verdict.measured_by(metric)]
    return [name for name in fitting if all(0 <= value <= 1 for value in _values(records, name).values())]


def _values(records: Iterable[Record], metric: str) -> dict[Key, float]:
    return {record.key: value for record in records if (value := record.value(metric)) is not None}


def _consensus(current: Mapping[Key, Sequence[Label]]) -> dict[Key, float]:
    """The mean of the labels of each answer. What everybody skipped is left out."""
    values = {key: [NUMBERS[one.value] for one in some if one.value in NUMBERS] for key, some in current.items()}
    return {key: sum(some) / len(some) for key, some in values.items() if some}


def _judge_kappa(records: Sequence[Record], people: Mapping[Key, float], metric: str) -> Kappa:
    values = _values(records, metric)
    shared = [key for key in people if key in values]
    return weighted_kappa([(people[key], values[key]) for key in shared], [key[0] for key in shared])


def _between_people(given: Iterable[Label]) -> Iterator[tuple[str, str, Kappa]]:
    """The agreement of each two labellers on the answers that both labelled."""
    labels: dict[str, dict[Key, float]] = defaultdict(dict)
    for label in given:
        if label.value in NUMBERS:
            labels[label.by][label.question, label.paradigm, label.repeat] = NUMBERS[label.value]
    for a, b in combinations(sorted(labels), 2):
        shared = [key for key in labels[a] if key in labels[b]]
        if shared:
            pairs = [(labels[a][key], labels[b][key]) for key in shared]
            yield a, b, weighted_kappa(pairs, [key[0] for key in shared])


def _corrections(
    records: Sequence[Record], people: Mapping[Key, float], metrics: Sequence[str]
) -> Iterator[tuple[str, str, CorrectedMean]]:
    documents = source_documents(records)
    paradigms = list(dict.fromkeys(record.paradigm for record in records))
    for metric in metrics:
        values = _values(records, metric)
        for name in paradigms:
            judged = _by_question(values, name)
            labels = {question: value for question, value in _by_question(people, name).items() if question in judged}
            others = [question for question in judged if question not in labels]
            yield metric, name, corrected_mean(
                list(labels.values()),
                [judged[question] for question in labels],
                [judged[question] for question in others],
                clusters=shared_clusters(list(labels), documents),
                other_clusters=shared_clusters(others, documents),
            )  # fmt: skip


def _by_question(values: Mapping[Key, float], paradigm: str) -> dict[str, float]:
    """The mean over the repeats of each question."""
    by: dict[str, list[float]] = defaultdict(list)
    for (question, name, _), value in values.items():
        if name == paradigm:
            by[question].append(value)
    return {question: sum(some) / len(some) for question, some in by.items()}


def shown(tables: Sequence[Table], metrics: Sequence[str], usual: Sequence[str]) -> list[Table]:
    """The tables of one run as a terminal shows them: means of these metrics, or of the usual ones."""
    agreements, means = tables
    known = list(dict.fromkeys(means.column("metric")))
    wanted = list(metrics) or [name for name in known if name in usual] or known
    own = agreements.only("of", "kappa", "low", "high", "agreed", "n", "why")
    parts = [replace(part, title=f"{name}, and corrected by labels") for name in wanted
             if (part := means.where(metric=name).only(
                 "paradigm", "raw", "mean", "low", "high", "labels", "labelled", "weight", "why")).rows]  # fmt: skip
    return [own, *parts[:-1], *(replace(part, notes=means.notes) for part in parts[-1:])]
