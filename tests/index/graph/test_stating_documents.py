"""Who states a relation is found by the arrays of before, or without them: whatever came and went, rows are those of a
fresh fill.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.types import content_hash
from ragways.index import checksums
from ragways.index.graph import kept_facts, layer, relation_rows, stating_documents, tables, updates
from ragways.index.graph.data import DocumentGraph
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.graph_tables import GraphTables
from ragways.index.graph.stated_columns import stated_among
from ragways.index.graph.stating_documents import DocumentsNow, stating_now
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.graph.tables import write_arrays
from ragways.index.health import check
from ragways.index.reader import Index
from tests.fakes import reseal
from tests.index.graph import test_graph_tables as made
from tests.index.graph.graph_data import laid_down
from tests.index.graph.graph_fakes import graph_of, rows, run, write
from tests.index.graph.plain_arrays import told
from tests.index.graph.test_graph_tables import NUMBERS, documents, nothing, stating

OLD_TABLE = "graph_relation_places"


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much changes, and of however little, it is changed; and by one document after the other."""
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(updates, "_AT_ONCE", 1)


Step = list[DocumentGraph | int]


class _Graph:
    """The tables of a graph, and the folders of arrays that they had."""

    def __init__(self, place: Path, *held: DocumentGraph) -> None:
        self.db, graph = made.tables()
        self._place, self._count = place, 0
        self.held = {document.number: document for document in held}
        graph.fill(laid_down(self.db, held), shown=nothing, common=bool)
        self.folder = self.write(None)

    def write(self, touched: Touched | None) -> Path:
        folder = self._place / f"{self._count}"
        folder.mkdir()
        write_arrays(self.db, folder, None if touched is None else self.folder, touched)
        self._count += 1
        return folder

    def run(self, *steps: Step, before: Path | None) -> GraphTables:
        """A run: each step puts documents, or takes away those of numbers."""
        graph = GraphTables(self.db, before)
        for step in steps:
            numbers = [each if isinstance(each, int) else each.number for each in step]
            new = [each for each in step if not isinstance(each, int)]
            old = [self.held.pop(number) for number in numbers if number in self.held]
            graph.change(old, new, shown=nothing, common=bool)
            self.held |= {document.number: document for document in new}
        return graph

    def compare(self, graph: GraphTables) -> None:
        """With a fresh fill, in rows and in arrays."""
        db, fresh = made.tables()
        with closing(db):
            fresh.fill(laid_down(db, self.held.values()), shown=nothing, common=bool)
            assert made.rows(self.db) == made.rows(db)
        touched = graph.touched
        assert touched is not None
        stored = sorted(StoredRelations(self.db).all())
        alone = {row.id: row.document for row in stored if row.document is not None}
        assert {id: alone[id] for id in touched.relations & alone.keys()} == touched.alone
        for found in (stating_now(self.db, self.folder, touched), DocumentsNow(self.db)):
            answer = found.of([row.id for row in stored] + [77])
            assert answer is not None
            assert answer.items() >= alone.items()
            assert 77 not in answer
            assert StoredRelations(self.db, found).rows([row.id for row in stored]) == stored
        self.folder = self.write(touched)
        whole = self._place / f"whole{self._count}"
        whole.mkdir()
        write_arrays(self.db, whole)
        assert told(self.folder, self.db) == told(whole, self.db)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_history_with_and_without_arrays_leaves_what_a_fresh_fill_would(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "LARGE", 0)
        graph = _Graph(Path(place), *(data.draw(documents(number)) for number in data.draw(st.sets(NUMBERS))))
        for _ in range(data.draw(st.integers(1, 3))):
            numbers = data.draw(st.lists(NUMBERS, min_size=1, max_size=4, unique=True))
            come = [data.draw(documents(number)) if data.draw(st.booleans()) else number for number in numbers]
            size = data.draw(st.integers(1, 4))
            steps = [come[at : at + size] for at in range(0, len(come), size)]
            graph.compare(graph.run(*steps, before=graph.folder if data.draw(st.booleans()) else None))
        graph.db.close()


SHARED = "SELECT id FROM graph_shared_relations"


@pytest.mark.parametrize("with_arrays", [True, False])
def test_what_an_untouched_document_states_is_shared_when_another_states_it(tmp_path: Path, with_arrays: bool) -> None:
    graph = _Graph(tmp_path, stating(1, "It rose."))
    steps: list[Step] = [[stating(2, "A board.")], [2], [stating(2, "")], [1], [stating(1, "It rose."), 2]]
    for step in steps:
        before = graph.folder if with_arrays else None
        graph.compare(graph.run(step, before=before))
        assert len(graph.db.execute(SHARED).fetchall()) == (len(graph.held) > 1)


