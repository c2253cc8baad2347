"""A question's form and parts, by its words alone."""

from __future__ import annotations

import re

import pytest

from ragways.reading.questions import Option, cuts, parse_question

BOTH_WAYS = [
    ("Which film has the director who was born earlier, Blue Harbour or The Last Ferry?", "director", "birth", "least"),
    ("Which film whose director died later, Blue Harbour or The Last Ferry?", "director", "death", "most"),
    ("Which song has the performer who is younger, Blue Harbour or The Last Ferry?", "performer", "birth", "most"),
    ("Who is older, Blue Harbour or The Last Ferry?", "", "birth", "least"),
    ("Who lived longer, Blue Harbour or The Last Ferry?", "", "lifespan", "most"),
    ("Was Blue Harbour or The Last Ferry born first?", "", "birth", "least"),
    ("Did Blue Harbour or The Last Ferry come out later?", "", "release", "most"),
    ("Which came out first, Blue Harbour or The Last Ferry?", "", "release", "least"),
    ("Which film was released more recently, Blue Harbour or The Last Ferry?", "", "release", "most"),
    ("Which band was formed first Blue Harbour or The Last Ferry ?", "", "start", "least"),
    ("Between Blue Harbour and The Last Ferry, which was published first?", "", "release", "least"),
    ("Who was born first out of Blue Harbour and The Last Ferry?", "", "birth", "least"),
    ("Which film, Blue Harbour or The Last Ferry, was released first?", "", "release", "least"),
    ("Which university is older, Blue Harbour or The Last Ferry?", "", "age", "least"),
    ("Who is the older of Blue Harbour and The Last Ferry?", "", "birth", "least"),
    ("Which of Blue Harbour and The Last Ferry was founded first?", "", "start", "least"),
    ("Who died at a younger age, Blue Harbour or The Last Ferry?", "", "lifespan", "least"),
    ("Which film's director was born first, Blue Harbour or The Last Ferry?", "director", "birth", "least"),
    ("Which film was directed by the older director, Blue Harbour or The Last Ferry?", "director", "birth", "least"),
    ("Which author was born first, Blue Harbour or The Last Ferry?", "", "birth", "least"),
]


@pytest.mark.parametrize(("question", "relation", "attribute", "direction"), BOTH_WAYS)
def test_a_choice_has_options_attribute_direction_and_relation(
    question: str, relation: str, attribute: str, direction: str
):
    found = parse_question(question)
    assert found.form == "choice"
    assert found.options == (Option("Blue Harbour", relation), Option("The Last Ferry", relation))
    assert (found.attribute, found.direction) == (attribute, direction)


@pytest.mark.parametrize("question", [row[0] for row in BOTH_WAYS])
def test_swapping_the_options_changes_nothing_else(question: str):
    turned = (
        question.replace("Blue Harbour", "@").replace("The Last Ferry", "Blue Harbour").replace("@", "The Last Ferry")
    )
    one, other = parse_question(question), parse_question(turned)
    assert one.options == other.options[::-1]
    assert (one.form, one.attribute, one.direction) == (other.form, other.attribute, other.direction)


@pytest.mark.parametrize(
    ("question", "attribute", "relation"),
    [
        ("Are Oak Hill and Pine Ridge both located in the same country?", "country", ""),
        ("Are both Oak Hill and Pine Ridge from the same country?", "country", ""),
        ("Did Oak Hill and Pine Ridge have the same nationality?", "country", ""),
        ("Do both films, Oak Hill and Pine Ridge, have directors from the same country?", "country", "director"),
        ("Are the directors of both films Oak Hill and Pine Ridge from the same country?", "country", "director"),
        (
            "Do director of film Oak Hill and director of film Pine Ridge share the same nationality?",
            "country",
            "director",
        ),
        ("Are Oak Hill and Pine Ridge both airports in the same state ?", "state", ""),
        ("Were Oak Hill and Pine Ridge of the same genre?", "genre", ""),
        ("Did the bands Oak Hill and Pine Ridge, originate from the same country?", "country", ""),
    ],
)
def test_same(question: str, attribute: str, relation: str):
    found = parse_question(question)
    assert (found.form, found.attribute) == ("same", attribute)
    assert [(option.name, option.relation) for option in found.options] == [
        ("Oak Hill", relation),
        ("Pine Ridge", relation),
    ]


