"""Rows as tokens: the reader's own layout, spans that are whole, batches that lose nothing."""

from __future__ import annotations

from ragways.models.encoder import tokenizer
from ragways.models.reader import Passage, joined, lay_out
from training.data import Row
from training.tokens import LONGEST, tokenised

TEXT = "The harbour light was built by Ada Holm in 1912."
LONG = Passage("", "The sea was calm and the boats lay still. " * 80)


def row(at: int | None, words: str = "Ada Holm", **known: float) -> Row:
    start = Passage("Ness", TEXT).shown.index(words)
    return Row(
        "Who built it?", (Passage("", "A rock."), Passage("Ness", TEXT)), at, start, start + len(words), (0.0, 1.0),
        known.get("supports"),
    )  # fmt: skip


def test_rows_are_laid_out_as_the_product_lays_them_out():
    one = row(1)
    assert tokenised(tokenizer(), [one])[0].laid.ids == lay_out(tokenizer(), one.question, one.passages, LONGEST).ids
    asked, *found = (
        tokenizer().encode(text, add_special_tokens=False)
        for text in (one.question, *(passage.shown for passage in one.passages))
    )
    laid = joined(asked.ids, found, 16)
    assert len(laid.ids) == 16
    assert [laid.ids[mark] for mark in laid.marks] == [102, 102]


def test_a_span_is_the_tokens_of_the_answer_and_unknown_where_it_is_cut_off():
    found = tokenised(tokenizer(), [row(1), row(-1), row(None)])
    assert [one.span for one in found[1:]] == [(0, 0), None]
    first, last = found[0].span or (0, 0)
    assert tokenizer().decode(found[0].laid.ids[first : last + 1]) == "ada holm"
    end = LONG.shown.rindex("boats")
    cut = Row("Where?", (LONG,), 0, end, end + 5, (1.0,))
    early = Row("Where?", (LONG,), 0, 4, 7, (1.0,))
    half = Row("Where?", (LONG,), 0, 4, end, (1.0,))
    whole = [one.span is not None for one in tokenised(tokenizer(), [cut, half, early])]
    assert whole == [False, False, True]