@pytest.mark.parametrize("with_arrays", [True, False])
def test_a_run_of_several_steps_knows_what_each_of_them_did(tmp_path: Path, with_arrays: bool) -> None:
    graph = _Graph(tmp_path, stating(1, "It rose."), stating(2, "A board."))
    runs: list[list[Step]] = [
        [[1], [stating(3, "")], [2]],  # shared, by others, and by one that has come
        [[stating(4, "It sank.")], [3], [stating(1, "It rose.")]],
        [[1, 4], [stating(2, "")]],  # nobody, then another
        [[stating(2, "", "A board.")], [stating(3, "")], [3], [2], [stating(4, "It sank.")]],
    ]
    for steps in runs:
        graph.compare(graph.run(*steps, before=graph.folder if with_arrays else None))


def test_arrays_of_another_state_do_no_harm(tmp_path: Path) -> None:
    """They name a document that does not state the relation: all documents are looked at."""
    graph = _Graph(tmp_path, stating(1, "It rose."))
    wrong = graph.folder
    graph.compare(graph.run([stating(2, "A board.")], [1], before=graph.folder))
    graph.compare(graph.run([stating(3, "")], before=wrong))
    assert len(graph.db.execute(SHARED).fetchall()) == 1


def test_a_change_with_arrays_reads_no_document_that_states_other_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = _Graph(tmp_path, stating(1, "It rose."), stating(4))
    asked: list[object] = []
    real = stated_among

    def listen(db: sqlite3.Connection, names: object, ids: object, documents: object = None) -> object:
        asked.append(documents)
        return real(db, names, ids, documents)  # type: ignore[arg-type]

    monkeypatch.setattr(relation_rows, "stated_among", listen)
    monkeypatch.setattr(stating_documents, "own_relations", None)
    graph.run([stating(2, "A board.")], [stating(3, "")], before=graph.folder)
    assert asked == [{1}, set()], "where several state it, and no date is told, its row tells all"


# Whole indexes

ARTICLES = {
    "Oriel Tamsett": "Oriel Tamsett built the Pier of Saltrey. He met Ilsabet Corran in Saltrey.",
    "Tide": "The tide rises. Otto Brack left Saltrey in 1868.",
}
SAME = "Oriel Tamsett built the Pier of Saltrey."


def _state(index: Path) -> object:
    graph = graph_of(index)
    with closing(graph):
        return rows(graph), told(graph._folder, graph._db)


def _same_as_fresh(index: Path, corpus: Path, fresh: Path) -> None:
    run(fresh, corpus)
    assert _state(index) == _state(fresh)
    assert not [each.name for each in check(index).findings if each.severity == "error"]


def _shared(index: Path) -> int:
    with closing(sqlite3.connect(index / "index.sqlite")) as db:
        return len(db.execute(SHARED).fetchall())


@pytest.mark.parametrize("derived", ["there", "removed", "made again", "of another format"])
def test_a_second_article_that_states_the_same(tmp_path: Path, derived: str) -> None:
    index, corpus = tmp_path / "index", write(tmp_path / "corpus", ARTICLES)
    run(index, corpus)
    before = _shared(index)
    if derived in ("removed", "made again"):
        shutil.rmtree(index / "derived")
    if derived == "made again":
        Index.open(index).close()
    if derived == "of another format":
        [mark] = (index / "derived" / "1").glob("format-*")
        mark.rename(mark.with_name("format-0"))
    run(index, write(corpus, {"Notes": SAME}))
    assert _shared(index) > before
    _same_as_fresh(index, corpus, tmp_path / "fresh")
    (corpus / "Notes.json").unlink()
    run(index, corpus)
    assert _shared(index) == before
    _same_as_fresh(index, corpus, tmp_path / "fresh again")