@pytest.mark.parametrize(
    ("question", "claim", "attribute"),
    [
        ("Are both Ann Lee and Bo Ek American actors?", "American actors", "kind"),
        ("Are Ann Lee and Bo Ek both film directors?", "film directors", "kind"),
        ("Were Ann Lee and Bo Ek Norwegian?", "Norwegian", "kind"),
        ("Are both Ann Lee and Bo Ek from the United States?", "from the United States", ""),
        ("Were Ann Lee and Bo Ek born in 1990?", "born in 1990", ""),
        ("Have Ann Lee and Bo Ek both won an Oscar?", "won an Oscar", ""),
        ("Are Ann Lee and Bo Ek both used for racing?", "used for racing", ""),
    ],
)
def test_both(question: str, claim: str, attribute: str):
    found = parse_question(question)
    assert (found.form, found.claim, found.attribute) == ("both", claim, attribute)
    assert [option.name for option in found.options] == ["Ann Lee", "Bo Ek"]


def test_each_option_may_have_an_event_of_its_own():
    found = parse_question("Which came first the forming of The Tin Whistles or the birth of Jan Berg?")
    assert found.options == (Option("The Tin Whistles", attribute="start"), Option("Jan Berg", attribute="birth"))
    assert found.direction == "least"


def test_an_option_may_be_whom_a_relation_leads_to():
    found = parse_question("Who is older, the director of Blue Harbour or the author of The Last Ferry?")
    assert found.options == (Option("Blue Harbour", "director", who=True), Option("The Last Ferry", "author", who=True))


def test_a_question_without_capitals():
    found = parse_question("who is older ann lee or bo ek")
    assert ([option.name for option in found.options], found.attribute) == (["ann lee", "bo ek"], "birth")


def test_names_that_hold_a_comma_or_an_and():
    found = parse_question("Which film came out first, Dora, the Brave or Salt and Pepper?")
    assert [option.name for option in found.options] == ["Dora, the Brave", "Salt and Pepper"]
    found = parse_question("Are Ash, Kent and Elm both located in the same country?")
    assert [option.name for option in found.options] == ["Ash, Kent", "Elm"]
    assert list(cuts("Sink or Swim or Fire or Ice")) == [
        ("Sink or Swim", "Fire or Ice"),
        ("Sink", "Swim or Fire or Ice"),
        ("Sink or Swim or Fire", "Ice"),
    ]


@pytest.mark.parametrize(
    ("question", "claim", "direction"),
    [
        ("Which has more species, Acacia or Larix?", "species", "most"),
        ("Which mountain is higher, Acacia or Larix?", "higher", "most"),
        ("Which city has the smaller population, Acacia or Larix?", "smaller population", "least"),
        ("Which band has fewer members, Acacia or Larix?", "members", "least"),
    ],
)
def test_numbers_are_compared_by_what_is_counted_or_measured(question: str, claim: str, direction: str):
    found = parse_question(question)
    assert (found.form, found.attribute, found.claim, found.direction) == ("choice", "number", claim, direction)


def test_yes_or_no_about_one_and_about_two():
    assert parse_question("Is the Grey Tower located in Denmark?").claim == "the Grey Tower located in Denmark"
    assert parse_question("Is the Grey Tower located in Denmark?").form == "yes-no"
    found = parse_question("Was Ann Lee born before Bo Ek?")
    assert (found.form, found.attribute, found.direction) == ("yes-no", "birth", "least")
    assert [option.name for option in found.options] == ["Ann Lee", "Bo Ek"]
    found = parse_question("Is the Grey Tower taller than the Red Tower?")
    assert (found.attribute, found.claim, found.direction) == ("number", "taller", "most")


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
def test_a_very_long_question_is_bounded(part: str):
    for begin in ("", "Which is older, ", "Are both ", "Is A older than "):
        found = parse_question(begin + part * (100_000 // len(part)))
        assert len(found.listed) + len(found.claim) <= 1200


def test_words_inside_a_name_are_no_words_of_asking():
    found = parse_question("Which film came out later, Born First or How Mosha Came Back?")
    assert [option.name for option in found.options] == ["Born First", "How Mosha Came Back"]
    assert (found.attribute, found.direction) == ("release", "most")
    assert not re.search("First", found.claim)
