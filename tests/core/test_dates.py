"""Dates are read in every way people write them, as far as they are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.dates import MONTHS, PartialDate, find, parse


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1990-05-04", PartialDate(1990, 5, 4)),
        ("1990-05", PartialDate(1990, 5)),
        ("4 May 1990", PartialDate(1990, 5, 4)),
        ("4th  may, 1990", PartialDate(1990, 5, 4)),
        ("May 3, 1801", PartialDate(1801, 5, 3)),
        ("Sept. 3 1801", PartialDate(1801, 9, 3)),
        ("May 1801", PartialDate(1801, 5)),
        ("11 November 875", PartialDate(875, 11, 11)),
        ("1801", PartialDate(1801)),
        ("D:19900504120000Z", PartialDate(1990, 5, 4)),
        ("1801 to 1805", None),
        ("9\u201310 February 1883", None),
        ("4 Foo 1990", None),
        ("1990-13-01", None),
        ("no year", None),
        ("", None),
    ],
)
def test_a_text_that_is_a_date(text: str, date: PartialDate | None):
    assert parse(text) == date


def test_dates_in_running_text_have_their_place():
    text = "Opened on 3 May 1801, closed in June 1850 after 1,850 km; see 2024-05-06, 1990 and 12345."
    assert [(text[low:high], date.iso) for low, high, date in find(text)] == [
        ("3 May 1801", "1801-05-03"),
        ("June 1850", "1850-06"),
        ("2024-05-06", "2024-05-06"),
        ("1990", "1990"),
    ]
    assert not list(find(text, 0, 9))


@pytest.mark.parametrize("month", [*MONTHS, *(month[:3] for month in MONTHS)])
def test_every_month_begins_a_date_in_running_text(month: str):
    text = f"it opened in {month} 1850"
    assert [(text[low:high], date.month) for low, high, date in find(text)] == [
        (f"{month} 1850", 1 + [name[:3] for name in MONTHS].index(month[:3]))
    ]


def test_a_date_is_written_in_several_forms_and_lies_in_its_year():
    day = PartialDate(1801, 5, 3)
    assert day.forms == ("3 May 1801", "May 3, 1801")
    assert PartialDate(1801, 5).forms == ("May 1801",)
    assert PartialDate(1801).forms == ("1801",)
    assert day.within(PartialDate(1801))
    assert day.within(PartialDate(1801, 5))
    assert not day.within(PartialDate(1801, 6))
    assert not PartialDate(1801).within(day)


@given(st.dates())
def test_what_is_written_is_read_back(day):
    date = PartialDate(day.year, day.month, day.day)
    assert date.iso == day.isoformat()
    assert {parse(form) for form in (date.iso, *date.forms)} == {date}
