"""Erasing what was removed: what rests on it is deleted, then the files of the collection are searched."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragways
from ragways.core.types import Document
from ragways.index import erase as of_index
from ragways.index.erase import SHARED, SHORTEST, TOO_SHORT, SearchedStrings
from ragways.index.open import Index
from ragways.index.recipe import Erasure
from ragways.service.conversations import Conversations, RewrittenQuestion
from ragways.service.feedback import Feedback
from ragways.service.jobs import TABLE
from ragways.service.keys import LOCAL
from ragways.service.state import FILE, State
from ragways.service.work import erasure
from ragways.service.work.erasure import UNERASED, erase, leaving
from ragways.store import database
from ragways.store.store import number_of

LIGHT = "The lighthouse of Sollen was built in 1871 by the engineer Ada Marsh on the northern cliff."
FERRY = "The ferry Halcyon carries the post to the outer islands every second Tuesday of the month."


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(min_size=SHORTEST, max_size=40), min_size=1, max_size=8, unique=True), st.randoms())
def test_all_strings_are_found_and_no_others(strings: list[bytes], dice: random.Random):
    there = [string for string in strings if dice.random() < 0.5]
    block = b"".join(dice.randbytes(dice.randrange(40)) + string for string in there) + dice.randbytes(20)
    assert SearchedStrings(strings).within(block) == {string for string in strings if string in block} >= set(there)


def test_a_string_over_the_edge_of_two_blocks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(of_index, "_BLOCK", 100)
    file = tmp_path / "file"
    for before in range(60, 140):
        file.write_bytes(b"." * before + LIGHT.encode()[:80] + b"." * 50)
        assert SearchedStrings([LIGHT.encode()[:80]]).in_file(file)[0], before


class Kept:
    """A collection's folder in the data of a server, with files and an index of them."""

    def __init__(self, folder: Path, texts: dict[str, str]) -> None:
        self.folder, self.files, self.index = folder, folder / "files", folder / "index"
        self.state = folder.parent / FILE
        self.files.mkdir(parents=True)
        for name, text in texts.items():
            (self.files / name).write_text(text)
        state_of(self).close()
        self.build()

    def build(self, *, erase: bool = False) -> Erasure | None:
        return ragways.build(self.files, self.index, layers=["words"], erase=erase).erasure

    def removed(self, *names: str) -> Erasure | None:
        """As an index job does it."""
        for name in names:
            (self.files / name).unlink()
        before = leaving(self.folder, self.index, self.files)
        of_index = self.build(erase=(self.folder / UNERASED).exists())
        return of_index and asyncio.run(erase(self.folder, self.index, before, self.state, of_index))


def test_each_removed_document_is_reported(tmp_path: Path):
    texts = {
        "light.txt": LIGHT, "ferry.txt": FERRY, "copy.txt": FERRY, "short.txt": "Too short.", "tiny.txt": "tiny",
        "Old mill.txt": "Old mill", "stay.txt": "Stays.",
    }  # fmt: skip
    kept = Kept(tmp_path / "docs", texts)
    assert kept.removed() is None
    (tmp_path / "docs" / "runs").mkdir()
    (tmp_path / "docs" / "runs" / "answers.jsonl").write_text(f'{{"quote": "{LIGHT}"}}')
    (tmp_path / "docs" / "runs" / "other.jsonl").write_text('{"quote": "Too short. Is it?"}')
    report = kept.removed("light.txt", "ferry.txt", "short.txt", "tiny.txt", "Old mill.txt")
    assert report is not None
    assert {one.key: (one.looked_for, one.found, one.note, one.erased) for one in report.documents} == {
        "files/light.txt": (1, ["runs/answers.jsonl"], "", False),
        "files/ferry.txt": (0, [], SHARED, None),
        "files/short.txt": (1, ["runs/other.jsonl"], "", False),
        "files/tiny.txt": (0, [], TOO_SHORT, None),
        "files/Old mill.txt": (0, [], TOO_SHORT, None),  # that is its name
    }
    assert report.erased is False


def test_what_the_server_keeps_is_cleaned_first_and_then_searched(tmp_path: Path):
    """While the server has its database open, as it has when a job runs."""
    umlaut = "Der Wärter der Insel zählte die Möwen im Frühling des Jahres 1871 noch jeden Morgen."
    kept = Kept(
        tmp_path / "docs", {"light.txt": LIGHT, "ferry.txt": FERRY, "gull.txt": umlaut, "short.txt": "Too short."}
    )
    number = number_of(Document("files/light.txt", "light", LIGHT, "text").id)
    state = state_of(kept)
    conversations = Conversations(state)
    state.tables(TABLE)
    for at, text in enumerate((LIGHT, umlaut, FERRY, "Nothing of note.")):
        write_job(state, "docs", f"j{at}", text)
    for collection in ("docs", "others"):
        id = conversations.start(LOCAL, collection).id
        for text in (LIGHT, f"They say: {umlaut}", "Too short.", FERRY):
            evidence = [{"document": f"article:{number}"}] if text == LIGHT else []
            asked = RewrittenQuestion(f"What of {text}", "")
            conversations.add(id, f"Is it so: {text}", asked, {"answer": text * 90, "evidence": evidence})
    ferry = f"article:{number_of(Document('files/ferry.txt', 'ferry', FERRY, 'text').id)}"
    lines = [
        {"question": "a", "provenance": {"evidence": [f"article:{number}:s0:p0:c0"]}},
        {"question": "b", "provenance": {"answer": f"So: {umlaut}", "evidence": []}},
        {"question": "c", "provenance": {"answer": FERRY, "evidence": [f"{ferry}:s0", "entity:x"]}},
    ]
    feedback = Feedback(state)
    for line in lines:
        feedback.add("docs", "", json.dumps(line))
    report = kept.removed("light.txt", "gull.txt", "short.txt")
    assert report is not None
    assert [(one.key, one.found, one.erased) for one in report.documents if not one.erased] == []
    assert report.erased is True
    assert [json.loads(line)["question"] for line in feedback.lines("docs")] == ["c"]
    (left,) = conversations.of(LOCAL, "docs")
    assert [turn.answer for turn in conversations.turns(left.id)] == [FERRY * 90]
    assert left.title == ""
    assert report.not_looked_through == {"feedback": 1, "turns": 1}
    assert len(conversations.turns(conversations.of(LOCAL, "others")[0].id)) == 4
    assert [id for (id,) in state.db.execute("SELECT id FROM jobs ORDER BY id")] == ["j2", "j3"]
    assert LIGHT.encode()[:40] not in kept.state.with_name(f"{FILE}-wal").read_bytes()
    state.db.execute("DELETE FROM turns WHERE conversation <> ?", (left.id,))
    state.db.execute("DELETE FROM conversations WHERE id <> ?", (left.id,))
    assert state.compact()
    state.close()
    data = kept.state.read_bytes()
    assert FERRY.encode() in data
    assert not [text for text in (LIGHT, umlaut, "Too short.") if text.encode()[:40] in data]


