"""`ragways key`: keys are shown once, taken away at once, and the audit log tells of it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragways.service.keys import Keys
from ragways.service.state import State
from tests.apps.conftest import Run


def test_a_key_is_printed_once_alone_on_standard_output(ragways: Run, home: Path):
    done = ragways(
        "key", "add", "alice", "--scope", "write", "--tenant", "acme", "--collection", "docs", "--collection", "more",
        "--budget", "5", "--expires", "30d",
    )  # fmt: skip
    assert done.code == 0
    text = done.out.strip()
    who = Keys(State(home / "ragways-data" / "service.sqlite")).caller(text)
    assert who is not None
    assert (who.tenant, sorted(who.scopes), who.collections) == ("acme", ["read", "write"], ("docs", "more"))
    assert text not in done.err
    secret = text.split("_", 2)[2]
    listed = ragways("key", "list", "--json")
    assert secret not in listed.out
    [row] = listed.data
    assert (row["name"], row["budget"], row["spent"], row["state"]) == ("alice", 5.0, 0.0, "good")
    assert row["expires"] > row["created"]
    assert "alice" in ragways("key", "list").out
    for file in (home / "ragways-data").iterdir():
        assert secret.encode() not in file.read_bytes()


def test_rotating_and_revoking_hold_for_a_server_that_is_open(ragways: Run, home: Path):
    first = ragways("key", "add", "alice", "--data", "d", "--json").data
    keys = Keys(State(home / "d" / "service.sqlite"))
    second = ragways("key", "rotate", "alice", "--data", "d").out.strip()
    assert keys.caller(first["key"]) is None
    assert keys.caller(second)
    third = ragways("key", "rotate", first["id"], "--grace", "1h", "--data", "d").out.strip()
    assert keys.caller(second)
    assert keys.caller(third)
    assert ragways("key", "revoke", "alice", "--data", "d").code == 0
    assert not any(map(keys.caller, (second, third)))
    assert [row["state"] for row in ragways("key", "list", "--data", "d", "--json").data] == ["revoked"]


def test_what_was_done_is_noted_and_a_changed_line_shows(ragways: Run, home: Path):
    text = ragways("key", "add", "alice").out.strip()
    ragways("key", "revoke", "alice")
    lines = ragways("key", "audit", "--json").data
    assert [line["action"] for line in lines] == ["key.add", "key.revoke"]
    assert "key.revoke" in ragways("key", "audit").out
    assert text.split("_", 2)[2] not in json.dumps(lines)
    assert ragways("key", "audit", "--check").code == 0
    with closing(sqlite3.connect(home / "ragways-data" / "service.sqlite")) as db, db:
        db.execute("UPDATE audit_lines SET line = replace(line, 'alice', 'malle')")
    done = ragways("key", "audit", "--check", "--json")
    assert done.code == 1
    assert done.data["problems"]
    assert json.loads(done.out)["whole"] is False


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "a b"), ("add", "a", "--scope", "root"), ("add", "a", "--tenant", "../x"),
        ("add", "a", "--collection", "A/B"), ("add", "a", "--expires", "soon"), ("add", "a", "--expires", "0d"),
        ("revoke", "nobody"), ("rotate", "nobody"), ("rotate", "nobody", "--grace", "-1"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_use_is_one_line_with_a_cure(ragways: Run, arguments: tuple[str, ...]):
    done = ragways("key", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("ragways: ")


def test_a_folder_that_cannot_be_made_is_an_error_with_its_cure(ragways: Run, home: Path):
    (home / "file").write_text("")
    done = ragways("key", "add", "alice", "--data", "file/data")
    assert done.code == 3
    assert "--data" in done.err
