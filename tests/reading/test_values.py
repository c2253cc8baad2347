"""Dates, amounts and countries in a text, so that they can be compared."""

from __future__ import annotations

import pytest

from ragways.reading.values import STATES, amounts, countries, periods


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("born 4 May 1901", [((1901, 5, 4), (1901, 5, 4))]),
        ("May 4, 1901", [((1901, 5, 4), (1901, 5, 4))]),
        ("in May 1901", [((1901, 5, 1), (1901, 5, 31))]),
        ("(1901 – 1975)", [((1901, 1, 1), (1901, 12, 31)), ((1975, 1, 1), (1975, 12, 31))]),
        ("(1901–75)", [((1901, 1, 1), (1901, 12, 31)), ((1975, 1, 1), (1975, 12, 31))]),
        ("c. 1901", [((1899, 1, 1), (1903, 12, 31))]),
        ("the 19th century", [((1801, 1, 1), (1900, 12, 31))]),
        ("the late 19th century", [((1861, 1, 1), (1900, 12, 31))]),
        ("the 1980s", [((1980, 1, 1), (1989, 12, 31))]),
        ("a 1936 musical", [((1936, 1, 1), (1936, 12, 31))]),
        ("died in 927.", [((927, 1, 1), (927, 12, 31))]),
        ("1850 m high and 1,850 people", []),
        ("nothing", []),
    ],
)
def test_periods(text: str, expected: list[tuple[tuple[int, int, int], tuple[int, int, int]]]):
    assert [(one.first, one.last) for one in periods(text)] == expected


def test_of_two_periods_that_overlap_neither_is_earlier():
    year, day, later, about = (periods(text)[0] for text in ("1901", "4 May 1901", "1902", "about 1903"))
    assert year.before(later) is True
    assert later.before(year) is False
    assert year.before(day) is None
    assert day.before(year) is None
    assert later.before(about) is None


def test_a_period_knows_its_place():
    text = "It opened on 4 May 1901 in Oslo."
    assert text[periods(text)[0].start : periods(text)[0].end] == "4 May 1901"


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("2.5 million people", 2_500_000, ""),
        ("1,850 m", 1850, "m"),
        ("3 km", 3000, "m"),
        ("10 miles", 16093.44, "m"),
        ("12 square kilometres", 12e6, "m2"),
        ("about 40 %", 40, "%"),
        ("90 minutes", 90, "min"),
        ("$3 billion", 3e9, "$"),
        ("twelve members", 12, ""),
    ],
)
def test_amounts(text: str, value: float, unit: str):
    (found,) = amounts(text)
    assert found.value == pytest.approx(value)
    assert found.unit == unit


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("an Italian film director", ["Italy"]),
        ("a British-American film", ["United Kingdom", "United States"]),
        ("a village in Ash County, Texas", ["United States"]),
        ("Atlanta, Georgia, United States", ["United States", "United States"]),
        ("Tbilisi in Georgia", ["Georgia"]),
        ("Michael Jordan moved to Jordan", ["Jordan"]),
        ("a Spanish-language play by Ann", []),
        ("an island of the Indian Ocean", []),
        ("Papua New Guinea", ["Papua New Guinea"]),
        ("a West German spy film", ["Germany"]),
        ("a Malayalam film", ["India"]),
        ("nowhere", []),
    ],
)
def test_countries(text: str, names: list[str]):
    assert [country.name for country in countries(text)] == names


def test_every_state_is_of_the_united_states():
    assert len(STATES) == 48
    assert {country.name for state in STATES for country in countries(state)} == {"United States"}


@pytest.mark.parametrize(
    "part", ["1,111", "1901 – ", "12th century ", "in ", "New ", "c. ", "one hundred ", "$1.", "- "]
)
def test_long_texts_are_bounded(part: str):
    text = part * (100_000 // len(part))
    assert len(periods(text)) + len(amounts(text)) + len(countries(text)) <= 8_000
