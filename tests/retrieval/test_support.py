"""Support, estimated, beside the citations of an answer: only where asked for, and nothing rests on it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ragways.core.types import Answer, Citation, Evidence, Hit, Hits, Piece, Query
from ragways.retrieval.support import MOST, with_support
from tests.apps.conftest import Run, home, ragways  # noqa: F401 - fixtures
from tests.fakes import write

LIGHT = "The harbour light was built by Anna Brack in 1801."
TEXT = f"{LIGHT} [1] It was pulled down in 1950. [2]"


def answered(text: str, *cited: tuple[int, str], title: str = "Harbour") -> Answer:
    """An answer whose sentences of these numbers cite these quotes of one piece."""
    hits = (Hit(Piece("p", "chunk", " ".join(quote for _, quote in cited), "d", title, 0, 1, 1), 1.0),)
    found = Evidence(Hits(Query("Who?"), hits), hits, 1)
    return Answer(found, text, tuple(Citation(number, "p", "d", 0, 1, quote) for number, quote in cited))


def estimates(answer: Answer) -> tuple[float, ...]:
    found = asyncio.run(with_support(None, answer))
    assert (found.text, found.citations, found.evidence) == (answer.text, answer.citations, answer.evidence)
    return found.support


def test_each_citation_is_held_against_the_sentence_that_cites_it():
    held, strange = estimates(answered(TEXT, (0, LIGHT), (1, "Herring swim in shoals.")))
    assert held > 0.5 > strange
    other = LIGHT.replace("1801", "1901").replace("Anna Brack", "Olaf Berg")
    turned, _ = estimates(answered(TEXT, (0, other), (1, "")))
    assert turned < held
    assert estimates(answered(TEXT, (0, LIGHT), (1, "It was pulled down in 1950.")))[1] > 0.5


def test_the_title_of_a_piece_names_what_its_quotes_call_it():
    quote = "It was built by Anna Brack in 1801."
    (with_title,) = estimates(answered(f"{LIGHT} [1]", (0, quote), title="The harbour light"))
    (without,) = estimates(answered(f"{LIGHT} [1]", (0, quote), title=""))
    assert with_title > without


def test_it_is_bounded():
    many = answered(f"{LIGHT} [1]", *[(0, LIGHT)] * (MOST + 5))
    assert len(estimates(many)) == MOST
    assert estimates(answered("Nobody knows.")) == ()


def test_json_has_it_where_it_is_asked_for_and_the_answer_is_the_same(ragways: Run, home: Path):  # noqa: F811
    write(home / "docs", {"harbour.md": f"# Harbour\n\nBoats lie here.\n\n{LIGHT}\n"})
    assert ragways("index", "docs", "--with", "words").code == 0
    asked = ("ask", "Who built the harbour light?", "-p", "words", "--json")
    plain = ragways(*asked).data
    (home / "ragways.toml").write_text("[answer]\nsupport = true\n")
    told = ragways(*asked).data
    (one,), (other,) = plain["citations"], told["citations"]
    assert "support_estimated" not in one
    assert 0.5 < other.pop("support_estimated") < 1
    assert other == one
    assert told["answer"] == plain["answer"]
    nothing = ragways("ask", "Who wrote Hamlet?", "-p", "words", "--json").data
    assert (nothing["abstained"], nothing["citations"]) == (True, [])
