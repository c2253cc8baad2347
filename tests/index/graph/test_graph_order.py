"""A graph is a function of its documents: neither the order nor the history of an index shows in it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import WrongVersion
from ragways.index.folder import FORMAT, FORMAT_MARK
from ragways.index.graph import kept_facts, tables
from ragways.index.graph.filtered import FilteredGraph
from ragways.index.graph.graph_tables import TABLES
from ragways.index.reader import Index
from ragways.pictures.graph_map import graph_map
from ragways.pictures.neighbourhood import around
from tests.fakes import reseal
from tests.index.graph.graph_fakes import graph_of, recipe, rows, run, write
from tests.index.graph.plain_arrays import told

ARTICLES = {
    "Oriel Tamsett": "Oriel Tamsett was an engineer of the Harbour Board (HB). Tamsett built the pier in 1868.",
    "Harbour Board": "The Harbour Board is a company in Saltrey. HB was led by Tamsett and Ilsabet Corran.",
    "Ilsabet Corran (ship)": "Ilsabet Corran was a ship. It sank off Saltrey. Corran was lost.",
    "Ilsabet Corran": "Ilsabet Corran was a queen. Corran met Mr. Tamsett at the Pier Hotel.",
    "Saltrey": "Saltrey is an island. The tides of Saltrey were measured by Otto Tamsett.",
}
NAMES = sorted(ARTICLES)


def _state(index: Path) -> object:
    graph = graph_of(index)
    arrays = told(graph._folder, graph._db)
    found = rows(graph), arrays, None if graph.vectors is None else graph.vectors.matrix.packed.tolist()
    graph.close()
    return found


@pytest.fixture(autouse=True)
def take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of a corpus changes, what was read of the rest is taken over."""
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(tables, "LARGE", 0)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5), st.booleans())
def test_history_does_not_show(toggles: list[str], vectors: bool) -> None:
    made = recipe(layers="graph vectors" if vectors else "graph")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        corpus = write(place / "corpus", {"Tide": "The tide rises in Saltrey."})
        run(place / "index", corpus, made)
        present: set[str] = set()
        for name in toggles:
            present ^= {name}
            if name in present:
                write(corpus, {name: ARTICLES[name]})
            else:
                (corpus / f"{name}.json").unlink()
            run(place / "index", corpus, made)
        run(place / "fresh", corpus, made)
        assert _state(place / "index") == _state(place / "fresh")
        for name in set(NAMES) - present:
            gone = {word for word in ARTICLES[name].split() if word.isalpha() and len(word) > 6}
            left = " ".join(ARTICLES[n] for n in present) + "The tide rises in Saltrey."
            newest = max((place / "index" / "derived").iterdir(), key=lambda path: int(path.name))
            for file in (place / "index" / "index.sqlite", *newest.iterdir()):
                data = file.read_bytes() if file.is_file() else b""
                assert not [word for word in gone if word not in left and word.encode() in data], file.name


def test_a_changed_article_leaves_what_a_fresh_build_would_have(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus)
    write(corpus, {"Saltrey": "Saltrey is a town of the Guild of Chartmakers."})
    run(tmp_path / "index", corpus)
    run(tmp_path / "fresh", corpus)
    assert _state(tmp_path / "index") == _state(tmp_path / "fresh")


def _make_older(index: Path) -> None:
    """Take away what an earlier version did not have: rows of the graph in the store."""
    with closing(sqlite3.connect(index / "index.sqlite")) as db:
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in names:
            if f" {table} (" in TABLES:
                db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM meta WHERE key = 'graph_meant'")
        db.commit()
    shutil.rmtree(index / "derived")
    reseal(index)


def test_an_index_of_an_earlier_version_gets_its_rows_when_it_is_opened(tmp_path, monkeypatch) -> None:
    corpus = write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus)
    before = _state(tmp_path / "index")
    _make_older(tmp_path / "index")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))  # stopped at the last step
        with pytest.raises(KeyboardInterrupt):
            Index.open(tmp_path / "index")
    Index.open(tmp_path / "index").close()
    assert _state(tmp_path / "index") == before
    _make_older(tmp_path / "index")
    Index.open(tmp_path / "index").close()
    assert _state(tmp_path / "index") == before


def test_descriptions_that_an_earlier_version_kept_with_entities_go(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus)
    before = _state(tmp_path / "index")
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite")) as db:
        db.execute("ALTER TABLE graph_entities ADD COLUMN description TEXT NOT NULL DEFAULT 'as it was kept'")
        db.execute("UPDATE meta SET value = 'of an earlier version ' || value WHERE key = 'graph_meant'")
        db.commit()
    shutil.rmtree(tmp_path / "index" / "derived")
    reseal(tmp_path / "index")
    Index.open(tmp_path / "index").close()
    assert _state(tmp_path / "index") == before
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite")) as db:
        assert "description" not in [row[1] for row in db.execute("PRAGMA table_info(graph_entities)")]


