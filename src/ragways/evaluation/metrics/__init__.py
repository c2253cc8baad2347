"""The one table of metrics. Those with `of` come from a record alone, the others from judgements."""

from __future__ import annotations

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics.citations import CITATIONS
from ragways.evaluation.metrics.exact import EXACT
from ragways.evaluation.metrics.multihop_rag import MULTIHOP_RAG
from ragways.evaluation.metrics.ranking import USUAL, Cut

ALONE: tuple[Metric, ...] = (*EXACT, *MULTIHOP_RAG, *CITATIONS, *(cut.metric for cut in USUAL))
"""Metrics that need nothing but the record."""

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*ALONE, *(metric for judge in JUDGES.values() for metric in judge.metrics))
}


def find_metric(text: str) -> Metric:
    """A metric by its name, in any case and spacing: `Recall @ 5` is `recall@5`, at any rank."""
    name = "".join(text.lower().split())
    if name in METRICS:
        return METRICS[name]
    if "@" in name:
        return Cut.parse(name).metric
    raise UsageError(f"there is no metric {text!r}", did_you_mean(name, METRICS))
