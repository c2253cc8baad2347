"""The way to an answer, gathered for a picture: windows hop by hop, or seeds, entities and passages of PageRank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.apps.picture.walk_text import pairs, show_trace
from ragways.core.trace import Span
from ragways.core.types import Piece
from ragways.index.reader import Index

if TYPE_CHECKING:
    from ragways.retrieval.ask import Result

SEEDS, ENTITIES, PASSAGES = 8, 12, 8
"""Of each that a picture shows."""
_CHARACTERS = 700  # of a sentence; one that is longer is a table
_LINKS = 3  # lines that lead to one entity or passage


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a window. `similarity`, to the question, is known of those that were gathered."""

    text: str
    gathered: bool
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Visit:
    """A window on the way: how similar it was by the traversal's own measure, and why it was chosen."""

    window: str
    title: str
    similarity: float
    why: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Journey:
    name: str
    visits: tuple[Visit, ...]
    stopped: str


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    name: str
    score: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """What PageRank led to. `links` join ids: seeds to entities, and both to passages."""

    name: str
    seeds: tuple[Node, ...]
    entities: tuple[Node, ...]
    passages: tuple[Node, ...]
    links: tuple[tuple[str, str], ...]


Picture = Journey | Reach


def show_walks(folder: Path, results: Sequence[Result], *, html: Path | None, as_text: bool) -> None:
    """The traces as text, the pictures into a file, or both."""
    with closing(Index.open(folder)) as index:
        if as_text:
            names = _names(index, (result.trace for result in results))
            for result in results:
                show_trace(result.trace, names)
        if html is None:
            return
        from ragways.apps.picture.walk_page import walk_page
        from ragways.apps.terminal import console
        from ragways.pictures.shell import write_page

        text = walk_page([(result, pictures(index, result)) for result in results])
    write_page(html, text)
    console(error=True).print(f"wrote {html}", markup=False)


def pictures(index: Index, result: Result) -> list[Picture]:
    """One for each walk in the trace; a loop has several."""
    found: list[Picture] = []
    seeds: Span | None = None
    entities: Span | None = None
    for span in result.trace.walk():
        if "path" in span.details:
            found.append(_journey(index, span, result))
        if "seeds" in span.details:
            seeds, entities = span, None
        if "best" in span.details:
            entities = span
        if "reached" in span.details and seeds is not None:
            found.append(_reach(index, seeds, entities, span))
            seeds = entities = None
    return found


def _names(index: Index, traces: Iterable[Span]) -> dict[str, str]:
    """Names of the entities that traces speak of."""
    keys = ("seeds", "best", "entities")
    rows = [row for trace in traces for span in trace.walk() for key in keys for row in pairs(span, key)]
    ids = {id for row in rows if str(id := row if isinstance(row, str) else row[0]).startswith("entity:")}
    if not ids or "graph" not in index.layers:
        return {}
    return {id: entity.name for id, entity in index.graph.entities(ids).items()}


def _journey(index: Index, span: Span, result: Result) -> Journey:
    from ragways.retrieval.window_walk import WindowTexts

    windows = index.windows
    texts = WindowTexts(index, windows)
    near = {hit.piece.id: found.score for hit in result.answer.evidence.hits.items for found in hit.found}
    rows = {id: row for row, id in enumerate(windows.windows.ids)}
    visits = []
    for (id, similarity, why), gathered in zip(pairs(span, "path"), pairs(span, "gathered"), strict=True):
        if (row := rows.get(id)) is None:
            continue  # the index was rebuilt meanwhile
        said = []
        for sentence in windows.sentences_of(row):
            name = windows.sentences.ids[sentence]
            said.append(Sentence(texts.sentence(sentence)[:_CHARACTERS], name in gathered, near.get(name)))
        visits.append(Visit(id, texts.title(row), similarity, why, tuple(said)))
    return Journey(span.name, tuple(visits), str(span.details.get("stopped", "")))


def _reach(index: Index, seeds: Span, entities: Span | None, reached: Span) -> Reach:
    graph = index.graph
    first = {id: score for id, score in pairs(seeds, "seeds")[:SEEDS] if id in graph.ordinals}
    strongest = pairs(entities, "best") if entities else _strongest(index, pairs(seeds, "seeds"))
    others = {id: score for id, score in strongest if id not in first and id in graph.ordinals}
    others = dict(list(others.items())[:ENTITIES])
    scores = dict(pairs(reached, "reached")[:PASSAGES])
    pieces = index.pieces(scores)
    named = graph.entities([*first, *others])
    return Reach(
        reached.name,
        tuple(Node(id, named[id].name, score, named[id].description) for id, score in first.items()),
        tuple(Node(id, named[id].name, score, named[id].description) for id, score in others.items()),
        tuple(Node(id, piece.title, scores[id], piece.text) for id, piece in pieces.items()),
        tuple(_links(index, first, others, pieces)),
    )


def _strongest(index: Index, seeds: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Where the walk over entities and passages leaves its mass among entities: walked again, as answers need not
    know it.
    """
    import numpy as np

    from ragways.index.pagerank import push

    graph = index.graph
    start = np.zeros(len(graph.ids) + len(graph.chunks))
    for id, weight in seeds:
        if (node := graph.ordinals.get(id)) is not None:
            start[node] = weight
    if not start.any():
        return []
    mass = push(graph.passages, start)[: len(graph.ids)]
    order = np.argsort(-mass, kind="stable")[: SEEDS + ENTITIES].tolist()
    return [(graph.ids[node], float(mass[node])) for node in order if mass[node] > 0]


def _links(
    index: Index, seeds: Mapping[str, float], entities: Mapping[str, float], pieces: Mapping[str, Piece]
) -> list[tuple[str, str]]:
    """For each entity the seeds that are joined to it, for each passage the seeds and entities that it names."""
    graph = index.graph
    links = []
    for id in entities:
        joined = dict(graph.neighbours(id, 10_000))
        near = sorted((seed for seed in seeds if seed in joined), key=lambda seed: (-joined[seed], seed))
        links += [(seed, id) for seed in near[:_LINKS]]
    for id in pieces:
        named = {entity for entity, _ in graph.mentioned([id], 10_000)}
        links += [(entity, id) for entity in [*seeds, *entities] if entity in named][:_LINKS]
    return links
