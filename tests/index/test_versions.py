"""A store of the version before is brought up to date by the next run, whole or not at all; it is then as a new one."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import WrongVersion
from ragways.core.types import Structure
from ragways.index.build import build, remove
from ragways.index.health import check
from ragways.index.layers import LAYERS
from ragways.index.plan import plan
from ragways.index.reader import Index
from ragways.index.status import index_status
from ragways.index.store import Store, number_of, path_of
from ragways.index.update import Summary
from ragways.service.erasure import leaving
from tests.fakes import WordHashes, recipe, reseal, write
from tests.index.whole import unlike, whole

VERSION_2 = """
ALTER TABLE documents RENAME TO new_documents;
ALTER TABLE chunks RENAME TO new_chunks;
DROP INDEX documents_by_source;
DROP INDEX documents_by_name;
DROP INDEX chunks_by_hash;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, source TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL,
    format TEXT NOT NULL, metadata TEXT NOT NULL, redirect TEXT, hash TEXT NOT NULL, places TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX documents_by_source ON documents (source);
CREATE INDEX documents_by_name ON documents (name);
CREATE TABLE chunks (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, tokens INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE sentences (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
INSERT INTO documents
    SELECT number, key, source, title, name, format, metadata, redirect, lower(hex(hash)), places, text
    FROM new_documents;
INSERT INTO chunks SELECT document, ordinal, path, start, end, tokens, lower(hex(hash)) FROM new_chunks;
DROP TABLE new_documents;
DROP TABLE new_chunks;
UPDATE meta SET value = '2' WHERE key = 'version';
"""
SPOKEN = "The storm of 1871 took the pier. Nobody rebuilt it, because the money had gone to Port Averne."
TEXTS = {
    "tern.md": f"# Tern Rock\n\nAnna Brack built the lighthouse of Tern Rock in 1801. She was born in Skelwick.\n\n"
    f"## History\n\n{SPOKEN}\n\n- rope\n- sail\n",
    "skelwick.md": "# Skelwick\n\nSkelwick is a harbour near Tern Rock. Otto Tamsett kept its light.\n\nIt is quiet.\n",
    "averne.md": "# Port Averne\n\nOtto Tamsett met Anna Brack in Port Averne. " + "It rained " * 40 + "for days.\n",
    "empty.md": "",
}
LAYER_NAMES = frozenset(LAYERS)


class NeverAsked(WordHashes):
    """An embedder that must not be needed."""

    async def embed(self, texts):
        raise AssertionError(f"embedded again: {texts[:1]}")


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> dict[int, Structure]:
    """Every document that is put into a store, as it was cut."""
    put, seen = Store.put, {}

    def seeing(self: Store, structure: Structure, *rest) -> None:
        seen[number_of(structure.document.id)] = structure
        put(self, structure, *rest)

    monkeypatch.setattr(Store, "put", seeing)
    return seen


def as_version_2(index: Path, cut: dict[int, Structure], *, with_index: bool = True) -> None:
    """Make a store, and those of its shards, what version 2 would have made."""
    for folder in (index, *index.glob("shards/*")):
        with closing(sqlite3.connect(folder / "index.sqlite", isolation_level=None)) as db:
            db.executescript(f"BEGIN; {VERSION_2}")
            for (number,) in db.execute("SELECT number FROM documents").fetchall():
                parts = enumerate(cut[number].sentences)
                rows = [(number, i, path_of(part.id), part.start, part.end) for i, part in parts]
                db.executemany("INSERT INTO sentences VALUES (?, ?, ?, ?, ?)", rows)
            if with_index:
                db.execute("CREATE INDEX chunks_by_hash ON chunks (hash)")
            db.execute("COMMIT")
        reseal(folder)


def run(index: Path, docs: Path, embedder: WordHashes | None = None, **settings) -> Summary:
    return asyncio.run(build(index, [docs], recipe(embedder, layers=LAYER_NAMES), **settings))


def shape(index: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(index / "index.sqlite")) as db:
        return set(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


@pytest.mark.parametrize("with_index", [True, False])
def test_a_run_makes_it_what_a_fresh_build_makes(tmp_path: Path, cut: dict[int, Structure], with_index: bool):
    docs, index, anew = write(tmp_path / "docs", TEXTS), tmp_path / "index", tmp_path / "anew"
    run(index, docs)
    as_version_2(index, cut, with_index=with_index)
    cut.clear()
    done = run(index, docs, NeverAsked())
    assert (done.added, done.changed, done.removed, done.unchanged) == (0, 0, 0, 3)
    assert not cut, "nothing was cut again"
    run(anew, docs)
    assert unlike(whole(index), whole(anew)) == []
    assert shape(index) == shape(anew)
    assert check(index).findings == ()


def test_a_change_and_a_removal_work_on_it_at_once(tmp_path: Path, cut: dict[int, Structure]):
    docs, index, anew = write(tmp_path / "docs", TEXTS), tmp_path / "index", tmp_path / "anew"
    run(index, docs)
    as_version_2(index, cut)
    asyncio.run(remove(index, ["docs/tern.md"]))
    held = b"".join(file.read_bytes() for file in index.rglob("*") if file.is_file())
    for word in (b"Nobody rebuilt", b"the money had gone"):
        assert word not in held
    (docs / "tern.md").unlink()
    as_version_2(index, cut)
    (docs / "averne.md").write_text("# Port Averne\n\nOtto Tamsett left. He sailed to Skelwick.\n")
    run(index, docs)
    run(anew, docs)
    tables = ("documents", "sections", "paragraphs", "chunks")
    now, fresh = ({name: each[f"index.sqlite/{name}"] for name in tables} for each in map(whole, (index, anew)))
    assert unlike(now, fresh) == []
    assert check(index).fit


def test_readers_are_told_what_to_do(tmp_path: Path, cut: dict[int, Structure]):
    docs, index = write(tmp_path / "docs", TEXTS), tmp_path / "index"
    run(index, docs)
    as_version_2(index, cut)
    before = (index / "index.sqlite").read_bytes()
    for read in (Index.open, index_status, check):
        with pytest.raises(WrongVersion, match="version 2; this ragways reads version 3") as told:
            read(index)
        assert told.value.cure.startswith("bring it up to date with: ragways index PATH")
    planned = asyncio.run(plan(index, [docs], recipe(NeverAsked(), layers=LAYER_NAMES)))
    assert (planned.unchanged, planned.documents, planned.to_embed) == (3, 3, 0)
    assert (index / "index.sqlite").read_bytes() == before, "whoever reads or plans changes nothing"


def test_shards_are_brought_up_to_date_with_the_whole(tmp_path: Path, cut: dict[int, Structure]):
    docs, index, anew = write(tmp_path / "docs", TEXTS), tmp_path / "index", tmp_path / "anew"
    run(index, docs, shards=2)
    as_version_2(index, cut)
    cut.clear()
    run(index, docs, NeverAsked())
    assert not cut, "nothing was cut again"
    assert check(index).findings == ()
    run(anew, docs, shards=2)
    for place in ("shards/0", "shards/1"):
        assert unlike(whole(index / place), whole(anew / place)) == ["index.sqlite/meta"]  # the name of its state
        assert shape(index / place) == shape(anew / place)


KILLED = """
import os, signal, sys
from pathlib import Path
from ragways.index import store
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
upgrade = store.upgrade
if sys.argv[2] == "done":  # all is written, and nothing is committed
    store.upgrade = lambda db: (upgrade(db), kill())
elif sys.argv[2] == "committed":
    store.Store.settle = kill
else:  # packed: the file was written anew, and is not sealed
    pack = store.Store._pack
    store.Store._pack = lambda self: (pack(self), kill())
store.Store.create_or_open(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("when", ["done", "committed", "packed"])
def test_killed_at_any_moment_it_is_the_one_or_the_other(tmp_path: Path, cut: dict[int, Structure], when: str):
    docs, index, anew = write(tmp_path / "docs", TEXTS), tmp_path / "index", tmp_path / "anew"
    run(index, docs)
    as_version_2(index, cut)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(index), when], check=False)
    assert ended.returncode == -9
    if when == "done":
        with pytest.raises(WrongVersion, match="version 2"):
            Index.open(index)
    else:
        with closing(Index.open(index)) as opened:
            assert opened.counts()["sentences"] == sum(len(each.sentences) for each in cut.values())
    run(index, docs, NeverAsked())
    run(anew, docs)
    assert unlike(whole(index), whole(anew)) == []
    assert check(index).findings == ()


def test_a_rebuild_that_ends_early_leaves_what_was_there(tmp_path: Path, cut: dict[int, Structure]):
    docs, index = write(tmp_path / "docs", TEXTS), tmp_path / "index"
    run(index, docs)
    as_version_2(index, cut)
    write(docs, {"new.md": "# New\n\nA text that no vector is known of.\n"})
    with pytest.raises(AssertionError, match="embedded again"):
        run(index, docs, NeverAsked(), rebuild=True)
    with closing(Index.open(index)) as opened:
        assert opened.counts()["documents"] == 3
    assert check(index).fit


def test_what_leaves_an_index_of_the_version_before_is_told(tmp_path: Path, cut: dict[int, Structure]):
    """For the proof that it is erased."""
    docs, index = write(tmp_path / "docs", TEXTS), tmp_path / "index"
    run(index, docs)
    (docs / "tern.md").unlink()
    expected = leaving(index, docs)
    assert [each.key for each in expected.values()] == ["docs/tern.md"]
    as_version_2(index, cut)
    assert leaving(index, docs) == expected
    assert leaving(tmp_path / "none", docs) == {}


def test_no_room_is_left_where_the_rows_were(tmp_path: Path, cut: dict[int, Structure]):
    docs = write(tmp_path / "docs", {f"{n}.txt": "\n".join(f"{n} left at {h}" for h in range(60)) for n in range(200)})
    index = tmp_path / "index"
    asyncio.run(build(index, [docs], recipe(layers=frozenset({"words"}))))
    fresh = (index / "index.sqlite").stat().st_size
    as_version_2(index, cut)
    assert (index / "index.sqlite").stat().st_size > fresh * 1.5
    asyncio.run(build(index, [docs], recipe(layers=frozenset({"words"}))))
    assert (index / "index.sqlite").stat().st_size < fresh * 1.05
