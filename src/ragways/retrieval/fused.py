"""The paradigm `fused`: words, meaning and the graph together, with no model before the answer.

Three lists are joined by weighted rank; from the best of that, bridges are followed to passages the question does not
resemble, and a small trained model puts all in order (what it looks at stands below). Then the reader looks
at the first of them together (`reader.py`), and they are put in order once more. docs/figures.md has how all this
was chosen, and how it does on data it was not chosen on.

The weighted sum of a passage's features, through the logistic function, is the chance that it is evidence.

There are two sets of weights, for passages that are articles by themselves and name each other, and for all others.
They are mixed by what a question's candidates are.

walk      its place in the list by PageRank, less where the question names nothing but hubs
meaning   how near the question it is, the nearest being 1
bridge    how good a bridge leads to it from one of the best hits
named     the same from a passage that the question names
pair      how much of the question's words it holds together with one of the best hits
joined    the same with one that a bridge joins it to
title     which part of its title stands in the question
agreed    its places in the lists by words and by meaning, on average
text      how much of the question's words its own text holds, the title aside
read      the reader's logit of it (`reader.py`)

All passages of a long article share its title, and the graph distinguishes few of them; news name no other news.
`Candidates.linked` is how near the passages are to being whole articles that name each other, so that the weights can
go by it.

Bridges: from passage to passage, through an entity that the first one names beside words of the question.

A question of two steps ("where was the director of … born?") names the film; the film's passage says `directed by` and
then the name that the question does not know. Links of a passage are taken in that order: first those whose
surroundings hold most of what the question asks, then those that come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, NamedTuple

from annotated_types import Ge

from ragways.core.language import folded_words, unspaced_words
from ragways.core.step import Step, fuse
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, Query, ranked
from ragways.layers.graph.names import STOP, split_title
from ragways.layers.protocols import sureness
from ragways.layers.words import terms
from ragways.models.embed import reads
from ragways.reading.answers import IN_ORDER, USUAL
from ragways.retrieval.answer import answer
from ragways.retrieval.pagerank import linked
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.reader import affordable, evidence_logits
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack, top, words

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

    A word weighs the more, the fewer of the `among` texts hold it: these are the candidates, so a word
    that all of them have does not distinguish them. `present` has a row for each text and a column for each word.
    """

    def __init__(self, question: str, among: Sequence[str]) -> None:
        import numpy as np

        spaced, pairs = unspaced_words(question)
        stems = dict.fromkeys(
            _beginning(word, term) for word in _WORD.findall(spaced.casefold())[: 4 * _MOST] for term in terms(word)
        )
        beginnings = [stem if len(stem) >= _SHORT else f" {stem}" for stem in stems]
        self._stems = [*beginnings, *dict.fromkeys(pairs)][:_MOST]
        self.present: NDArray[np.bool_] = np.array([self.of(text) for text in among], dtype=bool)
        self.present = self.present.reshape(len(among), len(self._stems))
        weights = np.log(1 + (len(among) + 1) / (self.present.sum(axis=0) + 1))
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
    # The passage's own name stands everywhere in it and distinguishes nothing.
    titled, weights = cover.of(piece.title), cover.weights.tolist()
    wanted = [0.0 if named else weight for named, weight in zip(titled, weights, strict=True)]
    links = []
    for id in near:
        entity = known[id]
        span = _span(piece.text, entity)
        if span is not None:
            start, end = span
            around = f"{piece.text[max(0, start - BEFORE) : start]} {piece.text[end : end + AFTER]}"
            present = zip(wanted, cover.of(around), cover.of(entity.name), strict=True)
            share = sum(weight for weight, here, named in present if here and not named)
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
        self._words = " ".join(["", *folded_words(hits.query.text)])
        self.pieces = {hit.piece.id: hit.piece for hit in hits.items}
        self._cover = Cover(hits.query.text, [_whole(piece) for piece in self.pieces.values()])
        best = hits.items[0].score if hits.items else 1.0
        self._weights = {hit.piece.id: hit.score / best for hit in hits.items}
        self._sources = self._choose_sources()
        self.bridges: dict[str, list[Bridge]] = {}
        for bridge in bridges(use.index.graph, self._cover, list(self._sources.values())):
            self.bridges.setdefault(bridge.target, []).append(bridge)
        self._present = self._reach()

    def _choose_sources(self) -> dict[str, Piece]:
        pieces = list(self.pieces.values())
        named = [piece for piece in pieces[SOURCES:] if self._is_named(piece)]
        return {piece.id: piece for piece in (*pieces[:SOURCES], *named[:NAMED])}

    def _is_named(self, piece: Piece) -> bool:
        return self._title(split_title(piece.title)[0]) == 1.0

    def _title(self, title: str) -> float:
        """Which part of a title's words stands in the question."""
        words = beginnings(title)
        return sum(word in self._words for word in words) / len(words) if words else 0.0

    def _reach(self) -> NDArray[np.bool_]:
        """Take in passages that no list has and the best bridges lead to."""
        import numpy as np

        new = {id: self._bridge(id) for id in self.bridges.keys() - self.pieces.keys()}
        chosen = sorted((id for id, value in new.items() if value > 0), key=lambda id: (-new[id], id))[:REACHED]
        reached = self._use.index.pieces(chosen)
        self.pieces |= reached
        more = [self._cover.of(_whole(piece)) for piece in reached.values()]
        return np.concatenate([self._cover.present, np.array(more, dtype=bool)]) if more else self._cover.present

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
        present = self._present.copy()
        for n, piece in enumerate(self.pieces.values()):
            if any(self._cover.of(piece.title)):
                present[n] = self._cover.of(piece.text)
        return present

    def _pairs(self, ids: list[str]) -> dict[str, NDArray[np.float64]]:
        """How much of the question a passage holds together with one of the best; with one that leads to it."""
        import numpy as np

        partners = ids[:PARTNERS]
        weights, present = self._cover.weights, self._present
        alone = present @ weights
        pairs = np.stack([alone, *((present | present[n]) @ weights for n in range(len(partners)))], axis=1)
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


