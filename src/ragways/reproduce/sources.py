"""What the sources ran and what they reported: the one table of experiments that can be run again."""

from __future__ import annotations

import re

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.metrics import Cut
from ragways.reproduce.experiment import Difference, Experiment, ExperimentData, PublishedColumn, PublishedVariant
from ragways.reproduce.experiment import published as _published
from ragways.reproduce.figures import (
    construction_tokens,
    construction_usd,
    mean,
    median_tokens,
    seconds,
    tokens,
    tokens_with_construction,
    total,
    usd,
)

# T: naive, recursive, KG and community RAG on 200 questions of MultiHop-RAG, with what they cost.

ALL_REPORTS = {"reports": 0}
"""Global search over every report of the finest level, as its authors have it, not over those nearest the question."""
_SYSTEMS = ("KG-Graph", "Recursive", "Naive", "Community global", "Community local")


def _accuracy(label: str, type: str, *values: float | None) -> PublishedColumn:
    return PublishedColumn(label, mean("accuracy", of_type=type), _published(_SYSTEMS, *values))


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
                        _published(_SYSTEMS, None, None, None, 0.5768, None), 3, "context-bertscore"),
        PublishedColumn("precision unref.", mean("context-precision-unreferenced"),
                        _published(_SYSTEMS, None, None, None, 70, None), 0, "context-precision-unreferenced"),
        PublishedColumn("precision ref.", mean("context-precision"),
                        _published(_SYSTEMS, None, None, None, 70, None), 0, "context-precision"),
        PublishedColumn("context recall", mean("context-recall"),
                        _published(_SYSTEMS, None, None, None, 70, None), 0, "context-recall"),
        PublishedColumn("tokens", tokens, _published(_SYSTEMS, 1_521, 8_676, 2_208, 314_439, None), digits=0),
        PublishedColumn("seconds", seconds, _published(_SYSTEMS, 1.76, 13.64, 3.85, 94.24, None), digits=2),
        PublishedColumn("USD", usd, _published(_SYSTEMS, 0.0002, 0.0015, 0.0003, 0.0481, None), digits=4),
        PublishedColumn("to build, tokens", construction_tokens,
                        _published(_SYSTEMS, 2_798_508, 0, 0, 10_264_200, 10_264_200), digits=0),
        PublishedColumn("to build, USD", construction_usd,
                        _published(_SYSTEMS, 0.6990, 0, 0, 2.3352, 2.3352), digits=4),
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


# R: five paradigms on four corpora, judged correct, incorrect or incomplete, by type of question and by cost.

_METHODS = ("NaiveRAG", "GraphRAG", "HybridRAG", "Iterative (Naive)", "Iterative (Graph)")
_ALONE = ("LLM-only", *_METHODS)
_TYPES = ("factual", "reasoning", "summary")
Values = tuple[float | None, ...]


def _corpus_columns(judged: Values, by_type: tuple[Values, Values, Values], quality: tuple[Values, ...], count: int,
             millions: Values) -> tuple[PublishedColumn, ...]:  # fmt: skip
    """A corpus of the source: judged correct in all and by type; semantic F1, coverage, support hard and soft; and the
    millions of tokens that all its questions took. A tuple each, in the paradigms' order; the last begins
    with the model alone, which was judged correct nowhere.
    """
    read = (
        ("sem. F1", mean("bertscore-f1", scale=1), "bertscore"),
        ("coverage", mean("coverage", scale=1), "coverage"),
        ("faith. hard", mean("support-hard", scale=1), "support"),
        ("faith. soft", mean("support-soft", scale=1), "support"),
    )
    each = tuple(None if total is None else 1e6 * total / count for total in millions)
    return (
        PublishedColumn("judged %", mean("judged-correct"), _published(_ALONE, 0.0, *judged), 1, "correct"),
        *(
            PublishedColumn(f"{type} %", mean("judged-correct", of_type=type), _published(_METHODS, *row), 1, "correct")
            for type, row in zip(_TYPES, by_type, strict=True)
        ),
        *(
            PublishedColumn(label, value, _published(_METHODS, *row), 3, judge)
            for (label, value, judge), row in zip(read, quality, strict=True)
        ),
        PublishedColumn("tokens + built", tokens_with_construction, _published(_ALONE, *each), 0),
    )


