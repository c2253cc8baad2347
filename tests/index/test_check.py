"""Each thing that must hold of an index is broken on purpose, and is reported; and what its status lists."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import NoIndex
from ragways.index.build import build
from ragways.index.check import Health, check
from ragways.index.open import Index
from ragways.index.status import index_status, layer_status
from ragways.index.writer import make_views
from ragways.layers.layer import Finding
from ragways.models.minilm import MiniLM
from ragways.store.cache import WorkCache
from tests.fakes import WordHashes, recipe, write
from tests.index.runs import indexed, sql
from tests.index.test_open import remove_from_rows, views

DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne. She came from Dunmarrow in 1801.\n",
    "port.md": "# Port Averne\n\nPort Averne is on the Lanner Sound.\n\n## Light\n\nThe Harbour Light is there.\n",
    "storm.md": "# Storm\n\nThe storm of 1883 destroyed the [Harbour Light](harbour.md). Anna Brack saw it.\n",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with nothing wrong, to be copied and broken."""
    return indexed(tmp_path_factory.mktemp("sound"), DOCS, "vectors", "words", "windows")


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "index"))


def the(health: Health, name: str) -> Finding:
    found = [finding for finding in health.findings if finding.name == name]
    assert len(found) == 1, health.findings
    assert found[0].cure
    assert found[0].example
    return found[0]


def test_a_sound_index_has_no_finding_and_looking_changes_nothing(index: Path):
    before = {path: path.read_bytes() for path in index.rglob("*") if path.is_file()}
    health = check(index)
    assert health.fit
    assert health.findings == ()
    assert health.figures["recall_at_10"] == 1.0
    assert {path: path.read_bytes() for path in before} == before


def test_an_empty_index_is_sound_and_no_index_is_an_error(tmp_path: Path):
    assert check(indexed(tmp_path, {"empty.md": ""})).findings == ()
    with pytest.raises(NoIndex):
        check(tmp_path)


BROKEN_ROWS = {
    "parts without their document": "INSERT INTO chunks VALUES (7, 0, 's0:p0:c0', 0, 1, 1, X'00')",
    "parts outside their document's text": "UPDATE documents SET sentences = X'080000100000'",
    "parts out of order": "UPDATE documents SET sentences = X'1004000201'",
    "parts without the part they lie in": "DELETE FROM paragraphs WHERE ordinal = 0",
    "documents whose text is damaged": "UPDATE documents SET text = replace(text, 'Anna', 'Emma')",
    "chunks whose text is not the one they were made from": "UPDATE chunks SET hash = X'00'",
    "cannot be checked: parts of documents": "UPDATE documents SET sentences = X'0000'",
    "themes without their chunk": "INSERT INTO themes VALUES (7, 0, 'lamps', 'rules')",
    "titles that are not found by their letters": "DELETE FROM titles",
    "descriptions without their chunk": "INSERT INTO descriptions SELECT number, 99, 'a', 1, 'b' FROM documents",
}


@pytest.mark.parametrize("name", BROKEN_ROWS)
def test_broken_rows(index: Path, name: str):
    sql(index / "index.sqlite", BROKEN_ROWS[name])
    assert the(check(index), name).severity == "error"


