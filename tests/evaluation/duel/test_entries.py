from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

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


def test_both_are_written_again_by_the_same_model_until_they_fit():
    one, model = aligned(pair(100, 40), said(98), said(60), said(97))
    assert one.usable
    assert (one.again, one.padded, one.generator, one.rewritten) == (3, 0, "judge", True)
    assert tuple(map(words, one.answers)) == (98, 97)
    # It asked for the longer one's length first, then for more, since the model fell short.
    assert ["Words: 100" in call.messages[-1].content for call in model.calls] == [True, True, False]
    assert "Words: 166" in model.calls[2].messages[-1].content


def test_after_so_many_tries_the_nearest_is_padded():
    one, model = aligned(pair(100, 20), said(100), said(50), said(75), said(60))
    assert len(model.calls) == 1 + TRIES
    assert one.answers[1].startswith(text(75))
    assert one.usable
    assert one.padded == words(one.answers[1]) - 75 > 0


def test_without_a_model_small_gaps_are_padded_and_large_ones_left_out():
    most = sum(map(words, PADDING)) + TOLERANCE
    assert aligned(pair(20, 20 + most))[0].usable
    assert not aligned(pair(20, 21 + most))[0].usable
    assert aligned(pair(20, 40))[0].answers[0] == f"{text(20)} {PADDING[0]}"


@pytest.mark.parametrize("changes", [{"abstained": True}, {"evidence": ()}])
def test_where_one_cannot_be_written_again_neither_is(changes: dict[str, Any]):
    """Else the writer would be compared and not the system."""
    other = record("y", answer=text(30), evidence=EVIDENCE)
    for a in (3, 60):
        one, model = aligned(
            AnswerPair(record("x", answer=text(a), **{"evidence": EVIDENCE, **changes}), other), said(30)
        )
        assert (model.calls, one.again, one.rewritten) == ([], 0, False)
        assert one.answers[0].startswith(text(a))


def test_a_generator_that_fails_on_one_side_leaves_both_as_they_are():
    refusal = {"answered": False, "answer": ""}
    one, model = aligned(pair(100, 20), said(100), refusal, ModelRefused("no"), refusal)
    assert (one.again, one.rewritten, len(model.calls)) == (4, False, 4)
    assert one.answers[0] == text(100)


def test_an_answer_that_failed_is_an_outcome_and_not_written_again():
    failed = AnswerPair(record("x", answer="", error="down", evidence=EVIDENCE), record("y", answer=text(30)))
    one, model = aligned(failed, said(30))
    assert (one.failed, one.usable, one.judged, model.calls) == (-1, True, False, [])
    same = aligned(AnswerPair(record("x", answer="So."), record("y", answer="So.")))[0]
    assert (same.failed, same.usable, same.judged) == (0, True, False)


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


def test_what_was_aligned_is_found_again_and_a_cut_line_is_passed_over(tmp_path: Path):
    one, _ = aligned(pair(20, 40))
    lengths = AlignedLog(tmp_path)
    lengths.append(one)
    with (tmp_path / "lengths.jsonl").open("a") as stream:
        stream.write('{"question": "q", "answ')
    assert lengths.latest() == {one.key: one}
