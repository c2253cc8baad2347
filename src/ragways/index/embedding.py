"""Embedding for an index: each text once, cached by content as it comes."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.core.runtime import Progress, ProgressCallback, in_turn
from ragways.index.recipe import Summary
from ragways.layers.layer import Engine, Texts
from ragways.models.embed import Embedder, Vectors
from ragways.store.cache import WorkCache

AT_ONCE = 64
"""Texts embedded in one call, and so lost at most when a run is killed."""


class Embedding:
    """An embedder with the cache of its vectors."""

    def __init__(self, embedder: Embedder, cache: WorkCache, engine: Engine | None = None) -> None:
        self.embedder = embedder
        self._engine = engine
        self._cache = cache

    async def see_to(self, texts: Texts, summary: Summary, progress: ProgressCallback, *, layer: str) -> None:
        """Embed those of the texts that have no vector yet; the cost is counted for the layer that wants them."""
        known = self._cache.known(self.embedder.name, texts)
        # Texts of one length together, so that a batch of an endpoint is even.
        missing = sorted((hash for hash in texts if hash not in known), key=lambda hash: (-len(texts[hash]), hash))
        slices = [missing[at : at + AT_ONCE] for at in range(0, len(missing), AT_ONCE)]
        kind = f"embed:{layer}"

        async def embed(hashes: Sequence[str]) -> None:
            with self._cache.costing(kind) as cost:
                vectors = await self._embed([texts[hash] for hash in hashes])
                self._cache.keep(self.embedder.name, dict(zip(hashes, vectors, strict=True)), kind, cost)
            summary.embedded += len(hashes)
            progress(Progress("embedding", summary.embedded))

        await in_turn(map(embed, slices), (self._engine or self.embedder).parallel)

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        if self._engine is not None:
            return await self._engine.embed(self.embedder, texts)
        return await self.embedder.embed(texts)
