"""Runs of one layer alone: documents come and go, are extracted, and its view is folded in a folder of links."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragways.core.errors import BudgetExceeded
from ragways.layers.layer import CheckContext, Finding, Layer, Use
from ragways.models.client import ModelClient
from ragways.store.cache import WorkCache
from ragways.store.store import Store
from tests.fakes import WordHashes
from tests.store.rows import write_texts


class LayerRuns:
    """Rows, a work cache, and a folder with the view of each generation."""

    def __init__(self, folder: Path, layer: Layer) -> None:
        self.folder = folder
        self.layer = layer
        self.embedder = WordHashes()
        self.store = Store.write(folder / "index")
        self.cache = WorkCache(folder / "index")
        self.store.set_meta({"embedder": self.embedder.name, "layers": layer.name})
        self.lost: set[str] = set()
        """Hashes of texts that cannot be embedded."""
        self.pays = True
        self.use = self._use()
        self.view: Path | None = None
        self.generation = 0

    def _use(self) -> Use:
        async def embed(texts: Mapping[str, str]) -> None:
            missing = sorted(set(texts) - self.cache.known(self.embedder.name, texts)) if self.pays else []
            if self.lost.intersection(missing):
                raise BudgetExceeded("no budget", "raise it")
            rows = await self.embedder.embed([texts[hash] for hash in missing])
            self.cache.keep(self.embedder.name, dict(zip(missing, rows, strict=True)))

        return Use(self.cache, ModelClient(None), self.embedder, embed, lambda _: None, pays=self.pays)

    def run(self, texts: Mapping[str, str], *, make: bool = False) -> Any:
        """Put documents, or remove those with an empty text; then fold the view, or make it anew. A reader of it."""
        write_texts(self.store, texts)
        self.use = self._use()
        asyncio.run(self._run(make))
        return self.open()

    async def _run(self, make: bool) -> None:
        for source in self.store.sources(self.store.not_extracted(self.layer.name, "")):
            try:
                [facts] = await self.layer.extract([source], self.use)
            except BudgetExceeded:
                continue
            with self.store.batch() as batch:
                batch.put_facts(self.layer.name, source.number, facts or {}, (), "")
        target = self.folder / f"view{self.store.generation}-{os.urandom(4).hex()}"
        target.mkdir()
        change = None
        if self.view is not None and not make:
            change = self.store.changes(self.generation, self.layer.name)
            for path in self.view.iterdir():
                os.link(path, target / path.name)
        await self.layer.fold(target, self.store, change, self.use)
        self.view, self.generation = target, self.store.generation

    def open(self) -> Any:
        assert self.view is not None
        return self.layer.open(self.view, self.store)

    def findings(self) -> list[Finding]:
        """What a check finds in the view."""
        assert self.view is not None
        views = self.view.with_name("checked")
        views.mkdir(exist_ok=True)
        (views / self.layer.name).unlink(missing_ok=True)
        (views / self.layer.name).symlink_to(self.view)
        return [*self.layer.check(CheckContext(self.store, None, views))]

    def close(self) -> None:
        self.store.close()
        self.cache.close()
