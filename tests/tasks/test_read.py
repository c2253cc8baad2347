"""Answers without a model: lists, comparisons, sentences that answer how and why, and their places."""

from __future__ import annotations

import asyncio

import pytest

from ragways.layers.words import terms
from ragways.reading.answers import SentencePlace
from ragways.tasks.extract import AnswerPassage
from ragways.tasks.read import ReadAnswer, read_answer
from tests.fakes import FindsWords, WordHashes


def passage(title: str, *sentences: str, section: str = "") -> AnswerPassage:
    return AnswerPassage(title, "", " ".join(sentences), sentences, section=section, retrievers=1, nearness=0.5)


def answer_to(question: str, passages: list[AnswerPassage], answers: dict[str, float]) -> ReadAnswer:
    reader = FindsWords(answers)
    work = read_answer(question, passages, reader, embed=WordHashes().embed, terms=terms, maximum=3)
    return asyncio.run(work)


DATABASES = passage(
    "Databases", "It supports the following databases:", "PostgreSQL", "MariaDB", "SQLite", "There are others, too."
)


def test_a_list_with_a_line_each_is_answered_by_all_its_items_and_explained_by_what_leads_to_it():
    found = answer_to("Which databases does it support?", [DATABASES], {"PostgreSQL": 5})
    assert [one.text for one in found.sentences] == ["PostgreSQL, MariaDB and SQLite"]
    assert [one.text for one in found.explanation] == ["It supports the following databases:"]
    assert found.sentences[0].places == tuple(SentencePlace(0, number) for number in range(4))


def test_one_thing_is_not_answered_by_the_list_it_stands_in():
    assert answer_to("Which database is the default?", [DATABASES], {"PostgreSQL": 5}).sentences[0].text == "PostgreSQL"


@pytest.mark.parametrize(
    "question",
    [
        "Is the tower at Ness open to visitors?",
        "Is the tower at Ness closed in winter?",
        "Does the tower at Ness close in winter?",
        "Is the tower at Ness white or red?",
        "Who was born first, Ann Lee or Bo Ray?",
        "Were Ann Lee and Bo Ray born in the same year?",
        "Was Ann Lee born before Bo Ray?",
        "Are Ann Lee and Bo Ray both poets?",
        "Which is older, the tower at Ness or the quay?",
    ],
)
def test_no_yes_no_no_and_no_winner_is_concluded_from_what_is_read(question: str):
    passages = [
        passage("Ness", "The tower at Ness is painted red.", "The tower at Ness is not closed in winter."),
        passage("Ann Lee", "Ann Lee (born 4 May 1820) was a poet."),
        passage("Bo Ray", "Bo Ray (born 6 June 1850) was a mason."),
    ]
    found = answer_to(question, passages, {"Ann Lee": 9, "painted": 8, "red": 7})
    stated = [sentence for each in passages for sentence in each.sentences]
    assert found.sentences
    assert all(one.text in " ".join(stated) for one in found.sentences)
    assert all(one.text.endswith(".") for one in found.sentences), "whole sentences, word for word"
    assert found.explanation == ()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the tower built?", "4 May 1801"),
        ("In what year was the tower built?", "1801"),
        ("How many times was the tower repaired?", "twice"),
        ("How many men built the tower?", "30"),
    ],
)
def test_a_date_is_answered_by_a_date_and_a_number_by_a_number(question: str, answer: str):
    passages = [
        passage(
            "Ness",
            "The tower was built on 4 May 1801, a fine day.",
            "On 5 May 1801 the tower was repaired twice.",
            "The men who built the tower on 4 May 1801 were 30.",
        )
    ]
    for spans in ({}, {"was built": 5.0, "the tower was repaired": 5.0}, {"4 May 1801, a fine day": 1.0}):
        found = answer_to(question, passages[:1], spans)
        assert found.sentences[0].text == answer
        assert found.explanation


def test_a_number_of_things_is_no_year():
    passages = [passage("Ness", "In 1801 it was built for 30 men.")]
    assert answer_to("How many men lived there?", passages, {"1801": 5, "30 men": 4.5}).sentences[0].text == "30 men"


def test_an_answer_stands_by_the_identifier_in_the_question():
    passages = [
        passage("Settings", "The default value is one.", section="vacuum_cost"),
        passage("Settings", "The default value is 128 MB.", section="shared_buffers"),
    ]
    found = answer_to("What is the default value of shared_buffers?", passages, {"one": 9, "128 MB": 2})
    assert found.sentences[0].text == "128 MB"
    assert found.explanation[0].text == "shared_buffers: The default value is 128 MB."


def test_a_name_in_camel_case_is_no_identifier_that_the_answer_must_stand_by():
    passages = [passage("Trial", "Ann Lee faced charges.")]
    found = answer_to("Who faced charges, as TechCrunch and Ian McCarthy reported?", passages, {"Ann Lee": 9})
    assert found.sentences[0].text == "Ann Lee"
    assert found.features.span == 9


def test_the_words_that_count_are_those_of_the_sentences_cited():
    passages = [passage("Ness", "The northern tower of Ness was painted white in spring.")]
    found = answer_to("Was the northern tower of Ness painted white?", passages, {})
    assert found.sentences[0].text == passages[0].text
    assert found.features.words == 1


