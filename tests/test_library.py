"""ragways as a library: three names, no `async`."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragways
from ragways.core.errors import NoIndex
from ragways.settings import read_settings
from tests.fakes import write


def test_build_open_and_ask(tmp_path: Path, cache_folder: Path):
    docs = write(tmp_path / "docs", {"light.txt": "The harbour light was built by Anna Brack in 1801."})
    settings = read_settings(environment={}, cache=cache_folder, index=tmp_path / "index")
    assert ragways.build([docs], settings=settings).added == 1
    with ragways.open(tmp_path / "index", settings=settings) as corpus:
        result = corpus.ask("Who built the harbour light?", k=3)
        assert "Anna Brack" in result.answer.text
        assert result.settings["k"] == 3
        assert corpus.ask("Who built the harbour light?", "words").answer.citations


def test_open_of_nothing(tmp_path: Path):
    with pytest.raises(NoIndex), ragways.open(tmp_path):
        pass


def test_only_the_listed_names_are_public():
    for name in ragways.__all__:
        assert getattr(ragways, name)
    with pytest.raises(AttributeError):
        ragways.nothing  # noqa: B018
