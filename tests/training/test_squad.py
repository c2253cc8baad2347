"""The script that measures the reader, with the reader itself, on an article made here."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from training.scores import auc, f1, kept, normal
from training.squad import figures, unseen

TOWER = "Ness Light is a tower on the northern coast. It was built by Ada Holm in 1912 and is painted red and white."
SHEEP = "Olga Berg kept a flock of forty sheep in the hills. Every spring she sold the wool at the market in Lervik."


def paragraph(text: str, *asked: tuple[str, str]) -> dict[str, Any]:
    questions = [{"question": q, "is_impossible": not a, "answers": [{"text": a}] if a else []} for q, a in asked]
    return {"context": text, "qas": questions}


ARTICLE = {
    "paragraphs": [
        paragraph(TOWER, ("Who built Ness Light?", "Ada Holm"), ("When was Ness Light built?", "1912")),
        paragraph(SHEEP, ("Where did Olga Berg sell the wool?", "Lervik"), ("Who taught Olga Berg to swim?", "")),
    ]
}


def test_the_reader_is_measured_on_answers_and_on_wrong_paragraphs():
    found = asyncio.run(figures(unseen([ARTICLE], frozenset()), 10, 0))
    assert (found["questions with an answer"], found["questions without"]) == (3, 1)
    assert found["f1"] > 0.6
    assert found["auc, right against wrong paragraph"] == 1
    assert asyncio.run(figures(unseen([ARTICLE], frozenset()), 1, 0))["questions with an answer"] == 1


def test_scores_are_squads_and_ranks():
    assert normal("The  U.S. – an Isle!") == "us – isle"
    assert f1("in Bergen", ["Bergen", "Oslo"]) == pytest.approx(2 / 3)
    assert f1("the", ["a"]) == 1
    assert f1("x", []) == 0
    assert auc(np.array([0.1, 0.9, 0.4]), np.array([False, True, True])) == 1
    assert auc(np.array([0.9, 0.1, 0.4]), np.array([False, True, True])) == 0
    assert kept(np.array([0.5, 0.94, 0.96, 2.0, 3.0]), np.linspace(0, 1, 101)) == 0.6
