"""What a check finds, and the place it looks at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from ragways.index.folder import derived_folder
from ragways.index.store import Store

Severity = Literal["error", "warning"]

REBUILD = "build it again with: ragways index --rebuild PATH"
AGAIN = "run again: ragways index PATH"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not hold: how often, one id to look at, and what to do."""

    name: str
    severity: Severity
    count: int
    example: str
    cure: str


@dataclass
class Place:
    """The index that is looked at, at one commit. `figures` gathers shares and counts worth knowing in any case."""

    store: Store
    work_cache: sqlite3.Connection | None
    figures: dict[str, float] = field(default_factory=dict)

    @cached_property
    def meta(self) -> dict[str, str]:
        return self.store.meta()

    @cached_property
    def layers(self) -> frozenset[str]:
        return frozenset(self.meta.get("layers", "").split())

    @cached_property
    def derived(self) -> Path:
        return derived_folder(self.store.folder, int(self.meta["generation"]))

    @cached_property
    def chunks(self) -> list[str]:
        """Ids of all chunks, in the order that derived layers share."""
        return [id for id, _ in self.store.chunk_rows()]

    @cached_property
    def documents(self) -> dict[int, int]:
        """Length of each document's text, counted here: SQLite's own `length` stops at a NUL."""
        return {number: len(text) for number, text in self.store.db.execute("SELECT number, text FROM documents")}

    @property
    def derive(self) -> str:
        """The cure for whatever is wrong with derived files."""
        return f"remove the folder {self.derived}: it is made anew when the index is next used"

    def has(self, layer: str) -> bool:
        """The layer is built, and there is a folder of this generation to look into."""
        return layer in self.layers and self.derived.is_dir()


def found(name: str, severity: Severity, examples: Iterable[str], cure: str) -> Iterator[Finding]:
    """One finding for all the examples, or none where there is none."""
    rest = iter(examples)
    first = next(rest, None)
    if first is not None:
        yield Finding(name, severity, 1 + sum(1 for _ in rest), first, cure)
