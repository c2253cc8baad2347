"""Parts of the graph and groups of sentences drawn at random, with the text behind them.

What is drawn must be worth a question: an entity that is one, a context of several documents where it has to be.
`NothingToAsk` says that a draw found none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ragways.core.types import Piece
from ragways.evaluation.questions.facts import facts_of
from ragways.evaluation.questions.source import NothingToAsk, QuestionSource, SupportingChunk, document_of
from ragways.layers.graph.names import STOP, fold, split_title
from ragways.layers.protocols import Graph, GraphEntity, Triplet

if TYPE_CHECKING:
    from ragways.layers.protocols import Windows

MAX_DOCUMENTS = 5
_TRIES = 20
MAX_CHUNKS = 30
"""Chunks that may name a bridge: what is named everywhere joins nothing."""
HOPS = 50
"""Different edges that a walk must cross, else another is begun."""
_WALKS, _NEAR, _STALE = 5, 10_000, 3
"""Walks that are tried, neighbours that a step is drawn from, and steps over known edges for each edge wanted."""
SENTENCES = 10
"""Sentences of a context, but for `sequential_multi_hop`."""
DOCUMENTS, READ = 3, 5
"""Documents of `sequential_multi_hop`, and sentences read in each."""
CHUNKS = 3
"""Chunks of `native`."""
_SIGNS = re.compile(r"[\n|<>{}@©=\\_]| [-–—] |https?:|www\.|\d{4}$|^\d|['’]s$|['’](?:ll|re|ve|d|m|t)\b")
Grouping = Callable[[QuestionSource, Random], tuple[SupportingChunk, ...]]
Fits = Callable[[QuestionSource, GraphEntity], bool]


# Entities


def no_name(name: str) -> bool:
    """Junk that was taken for an entity: dates, bits of sentences, headings, addresses."""
    words = re.findall(r"[\w'’.&-]+", name)
    letters = sum(letter.isalpha() for letter in name)
    if letters < 2 or len(name) > 60 or len(words) > 8 or _SIGNS.search(name):
        return True
    shouted = len(words) > 1 and letters > 8 and name.isupper()
    repeated = len({word.casefold() for word in words}) < len(words) > 2
    cut = words[0].casefold() in STOP - {"the", "a"} or words[-1].casefold() in STOP
    return shouted or repeated or cut or letters <= sum(letter.isdigit() for letter in name)


def real(source: QuestionSource, entity: GraphEntity) -> bool:
    """Whether a question may be about an entity: it is no date, amount or junk. A title is no junk."""
    if entity.type in ("date", "quantity"):
        return False
    return facts_of(source).subjects.named(entity.name) is not None or not no_name(split_title(entity.name)[0])


def node(source: QuestionSource, random: Random) -> GraphEntity:
    """Any real entity, each with the same chance."""
    count = source.graph.counts()["entities"]
    for _ in range(_TRIES if count else 0):
        entity = source.entity(source.graph.entity_at(random.randrange(count)))
        if real(source, entity):
            return entity
    raise NothingToAsk


def connected(source: QuestionSource, random: Random, fits: Fits = real) -> GraphEntity:
    """A well-connected entity, drawn by its PageRank."""
    ranks = source.once("ranks", lambda: np.cumsum(source.graph.ranks()))
    for _ in range(_TRIES if len(ranks) else 0):
        at = min(int(np.searchsorted(ranks, random.random() * ranks[-1])), len(ranks) - 1)
        entity = source.entity(source.graph.entity_at(at))
        if fits(source, entity):
            return entity
    raise NothingToAsk


def naming(source: QuestionSource, entity: GraphEntity, minimum: int = 2) -> tuple[SupportingChunk, ...]:
    """The chunks that name an entity most, its own document first: one a document; of a single document, any."""
    support: dict[str, SupportingChunk] = {}
    for chunk, _ in source.graph.mentions([entity.id]):
        place = chunk if len(source.texts) == 1 else document_of(chunk)
        if place not in support and len(support) < MAX_DOCUMENTS and source.piece(chunk) is not None:
            support[place] = source.support_of(chunk)
    if len(support) < minimum:
        raise NothingToAsk
    return tuple(support.values())


def one_of_its_name(source: QuestionSource, entity: GraphEntity) -> bool:
    """Whether nothing else in the graph and no other document has the name of an entity."""
    name = split_title(entity.name)[0]
    others = source.graph.entities([id for id in source.graph.named(name) if id != entity.id], described=False)
    alone = not any(fold(split_title(other.name)[0]) == fold(name) for other in others.values())
    return alone and facts_of(source).subjects.rivals(name) <= 1


def edge(source: QuestionSource, random: Random) -> tuple[Triplet, tuple[SupportingChunk, ...]]:
    """Any relation between two real entities, with the chunks that state it."""
    for triplet in triplets(source, random):
        pair = source.graph.entities([triplet.subject, triplet.object], described=False)
        chunks = source.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:2]
        if len(pair) == 2 and chunks and all(real(source, entity) for entity in pair.values()):
            return triplet, tuple(source.support_of(chunk) for chunk in chunks)
    raise NothingToAsk


def triplets(source: QuestionSource, random: Random) -> list[Triplet]:
    """Some relations, each with the same chance."""
    count = source.graph.counts()["relations"]
    numbers = [random.randrange(count) for _ in range(_TRIES if count else 0)]
    found = source.graph.relations_at(numbers)
    return [found[number] for number in numbers if number in found]


# Random walks over documents: from one to the next by an entity that both name


def bridge_walk(
    source: QuestionSource, random: Random, documents: int
) -> tuple[tuple[SupportingChunk, ...], tuple[str, ...]]:
    """Chunks of so many documents, none twice, and the name that joins each with the next, none twice either."""
    piece = source.chunk(random)
    support, bridges = [source.support(piece)], list[str]()
    while len(support) < documents:
        steps = _steps(source, support[-1].chunk, {one.document for one in support}, bridges)
        if not steps:
            raise NothingToAsk
        name, chunk = random.choice(steps)
        support.append(source.support_of(chunk))
        bridges.append(name)
    return tuple(support), tuple(bridges)


def _steps(source: QuestionSource, chunk: str, seen: set[str], bridges: list[str]) -> list[tuple[str, str]]:
    """Where a chunk leads: names in it, each with a chunk of another document that names it too."""
    graph, steps = source.graph, list[tuple[str, str]]()
    named = [id for id, _ in graph.mentioned([chunk], 50)]
    for entity in graph.entities(named, described=False).values():
        if 2 <= entity.chunks <= MAX_CHUNKS and entity.name not in bridges and real(source, entity):
            others = [id for id, _ in graph.mentions([entity.id], MAX_CHUNKS) if document_of(id) not in seen]
            steps += [(entity.name, others[0])] if others else []
    return sorted(steps)


# Random walks over the graph until so many different edges have been crossed


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """Nodes in the order they were first reached, and the edges crossed; `whole` if they are as many as wanted."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    whole: bool

    @property
    def note(self) -> str:
        return "" if self.whole else f"the walk reached {len(self.edges)} edges of {HOPS}"


