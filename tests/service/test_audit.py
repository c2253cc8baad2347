"""The audit log: nothing that a client names can forge a line, and a line that was changed or taken away shows."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from ragways.service.audit import Audit
from ragways.service.keys import LOCAL, Caller, Keys
from ragways.service.state import State

WHO = Caller("ab12", "acme", frozenset({"read"}))


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(State(tmp_path / "service.sqlite"), tmp_path / "audit.jsonl", now=lambda: 0.0)


def rows(audit: Audit) -> list[dict[str, Any]]:
    return [json.loads(line) for line in audit.path.read_text().split("\n")[:-1]]


def test_a_line_says_who_did_what_when(audit: Audit):
    audit.note(WHO, "collection.delete", collection="docs", documents=3)
    (row,) = rows(audit)
    assert row["at"] == "1970-01-01T00:00:00Z"
    assert (row["key"], row["tenant"], row["action"]) == ("ab12", "acme", "collection.delete")
    assert (row["collection"], row["fields"]) == ("docs", {"documents": 3})
    assert audit.problems() == []
    assert audit.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "name",
    ['x"}\n{"number":2,"action":"key.add"}', "a\r\nb", "\u2028\u2029\x85", "\x1b[2K\x00", "\ud800", "a" * 10_000],
    ids=range(6),
)
def test_no_name_forges_a_line_or_makes_it_long(audit: Audit, name: str):
    audit.note(WHO, name, collection=name, **{name: name, "path": name})
    audit.note(LOCAL, "next")
    text = audit.path.read_bytes()
    assert text.count(b"\n") == 2
    assert all(32 <= byte < 127 or byte == 10 for byte in text)
    assert len(text) < 4000
    assert len(rows(audit)) == 2
    assert audit.problems() == []


def test_no_key_gets_into_it(audit: Audit, tmp_path: Path):
    _, text = Keys(State(tmp_path / "service.sqlite")).add("alice")
    audit.note(WHO, "upload", path=f"x/{text}.md")
    assert text.split("_", 2)[2] not in audit.path.read_text()


def change(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b"two", b"TWO"), *lines[2:]]


def rehash(lines: list[bytes]) -> list[bytes]:
    """One who changes a line and makes its hash fit breaks the next."""
    from ragways.service.audit import chained_line

    first, second = json.loads(lines[0]), json.loads(lines[1])
    del second["hash"]
    second["action"] = "TWO"
    return [lines[0], chained_line(second, first["hash"])[0], *lines[2:]]


@pytest.mark.parametrize(
    "tamper",
    [
        change, rehash, lambda lines: [lines[0], *lines[2:]], lambda lines: lines[1:], lambda lines: lines[:-1],
        lambda lines: [lines[1], lines[0], *lines[2:]], lambda lines: [*lines, lines[-1]], lambda lines: [],
        lambda lines: [lines[0], b"\x00\xff\n", *lines[1:]],
    ],
    ids=["changed", "rehashed", "middle gone", "first gone", "last gone", "swapped", "added", "all gone", "garbage"],
)  # fmt: skip
def test_what_was_changed_later_shows(audit: Audit, tamper):
    for action in ("one", "two", "three", "four"):
        audit.note(WHO, action)
    assert audit.problems() == []
    audit.path.write_bytes(b"".join(tamper(audit.path.read_bytes().splitlines(keepends=True))))
    assert audit.problems()
    audit.note(WHO, "five")  # and still does when others follow, unless that has mended the end
    whole = ["one", "two", "three", "four", "five"]
    assert audit.problems() or [row["action"] for row in rows(audit)] == whole


@pytest.mark.parametrize("left", [0, 10])
def test_a_line_that_a_kill_cut_short_is_written_again(audit: Audit, left: int):
    audit.note(WHO, "one")
    size = audit.path.stat().st_size
    audit.note(WHO, "two")
    os.truncate(audit.path, size + left)
    audit.note(WHO, "three")
    assert [row["action"] for row in rows(audit)] == ["one", "two", "three"]
    assert audit.problems() == []


def test_processes_that_note_at_once_make_one_chain(audit: Audit, tmp_path: Path):
    audits = [audit, *(Audit(State(tmp_path / "service.sqlite"), audit.path) for _ in range(3))]

    def write(audit: Audit) -> None:
        for number in range(20):
            audit.note(WHO, "x", number=number)

    threads = [threading.Thread(target=write, args=(one,)) for one in audits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row["number"] for row in rows(audit)] == list(range(1, 81))
    assert audit.problems() == []


def test_files_are_put_aside_and_the_chain_goes_on_over_them(tmp_path: Path):
    audit = Audit(State(tmp_path / "service.sqlite"), tmp_path / "audit.jsonl", largest=500)
    for number in range(100):
        audit.note(WHO, "x", number=number)
    files = sorted(path.name for path in tmp_path.glob("audit*"))
    assert files == [*(f"audit.{number}.jsonl" for number in range(1, 9)), "audit.jsonl"]
    assert all(path.stat().st_size < 800 for path in tmp_path.glob("audit*"))
    assert audit.problems() == []
    (tmp_path / "audit.3.jsonl").unlink()
    assert audit.problems()
