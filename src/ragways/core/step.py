"""`Step`, the only verb, and `fuse`, which joins steps that run side by side.

    answer = await (retrieve(use, k=10) >> pack(use, 8000) >> answer(use))(Query("..."))

The type checker refuses a wrong order: what a step gives must be what the next one takes.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic, TypeVar

from ragways.core.brief import brief
from ragways.core.errors import UsageError
from ragways.core.trace import span
from ragways.core.types import Found, Hit, Hits, Query, ranked

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)
Middle = TypeVar("Middle")
Next = TypeVar("Next")


class Step(Generic[In, Out]):
    """A named piece of work from one noun to the next. Runs inside a span of its name, which says what went in and what
    came out.
    """

    def __init__(self, name: str, run: Callable[[In], Awaitable[Out]], **details: object) -> None:
        self.name = name
        self._run = run
        self._details = details

    async def __call__(self, value: In) -> Out:
        with span(self.name, **self._details) as here:
            here.input = brief(value)
            result = await self._run(value)
            here.output = brief(result)
            return result

    def __rshift__(self, then: Step[Out, Next]) -> Step[In, Next]:
        return _Chain(self, then)

    def __repr__(self) -> str:
        return self.name


class _Chain(Step[In, Out]):
    """Two steps as one; it opens no span of its own, so a trace shows the steps alone."""

    def __init__(self, first: Step[In, Middle], then: Step[Middle, Out]) -> None:
        async def run(value: In) -> Out:
            return await then(await first(value))

        super().__init__(f"{first} >> {then}", run)

    async def __call__(self, value: In) -> Out:
        return await self._run(value)


def rank_fusion(lists: Sequence[Hits], k: int = 60, weights: Sequence[float] | None = None) -> Hits:
    """Reciprocal rank fusion: score = Σ weight / (k + rank). The order of lists does not matter, to the last bit."""
    if not lists:
        raise UsageError("rank fusion needs at least one list")
    if weights is not None and len(weights) != len(lists):
        raise UsageError(f"rank fusion of {len(lists)} lists was given {len(weights)} weights")
    shares: dict[str, list[float]] = defaultdict(list)
    found: dict[str, tuple[Found, ...]] = defaultdict(tuple)
    pieces = {}
    for hits, weight in zip(lists, weights or [1.0] * len(lists), strict=True):
        for rank, hit in enumerate(hits.items, start=1):
            shares[hit.piece.id].append(weight / (k + rank))
            found[hit.piece.id] += hit.found
            pieces[hit.piece.id] = hit.piece
    return ranked(
        lists[0].query,
        (
            Hit(piece, math.fsum(shares[id]), found[id] if len(found[id]) == 1 else _in_order(found[id]))
            for id, piece in pieces.items()
        ),
    )


def _in_order(found: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(sorted(set(found), key=lambda each: (each.by, each.rank, each.note)))


def fuse(*steps: Step[Query, Hits], k: int = 60, weights: Sequence[float] | None = None) -> Step[Query, Hits]:
    """Run retrievers side by side and join their lists by rank; a weight tells how much each list counts."""
    if not steps:
        raise UsageError("fuse needs at least one step")

    async def run(query: Query) -> Hits:
        return rank_fusion(await asyncio.gather(*(step(query) for step in steps)), k, weights)

    return Step("fuse", run, k=k)
