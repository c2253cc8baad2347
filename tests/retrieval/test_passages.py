"""The part of a passage that a person is shown: around what was asked, with the code that it leads to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragways.core.types import Answer, Citation, Evidence, Hit, Hits, Piece, Query
from ragways.retrieval.passages import CODE, SHOWN, SIZE, shown_passages, window

FILLER = "\n\n".join(f"Paragraph {n} speaks of boats, of tides and of the weather in the bay." for n in range(9))
CODE_BLOCK = "```console\n$ pip install ferry[fast]\n\n$ ferry --fast\n```"


def test_a_short_passage_is_whole():
    assert window("What is a ferry?", "# Ferry\n\nA ferry is a boat.") == "# Ferry\n\nA ferry is a boat."


def test_a_window_begins_where_the_question_is_spoken_of_and_has_the_code_that_follows():
    text = f"{FILLER}\n\nTo enable the fast ferry, install it:\n\n{CODE_BLOCK}\n\nThen it is fast.\n\n{FILLER}"
    shown = window("How do I enable the fast ferry?", text)
    assert shown.startswith(f"To enable the fast ferry, install it:\n\n{CODE_BLOCK}\n\nThen it is fast.")
    assert len(shown) <= SIZE + CODE


def test_code_that_a_window_leads_to_is_whole_also_where_it_is_long():
    block = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(40)) + "\n```"
    text = f"{'The quay is long. ' * 30}\n\nEnable the ferry so:\n\n{block}"
    assert window("enable the ferry", text).endswith(f"Enable the ferry so:\n\n{block}")


def test_cited_passages_come_first_and_three_are_shown():
    hits = tuple(
        Hit(Piece(f"article:{n}:s0:p0:c0", "chunk", f"Text {n}.", f"article:{n}", "T", 0, 7, 2), 1.0)
        for n in range(1, 7)
    )
    evidence = Evidence(Hits(Query("Text?"), hits), hits, 12, shown=tuple(f"Text `{n}`." for n in range(1, 7)))
    cited = Citation(0, hits[4].piece.id, "article:5", 0, 7, "Text 5.")
    shown = shown_passages(Answer(evidence, "x", (cited,), way="rule: read"))
    assert list(shown.items()) == [(5, "Text `5`."), (1, "Text `1`."), (2, "Text `2`.")]
    assert len(shown) == SHOWN


LINES = st.lists(st.sampled_from(["the ferry is fast", "```", "", "x = 1", "- item", "word " * 60]), max_size=60)


@given(LINES)
def test_every_window_is_a_bounded_part_of_its_passage(lines: list[str]):
    text = "\n".join(lines)
    shown = window("How fast is the ferry?", text)
    assert len(shown) <= SIZE + CODE
    rest = iter(text.split())
    assert all(any(word == other for other in rest) for word in shown[:SIZE].split()[:-1])