@dataclass(frozen=True, slots=True)
class Weights:
    """Features that are not named weigh nothing."""

    features: Mapping[str, float]
    bias: float


LINKED = Weights(
    {
        "walk": 3.46,
        "meaning": 2.258,
        "bridge": 1.834,
        "named": 1.772,
        "pair": 0.946,
        "joined": 2.434,
        "title": 1.385,
        "agreed": 1.727,
    },
    -7.97,
)
"""For passages that are articles by themselves and name each other."""
PLAIN = Weights(
    {"walk": 1.137, "meaning": 2.147, "pair": 0.374, "joined": 1.477, "title": 0.861, "agreed": 2.889, "text": 1.763},
    -6.009,
)
"""For all others: what is true of a long article does not distinguish its passages, and news name no other news."""
LINKED_READ = Weights(
    {
        "walk": 2.848,
        "meaning": 1.926,
        "bridge": 1.653,
        "named": 1.69,
        "pair": 0.809,
        "joined": 2.106,
        "title": 0.722,
        "agreed": 1.217,
        "read": 1.399,
    },
    -6.151,
)
PLAIN_READ = Weights(
    {
        "walk": 0.932,
        "meaning": 1.849,
        "pair": 0.351,
        "joined": 1.155,
        "title": 0.562,
        "agreed": 2.118,
        "text": 1.252,
        "read": 1.566,
    },
    -4.319,
)
"""The same where the reader has looked at the first of them. Its logit for a question it was trained on is too good:
these were fitted with what readers say that were trained without the question's set (training/order.py).
"""


def mixed(linked: float, one: Weights = LINKED, other: Weights = PLAIN) -> Weights:
    """`linked` parts of the one, and the rest of the other."""
    names = dict.fromkeys((*one.features, *other.features))
    features = {
        name: linked * one.features.get(name, 0.0) + (1 - linked) * other.features.get(name, 0.0) for name in names
    }
    return Weights(features, linked * one.bias + (1 - linked) * other.bias)


SHOWN = 10
"""Passages whose features the trace keeps."""
ENOUGH = 3.0
"""The logit of "these passages answer" from which on no further ones are read."""
MOST_SURE, SCALE = 8.0, 4.0
"""The reader's logits are cut at the one and divided by the other."""


@dataclass(frozen=True, slots=True, repr=False)
class WeighedHits(Hits):
    """Candidates in the order of their chances, and what was seen of all of them: how near they are to being articles
    that name each other (`Candidates.linked`), and the best logit by the reader, None where it read nothing.
    """

    linked: float = 0.0
    read: float | None = None


