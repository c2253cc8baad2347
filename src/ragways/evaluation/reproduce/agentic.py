"""A: an agent with vector tools, one with vector and graph tools, and no tools, on 510 questions of MoNaCo."""

from __future__ import annotations

from ragways.evaluation.reproduce.experiment import Column, Data, Experiment, Way, mean, published, tokens, total

_WAYS = ("vector", "vector+graph", "zero-shot")


AGENTIC = Experiment(
    name="agentic",
    title="An agent with hand-written vector and graph tools on MoNaCo",
    model="a reasoning model, judged by ragas and rubrics of theirs",
    chunking="agentic",
    ways=(
        Way("agent-vector", "vector"),
        Way("agent-graph", "vector+graph"),
        Way("llm-only", "zero-shot", needs_model=True),
    ),
    data=(
        Data("MoNaCo", "monaco", ("monaco*.json*",), ("*wiki*.xml*", "corpus*.json*")),
        Data("2WikiMultihopQA", "2wiki-results", ("questions*.json*", "results-*/*.json*"), ("corpus.json*",)),
    ),
    columns=(
        Column("fact. precision", mean("factual-precision", scale=1), published(_WAYS, 0.15, 0.36, 0.43), 2, "factual"),
        Column("fine truth", total("crag-fine"), published(_WAYS, 35, 63, 40.5), 1, "crag"),
        Column("coarse truth", total("crag-coarse"), published(_WAYS, -31, -49, -127), 1, "crag"),
        Column("tokens", tokens, published(_WAYS, 41_694, 45_695, 1_108), digits=0),
        Column("exact %", mean("accuracy")),
        Column("all found@8", mean("all-evidence@8", scale=1), digits=2),
    ),
    differs=(
        "corpus: the articles given; theirs were a dump of the whole English Wikipedia",
        "truthfulness is a sum over questions: compare it only over as many questions as theirs (510)",
        "questions: on 2WikiMultihopQA the published figures are of another data set and only show the order",
    ),
)
