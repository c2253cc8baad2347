"""The files of an index run, each with its key and the folder that was named for it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError
from ragways.core.trace import Usage
from ragways.corpus.load import walk
from ragways.corpus.source import LoadOptions, Skipped, SourceFile
from ragways.corpus.structure import PRESETS, Chunking
from ragways.index.layers import USUAL
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that shapes an index."""

    embedder: Callable[[], Awaitable[Embedder]]
    chunking: Chunking = PRESETS["section"]
    layers: frozenset[str] = USUAL
    model: Callable[[WorkCache], ModelClient] = lambda _: ModelClient(None)
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: LoadOptions = field(default_factory=LoadOptions)


@dataclass
class Summary:
    """What a run did."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    hidden: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Skipped] = field(default_factory=list)
    undone: int = 0
    """Units of work that a layer could not do (unusable replies); they are tried again on the next run."""
    why: str = ""
    """What the first of them failed of."""
    stopped: str = ""
    usage: Usage = field(default_factory=Usage)
    wall: float = 0.0
    """Seconds of the whole run; those of its stages overlap."""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def touched(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def find_files(paths: Sequence[Path], options: LoadOptions) -> tuple[list[tuple[str, SourceFile]], list[Skipped], int]:
    """Files with the folder that was named for them, what is left out and why, and how many are hidden.

    A key begins with the name of its folder, so that two folders of one index do not mix up their files.
    """
    found: dict[str, tuple[str, SourceFile]] = {}
    keys: dict[str, str] = {}
    skipped: list[Skipped] = []
    hidden = 0
    for path in sorted({path.resolve() for path in paths} if all(p.exists() for p in paths) else paths):
        walked = walk([path], options)
        for entry in walked:
            key = f"{path.name}/{entry.key}" if path.is_dir() else entry.key
            if isinstance(entry, Skipped):
                skipped.append(Skipped(key, entry.reason))
                continue
            real = os.path.realpath(entry.path)
            if keys.setdefault(key, real) != real:
                raise UsageError(
                    f"{real} and {keys[key]} would both be called {key}",
                    "index the folder that holds both, or rename one",
                )
            found.setdefault(real, (str(path), replace(entry, key=key)))
        hidden += walked.hidden
    return list(found.values()), skipped, hidden