def test_how_is_answered_by_the_sentence_with_what_it_leans_on_and_what_it_leads_to():
    passages = [
        passage(
            "Plans",
            "The ANALYZE option runs the statement.",
            "Then actual run times are shown with the plan.",
            "To see a plan with run times:",
            "EXPLAIN ANALYZE SELECT 1;",
            "Tip",
        )
    ]
    found = answer_to("How can I see a plan with its actual run times?", passages, {"run times": 3})
    texts = [one.text for one in found.sentences]
    assert "The ANALYZE option runs the statement. Then actual run times are shown with the plan." in texts
    assert found.explanation == ()
    assert all("Tip" not in text for text in texts)
    led = answer_to("How do I see a plan?", [passage("Plans", "To see a plan:", "EXPLAIN SELECT 1;", "Tip")], {})
    assert led.sentences[0].text == "To see a plan: EXPLAIN SELECT 1;"
    assert led.sentences[0].places == (SentencePlace(0, 0), SentencePlace(0, 1))


def test_a_sentence_that_announces_reasons_is_said_with_the_first_of_them():
    order = "There are several reasons for checking names before contents."
    passages = [passage("Order", order, "Reading files is slow.", "People know names.")]
    found = answer_to("Why are names checked before contents?", passages, {})
    assert found.sentences[0].text == f"{order} Reading files is slow."
    assert found.sentences[0].places == (SentencePlace(0, 0), SentencePlace(0, 1))
    last = answer_to("Why are names checked before contents?", [passage("Order", order)], {})
    assert last.sentences[0].text == order


def test_a_sentence_is_said_with_what_it_leans_on_two_sentences_before():
    method = "The method scram answers a challenge."
    passages = [
        passage("Methods", "Some are old.", method, "It hides passwords.", "This is the most secure of them all.")
    ]
    found = answer_to("How is the most secure of them all called?", passages, {})
    assert found.sentences[0].text == f"{method} It hides passwords. This is the most secure of them all."


def test_what_a_thing_is_is_answered_by_the_sentence_that_says_so():
    cover = "A lens cap is a cover put over the front of a camera when nobody takes pictures with it."
    passages = [passage("Lens cap", "What is a lens cap?", "What is a lens cap, they ask."), passage("More", cover)]
    assert next(one.text for one in answer_to("What is a lens cap?", passages, {}).sentences) == cover


def test_headings_labels_and_entries_of_a_change_log_are_not_said():
    passages = [passage("Guide", "Ness tower", "Note", "Mend the Ness tower. PR #12 by @someone.", "-----")]
    found = answer_to("How is the Ness tower mended?", passages, {})
    assert found.sentences == ()
    assert found.chance == 0.0


def test_the_number_of_a_page_in_an_index_is_no_answer():
    passages = [passage("Manual", "Future developers . . . . . . . . . 24"), passage("Team", "It has 7 developers.")]
    found = answer_to("How many developers are there?", passages, {"24": 9, "7": 3})
    assert found.sentences[0].text == "7"
    assert answer_to("How many developers are there?", passages[:1], {"24": 9}).sentences == ()


def test_a_passage_of_100_000_characters_is_cut_to_what_answers():
    long = "word " * 1_000 + "The tower was built by Ann Lee and " + "word " * 19_000
    found = answer_to("Who built the tower?", [passage("Ness", long)], {"Ann Lee": 6})
    assert found.sentences[0].text == "Ann Lee"
    assert len(found.explanation[0].text) < 600
    assert "Ann Lee" in found.explanation[0].text


def test_the_chance_falls_where_what_is_cited_does_not_hold_the_words_of_the_question():
    near = [passage("Ness Light", "Ness Light was built by Ann Lee.")]
    far = [passage("Bay Light", "Bay Light was built by Ann Lee."), passage("Ness Light", "Ness Light is tall.")]
    question = "By whom was the Ness Light built?"
    one, other = answer_to(question, near, {"Ann Lee": 6}), answer_to(question, far, {"Ann Lee": 6})
    assert (one.features.words, other.features.words) == (1.0, 2 / 3)
    assert one.features.names == other.features.names == 1.0
    assert other.chance < one.chance


def test_where_the_span_is_not_what_is_asked_for_sentences_answer():
    """Mostly the question's own words, or a bare number for a list: the sentence says more."""
    code = [passage("Status", "The default response status code is explained below.", "Set the status code you need.")]
    found = answer_to("What is the default response status code?", code, {"default response status code": 6})
    assert found.sentences[0].text.endswith(".")
    levels = [passage("Levels", "The standard defines four levels of isolation.")]
    assert answer_to("Which isolation levels are there?", levels, {"four": 6}).sentences[0].text == levels[0].text


def test_which_port_is_answered_by_a_number_and_which_prize_is_not():
    passages = [passage("Server", "Since 1949 the server listens on port 5432, by PGPORT.")]
    assert (
        answer_to("On which TCP port does it listen?", passages, {"5432": 5, "PGPORT": 4}).sentences[0].text == "5432"
    )
    assert answer_to("Which variable sets the port?", passages, {"5432": 5, "PGPORT": 4}).sentences[0].text == "PGPORT"
