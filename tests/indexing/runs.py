"""Small indexes of the new house, built by stand-ins."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ragways.indexing.build import build, remove
from ragways.indexing.recipe import Recipe, Summary
from ragways.layers.table import USUAL, layer_settings
from tests.fakes import Sections, WordHashes, write


def recipe(embedder: WordHashes | None = None, settings: Sections | None = None, **changes: object) -> Recipe:
    """An index by `WordHashes`. `settings` are those of layers, as a settings file has them."""
    chosen = embedder or WordHashes()

    async def make() -> WordHashes:
        return chosen

    parts = {"embedder": make, "layers": USUAL, "settings": layer_settings(settings or {}), **changes}
    return Recipe(**parts)  # type: ignore[arg-type]


def indexed(home: Path, files: Mapping[str, str], *layers: str, settings: Sections | None = None) -> Path:
    """An index of these files, in a folder `index` beside them; those that are there already stay."""
    docs = write(home / "docs", dict(files))
    how = recipe(settings=settings, layers=USUAL | set(layers))
    asyncio.run(build(home / "index", [docs], how))
    return home / "index"


def run(index: Path) -> Summary:
    """Bring an index of `indexed` up to date with its files."""
    return asyncio.run(build(index, [index.parent / "docs"], recipe()))


def removed(index: Path, *names: str) -> None:
    asyncio.run(remove(index, names))
