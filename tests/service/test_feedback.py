"""Feedback becomes questions that evaluations read: by the real reader, from what the real server gives out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.evaluation.datasets import load_questions
from ragways.service.errors import Conflict
from ragways.service.feedback import Feedback
from ragways.service.state import State
from tests.service.conftest import RunningServer


def test_verdicts_become_questions_with_gold_answers(demo_server: RunningServer, demo_name: str, tmp_path: Path):
    place = f"/api/v1/collections/{demo_name}/feedback"
    client = demo_server.client
    given = [
        {
            "question": "Who built it?",
            "answer": "Ada Marsh",
            "verdict": "good",
            "paradigm": "fused",
            "evidence": ["c:1"],
        },
        {"question": "When?", "answer": "1850", "verdict": "bad", "correction": "1871"},
        {"question": "Why \u2028 “so”?\n", "answer": "No idea", "verdict": "bad"},
    ]
    before = len(client.get(place).text.splitlines())
    for one in given:
        assert client.post(place, json=one).status_code == 201
    file = tmp_path / "feedback.jsonl"
    reply = client.get(place)
    assert "content-length" not in reply.headers  # it goes out as it is read
    file.write_bytes(reply.content)
    questions = load_questions("plain", file)[before:]
    assert [(one.text, one.answers) for one in questions] == [
        ("Who built it?", ("Ada Marsh",)), ("When?", ("1871",)), ("Why \u2028 “so”?\n", ())
    ]  # fmt: skip
    assert [one.provenance["verdict"] for one in questions] == ["good", "bad", "bad"]
    assert questions[0].provenance["evidence"] == ["c:1"]
    assert questions[1].provenance["answer"] == "1850"
    assert len({one.id for one in questions}) == 3
    sets = client.get(f"/api/v1/collections/{demo_name}/questions").json()["sets"]
    assert [one["questions"] for one in sets if one["name"] == "feedback"] == [before + 3]


def test_feedback_is_read_as_it_was_at_the_beginning_and_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    feedback = Feedback(State(tmp_path / "service.sqlite"))
    assert list(feedback.lines("docs")) == []
    for number in range(350):
        feedback.add("docs", "", f"{number}")
    lines = feedback.lines("docs")
    first = next(lines)
    feedback.add("docs", "", "later")
    feedback.add("others", "", "of others")
    assert [first, *lines] == [f"{number}\n" for number in range(350)]
    monkeypatch.setattr("ragways.service.feedback.LARGEST", 945)
    with pytest.raises(Conflict):
        feedback.add("docs", "", "line")
    assert feedback.remove("docs", lambda line: line != "later") == 350
    assert list(feedback.lines("docs")) == ["later\n"]
