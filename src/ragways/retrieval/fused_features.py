"""What is known of each passage that several retrievers found, as a few numbers.

walk      its place in the list by PageRank, less where the question names nothing but hubs
meaning   how near the question it is, the nearest being 1
bridge    how good a bridge leads to it from one of the best hits
named     the same from a passage that the question names
pair      how much of the question's words it holds together with one of the best hits
joined    the same with one that a bridge joins it to
title     which part of its title stands in the question
agreed    its places in the lists by words and by meaning, on average
text      how much of the question's words its own text holds, the title aside
read      what the reader says of it (`evidence.py`)

All passages of a long article share its title, and the graph tells few of them apart; news name no other news.
`Candidates.linked` says how near the passages are to being whole articles that name each other, so that the weights can
go by it.

Bridges: from passage to passage, through an entity that the first one names beside words of the question.

A question of two steps ("where was the director of … born?") names the film; the film's passage says `directed by` and
then the name that the question does not know. Links of a passage are taken in that order: first those whose
surroundings hold most of what the question asks, then those that come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ragways.core.language import folded_words, unspaced_words
from ragways.core.types import Hit, Hits, Piece
from ragways.layers.graph.names import STOP, split_title
from ragways.layers.protocols import sureness
from ragways.layers.words import terms
from ragways.models.embed import reads
from ragways.retrieval.resources import Resources

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.layers.protocols import Graph, GraphEntity, Leading


_WORD = re.compile(r"\w+")
_MOST = 64  # words of a question
_STEM = 5  # letters: `director` meets `directed`
_SHORT = 4  # letters below which a word must begin a word of the text: `war` is not in `award`


class Cover:
    """The words of a question, and how much each weighs.

    A word weighs the more, the fewer of the `among` texts hold it: these are what was found for the question, so what
    all of them say tells none apart. `among` becomes rows of `held`, a column for each word.
    """

    def __init__(self, question: str, among: Sequence[str]) -> None:
        import numpy as np

        spaced, pairs = unspaced_words(question)
        stems = dict.fromkeys(
            _beginning(word, term) for word in _WORD.findall(spaced.casefold())[: 4 * _MOST] for term in terms(word)
        )
        beginnings = [stem if len(stem) >= _SHORT else f" {stem}" for stem in stems]
        self._stems = [*beginnings, *dict.fromkeys(pairs)][:_MOST]
        self.held: NDArray[np.bool_] = np.array([self.of(text) for text in among], dtype=bool)
        self.held = self.held.reshape(len(among), len(self._stems))
        weights = np.log(1 + (len(among) + 1) / (self.held.sum(axis=0) + 1))
        self.weights: NDArray[np.float64] = weights / max(float(weights.sum()), 1e-9)

    def of(self, text: str) -> list[bool]:
        """Which words of the question stand in a text."""
        flat = f" {text}".casefold()
        return [stem in flat for stem in self._stems]


def _beginning(word: str, term: str) -> str:
    """The beginning that all forms of a word share: `cities` and `city` have the stem `citi`."""
    return word[: min(_STEM, len(term.removesuffix("i")))]


BEFORE, AFTER = 120, 40
"""Characters around a name in which words of the question are looked for. What it is usually stands before it."""
SHARED = 12
"""An entity without an article of its own that more passages name than this joins none of them."""
LONG = 24
"""Passages of one entity's own article that a bridge leads to, the first ones: a book is no bridge."""
_ALIASES = 8


class Bridge(NamedTuple):
    """`source` names `entity`, and `target` is about it (`own`) or names it too. `place`: among the source's links to
    articles, from 0.
    """

    source: str
    target: str
    entity: str
    place: int
    own: bool


def bridges(graph: Graph, cover: Cover, sources: Sequence[Piece]) -> list[Bridge]:
    """All bridges from these passages to others."""
    near = graph.leading([piece.id for piece in sources], SHARED, LONG)
    known = graph.entities({id for found in near.values() for id in found}, described=False)
    return [bridge for piece in sources for bridge in _from(cover, piece, near[piece.id], known)]


