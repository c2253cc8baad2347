"""Conversations through the real server: a follow-up is made whole, kept, the caller's alone, bounded and deletable."""

from __future__ import annotations

from pathlib import Path
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


ALICE, BOB = (Caller(key, "main", frozenset({"read"})) for key in "ab")


@pytest.fixture
def stored(tmp_path: Path) -> Conversations:
    return Conversations(State(tmp_path / "service.sqlite"))


def result(answer: str, *documents: str) -> dict[str, Any]:
    return {"answer": answer, "paradigm": "fused", "evidence": [{"document": each} for each in documents]}


def add(stored: Conversations, id: str, question: str, answer: str = "", *documents: str) -> None:
    stored.add(id, question, RewrittenQuestion(question, ""), result(answer, *documents))


def test_a_conversation_is_seen_by_the_key_that_began_it_alone(stored: Conversations):
    id = stored.start(ALICE, "c1").id
    add(stored, id, "Q?")
    for who, collection in ((BOB, "c1"), (Caller("a", "other", ALICE.scopes), "c1"), (ALICE, "c2")):
        assert stored.of(who, collection) == []
        for use in (stored.find, stored.delete):
            with pytest.raises(NotFound):
                use(who, collection, id)
    assert [turn.question for turn in stored.turns(id)] == ["Q?"]
    stored.delete(ALICE, "c1", id)
    add(stored, id, "too late")
    assert stored.turns(id) == []


def test_what_is_stored_is_bounded(stored: Conversations):
    first, second = stored.start(ALICE, "c1").id, stored.start(ALICE, "c1").id
    add(stored, first, "used", "A" * 50_000)
    assert len(stored.turns(first)[0].answer) == 20_000
    for _ in range(CONVERSATIONS - 1):
        stored.start(ALICE, "c1")
    left = {each.id for each in stored.of(ALICE, "c1")}
    assert len(left) == CONVERSATIONS
    assert first in left, "it was used after the second"
    assert second not in left
    for number in range(LONGEST + 5):
        add(stored, first, f"{number}")
    assert [turn.question for turn in stored.turns(first)] == [str(number) for number in range(5, LONGEST + 5)]


def test_what_rests_on_a_removed_document_goes(stored: Conversations):
    mine, other = stored.start(ALICE, "c1").id, stored.start(BOB, "c1").id
    add(stored, mine, "one", "secret", "article:1", "article:2")
    add(stored, mine, "two", "fine", "article:2")
    add(stored, other, "three", "secret", "article:1")
    stored.forget_documents("c1", {"article:2"}, lambda text: False)
    assert [turn.question for turn in stored.turns(mine)] == ["two"]
    assert stored.turns(other) == []
    assert [each.title for who in (ALICE, BOB) for each in stored.of(who, "c1")] == ["", ""], "made of what is gone"
    add(stored, other, "four " * 50, "fine", "article:2")
    stored.forget_documents("c1", {"article:2"}, lambda text: False)
    assert [each.title for each in stored.of(BOB, "c1")] == [("four " * 50)[:120]], "its turn is there"
    add(stored, mine, "What of the lamp?", "the secret lamp", "article:2")
    stored.forget_documents("c1", {"article:2"}, lambda text: "lamp" in text)
    assert [turn.question for turn in stored.turns(mine)] == ["two"]
    stored.forget("c1")
    assert stored.of(ALICE, "c1") == []
