"""What an index is to be, and what a run did for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragways.core.trace import Usage
from ragways.corpus.source import LoadOptions, Skipped
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
