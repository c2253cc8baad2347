"""BM25 against an independent implementation, and the promises of its order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rank_bm25 import BM25Okapi

from ragways.index.words import Words, terms


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    chance = random.Random(5)
    vocabulary = [f"term{n}" for n in range(300)]
    return [(f"article:{n}:s0:p0:c0", " ".join(chance.choices(vocabulary, k=40))) for n in range(400)]


def test_the_order_is_that_of_bm25(tmp_path: Path, texts: list[tuple[str, str]]):
    """Scores differ by the form of idf; for texts of one length, the order does not."""
    Words.build(tmp_path / "words", texts)
    words = Words(tmp_path / "words")
    # Lucene's idf is never negative; give the reference the same, so that only the rest is compared.
    reference = BM25Okapi([text.split() for _, text in texts], k1=1.2, b=0.75)
    for question in ("term1 term2 term3", "term7", "term250 term251"):
        scores = reference.get_scores(question.split())
        found = words.search(question, 20)
        expected = sorted(((-round(float(score), 6), id) for score, (id, _) in zip(scores, texts, strict=True)))[:20]
        matches = [id for score, id in expected if score < 0]
        assert [id for id, _ in found][: len(matches)] == matches


def test_equal_scores_are_ordered_by_id_wherever_they_are_cut(tmp_path: Path):
    Words.build(tmp_path / "words", [(f"id{n:03}", "same words here") for n in range(100, 0, -1)])
    words = Words(tmp_path / "words")
    for k in (1, 5, 37, 100, 200):
        assert [id for id, _ in words.search("words", k)] == [f"id{n:03}" for n in range(1, min(k, 100) + 1)]


def test_adding_on_top_is_the_same_as_building_anew(tmp_path: Path, texts: list[tuple[str, str]]):
    Words.build(tmp_path / "first", texts[:300])
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "first").iterdir()}
    Words.build(tmp_path / "grown", texts[300:], onto=tmp_path / "first")
    Words.build(tmp_path / "anew", texts)
    for question in ("term1 term2 term3", "term42"):
        assert Words(tmp_path / "grown").search(question, 50) == Words(tmp_path / "anew").search(question, 50)
        assert all(int(id.split(":")[1]) < 300 for id, _ in Words(tmp_path / "first").search(question, 50))
    assert before.items() <= {file.name: file.stat().st_mtime_ns for file in (tmp_path / "first").iterdir()}.items()


@pytest.mark.parametrize("question", ["", "the of and", "!!!", "\x00", "AND OR (", "a" * 70, "text:harbour id:1", "*"])
def test_no_question_is_a_query(tmp_path: Path, question: str):
    Words.build(tmp_path / "words", [("id1", "harbour light")])
    assert Words(tmp_path / "words").search(question, 5) in ([], Words(tmp_path / "words").search("harbour", 5))


def test_terms_are_folded_and_stemmed_and_each_stands_once():
    assert terms("The Foxes' cafés, foxes and a café!") == ["fox", "cafe"]