_MUSIQUE = _corpus_columns(
    (26.4, 30.3, 38.6, 20.4, 29.2),
    ((11.1, 90.2, 83.7, 10.3, None), (28.3, 22.5, 32.8, 21.8, None), (29.4, 20.6, 30.2, 21.2, None)),
    ((0.503, 0.510, 0.613, 0.469, None), (0.362, 0.386, 0.472, 0.320, 0.400), (0.143, 0.114, None, None, None),
     (0.486, 0.439, None, None, None)),
    3356, (0.10, 44.22, 31.14, 75.22, 65.46, None),
)  # fmt: skip
_QUALITY = _corpus_columns(
    (48.7, 39.3, 41.7, 35.8, 28.7),
    ((83.7, 70.7, 80.0, 67.0, None), (33.8, 20.4, 20.4, 17.1, None), (17.0, 19.8, 14.8, 16.2, None)),
    ((0.858, 0.794, 0.738, 0.724, 0.657), (0.627, 0.546, 0.553, 0.506, 0.446), (0.009, 0.009, None, None, None),
     (0.404, 0.377, None, None, None)),
    1198, (0.04, 59.31, 59.81, 118.85, 25.24, None),
)  # fmt: skip
_LEGAL = _corpus_columns(
    (32.2, 29.3, 36.1, 28.5, 26.0),
    ((54.9, 61.6, 72.2, 49.5, None), (11.2, 6.7, 11.8, 12.4, None), (39.1, 29.1, 34.6, 30.4, None)),
    ((0.568, 0.530, 0.617, 0.572, 0.534), (0.469, 0.443, 0.520, 0.466, 0.439), (0.145, 0.094, None, None, None),
     (0.537, 0.510, None, None, None)),
    1277, (0.06, 59.19, 234.55, 293.10, 25.45, None),
)  # fmt: skip
_MEDICAL = _corpus_columns(
    (61.1, 53.5, 64.7, 62.7, 59.8),
    ((63.1, 55.0, 67.8, 62.1, None), (63.5, 56.0, 64.0, 67.8, None), (49.1, 43.6, 54.0, 56.1, None)),
    ((0.770, 0.691, 0.792, 0.826, 0.801), (0.599, 0.541, 0.620, 0.595, 0.575), (0.207, 0.250, None, None, None),
     (0.583, 0.588, None, None, None)),
    1896, (0.09, 95.86, 71.63, 140.11, 13.27, None),
)  # fmt: skip


def _given(types: str) -> tuple[Difference, ...]:
    made = "7,727 in all, most of them made by the source's own generator, three types a corpus"
    return (Difference("questions' origin", f"those of the data set itself, {types}", made),)


def _own(name: str, folder: str, columns: tuple[PublishedColumn, ...]) -> ExperimentData:
    """The benchmark as it is published: a folder a corpus."""
    return ExperimentData(name, "ragrouter-bench", ("Question.json*",), columns=columns, folder=(folder,))


_HOPS = dict.fromkeys(("2hop", "3hop", "4hop"), "reasoning")
_KINDS = {"Fact Retrieval": "factual", "Complex Reasoning": "reasoning", "Contextual Summarize": "summary"}

