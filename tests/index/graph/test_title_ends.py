"""Where titles lead: asked for many at once, as for one."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from ragways.core.types import title_name
from ragways.index.graph.corpus_names import end_of, ends_of

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
