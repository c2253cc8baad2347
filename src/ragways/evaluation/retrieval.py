"""How well paradigms find the evidence: all questions, retrieval only."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.metrics import USUAL, Cut
from ragways.evaluation.question import Question
from ragways.evaluation.resources.alone import alone
from ragways.evaluation.statistics.inference import interval
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import ask
from ragways.retrieval.resources import Resources

COUNTS = ("questions", "unscored", "gold_not_in_index")
COSTS = ("evidence_tokens", "cpu_ms_p50", "cpu_ms_p95", "embedding_ms_p50")


async def measure_retrieval(
    use: Resources,
    questions: Sequence[Question],
    paradigms: Mapping[str, Mapping[str, Any]],
    *,
    metrics: Sequence[Cut] = USUAL,
    progress: ProgressCallback = silent,
) -> Table:
    """Ask every question of each paradigm (by name, with its settings), without answering.

    Each is measured as if it ran alone: nothing is cached but the vectors of the questions.

    Returns a row for each paradigm: the mean of each metric and the ends of its 95 % interval, over the questions that
    have gold evidence. `unscored` counts those that have none, `gold_not_in_index` pieces of gold whose documents are
    not there: they count as not found. CPU is that of a question apart from embedding, which is `embedding_ms_p50`.
    """
    gold = GoldIndex(use.index)
    # At once, which is quicker; what paradigms embed besides, names or sub-questions, is timed apart.
    await use.embed([question.text for question in questions])
    rows: list[dict[str, Cell]] = []
    for name, settings in paradigms.items():
        with retrieval_only():
            async with alone(use, name, settings, questions[0].text, keep_vectors=True) as own:
                ranks: list[list[int | None]] = []
                costs: list[tuple[float, ...]] = []
                for done, question in enumerate(questions):
                    progress(Progress(f"asking {name}", done, len(questions)))
                    started, embedded = time.process_time(), own.embedding
                    evidence = (await ask(own, question.text, name, settings)).answer.evidence
                    embedding = own.embedding - embedded
                    cpu = time.process_time() - started - embedding
                    costs.append((evidence.tokens, cpu * 1000, embedding * 1000))
                    ranks.append(gold.ranks(question, evidence.hits))
        rows.append({"paradigm": name, **_counts(questions, ranks, gold), **_scores(ranks, metrics), **_costs(costs)})
    scores = [Column(f"{metric}{end}", ".3f") for metric in metrics for end in ("", " low", " high")]
    return Table.of(["paradigm", *COUNTS, *scores, *COSTS], rows, name="retrieval")


def _counts(questions: Sequence[Question], ranks: Sequence[Sequence[int | None]], gold: GoldIndex) -> dict[str, Cell]:
    every = [one for question in questions for one in question.gold]
    absent = sum(bool(one.key or one.title) and not gold.documents(one) for one in every)
    return dict(zip(COUNTS, (len(questions), sum(not own for own in ranks), absent), strict=True))


def _scores(ranks: Sequence[Sequence[int | None]], metrics: Sequence[Cut]) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for metric in metrics:
        values = [value for own in ranks if (value := metric.score(own)) is not None]
        low, high = interval(values, share=True)
        mean = sum(values) / len(values) if values else None
        found |= {str(metric): mean, f"{metric} low": low, f"{metric} high": high}
    return found


def _costs(costs: Sequence[tuple[float, ...]]) -> dict[str, Cell]:
    import numpy as np

    tokens, cpu, embedding = np.asarray(costs, dtype=np.float64).T
    figures = (tokens.mean(), np.percentile(cpu, 50), np.percentile(cpu, 95), np.percentile(embedding, 50))
    return dict(zip(COSTS, map(float, figures), strict=True))
