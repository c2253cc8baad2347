"""Which entity is meant: by id or by name, and what was probably meant by a name that is none."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path

from ragways.apps.options import printable
from ragways.core.errors import UsageError
from ragways.index.database import connect, store_errors
from ragways.index.graph.names import fold
from ragways.index.graph.reader import Graph
from ragways.index.graph.tables import FILE

_LONGEST = 200
_SHOWN = 5
_COMPARED = 200


def find_entity(graph: Graph, folder: Path, text: str) -> list[str]:
    """Ids of the entities that are called so, the most probable first. `folder` is the derived folder of the graph."""
    wanted = text.strip()[:_LONGEST]
    found = [wanted] if wanted in graph.entities([wanted]) else graph.named(wanted)
    if not found:
        with store_errors(folder), closing(connect(folder / FILE, write=False)) as db:
            near = nearest_names(wanted, (row[0] for row in db.execute("SELECT DISTINCT name FROM entities")))
        cure = f"the nearest names are {printable(', '.join(near))}" if near else "the graph of this index is empty"
        raise UsageError(f"no entity is called {wanted!r}", cure)
    return found


def nearest_names(text: str, names: Iterable[str], limit: int = _SHOWN) -> list[str]:
    """Names most like a text, best first: by the pairs of letters they share, and the best of those by their order."""
    wanted = fold(text) or text.casefold()
    pairs = _pairs(wanted)

    def shared(name: str) -> float:
        own = _pairs(name.casefold())
        return 2 * len(pairs & own) / (len(pairs) + len(own) or 1)

    rough = heapq.nlargest(_COMPARED, ((shared(name), name) for name in names))
    alike = [(SequenceMatcher(None, wanted, fold(name)).ratio() + score, name) for score, name in rough]
    return [name for _, name in sorted(alike, key=lambda pair: (-pair[0], pair[1]))[:limit]]


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(max(1, len(text) - 1))}
