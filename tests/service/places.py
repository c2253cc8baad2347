"""What tests of collections, uploads and jobs share: a data folder with one collection, and tests that await."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from ragways.service.collections import Collection, Collections
from ragways.service.config import Limits
from ragways.service.state import State
from ragways.service.uploads import UploadedFile, Uploads


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """An async test as pytest runs it."""

    @functools.wraps(test)
    def run(*given: object, **named: object) -> None:
        asyncio.run(test(*given, **named))

    return run


class Place:
    """A data folder with the collection `docs`, as a server has it."""

    def __init__(self, data: Path, *, total: int = 1 << 30, **limits: int) -> None:
        self.data = data
        self.limits = Limits(**limits)
        self.state = State(data / "service.sqlite")
        self.collections = Collections(self.state, data)
        found = self.collections.find("main", "docs")
        self.docs: Collection = found or self.collections.create("main", "docs", ["words"])
        assert self.docs.files is not None
        self.files = self.docs.files
        self.uploads = Uploads(self.state, self.limits, total)
        self.uploads.mend(self.docs)

    async def put(self, path: str, *blocks: bytes) -> UploadedFile:
        async def sent() -> AsyncIterator[bytes]:
            for block in blocks:
                yield block

        return await self.uploads.put(self.docs, path, sent())

    async def names(self) -> list[str]:
        return [one.path for one in (await self.uploads.listed(self.docs, 0, 100))[0]]
