"""What the arrays of a graph say, told by ids: two graphs that say the same may number their rows otherwise."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from ragways.index.graph.reader import Graph


def told(folder: Path, db: sqlite3.Connection) -> dict[str, object]:
    """All that the arrays of a derived folder say, in the order in which they say it."""
    graph = Graph(folder, db)
    first = graph.first_chunk
    chunks = dict(zip(graph.chunk_numbers, graph.chunk_numbers.numbers().tolist(), strict=True))
    relations = graph.relation_arrays
    numbers = relations.all_numbers()

    def node(number: int) -> str:
        return graph.ids.id(number) if number < first else graph.chunks[number - first]

    def linked(links, number: int) -> list[tuple[str, float]]:
        nodes, weights = links.neighbours(number)
        return [(node(n), w) for n, w in zip(nodes.tolist(), weights.tolist(), strict=True)]

    def row(held, number: int, part: str) -> list[int]:
        return list(held[part][held.row(number)].tolist())

    def named_by(chunk: int) -> dict[str, int]:
        entities, times = mentions.entities_of(np.array([chunk]))
        return dict(zip(graph.ids.at(entities), times.tolist(), strict=True))

    mentions = graph.mention_table
    alive, joining = (graph._tables["graph-entities"].column(name) for name in ("alive", "joining"))
    words = sorted({word for (name,) in db.execute("SELECT name FROM graph_names") for word in name.split(" ")})
    return {
        "entities": {
            id: (
                bool(alive[n]),
                bool(joining[n]),
                linked(graph.adjacency, n),
                graph.adjacency.strengths[n],
                linked(graph.passages, n),
                graph.passages.strengths[n],
                [graph.chunks[c] for c in mentions.naming(n)[0]],
                mentions.naming(n)[1].tolist(),
                relations.names(np.array(row(relations.subject_of, n, "relations"), dtype=np.int64)),
                relations.names(np.array(row(relations.object_of, n, "relations"), dtype=np.int64)),
            )
            for id, n in graph.ids.items()
        },
        "chunks": {
            id: (
                linked(graph.passages, first + n),
                graph.passages.strengths[first + n],
                named_by(n),
            )
            for id, n in chunks.items()
        },
        "relations": [
            (
                name,
                graph.ids.id(relations.subjects[n]),
                graph.ids.id(relations.objects[n]),
                relations.weights[n],
                [graph.chunks[c] for c in row(relations.stating, n, "chunks")],
            )
            for name, n in zip(relations.names(numbers), numbers.tolist(), strict=True)
        ],
        "words": {word: graph.with_words([word], 10_000) for word in words},
        "strength": (graph.adjacency.strength, graph.passages.strength),
        "mentions": len(mentions),
        "order": [node(int(n)) for n in _in_order(graph.passages)],
    }


def _in_order(links) -> np.ndarray:
    """All nodes that have neighbours, by rank."""
    there = np.flatnonzero(links.degrees).astype(np.int64)
    return there[np.argsort(links.ranks(there))]
