"""The normal form of answers, and what a judge's liking for a style is allowed for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.duel.entries import DuelRules, duel_entries
from ragways.evaluation.duel.style import DRESSES, StyleBias, normal_form, style_allowance, word_count
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
    assert entries.one_sided["naive", "words"] == {"q": 1}
    explained = [record(name, answer="Yes.", explanation="So **it** is.") for name in ("naive", "words")]
    (pair,) = duel_entries(explained, DuelRules()).pairs["naive", "words"]
    assert pair.answers == ("Yes. So it is.", "Yes. So it is.")


def test_a_style_is_worn_in_as_many_words_or_within_the_tolerance():
    for dress in DRESSES:
        dressed, plain = dress.wear(PLAIN, "Who built the harbour light and when was that done?", "naive")
        if dress.measure is None:
            assert normal_form(dressed, ["naive"]) == normal_form(plain)
        else:
            assert dress.measure(dressed) > dress.measure(plain)
            assert 0 <= word_count(dressed) - word_count(plain) <= 10


def test_what_a_style_may_have_added_is_in_proportion_to_how_the_sides_differ_in_it():
    bias = StyleBias("more words", word_count, amount=8.0, low=-0.2, high=0.6)
    alike = [("one two", "one two")] * 20
    assert style_allowance(alike, [bias]).styles == ()
    # a has 16 words more, always: twice what the judge was tested with.
    found = style_allowance([("w " * 20, "w " * 4)] * 20, [bias])
    assert (found.for_a, found.for_b) == pytest.approx((1.2, 0.4))
    turned = style_allowance([("w " * 4, "w " * 20)] * 20, [bias])
    assert (turned.for_a, turned.for_b) == pytest.approx((0.4, 1.2))
    # One word more, always: a judge may care about that alone.
    assert style_allowance([("w w", "w")] * 20, [bias]).for_a == pytest.approx(0.6)
