"""The normal form of answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.duel.entries import DuelRules, duel_entries
from ragways.evaluation.duel.style import normal_form
from tests.evaluation.duel.duel_fakes import record

PLAIN = "It was built in 1871. Anna Brack drew the plans."


@pytest.mark.parametrize(
    "dressed",
    [
        "- It was built in **1871**.\n- Anna Brack drew the plans.",
        "1. It was built in 1871\n2) Anna Brack drew _the plans_.",
        "## It was built in 1871\n\nAnna Brack drew the plans.",
        "It was built in 1871 [1]. Anna Brack drew the plans [2, 3][^4].",
        "It was built in 1871 (source: Harbour log, page 3). Anna Brack drew the plans [Source: log].",
        "It was built in 1871 (document 4). Anna Brack drew the plans【3†log】.",
        "It was built in [1871](https://example.org/1871). Anna Brack drew the plans https://example.org.",
        "It was built in 1871. Anna Brack drew the plans.\n\nSources:\n- Harbour log\n- Letters",
        "It was built in 1871. Anna Brack drew the plans.\nSource: Harbour log",
        "According to the provided context, it was built in 1871. Anna Brack drew the plans.",
        "<b>It</b> was built in `1871`. Anna Brack drew the plans. \U0001f600",
        "| It was built in 1871 |\n|---|\n\nAnna Brack drew the plans.",
        "graph-ppr: it was built in 1871. Anna Brack drew the plans (graph-ppr).",
        "According to naive, it was built in 1871. Anna Brack drew the plans.",
    ],
)
def test_another_dress_has_the_same_normal_form(dressed: str):
    assert normal_form(dressed, ["graph-ppr", "naive"]) == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        "Light, water and air are 2 * 3 * 4 words (a naive view) of 1871.",
        "3. Mai 1945 was a Thursday, said the keeper (from 1914 to 1918).",
        "The file some_name_here is 5 < 6 > 4 [sic] and see above.",
    ],
)
def test_what_is_said_stays(text: str):
    assert normal_form(text, ["light", "naive", "words", "a"]) == text


def test_a_name_that_is_no_usual_word_goes_unless_it_is_asked_about():
    text = "The light was found by LightRAG."
    assert normal_form(text, ["light", "LightRAG"]) == "The light was found by the system."
    assert normal_form(text, ["LightRAG"], "What did LightRAG find?") == text


@given(st.text(alphabet="ab *_-#|[]()<>`.:1\n", max_size=60))
def test_it_ends_and_is_one_paragraph(text: str):
    found = normal_form(text, ["ab", "a-b"])
    assert "\n" not in found
    assert found == found.strip()


def test_answers_enter_a_duel_in_their_normal_form():
    some = [record("naive", answer="naive: **So** it is [1].\n- Yes."), record("words", answer="(source: x)")]
    entries = duel_entries(some, DuelRules())
    assert [one.answer for one in entries.records] == ["So it is. Yes.", ""]
    explained = [record(name, answer="Yes.", explanation="So **it** is.") for name in ("naive", "words")]
    (pair,) = duel_entries(explained, DuelRules()).pairs["naive", "words"]
    assert pair.answers == ("Yes. So it is.", "Yes. So it is.")
