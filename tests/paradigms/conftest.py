from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragways.assemble import recipe_of
from ragways.index.build import build
from ragways.index.layers import LAYERS
from ragways.settings import Settings, read_settings


@pytest.fixture(scope="session")
def demo_settings(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path, demo_corpus: Path) -> Settings:
    """The bundled corpus indexed with every layer, by the real offline embedder."""
    settings = read_settings(environment={}, index=tmp_path_factory.mktemp("demo") / "index", cache=cache_folder)
    asyncio.run(build(settings.index, [demo_corpus / "corpus"], recipe_of(settings, frozenset(LAYERS))))
    return settings
