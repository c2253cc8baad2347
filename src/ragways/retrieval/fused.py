"""Ours: words, meaning and the graph together, with no model before the answer.

Three lists are joined by weighted rank; from the best of that, bridges are followed to passages the question does not
resemble, and a small trained model puts all in order (`fused_features.py` says what it looks at). Then the reader looks
at the first of them together (`evidence.py`), and they are put in order once more. docs/figures.md tells how all this
was chosen, and how it does on data it was not chosen on.

The weighted sum of a passage's features, through the logistic function, is the chance that it is evidence. Where no
weights are wanted, the bridges make one more list, and lists are joined by rank.

There are two sets of weights, for passages that are articles by themselves and name each other, and for all others.
They are mixed by what a question's candidates are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from ragways.core.step import Step, fuse, rank_fusion
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, Query, ranked
from ragways.reading.answers import IN_ORDER, USUAL
from ragways.retrieval.answer import answer
from ragways.retrieval.evidence import affordable, evidence_logits
from ragways.retrieval.fused_features import FEATURES, Bridge, Candidates
from ragways.retrieval.pagerank import linked
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack, reorder, top, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
"""For all others: what is true of a long article does not tell its passages apart, and news name no other news."""
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
"""The same where the reader has looked at the first of them. What it says of a question it was trained on is too good:
these were fitted with what readers say that were trained without the question's set (training/order.py).
"""


def mixed(linked: float, one: Weights = LINKED, other: Weights = PLAIN) -> Weights:
    """`linked` parts of the one, and the rest of the other."""
    names = dict.fromkeys((*one.features, *other.features))
    features = {
        name: linked * one.features.get(name, 0.0) + (1 - linked) * other.features.get(name, 0.0) for name in names
    }
    return Weights(features, linked * one.bias + (1 - linked) * other.bias)


Fusion = Literal["learned", "rank"]
SHOWN = 10
"""Passages whose features the trace keeps."""
MOST_SURE, SCALE = 8.0, 4.0
"""The reader's logits are cut at the one and divided by the other."""


@dataclass(frozen=True, slots=True, repr=False)
class WeighedHits(Hits):
    """Candidates in the order of their chances, and what was seen of all of them: how near they are to being articles
    that name each other (`Candidates.linked`), and the best logit by the reader, None where it read nothing.
    """

    linked: float = 0.0
    read: float | None = None


def weighed(
    use: Resources, *, fusion: Fusion = "learned", k: int = 5, bridge: float = 0.25, spend: float = 0
) -> Step[Hits, Hits]:
    """Follow bridges from the best hits, and order all by their chance of being evidence.

    With `fusion="rank"` the bridges are a list of weight `bridge` that is joined to the hits by rank instead. `spend`
    is how many CPU milliseconds the reader may take to look at the first of them.
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
        read = None
        if fusion == "learned":
            read = await _read(use, candidates, features, chances, affordable(spend))
        if read is not None:
            weights = mixed(linked, LINKED_READ, PLAIN_READ)
            chances = chance(features, weights)
        found = _bridged(candidates, features)
        current_span().details.update(linked=round(linked, 3), weights=_rounded(weights.features))
        _tell(candidates, features, chances)
        before = {hit.piece.id: hit.found for hit in hits.items}
        scored = [
            Hit(piece, score, (*before.get(id, ()), *found.get(id, ())))
            for (id, piece), score in zip(candidates.pieces.items(), chances.tolist(), strict=True)
        ]
        if fusion == "learned":
            return WeighedHits(hits.query, ranked(hits.query, scored).items, linked=linked, read=read)
        bridged = [replace(hit, score=-hit.found[-1].rank) for hit in scored if hit.piece.id in found]
        return rank_fusion([hits, ranked(hits.query, bridged)], k, [1.0, bridge])

    return Step("weigh", run, fusion=fusion, spend=spend)


async def _read(
    use: Resources, candidates: Candidates, features: NDArray[np.float64], chances: NDArray[np.float64], count: int
) -> float | None:
    """Let the reader look at the likeliest candidates, and put what it says into their features; the others are taken
    for as unlikely as the least of these. Returns the best logit; None where it reads nothing.
    """
    import numpy as np

    order = np.argsort(-chances, kind="stable")[:count]
    pieces = list(candidates.pieces.values())
    logits = await evidence_logits(use, candidates.question, [pieces[n] for n in order]) if count else None
    if not logits:
        return None
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


def _tell(candidates: Candidates, features: NDArray[np.float64], chances: NDArray[np.float64]) -> None:
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
    bridge: float = 0.25,
    rank: int = 5,
    fusion: Fusion = "learned",
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
    return together >> weighed(use, fusion=fusion, k=rank, bridge=bridge, spend=spend)


def build_fused(
    use: Resources,
    *,
    k: Count = 10,
    depth: Count = 30,
    meaning: Annotated[float, Ge(0)] = 1.0,
    word: Annotated[float, Ge(0)] = 0.3,
    graph: Annotated[float, Ge(0)] = 2.5,
    bridge: Annotated[float, Ge(0)] = 0.25,
    rank: Count = 5,
    fusion: Fusion = "learned",
    late: Annotated[float, Ge(0)] = 0.0,
    among: Count = 30,
    spend: Annotated[int, Ge(0)] = 150,
    tokens: Tokens = 8000,
) -> Strategy:
    """`fusion`: `learned`, or `rank`, which uses no trained weights. `late`: what MaxSim among the best counts.
    `spend`: CPU milliseconds in which the reader may look at the first candidates; 0 leaves it out.
    """
    found = candidates(
        use,
        depth=depth,
        meaning=meaning,
        word=word,
        graph=graph,
        bridge=bridge,
        rank=rank,
        fusion=fusion,
        spend=spend,
    )
    return (
        found
        >> reorder(use, among=among, weight=late, k=rank)
        >> top(k)
        >> pack(use, tokens, order=False)
        >> answer(use, reach=IN_ORDER if affordable(spend) and fusion == "learned" else USUAL)
    )


FUSED = Paradigm(
    name="fused",
    summary="Meaning, words and a walk over the graph together, bridged through entities, weighed by a trained model.",
    source="beyond",
    needs=frozenset({"vectors", "words", "graph"}),
    build=build_fused,
)
