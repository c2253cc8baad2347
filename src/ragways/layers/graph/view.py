"""The view of the graph in a folder: made or folded, with what readers want beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ragways.core.types import content_hash
from ragways.layers.files import load_json, save_json
from ragways.layers.graph.csr import GraphArrays
from ragways.layers.graph.embedded import ENTITIES, RELATIONS, hashes_of, load_vectors, named_in, save_vectors
from ragways.layers.graph.fold import Entries
from ragways.layers.graph.names import fold as folded
from ragways.layers.graph.read import StoredGraph
from ragways.layers.graph.resolve import Merging, RowColumns, alike
from ragways.layers.graph.texts import NameWords
from ragways.layers.graph.walk import Strengths
from ragways.layers.layer import Use
from ragways.layers.settings import GraphSettings
from ragways.store.packed import unpack
from ragways.store.store import Change, Store

_MERGING = "merging.json"
_MANY = 4
"""A change of more than one document in so many is not folded: making all anew is quicker."""


async def fold_view(
    view: Path, store: Store, change: Change | None, use: Use, apart: frozenset[tuple[str, str]]
) -> None:
    """Bring the view up to date, or make it. `apart`: names that are never merged."""
    settings = use.settings_of("graph", GraphSettings)
    common = _common(use)
    merging = Merging(apart)
    before: tuple[Entries, GraphArrays, NameWords] | None = None
    documents: frozenset[int] = frozenset()
    if change is not None and not settings.near and merging == merging_of(view):
        graph = GraphArrays.load(view)
        before = Entries.of(graph, view), graph, NameWords.load(view)
    if change is not None and before is not None and _MANY * len(change.added) <= len(before[1].documents):
        entries, documents = before[0].fold(store, change, merging, common)
    else:
        before = None
        rows = RowColumns.read(store, None, common)
        if settings.near and "vectors" in use.layers:
            merging = Merging(apart, await _near(store, settings, use))
        entries = Entries.make(rows, merging)
    arrays = entries.save(view)
    save_json(view / _MERGING, {"apart": sorted(merging.apart), "near": merging.near})
    strengths = Strengths.of(arrays)
    strengths.save(view)
    words = NameWords.of(arrays, None if before is None else (before[2], before[1]))
    words.save(view)
    if "vectors" in use.layers and (settings.vectors != "none" or settings.relation_vectors):
        touched = None
        if before is not None:
            gone, here = before[1].ids(named_in(before[1], documents)), named_in(arrays, documents)
            touched = np.union1d(arrays.places(gone), here)
        shown = StoredGraph(arrays, store, strengths=strengths, words=words)
        await save_vectors(view, shown, settings, use, store.meta()["embedder"], touched)


def open_view(view: Path, store: Store) -> StoredGraph:
    vectors, relation_vectors = load_vectors(view, ENTITIES), load_vectors(view, RELATIONS)
    return StoredGraph.open(view, store, vectors=vectors, relation_vectors=relation_vectors)


def merging_of(view: Path) -> Merging:
    """What was decided on names when the view was made."""
    found: Mapping[str, list[list[str]]] = load_json(view / _MERGING)
    apart, near = ([(one, other) for one, other in found[name]] for name in ("apart", "near"))
    return Merging(frozenset(apart), tuple(near))


def _common(use: Use) -> Callable[[str], bool]:
    return (lambda _: False) if use.lexicon is None else use.lexicon.common


async def _near(store: Store, settings: GraphSettings, use: Use) -> tuple[tuple[str, str], ...]:
    """Names that are so near another, as strings and by their vectors, that they mean it."""
    query = "SELECT name, sum(count) FROM mentions GROUP BY name"
    counts = {name: int(count) for name, count in store.db.execute(query)}
    titles = {folded(title) for (title,) in store.facts("documents", "title")}
    pairs = list(alike(counts, titles, settings.near_string))
    texts = {content_hash(name): name for pair in pairs for name in pair}
    if use.pays:
        await use.embed(texts)
    known = use.cache.vectors(store.meta()["embedder"], texts)
    vectors = {texts[hash]: unpack(packed) for hash, packed in known.items()}
    return tuple(
        (few, many)
        for few, many in pairs
        if few in vectors and many in vectors and float(np.dot(vectors[few], vectors[many])) >= settings.near_cosine
    )


def embedded_hashes(view: Path) -> set[str]:
    """Hashes of the texts whose vectors the view needs."""
    near = {content_hash(name) for pair in merging_of(view).near for name in pair}
    return near.union(hashes_of(view, ENTITIES), hashes_of(view, RELATIONS))
