"""The view of the graph in a folder: made or folded, with what readers want beside it, and checked.

Vectors of entities and relations, where the settings want some, are of the texts that a reader of the graph shows.
Beside them the hash of each text is stored: so a change reads only what it touched, and `used` knows which vectors the
index still needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ragways.core.errors import BudgetExceeded
from ragways.core.types import content_hash
from ragways.layers.files import load_json, replacing, save_json
from ragways.layers.graph.csr import GraphArrays, Ints, Relations, owners, whole_sums
from ragways.layers.graph.fold import Entries
from ragways.layers.graph.names import fold as folded
from ragways.layers.graph.read import ENTITIES, RELATIONS, StoredGraph, load_vectors
from ragways.layers.graph.resolve import Merging, RowColumns, alike
from ragways.layers.graph.texts import NameWords
from ragways.layers.graph.walk import APART, Strengths
from ragways.layers.layer import CheckContext, Finding, Use, findings
from ragways.layers.settings import GraphSettings
from ragways.layers.vectors import StoredVectors
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
    common = use.lexicon.common if use.lexicon is not None else lambda _: False
    merging, before, documents = Merging(apart), None, frozenset[int]()
    if change is not None and not settings.near and merging == merging_of(view):
        before = GraphArrays.load(view)
    if change is None or before is None or _MANY * len(change.added) > len(before.documents):
        before, rows = None, RowColumns.read(store, None, common)
        if settings.near and "vectors" in use.layers:
            merging = Merging(apart, await _near(store, settings, use))
        entries = Entries.make(rows, merging)
    else:
        entries, documents = Entries.of(before, view).fold(store, change, merging, common)
    arrays = entries.save(view)
    save_json(view / _MERGING, {"apart": sorted(merging.apart), "near": merging.near})
    strengths = Strengths.of(arrays)
    strengths.save(view)
    words = NameWords.of(arrays, None if before is None else (NameWords.load(view), before))
    words.save(view)
    if "vectors" in use.layers and (settings.vectors != "none" or settings.relation_vectors):
        touched = None
        if before is not None:
            gone, here = arrays.numbers(before.ids(named_in(before, documents))), named_in(arrays, documents)
            touched = np.union1d(list(gone.values()), here).astype(np.int64)
        shown = StoredGraph(arrays, store, strengths=strengths, words=words)
        await save_vectors(view, shown, settings, use, store.meta()["embedder"], touched)


def merging_of(view: Path) -> Merging:
    """What was decided on names when the view was made."""
    found: Mapping[str, list[list[str]]] = load_json(view / _MERGING)
    apart, near = ([(one, other) for one, other in found[name]] for name in ("apart", "near"))
    return Merging(frozenset(apart), tuple(near))


async def _near(store: Store, settings: GraphSettings, use: Use) -> tuple[tuple[str, str], ...]:
    """Names that are so near another, as strings and by their vectors, that they mean it."""
    query = "SELECT name, sum(count) FROM mentions GROUP BY name"
    counts = {name: int(count) for name, count in store.db.execute(query)}
    titles = {folded(title) for (title,) in store.facts("documents", "title")}
    pairs = list(alike(counts, titles, settings.near_string))
    texts = {content_hash(name): name for pair in pairs for name in pair}
    await use.embed(texts)
    known = use.cache.vectors(store.meta()["embedder"], texts)
    vectors = {texts[hash]: unpack(packed) for hash, packed in known.items()}
    return tuple(
        (few, many)
        for few, many in pairs
        if few in vectors and many in vectors and float(np.dot(vectors[few], vectors[many])) >= settings.near_cosine
    )


# Vectors

_AT_ONCE = 4096


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
        wanted = _with_vectors(arrays, every=settings.vectors == "all")
        numbers = dict(zip(arrays.ids(wanted), wanted.tolist(), strict=True))
        await _save(view, ENTITIES, numbers, touched, graph, use, embedder)
    if settings.relation_vectors:
        wanted = np.arange(len(arrays.weights))
        if touched is not None:
            ends = np.zeros(len(arrays), np.bool_)
            ends[touched] = True
            touched = np.flatnonzero(ends[arrays.subjects] | ends[arrays.objects])
        numbers = dict(zip(Relations(arrays).ids(wanted), wanted.tolist(), strict=True))
        await _save(view, RELATIONS, numbers, touched, graph, use, embedder)


def _with_vectors(arrays: GraphArrays, *, every: bool) -> Ints:
    """Entities that have a vector: those that several chunks name, or one that is of their own article; or `every` one,
    but for dates and quantities.
    """
    named = np.diff(arrays.naming_begins)
    own = whole_sums(owners(arrays.naming_begins), arrays.naming_own.astype(np.int64), len(arrays))
    able = np.ones(len(arrays), np.bool_) if every else named + own > 1
    return np.flatnonzero(able & ~np.isin(arrays.kinds, APART))


def named_in(arrays: GraphArrays, documents: frozenset[int]) -> Ints:
    """Entities that these documents mention."""
    chunks = arrays.chunks_of(documents)
    return np.unique(arrays.named_entities[np.repeat(chunks, np.diff(arrays.named_begins))]).astype(np.int64)


async def _save(
    view: Path, name: str, numbers: Mapping[str, int], touched: Ints | None, graph: StoredGraph, use: Use, embedder: str
) -> None:
    """Write the vectors of these entities or relations. Those of the view before are taken over, but those of
    `touched` ones; the others are embedded.
    """
    rows: dict[str, tuple[str, bytes]] = {}
    if touched is not None and (before := load_vectors(view, name)) is not None:
        others = {-1, *touched.tolist()}
        rows = {
            id: (hash, before.matrix.packed[at].tobytes())
            for at, (id, hash) in enumerate(zip(before.ids, hashes_of(view, name), strict=True))
            if numbers.get(id, -1) not in others
        }
    lacking = [id for id in numbers if id not in rows]
    for begin in range(0, len(lacking), _AT_ONCE):
        texts = _texts(graph, name, {id: numbers[id] for id in lacking[begin : begin + _AT_ONCE]})
        hashes = {id: content_hash(text) for id, text in texts.items()}
        try:
            await use.embed({hashes[id]: text for id, text in texts.items()})
        except BudgetExceeded as error:
            use.fail(error.message)
        known = use.cache.vectors(embedder, set(hashes.values()))
        rows |= {id: (hash, known[hash]) for id, hash in hashes.items() if hash in known}
    ids = [id for id in numbers if id in rows]
    dimension = 0 if use.embedder is None else use.embedder.dimension
    StoredVectors.stack(ids, [rows[id][1] for id in ids], dimension).save(view, name)
    with replacing(view / f"{name}.hashes") as draft:
        draft.write_text("\n".join(rows[id][0] for id in ids), encoding="utf-8")


def _texts(graph: StoredGraph, name: str, numbers: Mapping[str, int]) -> dict[str, str]:
    if name == ENTITIES:
        entities = graph.entities(numbers)
        return {id: f"{e.name}: {e.description}" if e.description else e.name for id, e in entities.items()}
    return {
        each.id: each.description or f"{each.subject_name} {each.predicate.replace('_', ' ')} {each.object_name}"
        for each in graph.relations_at(numbers.values()).values()
    }


def embedded_hashes(view: Path) -> set[str]:
    """Hashes of the texts whose vectors the view needs."""
    near = {content_hash(name) for pair in merging_of(view).near for name in pair}
    return near.union(hashes_of(view, ENTITIES), hashes_of(view, RELATIONS))


# Checks

_ISOLATED_LIMIT = 0.5
"""The share of entities that may stand alone before it is reported."""
_COMPARED = 200_000
"""Chunks up to which the graph is made anew of the rows and compared; that takes a minute then, and a gigabyte."""


def check_graph(context: CheckContext, view: Path) -> Iterator[Finding]:
    cure, graph = context.cure_of_view, GraphArrays.load(view)
    numbers = graph.documents.tolist()
    strange = (f"article:{number}" for number in sorted(set(numbers) ^ set(context.store.numbers())))
    yield from findings("graph: other documents than the index has", "error", strange, cure)
    if graph.chunks <= _COMPARED:
        yield from findings("graph: arrays that are not made of the rows", "error", _other(graph, context, view), cure)
    for name in (ENTITIES, RELATIONS):
        if (vectors := load_vectors(view, name)) is not None:
            yield from findings(f"vectors of {name} that are not there", "error", _strange(graph, vectors, name), cure)
    alone = np.flatnonzero((np.diff(graph.subject_begins) == 0) & (np.diff(graph.object_begins) == 0))
    context.figures |= {"entities": len(graph), "isolated_share": len(alone) / len(graph) if len(graph) else 0.0}
    if len(alone) > _ISOLATED_LIMIT * len(graph):
        share = f"{len(alone) / len(graph):.0%} of entities stand alone"
        cure = "no relation was found for them: a graph made by a model has more"
        yield from findings(share, "warning", graph.ids(alone), cure)


def _other(graph: GraphArrays, context: CheckContext, view: Path) -> list[str]:
    """Names of arrays that are others where the graph is made of the rows."""
    rows = RowColumns.read(context.store, None, lambda _: False)
    made = Entries.make(rows, merging_of(view)).graph().arrays()
    # Which words are everyday ones is read from the lexicon of the run that read them.
    columns = ((name, array) for name, array in graph.arrays().items() if name != "everyday")
    return sorted(name for name, array in columns if not np.array_equal(array, made[name]))


def _strange(graph: GraphArrays, vectors: StoredVectors, name: str) -> Iterator[str]:
    """Ids of vectors of entities or relations that the graph does not have."""
    if name == ENTITIES:
        known = graph.numbers(vectors.ids)
        return (id for id in vectors.ids if id not in known)
    numbers = Relations(graph).numbers(vectors.ids).tolist()
    return (id for id, number in zip(vectors.ids, numbers, strict=True) if number < 0)
