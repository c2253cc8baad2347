"""Filters: what they match, where they say that they cannot be read, and that no text of theirs runs."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.index.build import build
from ragways.index.database import PartOfDatabase
from ragways.index.filtered import only
from ragways.index.reader import Index
from ragways.index.where import DEEPEST, LONGEST, read_filter
from tests.fakes import recipe, write

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


# On an index


FILES = {
    "guide/a.md": "---\ndate: 2019-01-05\nauthor: Brack\n---\n# Alpha\n\nThe red lantern burns.\n",
    "api/b.md": "---\ndate: 2021-07-01\n---\n# Beta\n\nThe green lantern burns.\n",
    "api/c.txt": "The blue lantern burns.",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", FILES)], recipe()))
    opened = Index.open(tmp_path / "index")
    yield opened
    opened.close()


def keys(index: Index) -> list[str]:
    return [key.split("/", 1)[1] for _, key, _ in index.documents()]


def test_only_matching_documents_are_there(index: Index):
    part = only(index, 'path~"api/"')
    assert keys(part) == ["api/b.md", "api/c.txt"]
    assert only(index, ' path~"api/" ') is part, "made once"
    assert keys(only(index, "date>2020")) == ["api/b.md"]
    assert keys(only(index, "has author")) == ["guide/a.md"]
    assert keys(only(part, "has date")) == ["api/b.md"], "a filter of a part restricts it further"
    hidden = only(index, "has author").documents()[0][0]
    assert part.document(hidden) is None
    assert part.keys([hidden]) == {}
    assert part.origins([(hidden, 0, 5)])[0].key == ""
    assert part.counts()["documents"] == 2
    assert part.identity != index.identity
    assert only(part, "not has path").matches_nothing
    assert len(keys(index)) == 3, "the index itself is as before"


def test_the_filter_goes_with_a_reader_of_the_same(index: Index):
    again = only(index, "has author").again()
    assert keys(again) == ["guide/a.md"]
    again.close()


def test_a_field_that_no_document_has_is_named_with_the_nearest(index: Index):
    with pytest.raises(UsageError, match=r"\^auther=x.*no document has a field 'auther'.*did you mean author"):
        only(index, "date>2020 and auther=x")


def test_a_value_is_never_a_query(index: Index):
    for text in ("' OR 1=1 --", '"; DROP TABLE documents; --', "%", "*"):
        part = only(index, f"""path = "{text.replace('"', chr(92) + '"')}" """)
        assert part.matches_nothing
    assert len(keys(index)) == 3


def test_few_restricted_indexes_are_kept(index: Index):
    parts = [only(index, f"date>{year}") for year in range(1990, 2000)]
    assert len(index.filtered) < len(parts)
    assert keys(parts[0]) == ["api/b.md", "guide/a.md"], "one that is no longer kept still reads"


def test_a_layer_that_cannot_be_filtered_is_refused(index: Index):
    index._layers["strange"] = object()
    with pytest.raises(UsageError, match="cannot be filtered"):
        only(index, "has path").layer("strange")


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
    plan = " ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {part._tables} SELECT t FROM a WHERE n = 3"))
    assert "SEARCH" in plan, "indexes are used as before"
