"""Reading answers out of passages: groups, sums over groups, what is no answer, and the sentence that leads there."""

from __future__ import annotations

import asyncio

from ragways.reading.answers import IN_ORDER, Reach, ReadEvidence, SentencePlace, read_evidence
from tests.fakes import FindsWords

ONE = Reach(passages=4, together=2, size=200, again=0)


def read(
    question: str, passages: list[tuple[str, list[str]]], reader: FindsWords, form: str = "span", reach: Reach = ONE
) -> ReadEvidence:
    return asyncio.run(read_evidence(question, passages, reader, form, reach))


def test_the_answer_is_the_span_with_the_sentence_it_stands_in():
    found = read(
        "Where was she born?",
        [("Anna Doe", ["Anna Doe is a poet.", "She was born in Delhi."])],
        FindsWords({"Delhi.": 5}),
    )
    assert (found.answers[0].text, found.answers[0].place) == ("Delhi", SentencePlace(0, 1))


def test_passages_are_read_in_groups_and_the_best_again_together():
    reader = FindsWords({"Oslo": 6, "Rome": 4})
    passages = [(f"T{n}", [f"Text {n} of a thing."]) for n in range(3)] + [
        ("T3", ["It is in Oslo."]),
        ("T4", ["Rome."]),
    ]
    read("Where is it?", passages, reader, reach=Reach(passages=5, together=2, again=2))
    assert [[passage.title for passage in group] for group in reader.groups] == [
        ["T0", "T1"],
        ["T2", "T3"],
        ["T4"],
        ["T3", "T4"],
    ]


def test_the_same_answer_in_several_groups_adds_its_weight():
    """One that is found twice goes before one that scores a little better once."""
    passages = [("A", ["In Oslo."]), ("B", ["In Rome."]), ("C", ["In the Oslo."]), ("D", ["Nothing."])]
    reader = FindsWords({"Oslo": 1.0, "Rome": 1.1})
    assert [answer.text for answer in read("Where?", passages, reader).answers] == ["Oslo", "Rome"]
    assert read("Where?", passages[:2], reader).answers[0].text == "Rome"


def test_words_of_the_question_are_no_answer_unless_it_offers_them():
    passages = [("A", ["Ness Light is older than Bay Light."])]
    reader = FindsWords({"Ness Light": 9, "Bay Light": 2})
    assert read("Which is older, Ness Light or Bay Light?", passages, reader).answers == ()
    assert read("Which is older, Ness Light or Bay Light?", passages, reader, "choice").answers[0].text == "Ness Light"


def test_what_is_not_of_the_kind_asked_for_goes_behind():
    passages = [("A", ["Ann Lee built it in 1801 with 30 men."])]
    reader = FindsWords({"Ann Lee": 3, "1801": 2.5, "30 men": 2.4})
    assert read("When was it built?", passages, reader).answers[0].text == "1801"
    assert read("How many men built it?", passages, reader).answers[0].text != "Ann Lee"
    assert read("Who built it?", passages, reader).answers[0].text == "Ann Lee"


def test_a_list_is_answered_by_the_whole_enumeration():
    passages = [("A", ["The colours are red, green and blue."])]
    assert (
        read("Which three colours are there?", passages, FindsWords({"red": 5}), "list").answers[0].text
        == "red, green and blue"
    )


def test_an_answer_in_the_title_rests_on_the_sentence_that_fits():
    passages = [("Ness Light", ["A tower on a rock.", "It guards the bay of Averne."])]
    found = read("What guards the bay of Averne?", passages, FindsWords({"Ness Light": 5})).answers[0]
    assert (found.text, found.place) == ("Ness Light", SentencePlace(0, 1))


BRIDGE = [
    ("Bo Ray", ["Bo Ray wrote Blue Sea.", "He was born in Turin."]),
    ("Cy Fox", ["Cy Fox wrote Green Sea.", "He was born in Pisa."]),
    ("Blue Sea", ["Blue Sea is a novel by Bo Ray."]),
]


def test_a_bridge_cites_the_sentence_that_leads_to_the_answer():
    question = "Where was the author of the novel Blue Sea born?"
    found = read(question, BRIDGE, FindsWords({"Turin": 5}, {"Blue Sea is a novel": 2}))
    assert found.further == (SentencePlace(2, 0),)
    assert read(question, BRIDGE, FindsWords({"Turin": 5}, {"Blue Sea is a novel": -2})).further == ()
    assert (
        read("Where was the author born?", BRIDGE, FindsWords({"Turin": 5}, {"Blue Sea is a novel": 2})).further == ()
    )


def test_no_passages_and_a_passage_of_100_000_characters():
    assert read("Who?", [], FindsWords({})).answers == ()
    reader = FindsWords({"Delhi": 5})
    long = [("A", ["word " * 20_000]), ("B", ["She was born in Delhi."])]
    assert read("Where was she born?", long, reader).answers[0].text == "Delhi"
    assert max(len(passage.shown) for group in reader.groups for passage in group) < 300


def test_of_passages_in_order_the_first_three_are_read_together_once():
    reader = FindsWords({"Delhi": 5.0})
    passages = [(f"Page {n}", [f"Line {n} of Delhi."]) for n in range(5)]
    read("Where was Anna born?", passages, reader, reach=IN_ORDER)
    shown = [[passage.title for passage in group] for group in reader.groups]
    assert shown == [["Page 0", "Page 1", "Page 2"]]
