"""The arrays of the graph, made from its rows in the store."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import Rows, TableSize, write_table
from ragways.index.graph.array_changes import change_arrays
from ragways.index.graph.contents import MENTION_WEIGHTS, NODES, Contents, joins
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.ids import ENTITIES, as_ids
from ragways.index.graph.mentions import CHUNKS, DOCUMENTS
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.relation_links import sums_at_ends
from ragways.index.graph.relations import RELATIONS
from ragways.index.graph.stored_relations import all_joining
from ragways.index.graph.weights import kept_sums, kept_weights, link_weights
from ragways.index.ragged import Ragged, Values, ragged

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
_T = TypeVar("_T")

_AT_ONCE = 10_000  # rows that are taken up together
LARGE = 5_000
"""Entities of a graph whose arrays are changed by rows: those of a smaller one are soon written anew."""


def write_arrays(
    db: sqlite3.Connection, folder: Path, before: Path | None = None, touched: Touched | None = None
) -> None:
    """All of the graph's files but its vectors, from its rows in the store. `before`: the derived folder of the
    generation before, if any; `touched`: what is other than there, if that is known.
    """
    if before is not None and touched is not None and _is_large(before) and change_arrays(db, folder, before, touched):
        return
    _write_all(db, folder)


def _is_large(folder: Path) -> bool:
    """Whether there are arrays with room for changes."""
    return (folder / f"{ENTITIES}.json").is_file() and TableSize.load(folder, ENTITIES).rows >= LARGE


def _write_all(db: sqlite3.Connection, folder: Path) -> None:
    """One table after the other, so that what one takes in memory is free again for the next."""
    ids, joining = _entities(db)
    with_room = len(ids) >= LARGE
    NameWords.write(folder, _names(db, ids), with_room=with_room)
    contents = Contents(db)
    _write_chunks(folder, contents, with_room=with_room)
    _write_relations(db, folder, contents, ids, joining, with_room=with_room)
    _write_nodes(folder, contents, ids, joining, with_room=with_room)


def _write_nodes(folder: Path, contents: Contents, ids: Ints, joining: NDArray[np.bool_], *, with_room: bool) -> None:
    """Entities and chunks as a walk goes over them: each mention is an edge, seen from both sides."""
    first = TableSize.load(folder, ENTITIES).capacity
    entities = np.searchsorted(ids, contents.entities).astype(np.int32)
    chunks = contents.naming.astype(np.int32)
    joins_passages = joining[entities]
    links, others = (
        _from_both_sides((first, len(contents.named)), entities[at], chunks[at], contents.marks[at])
        for at in (np.flatnonzero(joins_passages), np.flatnonzero(~joins_passages))
    )
    strengths = np.bincount(links.owners(), MENTION_WEIGHTS[links["marks"]], len(links)).astype(np.float64)
    nodes = Rows(np.arange(len(links)), {"strengths": kept_sums(strengths)}, {"links": links, "others": others})
    write_table(folder, NODES, nodes, with_room=with_room)


def _from_both_sides(sizes: tuple[int, int], entities: Small, chunks: Small, marks: NDArray[np.uint8]) -> Ragged:
    """The chunks that name each entity, and then the entities that each chunk names. `sizes`: how many rows there are
    of either; chunks are numbered after entities.
    """
    orders = [np.argsort(entities, kind="stable"), np.lexsort((entities, chunks))]
    return ragged(
        np.concatenate([np.bincount(of, minlength=size) for of, size in zip((entities, chunks), sizes, strict=True)]),
        nodes=np.concatenate([sizes[0] + chunks[orders[0]], entities[orders[1]]]).astype(np.int32),
        marks=np.concatenate([marks[order] for order in orders]),
    )


def _write_chunks(folder: Path, contents: Contents, *, with_room: bool) -> None:
    firsts = (np.cumsum(contents.lengths) - contents.lengths).astype(np.int32)
    columns: dict[str, Values] = {
        "numbers": contents.documents,
        "firsts": firsts,
        "counts": contents.lengths.astype(np.int32),
    }
    write_table(folder, DOCUMENTS, Rows(np.arange(len(firsts)), columns), with_room=with_room)
    chunks = Rows(np.arange(len(contents.named)), {"documents": contents.of_chunks}, {"path": contents.letters()})
    write_table(folder, CHUNKS, chunks, with_room=with_room)


def _write_relations(
    db: sqlite3.Connection,
    folder: Path,
    contents: Contents,
    ids: Ints,
    joining: NDArray[np.bool_],
    *,
    with_room: bool,
) -> None:
    """Relations, and entities by what joins them."""
    relations, size = all_joining(db), len(ids)
    subjects, objects = (
        np.searchsorted(ids, ends).astype(np.int32) for ends in (relations.subjects, relations.objects)
    )
    stated = np.searchsorted(relations.ids, contents.relations).astype(np.int32)
    columns: dict[str, Values] = {"ids": as_ids(relations.ids), "alive": np.ones(len(subjects), np.bool_)}
    weights = link_weights(relations.weights)
    columns |= {"subjects": subjects, "objects": objects, "weights": kept_weights(weights)}
    stating = _grouped(len(subjects), stated, chunks=contents.stating.astype(np.int32))
    write_table(folder, RELATIONS, Rows(np.arange(len(subjects)), columns, {"stating": stating}), with_room=with_room)
    del relations, columns, stated, stating
    strengths = kept_sums(sums_at_ends(size, subjects, objects, weights))
    rows = Rows(
        np.arange(size),
        {"ids": as_ids(ids), "alive": np.ones(size, np.bool_), "joining": joining, "strengths": strengths},
        {"subject_of": _by_ends(size, subjects, objects), "object_of": _by_ends(size, objects, subjects)},
    )
    write_table(folder, ENTITIES, rows, with_room=with_room)


def _grouped(size: int, owners: Small, **parts: Values) -> Ragged:
    """Values by the row that each belongs to, in their order there."""
    order = np.argsort(owners, kind="stable")
    return ragged(np.bincount(owners, minlength=size), **{name: values[order] for name, values in parts.items()})


def _by_ends(size: int, owners: Small, others: Small) -> Ragged:
    """The relations of each entity, by the entities at their other ends."""
    order = np.lexsort((others, owners))
    return ragged(np.bincount(owners, minlength=size), relations=order.astype(np.int32))


def _entities(db: sqlite3.Connection) -> tuple[Ints, NDArray[np.bool_]]:
    """Their numbers in the store, in rising order, and which of them join passages."""
    ids, joining, known = array("q"), bytearray(), dict[str, bool]()
    for rows in _batches(db.execute("SELECT id, type FROM graph_entities ORDER BY id")):
        numbers, types = zip(*rows, strict=True)
        ids.extend(numbers)
        for type in set(types) - known.keys():
            known[type] = joins(type)
        joining.extend(map(known.__getitem__, types))
    return _ints(ids), np.frombuffer(bytes(joining), dtype=np.bool_)


def _names(db: sqlite3.Connection, ids: Ints) -> Iterator[tuple[str, int]]:
    """Names as they are compared, by entity, each with the number of its entity."""
    for rows in _batches(db.execute("SELECT name, entity FROM graph_names ORDER BY entity, name")):
        names, entities = zip(*rows, strict=True)
        yield from zip(names, np.searchsorted(ids, entities).tolist(), strict=True)


def _batches(rows: Iterator[_T]) -> Iterator[list[_T]]:
    while some := list(islice(rows, _AT_ONCE)):
        yield some


def _ints(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, dtype=np.int64)
