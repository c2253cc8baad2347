"""Runs of one layer alone: documents come and go, are extracted, and its view is folded in a folder of links."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragways.core.errors import BudgetExceeded
from ragways.layers.layer import CheckContext, Finding, Layer, Use
from ragways.layers.settings import LayerSettings
from ragways.models.client import ModelClient
from ragways.store.cache import WorkCache
from ragways.store.store import Store
from tests.fakes import WordHashes
from tests.store.rows import write_texts


class LayerRuns:
    """Rows, a work cache, and a folder with the view of each generation."""

    def __init__(
        self, folder: Path, layer: Layer, embedder: WordHashes | None = None, settings: LayerSettings | None = None
    ) -> None:
        self.folder = folder
        self.layer = layer
        self.embedder = embedder or WordHashes()
        self.settings: Any = settings or layer.settings()
        self.store = Store.write(folder / "index")
        self.cache = WorkCache(folder / "index")
        dimension = str(self.embedder.dimension)
        self.store.set_meta({"embedder": self.embedder.name, "dimension": dimension, "layers": f"vectors {layer.name}"})
        self.lost: set[str] = set()
        """Hashes of texts that cannot be embedded."""
        self.model = ModelClient(None)
        self.pays = True
        self.use = self._use()
        self.view = folder / "none"
        self.generation = 0

    def _use(self) -> Use:
        async def embed(texts: Mapping[str, str]) -> None:
            missing = sorted(set(texts) - self.cache.known(self.embedder.name, texts)) if self.pays else []
            if self.lost.intersection(missing):
                raise BudgetExceeded("no budget", "raise it")
            rows = await self.embedder.embed([texts[hash] for hash in missing])
            self.cache.keep(self.embedder.name, dict(zip(missing, rows, strict=True)))

        settings, layers = {self.layer.name: self.settings}, frozenset({"vectors", self.layer.name})
        return Use(
            self.cache, self.model, self.embedder, embed, lambda _: None, settings, layers, pays=self.pays
        )  # fmt: skip

    def run(self, texts: Mapping[str, str] | None = None, *, make: bool = False) -> Any:
        """Put documents, or remove those with an empty text; then fold the view, or make it anew. A reader of it."""
        write_texts(self.store, texts or {})
        self.use = self._use()
        asyncio.run(self._run(make))
        return self.open()

    async def _run(self, make: bool) -> None:
        numbers = {*self.store.not_extracted(self.layer.name, ""), *self.layer.unfinished(self.store, self.use)}
        for source in self.store.sources(sorted(numbers)):
            try:
                [facts] = await self.layer.extract([source], self.use)
            except BudgetExceeded:
                continue
            with self.store.batch() as batch:
                batch.put_facts(self.layer.name, source.number, facts or {}, self.layer.tables, "")
        target = self.folder / f"view{self.store.generation}-{os.urandom(4).hex()}"
        target.mkdir()
        change = None
        if self.view.is_dir() and not make:
            change = self.store.changes(self.generation, self.layer.name)
            for path in self.view.iterdir():
                os.link(path, target / path.name)
        await self.layer.fold(target, self.store, change, self.use)
        self.view, self.generation = target, self.store.generation

    def open(self) -> Any:
        return self.layer.open(self.view, self.store)

    def findings(self) -> list[Finding]:
        """What a check finds in the view."""
        views = self.view.with_name("checked")
        views.mkdir(exist_ok=True)
        (views / self.layer.name).unlink(missing_ok=True)
        (views / self.layer.name).symlink_to(self.view)
        return [*self.layer.check(CheckContext(self.store, None, views))]

    def close(self) -> None:
        self.store.close()
        self.cache.close()