def _from(
    cover: Cover, piece: Piece, near: Mapping[str, Sequence[Leading]], known: Mapping[str, GraphEntity]
) -> Iterator[Bridge]:
    # The passage's own name stands everywhere in it and tells nothing.
    titled, weights = cover.of(piece.title), cover.weights.tolist()
    wanted = [0.0 if held else weight for held, weight in zip(titled, weights, strict=True)]
    links = []
    for id in near:
        entity = known[id]
        span = _span(piece.text, entity)
        if span is not None:
            start, end = span
            around = f"{piece.text[max(0, start - BEFORE) : start]} {piece.text[end : end + AFTER]}"
            held = zip(wanted, cover.of(around), cover.of(entity.name), strict=True)
            share = sum(weight for weight, here, named in held if here and not named)
            links.append((-share, start, id, entity.name))
    place = 0
    for _, _, id, name in sorted(links):
        for target, own in near[id]:
            yield Bridge(piece.id, target, name, place, own)
        place += any(own for _, own in near[id])


def _span(text: str, entity: GraphEntity) -> tuple[int, int] | None:
    """Where a text first names an entity."""
    found = [
        (start, start + len(name))
        for name in (entity.name, split_title(entity.name)[0], *entity.aliases[:_ALIASES])
        if name and (start := text.find(name)) >= 0
    ]
    return min(found, default=None)


FEATURES = ("walk", "meaning", "bridge", "named", "pair", "joined", "title", "agreed", "text", "read")
SOURCES = 6
"""The best hits from which bridges are followed."""
NAMED = 4
"""Further hits from which they are, because the question names them."""
PARTNERS = 5
"""The best hits with which every other may make a pair."""
RANK = 5
"""Ranks become numbers by (RANK + 1) / (RANK + rank)."""
REACHED = 20
"""Passages that no list has, and bridges lead to."""


