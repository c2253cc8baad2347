"""The types of questions, by examples that are in no training data, and what the weights file must be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragways.core.errors import ModelError
from ragways.reading import question_type as chapter
from ragways.reading.question_type import HEAD, TAIL, TYPES, WEIGHTS_FILE, QuestionType, question_type, weights

EXAMPLES: dict[QuestionType, tuple[str, ...]] = {
    "factual": (
        "Who painted the ceiling of the opera house in Lemberg?",
        "When did the tram line to Altona open?",
        "What is the boiling point of acetone?",
        "Which port does the server listen on?",
        "Where is Saint Brannoc buried?",
        "How tall is the Fernbank water tower?",
    ),
    "bridge": (
        "Where did the author of The Glass Orchard go to school?",
        "Who is the maternal grandfather of Queen Isolde of Marne?",
        "What currency is used in the country where the singer of Blue Tramway was born?",
        "What river runs past the city in which the founder of Orbis Press died?",
        "The drummer of the band that recorded Tin Lanterns later married which actress?",
    ),
    "comparison": (
        "Which mountain is higher, Grauspitz or Monte Leone?",
        "Were Edda Lund and Corin Blake born in the same city?",
        "How does rapid drying differ from slow drying in its effect on oak?",
        "Who died earlier, Ottilie Kern or Abel Moreau?",
        "Compare the pension plans of Arcadia Rail and Union Freight.",
    ),
    "temporal": (
        "Who led the Harbour Union in 1934, before the merger?",
        "How many years went by between the fire and the rebuilding of Saint Anselm's?",
        "What did the port authority decide after the storm of March 1962?",
        "Since when has the ferry to Isle Morn been free?",
        "How did the rules on overtime change between 2011 and 2019?",
    ),
    "aggregate": (
        "How many of the letters mention the harvest?",
        "List all ships that sank in the strait.",
        "Name every minister who resigned over the canal.",
        "How many different suppliers appear in these invoices?",
        "Which employees are named in more than one complaint?",
    ),
    "summary": (
        "What are the dominant themes in these interviews?",
        "Give me a summary of the whole archive.",
        "What is the overall message of the collection?",
        "Summarise the debate on tolls across all minutes.",
        "What are the main trends described in the reports?",
        "What is the plot of the novel?",
    ),
    "unanswerable": (
        "What will I be doing next summer?",
        "Will it rain tomorrow in Turin?",
        "What is my brother's name?",
    ),
}
TRAINING = Path(__file__).parents[2] / "training"


def best(question: str) -> QuestionType:
    chances = question_type(question)
    return max(chances, key=lambda type: chances[type])


@pytest.mark.parametrize("type", TYPES)
def test_examples_written_by_hand_are_told(type: QuestionType):
    told = [best(question) for question in EXAMPLES[type]]
    assert told.count(type) >= 0.6 * len(told), dict(zip(EXAMPLES[type], told, strict=True))


def test_most_examples_are_told():
    right = [best(question) == type for type in TYPES for question in EXAMPLES[type]]
    assert sum(right) >= 0.8 * len(right)


def test_no_example_that_asks_for_something_else_is_taken_for_a_summary():
    others = [question for type in TYPES if type != "summary" for question in EXAMPLES[type]]
    assert [question for question in others if question_type(question)["summary"] >= 0.5] == []


def test_no_example_is_in_the_wordings_of_the_training():
    known = (TRAINING / "question_wordings.py").read_text()
    assert [question for questions in EXAMPLES.values() for question in questions if question in known] == []


@pytest.mark.parametrize(
    "question",
    ["", "???", "x", "Why?", "\ud800", "a\x00b", "the " * 40, *[each for of in EXAMPLES.values() for each in of]],
)
def test_chances_are_of_all_types_and_add_up_to_one(question: str):
    chances = question_type(question)
    assert tuple(chances) == TYPES
    assert sum(chances.values()) == pytest.approx(1)
    assert all(0 <= chance <= 1 for chance in chances.values())


@pytest.mark.parametrize(
    "question",
    [
        "",
        " \n",
        "?!",
        "1234",
        "Was ist die Hauptstadt von Frankreich und wer hat sie gegründet?",
        "谁写了这本书？",
        "Кто написал эту книгу?",
    ],
)
def test_nothing_is_known_without_letters_or_in_another_language(question: str):
    assert set(question_type(question).values()) == {1 / len(TYPES)}


def test_of_a_long_question_the_beginning_and_the_end_count():
    filler = "lorem " * 20_000
    looked = chapter.clipped(f"{filler}Summarise all these documents.")
    assert len(looked) <= HEAD + TAIL + 1
    assert looked.endswith("Summarise all these documents.")
    assert len(chapter.features("a-" * 50_000)) < 100
    assert tuple(question_type("What " + "(" * 100_000)) == TYPES


def test_names_numbers_and_dates_tell_nothing():
    one = "Who was the mayor of New Lemberg on 3 May 1931?"
    other = "Who was the mayor of Quorra on 28 May 1875?"
    assert chapter.without_names(one) == ("who was the mayor of <name> on <number> may <year> ?", 1)
    assert question_type(one) == question_type(other)


def test_titles_in_capitals_are_no_names():
    assert chapter.without_names("What Are The Main Themes Here")[1] == 0
    assert best("WHAT ARE THE MAIN THEMES OF ALL THESE DOCUMENTS?") == "summary"


def test_the_bundled_weights_are_small_and_every_feature_in_them_can_occur():
    assert WEIGHTS_FILE.stat().st_size <= 150_000
    held = weights()
    assert {*chapter.SIGNS, *chapter.SIZES} <= held.features.keys() | {"constant"}


def rewritten(folder: Path, **changes: object) -> Path:
    said = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")) | changes
    (folder / "weights.json").write_text(json.dumps({key: value for key, value in said.items() if value is not None}))
    return folder / "weights.json"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": 2}, "another format"),
        ({"types": ["factual"]}, "other types"),
        ({"more": 1}, "does not hold exactly"),
        ({"constant": None}, "does not hold exactly"),
        ({"constant": [0.0] * 6}, "7 numbers"),
        ({"features": {"or": [0, 0, 0, 0, 0, 0, "1"]}}, "7 numbers"),
        ({"features": {"or": [0, 0, 0, 0, 0, 0, float("nan")]}}, "7 numbers"),
        ({"features": {"phase of the moon": [0] * 7}}, "'phase of the moon', which is no feature"),
        ({"features": {"form poem": [0] * 7}}, "'form poem', which is no feature"),
    ],
)
def test_a_weights_file_that_is_not_one_is_refused(tmp_path: Path, changes: dict[str, object], why: str):
    with pytest.raises(ModelError, match=why):
        weights(rewritten(tmp_path, **changes))


def test_a_weights_file_that_is_no_json_or_not_there_is_refused(tmp_path: Path):
    (tmp_path / "cut.json").write_text('{"format": 1,')
    for name in ("cut.json", "none.json"):
        with pytest.raises(ModelError, match=r"cannot be read.*install ragways again"):
            weights(tmp_path / name)
