"""What a document states comes back from its row as it was, however much it is."""

from __future__ import annotations

import sqlite3
import time
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.graph.data import DocumentGraph, EntityShare
from ragways.index.graph.document_statements import ContentsRow
from ragways.index.graph.facts import Relation
from ragways.index.graph.graph_tables import GraphTables
from ragways.index.graph.stored_relations import StoredRelations, all_joining
from ragways.index.packed_numbers import fits_count, joined_counts, packed_counts, unpacked_counts
from tests.index.graph.graph_data import laid_down, read_graph

COUNTS = st.lists(st.integers(0, 300) | st.sampled_from([0, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**62]))


@given(st.lists(COUNTS, max_size=6))
def test_numbers_come_back(lists: list[list[int]]) -> None:
    packed = [packed_counts(each) for each in lists]
    assert [list(unpacked_counts(each, len(some))) for each, some in zip(packed, lists, strict=True)] == lists
    assert joined_counts(packed, list(map(len, lists))).tolist() == [number for some in lists for number in some]
    assert all(fits_count(each, len(some)) for each, some in zip(packed, lists, strict=True))


def tables(*texts: str) -> tuple[sqlite3.Connection, GraphTables]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE documents (number INTEGER PRIMARY KEY, text TEXT)")
    db.executemany("INSERT INTO documents VALUES (?, ?)", enumerate(texts, start=1))
    return db, GraphTables(db)


def document(number: int, said: list[tuple[int, int, int, Relation]], entities: int, chunks: int = 1) -> DocumentGraph:
    """One whose chunks in turn make statements: subject, predicate and object by number, and what is told."""
    keys = [(f"e{n}", "") for n in range(entities)]
    ids = [f"article:{number}:s0:p{n}:c0" for n in range(chunks)]
    by_chunk = sorted((n % chunks, n) for n in range(len(said)))
    return DocumentGraph(
        number,
        {key: EntityShare({key[0]: 1}, {}, {}, {"rules": 1}, 1) for key in keys},
        tuple((id, dict.fromkeys(keys, (1, False))) for id in ids),
        tuple((keys[s], f"p{p}", keys[o], told, ids[n], "rules") for n, at in by_chunk for s, p, o, told in [said[at]]),
        {},
    )


def fill(graph: GraphTables, db: sqlite3.Connection, *documents: DocumentGraph) -> None:
    graph.fill(laid_down(db, documents), shown=lambda _: None, common=lambda _: False)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(0, 2), st.integers(0, 5), st.sampled_from([0.5, 1.0, 0.123456, 5e9]),
            st.sampled_from(["", "1883", "1901-10-04", "spring"]),
        ),
        max_size=12,
    ),
    st.integers(1, 3),
)  # fmt: skip
def test_what_is_stated_comes_back(said: list[tuple[int, int, int, float, str]], chunks: int) -> None:
    db, graph = tables("It rose.")
    told = [(s, p, o, Relation("", "", "", "It rose.", weight, date)) for s, p, o, weight, date in said if s != o]
    made = document(1, told, 6, chunks)
    fill(graph, db, made)
    found = {row.id: row for row in StoredRelations(db).all()}
    expected: dict[tuple[str, str, str], list[Relation]] = {}
    for (subject, _), predicate, (object, _), relation, *_ in made.statements:
        expected.setdefault((subject, predicate, object), []).append(relation)
    names = dict(db.execute("SELECT id, name FROM graph_entities").fetchall())
    assert {
        (names[row.subject], row.predicate, names[row.object]): (row.weight, row.date, len(row.told))
        for row in found.values()
    } == {
        key: (sum(round(each.weight * 1e6) for each in some), next((e.date for e in some if e.date), ""), 1)
        for key, some in expected.items()
    }
    rows = all_joining(db)
    assert rows.weights.tolist() == [found[id].weight for id in rows.ids.tolist()]
    assert rows.subjects.tolist() == [found[id].subject for id in rows.ids.tolist()]


