"""Conversations through the real server: a follow-up is made whole, kept, the caller's alone, bounded and deletable."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragways.service.conversations import CONVERSATIONS, LONGEST, Conversations, RewrittenQuestion
from ragways.service.errors import NotFound
from ragways.service.keys import Caller
from ragways.service.state import State
from tests.service.conftest import RunningServer

FIRST, NEXT = "Who designed the Pell Rock Lighthouse?", "Where was she born?"
WHOLE = "Where was Jorun Askeby born?"


def test_a_follow_up_is_answered_as_the_whole_question_and_shown_as_such(demo_server: RunningServer, demo_name: str):
    client, here = demo_server.client, f"/api/v1/collections/{demo_name}"
    begun = client.post(f"{here}/conversations")
    assert begun.status_code == 201
    id = begun.json()["id"]
    asked = {"paradigm": "fused", "conversation": id}
    first = client.post(f"{here}/ask", json={**asked, "question": FIRST}).json()
    assert first["rewritten"] == {"question": FIRST, "way": ""}
    assert "Askeby" in first["answer"]
    told = dict(demo_server.events(f"{here}/ask", {**asked, "question": NEXT, "stream": True}))
    assert told["rewritten"] == {"question": WHOLE, "way": "rule"}
    assert told["result"]["question"] == WHOLE
    assert told["result"]["rewritten"] == told["rewritten"]
    assert told["result"]["evidence"][0]["title"] == "Jorun Askeby"

    shown = client.get(f"{here}/conversations/{id}").json()
    assert [(turn["question"], turn["whole"], turn["way"]) for turn in shown["turns"]] == [
        (FIRST, FIRST, ""), (NEXT, WHOLE, "rule"),
    ]  # fmt: skip
    assert shown["turns"][0]["answer"] == first["answer"]
    listed = client.get(f"{here}/conversations").json()["conversations"]
    assert [row["title"] for row in listed if row["id"] == id] == [FIRST]

    assert client.delete(f"{here}/conversations/{id}").status_code == 204
    for method, body in (("GET", None), ("DELETE", None)):
        assert client.request(method, f"{here}/conversations/{id}", json=body).status_code == 404
    for stream in (False, True):
        reply = client.post(f"{here}/ask", json={**asked, "question": NEXT, "stream": stream})
        assert reply.status_code == 404, "told before a stream begins"


def access(key: str = "a", tenant: str = "main", collection: str = "c1") -> Any:
    return SimpleNamespace(caller=Caller(key, tenant, frozenset({"read"})), collection=SimpleNamespace(id=collection))


@pytest.fixture
def kept(tmp_path: Path) -> Conversations:
    return Conversations(State(tmp_path / "service.sqlite"))


def result(answer: str, *documents: str) -> dict[str, Any]:
    return {"answer": answer, "paradigm": "fused", "evidence": [{"document": each} for each in documents]}


def test_a_conversation_is_seen_by_the_key_that_began_it_alone(kept: Conversations):
    id = kept.start(access()).id
    kept.add(access(), id, "Q?", RewrittenQuestion("Q?", ""), result("A"))
    for other in (access(key="b"), access(tenant="other"), access(collection="c2")):
        assert kept.of(other) == []
        for use in (kept.find, kept.turns, kept.delete):
            with pytest.raises(NotFound):
                use(other, id)
        kept.add(other, id, "planted", RewrittenQuestion("planted", ""), result("planted"))
    assert [turn.question for turn in kept.turns(access(), id)] == ["Q?"]


def test_what_is_kept_is_bounded(kept: Conversations):
    first, second = kept.start(access()).id, kept.start(access()).id
    kept.add(access(), first, "used", RewrittenQuestion("used", ""), result("A" * 50_000))
    for _ in range(CONVERSATIONS - 1):
        kept.start(access())
    left = {each.id for each in kept.of(access())}
    assert len(left) == CONVERSATIONS
    assert first in left, "it was used after the second"
    assert second not in left
    for number in range(LONGEST + 5):
        kept.add(access(), first, f"{number}", RewrittenQuestion("", ""), result(""))
    turns = kept.turns(access(), first)
    assert [turn.question for turn in turns] == [str(number) for number in range(5, LONGEST + 5)]


def test_turns_of_an_earlier_version_are_there_without_the_way_of_their_answer(tmp_path: Path):
    state = State(tmp_path / "service.sqlite")
    kept = Conversations(state)
    id = kept.start(access()).id
    kept.add(access(), id, "old", RewrittenQuestion("old", ""), result("A"))
    state.db.execute("ALTER TABLE turns DROP COLUMN answer_way")
    state.close()
    kept = Conversations(State(tmp_path / "service.sqlite"))
    kept.add(access(), id, "new", RewrittenQuestion("new", ""), {**result("B"), "way": "model loopback"})
    assert [(turn.answer, turn.answer_way) for turn in kept.turns(access(), id)] == [("A", ""), ("B", "model loopback")]


def test_what_rests_on_a_removed_document_goes(kept: Conversations):
    mine, other = kept.start(access()).id, kept.start(access(key="b")).id
    kept.add(access(), mine, "one", RewrittenQuestion("one", ""), result("secret", "article:1", "article:2"))
    kept.add(access(), mine, "two", RewrittenQuestion("two", ""), result("fine", "article:2"))
    kept.add(access(key="b"), other, "three", RewrittenQuestion("three", ""), result("secret", "article:1"))
    kept.forget_documents("c1", {"article:1"}, lambda text: False)
    assert [turn.question for turn in kept.turns(access(), mine)] == ["two"]
    assert kept.turns(access(key="b"), other) == []
    kept.add(access(), mine, "What of the lamp?", RewrittenQuestion("", ""), result("the secret lamp", "article:2"))
    kept.forget_documents("c1", set(), lambda text: "lamp" in text)
    assert [turn.question for turn in kept.turns(access(), mine)] == ["two"]
    assert {each.title for each in kept.of(access())} == {"one"}
    kept.forget_documents("c1", set(), lambda text: text == "one")
    assert {each.title for each in kept.of(access())} == {""}
    kept.forget("c1")
    assert kept.of(access()) == []