ROUTER_BENCH = Experiment(
    name="router-bench",
    title="Five paradigms on the corpora of RAGRouter-Bench",
    model="DeepSeek-V3",
    embedder="text-embedding-3-small",
    judge="GPT-4o",
    questions="1,198 to 3,356 a corpus",
    chunking="router-bench",
    graph={"method": "model", "gleaning": 0, "vectors": "all"},
    # One prompt for all. The model alone (.7) and the evaluator of iterative (.1) have temperatures of their own.
    answer={"prompts": "shared", "temperature": 0.3},
    types=_TYPES,
    variants=(
        PublishedVariant("llm-only", "LLM-only", needs_model=True),
        PublishedVariant("naive", "NaiveRAG", {"k": 100, "minimum": 0.4, "tokens": 8000}),
        PublishedVariant("graph-ppr", "GraphRAG", {"weighted": False}),
        PublishedVariant("hybrid", "HybridRAG", {"weighted": False}),
        PublishedVariant("iterative", "Iterative (Naive)", {"base": "naive"}),
        PublishedVariant("iterative", "Iterative (Graph)", {"base": "graph-ppr", "weighted": False}),
    ),
    data=(
        _own("MuSiQue", "*musique*", _MUSIQUE),
        _own("QuALITY", "quality*", _QUALITY),
        _own("Legal", "*legal*", _LEGAL),
        _own("Medical", "*medical*", _MEDICAL),
        ExperimentData(
            "MuSiQue", "hipporag", ("musique*question*.json*", "musique.json*", "questions.json*"),
            ("musique_corpus.json*", "corpus.json*"), _MUSIQUE, types=_HOPS,
            # Other sets have the same layout and the same names of files; the ids of this one say their hops.
            marks=lambda questions: all(re.match(r"[2-4]hop\d?__", one.id) for one in questions),
            differs=_given("all of them reasoning"),
        ),
        ExperimentData("QuALITY", "quality", ("QuALITY*dev*", "QuALITY*"), (), _QUALITY,
                       types={"easy": "factual", "hard": "factual"}, differs=_given("taken for factual")),
        ExperimentData("Legal", "ultradomain", ("legal*.jsonl*",), (), _LEGAL, differs=_given("without types")),
        ExperimentData("Medical", "graphrag-bench", ("medical_questions*.json*",),
                       ("medical_corpus*.json*", "medical.json*"), _MEDICAL, types=_KINDS,
                       differs=_given("creative ones among them")),
    ),
    columns=(
        PublishedColumn("tokens", tokens, digits=0),
        PublishedColumn("to build", construction_tokens, digits=0),
        PublishedColumn("exact %", mean("accuracy")),
    ),
    notes=("hybrid's published faithfulness is left out: its hard figure lies above its soft one, which cannot be",),
    differs=(
        Difference("prompts", "our own words, the preset shared", "the source's, one for all"),
        Difference("tokens + built", "what was sent, with a share of what building cost",
                   "what was retrieved before it was cut to 8,000 tokens, with a share of what building cost"),
        Difference("BERTScore", "by the embedder that is set; its values depend on the model", "by a large BERT model"),
    ),
)  # fmt: skip


# W: seven traversals of the window graph, on 50 and on 20 questions over Wikipedia articles.

_TRAVERSALS = (
    "basic_retrieval", "query_traversal", "kg_traversal", "triangulation_average", "triangulation_geometric_3d",
    "triangulation_fulldim", "llm_guided_traversal",
)  # fmt: skip
_ARTICLES = ("wiki-articles*.json*", "wiki.json*", "*articles*.json*")


def _judged(*rows: tuple[float, ...]) -> tuple[PublishedColumn, ...]:
    """Precision, recall, relevancy and faithfulness, a tuple each, in the traversals' order."""
    metrics = ("context-precision", "context-recall", "answer-relevancy", "faithfulness")
    labels = ("precision", "recall", "relevancy", "faithful")
    return tuple(
        PublishedColumn(label, mean(metric, scale=1), _published(_TRAVERSALS, *row), digits=2, judge=metric)
        for label, metric, row in zip(labels, metrics, rows, strict=True)
    )


_FIFTY = _judged(
    (0.93, 0.91, 0.93, 0.92, 0.93, 0.93, 0.91), (0.88, 0.91, 0.87, 0.87, 0.85, 0.87, 0.94),
    (0.99, 0.98, 0.99, 0.98, 0.98, 1.00, 0.99), (0.99, 1.00, 0.99, 0.99, 1.00, 0.97, 0.99),
)  # fmt: skip
_TWENTY = _judged(
    (0.87, 0.83, 0.73, 0.84, 0.86, 0.90, 0.88), (0.74, 0.83, 0.72, 0.77, 0.77, 0.78, 0.82),
    (0.91, 0.91, 0.98, 0.96, 0.96, 0.95, 0.95), (0.93, 1.00, 0.92, 1.00, 1.00, 0.99, 1.00),
)  # fmt: skip

