"""U: four methods against each other, in pairs, with length, position and chance held off."""

from __future__ import annotations

from ragways.evaluation.reproduce.experiment import Column, Data, Experiment, Way, seconds, tokens

UNBIASED = Experiment(
    name="unbiased",
    title="Naive, light, fast and community RAG in unbiased pairs on UltraDomain",
    model="GPT-4o mini, which judges too",
    ways=(
        Way("community-global", "MGRAG"),
        Way("light", "LightRAG", {"mode": "hybrid"}),
        Way("naive", "NaiveRAG"),
        Way("fast-graph", "FGRAG"),
    ),
    data=(
        Data("UltraDomain", "ultradomain", ("mix*.jsonl*", "agriculture*.jsonl*", "music*.jsonl*")),
        Data("a corpus", "plain", (), ("corpus", "corpus*.json*", "*.jsonl*", "*.md", "*.txt")),
    ),
    generated={"node": 50, "edge": 50, "subgraph": 50},
    duel=True,
    columns=(
        Column("tokens", tokens, {"MGRAG": 326_200, "LightRAG": 19_650, "NaiveRAG": 4_213, "FGRAG": 3_310}, 0),
        Column("seconds", seconds, {"MGRAG": 25.84, "LightRAG": 18.27, "NaiveRAG": 11.55, "FGRAG": 8.77}, 2),
    ),
    differs=(
        "questions: generated here over the graph of the corpus given; theirs 50 of each of node, edge and subgraph",
        "published relative win rates lie below 8 % but for FGRAG (21 %) and MGRAG (11 %) over LightRAG",
        "MGRAG is community search; that it was the global one is read off its tokens, the source does not say",
    ),
)