def test_a_document_that_names_and_states_a_great_deal() -> None:
    """More entities than a byte or two can count, and more statements: what is read of one takes no longer for it."""
    db, graph = tables("It rose.")
    size = 70_000
    told = [(n % size, n % 300, (n + 1) % size, Relation("", "", "", "It rose.", 1.0 + n % 7)) for n in range(size)]
    fill(graph, db, document(1, told, size))
    stored = StoredRelations(db)
    rows = all_joining(db)
    assert len(rows) == size
    some = rows.ids[:: size // 20].tolist()
    assert [row.weight for row in stored.rows(some)] == rows.weights[:: size // 20].tolist()
    began = time.process_time()
    assert sum(row.weight for row in stored.all()) == int(rows.weights.sum())
    assert time.process_time() - began < 10, "each statement is looked up, not all of them for each"


def test_relations_are_found_by_their_ends_however_these_are_packed() -> None:
    """A document may name more than a byte can count, and have only the first of them as subjects."""
    db, graph = tables("It rose.")
    told = [(n % 3, n % 2, n + 3, Relation("", "", "", "It rose.", 1.0)) for n in range(300)]
    told.append((0, 2, 5, Relation("", "", "", "It rose.", 2.0)))
    fill(graph, db, document(1, told, 310))
    stored = StoredRelations(db)
    rows = sorted(stored.all())
    assert stored.rows_of({row.id: (row.subject, row.object, 1) for row in rows}) == rows
    for row in rows[::7]:
        assert stored.rows_of({row.id: (row.subject, row.object, 1)}) == [row]
        assert stored.rows_of({row.id: (row.object, row.subject, 1)}) == [], "nothing joins them that way"
        assert stored.rows_of({5: (row.subject, row.object, 1), 6: (77, row.object, 1)}) == [], "there is no such id"


@pytest.mark.parametrize("damaged", [b"\x00\x03\x00", b"\x03" + zlib.compress(bytes(99), wbits=-15), b"\x01", b""])
def test_a_row_that_is_not_whole_is_told(damaged: bytes) -> None:
    row = ContentsRow(7, "", "", b"", b"", b"", b"", b"", b"ab", b"", b"", b"", b"xyz", b"", b"1")
    *others, packed = row.stored()
    assert ContentsRow.of_stored(row.stored()) == row
    with pytest.raises(ValueError, match="document 7"):
        ContentsRow.of_stored([*others, damaged])
    assert isinstance(packed, bytes)
    short = zlib.compress(zlib.decompress(packed[1:], -15)[:-1], wbits=-15)
    with pytest.raises(ValueError, match="not whole"):
        ContentsRow.of_stored([*others, packed[:1] + short])


def test_dates_of_a_document_are_read_once() -> None:
    db, graph = tables("It rose.")
    told = [(0, n, 1, Relation("", "", "", "", 1.0, f"c. {n}")) for n in range(4000)]
    fill(graph, db, document(1, told, 2))
    began = time.process_time()
    assert {row.date for row in StoredRelations(db).all()} == {f"c. {n}" for n in range(4000)}
    assert time.process_time() - began < 2


def test_a_relation_that_very_many_state() -> None:
    """One document more or less is added or taken away; what the others say of it is read at once, or not at all."""
    db, graph = tables(*["It rose."] * 3001)
    held = [document(n, [(0, 0, 1, Relation("", "", "", "It rose.", 1.0))], 2) for n in range(1, 3001)]
    fill(graph, db, *held)
    more = document(3001, [(0, 0, 1, Relation("", "", "", "It rose.", 1.5))], 2)
    began = time.process_time()
    graph.change([], [more], shown=lambda _: None, common=lambda _: False)
    [row] = StoredRelations(db).all()
    assert (row.weight, row.document, len(row.told)) == (3_001_500_000, None, 1)
    graph.change(held[:1], [], shown=lambda _: None, common=lambda _: False)
    [row] = StoredRelations(db).all()
    assert (row.weight, row.told) == (3_000_500_000, ((2, 0),))
    assert time.process_time() - began < 3
    graph.change([*held[1:]], [], shown=lambda _: None, common=lambda _: False)
    [row] = StoredRelations(db).all()
    assert (row.weight, row.document, row.place) == (1_500_000, 3001, 0)
    assert not db.execute("SELECT 1 FROM graph_shared_relations UNION SELECT 1 FROM graph_statements").fetchall()
    fresh_db, fresh = tables(*["It rose."] * 3001)
    fill(fresh, fresh_db, more)
    assert read_graph(db) == read_graph(fresh_db)
    assert np.array_equal(all_joining(db).weights, all_joining(fresh_db).weights)
