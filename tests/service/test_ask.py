"""Asking through the real server: whole, streamed, side by side, filtered; and what is refused."""

from __future__ import annotations

import pytest

from ragways.retrieval.ask import PARADIGMS
from tests.service.conftest import RunningServer

QUESTION = "Who designed the Pell Rock Lighthouse?"


def path(name: str, end: str) -> str:
    return f"/api/v1/collections/{name}/{end}"


def test_an_answer_has_its_citations_evidence_way_and_cost(demo_server: RunningServer, demo_name: str):
    got = demo_server.client.post(path(demo_name, "ask"), json={"question": QUESTION})
    assert got.status_code == 200
    data = got.json()
    assert "Jorun Askeby" in data["answer"]
    assert data["citations"][0]["quote"]
    assert data["evidence"][0]["source"]["key"]
    assert data["route"]["arm"]
    assert data["usage"]["calls"] == 0


def test_a_streamed_answer_tells_steps_and_text_and_ends_with_the_whole(demo_server: RunningServer, demo_name: str):
    body = {"question": QUESTION, "paradigm": "naive", "stream": True}
    events = list(demo_server.events(path(demo_name, "ask"), body))
    names = [name for name, _ in events]
    assert names[-1] == "result"
    steps = [data for name, data in events if name == "step"]
    begun, ended = ([step["name"] for step in steps if step["event"] == event] for event in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert steps[0] == {"name": "naive", "depth": 0, "event": "begin"}
    text = ""
    for name, data in events:
        if name == "text":
            text = data["text"] if data["restart"] else text + data["text"]
    result = events[-1][1]
    assert result["answer"] in text
    assert names.index("text") < names.index("result")


@pytest.mark.parametrize("name", [name for name in PARADIGMS if name != "llm-only"])
def test_every_paradigm_finds_something(demo_server: RunningServer, demo_name: str, name: str):
    got = demo_server.client.post(path(demo_name, "retrieve"), json={"question": QUESTION, "paradigm": name})
    assert got.status_code == 200, got.text
    assert got.json()["hits"]


def test_side_by_side_each_piece_of_evidence_stands_once_with_who_found_it(demo_server: RunningServer, demo_name: str):
    body = {"question": QUESTION, "paradigms": ["naive", "words", "naive"]}
    data = demo_server.client.post(path(demo_name, "compare"), json=body).json()
    assert [answer["paradigm"] for answer in data["answers"]] == ["naive", "words"]
    ids = [row["id"] for row in data["evidence"]]
    assert len(ids) == len(set(ids))
    for answer in data["answers"]:
        places = {row["id"]: row["by"].get(answer["paradigm"]) for row in data["evidence"]}
        assert [places[piece["id"]] for piece in answer["evidence"]] == list(range(1, len(answer["evidence"]) + 1))


def test_a_filter_holds_in_every_way_of_asking(demo_server: RunningServer, demo_name: str):
    where = 'title~"Lighthouse"'
    for end, more in (
        ("ask", {"paradigm": "naive"}),
        ("retrieve", {"paradigm": "fused"}),
        ("compare", {"paradigms": ["words"]}),
    ):
        data = demo_server.client.post(path(demo_name, end), json={"question": QUESTION, "where": where, **more}).json()
        found = data.get("hits") or data["evidence"]
        assert found
        assert all("Lighthouse" in piece["title"] for piece in found)


def test_evidence_is_shown_in_its_place_and_its_document_whole(demo_server: RunningServer, demo_name: str):
    data = demo_server.client.post(path(demo_name, "ask"), json={"question": QUESTION, "paradigm": "naive"}).json()
    piece = data["evidence"][0]
    view = demo_server.client.get(path(demo_name, f"evidence/{piece['id']}")).json()
    assert view["text"] == piece["text"]
    whole = demo_server.client.get(path(demo_name, f"documents/{piece['document']}")).json()
    assert whole["text"][piece["start"] : piece["end"]] == piece["text"]
    assert whole["sections"]


def test_the_router_explains_itself(demo_server: RunningServer, demo_name: str):
    data = demo_server.client.post(path(demo_name, "route"), json={"question": QUESTION}).json()
    assert data["decision"]["arm"]
    assert data["look"]["first"]
    assert len(data["features"]) > 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": ""}, 422),
        ({"question": "x" * 8001}, 422),
        ({"question": "   "}, 400),
        ({"question": QUESTION, "paradigm": "navie"}, 400),
        ({"question": QUESTION, "where": "nonsense ==="}, 400),
        ({"question": QUESTION, "settings": {"nope": 1}, "paradigm": "naive"}, 400),
        ({"question": QUESTION, "more": 1}, 422),
        ({"question": QUESTION, "budget": -1}, 422),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_cure(demo_server: RunningServer, demo_name: str, body, status: int):
    got = demo_server.client.post(path(demo_name, "ask"), json=body)
    assert got.status_code == status, got.text
    error = got.json()["error"]
    assert error["message"]
    assert error["cure"]
    if status == 400:  # the same, once the reply is a stream that has begun
        events = list(demo_server.events(path(demo_name, "ask"), {**body, "stream": True}))
        assert [(name, data["code"]) for name, data in events if name == "error"] == [("error", error["code"])]


def test_what_is_not_there_is_not_found(demo_server: RunningServer, demo_name: str):
    for end in ("documents/article:1", "evidence/article:1", "evidence/" + "x" * 600):
        assert demo_server.client.get(path(demo_name, end)).status_code in (400, 404)
    assert demo_server.client.post(path("other", "ask"), json={"question": QUESTION}).status_code == 404