WINDOWS = Experiment(
    name="windows",
    title="Seven traversals of a sentence-window graph",
    model="gpt-5-nano (50qa) and GPT-4o mini (20qa)",
    embedder="mxbai-embed-large-v1",
    judge="deepeval",
    questions="50 or 20, each once",
    variants=(
        PublishedVariant("basic-retrieval", "basic_retrieval"),
        PublishedVariant("query-traversal", "query_traversal"),
        PublishedVariant("kg-traversal", "kg_traversal"),
        PublishedVariant("triangulation-average", "triangulation_average"),
        PublishedVariant("triangulation-3d", "triangulation_geometric_3d"),
        PublishedVariant("triangulation-full", "triangulation_fulldim"),
        PublishedVariant("llm-guided", "llm_guided_traversal"),
    ),
    data=(
        ExperimentData("50qa", "windows", ("50q*.csv*",), _ARTICLES, _FIFTY, corpus_anywhere=True),
        ExperimentData("20qa", "windows", ("20q*.csv*",), _ARTICLES, _TWENTY, corpus_anywhere=True),
    ),
    columns=(
        PublishedColumn("gold @ 15", mean("recall@15", scale=1), digits=2, metric=Cut("recall", 15).metric),
        PublishedColumn("all @ 15", mean("all-evidence@15", scale=1), digits=2, metric=Cut("all-evidence", 15).metric),
    ),
    notes=("gold @ 15 is the share of the gold sentences among the first 15, without a judge: they report none",),
    differs=(
        Difference("corpus", "all articles of the file", "10 articles on machine learning and artificial intelligence"),
        Difference("themes", "by the model that is set, or by rules", "Llama 3.1 8B"),
        Difference("prompts", "our own words, the preset native", "the source's"),
        Difference("precision, recall, relevancy, faithfulness", "our definitions", "deepeval's"),
    ),
)


# A: an agent with vector tools, one with vector and graph tools, and no tools, on 510 questions of MoNaCo.

_AGENTS = ("vector", "vector+graph", "zero-shot")
_MONACO = (
    PublishedColumn(
        "fact. precision", mean("factual-precision", scale=1),
        _published(_AGENTS, (0.15, 0.14, 0.18), (0.36, 0.34, 0.38), (0.43, 0.42, 0.45)), 2, "factual",
    ),
    PublishedColumn(
        "fact. recall", mean("factual-recall", scale=1),
        _published(_AGENTS, (0.13, 0.11, 0.15), (0.33, 0.32, 0.35), (0.39, 0.38, 0.41)), 2, "factual",
    ),
    PublishedColumn(
        "relevancy", mean("answer-relevancy", scale=1),
        _published(_AGENTS, (0.35, 0.31, 0.36), (0.61, 0.61, 0.62), (0.80, 0.80, 0.81)), 2, "answer-relevancy",
    ),
    PublishedColumn(
        "coarse truth", total("crag-coarse"),
        _published(_AGENTS, (-31, -31, -18), (-49, -61, -44), (-127, -137, -113)), 1, "crag",
    ),
    PublishedColumn(
        "fine truth", total("crag-fine"), _published(_AGENTS, (35, 25, 43), (63, 56, 73), (40.5, 39, 45)), 1, "crag",
    ),
    PublishedColumn(
        "tokens p50", median_tokens,
        _published(_AGENTS, (41_694, 40_573, 43_636), (45_695, 44_692, 46_871), (1_108, 1_106, 1_120)), 0,
    ),
)  # fmt: skip

AGENTIC = Experiment(
    name="agentic",
    title="An agent with hand-written vector and graph tools",
    model="GPT-5.4, medium reasoning effort",
    embedder="Harrier-0.6B",
    judge="ragas and rubrics of theirs with Llama 4 Maverick",
    questions="510 of MoNaCo",
    chunking="agentic",
    repeats=3,
    variants=(
        PublishedVariant("agent-vector", "vector"),
        PublishedVariant("agent-graph", "vector+graph"),
        PublishedVariant("llm-only", "zero-shot", needs_model=True),
    ),
    data=(
        ExperimentData("MoNaCo", "monaco", ("monaco*.json*",), ("*wiki*.xml*", "corpus*.json*")),
        ExperimentData(
            "2WikiMultihopQA", "2wiki-results", ("questions*.json*", "results-*/*.json*"), ("corpus.json*",),
            differs=(Difference("data set", "2WikiMultihopQA", "MoNaCo: its figures only show the order"),),
        ),
    ),
    columns=(
        *_MONACO,
        PublishedColumn("exact %", mean("accuracy")),
        PublishedColumn("all found@8", mean("all-evidence@8", scale=1), digits=2),
    ),
    notes=("truthfulness is a sum over questions: compare it only over as many questions as theirs (510)",),
    differs=(
        Difference("corpus", "the articles given", "a dump of the whole English Wikipedia"),
        Difference("prompts", "our own words, which say how to use the tools", "the source's"),
    ),
)  # fmt: skip