def test_derived_files_that_were_deleted_come_back_the_same(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus)
    before = _state(tmp_path / "index")
    shutil.rmtree(tmp_path / "index" / "derived")
    Index.open(tmp_path / "index").close()
    assert _state(tmp_path / "index") == before


def test_a_graph_of_an_earlier_version_is_not_read_where_it_cannot_be_brought_up_to_date(tmp_path) -> None:
    """Its rows in the store are others than this version reads; whoever waits for it can go on."""
    corpus = write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus)
    before = _state(tmp_path / "index")
    listed = tmp_path / "index" / "derived" / "1" / f"{FORMAT_MARK}{FORMAT}"
    listed.rename(listed.with_name(f"{FORMAT_MARK}1"))
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        index = Index.open(tmp_path / "index")
        with pytest.raises(WrongVersion, match="made by another version of ragways"):
            index.graph  # noqa: B018
        writer.execute("ROLLBACK")
    index.pause()
    Index.open(tmp_path / "index").close()
    assert _state(tmp_path / "index") == before
    assert index.begin()
    assert index.graph.triplets(index.graph.named("Saltrey"))
    index.close()


def test_numbers_of_relations_that_are_gone_are_those_of_nothing(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus)
    graph = graph_of(tmp_path / "index")
    there = len(graph.relation_arrays)
    assert len(graph.relations_at(range(there))) == there
    graph.close()
    next(corpus.glob("Oriel Tamsett*")).unlink()
    run(tmp_path / "index", corpus)
    graph = graph_of(tmp_path / "index")
    alive = graph.relation_arrays.rows.alive[: graph.relation_arrays.rows.used]
    assert not alive.all(), "a change leaves the numbers of others as they are"
    found = graph.relations_at(range(len(alive)))
    assert sorted(found) == alive.nonzero()[0].tolist()
    assert {row.id for row in found.values()} == {*graph.relation_arrays.names(graph.relation_arrays.all_numbers())}
    graph.close()


def test_pictures_of_a_graph_that_grew_are_those_of_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entities that came later have numbers of their own from the room, and ranks tell their order."""
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(tables, "LARGE", 0)
    corpus = write(tmp_path / "corpus", dict([*ARTICLES.items()][:3]))
    run(tmp_path / "grown", corpus)
    run(tmp_path / "grown", write(corpus, ARTICLES))
    run(tmp_path / "fresh", corpus)
    seen = []
    for name in ("grown", "fresh"):
        with closing(Index.open(tmp_path / name)) as index:
            graph = index.graph
            ids = sorted(graph.ids)
            assert (name == "grown") == (graph.ids.ranks is not None)
            near = {id: around(graph, id, 2, 50) for id in ids}
            seen.append((graph.degrees(ids), near, graph_map(index)))
            assert graph.degrees(ids) == {id: len(graph.neighbours(id, 1000)) for id in ids}
    assert seen[0] == seen[1]


FIRST = "Alba Bero Cato Dina Elmo Fara Gino Hedda Ivor Juno Kasper Lotte Milo Nora Osk Pia Quill Rosa".split()  # noqa: SIM905
LAST = "Abbott Barlow Crane Drewe Eaton Frost Gale Hobbs Inge Jarvis Keane Lomax Munro Nash Orton Pryce Quade Rudd"
FOUNDERS = [f"{first} {last}" for first, last in zip(FIRST, LAST.split(), strict=True)]


def test_history_does_not_show_under_a_filter(tmp_path: Path) -> None:
    """What a document is left of, of those that state a relation, is no number of halves; sums of it are exact too."""
    seen = {f"A{n}": " ".join([f"{name} founded Harbour Board."] * (2 + n % 4)) for n, name in enumerate(FOUNDERS)}
    hidden = {
        f"B{m}": " ".join(f"{name} founded Harbour Board." for n, name in enumerate(FOUNDERS) if (7 * n + 3) % 13 > m)
        for m in range(12)
    }
    corpus = tmp_path / "corpus"
    names = sorted(seen, key=lambda name: name[::-1]) + sorted(hidden)
    for at in range(0, len(names), 6):
        write(corpus, {name: (seen | hidden)[name] for name in names[at : at + 6]})
        run(tmp_path / "index", corpus)
    run(tmp_path / "fresh", corpus)
    strengths = []
    for place in ("index", "fresh"):
        with closing(graph_of(tmp_path / place)) as graph:
            shown = [row[0] for row in graph._db.execute("SELECT number FROM documents WHERE title LIKE 'A%'")]
            part = FilteredGraph(graph, np.isin(graph.chunks.documents, shown), lambda _: {})
            strengths.append({id: part.adjacency.strengths[node] for id, node in graph.ids.items()})
    assert strengths[0] == strengths[1]
    assert max(strengths[0].values()) % 0.5