def test_a_database_that_others_read_is_not_claimed_to_be_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.service.state.WAIT_SECONDS", 0.1)
    monkeypatch.setattr(erasure, "_TRIES", 1)
    kept = Kept(tmp_path / "docs", {"light.txt": LIGHT, "ferry.txt": FERRY})
    state = state_of(kept)
    state.tables("CREATE TABLE t (x TEXT)")
    state.db.execute("BEGIN")
    assert state.db.execute("SELECT count(*) FROM t").fetchone() == (0,)
    report = kept.removed("light.txt")
    assert report is not None
    assert (report.in_use, report.erased) == (True, False)
    state.db.execute("COMMIT")
    (kept.files / "light.txt").write_text(LIGHT)
    kept.build()
    report = kept.removed("light.txt")
    state.close()
    assert report is not None
    assert (report.in_use, report.erased) == (False, True)


def state_of(kept: Kept) -> State:
    """The database of a server that has the collection."""
    state = State(kept.state)
    state.tables("CREATE TABLE IF NOT EXISTS collections (id TEXT PRIMARY KEY, name TEXT)")
    state.db.execute("REPLACE INTO collections VALUES ('docs', 'mine')")
    return state


def write_job(state: State, collection: str, id: str, why: str) -> None:
    state.db.execute(
        "INSERT INTO jobs (id, tenant, collection, kind, arguments, state, result, created, caller)"
        " VALUES (?, 'main', ?, 'index', '{}', 'done', ?, '', '{}')",
        (id, collection, json.dumps({"why": why})),
    )


def test_something_left_in_the_index_is_found(tmp_path: Path):
    kept = Kept(tmp_path / "docs", {"light.txt": LIGHT, "ferry.txt": FERRY})
    (kept.index / "index.sqlite-journal.old").write_bytes(b"\0" * 5000 + LIGHT.encode())
    report = kept.removed("light.txt")
    assert report is not None
    assert report.documents[0].found == ["index/index.sqlite-journal.old"]


def test_a_reader_of_the_index_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.1)
    kept = Kept(tmp_path / "docs", {"light.txt": LIGHT, "ferry.txt": FERRY})
    reading = Index.open(kept.index)
    (kept.files / "light.txt").unlink()
    before = leaving(kept.folder, kept.index, kept.files)
    found = kept.build(erase=True)

    async def ended_meanwhile() -> Erasure | None:
        asyncio.get_running_loop().call_later(0.5, reading.close)
        assert found is not None
        return await erase(kept.folder, kept.index, before, kept.state, found)

    report = asyncio.run(ended_meanwhile())
    assert [each and (each.in_use, each.erased) for each in (found, report)] == [(True, False), (False, True)]


def test_an_erasure_that_was_killed_is_ended_by_the_next_run(tmp_path: Path):
    kept = Kept(tmp_path / "docs", {"light.txt": LIGHT, "ferry.txt": FERRY})
    (kept.files / "light.txt").unlink()
    before = leaving(kept.folder, kept.index, kept.files)
    kept.build()  # and no more
    state = state_of(kept)
    conversations = Conversations(state)
    id = conversations.start(LOCAL, "docs").id
    result = {"answer": LIGHT, "evidence": [{"document": f"article:{next(iter(before))}"}]}
    conversations.add(id, "Who?", RewrittenQuestion("Who?", ""), result)
    assert kept.removed() is not None
    assert conversations.turns(id) == []
    state.close()
    assert not (kept.folder / UNERASED).exists()
    assert kept.removed() is None


def test_no_byte_of_a_deleted_row_is_left_in_the_database(tmp_path: Path):
    """Pages that SQLite has shared out among several keep rows that were moved, until the file is written anew."""
    dice = random.Random(7)
    state = State(tmp_path / FILE)
    state.tables("CREATE TABLE t (k TEXT PRIMARY KEY, x TEXT) WITHOUT ROWID")
    for number in range(600):
        key = f"{dice.random()}"
        word = "secret" if number % 3 else "what stays"
        state.db.execute("INSERT INTO t VALUES (?, ?)", (key, f"{word}-{number:03d} " * dice.randrange(1, 60)))
    state.db.execute("DELETE FROM t WHERE x LIKE 'secret%'")
    assert state.compact()
    data = [path.read_bytes() for path in tmp_path.iterdir()]
    assert not [one for one in data if b"secret-" in one]
    assert [one for one in data if b"what stays" in one]
    state.close()