class Candidates:
    """The passages that may be evidence for one question, with their features."""

    def __init__(self, use: Resources, hits: Hits, vector: NDArray[np.float32]) -> None:
        self._use = use
        self._hits = hits
        self._vector = vector
        self._asked = " ".join(["", *folded_words(hits.query.text)])
        self.pieces = {hit.piece.id: hit.piece for hit in hits.items}
        self._cover = Cover(hits.query.text, [_whole(piece) for piece in self.pieces.values()])
        best = hits.items[0].score if hits.items else 1.0
        self._weights = {hit.piece.id: hit.score / best for hit in hits.items}
        self._sources = self._choose_sources()
        self.bridges: dict[str, list[Bridge]] = {}
        for bridge in bridges(use.index.graph, self._cover, list(self._sources.values())):
            self.bridges.setdefault(bridge.target, []).append(bridge)
        self._held = self._reach()

    def _choose_sources(self) -> dict[str, Piece]:
        pieces = list(self.pieces.values())
        named = [piece for piece in pieces[SOURCES:] if self._is_named(piece)]
        return {piece.id: piece for piece in (*pieces[:SOURCES], *named[:NAMED])}

    def _is_named(self, piece: Piece) -> bool:
        return self._title(split_title(piece.title)[0]) == 1.0

    def _title(self, title: str) -> float:
        """Which part of a title's words stands in the question."""
        words = beginnings(title)
        return sum(word in self._asked for word in words) / len(words) if words else 0.0

    def _reach(self) -> NDArray[np.bool_]:
        """Take in passages that no list has and the best bridges lead to."""
        import numpy as np

        new = {id: self._bridge(id) for id in self.bridges.keys() - self.pieces.keys()}
        chosen = sorted((id for id, value in new.items() if value > 0), key=lambda id: (-new[id], id))[:REACHED]
        reached = self._use.index.pieces(chosen)
        self.pieces |= reached
        more = [self._cover.of(_whole(piece)) for piece in reached.values()]
        return np.concatenate([self._cover.held, np.array(more, dtype=bool)]) if more else self._cover.held

    def _bridge(self, id: str) -> float:
        """How good the best bridge to a passage that is about the entity is."""
        return max((self._worth(bridge) for bridge in self.bridges.get(id, ()) if bridge.own), default=0.0)

    def _worth(self, bridge: Bridge) -> float:
        """What its source weighs, less for a later link."""
        return self._weights[bridge.source] / (1 + bridge.place)

    def best_bridge(self, id: str) -> Bridge:
        """The best bridge to a passage whose feature `bridge` is more than 0."""
        return max((bridge for bridge in self.bridges[id] if bridge.own), key=self._worth)

    @property
    def question(self) -> str:
        return self._hits.query.text

    @property
    def linked(self) -> float:
        """Near 1 where passages are articles by themselves that name each other, as in an encyclopedia; near 0 where
        all are small parts of long ones, and 0 where no passage is about a thing that another one names, as in news.
        """
        return self._whole if any(bridge.own for found in self.bridges.values() for bridge in found) else 0.0

    @property
    def _whole(self) -> float:
        """1 where every passage is an article by itself: the mean of 1 / (passages of its article), pushed towards both
        ends, so that an article in two parts among many in one changes little.
        """
        sizes = self._use.index.vectors.sizes({piece.document for piece in self.pieces.values()})
        parts = [1 / sizes.get(piece.document, 1) for piece in self.pieces.values()]
        mean = sum(parts) / len(parts) if parts else 1.0
        return mean * mean * (3 - 2 * mean)

    def features(self) -> NDArray[np.float64]:
        """A row for each of `pieces`, a column for each of `FEATURES`; `read` is left for the reader to say."""
        import numpy as np

        ids = list(self.pieces)
        sure = sureness(self._use.index.graph.question_seeds(self._hits.query.text))
        walk = {hit.piece.id: sure * _rank(hit, "linked") for hit in self._hits.items}
        agreed = {hit.piece.id: (_rank(hit, "words") + _rank(hit, "dense")) / 2 for hit in self._hits.items}
        named = {id for id, piece in self._sources.items() if self._is_named(piece)}
        columns = {
            "meaning": self._meaning(ids),
            "walk": [walk.get(id, 0.0) for id in ids],
            "bridge": [self._bridge(id) for id in ids],
            "named": [
                max((1 / (1 + b.place) for b in self.bridges.get(id, ()) if b.own and b.source in named), default=0.0)
                for id in ids
            ],
            "title": [self._title(piece.title) for piece in self.pieces.values()],
            "agreed": [agreed.get(id, 0.0) for id in ids],
            "text": self._texts() @ self._cover.weights,
            "read": [0.0] * len(ids),
        }
        columns |= self._pairs(ids)
        return np.array([columns[name] for name in FEATURES], dtype=np.float64).T

    def _texts(self) -> NDArray[np.bool_]:
        """Which words of the question stand in a passage's own text: all it holds, where its title has none."""
        held = self._held.copy()
        for n, piece in enumerate(self.pieces.values()):
            if any(self._cover.of(piece.title)):
                held[n] = self._cover.of(piece.text)
        return held

    def _pairs(self, ids: list[str]) -> dict[str, NDArray[np.float64]]:
        """How much of the question a passage holds together with one of the best; with one that leads to it."""
        import numpy as np

        partners = ids[:PARTNERS]
        weights, held = self._cover.weights, self._held
        alone = held @ weights
        pairs = np.stack([alone, *((held | held[n]) @ weights for n in range(len(partners)))], axis=1)
        places, columns = {id: n for n, id in enumerate(ids)}, {id: n for n, id in enumerate(partners, start=1)}
        leads = np.zeros(pairs.shape, dtype=bool)
        leads[:, 0] = True
        for target in self.bridges.keys() & places.keys():
            leads[places[target], [columns[b.source] for b in self.bridges[target] if b.source in columns]] = True
        return {"pair": pairs.max(axis=1), "joined": np.where(leads, pairs, 0.0).max(axis=1)}

    def _meaning(self, ids: list[str]) -> NDArray[np.float64]:
        """How near the question a passage is; the nearest of all is 1, and one without a vector 0; all are 0 where the
        embedder cannot read the question.
        """
        import numpy as np

        if not reads(self._use.embedder, self._hits.query.text):
            return np.zeros(len(ids))
        cosines = self._use.index.vectors.cosines(self._vector, ids)
        near = np.array([cosines.get(id, 0.0) for id in ids])
        return near / max(float(near.max()), 1e-6)


def _rank(hit: Hit, by: str) -> float:
    return max(((RANK + 1) / (RANK + found.rank) for found in hit.found if found.by == by), default=0.0)


def _whole(piece: Piece) -> str:
    return f"{piece.title} {piece.text}"


@lru_cache(maxsize=50_000)
def beginnings(title: str) -> tuple[str, ...]:
    """The words of a title, stop words aside, as they are looked for in a question."""
    spaced, pairs = unspaced_words(title)
    return (*(f" {word[:5]}" for word in _WORD.findall(spaced.casefold()) if word not in STOP), *pairs)