# U: four methods against each other, in pairs, without effects of length, position and chance.

UNBIASED = Experiment(
    name="unbiased",
    title="Naive, light, fast and community RAG in unbiased pairs",
    model="GPT-4o mini",
    embedder="those of the four methods' own code",
    judge="GPT-4o mini",
    questions="150, 50 of each of node, edge and subgraph, generated over UltraDomain",
    graph={"method": "model", "gleaning": 1, "vectors": "all", "relation_vectors": True},
    variants=(
        PublishedVariant("community-global", "MGRAG", ALL_REPORTS),
        PublishedVariant("light", "LightRAG", {"mode": "hybrid"}),
        PublishedVariant("naive", "NaiveRAG"),
        PublishedVariant("fast-graph", "FGRAG"),
    ),
    data=(
        ExperimentData("UltraDomain Mix", "ultradomain", ("mix*.jsonl*",)),
        ExperimentData("UltraDomain Agriculture", "ultradomain", ("agriculture*.jsonl*",)),
        ExperimentData("UltraDomain Music", "ultradomain", ("music*.jsonl*",)),
        ExperimentData(
            "GraphRAG-Bench Medical", "plain", (), ("medical_corpus*.json*", "medical.json*"),
            differs=(Difference("corpus", "one medical textbook", "UltraDomain's Mix, Agriculture and Music"),),
        ),
        ExperimentData(
            "a corpus", "plain", (), ("corpus", "corpus*.json*"), given_alone=True,
            differs=(Difference("corpus", "the one given", "UltraDomain's Mix, Agriculture and Music"),),
        ),
    ),
    generated={"node": 50, "edge": 50, "subgraph": 50},
    duel_rates={("FGRAG", "LightRAG"): 0.21, ("MGRAG", "LightRAG"): 0.11},
    columns=(
        PublishedColumn(
            "tokens", tokens, _published(("MGRAG", "LightRAG", "NaiveRAG", "FGRAG"), 326_200, 19_650, 4_213, 3_310), 0
        ),
        PublishedColumn(
            "seconds", seconds, _published(("MGRAG", "LightRAG", "NaiveRAG", "FGRAG"), 25.84, 18.27, 11.55, 8.77), 2
        ),
    ),
    notes=(
        "published relative win rates: FGRAG 21 % and MGRAG 11 % over LightRAG, others below 8 %, means of 3 corpora",
        "by level they tell the order alone: MGRAG best on node questions, FGRAG on subgraph ones, naive worst there",
        "the old procedure, on one method against itself, gave whichever stood first 90 % of the wins",
    ),
    differs=(
        Difference("methods", "four paradigms over one graph", "the published code of each, with a graph of its own"),
        Difference("prompts", "our own words, the preset native", "those of each method's code"),
        Difference("MGRAG", "global search over all reports of the finest level",
                   "community search; that it was the global one is read off its tokens"),
        Difference("the old procedure", "our own words; the first of a pair is the one named first in the table",
                   "LightRAG's prompt"),
    ),
)  # fmt: skip


# All of them

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (THESIS, ROUTER_BENCH, WINDOWS, AGENTIC, UNBIASED)
}


def find_experiment(name: str) -> Experiment:
    """The experiment of this name; UsageError with the nearest name where there is none."""
    if name not in EXPERIMENTS:
        raise UsageError(f"there is no experiment {name!r}", did_you_mean(name, EXPERIMENTS))
    return EXPERIMENTS[name]
