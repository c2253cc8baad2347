"""Where each passage's vector stands, and how many passages an article has; made once for an open index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from ragways.index.vectors import Vectors


@dataclass(frozen=True, slots=True)
class Places:
    """`rows` by the id of a passage, `sizes` by the id of its article."""

    rows: Mapping[str, int]
    sizes: Counter[str]


_kept: WeakKeyDictionary[Vectors, Places] = WeakKeyDictionary()


def places(vectors: Vectors) -> Places:
    if vectors not in _kept:
        _kept[vectors] = Places(
            {id: row for row, id in enumerate(vectors.ids)},
            # `article:12:s8:p2:c0` is of `article:12`.
            Counter(":".join(id.split(":", 2)[:2]) for id in vectors.ids),
        )
    return _kept[vectors]
