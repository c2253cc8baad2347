"""How well paradigms find the evidence: every question asked of every paradigm, retrieval only."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragways.core.progress import Progress, ProgressCallback, silent
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.metrics import USUAL, Cut
from ragways.evaluation.question import Question
from ragways.evaluation.statistics.inference import interval
from ragways.retrieval.ask import ask
from ragways.retrieval.resources import Resources


@dataclass
class Figures:
    """What a paradigm did: for each metric the value of every question that could be scored."""

    paradigm: str
    values: dict[str, list[float]] = field(default_factory=dict)
    unscored: int = 0
    missing: int = 0
    tokens: list[int] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    """Apart from embedding, which is the embedder's own figure and stands in `embedding_ms`."""
    embedding_ms: list[float] = field(default_factory=list)
    ranks: dict[str, list[int | None]] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        import numpy as np

        data: dict[str, Any] = {"paradigm": self.paradigm, "questions": len(self.ranks), "unscored": self.unscored,
                                "gold_not_in_index": self.missing}  # fmt: skip
        for name, values in self.values.items():
            low, high = interval(values, share=True)
            data[name] = {
                "mean": float(np.mean(values)) if values else None,
                "low": low,
                "high": high,
                "n": len(values),
            }
        data["evidence_tokens"] = float(np.mean(self.tokens)) if self.tokens else 0.0
        data["cpu_ms_p50"], data["cpu_ms_p95"] = (
            (float(np.percentile(self.cpu_ms, p)) for p in (50, 95)) if self.cpu_ms else (0.0, 0.0)
        )
        data["embedding_ms_p50"] = float(np.percentile(self.embedding_ms, 50)) if self.embedding_ms else 0.0
        return data


async def measure(
    use: Resources,
    questions: Sequence[Question],
    paradigms: Mapping[str, Mapping[str, Any]],
    *,
    metrics: Sequence[Cut] = USUAL,
    report: ProgressCallback = silent,
) -> list[Figures]:
    """Figures of each paradigm (by name, with its settings) over the questions."""
    use.retrieve_only = True
    gold = GoldIndex(use.index)
    # At once, which is quicker; what paradigms embed besides, names or sub-questions, is timed apart.
    await use.embed([question.text for question in questions])
    figures = []
    for name, settings in paradigms.items():
        figures.append(Figures(name, {str(metric): [] for metric in metrics}))
        for done, question in enumerate(questions):
            report(Progress(f"asking {name}", done, len(questions)))
            await _measure_one(use, question, name, settings, gold, metrics, figures[-1])
    return figures


async def _measure_one(
    use: Resources,
    question: Question,
    name: str,
    settings: Mapping[str, Any],
    gold: GoldIndex,
    metrics: Sequence[Cut],
    figures: Figures,
) -> None:
    started, embedded = time.process_time(), use.embedding
    result = await ask(use, question.text, name, settings)
    embedding = use.embedding - embedded
    figures.embedding_ms.append(embedding * 1000)
    figures.cpu_ms.append((time.process_time() - started - embedding) * 1000)
    evidence = result.answer.evidence
    figures.tokens.append(evidence.tokens)
    ranks = gold.ranks(question, evidence.hits)
    figures.ranks[question.id] = ranks
    figures.missing += sum(bool(one.key or one.title) and not gold.documents(one) for one in question.gold)
    figures.unscored += not ranks
    for metric in metrics:
        score = metric.score(ranks)
        if score is not None:
            figures.values[str(metric)].append(score)
