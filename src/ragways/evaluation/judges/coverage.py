"""By vectors of sentences: how much of the gold answer the answer covers, and how much of the answer the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import found_texts, said, sentences
from ragways.evaluation.judges.vectors import of_sentences
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.record import Record

if TYPE_CHECKING:
    from ragways.models.embed import Embedder, Vectors

THRESHOLD = 0.7
"""Cosine from which a sentence counts as supported."""


async def best_cosines(embedder: Embedder, texts: Sequence[str], among: Sequence[str]) -> Vectors:
    """For each text the cosine to the nearest of the others; both must hold one at least."""
    rows = await of_sentences(embedder, [*texts, *among])
    best: Vectors = (rows[: len(texts)] @ rows[len(texts) :].T).max(axis=1)
    return best


async def _coverage(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    answer = sentences(said(record))
    golds = [found for gold in record.gold if (found := sentences(gold))]
    if not answer or not golds:
        return {"coverage": Score(None, "no words to compare")}
    values = [float((await best_cosines(resources.embedder, gold, answer)).mean()) for gold in golds]
    return {"coverage": Score(max(values))}


async def _support(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    answer = sentences(said(record))
    found = list(dict.fromkeys(sentence for text in found_texts(record) for sentence in sentences(text)))
    if not answer or not found:
        return {name: Score(None, "no words to compare") for name in ("support-hard", "support-soft")}
    best = await best_cosines(resources.embedder, answer, found)
    return {
        "support-hard": Score(float((best >= THRESHOLD).mean()), details={"sentences": len(answer)}),
        "support-soft": Score(float(best.mean()), details={"sentences": len(answer)}),
    }


COVERAGE = Judge(
    "coverage",
    "sentences of the gold answer found again in the answer",
    "embedder",
    (
        Metric("coverage", "embedding", "mean, over gold sentences, of the best cosine to a sentence of the answer",
               ("gold", "answer", "said")),
    ),
    _coverage,
)  # fmt: skip

SUPPORT = Judge(
    "support",
    "sentences of the answer found again in the evidence",
    "embedder",
    (
        Metric("support-hard", "embedding", f"answer sentences with cosine {THRESHOLD} or more to one of the evidence",
               ("said", "evidence")),
        Metric("support-soft", "embedding", "mean, over answer sentences, of the best cosine to one of the evidence",
               ("said", "evidence")),
    ),
    _support,
)  # fmt: skip
