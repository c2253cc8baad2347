"""What entities lead to in an open graph: by their relations, and by the chunks that name them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragways.index.graph.reader import Graph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.index.graph.relations import Ints

    Floats = NDArray[np.float64]


def nodes(graph: Graph, entities: Iterable[str]) -> list[int]:
    """The numbers of entities."""
    return [graph.ordinals[id] for id in entities]


def of_ends(graph: Graph, numbers: Ints, scores: Mapping[str, float]) -> tuple[Floats, Floats]:
    """The scores of the subject and of the object of each of these relations; 0 for an entity that has none."""
    import numpy as np

    held = np.zeros(len(graph.ids))
    held[nodes(graph, scores)] = list(scores.values())
    return held[graph.relation_arrays.subjects[numbers]], held[graph.relation_arrays.objects[numbers]]


def summed(chunks: Ints, scores: Floats) -> tuple[Ints, Ints, Floats]:
    """Each chunk once, where it stands first, and all of its scores in sum: to the last bit, whatever their order."""
    import numpy as np

    known, first, where, counts = np.unique(chunks, return_index=True, return_inverse=True, return_counts=True)
    total: Floats = np.bincount(where, scores, len(known)).astype(np.float64, copy=False)
    # A sum of two is exact to the last bit already.
    parts, ends = scores[np.argsort(where, kind="stable")], np.cumsum(counts)
    for at in np.flatnonzero(counts > 2).tolist():
        total[at] = math.fsum(parts[ends[at] - counts[at] : ends[at]].tolist())
    return known, first.astype(np.int64), total


def naming(graph: Graph, entity: str, limit: int) -> list[int]:
    """The chunks that name an entity, by number: its own article's and those that name it most first."""
    import numpy as np

    places, weights = graph.passages.neighbours(graph.ordinals[entity])
    if 0 < limit < len(weights):
        # A hub is named all over the corpus: only those that may be among the first are sorted.
        border = weights.max() if limit == 1 else np.partition(weights, -limit)[-limit]
        chosen = np.flatnonzero(weights >= border)
        places, weights = places[chosen], weights[chosen]
    order = np.argsort(-weights, kind="stable")[:limit]
    return [node - len(graph.ids) for node in places[order].tolist()]