def weighed(use: Resources, *, spend: float = 0) -> Step[Hits, Hits]:
    """Follow bridges from the best hits, and order all by their chance of being evidence. `spend` is how many CPU
    milliseconds the reader may take to look at the first of them.
    """

    async def run(hits: Hits) -> Hits:
        if not hits.items:
            return hits
        vector = await use.embed_question(hits.query.text)
        candidates = Candidates(use, hits, vector)
        features = candidates.features()
        linked = candidates.linked
        weights = mixed(linked)
        chances = chance(features, weights)
        read = await _read(use, candidates, features, chances, affordable(spend))
        if read is not None:
            weights = mixed(linked, LINKED_READ, PLAIN_READ)
            chances = chance(features, weights)
        found = _bridged(candidates, features)
        current_span().details.update(linked=round(linked, 3), weights=_rounded(weights.features))
        _note_best(candidates, features, chances)
        before = {hit.piece.id: hit.found for hit in hits.items}
        scored = [
            Hit(piece, score, (*before.get(id, ()), *found.get(id, ())))
            for (id, piece), score in zip(candidates.pieces.items(), chances.tolist(), strict=True)
        ]
        return WeighedHits(hits.query, ranked(hits.query, scored).items, linked=linked, read=read)

    return Step("weigh", run, spend=spend)


async def _read(
    use: Resources, candidates: Candidates, features: NDArray[np.float64], chances: NDArray[np.float64], count: int
) -> float | None:
    """Let the reader look at the likeliest candidates, the first three alone where they answer the question, and put
    its logits into their features; the others are taken for as unlikely as the least of these. Returns the best logit;
    None where it reads nothing.
    """
    import numpy as np

    order = np.argsort(-chances, kind="stable")[:count]
    pieces = list(candidates.pieces.values())
    likeliest = [pieces[n] for n in order]
    logits = await evidence_logits(use, candidates.question, likeliest, enough=ENOUGH)
    if not logits:
        return None
    order = order[: len(logits)]
    values = np.clip(logits, -MOST_SURE, MOST_SURE) / SCALE
    column = FEATURES.index("read")
    features[:, column] = values.min()
    features[order, column] = values
    return max(logits)


def chance(features: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """The chance of each row, a passage, to be evidence."""
    import numpy as np

    total = features @ np.array([weights.features.get(name, 0.0) for name in FEATURES]) + weights.bias
    chances: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(total, -50, 50)))
    return chances


def _bridged(candidates: Candidates, features: NDArray[np.float64]) -> dict[str, tuple[Found, ...]]:
    """For each passage that a bridge leads to: its rank among them, and from where through what."""
    scores = features[:, FEATURES.index("bridge")].tolist()
    order = sorted(zip(candidates.pieces, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return {
        id: (Found("bridge", rank, score, _note(candidates.best_bridge(id), candidates.pieces)),)
        for rank, (id, score) in enumerate(order, start=1)
        if score > 0
    }


def _note(bridge: Bridge, pieces: Mapping[str, Piece]) -> str:
    return f"{pieces[bridge.source].title} names {bridge.entity}"


def _note_best(candidates: Candidates, features: NDArray[np.float64], chances: NDArray[np.float64]) -> None:
    best = sorted(range(len(chances)), key=lambda n: -chances[n])[:SHOWN]
    ids = list(candidates.pieces)
    current_span().details.update(
        candidates=len(ids),
        best={
            ids[n]: {"chance": round(float(chances[n]), 3)}
            | _rounded(dict(zip(FEATURES, features[n].tolist(), strict=True)))
            for n in best
        },
    )


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in values.items()}


def candidates(
    use: Resources,
    *,
    depth: int = 30,
    meaning: float = 1.0,
    word: float = 0.3,
    graph: float = 2.5,
    rank: int = 5,
    spend: float = 150,
) -> Step[Query, Hits]:
    """All that `fused` looks at, in its order, before any is left out. The settings are those of `fused`."""
    together = fuse(
        dense(use, k=depth, beside=True),
        words(use, k=depth),
        linked(use, k=depth),
        k=rank,
        weights=(meaning, word, graph),
    )
    return together >> weighed(use, spend=spend)


def build_fused(
    use: Resources,
    *,
    k: Count = 10,
    depth: Count = 30,
    meaning: Annotated[float, Ge(0)] = 1.0,
    word: Annotated[float, Ge(0)] = 0.3,
    graph: Annotated[float, Ge(0)] = 2.5,
    rank: Count = 5,
    spend: Annotated[int, Ge(0)] = 150,
    tokens: Tokens = 8000,
) -> Strategy:
    """`spend`: CPU milliseconds in which the reader may look at the first candidates; 0 leaves it out."""
    found = candidates(use, depth=depth, meaning=meaning, word=word, graph=graph, rank=rank, spend=spend)
    reach = IN_ORDER if affordable(spend) else USUAL
    return found >> top(k) >> pack(use, tokens, order=False) >> answer(use, reach=reach)


FUSED = Paradigm(
    name="fused",
    summary="Meaning, words and a walk over the graph together, bridged through entities, weighed by a trained model.",
    source="beyond",
    needs=frozenset({"vectors", "words", "graph"}),
    build=build_fused,
)
