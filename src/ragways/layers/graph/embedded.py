"""Vectors of entities and relations, where the settings want some: of the texts that a reader of the graph shows.

Beside the vectors the hash of each text is stored. So a change reads what it touched alone, and `used` tells which
vectors the index still needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ragways.core.errors import BudgetExceeded
from ragways.core.types import content_hash
from ragways.layers.files import replacing
from ragways.layers.graph.csr import CODES, GraphArrays, Ints
from ragways.layers.graph.read import StoredGraph
from ragways.layers.graph.relations import Relations
from ragways.layers.layer import Use
from ragways.layers.settings import GraphSettings
from ragways.layers.vectors import StoredVectors

ENTITIES, RELATIONS = "entities", "relations"
_AT_ONCE = 4096
_APART = (CODES["date"], CODES["quantity"])


def load_vectors(view: Path, name: str) -> StoredVectors | None:
    """The vectors of entities or relations of a view, where it has them."""
    return StoredVectors.load(view, name) if (view / f"{name}.npy").is_file() else None


def hashes_of(view: Path, name: str) -> list[str]:
    """Hashes of the texts that are embedded, in the order of the vectors."""
    path = view / f"{name}.hashes"
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


async def save_vectors(
    view: Path, graph: StoredGraph, settings: GraphSettings, use: Use, embedder: str, touched: Ints | None
) -> None:
    """Write the vectors that the settings want. `touched`: entities that may have other texts than before; None where
    all may.
    """
    arrays = graph.arrays
    if settings.vectors != "none":
        wanted = _joining(arrays, every=settings.vectors == "all")
        await _Texts(view, ENTITIES, arrays.ids(wanted), wanted, graph, use, embedder).save(touched)
    if settings.relation_vectors:
        wanted = np.arange(len(arrays.weights))
        if touched is not None:
            ends = np.zeros(len(arrays), np.bool_)
            ends[touched] = True
            touched = np.flatnonzero(ends[arrays.subjects] | ends[arrays.objects])
        ids = Relations(arrays).ids(wanted)
        await _Texts(view, RELATIONS, ids, wanted, graph, use, embedder).save(touched)


def _joining(arrays: GraphArrays, *, every: bool) -> Ints:
    """Entities that have a vector: those that several chunks name, or one that is of their own article; or `every` one,
    but for dates and quantities.
    """
    named = np.diff(arrays.naming_begins)
    own = np.zeros(len(arrays), np.int64)
    owners = np.repeat(np.arange(len(arrays)), named)
    np.add.at(own, owners, arrays.naming_own)
    able = np.ones(len(arrays), np.bool_) if every else named + own > 1
    return np.flatnonzero(able & ~np.isin(arrays.kinds, _APART))


def named_in(arrays: GraphArrays, documents: frozenset[int]) -> Ints:
    """Entities that these documents mention."""
    able = np.fromiter((number in documents for number in arrays.documents.tolist()), np.bool_, len(arrays.documents))
    chunks = np.repeat(able, np.diff(arrays.first_chunk))
    return np.unique(arrays.named_entities[np.repeat(chunks, np.diff(arrays.named_begins))]).astype(np.int64)


class _Texts:
    """The texts of one kind of thing: ids and numbers of those that are to have a vector, in order."""

    def __init__(
        self, view: Path, name: str, ids: Sequence[str], numbers: Ints, graph: StoredGraph, use: Use, embedder: str
    ) -> None:
        self._view, self._name, self._ids, self._numbers = view, name, ids, numbers
        self._graph, self._use, self._embedder = graph, use, embedder

    async def save(self, touched: Ints | None) -> None:
        """Take over vectors of the view before, but those of `touched` ones, and have the others embedded."""
        rows: dict[str, tuple[str, bytes]] = {}
        before = load_vectors(self._view, self._name) if touched is not None else None
        if before is not None and touched is not None:
            others = set(touched.tolist())
            stays = {id for id, n in zip(self._ids, self._numbers.tolist(), strict=True) if n not in others}
            packed, hashes = before.matrix.packed, hashes_of(self._view, self._name)
            rows = {
                id: (hash, packed[at].tobytes())
                for at, (id, hash) in enumerate(zip(before.ids, hashes, strict=True))
                if id in stays
            }
        for some in self._lacking(rows):
            rows |= await self._embedded(some)
        ids = [id for id in self._ids if id in rows]
        dimension = 0 if self._use.embedder is None else self._use.embedder.dimension
        StoredVectors.stack(ids, [rows[id][1] for id in ids], dimension).save(self._view, self._name)
        with replacing(self._view / f"{self._name}.hashes") as draft:
            draft.write_text("\n".join(rows[id][0] for id in ids), encoding="utf-8")

    def _lacking(self, rows: dict[str, tuple[str, bytes]]) -> Iterator[dict[str, int]]:
        lacking = [(id, n) for id, n in zip(self._ids, self._numbers.tolist(), strict=True) if id not in rows]
        for begin in range(0, len(lacking), _AT_ONCE):
            yield dict(lacking[begin : begin + _AT_ONCE])

    async def _embedded(self, some: dict[str, int]) -> dict[str, tuple[str, bytes]]:
        """Hashes of texts and their vectors, as far as these can be had."""
        texts = self._texts(some)
        hashes = {id: content_hash(text) for id, text in texts.items()}
        known = self._use.cache.vectors(self._embedder, set(hashes.values()))
        missing = {hash: texts[id] for id, hash in hashes.items() if hash not in known}
        if missing and self._use.pays:
            try:
                await self._use.embed(missing)
            except BudgetExceeded as error:
                self._use.fail(error.message)
            known |= self._use.cache.vectors(self._embedder, missing)
        return {id: (hash, known[hash]) for id, hash in hashes.items() if hash in known}

    def _texts(self, some: dict[str, int]) -> dict[str, str]:
        if self._name == ENTITIES:
            found = self._graph.entities(some)
            return {id: f"{e.name}: {e.description}" if e.description else e.name for id, e in found.items()}
        relations = self._graph.relations_at(list(some.values())).values()
        return {
            each.id: each.description or f"{each.subject_name} {each.predicate.replace('_', ' ')} {each.object_name}"
            for each in relations
        }
