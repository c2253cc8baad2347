"""Hits → Hits: what several retrievers found, weighed by a small trained model.

The weighted sum of a passage's features, through the logistic function, is the chance that it is evidence. Where no
weights are wanted, the bridges make one more list, and lists are joined by rank.

There are two sets of weights, for passages that are articles by themselves and for parts of long ones. They are mixed
by what a question's candidates are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ragways.core.brief import traced
from ragways.core.step import Step, rank_fusion
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, ranked
from ragways.modules.bridge import Bridge
from ragways.modules.fusion_features import FEATURES, Candidates
from ragways.modules.fusion_weights import Weights, mixed
from ragways.modules.resources import Resources

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Fusion = Literal["learned", "rank"]
SHOWN = 10
"""Passages whose features the trace keeps."""


def weighed(use: Resources, *, fusion: Fusion = "learned", k: int = 5, bridge: float = 0.25) -> Step[Hits, Hits]:
    """Follow bridges from the best hits, and order all by their chance of being evidence.

    With `fusion="rank"` the bridges are a list of weight `bridge` that is joined to the hits by rank instead.
    """

    @traced
    async def run(hits: Hits) -> Hits:
        if not hits.items:
            return hits
        vector = await use.embed_question(hits.query.text)
        candidates = Candidates(use, hits, vector)
        features = candidates.features()
        whole = candidates.whole
        weights = mixed(whole)
        chances = chance(features, weights)
        found = _bridged(candidates, features)
        current_span().details.update(whole=round(whole, 3), weights=_rounded(weights.features))
        _tell(candidates, features, chances)
        before = {hit.piece.id: hit.found for hit in hits.items}
        scored = [
            Hit(piece, score, (*before.get(id, ()), *found.get(id, ())))
            for (id, piece), score in zip(candidates.pieces.items(), chances.tolist(), strict=True)
        ]
        if fusion == "learned":
            return ranked(hits.query, scored)
        bridged = [replace(hit, score=-hit.found[-1].rank) for hit in scored if hit.piece.id in found]
        return rank_fusion([hits, ranked(hits.query, bridged)], k, [1.0, bridge])

    return Step("weigh", run, fusion=fusion)


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
