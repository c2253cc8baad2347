"""Where titles lead: asked for many at once, as for one."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from ragways.core.types import title_name
from ragways.index.database import create_tables
from ragways.index.graph.corpus_changes import TitleRow, _put_title, _title_rows
from ragways.index.graph.corpus_names import _FIRST_FOLDED, TABLES, end_of, end_row, ends_of, put_ends, titled
from ragways.index.graph.names import fold

TITLES = ("Port", "PORT", "Harbour", "Light", "light", "Dunmarrow")
ROWS = st.lists(st.tuples(st.sampled_from(TITLES), st.sampled_from(("", "", "Nowhere", *TITLES))), max_size=8)


@given(ROWS)
def test_many_titles_lead_where_each_does(rows: list[tuple[str, str]]):
    """Titles that are compared alike, redirects to others, to themselves, in a circle and to nothing."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE graph_titles (document INTEGER PRIMARY KEY, title TEXT, name TEXT, redirect TEXT)")
        named = [(n, title, title_name(title), redirect) for n, (title, redirect) in enumerate(rows)]
        db.executemany("INSERT INTO graph_titles VALUES (?, ?, ?, ?)", named)
        names = {name for _, _, name, _ in named}
        assert ends_of(db, names) == {name: end_of(db, name) for name in names}


@given(ROWS)
def test_a_name_leads_where_the_first_title_does_that_is_compared_so(rows: list[tuple[str, str]]):
    with closing(sqlite3.connect(":memory:")) as db:
        create_tables(db, TABLES)
        folded: dict[str, set[str]] = {}
        for n, (title, redirect) in enumerate(rows):
            name = title_name(f"{title}.") if n % 2 else title_name(title)
            row = TitleRow(n, title, name, redirect, title_name(redirect), "", False, False, fold(name))
            _put_title(db, row)
            assert list(_title_rows(db, "document = ?", n)) == [row]
            folded.setdefault(row.folded, set()).add(name)
        for each, names in folded.items():
            found = end_row(db, each)
            assert found is not None
            assert found[0] == end_of(db, min(names))
            put_ends(db, [(each, *found)])
            assert titled(db, each) == found[0]
        assert end_row(db, "elsewhere") is None


def test_titles_that_are_compared_so_are_found_by_an_index():
    with closing(sqlite3.connect(":memory:")) as db:
        create_tables(db, TABLES)
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {_FIRST_FOLDED}", ("port",))]
        assert [step for step in plan if "graph_titles" in step] == [
            "SEARCH graph_titles USING INDEX graph_titles_by_folded (folded=?)",
            "SEARCH graph_titles USING INDEX graph_titles_by_name (name=?)",
        ]
