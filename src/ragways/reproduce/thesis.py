"""T: naive, recursive, KG and community RAG on 200 questions of MultiHop-RAG, with what they cost."""

from __future__ import annotations

from ragways.reproduce.experiment import Difference, Experiment, ExperimentData, PublishedColumn, PublishedVariant
from ragways.reproduce.experiment import published as _published
from ragways.reproduce.figures import construction_tokens, construction_usd, mean, seconds, tokens, usd

ALL_REPORTS = {"reports": 0}
"""Global search over every report of the finest level, as its authors have it, not over those nearest the question."""
_NAMES = ("KG-Graph", "Recursive", "Naive", "Community global", "Community local")


def _accuracy(label: str, type: str, *values: float | None) -> PublishedColumn:
    return PublishedColumn(label, mean("accuracy", of_type=type), _published(_NAMES, *values))


THESIS = Experiment(
    name="thesis",
    title="Naive, recursive, KG and community RAG on MultiHop-RAG",
    model="GPT-4o mini",
    embedder="BGE-M3",
    judge="ragas with GPT-4o mini",
    questions="200, 50 of each type, drawn by another generator, over the 157 articles that hold their evidence",
    chunking="thesis",
    per_type=50,
    evidence_only=True,
    graph={"method": "model", "gleaning": 1, "vectors": "all"},
    # Its accuracy presupposes an entity, yes or no, or "Insufficient information".
    answer={"prompts": "short", "temperature": 0.0},
    variants=(
        PublishedVariant("kg", "KG-Graph"),
        PublishedVariant("recursive", "Recursive", {"rounds": 5, "k": 7}),
        PublishedVariant("naive", "Naive", {"k": 10}),
        PublishedVariant("community-global", "Community global", ALL_REPORTS),
        PublishedVariant("community-local", "Community local"),
    ),
    data=(
        ExperimentData(
            "MultiHop-RAG",
            "multihop-rag",
            ("MultiHopRAG*.json*", "multihop-rag*.json*", "dataset.json*"),
            ("corpus.json*", "corpus-full*.json*", "corpus*.json*"),
            marks=lambda questions: {"inference", "comparison", "temporal"} & {one.type for one in questions} != set(),
        ),
    ),
    columns=(
        _accuracy("all %", "", 77.0, 76.5, 76.0, 61.5, 54.0),
        _accuracy("infer.", "inference", 96, 98, 100, 88, None),
        _accuracy("comp.", "comparison", 68, 70, None, None, None),
        _accuracy("temp.", "temporal", 52, 62, 62, 64, 20),
        _accuracy("null", "null", 92, 76, 78, 28, 94),
        PublishedColumn("BERTScore P", mean("context-bertscore-p", scale=1), {}, 3, "context-bertscore"),
        PublishedColumn("BERTScore R", mean("context-bertscore-r", scale=1), {}, 3, "context-bertscore"),
        PublishedColumn("BERTScore F1", mean("context-bertscore-f1", scale=1),
                        _published(_NAMES, None, None, None, 0.5768, None), 3, "context-bertscore"),
        PublishedColumn("precision unref.", mean("context-precision-unreferenced"),
                        _published(_NAMES, None, None, None, 70, None), 0, "context-precision-unreferenced"),
        PublishedColumn("precision ref.", mean("context-precision"),
                        _published(_NAMES, None, None, None, 70, None), 0, "context-precision"),
        PublishedColumn("context recall", mean("context-recall"),
                        _published(_NAMES, None, None, None, 70, None), 0, "context-recall"),
        PublishedColumn("tokens", tokens, _published(_NAMES, 1_521, 8_676, 2_208, 314_439, None), digits=0),
        PublishedColumn("seconds", seconds, _published(_NAMES, 1.76, 13.64, 3.85, 94.24, None), digits=2),
        PublishedColumn("USD", usd, _published(_NAMES, 0.0002, 0.0015, 0.0003, 0.0481, None), digits=4),
        PublishedColumn("to build, tokens", construction_tokens,
                        _published(_NAMES, 2_798_508, 0, 0, 10_264_200, 10_264_200), digits=0),
        PublishedColumn("to build, USD", construction_usd,
                        _published(_NAMES, 0.6990, 0, 0, 2.3352, 2.3352), digits=4),
    ),
    notes=(
        "context BERTScore of KG-Graph, Recursive and Naive: F1 of .62 to .63, in a figure that hardly tells whose",
        "context precision and recall of KG-Graph, Recursive and Naive: 49 to 54 %; of community search around 70 %",
        "seconds of community search: most of them waiting for a rate limit",
    ),
    differs=(
        Difference("prompts", "our own words, the preset short: one for all", "the source's, one of each system"),
        Difference("scoring", "an accepted answer must stand in the answer, word for word", "their own normaliser"),
        Difference("one graph", "shared by KG-Graph and community search, with gleaning and vectors of all entities",
                   "one of each its own: KG-Graph's without gleaning, by another extractor"),
        Difference("context BERTScore", "of all evidence, triplets among it, by the embedder that is set",
                   "of KG-Graph's chunks alone, by a BERT model; its values depend on the model"),
        Difference("global search", "all reports of the finest level", "a changed nano-graphrag, which ranks and cuts"),
    ),
)  # fmt: skip
