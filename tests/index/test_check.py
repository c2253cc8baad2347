"""Each thing that must hold of an index is broken on purpose, and is reported."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from ragways.core.errors import NoIndex
from ragways.index.build import build, remove
from ragways.index.folder import FORMAT, FORMAT_MARK
from ragways.index.graph.document_statements import ContentsRow, PackedStatements, contents_rows
from ragways.index.health import Health
from ragways.index.health import check as look
from ragways.index.layer import Finding
from ragways.index.reader import Index
from ragways.index.segment_ids import SegmentIds
from ragways.index.segments import SegmentDocuments
from ragways.index.status import layer_status
from ragways.index.store import number_of, path_of
from ragways.index.words import Words
from ragways.index.work_cache import WorkCache
from tests.fakes import Sections, recipe, reseal, write

DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne. She came from Dunmarrow in 1801.\n",
    "port.md": "# Port Averne\n\nPort Averne is on the Lanner Sound.\n\n## Light\n\nThe Harbour Light is there.\n",
    "storm.md": "# Storm\n\nThe storm of 1883 destroyed the [Harbour Light](harbour.md). Anna Brack saw it.\n",
}
ALL = frozenset({"vectors", "words", "graph", "communities"})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with nothing wrong, to be copied and broken."""
    folder = tmp_path_factory.mktemp("sound")
    settings: Sections = {"graph": {"vectors": "shared"}, "communities": {}}
    asyncio.run(build(folder / "index", [write(folder / "docs", DOCS)], recipe(layers=ALL, settings=settings)))
    return folder / "index"


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "index"))


def check(index: Path) -> Health:
    """What is found where all checksums fit, as if what is broken had been written so."""
    reseal(index)
    return look(index)


def sql(path: Path, *statements: str) -> None:
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def restate(index: Path, change: Callable[[ContentsRow], ContentsRow]) -> None:
    """Have other rows of what documents hold."""
    db = sqlite3.connect(index / "index.sqlite")
    rows = [change(row).stored() for some in contents_rows(db) for row in some]
    db.execute("DELETE FROM graph_contents")
    db.executemany(f"INSERT INTO graph_contents VALUES ({', '.join('?' * len(rows[0]))})", rows)
    db.commit()
    db.close()


def derived(index: Path) -> Path:
    return index / "derived" / "1"


def errors(index: Path) -> list[str]:
    health = check(index)
    assert not health.fit
    return [finding.name for finding in health.findings if finding.severity == "error"]


def the(index: Path, name: str) -> Finding:
    found = [finding for finding in check(index).findings if finding.name == name]
    assert len(found) == 1, check(index).findings
    assert found[0].cure
    assert found[0].example
    return found[0]


def test_a_sound_index_has_no_finding(index: Path):
    health = check(index)
    assert health.fit
    assert [finding for finding in health.findings if finding.severity == "error"] == []
    assert health.figures["entities"] > 3
    assert 0 <= health.figures["isolated_share"] < 0.5


def test_looking_changes_nothing(index: Path):
    before = {path: path.read_bytes() for path in index.rglob("*") if path.is_file()}
    check(index)
    assert {path: path.read_bytes() for path in before} == before


