"""The bundled corpus with every layer that questions are made from, and a model that plays along."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.index.build import build
from ragways.index.open import Index
from tests.fakes import WordHashes, recipe

LAYERS = frozenset({"vectors", "words", "graph", "windows"})


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, demo_corpus: Path) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("questions") / "index"
    asyncio.run(build(folder, [demo_corpus / "corpus"], recipe(WordHashes(), layers=LAYERS)))
    index = Index.open(folder)
    yield index
    index.close()
