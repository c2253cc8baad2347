"""Comparisons, yes or no and counts from passages: decided by what is stated, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ragways.models.reader import AnswerSpan, Passage, Reader, Reading
from ragways.reading.compare import PASSES, Compared, compared

FILMS = [
    ("Harbour Nights", ["Harbour Nights is a 1951 Italian crime film directed by Marco Belli.", "It stars Ada Fonti."]),
    (
        "The Long Ferry (film)",
        ["The Long Ferry is a 1936 musical film.", "It was written and directed by Olav Stein and Per Lie."],
    ),
    ("Marco Belli", ["Marco Belli (Bari, 24 February 1909 – Rome, 20 December 1999) was an Italian film director."]),
    ("Olav Stein (director)", ["Olav Stein( 3 May 1893 – 4 June 1978) was a Norwegian officer and film director."]),
    ("Ada Fonti", ["Ada Fonti (born 7 July 1930) is an Italian actress.", "She was born in Turin, Italy."]),
    ("Lena Brandt", ["Lena Brandt (2 January 1931 – 1 March 1960) was a German-born American actress and singer."]),
]
PLACES = [
    ("Ash Airport", ["Ash Airport is a public airport in Ash County, Texas, United States."]),
    (
        "Elm Airport (Nevada)",
        ["Elm Airport is an airport three miles west of Elm, Nevada, United States.", "It opened in 1947."],
    ),
    ("Vik, Norway", ["Vik is a village in the municipality of Sund, Norway.", "The population is 2,300 (2011)."]),
    ("Grey Tower", ["The Grey Tower is a lighthouse in Denmark.", "It is 45 metres tall and was built in 1881."]),
    ("Red Tower", ["The Red Tower is a tower in Bergen, Norway.", "The tower, 120 feet tall, was opened in 1903."]),
]
THINGS = [
    (
        "The Tin Whistles",
        ["The Tin Whistles are an Irish folk band, formed in Cork in 1994.", "They have five members."],
    ),
    (
        "Low Tide",
        ["Low Tide is a Canadian rock band founded in early 2001.", "The members are Al Moe, Bo Ek and Cy Ray."],
    ),
    ("Garden Life", ["Garden Life is a monthly magazine, published since July 1980."]),
    ("Star Week", ["Star Week is a British weekly newspaper.", "It has been published since 1922."]),
    ("Acacia", ["Acacia is a genus of trees with about 1,080 species."]),
    ("Larix", ["Larix is a genus of conifers.", "It has twelve species."]),
]


class ScriptedReader:
    """Says what its script says, and nothing to other questions."""

    def __init__(self, script: dict[str, str] | None = None, score: float = 5.0) -> None:
        self.script, self.score, self.asked = script or {}, score, list[str]()

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        self.asked.append(question)
        return [self._reading(self.script.get(question, ""), group[0].shown) for group in groups]

    def _reading(self, answer: str, shown: str) -> Reading:
        place = shown.rfind(answer) if answer else -1
        spans = (AnswerSpan(0, place, place + len(answer), self.score),) if place >= 0 else ()
        return Reading(spans, 0.0, 0.0, (0.0,))


def decide(
    question: str, passages: Sequence[tuple[str, Sequence[str]]], reader: ScriptedReader | None = None
) -> Compared | None:
    return asyncio.run(compared(question, passages, reader or ScriptedReader()))


def answer(question: str, passages: Sequence[tuple[str, Sequence[str]]]) -> str | None:
    found = decide(question, passages)
    return found.answer if found else None


CHOICES = [
    ("Which film has a director born {}, Harbour Nights or The Long Ferry?", "earlier later", FILMS, "The Long Ferry"),
    ("Which film has the director died {}, Harbour Nights or The Long Ferry?", "first last", FILMS, "The Long Ferry"),
    ("Which film whose director is {}, Harbour Nights or The Long Ferry?", "older younger", FILMS, "The Long Ferry"),
    ("Which film came out {}, Harbour Nights or The Long Ferry?", "first later", FILMS, "The Long Ferry"),
    ("Who is {}, Ada Fonti or Lena Brandt?", "older younger", FILMS, "Ada Fonti"),
    ("Was Ada Fonti or Lena Brandt born {}?", "first later", FILMS, "Ada Fonti"),
    ("Who died {}, Marco Belli or Lena Brandt?", "earlier later", FILMS, "Lena Brandt"),
    ("Which band was formed {}, The Tin Whistles or Low Tide?", "first last", THINGS, "The Tin Whistles"),
    ("Which was published {}, Garden Life or Star Week?", "first later", THINGS, "Star Week"),
    ("Which tower is {}, the Grey Tower or the Red Tower?", "older newer", PLACES, "Grey Tower"),
    ("Which tower is {}, the Grey Tower or the Red Tower?", "shorter taller", PLACES, "Red Tower"),
    ("Which genus has {} species, Acacia or Larix?", "fewer more", THINGS, "Larix"),
    ("Which came {}, the forming of Low Tide or the birth of Ada Fonti?", "first last", THINGS[:2] + FILMS, "Ada Fonti")
]  # fmt: skip


@pytest.mark.parametrize(("question", "ways", "passages", "first"), CHOICES)
def test_the_other_direction_chooses_the_other_and_the_order_of_options_changes_nothing(
    question: str, ways: str, passages: list[tuple[str, list[str]]], first: str
):
    least, most = ways.split()
    options = [each for each in (title.removesuffix(" (film)") for title, _ in passages) if each in question]
    (second,) = [each for each in options if each != first]
    turned = question.replace(first, "@").replace(second, first).replace("@", second)
    if "forming" in question:
        turned = "Which came {}, the birth of Ada Fonti or the forming of Low Tide?"
    for asked in (question, turned):
        assert answer(asked.format(least), passages) == first
        assert answer(asked.format(most), passages) == second


def test_where_a_person_is_asked_for_the_answer_is_the_person():
    asked = "Who is older, the director of Harbour Nights or the director of The Long Ferry?"
    assert answer(asked, FILMS) == "Olav Stein"


def test_facts_are_cited_with_passage_sentence_and_value():
    found = decide("Which film has the director who was born earlier, Harbour Nights or The Long Ferry?", FILMS)
    assert found is not None
    assert found.complete
    assert [(fact.passage, fact.sentence, fact.subject, fact.value) for fact in found.facts] == [
        (0, 0, "Harbour Nights", "Marco Belli"),
        (2, 0, "Marco Belli", "24 February 1909"),
        (1, 1, "The Long Ferry", "Olav Stein"),
        (3, 0, "Olav Stein", "3 May 1893"),
    ]
    found = decide("Which genus has more species, Acacia or Larix?", THINGS)
    assert found is not None
    assert [(fact.passage, fact.sentence, fact.value) for fact in found.facts] == [
        (4, 0, "1,080 species"),
        (5, 1, "twelve species"),
    ]


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("Are Ash Airport and Elm Airport both located in the same country?", PLACES, "yes"),
        ("Are Ash Airport and Vik located in the same country?", PLACES, "no"),
        ("Are Ash Airport and Elm Airport both airports in the same state?", PLACES, "no"),
        ("Do both films, Harbour Nights and The Long Ferry, have directors from the same country?", FILMS, "no"),
        ("Did Ada Fonti and Marco Belli have the same nationality?", FILMS, "yes"),
        ("Did Ada Fonti and Lena Brandt have the same nationality?", FILMS, "no"),
        ("Are Ada Fonti and Lena Brandt of different nationalities?", FILMS, "yes"),
        ("Did Ada Fonti and Lena Brandt have the same profession?", FILMS, "yes"),
        ("Do Harbour Nights and The Long Ferry have the same director?", FILMS, "no"),
        ("Are both Ada Fonti and Marco Belli Italian?", FILMS, "yes"),
        ("Are both Ada Fonti and Lena Brandt Italian actresses?", FILMS, "no"),
        ("Are Ada Fonti and Lena Brandt both actors?", FILMS, "yes"),
        ("Are Garden Life and Star Week both magazines?", THINGS, "no"),
        ("Are the Grey Tower and the Red Tower both from Denmark?", PLACES, "no"),
        ("Were both Ada Fonti and Lena Brandt born in 1930?", FILMS, "no"),
        ("Were both Marco Belli and Olav Stein born in Bari?", FILMS, None),
        ("Have Ada Fonti and Lena Brandt both won an Oscar?", FILMS, None),
        ("Was Ada Fonti born before Lena Brandt?", FILMS, "yes"),
        ("Is Lena Brandt older than Ada Fonti?", FILMS, "no"),
        ("Is the Grey Tower taller than the Red Tower?", PLACES, "yes"),
    ],
)
def test_yes_or_no_about_two(question: str, passages: list[tuple[str, list[str]]], expected: str | None):
    assert answer(question, passages) == expected


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("Is the Grey Tower located in Denmark?", PLACES, "yes"),
        ("Is the Grey Tower located in Sweden?", PLACES, "no"),
        ("Was the Grey Tower built in 1881?", PLACES, "yes"),
        ("Was the Grey Tower built in 1890?", PLACES, "no"),
        ("Was Ada Fonti born in Italy?", FILMS, "yes"),
        ("Was Ada Fonti born in France?", FILMS, "no"),
        ("Was Ada Fonti born in 1931?", FILMS, "no"),
        ("Is Ada Fonti an Italian actress?", FILMS, "yes"),
        ("Is Ada Fonti a Norwegian actress?", FILMS, "no"),
        ("Does Larix have twelve species?", THINGS, "yes"),
        ("Does Larix have ten species?", THINGS, "no"),
        ("Did Marco Belli study in France?", FILMS, None),
        ("Is Marco Belli a vegetarian?", FILMS, None),
        ("Was Ada Fonti married in 1950?", FILMS, None),
        ("Is the Blue Tower located in Denmark?", PLACES, None),
    ],
)
def test_yes_or_no_about_one(question: str, passages: list[tuple[str, list[str]]], expected: str | None):
    assert answer(question, passages) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Foo supports threads.", "yes"),
        ("Foo does not support threads.", "no"),
        ("It can’t support threads.", "no"),
        ("Foo supports threads if they are enabled.", None),
        ("It is unclear whether Foo supports threads.", None),
        ("Foo does not only support threads.", None),
        ("Foo supports processes.", None),
        ("Bar supports threads.", None),
    ],
)
def test_a_sentence_states_denies_or_does_neither(sentence: str, expected: str | None):
    assert answer("Does Foo support threads?", [("Foo", [sentence])]) == expected
    assert answer("Doesn't Foo support threads?", [("Foo", [sentence])]) is None


def test_a_claim_without_a_title_must_stand_whole_in_a_sentence():
    passages = [
        ("Care", ["Sun exposure is a known risk factor for moles.", "Benign moles do not spread to the bones."])
    ]
    assert answer("Is sun exposure a risk factor for moles?", passages) == "yes"
    assert answer("Do benign moles spread to the bones?", passages) == "no"
    assert answer("Is smoke exposure a risk factor for moles?", passages) is None
    assert answer("Do moles spread?", passages) is None


def test_a_passive_turns_who_does_what_to_whom():
    assert answer("Did Foo defeat Bar?", [("Foo", ["Foo was defeated by Bar."])]) is None
    assert answer("Did Foo defeat Bar?", [("Foo", ["In the end, Foo defeated Bar."])]) == "yes"


def test_counts_are_read_or_made_from_a_list():
    assert answer("How many members does The Tin Whistles have?", THINGS) == "5"
    assert answer("How many members does Low Tide have?", THINGS) == "3"
    assert answer("How many species does Larix have?", THINGS) == "12"
    assert answer("How many members does Acacia have?", THINGS) is None


def test_which_one_fits_a_claim():
    assert answer("Which actress is Italian, Ada Fonti or Lena Brandt?", FILMS) == "Ada Fonti"
    assert answer("Which band was from Canada, Low Tide or The Tin Whistles?", THINGS) == "Low Tide"
    assert answer("Is Ash Airport or Grey Tower a lighthouse?", PLACES) == "Grey Tower"
    assert answer("Which band was formed in 1994, Low Tide or The Tin Whistles?", THINGS) == "The Tin Whistles"
    assert answer("Which is better, Low Tide or The Tin Whistles?", THINGS) is None
    assert answer("Which magazine is about cars, Garden Life or Star Week?", THINGS) is None


@pytest.mark.parametrize("missing", range(4))
def test_without_one_of_the_facts_nothing_is_decided(missing: int):
    left = [passage for at, passage in enumerate(FILMS) if at != missing]
    assert decide("Which film has the director who was born earlier, Harbour Nights or The Long Ferry?", left) is None
    if missing in (2, 3):
        assert decide("Do Harbour Nights and The Long Ferry have directors from the same country?", left) is None


def test_countries_that_a_text_only_names_can_agree_but_not_differ():
    passages = [
        ("Sun", ["Sun is a film shot in Norway."]),
        ("Moon", ["Moon is a film about a sailor from Norway."]),
        ("Star", ["Star is a Swedish film."]),
    ]
    assert answer("Are Sun and Moon both from the same country?", passages) == "yes"
    assert answer("Are Sun and Star both from the same country?", passages) is None


def test_a_passage_about_a_director_that_names_the_film_stands_in_for_that_of_the_film():
    olav = ("Olav Stein", ["Olav Stein (3 May 1893 – 4 June 1978) was a director.", "He made The Long Ferry in 1936."])
    passages = [FILMS[0], FILMS[2], olav]
    found = decide("Which film has the director who was born later, Harbour Nights or The Long Ferry?", passages)
    assert found is not None
    assert found.answer == "Harbour Nights"
    assert (found.facts[-1].passage, found.facts[-1].value) == (2, "3 May 1893")


def test_values_that_may_be_equal_decide_nothing():
    pair = [("Ann", ["Ann (born 1950) is a poet."]), ("Bea", ["Bea (born 4 May 1950) is a poet."])]
    assert decide("Who is older, Ann or Bea?", pair) is None
    assert decide("Who died first, Ann or Bea?", pair) is None


def test_the_reader_is_asked_only_where_rules_fail():
    passages = [
        ("Harbour Nights", ["Harbour Nights is a film.", "Behind the camera stood Marco Belli, then unknown."]),
        *FILMS[1:],
    ]
    question = "Which film has the director who was born earlier, Harbour Nights or The Long Ferry?"
    reader = ScriptedReader({"Who directed Harbour Nights?": "Marco Belli"})
    found = decide(question, passages, reader)
    assert found is not None
    assert found.answer == "The Long Ferry"
    assert found.facts[0].sentence == 1
    assert reader.asked == ["Who directed Harbour Nights?"]
    assert (
        decide(question, passages, ScriptedReader({"Who directed Harbour Nights?": "Marco Belli"}, score=-3.0)) is None
    )
    unasked = ScriptedReader()
    assert decide(question, FILMS, unasked) is not None
    assert not unasked.asked


def test_the_real_reader_finds_what_rules_do_not():
    passages = [
        (
            "Harbour Nights",
            ["Harbour Nights is a film about smugglers.", "It was the first work of its director, Marco Belli."],
        ),
        *FILMS[1:4],
    ]
    question = "Which film has the director who was born earlier, Harbour Nights or The Long Ferry?"
    found = asyncio.run(compared(question, passages, Reader(max_tokens=112)))
    assert found is not None
    assert found.answer == "The Long Ferry"
    assert (found.facts[0].sentence, found.facts[1].value) == (1, "24 February 1909")


def test_dates_of_the_reader_are_compared_too():
    passages = [
        ("Ann Ost", ["Ann Ost came to the world on 4 May 1901."]),
        ("Bo Ek", ["Bo Ek (born 3 June 1900) is a poet."]),
    ]
    reader = ScriptedReader({"When was Ann Ost born?": "4 May 1901"})
    found = decide("Who is younger, Ann Ost or Bo Ek?", passages, reader)
    assert found is not None
    assert (found.answer, found.facts[0].value) == ("Ann Ost", "4 May 1901")
    assert (
        decide("Who is younger, Ann Ost or Bo Ek?", passages, ScriptedReader({"When was Ann Ost born?": "the world"}))
        is None
    )


def test_the_reader_is_asked_a_few_times_at_most():
    names = ["Ann Ost", "Bo Ek", "Cy Ray", "Di Lund", "Ed Moe", "Flo Hill"]
    passages = [(name, [f"{name} is a poet."]) for name in names]
    reader = ScriptedReader()
    assert decide(f"Who is older, {', '.join(names[:-1])} or {names[-1]}?", passages, reader) is None
    assert len(reader.asked) == PASSES == 4


def test_names_that_hold_a_joint_are_cut_where_titles_are():
    passages = [
        ("Sink or Swim", ["Sink or Swim is a 1990 film."]),
        ("Live or Die or Dance", ["Live or Die or Dance is a 1970 film."]),
        ("Ann", ["Ann is a 1960 film."]),
    ]
    assert (
        answer("Which film came out first, Sink or Swim or Live or Die or Dance?", passages) == "Live or Die or Dance"
    )
    assert answer("Which film came out first, Sink or Swim, Ann or Live or Die or Dance?", passages[:2]) is None


def test_three_options():
    passages = [
        (name, [f"{name} (born {year}) is a poet."]) for name, year in (("Ann", 1950), ("Bea", 1940), ("Cleo", 1960))
    ]
    assert answer("Who is older, Ann, Bea or Cleo?", passages) == "Bea"
    assert answer("Who is younger, Ann, Bea, or Cleo?", passages) == "Cleo"


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "( 1901 – ",
        "born in 1901 ",
        "directed by A ",
        "A",
        "a, ",
        "is a ",
        "Norway, ",
        "10 km tall ",
        "A. ",
        "by a-",
        " ",
    ],
)
def test_passages_of_any_length_are_bounded(text: str):
    long = text * (100_000 // len(text))
    for sentences in ([long], [text] * 20_000):
        passages = [("Harbour Nights", sentences), ("The Long Ferry", sentences)]
        for question in (
            "Which film has the director who was born earlier, Harbour Nights or The Long Ferry?",
            "Are Harbour Nights and The Long Ferry both from the same country?",
            "Which tower is taller, Harbour Nights or The Long Ferry?",
            "Is Harbour Nights located in Denmark?",
            "How many towers does Harbour Nights have?",
        ):
            decide(question, passages)


def test_nothing_to_read_and_other_questions():
    assert decide("Who is older, Ann or Bea?", []) is None
    assert decide("Who is older, Ann or Bea?", [("", []), ("Ann", [""])]) is None
    assert decide("Who wrote it?", FILMS) is None
    assert decide("", FILMS) is None
