"""How well paradigms find the evidence: every question asked of every paradigm, retrieval only."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.metrics import USUAL, Cut
from ragways.evaluation.question import Question
from ragways.evaluation.resources.alone import alone
from ragways.evaluation.score import MetricScore
from ragways.evaluation.statistics.inference import interval
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import ask
from ragways.retrieval.resources import Resources


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """How well a paradigm found the gold evidence, over all questions that have some.

    `unscored` counts questions without gold evidence, `gold_not_in_index` pieces of gold whose documents are not
    there: they count as not found. CPU is that of a question apart from embedding, which stands in `embedding_ms_p50`.
    """

    paradigm: str
    questions: int
    unscored: int
    gold_not_in_index: int
    metrics: Mapping[str, MetricScore]
    evidence_tokens: float
    cpu_ms_p50: float
    cpu_ms_p95: float
    embedding_ms_p50: float


@dataclass
class _Measured:
    """What was measured of a paradigm so far: for each metric the value of every question that could be scored."""

    values: dict[str, list[float]]
    questions: int = 0
    unscored: int = 0
    absent: int = 0
    tokens: list[int] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    embedding_ms: list[float] = field(default_factory=list)

    def scores(self, paradigm: str) -> RetrievalScores:
        import numpy as np

        def percentile(values: Sequence[float], percent: int) -> float:
            return float(np.percentile(values, percent)) if values else 0.0

        metrics = {}
        for name, values in self.values.items():
            low, high = interval(values, share=True)
            metrics[name] = MetricScore(float(np.mean(values)) if values else None, low, high, len(values))
        return RetrievalScores(
            paradigm=paradigm,
            questions=self.questions,
            unscored=self.unscored,
            gold_not_in_index=self.absent,
            metrics=metrics,
            evidence_tokens=float(np.mean(self.tokens)) if self.tokens else 0.0,
            cpu_ms_p50=percentile(self.cpu_ms, 50),
            cpu_ms_p95=percentile(self.cpu_ms, 95),
            embedding_ms_p50=percentile(self.embedding_ms, 50),
        )


async def measure_retrieval(
    use: Resources,
    questions: Sequence[Question],
    paradigms: Mapping[str, Mapping[str, Any]],
    *,
    metrics: Sequence[Cut] = USUAL,
    progress: ProgressCallback = silent,
) -> list[RetrievalScores]:
    """Ask every question of each paradigm (by name, with its settings), without answering; returns their scores.

    Each is measured as if it ran alone: nothing that another has loaded or embedded is known to it, but the questions.
    """
    gold = GoldIndex(use.index)
    # At once, which is quicker; what paradigms embed besides, names or sub-questions, is timed apart.
    await use.embed([question.text for question in questions])
    scores = []
    for name, settings in paradigms.items():
        measured = _Measured({str(metric): [] for metric in metrics})
        with retrieval_only():
            async with alone(use, name, settings, questions[0].text, keep_vectors=True) as own:
                for done, question in enumerate(questions):
                    progress(Progress(f"asking {name}", done, len(questions)))
                    await _measure_one(own, question, name, settings, gold, metrics, measured)
        scores.append(measured.scores(name))
    return scores


async def _measure_one(
    use: Resources,
    question: Question,
    name: str,
    settings: Mapping[str, Any],
    gold: GoldIndex,
    metrics: Sequence[Cut],
    measured: _Measured,
) -> None:
    started, embedded = time.process_time(), use.embedding
    result = await ask(use, question.text, name, settings)
    embedding = use.embedding - embedded
    measured.embedding_ms.append(embedding * 1000)
    measured.cpu_ms.append((time.process_time() - started - embedding) * 1000)
    evidence = result.answer.evidence
    measured.tokens.append(evidence.tokens)
    ranks = gold.ranks(question, evidence.hits)
    measured.questions += 1
    measured.absent += sum(bool(one.key or one.title) and not gold.documents(one) for one in question.gold)
    measured.unscored += not ranks
    for metric in metrics:
        value = metric.score(ranks)
        if value is not None:
            measured.values[str(metric)].append(value)
