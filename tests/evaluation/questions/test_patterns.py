"""What rules read out of sentences, boxes and predicates, and what they leave alone."""

from __future__ import annotations

import pytest

from ragways.evaluation.questions.names import date_at, forms, moment, name_at, only_name_at, place_at, year
from ragways.evaluation.questions.patterns import definition, said_of
from ragways.evaluation.questions.wordings import field, predicate


def said(rest: str, kind: str = "", lead: bool = True) -> dict[str, str]:
    return {one.wording.name: one.value for one in said_of(rest, kind, lead)}


@pytest.mark.parametrize(
    ("rest", "kind", "expected"),
    [
        (" (born 3 December 1983 in Walvis Bay) is a player.", "person",
         {"birth date": "3 December 1983", "birth place": "Walvis Bay"}),
        (" (12 April 1801 – 14 November 1842) was a minister.", "person",
         {"birth date": "12 April 1801", "death date": "14 November 1842"}),
        (" (1990–1995) was a band.", "organization", {}),
        (" was born in Rome, Italy on May 3, 1903 to poor parents.", "person",
         {"birth place": "Rome, Italy", "birth date": "May 3, 1903"}),
        (" died in Port Averne in 1841.", "person", {"death place": "Port Averne", "death date": "1841"}),
        (" was a daughter of John II, Duke of Ness, and his wife Ada of Holm.", "person",
         {"father": "John II, Duke of Ness", "mother": "Ada of Holm"}),
        (" is a 1954 drama film directed by Anna Brack and written by Bertil Oakes.", "work",
         {"director": "Anna Brack", "writer": "Bertil Oakes"}),
        (" is a film written, produced and directed by Anna Brack.", "work",
         {"writer": "Anna Brack", "producer": "Anna Brack", "director": "Anna Brack"}),
        (" is a song by the English rock band The Tides.", "work", {"performer": "The Tides"}),
        (" is a film directed by Indian filmmaker Anna Brack.", "work", {"director": "Anna Brack"}),
        (" is a town in Dodge County, Wisconsin.", "place", {"location": "Dodge County, Wisconsin"}),
        (" was first published in 1888.", "work", {"first published date": "1888"}),
        (" was designed by Ada Holm in 1801.", "place", {"designer": "Ada Holm", "designed date": "1801"}),
        # What must not be read: two makers, somebody else's maker, a description instead of a name, a plan.
        (" is a film directed by Anna Brack and Bertil Oakes.", "work", {}),
        (" is a film based on a novel written by Anna Brack.", "work", {}),
        (" was built by local masons in a hurry.", "place", {}),
        (" is a film directed by Anna Brack's brother.", "work", {}),
        (" will be opened in 1999.", "place", {}),
        (" was known in Rome.", "person", {}),
    ],
)  # fmt: skip
def test_sentences(rest: str, kind: str, expected: dict[str, str]):
    assert said(rest, kind) == expected


def test_definitions():
    assert definition(" (1712–1779) was a cartographer who made charts of the sound.") == (
        "was", "a cartographer who made charts of the sound")  # fmt: skip
    assert definition(", also called X, is a small harbour town, which is old.") == ("is", "a small harbour town")
    assert definition(" sank in the gale.") is None


@pytest.mark.parametrize(
    ("key", "value", "dated", "asked"),
    [
        ("birth date", "1801", True, "When was {x} born?"),
        ("first_lit", "1801", True, "When was {x} first lit?"),
        ("population 1981", "412,300", False, "In 1981, what was the population of {x}?"),
        ("area km2", "860", False, "What is the area of {x} in km²?"),
        ("pages", "418", False, "How many pages does {x} have?"),
        ("width max", "31 km", False, "What is the maximum width of {x}?"),
        ("mediator", "Oriel Tamsett", False, "Who was the mediator of {x}?"),
        ("patron", "Saint Orme", False, "Who or what was the patron of {x}?"),
        ("motto", "By sounding", False, "What is the motto of {x}?"),
        ("designer", "1801", True, None),
        ("name", "Pell Rock", False, None),
        ("members", "Morvane", False, None),
        ("{x.__class__} founded", "1801", True, None),
        ("{0}", "12", False, None),
        ("{x} motto", "So", False, None),
    ],
)
def test_fields(key: str, value: str, dated: bool, asked: str | None):
    found = field(key, value, dated)
    assert (found.ask if found else None) == asked


@pytest.mark.parametrize(
    ("words", "dated", "expected"),
    [
        ("designed_by", False, ("designer", False)),
        ("was_born_in", False, ("birth place", False)),
        ("born_in", True, ("birth date", False)),
        ("founder_of", False, ("founder", True)),
        ("wife of", False, ("spouse", True)),
        ("related_to", False, None),
        ("of", False, None),
        ("", False, None),
    ],
)
def test_predicates(words: str, dated: bool, expected: tuple[str, bool] | None):
    found = predicate(words, dated)
    assert (None if found is None else (found[0].name, found[1])) == expected


def test_names_places_and_dates():
    assert name_at("J. R. R. Oakes of Ness, who", 0) == ("J. R. R. Oakes of Ness", 22)
    assert name_at("Hesk & Daughters in Ness", 0) == ("Hesk & Daughters", 16)
    assert name_at("the old mill", 0) is None
    assert name_at("Ching Siu- tung", 0) is None
    assert only_name_at("Anna Brack, Bertil Oakes", 0) is None
    assert place_at("Hill, New Hampshire, United States.", 0) == ("Hill, New Hampshire, United States", 34)
    assert date_at(" 3 May 1801 in", 0) == ("3 May 1801", 11)
    assert date_at("1990s", 0) is None
    assert date_at("1990–1995", 0) is None
    assert forms("3 May 1801") == ("3 May 1801", "May 3, 1801")
    assert forms("9–10 February 1883") == ("9–10 February 1883",)
    assert moment("May 3, 1801") == (1801, 5, 3)
    assert moment("1801") == (1801, 0, 0)
    assert moment("1801 to 1805") is None
    assert year("no year") is None
