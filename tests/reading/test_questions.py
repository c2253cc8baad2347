"""A question's form, by its words alone."""

from __future__ import annotations

import pytest

from ragways.reading.questions import parse_question

CHOICES = [
    "Which film has the director who was born earlier, Blue Harbour or The Last Ferry?",
    "Which film whose director died later, Blue Harbour or The Last Ferry?",
    "Which song has the performer who is younger, Blue Harbour or The Last Ferry?",
    "Who is older, Blue Harbour or The Last Ferry?",
    "Who lived longer, Blue Harbour or The Last Ferry?",
    "Was Blue Harbour or The Last Ferry born first?",
    "Did Blue Harbour or The Last Ferry come out later?",
    "Which came out first, Blue Harbour or The Last Ferry?",
    "Which film was released more recently, Blue Harbour or The Last Ferry?",
    "Which band was formed first Blue Harbour or The Last Ferry ?",
    "Between Blue Harbour and The Last Ferry, which was published first?",
    "Who was born first out of Blue Harbour and The Last Ferry?",
    "Which film, Blue Harbour or The Last Ferry, was released first?",
    "Which university is older, Blue Harbour or The Last Ferry?",
    "Who is the older of Blue Harbour and The Last Ferry?",
    "Which of Blue Harbour and The Last Ferry was founded first?",
    "Who died at a younger age, Blue Harbour or The Last Ferry?",
    "Which film's director was born first, Blue Harbour or The Last Ferry?",
    "Which film was directed by the older director, Blue Harbour or The Last Ferry?",
    "Which author was born first, Blue Harbour or The Last Ferry?",
    "Which has more species, Acacia or Larix?",
    "Which mountain is higher, Acacia or Larix?",
    "Which city has the smaller population, Acacia or Larix?",
    "Which band has fewer members, Acacia or Larix?",
    "Which came first the forming of The Tin Whistles or the birth of Jan Berg?",
    "Who is older, the director of Blue Harbour or the author of The Last Ferry?",
    "who is older ann lee or bo ek",
    "Which film came out first, Dora, the Brave or Salt and Pepper?",
    "Which film came out later, Born First or How Mosha Came Back?",
]
SAME = [
    "Are Oak Hill and Pine Ridge both located in the same country?",
    "Are both Oak Hill and Pine Ridge from the same country?",
    "Did Oak Hill and Pine Ridge have the same nationality?",
    "Do both films, Oak Hill and Pine Ridge, have directors from the same country?",
    "Are the directors of both films Oak Hill and Pine Ridge from the same country?",
    "Do director of film Oak Hill and director of film Pine Ridge share the same nationality?",
    "Are Oak Hill and Pine Ridge both airports in the same state ?",
    "Were Oak Hill and Pine Ridge of the same genre?",
    "Did the bands Oak Hill and Pine Ridge, originate from the same country?",
    "Are Ash, Kent and Elm both located in the same country?",
]
BOTH = [
    "Are both Ann Lee and Bo Ek American actors?",
    "Are Ann Lee and Bo Ek both film directors?",
    "Were Ann Lee and Bo Ek Norwegian?",
    "Are both Ann Lee and Bo Ek from the United States?",
    "Were Ann Lee and Bo Ek born in 1990?",
    "Have Ann Lee and Bo Ek both won an Oscar?",
    "Are Ann Lee and Bo Ek both used for racing?",
]


@pytest.mark.parametrize(
    ("question", "form"),
    [(q, "choice") for q in CHOICES] + [(q, "same") for q in SAME] + [(q, "both") for q in BOTH],
)
def test_a_question_that_names_two_things_compares_them(question: str, form: str):
    found = parse_question(question)
    assert (found.form, found.compared) == (form, 2)


@pytest.mark.parametrize("question", [row for row in CHOICES if "Blue Harbour or The Last Ferry" in row])
def test_swapping_the_options_changes_nothing(question: str):
    turned = (
        question.replace("Blue Harbour", "@").replace("The Last Ferry", "Blue Harbour").replace("@", "The Last Ferry")
    )
    assert parse_question(question) == parse_question(turned)


@pytest.mark.parametrize(
    ("question", "compared"),
    [
        ("Is the Grey Tower located in Denmark?", 0),
        ("Was Ann Lee born before Bo Ek?", 2),
        ("Is the Grey Tower taller than the Red Tower?", 2),
        ("Does the call return before the body is read?", 0),
    ],
)
def test_yes_or_no_about_one_and_about_two(question: str, compared: int):
    found = parse_question(question)
    assert (found.form, found.compared) == ("yes-no", compared)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How many islands belong to Vega?", "count"),
        ("What is the number of islands in Vega?", "count"),
        ("Which three rivers meet in Passau?", "list"),
        ("Name the islands of Vega.", "list"),
        ("What are the parts of a pump?", "list"),
        ("How does a pump work?", "prose"),
        ("Why is the sky blue?", "prose"),
        ("Describe the pump.", "prose"),
        ("How old is the tower?", "span"),
        ("What is the place of birth of Ann Lee?", "span"),
        ("Name the mother of Ann Lee.", "span"),
        ("Was the tower, which is in Denmark, built in which year?", "span"),
        ("Is a tomato a fruit or a vegetable?", "choice"),
        ("Which therapies are used for early, late, or unknown cases?", "list"),
        ("Which tests are most useful for telling between early B-cell and late T-cell growths?", "list"),
        ("What is an option for patients with stage I, II or III cancer?", "span"),
        ("Who wrote the song?", "span"),
        ("Is Sun a film and Moon a book?", "yes-no"),
        ("Is it possible to use Foo and Bar together?", "yes-no"),
        ("Does it run on version 3 or later?", "yes-no"),
        ("Ann Lee has a prize. Does Bo Ray have one, too?", "yes-no"),
        ("After the storm of 1883, was the tower repaired?", "yes-no"),
        ("Was ist Linux?", "span"),
        ("Was bedeutet HTTP?", "span"),
        ("Was Linux first released in 1991?", "yes-no"),
        ("", "span"),
        ("or", "span"),
    ],
)
def test_the_other_forms(question: str, form: str):
    assert parse_question(question).form == form


@pytest.mark.parametrize(
    "part",
    ["a or b, ", "Are ", "first ", "the director of ", "A and B ", "or ", "born older ", "same ", ", ", "((", "which "],
)
def test_a_very_long_question_takes_no_longer_than_its_beginning(part: str):
    for begin in ("", "Which is older, ", "Are both ", "Is A older than "):
        question = begin + part * (100_000 // len(part))
        assert parse_question(question) == parse_question(question[:2_000])
