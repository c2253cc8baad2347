"""How question and passages become one text, and spans are read off what the reader says of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from ragways.models.embed import Vectors
from ragways.models.encoder import END, START, Encoder, tokenizer
from ragways.models.reader import LONGEST_SPAN, Passage, Reader, best_spans, lay_out, shares

PASSAGES = (Passage("Warsaw", "It lies on the Vistula."), Passage("", "Oslo lies on a fjord."))


def test_passages_follow_the_question_and_each_has_a_mark_behind_it():
    laid = lay_out(tokenizer(), "Where is it?", PASSAGES, 384)
    assert (laid.ids[0], laid.ids[-1]) == (START, END)
    assert [laid.ids[mark] for mark in laid.marks] == [END, END]
    for (number, first, end), id in zip(laid.places.tolist(), laid.ids, strict=True):
        if number >= 0:
            assert PASSAGES[number].shown[first:end].casefold() == str(tokenizer().id_to_token(id)).removeprefix("##")


@pytest.mark.parametrize("longest", [20, 40, 384])
def test_a_text_of_any_length_fits(longest: int):
    long = Passage("Title", "word " * 20_000)
    laid = lay_out(tokenizer(), "why " * 5_000 if longest > 100 else "why?", [long, *PASSAGES], longest)
    assert len(laid.ids) <= longest
    assert len(laid.marks) == 3


def test_short_passages_stay_whole_and_long_ones_share_the_rest():
    assert shares([5, 100, 100], 45) == [5, 20, 20]
    assert shares([5, 5], 100) == [5, 5]
    assert shares([5, 5], -3) == [0, 0]


def test_the_same_passages_are_read_once_for_one_question(monkeypatch: pytest.MonkeyPatch):
    runs: list[int] = []
    run = Encoder.run

    def counted(self: Encoder, ids: Sequence[int]) -> Vectors:
        runs.append(len(ids))
        return run(self, ids)

    monkeypatch.setattr(Encoder, "run", counted)

    async def twice() -> None:
        reader = Reader()
        first = await reader.read("Where is it?", [PASSAGES])
        assert await reader.read("Where is it?", [list(PASSAGES)]) == first
        assert await reader.read("Where is Oslo?", [PASSAGES]) != first
        await reader.aclose()

    asyncio.run(twice())
    assert len(runs) == 2


def test_spans_by_hand():
    """Against all spans inside one passage, best first, none touching a better one."""
    laid = lay_out(tokenizer(), "Where is it?", PASSAGES, 384)
    dice = np.random.default_rng(3)
    for _ in range(20):
        start, end = dice.normal(size=(2, len(laid.ids))).astype(np.float32)
        places = laid.places.tolist()
        inside = [
            (float(start[a] + end[b] - start[0] - end[0]), a, b)
            for a in range(len(places)) for b in range(a, min(a + LONGEST_SPAN, len(places)))
            if places[a][0] == places[b][0] >= 0
        ]  # fmt: skip
        best, first, last = max(inside)
        found = best_spans(laid, start, end, 4)
        assert found[0].score == pytest.approx(best, abs=1e-5)
        assert (found[0].passage, found[0].start, found[0].end) == (places[first][0], places[first][1], places[last][2])
        assert [span.score for span in found] == sorted((span.score for span in found), reverse=True)
        for n, one in enumerate(found):
            assert all(one.passage != o.passage or one.end <= o.start or o.end <= one.start for o in found[:n])