def test_a_damaged_file_of_a_view_and_its_cure(index: Path):
    folder = views(index)
    largest = max((folder / "vectors").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[0] ^= 1
    largest.write_bytes(data)
    finding = the(check(index), "damaged files of views")
    assert (finding.severity, finding.example) == ("error", f"vectors/{largest.name}")
    assert str(folder) in finding.cure
    shutil.rmtree(folder)
    assert the(check(index), "layers without a view").count == 3
    with closing(Index.open(index)) as opened:
        assert len(opened.vectors) == 4
    assert check(index).findings == ()


def test_documents_that_wait_for_views_or_for_a_layer(index: Path):
    remove_from_rows(index, "Storm")
    health = check(index)
    assert health.fit
    assert the(health, "documents that wait until views are brought up to date").count == 1
    assert {layer.waiting for layer in layer_status(index) if layer.built} == {0, 1}
    assert index_status(index).waiting == 1
    make_views(index)
    assert check(index).findings == ()
    assert index_status(index).waiting == 0
    sql(index / "index.sqlite", "DELETE FROM extracted WHERE layer = 'windows'")
    assert the(check(index), "documents that wait to be read for windows").count == 2


def test_failed_work_is_listed_and_makes_unfit_where_it_is_much(index: Path):
    with closing(WorkCache(index)) as cache:
        cache.keep_results("facts:x", {str(n): "{}" for n in range(99)})
        cache.keep_failure("facts:x", "abc", "the reply was no JSON", "sorry")
        assert check(index).fit
        few = the(check(index), "failed work: facts:x")
        assert (few.severity, few.count) == ("warning", 1)
        assert "the reply was no JSON" in few.example
        for n in range(20):
            cache.keep_failure("facts:x", f"more {n}", "the reply was no JSON")
    assert the(check(index), "failed work: facts:x").severity == "warning", "of an earlier build, with another model"
    sql(index / "index.sqlite", "INSERT OR REPLACE INTO meta VALUES ('graph_kind', 'facts:x')")
    assert the(check(index), "failed work: facts:x").severity == "error"


# Status


def test_status_counts_what_there_is(index: Path):
    status = index_status(index, documents=True)
    assert status.layers == ("structure", "vectors", "windows", "words")
    assert (status.counts["documents"], status.counts["chunks"], status.embedder) == (3, 4, WordHashes().name)
    assert [document.title for document in status.documents or ()] == ["Anna Brack", "Port Averne", "Storm"]
    assert status.languages == {"en": 3}
    built = {layer.name: layer for layer in status.by_layer if layer.built}
    assert {name: layer.rows for name, layer in built.items()} == {
        "structure": 3, "vectors": 4, "words": 4, "windows": built["windows"].rows,
    }  # fmt: skip
    assert all(layer.bytes and layer.built_at and not layer.waiting for layer in built.values())
    assert not any(layer.rows or layer.bytes for layer in status.by_layer if not layer.built)
    assert status.bytes > sum(layer.bytes for layer in built.values()) / 2
    assert index_status(index).documents is None


# Languages that the embedder does not know

CHINESE = {
    "model.md": "# 启动\n\n应用启动时会加载机器学习模型，并在关闭时释放内存。\n",
    "files.md": "# 静态文件\n\n静态文件从目录中自动提供，无需编写任何代码。\n",
    "token.md": "# 令牌\n\n令牌的过期时间是三十分钟，之后用户必须重新登录。\n",
    "english.md": "# Tests\n\nThe tests of the application are in a folder of their own, and they run at night.\n",
}


def test_many_documents_of_an_unknown_language_are_named_with_the_cure(tmp_path: Path):
    named = WordHashes(MiniLM().name)
    docs, index = write(tmp_path / "docs", CHINESE), tmp_path / "index"
    unread = asyncio.run(build(index, [docs], recipe(named))).unread
    assert unread.startswith("3 of 4 documents are Chinese: the offline embedder knows English only; words find them,")
    assert 'kind = "endpoint"' in unread
    status = index_status(index)
    assert (status.languages, status.unread) == ({"zh": 3, "en": 1}, unread)
    [warning] = [finding for finding in check(index).findings if "does not know" in finding.name]
    assert (warning.severity, warning.count) == ("warning", 3)
    assert check(index).fit


def test_no_warning_for_few_documents_or_another_embedder(tmp_path: Path):
    named = WordHashes(MiniLM().name)
    english = {f"{n}.md": f"The light of number {n} is on the coast of the island.\n" for n in range(11)}
    few = write(tmp_path / "few", {**english, "one.md": CHINESE["token.md"]})
    many = write(tmp_path / "many", CHINESE)
    assert asyncio.run(build(tmp_path / "one", [few], recipe(named))).unread == ""
    assert asyncio.run(build(tmp_path / "two", [many], recipe())).unread == ""
    assert index_status(tmp_path / "one").languages == {"en": 11, "zh": 1}
