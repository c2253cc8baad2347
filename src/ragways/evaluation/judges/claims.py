"""Metrics from claims: a text is split into claims, and each is checked against another text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragways.core.gather import together
from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import evidence, said
from ragways.evaluation.metric import Metric, Score, accepted
from ragways.evaluation.record import Record
from ragways.tasks.judges import CLAIMS, SUPPORT, ClaimsInput, SupportInput

NO_CLAIMS = "no claims"


async def claims_of(resources: JudgeResources, record: Record, text: str) -> tuple[str, ...]:
    """The same text of the same question is split once, where the client keeps replies."""
    return (await resources.model.do(CLAIMS, ClaimsInput(record.text, text))).value.claims


async def supported(resources: JudgeResources, record: Record, text: str, by: str) -> Score:
    """The share of the text's claims that the other text supports."""
    claims = await claims_of(resources, record, text)
    if not claims:
        return Score(None, NO_CLAIMS)
    verdicts = (await resources.model.do(SUPPORT, SupportInput(claims, by))).value.in_order()
    details = _details(claims, [(verdict.supported, verdict.why) for verdict in verdicts])
    return Score(sum(verdict.supported for verdict in verdicts) / len(claims), details=details)


def _details(claims: Sequence[str], verdicts: Sequence[tuple[bool, str]]) -> dict[str, Any]:
    rows = [
        {"claim": claim, "supported": supported, "why": why}
        for claim, (supported, why) in zip(claims, verdicts, strict=True)
    ]
    return {"claims": rows}


async def _faithfulness(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"faithfulness": await supported(resources, record, said(record), evidence(record))}


async def _context_recall(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"context-recall": await supported(resources, record, accepted(record)[0], evidence(record))}


async def _factual(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    precision, recall = await together(
        (
            supported(resources, record, said(record), "\n".join(accepted(record))),
            supported(resources, record, accepted(record)[0], said(record)),
        )
    )
    return {"factual-precision": precision, "factual-recall": recall, "factual-f1": _f1(precision, recall)}


def _f1(precision: Score, recall: Score) -> Score:
    p, r = precision.value, recall.value
    if p is None or r is None:
        return Score(None, precision.why or recall.why)
    return Score(2 * p * r / (p + r) if p + r else 0.0)


FAITHFULNESS = Judge(
    "faithfulness",
    "claims of the answer that the evidence supports",
    "model",
    (
        Metric(
            "faithfulness", "judged", "share of the answer's claims that the evidence supports", ("said", "evidence")
        ),
    ),
    _faithfulness,
    (CLAIMS, SUPPORT),
)

CONTEXT_RECALL = Judge(
    "context-recall",
    "claims of the gold answer that the evidence supports",
    "model",
    (
        Metric("context-recall", "judged", "share of the first gold answer's claims that the evidence supports",
               ("gold", "answer", "evidence")),
    ),
    _context_recall,
    (CLAIMS, SUPPORT),
)  # fmt: skip

FACTUAL = Judge(
    "factual",
    "claims of the answer against the gold answer, and the other way round",
    "model",
    (
        Metric("factual-precision", "judged", "share of the answer's claims that a gold answer supports",
               ("gold", "answer", "said")),
        Metric("factual-recall", "judged", "share of the first gold answer's claims that the answer supports",
               ("gold", "answer", "said")),
        Metric("factual-f1", "judged", "harmonic mean of the two", ("gold", "answer", "said")),
    ),
    _factual,
    (CLAIMS, SUPPORT),
)  # fmt: skip
