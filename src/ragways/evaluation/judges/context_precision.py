"""Whether useful pieces stand before useless ones: the mean of precision@k over the ranks k of the useful pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragways.core.gather import together
from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import passages, said
from ragways.evaluation.metric import Metric, Score, accepted
from ragways.evaluation.record import Record
from ragways.tasks.judges import USEFUL, UsefulInput


def average_precision(useful: Sequence[bool]) -> float:
    """Of verdicts in the order of the ranking; nothing useful is 0."""
    ranks = [rank for rank, one in enumerate(useful, start=1) if one]
    return sum(n / rank for n, rank in enumerate(ranks, start=1)) / len(ranks) if ranks else 0.0


async def _judged(resources: JudgeResources, record: Record, answer: str) -> Score:
    outcomes = await together(
        resources.model.do(USEFUL, UsefulInput(record.text, answer, passage)) for passage in passages(record)
    )
    verdicts = [outcome.value for outcome in outcomes]
    details = {"useful": [verdict.useful for verdict in verdicts], "why": [verdict.why for verdict in verdicts]}
    return Score(average_precision([verdict.useful for verdict in verdicts]), details=details)


async def _with_gold(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"context-precision": await _judged(resources, record, "\n".join(accepted(record)))}


async def _without_gold(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"context-precision-unreferenced": await _judged(resources, record, said(record))}


CONTEXT_PRECISION = Judge(
    "context-precision",
    "useful pieces before useless ones, by the gold answer",
    "model",
    (
        Metric("context-precision", "judged", "mean precision at the ranks of pieces that help to the gold answer",
               ("gold", "answer", "evidence")),
    ),
    _with_gold,
    (USEFUL,),
)  # fmt: skip

CONTEXT_PRECISION_UNREFERENCED = Judge(
    "context-precision-unreferenced",
    "useful pieces before useless ones, by the answer that was given",
    "model",
    (
        Metric("context-precision-unreferenced", "judged",
               "mean precision at the ranks of pieces that help to the answer given", ("said", "evidence")),
    ),
    _without_gold,
    (USEFUL,),
)  # fmt: skip