def random_walk(graph: Graph, random: Random, hops: int = HOPS) -> RandomWalk:
    """From a random entity on; where five walks in a row fall short, the longest of them."""
    best = RandomWalk((), (), False)
    for _ in range(_WALKS if graph.counts()["entities"] else 0):
        walk = _walk_once(graph, random, hops)
        best = walk if len(walk.edges) > len(best.edges) else best
        if best.whole:
            break
    return best


def _walk_once(graph: Graph, random: Random, hops: int) -> RandomWalk:
    node = graph.entity_at(random.randrange(graph.counts()["entities"]))
    nodes, edges = {node: None}, dict[tuple[str, str], None]()
    stale = 0
    while len(edges) < hops and stale < hops * _STALE:
        near = graph.neighbours(node, _NEAR)
        if not near:
            break
        step, _ = random.choice(near)
        edge = min(node, step), max(node, step)
        stale = stale + 1 if edge in edges else 0
        edges[edge] = nodes[step] = None
        node = step
    return RandomWalk(tuple(nodes), tuple(edges), len(edges) >= hops)


# Four ways to group sentences to a context that a question is written from, before it is known what will be asked


def intra_document(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """From a random window on, each time to the nearest of its document that holds no sentence seen before."""
    windows = source.index.windows
    path = [_start(windows, random)]
    seen = set(windows.sentences_of(path[0]))
    while len(seen) < SENTENCES:
        near = (row for row, _ in windows.near_within(path[-1]) if not seen & set(windows.sentences_of(row)))
        following = next(near, None)
        if following is None:
            break
        path.append(following)
        seen |= set(windows.sentences_of(following))
    return _supports(source, windows, [list(windows.sentences_of(row)) for row in path])


def theme_based(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """From a random window on, each time to another document, the one of those near it whose themes are most alike."""
    windows = source.index.windows
    here: int | None = _start(windows, random)
    runs, documents = list[list[int]](), list[str]()
    while here is not None and sum(map(len, runs)) < SENTENCES:
        runs.append(list(windows.sentences_of(here)))
        documents.append(windows.document_of(here))
        here = _by_theme(windows, here, documents)
    return _several(_supports(source, windows, runs))


def sequential_multi_hop(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """Read five sentences on, forwards or backwards; then to the document most alike in its themes; three times."""
    windows = source.index.windows
    here: int | None = _start(windows, random)
    runs, documents = list[list[int]](), list[str]()
    while here is not None and len(runs) < DOCUMENTS:
        run, here = _read_on(windows, here)
        runs.append(run)
        documents.append(windows.document_of(here))
        here = _by_theme(windows, here, documents)
    return _several(_supports(source, windows, runs))


def native(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """A few chunks: of different documents, or one after the other."""
    if random.random() < 0.5:
        first = source.chunk(random)
        following = source.chunks_of(first.document)
        at = following.index(first)
        return tuple(source.support(piece) for piece in following[at : at + CHUNKS])
    drawn = {piece.document: piece for piece in (source.chunk(random) for _ in range(CHUNKS))}
    return tuple(map(source.support, drawn.values()))


GROUPINGS: dict[str, Grouping] = {
    "intra_document": intra_document,
    "theme_based": theme_based,
    "sequential_multi_hop": sequential_multi_hop,
    "native": native,
}


def _start(windows: Windows, random: Random) -> int:
    if not len(windows):
        raise NothingToAsk
    return random.randrange(len(windows))


def _several(found: tuple[SupportingChunk, ...]) -> tuple[SupportingChunk, ...]:
    """A context over several documents; `NothingToAsk` where it stayed in one."""
    if len({one.document for one in found}) < 2:
        raise NothingToAsk
    return found


def _by_theme(windows: Windows, here: int, documents: Sequence[str]) -> int | None:
    """Of the windows near this one in documents not seen, the one whose themes are most alike; then the nearest."""
    own = windows.document_of(here)
    by_theme, themes = dict(windows.neighbours_by_theme(own)), _theme_words(windows, own)
    best: tuple[float, float, int] | None = None
    for row, near in windows.near_across(here):
        document = windows.document_of(row)
        if document not in documents:
            others = _theme_words(windows, document)
            shared = len(themes & others) / max(1, len(themes | others))
            ranked = (by_theme.get(document, 0.0) + shared, near, -row)
            best = max(best, ranked) if best is not None else ranked
    return None if best is None else -best[2]


def _theme_words(windows: Windows, document: str) -> set[str]:
    return set(" ".join(windows.themes(document).themes).casefold().split())


def _read_on(windows: Windows, here: int) -> tuple[list[int], int]:
    """Sentences around a window in reading order, and the window where the reading ends."""
    rows = windows.windows_of(windows.document_of(here))
    forwards, backwards = (
        _similarity(windows, here, there) if there in rows else -2.0 for there in (here + 1, here - 1)
    )
    step = 1 if forwards >= backwards else -1
    seen, end = dict.fromkeys(windows.sentences_of(here)), here
    # Where the document ends before five sentences are read, those on the other side of the window make up for it.
    for way in (range(here + step, here + step * READ, step), range(here - step, here - step * READ, -step)):
        for row in way:
            if len(seen) >= READ or row not in rows:
                break
            seen.update(dict.fromkeys(windows.sentences_of(row)))
            end = row if (row - here) * step > 0 else end
    run = sorted(seen)
    return (run[:READ] if step == 1 else run[-READ:]), end


def _similarity(windows: Windows, one: int, other: int) -> float:
    first, second = windows.points([one, other])
    return float(first @ second)


def _supports(source: QuestionSource, windows: Windows, runs: list[list[int]]) -> tuple[SupportingChunk, ...]:
    """Every sentence of each run. Where a run goes on in the next chunk, so does a support: one a chunk."""
    found: dict[tuple[str, str], SupportingChunk] = {}
    for run in runs:
        document = document_of(windows.sentence_id(run[0]))
        pieces, parts = source.chunks_of(document), dict[str, tuple[Piece, list[str]]]()
        for row in run:
            start, end = windows.span_of(row)
            # Chunks may overlap: where the last sentence stood, if this one does; else where most of it stands.
            best = max(pieces, key=lambda p: (min(end, p.end) - max(start, p.start), p.id in parts, -p.start))
            text = source.index.text(document, max(start, best.start), min(end, best.end))
            parts.setdefault(best.id, (best, []))[1].append(" ".join(text.split()))
        for piece, sentences in parts.values():
            support = source.support(piece, " ".join(sentences))
            found.setdefault((piece.id, support.quote), support)
    if not found:
        raise NothingToAsk
    return tuple(found.values())
