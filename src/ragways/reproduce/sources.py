"""What the sources ran and what they reported: the one table of experiments that can be run again.

The thesis and the router benchmark, which report most, have files of their own.
"""

from __future__ import annotations

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.metrics import Cut
from ragways.reproduce.experiment import Difference, Experiment, ExperimentData, PublishedColumn, PublishedVariant
from ragways.reproduce.experiment import published as _published
from ragways.reproduce.figures import mean, median_tokens, seconds, tokens, total
from ragways.reproduce.router_bench import ROUTER_BENCH
from ragways.reproduce.thesis import ALL_REPORTS, THESIS

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


# U: four methods against each other, in pairs, with length, position and chance held off.

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
