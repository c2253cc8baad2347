"""Is an index fit? Looks at everything that must hold, changes nothing, and names a cure for all that does not.

An error means that answers can be wrong or a run can fail; a warning, that something is missing or left over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ragways.core.errors import StoreError
from ragways.index.check import communities, graph, structure, vectors, words, work_cache
from ragways.index.check.finding import REBUILD, Finding, Place
from ragways.index.database import connect
from ragways.index.store import Store
from ragways.index.work_cache import FILE as WORK_CACHE

CHECKS: tuple[Callable[[Place], Iterable[Finding]], ...] = (
    structure.files,
    structure.generation,
    structure.parts,
    structure.texts,
    vectors.chunks,
    vectors.rows,
    words.entries,
    graph.references,
    graph.names,
    communities.members,
    work_cache.failures,
    work_cache.leftovers,
)
"""Each yields what it finds; the first line of its docstring says what it looks at."""


@dataclass(frozen=True, slots=True)
class Health:
    """What was found, errors first; `figures` are shares and counts worth knowing of a sound index too."""

    findings: tuple[Finding, ...]
    figures: dict[str, float]

    @property
    def fit(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)


def check(folder: Path) -> Health:
    """Everything there is to find out about the index in this folder."""
    store = Store.open(folder)
    try:
        kept = connect(folder / WORK_CACHE, write=False) if (folder / WORK_CACHE).is_file() else None
        try:
            place = Place(store, kept)
            found = [finding for one in CHECKS for finding in _carried_out(one, place)]
        finally:
            if kept is not None:
                kept.close()
    finally:
        store.close()
    return Health(tuple(sorted(found, key=lambda finding: finding.severity)), place.figures)


def _carried_out(one: Callable[[Place], Iterable[Finding]], place: Place) -> Iterator[Finding]:
    """A check that cannot be carried out, because what it reads is damaged, is a finding and does not stop the rest."""
    try:
        yield from one(place)
    except (StoreError, sqlite3.Error, OSError, ValueError, LookupError) as error:
        name = (one.__doc__ or "").partition(".")[0].lower()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        yield Finding(f"cannot be checked: {name}", "error", 1, said[:200], REBUILD)
