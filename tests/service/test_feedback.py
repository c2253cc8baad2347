"""Feedback becomes questions that evaluations read: by the real reader, from what the real server gives out."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from ragways.evaluation.datasets import load_questions
from ragways.service import feedback
from ragways.service.errors import Conflict
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


def test_feedback_is_read_in_blocks_and_as_it_was_at_the_beginning(tmp_path: Path):
    file = tmp_path / "feedback.jsonl"
    assert list(feedback.blocks(file)) == []
    whole = b"".join(b'{"n": %d}\n' % number for number in range(20_000))
    file.write_bytes(whole)
    blocks = feedback.blocks(file)
    first = next(blocks)
    feedback.append(file, b'{"n": "later"}\n')
    got = [first, *blocks]
    assert b"".join(got) == whole
    assert max(map(len, got)) <= feedback.BLOCK


def test_lines_are_whole_however_many_come_at_once_and_whatever_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "feedback.jsonl"
    file.write_bytes(b'{"question": "whole", "id": "a"}\n{"question": "half a li')  # as a power cut may leave it
    line = json.dumps({"question": "x" * 5000}).encode() + b"\n"
    threads = [threading.Thread(target=feedback.append, args=(file, line)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    questions = load_questions("plain", file)
    assert [one.text for one in questions] == ["whole", *["x" * 5000] * 8]
    monkeypatch.setattr(feedback, "LARGEST", 10_000)
    with pytest.raises(Conflict):
        feedback.append(file, line)
    assert len(load_questions("plain", file)) == 9
