"""A removed document cannot be reached at once; with `--erase` no byte of it is left, or the run reports what is."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragways.apps.cli import full_app
from ragways.core.errors import UsageError, WrongVersion
from ragways.index.build import build, remove
from ragways.index.export import export
from ragways.index.open import Index
from ragways.layers.table import LAYERS
from ragways.store import database
from ragways.store.cache import WorkCache
from tests.fakes import recipe, write
from tests.index.builds import answers, contents, unlike
from tests.index.runs import sql

SECRET = "Zebulon Quarrington hid the silver lanterns beneath Mordwick Abbey."
DOCS = {
    "secret.md": f"# Mordwick Abbey\n\n{SECRET} Zebulon Quarrington was its abbot.\n",
    "light.md": "# Harbour Light\n\nAnna Brack built the Harbour Light in Port Averne. The abbot came to see it.\n",
    "port.md": "# Port Averne\n\nPort Averne is a town. Anna Brack lived in Port Averne for years.\n",
}
QUESTION = "What did Zebulon Quarrington hide beneath Mordwick Abbey?"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", DOCS)


@pytest.fixture
def index(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.1)
    run(tmp_path / "index", docs)
    with closing(WorkCache(tmp_path / "index")) as cache:
        cache.put("question", f"The reply: {SECRET}")
        cache.keep_failure("themes", "hash", "unusable", f"The reply: {SECRET}")
    return tmp_path / "index"


def run(index: Path, docs: Path, *, erase: bool = False, rebuild: bool = False) -> None:
    how = recipe(layers=frozenset(LAYERS), settings={"communities": {"text": 0}})
    asyncio.run(build(index, [docs], how, erase=erase, rebuild=rebuild))


def traces(index: Path) -> list[str]:
    """Files that have a rare word of the document, as it is written or folded."""
    words = (b"Quarrington", b"quarrington", b"Mordwick", b"silver lanterns")
    return sorted(
        path.relative_to(index).as_posix()
        for path in index.rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in words)
    )


def test_a_removed_document_is_gone_by_every_way(index: Path, tmp_path: Path):
    assert "silver lanterns" in str(answers(index, QUESTION))
    assert asyncio.run(remove(index, ["Mordwick Abbey"])).erasure is None
    assert "Quarrington" not in str(answers(index, QUESTION)).replace(QUESTION, "")
    with closing(Index.open(index)) as opened:
        assert opened.graph.named("Zebulon Quarrington") == []
        assert opened.words.search("quarrington mordwick", 5) == []
        export(opened, "json", tmp_path / "out.json")
    assert "Quarrington" not in (tmp_path / "out.json").read_text()
    with closing(WorkCache(index)) as cache:
        assert cache.get("question") is None


@pytest.mark.parametrize("how", ["remove", "index", "edit", "removed before"])
def test_erasing_leaves_no_byte_and_the_rest_as_in_a_fresh_index(index: Path, docs: Path, tmp_path: Path, how: str):
    assert traces(index)
    if how == "edit":
        write(docs, {"secret.md": "# Abbey\n\nNothing is known.\n"})
    else:
        (docs / "secret.md").unlink()
    if how == "remove":
        erasure = asyncio.run(remove(index, ["Mordwick Abbey"], erase=True)).erasure
        assert erasure is not None
        assert erasure.erased
        assert [(each.key, each.erased) for each in erasure.documents] == [("docs/secret.md", True)]
        assert min(erasure.files, erasure.bytes, erasure.words) > 0
    elif how == "removed before":
        asyncio.run(remove(index, ["Mordwick Abbey"]))
        run(index, docs, erase=True)
    else:
        run(index, docs, erase=True)
    assert traces(index) == []
    run(tmp_path / "fresh", docs)
    run(index, docs)
    assert unlike(answers(tmp_path / "fresh", QUESTION), answers(index, QUESTION)) == []
    assert set(unlike(contents(tmp_path / "fresh"), contents(index))) <= {"communities"}


def test_nothing_is_built_anew_and_erased_in_one_run(index: Path, docs: Path):
    before = {path: path.read_bytes() for path in index.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="in one run") as refused:
        run(index, docs, erase=True, rebuild=True)
    assert "ragways index PATH --erase" in refused.value.cure
    assert {path: path.read_bytes() for path in before} == before
    sql(index / "index.sqlite", "UPDATE meta SET value = 'another' WHERE key = 'version'")
    with pytest.raises(WrongVersion):  # what cannot be read cannot be looked for
        run(index, docs, erase=True)
    assert traces(index)


def test_a_reader_that_has_it_open_is_reported_and_the_next_run_erases(index: Path):
    with closing(Index.open(index)):
        done = CliRunner().invoke(full_app(), ["remove", "Mordwick Abbey", "--erase", "--index", str(index)])
        assert done.exit_code == 6, done.output
        assert "1 removed" in done.output
        assert traces(index)
    done = CliRunner().invoke(full_app(), ["remove", "Port Averne", "--erase", "--index", str(index), "--json"])
    assert done.exit_code == 0, done.output
    assert traces(index) == []