def test_a_run_that_was_killed_before_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its derived folder is there, and is not that of the store."""
    index, corpus = tmp_path / "index", write(tmp_path / "corpus", ARTICLES)
    run(index, corpus)
    write(corpus, {"Notes": SAME})
    with monkeypatch.context() as patch:
        patch.setattr("ragways.index.store.Store.commit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(index, corpus)
    assert (index / "derived" / "2").is_dir()
    write(corpus, {"Oriel Tamsett": "Nothing is known.", "Pier Hotel": SAME})
    run(index, corpus)
    _same_as_fresh(index, corpus, tmp_path / "fresh")


def test_rows_made_by_means_of_damaged_arrays_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays tell of no relation, and that they are damaged is found when they have been read."""
    index, corpus = tmp_path / "index", write(tmp_path / "corpus", ARTICLES)
    run(index, corpus)
    with monkeypatch.context() as patch:
        for limit in ("COMPARED", "DRAWN"):
            patch.setattr(checksums, limit, 0)
        patch.setattr(tables, "LARGE", 5000)  # so that no file of before is linked
        patch.setattr(stating_documents.ArrayDocuments, "of", lambda *_: {})
        file = index / "derived" / "1" / "graph-relations-ids.npy"
        held = file.read_bytes()
        file.write_bytes(held[:-1] + bytes([held[-1] ^ 1]))
        run(index, write(corpus, {"Notes": SAME}))
    _same_as_fresh(index, corpus, tmp_path / "fresh")


def test_an_index_that_kept_it_in_the_store_goes_on_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, corpus = tmp_path / "index", write(tmp_path / "corpus", ARTICLES)
    with monkeypatch.context() as patch:
        patch.setattr(layer, "_FORMAT", layer._FORMAT_BEFORE)
        run(index, corpus)
    secret = b"what it kept there"
    with closing(sqlite3.connect(index / "index.sqlite")) as db:
        db.execute(f"CREATE TABLE {OLD_TABLE} (bucket INTEGER PRIMARY KEY, held BLOB NOT NULL)")
        db.executemany(f"INSERT INTO {OLD_TABLE} VALUES (?, ?)", [(n, secret * 30) for n in range(100)])
        db.commit()
    reseal(index)
    with closing(graph_of(index)) as graph:
        assert graph.relations(graph.relation_arrays.names(graph.relation_arrays.all_numbers()))
    assert secret in (index / "index.sqlite").read_bytes()
    monkeypatch.setattr(updates, "fill_graph", None)  # it is not made anew
    run(index, write(corpus, {"Notes": SAME}))
    assert secret not in (index / "index.sqlite").read_bytes()
    with closing(sqlite3.connect(index / "index.sqlite")) as db:
        assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (OLD_TABLE,)).fetchone()
        (known,) = db.execute("SELECT value FROM meta WHERE key = 'graph_meant'").fetchone()
    assert known == f"{content_hash(layer._FORMAT, 'rules', 'False')} 2", "an earlier version makes it anew"
    monkeypatch.undo()
    _same_as_fresh(index, corpus, tmp_path / "fresh")


@pytest.mark.parametrize("name", ["graph-relations-ids", "graph-relations-stating-bounds", "graph-chunks-documents"])
@pytest.mark.parametrize("large", [0, 5000])
def test_arrays_that_cannot_be_opened_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, large: int
) -> None:
    """Damage in blocks that were not drawn to be compared: all is made anew."""
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(tables, "LARGE", large)
    index, corpus = tmp_path / "index", write(tmp_path / "corpus", ARTICLES)
    run(index, corpus)
    with monkeypatch.context() as few:
        few.setattr(checksums, "COMPARED", 0)
        few.setattr(checksums, "DRAWN", 0)
        file = index / "derived" / "1" / f"{name}.npy"
        file.write_bytes(bytes(80) + file.read_bytes()[80:])
        run(index, write(corpus, {"Notes": SAME}))
    run(tmp_path / "fresh", corpus)
    assert _state(index) == _state(tmp_path / "fresh")


def test_without_arrays_all_documents_are_gone_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not for each of the batches that are changed together."""
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(updates, "_AT_ONCE", 1)
    articles = {f"Doc {n}": f"Otto Brack {n} left Saltrey. Oriel Tamsett met Otto Brack {n}." for n in range(20)}
    corpus = write(tmp_path / "corpus", articles)
    run(tmp_path / "index", corpus)
    asked = list[object]()

    def counted(db, predicates, relations, documents=None):
        asked.append(documents)
        return stated_among(db, predicates, relations, documents)

    monkeypatch.setattr(relation_rows, "stated_among", counted)
    write(corpus, {title: f"{articles[title]} Ilsabet Corran saw Otto Brack." for title in [*articles][:5]})
    shutil.rmtree(tmp_path / "index" / "derived")
    run(tmp_path / "index", corpus)
    assert len(asked) >= 5
    assert None not in asked
