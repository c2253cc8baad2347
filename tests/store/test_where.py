"""Filters: what they match, where they say that they cannot be read, and that no text of theirs runs."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.store.database import PartOfDatabase
from ragways.store.where import DEEPEST, LONGEST, read_filter

FIELDS = {"path": "docs/api/errors.md", "title": "Errors", "format": "markdown", "date": "2020-05-17", "pages": "12",
          "my key": 'say "so"'}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date>2020", False),
        ("date>=2020", True),
        ("date=2020", True),
        ("date=2020-05", True),
        ("date=2020-05-18", False),
        ("date>2020-04", True),
        ("date<2020-05-18", True),
        ("date<=2020-05-17", True),
        ("date!=2020", False),
        ("pages>9", True),
        ("pages<100", True),
        ("pages=12.0", True),
        ("title>Apples", True),
        ("title=errors", False),
        ('path~"API/"', True),
        ('path ~ "api/" and format=markdown', True),
        ('path~"api/" and format=pdf or has pages', True),
        ('path~"api/" and (format=pdf or has author)', False),
        ("not path~guide", True),
        ("not not path~guide", False),
        ("format in (pdf, markdown)", True),
        ("format not in (pdf, markdown)", False),
        ("has author", False),
        ("author=Brack", False),
        ("author!=Brack", True),
        ("author not in (Brack)", True),
        (r'"my key" = "say \"so\""', True),
        ("'my key' ~ so", True),
        ("NOT Date OR has path".replace("Date", "(has author)"), True),
    ],
)
def test_what_matches(text: str, expected: bool):
    assert read_filter(text).matches(FIELDS) is expected


@pytest.mark.parametrize("test", ["date>2020-04", "date<2020-06", "date=2020-05", "date>=2020-04", "date<=2020-06"])
def test_a_date_known_less_exactly_than_the_filter_writes_it_is_neither_before_nor_after(test: str):
    assert not read_filter(test).matches({"date": "2020"})
    assert read_filter("date>2019-12").matches({"date": "2020"})


def test_dates_are_read_as_people_write_them():
    assert read_filter("date>1882 and date<1884").matches({"date": "11 February 1883"})


@pytest.mark.parametrize(
    ("text", "shown", "problem"),
    [
        ("date >", "`date >^`", "a value"),
        ("date > soon", "`date > ^soon`", "no date"),
        ("(format=pdf", "`(format=pdf^`", "parenthesis"),
        ("format=pdf has date", "`format=pdf ^has date`", "`and` or `or`"),
        ('path~"api', '`path~^"api`', "quote"),
        ("path", "`path^`", "a test"),
        ("format in (pdf md)", "`format in (pdf ^md)`", "list"),
        ("= 3", "`^= 3`", "name of a field"),
        ("a=1 ; DROP", "`a=1 ^; DROP`", "`and` or `or`"),
        ("", "", "empty"),
        ("x" * (LONGEST + 1), "", "characters"),
        ("(" * (DEEPEST + 2), "", "inside each other"),
        ("not " * (DEEPEST + 2) + "a=1", "", "inside each other"),
    ],
)
def test_an_error_shows_the_place_and_the_cure(text: str, shown: str, problem: str):
    with pytest.raises(UsageError) as caught:
        read_filter(text)
    assert shown in caught.value.message
    assert problem in caught.value.message
    assert caught.value.cure


@given(st.text(alphabet="date>=<!~()'\"\\, andorhsi01\n", max_size=60))
def test_any_text_is_read_or_refused(text: str):
    with suppress(UsageError):
        read_filter(text).matches(FIELDS)


def test_part_of_a_database_hides_rows_from_every_query():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE a (n INTEGER PRIMARY KEY, t TEXT)")
    db.execute("CREATE TABLE b (a INTEGER, t TEXT)")
    db.executemany("INSERT INTO a VALUES (?, ?)", [(n, f"t{n}") for n in range(10)])
    db.executemany("INSERT INTO b VALUES (?, ?)", [(n, f"u{n}") for n in range(10)])
    seen = {2, 3}.__contains__
    part = PartOfDatabase(db, {"a": ("n", seen), "b": ("a", seen)})
    for query in (
        "SELECT n FROM a ORDER BY n",
        "SELECT a.n FROM a JOIN b ON b.a = a.n ORDER BY 1",
        "SELECT n FROM (SELECT n FROM a) ORDER BY n",
        "SELECT x.n FROM a x WHERE EXISTS (SELECT 1 FROM b WHERE b.a = x.n) ORDER BY 1",
        "SELECT DISTINCT a FROM b ORDER BY a",
    ):
        assert part.execute(query).fetchall() == [(2,), (3,)], query
    assert part.execute("SELECT t FROM a WHERE n = ?", (5,)).fetchall() == []
