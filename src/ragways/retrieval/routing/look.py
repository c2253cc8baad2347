"""The first look: one cheap retrieval, before it is decided how a question is answered.

It is the best retrieval that the index's layers allow and that calls no model. It has all its hits, best first: what a
paradigm of the same name would show with `k=5` is the first five of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ragways.core.brief import brief
from ragways.core.errors import MissingLayer
from ragways.core.step import Step
from ragways.core.types import Evidence, Hits, Query
from ragways.retrieval.flat import HYBRID_WORDS, NAIVE, WORDS, side_by_side
from ragways.retrieval.fused import FUSED, WeighedHits, candidates
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack, top, words

DEEP: Final = 60
"""Hits of a look by one list alone."""

_LOOKS: Final[Mapping[Paradigm, Callable[[Resources], Step[Query, Hits]]]] = {
    FUSED: candidates,
    HYBRID_WORDS: side_by_side,
    NAIVE: lambda use: dense(use, k=DEEP),
    WORDS: lambda use: words(use, k=DEEP),
}
"""Best first; each needs the layers that its paradigm needs."""


@dataclass(frozen=True)
class Look:
    """What a first look found.

    - `hits`: all candidates, best first, as the paradigm `by` orders them; the scores of `fused` are chances of being
      evidence
    - `linked`: how near the candidates are to being articles that name each other, 0 to 1; `read`: the best logit of
      being evidence by the reader. None where it is unknown
    """

    hits: Hits
    by: str
    linked: float | None = None
    read: float | None = None

    @property
    def brief(self) -> str:
        return f"{self.by}: {brief(self.hits)}"


def look(use: Resources) -> Step[Query, Look]:
    """Find what could be evidence, as well as it can be done cheaply: no model is called."""
    paradigm = best_look(use.index.layers)
    find = _LOOKS[paradigm](use)

    async def run(query: Query) -> Look:
        hits = await find(query)
        seen = hits if isinstance(hits, WeighedHits) else None
        return Look(hits, paradigm.name, seen.linked if seen else None, seen.read if seen else None)

    return Step("look", run, by=paradigm.name)


async def cut(use: Resources, look: Look, k: int, tokens: int) -> Evidence:
    """The evidence that the paradigm of a look shows with these settings, without searching again."""
    return await (top(k) >> pack(use, tokens, order=look.by != FUSED.name))(look.hits)


def best_look(layers: frozenset[str]) -> Paradigm:
    """The paradigm that a look over an index with these layers is by."""
    found = next((paradigm for paradigm in _LOOKS if paradigm.needs <= layers), None)
    if found is None:
        raise MissingLayer(
            "this index has neither vectors nor words: nothing can be looked up",
            "build with: ragways index PATH --with vectors,words,graph",
        )
    return found
