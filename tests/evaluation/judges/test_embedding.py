"""Embedding metrics by their definitions: by hand, and against loops that follow the formulas word for word."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.judges import embedding
from ragways.evaluation.judges.embedding import greedy
from ragways.retrieval.support import sentences
from tests.evaluation.judges.resources import KnownVectors, record, scored, value
from tests.fakes import WordHashes

# Cosines: cat·feline 0.8, dog·feline 0.6, cat·dog 0.
WORDS = {"cat": (1, 0, 0), "dog": (0, 1, 0), "feline": (0.8, 0.6, 0), "up": (0, 0, 1), "not": (0, 0.1, 1)}


def test_bertscore_by_hand():
    found = scored("bertscore", record(answer="cat up [1]", gold=("feline",)), embedder=KnownVectors(WORDS))
    # cat → 0.8, up → 0: precision 0.4; feline → 0.8: recall 0.8.
    assert found["bertscore-p"].value == pytest.approx(0.4)
    assert found["bertscore-r"].value == pytest.approx(0.8)
    assert found["bertscore-f1"].value == pytest.approx(2 * 0.4 * 0.8 / 1.2)


def test_bertscore_takes_the_best_gold_answer_for_all_three_figures():
    found = scored(
        "bertscore", record(answer="cat", gold=("up", "cat up dog", "cat dog")), embedder=KnownVectors(WORDS)
    )
    assert [found[f"bertscore-{name}"].value for name in ("p", "r", "f1")] == pytest.approx([1, 0.5, 2 / 3])
    assert found["bertscore-f1"].details == {"gold": "cat dog"}


def test_context_bertscore_is_over_all_pieces_and_all_gold_evidence():
    pieces = tuple({"id": str(n), "title": "T", "text": text} for n, text in enumerate(("cat up", "dog")))
    one = record(evidence=pieces, wanted=({"quote": "feline"}, {"text": "dog"}, {"title": "only"}))
    found = scored("context-bertscore", one, embedder=KnownVectors(WORDS))
    # cat → 0.8, up → 0, dog → 1; feline → cat 0.8, dog → 1.
    assert found["context-bertscore-p"].value == pytest.approx(1.8 / 3)
    assert found["context-bertscore-r"].value == pytest.approx(0.9)
    without = scored("context-bertscore", record(wanted=({"title": "T"},)), embedder=KnownVectors(WORDS))
    assert {(score.value, score.why) for score in without.values()} == {(None, "no gold evidence in words")}


def _brute(text: list[np.ndarray], reference: list[np.ndarray]) -> tuple[float, float, float]:
    def cosine(a, b):
        return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))

    precision = sum(max(cosine(x, y) for y in reference) for x in text) / len(text)
    recall = sum(max(cosine(x, y) for x in text) for y in reference) / len(reference)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision > 0 and recall > 0 else 0.0


def _units(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, 5)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10_000), st.integers(0, 12))
def test_greedy_matching_is_its_definition_and_blind_to_how_a_text_is_cut(n: int, m: int, seed: int, at: int):
    text, reference = _units(n, seed), _units(m, seed + 1)
    match = greedy([text], [reference])
    assert match is not None
    assert match == pytest.approx(_brute(list(text), list(reference)), abs=1e-5)
    assert greedy([text[:at], text[at:]], [reference[:at], reference[at:]]) == pytest.approx(match, abs=1e-6)
    turned = greedy([reference], [text])
    assert turned == pytest.approx((match.recall, match.precision, match.f1), abs=1e-6)
    assert greedy([text], [text]) == pytest.approx((1, 1, 1), abs=1e-5)


def test_nothing_to_match_is_unscored():
    empty = np.zeros((0, 5), np.float32)
    assert greedy([], [_units(1, 0)]) is None
    assert greedy([empty], [_units(1, 0)]) is None
    assert greedy([_units(1, 0)], [empty]) is None


def test_a_long_text_is_read_to_its_end():
    class Short(KnownVectors):
        """Reads no more than `ROOM` tokens at once, as a model does."""

        async def tokens(self, texts):
            return [rows[: embedding.ROOM] for rows in await super().tokens(texts)]

    embedder = Short(WORDS)
    text = "\n".join(["cat dog cat dog cat."] * 120 + ["Up."])
    (rows,) = asyncio.run(embedding.of_tokens(embedder, [text]))
    assert len(rows) == 601
    assert rows[-1] == pytest.approx((0, 0, 1))
    assert max(embedder.count(embedder.asked)) <= embedding.ROOM


def test_coverage_and_support_by_hand():
    one = record(answer="Cat. [1] Up.", gold=("Feline. Up.",), evidence=({"id": "1", "text": "Feline. Dog."},))
    embedder = KnownVectors(WORDS)
    assert sentences("Cat. Up.") == ("Cat.", "Up.")
    assert value("coverage", one, embedder=embedder) == pytest.approx((0.8 + 1) / 2)
    assert value(
        "coverage", record(answer="Cat.", gold=("Up.", "Feline.", "Dog.")), embedder=embedder
    ) == pytest.approx(0.8)
    found = scored("support", one, embedder=embedder)
    assert found["support-hard"].value == pytest.approx(0.5)  # 0.8 is enough, 0 is not
    assert found["support-soft"].value == pytest.approx(0.4)


@given(st.lists(st.sampled_from(["Cat.", "Dog.", "Feline.", "Up.", "Not."]), min_size=1, max_size=4),
       st.lists(st.sampled_from(["Cat.", "Dog.", "Feline.", "Up.", "Not."]), min_size=1, max_size=4))  # fmt: skip
def test_coverage_is_its_definition(answer: list[str], gold: list[str]):
    embedder = KnownVectors(WORDS)
    rows = {word: embedder._row(word) for word in {*answer, *gold}}
    wanted = sum(max(float(rows[g] @ rows[a]) for a in answer) for g in gold) / len(gold)
    found = value("coverage", record(answer=" ".join(answer), gold=(" ".join(gold),)), embedder=embedder)
    assert found == pytest.approx(wanted, abs=1e-5)


def test_more_evidence_never_lowers_support():
    pieces = tuple(
        {"id": str(n), "text": text} for n, text in enumerate(("Herring swim.", "Ada Holm was born in Vik."))
    )
    less, more = (value("support-soft", record(evidence=pieces[:n])) for n in (1, 2))
    assert less is not None
    assert more is not None
    assert more >= less


def test_each_text_is_embedded_once_and_what_is_kept_is_bounded():
    embedder = WordHashes()
    for _ in range(3):
        scored("support", record(), embedder=embedder)
    assert len(embedder.texts) == len(set(embedder.texts))

    async def make(missing: list[str]) -> list[np.ndarray]:
        made.extend(missing)
        return [_units(4, len(text)) for text in missing]

    made: list[str] = []
    kept = embedding.VectorCache(limit=12)
    for text in ("a", "b", "c", "a", "d", "a", "b"):
        (rows,) = asyncio.run(kept.of("tokens", [text], make))
        assert rows.shape == (4, 5)
    assert made == ["a", "b", "c", "d", "b"]  # "b", longest unused, made room for "d"
    many = asyncio.run(
        kept.of("tokens", [str(n) for n in range(9)] * 2, make)
    )  # more than fits, all given all the same
    assert len(many) == 18
    asyncio.run(kept.of("tokens", ["8", "0"], make))
    assert made[-1] == "0", "what does not fit any more is made again"
