"""How answers read: spans cut as one would say them, sentences without marks, pronouns made names."""

from __future__ import annotations

import pytest

from ragways.reading.phrase import (
    announces,
    clean_sentence,
    clean_span,
    enumeration,
    excerpt,
    headed,
    is_answer,
    leans_on,
    needs_heading,
    repeats,
    resolved,
    says_something,
    titled_row,
)


def said(text: str, span: str) -> str:
    """What is said of a span, given by its words."""
    start = text.index(span)
    start, end = clean_span(text, start, start + len(span))
    return text[start:end]


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("It opened in 1932, they say.", "in 1932,", "1932"),
        ("He lived in the United States.", "the United States.", "United States"),
        ("They play for The Beatles now.", "The Beatles", "The Beatles"),
        ("A city, The Hague, is near.", "The Hague,", "The Hague"),
        ("First install python-multipart here.", "python", "python-multipart"),
        ("From 1939-1945 there was war.", "1939", "1939"),
        ("It began in the mid-19th century.", "19th century", "mid-19th century"),
        ("Founded by G. Stanley Hall's pupils.", "G. Stanley Hall's", "G. Stanley Hall"),
        ('The song "Let It Be" was last.', '"Let It Be"', "Let It Be"),
        ("Made by Lee (born 1932) himself.", "Lee (born", "Lee"),
        ("She is Ann (Annie) Lee of York.", "Ann (Annie) Lee of", "Ann (Annie) Lee"),
        ("Citizen of the U.S. since then.", "the U.S", "U.S."),
        ("Run it with --reload to see.", "--reload", "--reload"),
        ("Call set_expiry() with None.", "set_expiry", "set_expiry()"),
        ("Use from a.b import C here.", "a.b", "from a.b import C"),
        ("Nothing , . here", ", .", ""),
    ],
)  # fmt: skip
def test_a_span_is_cut_as_one_would_say_it(text: str, span: str, expected: str):
    assert said(text, span) == expected


def test_what_only_repeats_the_question_or_says_nothing_is_no_answer():
    assert repeats("Who built the Ness Light?", "the Ness Light")
    assert not repeats("Who built the Ness Light?", "Ann Lee")
    assert not is_answer("---")
    assert not is_answer("Note:")
    assert not is_answer("PR #12 by @someone")
    assert is_answer("7")


@pytest.mark.parametrize(
    ("sentence", "span", "whole"),
    [
        ("The colours are red, green and blue.", "red", "red, green and blue"),
        ("It was written by Ann Lee, Bo Ray and Cy Fox in 1990.", "Bo Ray", "Ann Lee, Bo Ray and Cy Fox"),
        ("It was written by Ann Lee in 1990.", "Ann Lee", "Ann Lee"),
        ("Ann Lee, who lived there, and others came.", "Ann Lee", "Ann Lee"),
    ],
)
def test_an_enumeration_is_taken_as_a_whole(sentence: str, span: str, whole: str):
    at = sentence.index(span)
    start, end = enumeration(sentence, at, at + len(span))
    assert sentence[start:end] == whole


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("- Import the class.", "Import the class."),
        ("3. **Run** the\ncommand.", "Run the command."),
        ("It fell.[12] It rose.[citation needed]", "It fell. It rose."),
        ("See [the guide](https://a.b/c) first.", "See the guide first."),
        ("2001 was a year.", "2001 was a year."),
    ],
)
def test_a_sentence_is_shown_without_marks(sentence: str, said: str):
    assert clean_sentence(sentence) == said


@pytest.mark.parametrize(
    "line",
    ["-----", "Installation", "Note: ", "Transaction Isolation Level Notes", "•", "::: tool.module options: - one"],
)
def test_headings_rules_and_labels_say_nothing(line: str):
    assert not says_something(line)


@pytest.mark.parametrize("line", ["Default: 5432", "It was rebuilt.", "EXPLAIN can show the plan"])
def test_facts_say_something(line: str):
    assert says_something(line)


def test_terms_of_an_index_say_nothing():
    assert not says_something("track_counts, Statistics\ntransaction, Transactions\ntransaction ID, Wraparound")
    assert not says_something("H Header file tool.h. . . . . . . . . 4")
    assert not says_something("3.1 Invoking the tool.........12")
    assert says_something("It waits... and then it goes on.")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("There are several reasons for this order.", True),
        ("There is a limit on the size of a row.", True),
        ("The major practical difference is one of speed.", True),
        ("There are two kinds, stored and virtual.", False),
        ("There was nothing to see.", False),
        ("The reason is that it is slow: all of it is read.", False),
        ("The default is one.", False),
    ],
)
def test_a_sentence_announces_what_follows_it(sentence: str, expected: bool):
    assert announces(sentence) is expected


@pytest.mark.parametrize(
    ("sentence", "title", "before", "said"),
    [
        ("She was born in Delhi.", "Anna Doe", [], "Anna Doe was born in Delhi."),
        ("Her mother taught.", "Anna Doe", ["Anna Doe was a poet."], "Anna Doe’s mother taught."),
        ("It was built in 1801.", "Ness Light (tower)", ["Ness Light is a tower."], "Ness Light was built in 1801."),
        # Who "he" is, or what "it" is, is not plain: another person is named before, nothing is, or the word is empty.
        ("He left in 1900.", "Anna Doe", ["Her son Carl Ray was a smith."], "He left in 1900."),
        ("It can be set to None.", "How to use sessions", ["Sessions are kept."], "It can be set to None."),
        ("It is possible to cross.", "Ness Light", ["Ness Light is a tower."], "It is possible to cross."),
        ("This function returns one.", "Ness", ["Ness is a module."], "This function returns one."),
        ("She knew Anna Doe well.", "Anna Doe", [], "She knew Anna Doe well."),
    ],
)
def test_a_pronoun_at_the_beginning_becomes_the_title_where_that_is_safe(
    sentence: str, title: str, before: list[str], said: str
):
    assert resolved(sentence, title, before) == said


def test_a_sentence_that_leans_on_its_heading_is_shown_with_it():
    assert needs_heading("This exception is raised twice.")
    assert not needs_heading("Cats sleep.")
    assert headed("The age, in seconds.", "20.1. COOKIE_AGE") == "COOKIE_AGE: The age, in seconds."
    assert headed("COOKIE_AGE is the age.", "COOKIE_AGE") == "COOKIE_AGE is the age."
    assert leans_on("Then it is read.")
    assert not leans_on("Thenceforth it is read.")


def test_a_very_long_sentence_is_cut_around_the_answer():
    sentence = "word " * 20_000 + "the answer is Delhi " + "word " * 100
    shown = excerpt(sentence, "Delhi")
    assert "Delhi" in shown
    assert len(shown) <= 502
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert excerpt("Short.", "x") == "Short."


def test_a_row_of_an_infobox_is_told_with_what_it_is_of():
    assert titled_row("first lit: 3 September 1889", "Pell Rock Lighthouse (tower)") == (
        "Pell Rock Lighthouse, first lit: 3 September 1889"
    )
    for plain in ("Note: it was lit in 1889.", "name: Pell Rock Lighthouse", "It was lit in 1889: late."):
        assert titled_row(plain, "Pell Rock Lighthouse") == plain
