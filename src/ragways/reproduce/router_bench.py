"""R: five paradigms on four corpora, judged correct, incorrect or incomplete, by type of question and by cost."""

from __future__ import annotations

import re

from ragways.reproduce.experiment import Difference, Experiment, ExperimentData, PublishedColumn, PublishedVariant
from ragways.reproduce.experiment import published as _published
from ragways.reproduce.figures import construction_tokens, mean, tokens, tokens_with_construction

_NAMES = ("NaiveRAG", "GraphRAG", "HybridRAG", "Iterative (Naive)", "Iterative (Graph)")
_ALONE = ("LLM-only", *_NAMES)
_TYPES = ("factual", "reasoning", "summary")
Values = tuple[float | None, ...]


def _columns(judged: Values, by_type: tuple[Values, Values, Values], quality: tuple[Values, ...], asked: int,
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
    each = tuple(None if total is None else 1e6 * total / asked for total in millions)
    return (
        PublishedColumn("judged %", mean("judged-correct"), _published(_ALONE, 0.0, *judged), 1, "correct"),
        *(
            PublishedColumn(f"{type} %", mean("judged-correct", of_type=type), _published(_NAMES, *row), 1, "correct")
            for type, row in zip(_TYPES, by_type, strict=True)
        ),
        *(
            PublishedColumn(label, value, _published(_NAMES, *row), 3, judge)
            for (label, value, judge), row in zip(read, quality, strict=True)
        ),
        PublishedColumn("tokens + built", tokens_with_construction, _published(_ALONE, *each), 0),
    )


_MUSIQUE = _columns(
    (26.4, 30.3, 38.6, 20.4, 29.2),
    ((11.1, 90.2, 83.7, 10.3, None), (28.3, 22.5, 32.8, 21.8, None), (29.4, 20.6, 30.2, 21.2, None)),
    ((0.503, 0.510, 0.613, 0.469, None), (0.362, 0.386, 0.472, 0.320, 0.400), (0.143, 0.114, None, None, None),
     (0.486, 0.439, None, None, None)),
    3356, (0.10, 44.22, 31.14, 75.22, 65.46, None),
)  # fmt: skip
_QUALITY = _columns(
    (48.7, 39.3, 41.7, 35.8, 28.7),
    ((83.7, 70.7, 80.0, 67.0, None), (33.8, 20.4, 20.4, 17.1, None), (17.0, 19.8, 14.8, 16.2, None)),
    ((0.858, 0.794, 0.738, 0.724, 0.657), (0.627, 0.546, 0.553, 0.506, 0.446), (0.009, 0.009, None, None, None),
     (0.404, 0.377, None, None, None)),
    1198, (0.04, 59.31, 59.81, 118.85, 25.24, None),
)  # fmt: skip
_LEGAL = _columns(
    (32.2, 29.3, 36.1, 28.5, 26.0),
    ((54.9, 61.6, 72.2, 49.5, None), (11.2, 6.7, 11.8, 12.4, None), (39.1, 29.1, 34.6, 30.4, None)),
    ((0.568, 0.530, 0.617, 0.572, 0.534), (0.469, 0.443, 0.520, 0.466, 0.439), (0.145, 0.094, None, None, None),
     (0.537, 0.510, None, None, None)),
    1277, (0.06, 59.19, 234.55, 293.10, 25.45, None),
)  # fmt: skip
_MEDICAL = _columns(
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
