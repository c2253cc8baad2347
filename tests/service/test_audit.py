"""The audit log: nothing that a client names can forge a line, and a line that was changed or removed is reported."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ragways.service.audit import Audit, chained
from ragways.service.keys import LOCAL, Caller, Keys
from ragways.service.state import State

WHO = Caller("ab12", "acme", frozenset({"read"}))


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "service.sqlite")


@pytest.fixture
def audit(state: State) -> Audit:
    return Audit(state, now=lambda: 0.0)


def actions(audit: Audit) -> list[str]:
    return [line["action"] for line in audit.lines()]


def test_a_line_says_who_did_what_when(audit: Audit):
    audit.note(WHO, "collection.delete", collection="docs", documents=3)
    (row,) = audit.lines()
    assert row["at"] == "1970-01-01T00:00:00Z"
    assert (row["key"], row["tenant"], row["action"]) == ("ab12", "acme", "collection.delete")
    assert (row["collection"], row["fields"]) == ("docs", {"documents": 3})
    assert audit.problems() == []


@pytest.mark.parametrize(
    "name",
    ['x"}\n{"number":2,"action":"key.add"}', "a\r\nb", "\u2028\u2029\x85", "\x1b[2K\x00", "\ud800", "a" * 10_000],
    ids=range(6),
)
def test_no_name_forges_a_line_or_makes_it_long(audit: Audit, state: State, name: str):
    audit.note(WHO, name, collection=name, **{name: name, "path": name})
    audit.note(LOCAL, "next")
    lines = [line for (line,) in state.db.execute("SELECT line FROM audit_lines")]
    assert len(lines) == len(audit.lines()) == 2
    assert all(32 <= ord(sign) < 127 for line in lines for sign in line)
    assert max(map(len, lines)) < 3000
    assert audit.problems() == []


def test_no_key_gets_into_it(audit: Audit, state: State):
    _, text = Keys(state).add("alice")
    audit.note(WHO, "upload", path=f"x/{text}.md")
    assert text.split("_", 2)[2] not in str(audit.lines())


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit_lines SET line = replace(line, 'two', 'TWO')",
        "UPDATE audit_lines SET line = replace(line, 'two', 'TWO'), hash = chained(replace(line, 'two', 'TWO'),"
        " (SELECT hash FROM audit_lines WHERE number = 1)) WHERE number = 2",
        "DELETE FROM audit_lines WHERE number = 2",
        "DELETE FROM audit_lines WHERE number = 1",
        "DELETE FROM audit_lines WHERE number = 4",
        "DELETE FROM audit_lines",
        "INSERT INTO audit_lines (line, hash) SELECT line, hash FROM audit_lines WHERE number = 4",
    ],
    ids=["changed", "rehashed", "middle gone", "first gone", "last gone", "all gone", "added"],
)
def test_what_was_changed_later_is_reported(audit: Audit, state: State, tampering: str):
    for action in ("one", "two", "three", "four"):
        audit.note(WHO, action)
    assert audit.problems() == []
    state.db.create_function("chained", 2, chained)
    state.db.execute(tampering)
    assert audit.problems()
    audit.note(WHO, "five")
    assert audit.problems()


def test_processes_that_note_at_once_make_one_chain(audit: Audit, state: State):
    audits = [audit, *(Audit(State(state.path)) for _ in range(3))]

    def write(audit: Audit) -> None:
        for number in range(20):
            audit.note(WHO, "x", number=number)

    threads = [threading.Thread(target=write, args=(one,)) for one in audits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row["number"] for row in audit.lines()] == list(range(1, 81))
    assert audit.problems() == []


def test_the_oldest_lines_go_and_the_chain_goes_on(state: State):
    audit = Audit(state, most=10)
    for number in range(25):
        audit.note(WHO, f"{number}")
    assert actions(audit) == [f"{number}" for number in range(15, 25)]
    assert audit.problems() == []
    state.db.execute("DELETE FROM audit_lines WHERE number = 18")
    assert audit.problems()
