"""What `ragways check` looks at in the graph: whether its arrays fit each other, and the rows they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged
from ragways.layers.graph.csr import GraphArrays, Ints
from ragways.layers.graph.embedded import ENTITIES, RELATIONS, hashes_of, load_vectors
from ragways.layers.graph.fold import Entries
from ragways.layers.graph.relations import Relations
from ragways.layers.graph.resolve import RowColumns
from ragways.layers.graph.view import merging_of
from ragways.layers.layer import CheckContext, Finding, findings

_ISOLATED_LIMIT = 0.5
"""The share of entities that may stand alone before it is reported."""
_COMPARED = 200_000
"""Chunks up to which the graph is made anew of the rows and compared; that takes a minute then, and a gigabyte."""


def check_graph(context: CheckContext, view: Path) -> Iterator[Finding]:
    cure = context.cure_of_view
    try:
        graph = GraphArrays.load(view)
        unfit = sorted(_unfit(graph))
    except (StoreDamaged, TypeError, IndexError, ValueError) as error:
        yield Finding("graph: arrays that cannot be read", "error", 1, str(error), cure)
        return
    yield from findings("graph: arrays that do not fit the others", "error", unfit, cure)
    if unfit:
        return
    numbers = graph.documents.tolist()
    strange = (f"article:{number}" for number in sorted(set(numbers) ^ set(context.store.numbers())))
    yield from findings("graph: other documents than the index has", "error", strange, cure)
    if graph.chunks <= _COMPARED:
        yield from findings("graph: arrays that are not made of the rows", "error", _other(graph, context, view), cure)
    yield from _check_vectors(graph, view, cure)
    alone = np.flatnonzero((np.diff(graph.subject_begins) == 0) & (np.diff(graph.object_begins) == 0))
    context.figures |= {"entities": len(graph), "isolated_share": len(alone) / len(graph) if len(graph) else 0.0}
    if len(alone) > _ISOLATED_LIMIT * len(graph):
        share = f"{len(alone) / len(graph):.0%} of entities stand alone"
        cure = "no relation was found for them: a graph made by a model has more"
        yield from findings(share, "warning", graph.ids(alone), cure)


def _unfit(graph: GraphArrays) -> Iterator[str]:
    """Names of arrays whose numbers are not those of what they refer to."""
    size, chunks, names, relations = len(graph), graph.chunks, len(graph.names), len(graph.weights)
    for name, begins, owners, rows in (
        ("first_chunk", graph.first_chunk, len(graph.documents), chunks),
        ("letter_begins", graph.letter_begins, names, len(graph.letters)),
        ("naming_begins", graph.naming_begins, size, len(graph.naming_chunks)),
        ("named_begins", graph.named_begins, chunks, len(graph.named_entities)),
        ("subject_begins", graph.subject_begins, size, relations),
        ("object_begins", graph.object_begins, size, relations),
        ("stating_begins", graph.stating_begins, relations, len(graph.stating_chunks)),
        ("alias_begins", graph.alias_begins, len(graph.alias_names), len(graph.alias_chunks)),
    ):
        if len(begins) != owners + 1 or int(begins[0]) or int(begins[-1]) != rows or (np.diff(begins) < 0).any():
            yield name
    for name, sorted_values in (
        ("documents", graph.documents), ("names", graph.names), ("codes", graph.codes),
        ("predicates", graph.predicates),
    ):  # fmt: skip
        if (sorted_values[1:] <= sorted_values[:-1]).any():
            yield name
    for name, values, low, high in (
        ("titles", graph.titles, -1, names), ("final", graph.final, 0, names),
        ("articles", graph.articles, -1, len(graph.documents)), ("naming_chunks", graph.naming_chunks, 0, chunks),
        ("named_entities", graph.named_entities, 0, size), ("subjects", graph.subjects, 0, size),
        ("objects", graph.objects, 0, size), ("object_relations", graph.object_relations, 0, relations),
        ("relation_predicates", graph.relation_predicates, 0, len(graph.predicates)),
        ("stating_chunks", graph.stating_chunks, 0, chunks), ("alias_names", graph.alias_names, 0, names),
        ("alias_entities", graph.alias_entities, 0, size), ("alias_chunks", graph.alias_chunks, 0, chunks),
    ):  # fmt: skip
        if not _within(values, low, high):
            yield name


def _within(values: NDArray[np.integer], low: int, high: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < high)


def _other(graph: GraphArrays, context: CheckContext, view: Path) -> list[str]:
    """Names of arrays that are others where the graph is made of the rows."""
    rows = RowColumns.read(context.store, None, lambda _: False)
    made = Entries.make(rows, merging_of(view)).graph().arrays()
    # Which words are everyday ones is told by the lexicon of the run that read them.
    columns = ((name, array) for name, array in graph.arrays().items() if name != "everyday")
    return sorted(name for name, array in columns if not np.array_equal(array, made[name]))


def _check_vectors(graph: GraphArrays, view: Path, cure: str) -> Iterator[Finding]:
    for name in (ENTITIES, RELATIONS):
        if (vectors := load_vectors(view, name)) is None:
            continue
        there: Ints = (
            np.array([graph.place(id) for id in vectors.ids], np.int64)
            if name == ENTITIES
            else Relations(graph).numbers(vectors.ids)
        )
        strange = (vectors.ids[row] for row in np.flatnonzero(there < 0).tolist())
        yield from findings(f"vectors of {name} that are not there", "error", strange, cure)
        if len(hashes_of(view, name)) != len(vectors):
            yield Finding(f"vectors of {name} without the hashes of their texts", "error", 1, f"{name}.hashes", cure)