def test_an_empty_index_is_sound(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    asyncio.run(build(tmp_path / "index", [tmp_path / "docs"], recipe()))
    assert check(tmp_path / "index").findings == ()


def test_no_index(tmp_path: Path):
    with pytest.raises(NoIndex):
        check(tmp_path)


BROKEN_STORE = {
    "parts without their document": "INSERT INTO chunks VALUES (7, 0, 's0:p0:c0', 0, 1, 1, X'00')",
    "parts outside their document's text": "UPDATE documents SET sentences = X'080000100000'",
    "parts out of order": "UPDATE documents SET sentences = X'1004000201'",
    "parts without the part they lie in": "DELETE FROM paragraphs WHERE ordinal = 0",
    "chunks whose text is not the one they were made from": "UPDATE documents SET text = replace(text, 'Anna', 'Emma')",
    "cannot be checked: parts of documents": "UPDATE documents SET sentences = X'0000'",
    "a removal that did not end": "INSERT OR REPLACE INTO meta VALUES ('forget', 'yes')",
    "no derived files of this generation": "UPDATE meta SET value = '9' WHERE key = 'generation'",
}


@pytest.mark.parametrize("name", BROKEN_STORE)
def test_a_broken_store(index: Path, name: str):
    sql(index / "index.sqlite", BROKEN_STORE[name])
    assert the(index, name).severity == "error"


def test_links_of_documents_that_are_gone(index: Path):
    sql(index / "index.sqlite", "INSERT INTO links VALUES (5, 0, 0, 1, 'X', 'x')")
    assert the(index, "parts without their document").example == "article:5 (links at 0)"


NEW_ENTITY = "INSERT INTO graph_entities VALUES (500, 'X', '', 1, '', NULL, '[{},{},{}]')"
BROKEN_GRAPH = {
    "relations of entities that are not there": "INSERT INTO graph_shared_relations VALUES (5, 9, 9, 0, 1, '', '[]')",
    "graph: documents whose descriptions of relations are not there": "DELETE FROM graph_texts",
    "mentions of entities that are not there": "UPDATE graph_contents SET entities = zeroblob(length(entities))",
    "relations that are kept otherwise than documents state them": "INSERT INTO graph_statements VALUES (5, 5)",
    "graph: documents whose chunks, mentions and statements do not fit": "UPDATE graph_contents SET counts = x'010101'",
    "names of entities that are not there": "INSERT INTO graph_names VALUES ('x', 9999, 1, 0)",
    "merges into entities that are not there": "INSERT INTO graph_merges VALUES (9999, 'a', 'alias', 'b', 1)",
    "graph: chunks that are not in the index": "UPDATE graph_contents SET chunks = 's99' || chunks",
    "arrays of other entities than the graph's": NEW_ENTITY,
    "arrays of other relations than the graph's": "INSERT INTO graph_shared_relations SELECT 5, id, id, 0, 1, '', '[]' "
    "FROM graph_entities LIMIT 1",
}


MISPLACED = (
    "INSERT INTO graph_shared_relations SELECT 5, id, id, 0, 1, '', '[]' FROM graph_entities LIMIT 1",
    "INSERT INTO graph_statements VALUES (5, 5)",
)


@pytest.mark.parametrize("change", MISPLACED)
def test_relations_that_are_not_where_they_should_be(index: Path, change: str):
    sql(index / "index.sqlite", change)
    assert the(index, "relations that are kept otherwise than documents state them").severity == "error"


def test_ends_of_relations_that_are_the_other_way_round(index: Path):
    restate(index, lambda row: row._replace(subjects=row.objects, objects=row.subjects))
    assert the(index, "arrays of other relations than the graph's").severity == "error"


def test_arrays_that_tell_of_another_document(index: Path):
    file = index / "derived" / "1" / "graph-chunks-documents.npy"
    np.save(file, np.roll(np.load(file), 1))
    assert the(index, "arrays have relations of other documents").severity == "error"


def test_what_documents_state_is_damaged(index: Path):
    sql(index / "index.sqlite", "UPDATE graph_contents SET statements = zeroblob(length(statements))")
    assert any(name.startswith("cannot be checked: ") for name in errors(index))


UNFIT: tuple[Callable[[ContentsRow], ContentsRow], ...] = (
    lambda row: row._replace(stated=row.stated + bytes(2)),
    lambda row: row._replace(weights=row.weights + bytes(1)),
    lambda row: row._replace(predicates=row.predicates + bytes(1)),
    lambda row: row._replace(subjects=b"z" * len(row.subjects)),
    lambda row: row._replace(times=bytes(len(row.subjects) + 1)),
    lambda row: row._replace(objects=b""),
)


@pytest.mark.parametrize("change", UNFIT)
def test_rows_of_documents_that_do_not_fit(index: Path, change: Callable[[ContentsRow], ContentsRow]):
    restate(index, change)
    assert the(index, "graph: documents whose chunks, mentions and statements do not fit").severity == "error"


@pytest.mark.parametrize("name", BROKEN_GRAPH)
def test_a_broken_graph(index: Path, name: str):
    sql(index / "index.sqlite", BROKEN_GRAPH[name])
    assert the(index, name).severity == "error"


def test_links_to_nodes_that_are_none(index: Path):
    change(derived(index) / "graph-nodes-links-nodes.npy", lambda nodes: nodes + 10_000)
    assert the(index, "graph-nodes: not the nodes of the graph").severity == "error"


@pytest.mark.parametrize("move", [lambda held: held + 10_000, lambda held: held[::-1].copy(), lambda held: held * 0])
@pytest.mark.parametrize(("rows", "end"), [("subject_of", "subjects"), ("object_of", "objects")])
def test_relations_in_the_rows_of_other_entities(
    index: Path, rows: str, end: str, move: Callable[[np.ndarray], np.ndarray]
):
    change(derived(index) / f"graph-entities-{rows}-relations.npy", move)
    assert the(index, f"graph-entities: not the {end} of relations").severity == "error"


BROKEN_COMMUNITIES = {
    "communities whose parent is not there": "UPDATE communities SET parent = 99",
    "members of communities that are not there": f"UPDATE community_slices SET slice = slice + {99 << 32}",
    "communities that have other members than they say": "UPDATE communities SET size = size + 1",
    "reports of communities that are not there": "UPDATE communities SET id = id + 1",
    "communities of entities that are not there": "DELETE FROM graph_entities",
    "members that are not found in their communities": "DELETE FROM community_buckets",
    "vectors of communities that are not there": "DELETE FROM community_reports",
}


UNFIT_MEMBERS = (
    "UPDATE community_slices SET members = zeroblob(length(members))",
    "UPDATE community_slices SET members = CAST(members || zeroblob(1) AS BLOB)",
    "UPDATE community_slices SET strengths = CAST(strengths || zeroblob(1) AS BLOB)",
    f"UPDATE community_slices SET slice = slice + {(1 << 32) - 1}",
    "UPDATE community_slices SET members = x'', strengths = x''",
)


@pytest.mark.parametrize("change", UNFIT_MEMBERS)
def test_members_of_communities_that_cannot_be_read(index: Path, change: str):
    sql(index / "index.sqlite", change)
    name = "members of communities that are kept otherwise than they are read"
    assert the(index, name).severity == "error"


@pytest.mark.parametrize("name", BROKEN_COMMUNITIES)
def test_broken_communities(index: Path, name: str):
    sql(index / "index.sqlite", BROKEN_COMMUNITIES[name])
    assert the(index, name).severity == "error"


def test_a_finding_that_rests_on_an_entity_that_is_not_there(index: Path):
    sql(index / "index.sqlite", 'UPDATE community_reports SET findings = \'[["x", 1.0, ["entity:0000000000000001"]]]\'')
    found = the(index, "communities of entities that are not there")
    assert found.example.endswith(": entity:0000000000000001")


TWO = "(SELECT id FROM graph_entities ORDER BY id LIMIT 2)"


def test_duplicate_entities_are_a_warning(index: Path):
    sql(
        index / "index.sqlite",
        f"UPDATE graph_names SET name = 'twin' WHERE entity IN {TWO} AND own = 1",
        f"UPDATE graph_entities SET type = 'place' WHERE id IN {TWO}",
    )
    assert the(index, "entities with the same name and type").severity == "warning"


def test_entities_that_stand_alone_are_a_warning(index: Path):
    nothing = PackedStatements("", *[b""] * 6)
    restate(
        index,
        lambda row: ContentsRow(
            row.document, row.chunks, "", row.named, row.counts, bytes(len(row.stated)), b"", row.entities, *nothing[1:]
        ),
    )
    sql(index / "index.sqlite", "DELETE FROM graph_shared_relations")
    health = check(index)
    assert health.figures["isolated_share"] == 1
    assert [f.severity for f in health.findings if "stand alone" in f.name] == ["warning"]


def test_vectors_of_entities_that_are_gone(index: Path):
    change(derived(index) / "entities" / "1" / "documents.npy", lambda numbers: numbers + 1)
    assert "vectors of entities that are not there" in errors(index)


def test_sketches_and_rows_of_entities_that_are_others(index: Path):
    segment = derived(index) / "entities" / "1"
    change(segment / "sketches.npy", lambda words: words[:, ::-1])
    assert "entities: sketches of other vectors" in errors(index)
    change(segment / "documents.npy", lambda numbers: numbers[::-1])
    assert "entities, segment 1: ids not in their order" in errors(index)
    change(segment / "rows.npy", lambda rows: rows[1:])
    assert "entities, segment 1: rows and ids differ" in errors(index)


def change(path: Path, how: Callable[[np.ndarray], np.ndarray]) -> None:
    np.save(path, how(np.load(path)))


def vectors(index: Path) -> Path:
    """The one segment of vectors."""
    return derived(index) / "vectors" / "1"


def rename(index: Path, how: Callable[[list[str]], list[str]]) -> list[str]:
    """Change the ids of vectors; gives those that were."""
    ids = list(SegmentIds.load(vectors(index)))
    others = how(ids)
    documents = SegmentDocuments.of((number, len(list(some))) for number, some in groupby(map(number_of, others)))
    documents.save(vectors(index))
    SegmentIds.of(documents, map(path_of, others)).save(vectors(index))
    return ids


def test_a_chunk_without_its_vector(index: Path):
    ids = rename(index, lambda ids: ids[:-1])
    assert the(index, "chunks without a vector").example == ids[-1]


def test_rows_and_ids_that_differ(index: Path):
    change(vectors(index) / "rows.npy", lambda rows: rows[:-1])
    assert the(index, "segment 1: rows and ids differ").severity == "error"


def test_chunks_and_documents_of_a_segment_that_differ(index: Path):
    change(vectors(index) / "documents.ends.npy", lambda ends: ends[:-1])
    assert "do not belong together" in the(index, "cannot be checked: vectors of chunks").example


def test_documents_of_a_segment_that_are_not_in_their_order(index: Path):
    change(vectors(index) / "documents.npy", lambda numbers: numbers[::-1])
    assert the(index, "segment 1: documents not in their order").count == 2


def test_paths_that_are_not_there(index: Path):
    change(vectors(index) / "paths.npy", lambda paths: paths[:1])
    assert "IndexError" in the(index, "cannot be checked: vectors of chunks").example


def test_two_vectors_of_a_chunk(index: Path):
    ids = rename(index, lambda ids: [ids[1], *ids[1:]])
    assert the(index, "chunks with two vectors").example == ids[1]


def test_sketches_of_other_vectors(index: Path):
    def spoil(words: np.ndarray) -> np.ndarray:
        words[0, 2] ^= np.uint64(1)
        return words

    change(vectors(index) / "sketches.npy", spoil)
    finding = the(index, "sketches of other vectors")
    assert (finding.count, finding.example) == (1, SegmentIds.load(vectors(index))[2])


def test_recall_is_among_the_figures(index: Path):
    assert look(index).figures["recall_at_10"] == 1


def test_vectors_that_are_no_numbers_or_too_long(index: Path):
    def spoil(rows: np.ndarray) -> np.ndarray:
        scales = rows[:, -4:].copy().view("<f4")  # what makes each row of length 1, in its last four bytes
        scales[0] = np.nan
        scales[1] *= 1.01
        rows[:, -4:] = scales.view(np.int8)
        return rows

    change(vectors(index) / "rows.npy", spoil)
    assert the(index, "vectors: vectors that are no numbers").count == 1
    assert the(index, "vectors: vectors not of length 1").count == 1


def test_vectors_of_a_document_that_is_gone(index: Path):
    rename(index, lambda ids: ["article:3:s0:p0:c0", *ids[1:]])
    assert {"vectors of chunks that are not there", "vectors: vectors of documents that are gone"} <= set(errors(index))


def test_a_vector_that_is_not_kept(index: Path):
    hash = sqlite3.connect(index / "index.sqlite").execute("SELECT hash FROM chunks").fetchone()[0]
    sql(index / "work_cache.sqlite", f"DELETE FROM vectors WHERE hash = '{hash.hex()}'")
    assert the(index, "chunks whose vector is not kept").count == 1


def test_nothing_is_kept_at_all(index: Path):
    for file in index.glob("work_cache.sqlite*"):
        file.unlink()
    assert "chunks whose vector is not kept" in errors(index)
    assert not (index / "work_cache.sqlite").exists()


def test_vectors_that_nothing_uses_are_a_warning(index: Path):
    work_cache = WorkCache(index)
    work_cache.keep("word-hashes", {"left-over": np.ones(32, np.float32)})
    work_cache.keep("another", {"of another embedder": np.ones(32, np.float32)})
    work_cache.close()
    health = check(index)
    assert health.fit
    assert the(index, "kept vectors that nothing uses").count == 2
    assert health.figures["unused_vectors"] == 2


def test_after_a_removal_nothing_is_left_over(index: Path):
    asyncio.run(remove(index, ["Storm"]))
    health = check(index)
    assert health.fit
    assert "unused_vectors" not in health.figures


def test_words_of_other_chunks(index: Path):
    folder = derived(index) / "words"
    shutil.rmtree(folder)
    Words.build(folder, [("article:1:s0:p0:c0", "something else")])
    assert {"words and chunks differ in number", "chunks not found by their words"} <= set(errors(index))


def test_words_that_are_gone(index: Path):
    folder = derived(index) / "words"
    shutil.rmtree(folder)
    folder.mkdir()
    assert the(index, "no index of words").severity == "error"
    assert list(folder.iterdir()) == []


def test_failed_work_is_listed_and_makes_unfit_where_it_is_much(index: Path):
    work_cache = WorkCache(index)
    work_cache.keep_results("facts:x", {str(n): "{}" for n in range(99)})
    work_cache.keep_failure("facts:x", "abc", "the reply was no JSON", "sorry")
    health = check(index)
    assert health.fit
    few = the(index, "failed work: facts:x")
    assert (few.severity, few.count) == ("warning", 1)
    assert "the reply was no JSON" in few.example
    for n in range(20):
        work_cache.keep_failure("facts:x", f"more {n}", "the reply was no JSON")
    work_cache.close()
    assert the(index, "failed work: facts:x").severity == "warning", "of an earlier build, with another model"
    sql(index / "index.sqlite", "INSERT OR REPLACE INTO meta VALUES ('graph_kind', 'facts:x')")
    assert the(index, "failed work: facts:x").severity == "error"


def test_a_damaged_file_is_a_finding_and_the_rest_is_still_checked(index: Path):
    for file in derived(index).glob("graph-*.npy"):
        file.write_bytes(b"\xff" * file.stat().st_size)
    sql(index / "index.sqlite", BROKEN_STORE["parts outside their document's text"])
    names = errors(index)
    assert any(name.startswith("cannot be checked: ") for name in names)
    assert "parts outside their document's text" in names


def test_a_layer_whose_files_are_gone(index: Path):
    (vectors(index) / "rows.npy").unlink()
    assert any(name.startswith("cannot be checked: vectors of chunks") for name in errors(index))


def test_the_cure_for_derived_files_cures(index: Path):
    change(vectors(index) / "rows.npy", lambda rows: rows[:-1])
    change(derived(index) / "graph-entities-ids.npy", np.zeros_like)
    assert {finding.cure for finding in check(index).findings if finding.severity == "error"} == {
        f"remove the folder {derived(index)}: it is made anew when the index is next used"
    }
    shutil.rmtree(derived(index))
    assert errors(index) == ["no derived files of this generation"]
    Index.open(index).close()
    assert check(index).fit


def test_files_of_an_earlier_version_are_not_looked_into(index: Path):
    """Neither are the rows in the store that went with them; whoever opens the index makes both anew."""
    forget = "DELETE FROM meta WHERE key = 'graph_meant'"
    sql(index / "index.sqlite", "ALTER TABLE graph_contents DROP COLUMN statements", forget)
    reseal(index)
    listed = derived(index) / f"{FORMAT_MARK}{FORMAT}"
    listed.rename(listed.with_name(f"{FORMAT_MARK}1"))
    (vectors(index) / "documents.ends.npy").unlink()
    change(vectors(index) / "documents.npy", lambda numbers: np.stack([numbers, numbers]))
    (derived(index) / "graph-entities.json").write_text('{"rows": 1, "capacity": 1, "values": {}}')
    [found] = look(index).findings
    assert (found.name, found.severity) == ("files of an earlier version, which are not looked into", "warning")
    assert {status.name: status.rows for status in layer_status(index) if status.built}["vectors"] == 0
    Index.open(index).close()
    assert check(index).findings == ()
