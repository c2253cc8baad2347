"""R: five paradigms on four corpora, judged correct, incorrect or incomplete."""

from __future__ import annotations

from ragways.evaluation.reproduce.experiment import Column, Data, Experiment, Way, mean, published, tokens

_WAYS = ("NaiveRAG", "GraphRAG", "HybridRAG", "Iterative (Naive)", "Iterative (Graph)")


def _columns(*rows: tuple[float | None, ...]) -> tuple[Column, ...]:
    """Semantic F1, coverage, faithfulness hard and soft, judged correct: a tuple each, in the order of the ways."""
    read = (
        ("sem. F1", mean("bertscore-f1", scale=1), 3, "bertscore"),
        ("coverage", mean("coverage", scale=1), 3, "coverage"),
        ("faith. hard", mean("support-hard", scale=1), 3, "support"),
        ("faith. soft", mean("support-soft", scale=1), 3, "support"),
        ("judged %", mean("judged-correct"), 1, "correct"),
    )
    return tuple(
        Column(label, value, published(_WAYS, *row), digits, judge)
        for (label, value, digits, judge), row in zip(read, rows, strict=True)
    )


_MUSIQUE = _columns(
    (0.503, 0.510, 0.613, 0.469, None), (0.362, 0.386, 0.472, 0.320, 0.400), (0.143, 0.114, None, None, None),
    (0.486, 0.439, None, None, None), (26.4, 30.3, 38.6, 20.4, 29.2),
)  # fmt: skip
_QUALITY = _columns(
    (0.858, 0.794, 0.738, 0.724, 0.657), (0.627, 0.546, 0.553, 0.506, 0.446), (0.009, 0.009, None, None, None),
    (0.404, 0.377, None, None, None), (48.7, 39.3, 41.7, 35.8, 28.7),
)  # fmt: skip
_LEGAL = _columns(
    (0.568, 0.530, 0.617, 0.572, 0.534), (0.469, 0.443, 0.520, 0.466, 0.439), (0.145, 0.094, None, None, None),
    (0.537, 0.510, None, None, None), (32.2, 29.3, 36.1, 28.5, 26.0),
)  # fmt: skip
_MEDICAL = _columns(
    (0.770, 0.691, 0.792, 0.826, 0.801), (0.599, 0.541, 0.620, 0.595, 0.575), (0.207, 0.250, None, None, None),
    (0.583, 0.588, None, None, None), (61.1, 53.5, 64.7, 62.7, 59.8),
)  # fmt: skip

ROUTER_BENCH = Experiment(
    name="router-bench",
    title="Five paradigms on the corpora of RAGRouter-Bench",
    model="DeepSeek-V3, judged by GPT-4o",
    chunking="router-bench",
    ways=(
        Way("llm-only", "LLM-only", needs_model=True),
        Way("naive", "NaiveRAG", {"k": 100, "minimum": 0.4, "tokens": 8000}),
        Way("graph-ppr", "GraphRAG"),
        Way("hybrid", "HybridRAG"),
        Way("iterative", "Iterative (Naive)", {"base": "naive"}),
        Way("iterative", "Iterative (Graph)", {"base": "graph-ppr"}),
    ),
    data=(
        Data("MuSiQue", "hipporag", ("musique*question*.json*", "musique.json*", "questions.json*"),
             ("musique_corpus.json*", "corpus.json*"), _MUSIQUE),
        Data("QuALITY", "quality", ("QuALITY*dev*", "QuALITY*"), (), _QUALITY),
        Data("Legal", "ultradomain", ("legal*.jsonl*",), (), _LEGAL),
        Data("Medical", "graphrag-bench", ("medical_questions*.json*",), ("medical_corpus*.json*", "medical.json*"),
             _MEDICAL),
    ),
    columns=(
        Column("exact %", mean("accuracy")),
        Column("tokens", tokens, digits=0),
    ),
    differs=(
        "questions: those of the data given; theirs were made by their own generator, three types a corpus",
        "embedder and BERTScore: all-MiniLM-L6-v2 here; BERTScore's values depend on its model and are not comparable",
        "graph: by rules unless the settings say by a model; theirs by the model",
        "hybrid's published faithfulness is left out: its hard figure lies above its soft one, which cannot be",
    ),
)  # fmt: skip
