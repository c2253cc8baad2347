from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import BudgetExceeded, ModelRefused
from ragways.core.trace import Budget, spending
from ragways.evaluation.duel.entries import (
    PADDING,
    TOLERANCE,
    TRIES,
    AlignedAnswers,
    AlignedLog,
    AnswerPair,
    align,
    apart,
    pad,
    padded_copy,
    words,
)
from ragways.models.client import ModelClient
from ragways.models.tokens import Price, Prices
from tests.evaluation.duel.duel_fakes import Says, record

EVIDENCE = ({"id": "1", "title": "Harbour", "text": "Anna Brack built it."},)


def text(count: int) -> str:
    return " ".join(f"W{n}" for n in range(count))


def pair(a: int, b: int, **changes) -> AnswerPair:
    return AnswerPair(
        record("x", answer=text(a), evidence=EVIDENCE, **changes), record("y", answer=text(b), evidence=EVIDENCE)
    )


def aligned(one: AnswerPair, *replies: object) -> tuple[AlignedAnswers, Says]:
    left = list(replies)
    model = Says(lambda call: left.pop(0))
    return asyncio.run(align(ModelClient(model if replies else None), one)), model


def said(count: int) -> dict[str, object]:
    return {"answered": True, "answer": text(count)}


def test_nearly_equal_lengths_are_left_as_they_are():
    one, _ = aligned(pair(40, 50))
    assert (one.answers, one.again, one.padded, one.usable) == ((text(40), text(50)), 0, 0, True)


def test_the_shorter_one_is_generated_again_until_it_fits():
    one, model = aligned(pair(100, 40), said(60), said(95))
    assert one.usable
    assert (one.again, one.padded, one.generator) == (2, 0, "judge")
    assert tuple(map(words, one.answers)) == (100, 95)
    # It asked for the longer one's length first, then for more, since the model fell short.
    assert ["Words: 100" in call.messages[-1].content for call in model.calls] == [True, False]
    assert "Words: 166" in model.calls[1].messages[-1].content
    assert len({call.sample for call in model.calls}) == 2


def test_after_so_many_tries_the_nearest_is_padded():
    one, model = aligned(pair(100, 20), said(50), said(75), said(60))
    assert len(model.calls) == TRIES
    assert one.answers[1].startswith(text(75))
    assert one.usable
    assert one.padded == words(one.answers[1]) - 75 > 0


def test_without_a_model_small_gaps_are_padded_and_large_ones_left_out():
    most = sum(map(words, PADDING)) + TOLERANCE
    assert aligned(pair(20, 20 + most))[0].usable
    assert not aligned(pair(20, 21 + most))[0].usable
    assert aligned(pair(20, 40))[0].answers[0] == f"{text(20)} {PADDING[0]}"


def test_an_abstention_and_an_answer_without_evidence_are_not_generated_again():
    abstained = AnswerPair(record("x", answer=text(3), abstained=True, evidence=EVIDENCE), record("y", answer=text(30)))
    one, model = aligned(abstained, said(30))
    assert (model.calls, one.again, one.usable) == ([], 0, True)
    without = AnswerPair(record("x", answer=text(3)), record("y", answer=text(30)))
    assert aligned(without, said(30))[1].calls == []


def test_a_generator_that_refuses_or_does_not_know_counts_as_a_try():
    refusal = {"answered": False, "answer": ""}
    one, model = aligned(pair(100, 20), refusal, ModelRefused("no"), said(100))
    assert (one.again, one.usable, len(model.calls)) == (3, True, 3)


def test_a_spent_budget_ends_it_and_nothing_is_settled():
    async def run() -> None:
        with spending(Budget(usd=0.0)):
            await align(
                ModelClient(Says(lambda call: said(100)), prices=Prices({"judge": Price(1.0, 1.0)})), pair(100, 20)
            )

    with pytest.raises(BudgetExceeded):
        asyncio.run(run())


@given(st.integers(1, 200), st.integers(1, 200))
def test_padding_never_makes_the_shorter_one_the_longer_by_more_than_nothing(short: int, wanted: int):
    before, after = text(short), pad(text(short), wanted)
    assert after.startswith(before)
    assert words(after) <= max(short, wanted)
    if wanted - short <= sum(map(words, PADDING)) + TOLERANCE:
        assert wanted - words(after) <= TOLERANCE


@given(st.integers(1, 150), st.integers(1, 150))
def test_a_usable_pair_is_within_the_tolerance(a: int, b: int):
    one, _ = aligned(pair(a, b))
    assert one.usable == (apart(one.answers) <= TOLERANCE)
    assert one.answers[0].startswith(text(a))
    assert one.answers[1].startswith(text(b))


def test_the_padded_copy_has_as_much_padding_as_any_answer_may_get():
    assert padded_copy("So.") == pad("So.", 10_000)
    assert words(padded_copy("So.")) - 1 > TOLERANCE


def test_what_was_aligned_is_found_again_and_a_cut_line_is_passed_over(tmp_path: Path):
    one, _ = aligned(pair(20, 40))
    lengths = AlignedLog(tmp_path)
    lengths.append(one)
    with (tmp_path / "lengths.jsonl").open("a") as stream:
        stream.write('{"question": "q", "answ')
    assert lengths.latest() == {one.key: one}
