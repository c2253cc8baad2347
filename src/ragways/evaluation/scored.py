"""A run's records with every value that is known of them: computed from the record, or judged and kept beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ragways.evaluation.judging import Judgement, JudgementKey, Judgements, current_judgements
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.metrics import METRICS, record_metrics
from ragways.evaluation.record import Record, Records


@dataclass(frozen=True)
class Scored:
    """A record and its values by the name of the metric."""

    record: Record
    values: dict[str, Score]


def scored(folder: Path, *more: Metric) -> Iterator[Scored]:
    """Every record of a run; `more` are metrics beside the usual ones (`recall@20`)."""
    return score_all(Records(folder), Judgements(folder).latest(), more)


def score_all(
    records: Iterable[Record], judged: dict[JudgementKey, Judgement] | None = None, more: Iterable[Metric] = ()
) -> Iterator[Scored]:
    """A metric that no judge was asked for anywhere is left out; a record it was not asked for is unscored, and so is
    one whose answer is no longer the one that was judged.
    """
    known = judged or {}
    names = [name for name in METRICS if name in {judged for *_, judged in known}]
    alone = dict.fromkeys((*record_metrics(), *(metric for metric in more if metric.of is not None)))
    for record in records:
        values = {metric.name: metric.score(record) for metric in alone}
        found = current_judgements(known, record, names)
        values |= {name: found[name].score if name in found else METRICS[name].score(record) for name in names}
        yield Scored(record, values)
