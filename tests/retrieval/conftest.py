from __future__ import annotations

import asyncio
import hashlib
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

import ragways
from ragways.assemble import recipe_of
from ragways.core.errors import StoreBusy
from ragways.index.build import build
from ragways.layers.table import LAYERS
from ragways.settings import Settings, read_settings
from ragways.store.place import claim

DAY = 86_400


@pytest.fixture(scope="session")
def demo_settings(cache_folder: Path, demo_corpus: Path) -> Settings:
    """The bundled corpus indexed with every layer, by the real offline embedder; made anew when any code changed.

    Vectors, which take most of the time and depend on the text alone, are kept from one such index to the next.
    """
    index, vectors = cache_folder / f"demo-{_code()}", cache_folder / "demo-vectors.sqlite"
    settings = read_settings(environment={}, index=index, cache=cache_folder)
    if not index.exists() and vectors.exists():
        claim(index)
        shutil.copyfile(vectors, index / "work_cache.sqlite")
    for _ in range(60):  # another worker of this test run may be building it
        try:
            asyncio.run(build(index, [demo_corpus / "corpus"], recipe_of(settings, frozenset(LAYERS))))
            break
        except StoreBusy:
            time.sleep(1)
    _keep_vectors(index, vectors)
    return settings


def _code() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(ragways.__file__).parent.rglob("*")):
        if file.suffix in (".py", ".md", ".wiki"):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _keep_vectors(index: Path, vectors: Path) -> None:
    draft = vectors.with_suffix(f".{time.time_ns()}")
    source = sqlite3.connect(index / "work_cache.sqlite")
    source.execute("VACUUM INTO ?", (str(draft),))
    source.close()
    kept = sqlite3.connect(draft)
    for table in ("replies", "results", "failures"):
        kept.execute(f"DELETE FROM {table}")
    kept.commit()
    kept.close()
    draft.rename(vectors)
    for old in index.parent.glob("demo-*"):
        if old.is_dir() and old != index and time.time() - old.stat().st_mtime > DAY:  # others may be in use
            shutil.rmtree(old, ignore_errors=True)
