"""W: seven traversals of the window graph on 50 questions over Wikipedia articles."""

from __future__ import annotations

from ragways.evaluation.metrics import Cut
from ragways.evaluation.reproduce.experiment import Column, Data, Experiment, Way, mean, published

_WAYS = (
    "basic_retrieval", "query_traversal", "kg_traversal", "triangulation_average", "triangulation_geometric_3d",
    "triangulation_fulldim", "llm_guided_traversal",
)  # fmt: skip


def _judged(label: str, metric: str, *values: float) -> Column:
    return Column(label, mean(metric, scale=1), published(_WAYS, *values), digits=2, judge=metric)


WINDOWS = Experiment(
    name="windows",
    title="Seven traversals of a sentence-window graph, 50 sequential multi-hop questions",
    model="GPT-4o, judged by deepeval",
    ways=(
        Way("basic-retrieval", "basic_retrieval"),
        Way("query-traversal", "query_traversal"),
        Way("kg-traversal", "kg_traversal"),
        Way("triangulation-average", "triangulation_average"),
        Way("triangulation-3d", "triangulation_geometric_3d"),
        Way("triangulation-full", "triangulation_fulldim"),
        Way("llm-guided", "llm_guided_traversal"),
    ),
    data=(Data("50qa", "windows", ("50qa*.csv*",), ("wiki-articles*.json*", "*articles*.json*")),),
    columns=(
        _judged("precision", "context-precision", 0.93, 0.91, 0.93, 0.92, 0.93, 0.93, 0.91),
        _judged("recall", "context-recall", 0.88, 0.91, 0.87, 0.87, 0.85, 0.87, 0.94),
        _judged("relevancy", "answer-relevancy", 0.99, 0.98, 0.99, 0.98, 0.98, 1.00, 0.99),
        _judged("faithful", "faithfulness", 0.99, 1.00, 0.99, 0.99, 1.00, 0.97, 0.99),
        Column("gold @ 15", mean("recall@15", scale=1), digits=2, metric=Cut("recall", 15).metric),
        Column("all @ 15", mean("all-evidence@15", scale=1), digits=2, metric=Cut("all-evidence", 15).metric),
    ),
    differs=(
        "embedder: all-MiniLM-L6-v2 here, mxbai-embed-large-v1 there",
        "themes: by rules unless a model is set; theirs by Llama 3.1 8B",
        "precision, recall, relevancy and faithfulness are our definitions; theirs are deepeval's",
        "gold found: the share of the gold sentences among the first 15, without a judge; they report no such figure",
    ),
)  # fmt: skip
