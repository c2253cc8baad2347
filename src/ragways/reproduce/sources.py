"""What the sources ran: the one table of experiments that can be run again. Their figures are in `published.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.metrics import Cut
from ragways.reproduce.experiment import Difference, Experiment, ExperimentData, PublishedColumn, PublishedVariant
from ragways.reproduce.figures import (
    construction,
    context_tokens,
    cpu_percent,
    generation_tokens,
    mean,
    median_tokens,
    memory_percent,
    passed,
    pieces,
    retrieval_with_construction,
    seconds,
    share,
    tokens,
    tokens_with_construction,
    total,
    used,
)


def _differ(*rows: tuple[str, str, str]) -> tuple[Difference, ...]:
    return tuple(Difference(*row) for row in rows)


def _judged(label: str, metric: str, judge: str, *, scale: float = 1, digits: int = 2) -> PublishedColumn:
    return PublishedColumn(label, mean(metric, scale=scale), digits, judge)


# What a graph made by a model as a source made it has in common, and in what it differs.
_GRAPH = {"method": "model", "structure": False, "passage_tokens": 1, "vectors": "all"}
_GRAPH_DIFFERS = _differ(
    ("entities", "merged by other names, acronyms and redirects, too", "merged where their names are equal"),
    ("entity vectors", "dates and quantities have none", "every entity has one"),
)
_PAGERANK = ("PageRank", "exact up to 2,000 entities; beyond, by pushes from the seeds", "exact")
# Every community gets a report by the model, as in the code that the sources ran.
_REPORTS = {"text": 0, "members": 2, "size": 10}
_COMMUNITIES_DIFFER = _differ(
    ("communities", "every one of 2 members or more", "those of the largest connected part of the graph"),
)  # fmt: skip
_REPORTS_DIFFER = _differ(
    ("reports", "shown no more tokens than the text behind a community has, 200 at least",
     "shown all its entities and relations that fit"),
)  # fmt: skip

# T: naive, recursive, KG and community RAG on 200 questions of MultiHop-RAG, with what they cost.

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
    graph={**_GRAPH, "gleaning": 1},
    communities={**_REPORTS, "tokens": 32_768},
    # Its accuracy presupposes an entity, yes or no, or "Insufficient information".
    answer={"prompts": "short", "temperature": 0.0},
    variants=(
        # Four chunks are what its retriever gives unless told otherwise; with bare triplets it is cheaper than naive.
        PublishedVariant("kg", "KG-Graph", {"k": 4, "described": 0}),
        PublishedVariant("recursive", "Recursive", {"rounds": 5, "k": 7, "tokens": 12_000}),
        PublishedVariant("naive", "Naive", {"k": 10}),
        PublishedVariant("community-global", "Community global", {"reports": 0, "batch": 16_384}),
        PublishedVariant("community-local", "Community local", {"entities": 20, "tokens": 12_000}),
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
        PublishedColumn("all %", mean("accuracy")),
        PublishedColumn("strict %", mean("accuracy-strict")),
        *(
            PublishedColumn(label, mean("accuracy", of_type=type))
            for label, type in (
                ("infer.", "inference"), ("comp.", "comparison"), ("temp.", "temporal"), ("null", "null"),
            )
        ),
        *(
            _judged(f"BERTScore {part}", f"context-bertscore-{part.lower()}", "context-bertscore", digits=3)
            for part in ("P", "R", "F1")
        ),
        _judged("precision unref.", "context-precision-unreferenced", "context-precision-unreferenced", scale=100,
                digits=0),
        _judged("precision ref.", "context-precision", "context-precision", scale=100, digits=0),
        _judged("context recall", "context-recall", "context-recall", scale=100, digits=0),
        PublishedColumn("chunks", pieces),
        PublishedColumn("tokens", tokens, 0),
        PublishedColumn("tokens in", used("input"), 0),
        PublishedColumn("tokens out", used("output"), 0),
        PublishedColumn("seconds", seconds, 2),
        PublishedColumn("USD", used("usd"), 4),
        PublishedColumn("CPU %", cpu_percent),
        PublishedColumn("memory %", memory_percent),
        PublishedColumn("to build, in", construction("input"), 0),
        PublishedColumn("to build, out", construction("output"), 0),
        PublishedColumn("to build, tokens", construction("tokens"), 0),
        PublishedColumn("to build, USD", construction("usd"), 4),
    ),
    notes=(
        "context BERTScore of KG-Graph, Recursive and Naive: F1 of .62 to .63, in a figure that hardly tells whose",
        "context precision and recall of KG-Graph, Recursive and Naive: 49 to 54 %; of community search around 70 %",
        "comp. of Naive and of Community global is not printed there: it follows from all and the other types",
        "seconds of community search: most of them waiting for a rate limit",
        "CPU %: single samples up to 80 for community search and 20 for Naive",
        "graphs: KG-Graph's 10,793 nodes and 28,346 relations, community search's 29,632 and 19,180",
    ),
    differs=_differ(
        ("scoring", "an accepted answer must stand in the answer, word for word", "their own normaliser"),
        ("one graph", "shared by KG-Graph and community search, with vectors of all entities", "one of each its own"),
        ("KG-Graph", "4 chunks and at most 50 triplets", "how many is not stated; 4 is the default of its retriever"),
        ("context BERTScore", "of all evidence, KG-Graph's triplets among it, by the embedder that is set",
         "of KG-Graph's chunks alone, by a BERT model; its values depend on the model"),
        ("chunks", "pieces of evidence, KG-Graph's triplets among them", "chunks"),
        ("global search", "all reports of the finest level", "a changed nano-graphrag, which ranks and cuts"),
        ("local search", "half of 12,000 tokens for chunks, the rest for relations and reports",
         "nano-graphrag's shares"),
        ("CPU %, memory %", "of this process and its children, in % of the machine", "of a whole machine of 64 GB"),
    ) + _GRAPH_DIFFERS + _COMMUNITIES_DIFFER,
    model_differs=_differ(
        ("prompts", "our own words, the preset short: one for all", "the source's, one of each system"),
        ("KG-Graph's extraction", "as that of community search, with gleaning", "without, by another extractor"),
    ) + _REPORTS_DIFFER,
)  # fmt: skip


# R: five paradigms on four corpora, judged correct, incorrect or incomplete, by type of question and by cost.

_TYPES = ("factual", "reasoning", "summary")
_HOPS = dict.fromkeys(("2hop", "3hop", "4hop"), "reasoning")
_KINDS = {
    "Fact Retrieval": "factual", "Complex Reasoning": "reasoning", "Contextual Summarize": "summary",
    "Creative Generation": "",
}  # fmt: skip
_CHECKED = {
    "MuSiQue": "939 of 2,027 (398 of 700 of one hop, 84 of 400 of two, 89 of 400 of three, 368 of 527 summaries)",
    "QuALITY": "1,198 of 2,450 (454 of 500 of one hop, 212 of 561 of two, 249 of 600 of three, 283 of 789 summaries)",
    "Legal": "1,277 of 2,967 (370 of 400 of one hop, 238 of 784 of two, 288 of 800 of three, 381 of 983 summaries)",
}


def _router_data() -> Iterator[ExperimentData]:
    """Each corpus as the benchmark is published, a folder a corpus, and then as the set that it was made from."""

    def given(types: str) -> tuple[Difference, ...]:
        made = "7,727 in all, most of them made by the source's own generator, three types a corpus"
        return _differ(("questions' origin", f"those of the data set itself, {types}", made))

    def notes(name: str) -> tuple[str, ...]:
        return (f"questions that passed its checks: {_CHECKED[name]}",) if name in _CHECKED else ()

    for name, folder in (("MuSiQue", "*musique*"), ("QuALITY", "quality*"), ("Legal", "*legal*"),
                         ("Medical", "*medical*")):  # fmt: skip
        yield ExperimentData(name, "ragrouter-bench", ("Question.json*",), folder=(folder,), notes=notes(name))
    yield ExperimentData(
        "MuSiQue", "hipporag", ("musique*question*.json*", "musique.json*", "questions.json*"),
        ("musique_corpus.json*", "corpus.json*"), types=_HOPS, notes=notes("MuSiQue"),
        # Other sets have the same layout and the same names of files; the ids of this one say their hops.
        marks=lambda questions: all(re.match(r"[2-4]hop\d?__", one.id) for one in questions),
        differs=given("all of them reasoning"),
    )  # fmt: skip
    yield ExperimentData("QuALITY", "quality", ("QuALITY*dev*", "QuALITY*"), notes=notes("QuALITY"),
                         types={"easy": "factual", "hard": "factual"}, differs=given("taken for factual"))  # fmt: skip
    yield ExperimentData("Legal", "ultradomain", ("legal*.jsonl*",), notes=notes("Legal"),
                         differs=given("without types"))  # fmt: skip
    # Its 1,896 questions are those of GraphRAG-Bench without the creative ones.
    yield ExperimentData("Medical", "graphrag-bench", ("medical_questions*.json*",),
                         ("medical_corpus*.json*", "medical.json*"), types=_KINDS)  # fmt: skip


ROUTER_BENCH = Experiment(
    name="router-bench",
    title="Five paradigms on the corpora of RAGRouter-Bench",
    model="DeepSeek-V3",
    embedder="text-embedding-3-small",
    judge="GPT-4o",
    questions="1,198 to 3,356 a corpus",
    chunking="router-bench",
    graph={**_GRAPH, "gleaning": 0},
    # One prompt for all. The model alone (.7) and the evaluator of iterative (.1) have temperatures of their own.
    answer={"prompts": "shared", "temperature": 0.3, "tokens": 1000},
    types=_TYPES,
    variants=(
        PublishedVariant("llm-only", "LLM-only", needs_model=True),
        PublishedVariant("naive", "NaiveRAG", {"k": 100, "minimum": 0.4}),
        PublishedVariant("graph-ppr", "GraphRAG", {"weighted": False}),
        PublishedVariant("hybrid", "HybridRAG", {"weighted": False}),
        PublishedVariant("iterative", "Iterative (Naive)", {"base": "naive", "k": 100, "memory": True}),
        PublishedVariant(
            "iterative", "Iterative (Graph)", {"base": "graph-ppr", "k": 100, "weighted": False, "memory": True}
        ),
    ),
    data=tuple(_router_data()),
    columns=(
        _judged("judged %", "judged-correct", "correct", scale=100, digits=1),
        *(
            PublishedColumn(f"{type} {label}", mean(f"judged-{verdict}", of_type=type), 1, "correct")
            for label, verdict in (("%", "correct"), ("wrong", "incorrect"), ("none", "incomplete"))
            for type in _TYPES
        ),
        _judged("sem. F1", "bertscore-f1", "bertscore", digits=3),
        _judged("coverage", "coverage", "coverage", digits=3),
        _judged("faith. hard", "support-hard", "support", digits=3),
        _judged("faith. soft", "support-soft", "support", digits=3),
        PublishedColumn("tokens + built", tokens_with_construction, 0),
        PublishedColumn("retrieval + built", retrieval_with_construction, 0),
        PublishedColumn("generation", generation_tokens, 0),
        PublishedColumn("context tokens", context_tokens, 0),
        PublishedColumn("tokens", tokens, 0),
        PublishedColumn("to build", construction("tokens"), 0),
        PublishedColumn("seconds", seconds, 2),
        PublishedColumn("exact %", mean("accuracy")),
    ),
    notes=("hybrid's published faithfulness is left out: its hard figure lies above its soft one, which cannot be",),
    differs=_differ(
        ("tokens", "what was sent", "what was retrieved before it was cut to 8,000 tokens"),
        ("titles", "a chunk is searched by the titles above it, too", "a title stands in the first chunk alone"),
        ("iterative", "the answer of the last round is not judged, and one that refuses never suffices",
         "it is judged, to no effect; the evaluator alone decides"),
        ("GraphRAG's seeds", "where no entity is near those of the question, those nearest the question",
         "where none is, there is no evidence"),
        ("BERTScore, coverage, faithfulness", "by the embedder that is set; values depend on the model",
         "by deberta-xlarge-mnli, and by all-MiniLM-L6-v2"),
        ("corpus figures", "by ragways diagnose: dispersion over all chunks, dimension and hubness over a sample",
         "of all chunks; k of hubness is not stated"),
        _PAGERANK,
    ) + _GRAPH_DIFFERS,
    model_differs=_differ(
        ("prompts", "our own words, the preset shared", "the source's, one for all"),
        ("entities of a question", "at the temperature of answers, 256 tokens at most", "not stated"),
    ),
)  # fmt: skip


# W: seven traversals of the window graph, on 50 and on 20 questions over Wikipedia articles.

_WALKS = {
    "basic-retrieval": "basic_retrieval", "query-traversal": "query_traversal", "kg-traversal": "kg_traversal",
    "triangulation-average": "triangulation_average", "triangulation-3d": "triangulation_geometric_3d",
    "triangulation-full": "triangulation_fulldim", "llm-guided": "llm_guided_traversal",
}  # fmt: skip
_FOUR = ("context-precision", "context-recall", "answer-relevancy", "faithfulness")


def _window_data(name: str, count: int, sentences: int) -> ExperimentData:
    """Questions made from so many sentences each, and asked of walks that gather as many; the model ends its own."""
    fixed = [walk for walk in _WALKS if walk != "llm-guided"]
    return ExperimentData(
        name, "windows", (f"{count}q*.csv*",), ("wiki-articles*.json*", "wiki.json*", "*articles*.json*"),
        corpus_anywhere=True,
        settings={walk: {"max_sentences": sentences} for walk in fixed},
        columns=(
            PublishedColumn(f"passed, of {count}", passed(*_FOUR), 0, "faithfulness"),
            PublishedColumn("seconds", seconds, 2),
            *(
                PublishedColumn(f"{label} @ {sentences}", mean(str(cut), scale=1), 2, metric=cut.metric)
                for label, cut in (("gold", Cut("recall", sentences)), ("all gold", Cut("all-evidence", sentences)))
            ),
        ),
        notes=(f"gold @ {sentences} is the share of the gold sentences among the first {sentences}, without a judge: "
               "they report none",),
    )  # fmt: skip


WINDOWS = Experiment(
    name="windows",
    title="Seven traversals of a sentence-window graph",
    model="gpt-5-nano (50qa) and GPT-4o mini (20qa)",
    embedder="mxbai-embed-large-v1",
    judge="deepeval",
    questions="50 or 20, each once",
    variants=tuple(PublishedVariant(walk, published) for walk, published in _WALKS.items()),
    data=(_window_data("50qa", 50, 15), _window_data("20qa", 20, 10)),
    columns=tuple(
        _judged(label, metric, metric)
        for label, metric in zip(("precision", "recall", "relevancy", "faithful"), _FOUR, strict=True)
    ),
    differs=_differ(
        ("corpus", "all articles of the file", "10 articles on machine learning and artificial intelligence"),
        ("themes", "by the model that is set, or by rules", "Llama 3.1 8B"),
        ("sentences", "cut by our own rules", "cut by the source's"),
    ),
    model_differs=_differ(
        ("prompts", "our own words, the preset native", "the source's"),
        ("llm_guided_traversal", "15 hops at most; the model may jump to other words", "no bound, no jump"),
    ),
    judge_differs=_differ(
        ("precision, recall, relevancy, faithful", "our definitions", "deepeval's"),
        ("passed", "each of the four at least .5", "deepeval's thresholds, which are not stated"),
    ),
)


# A: an agent with vector tools, one with vector and graph tools, and no tools, on 510 questions of MoNaCo.

AGENTIC = Experiment(
    name="agentic",
    title="An agent with hand-written vector and graph tools",
    model="GPT-5.4",
    embedder="Harrier-0.6B",
    judge="ragas and rubrics of theirs with Llama 4 Maverick",
    questions="510 of MoNaCo",
    chunking="agentic",
    reasoning="medium",
    repeats=3,
    crag_twice=True,
    variants=(
        PublishedVariant("agent-vector", "vector"),
        PublishedVariant("agent-graph", "vector+graph"),
        PublishedVariant("llm-only", "zero-shot", needs_model=True),
    ),
    data=(
        ExperimentData(
            "MoNaCo", "monaco", ("monaco*.json*",), ("*wiki*.xml*", "corpus*.json*"),
            notes=(
                "truthfulness is a sum over questions: compare it only over as many questions as theirs (510)",
                "fine +1 and coarse −1 of one answer: vector 4, vector+graph 14, zero-shot 26; coarse +1 and fine "
                "below: 2, 9 and 18",
            ),
        ),
        ExperimentData(
            "2WikiMultihopQA", "2wiki-results", ("questions*.json*", "results-*/*.json*"), ("corpus.json*",),
            judged=False,
            differs=_differ(("data set", "2WikiMultihopQA", "MoNaCo: its figures only show the order")),
        ),
    ),
    columns=(
        _judged("fact. precision", "factual-precision", "factual"),
        _judged("fact. recall", "factual-recall", "factual"),
        _judged("relevancy", "answer-relevancy", "answer-relevancy"),
        PublishedColumn("coarse truth", total("crag-coarse"), 1, "crag"),
        PublishedColumn("fine truth", total("crag-fine"), 1, "crag"),
        PublishedColumn("coarse correct", share("crag-coarse", (1.0,)), 2, "crag"),
        PublishedColumn("coarse wrong", share("crag-coarse", (-1.0,)), 2, "crag"),
        PublishedColumn("fine correct + part", share("crag-fine", (1.0, 0.5)), 2, "crag"),
        PublishedColumn("fine wrong", share("crag-fine", (-1.0, -0.5)), 2, "crag"),
        PublishedColumn("tokens in p50", used("input", "median"), 0),
        PublishedColumn("reasoning p50", used("reasoning", "median"), 0),
        PublishedColumn("tokens out p50", used("output", "median"), 0),
        PublishedColumn("tokens p50", median_tokens, 0),
        PublishedColumn("seconds", seconds, 2),
        PublishedColumn("exact %", mean("accuracy")),
        PublishedColumn("all found@8", mean("all-evidence@8", scale=1), 2),
    ),
    differs=_differ(
        ("corpus", "the articles given", "the articles that its questions name, of English Wikipedia in August 2025"),
    ),
    model_differs=_differ(("prompts", "our own words, which say how to use the tools", "the source's")),
    judge_differs=_differ(
        ("relevancy", "by the embedder that is set", "by text-embedding-3-large"),
        ("CRAG", "coarse and fine score of the columns come from one match of claims; the heat map has a second match",
         "a rubric and a call each"),
    ),
)  # fmt: skip


# U: four methods against each other, in pairs, without effects of length, position and chance.


def _textbooks(*names: str) -> Iterable[ExperimentData]:
    return (ExperimentData(f"UltraDomain {name}", "ultradomain", (f"{name.lower()}*.jsonl*",)) for name in names)


_OTHER = "UltraDomain's Mix, Agriculture and Music"

UNBIASED = Experiment(
    name="unbiased",
    title="Naive, light, fast and community RAG in unbiased pairs",
    model="GPT-4o mini",
    embedder="those of the four methods' own code",
    judge="GPT-4o mini",
    questions="150, 50 of each of node, edge and subgraph, generated over UltraDomain",
    graph={**_GRAPH, "gleaning": 1, "relation_vectors": True},
    communities={**_REPORTS, "tokens": 8_000},
    variants=(
        PublishedVariant("community-global", "MGRAG", {"reports": 0, "batch": 12_000}),
        PublishedVariant("light", "LightRAG", {"mode": "hybrid"}),
        PublishedVariant("naive", "NaiveRAG"),
        PublishedVariant("fast-graph", "FGRAG"),
        # The reader, which no answer by a model uses, is named to tell the two apart.
        PublishedVariant("light", "LightRAG (2)", {"mode": "hybrid", "reader": "read"}, True, "LightRAG"),
    ),
    data=(
        *_textbooks("Mix", "Agriculture", "Music"),
        ExperimentData(
            "GraphRAG-Bench Medical", "plain", (), ("medical_corpus*.json*", "medical.json*"),
            differs=_differ(("corpus", "one medical textbook", _OTHER)),
        ),
        ExperimentData(
            "a corpus", "plain", (), ("corpus", "corpus*.json*"), given_alone=True,
            differs=_differ(("corpus", "the one given", _OTHER)),
        ),
    ),
    generated={"node": 50, "edge": 50, "subgraph": 50},
    duel_rates={("FGRAG", "LightRAG"): 0.21, ("MGRAG", "LightRAG"): 0.11, ("LightRAG", "LightRAG (2)"): 0.0},
    columns=(PublishedColumn("tokens", tokens, 0), PublishedColumn("seconds", seconds, 2)),
    notes=(
        "published relative win rates: FGRAG 21 % and MGRAG 11 % over LightRAG, others below 8 %, means of 3 corpora",
        "wins of LightRAG on Agriculture: 39.06 % against NaiveRAG, 32.33 % against MGRAG; ties mostly above 20 %",
        "by aspect, ties are mostly above 50 %; of MGRAG and FGRAG, FGRAG leads in comprehensiveness, MGRAG in "
        "directness",
        "by level they tell the order alone: MGRAG best on node questions, FGRAG on subgraph ones, naive worst there",
        "the old procedure, on one method against itself, gave whichever stood first 90 % of the wins",
    ),
    differs=_differ(
        ("methods", "four paradigms over one graph and one set of chunks",
         "the published code of each, with a graph and chunks of its own"),
        ("NaiveRAG", "the 10 nearest chunks", "how many is not stated: 4,213 tokens a question"),
        ("tokens, seconds", "means of the questions here", "means of 100 questions over Mix"),
        ("MGRAG", "global search over all reports of the finest level",
         "community search; that it was the global one is read off its tokens"),
        _PAGERANK,
    ) + _GRAPH_DIFFERS + _COMMUNITIES_DIFFER,
    model_differs=_differ(("prompts", "our own words, the preset native", "those of each method's code"))
    + _REPORTS_DIFFER,
    judge_differs=_differ(
        ("the judge", "is tested on itself first; without a pass nobody wins", "is not tested"),
        ("answers in pairs", "in a normal form, without markup, citations and names of systems", "as they were given"),
        ("equal lengths", "both answers are written again, each from its evidence, by one prompt",
         "the shorter one is, by the prompt of its method"),
        ("last words of alignment", "fixed remarks that say nothing", "written by the model"),
        ("a win", "allows for what the judge may give for style and for missing replies", "more wins in the median"),
        ("the old procedure", "our own words; the first of a pair is the one named first in the table",
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
