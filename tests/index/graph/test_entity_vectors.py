"""Vectors of entities and relations: a change writes what it changes, and leaves what a fresh build would have."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import BudgetExceeded
from ragways.index import numbered_vectors, segments, sketches
from ragways.index.build import remove
from ragways.index.folder import writing
from ragways.index.graph import kept_facts, updates
from ragways.index.graph.data import DocumentGraph, EntityShare
from ragways.index.graph.embedded import see_to_texts
from ragways.index.graph.graph_tables import GraphTables
from ragways.index.numbered_vectors import NumberedVectors
from ragways.index.packed import pack
from ragways.index.work_cache import WorkCache
from tests.index.graph.graph_data import laid_down, read_graph
from tests.index.graph.graph_fakes import FakeEmbedder, graph_of, recipe, run, write
from tests.index.graph.test_graph_tables import NUMBERS, SHOWN, documents, tables

ARTICLES = {
    "Oriel Tamsett": "Oriel Tamsett was an engineer of the Harbour Board (HB). Tamsett built the pier in 1868.",
    "Harbour Board": "The Harbour Board is a company in Saltrey. HB was led by Tamsett and Ilsabet Corran.",
    "Ilsabet Corran (ship)": "Ilsabet Corran was a ship. It sank off Saltrey. Corran was lost.",
    "Ilsabet Corran": "Ilsabet Corran was a queen. Corran met Mr. Tamsett at the Pier Hotel.",
    "Saltrey": "Saltrey is an island. The tides of Saltrey were measured by Otto Tamsett.",
    "Pier": "{{Infobox building|name=Pier|architect=Oriel Tamsett|owner=Harbour Board}}\nThe Pier stands in Saltrey.",
}
NAMES = sorted(ARTICLES)
OTHER = "Saltrey is a town, where Ilsabet Corran and the Guild of Chartmakers met in 1901."


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of a corpus changes, the rest is taken over; segments are small, and searched by their sketches."""
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(numbered_vectors, "SEGMENT_ROWS", 4)
    monkeypatch.setattr(segments, "_SMALL", 2)
    monkeypatch.setattr(sketches, "EXACT_ROWS", 3)
    monkeypatch.setattr(sketches, "CANDIDATES", 3)
    monkeypatch.setattr(sketches, "_FOR_EACH", 1)


def rows_of(vectors: NumberedVectors | None) -> dict[str, bytes]:
    return (
        {} if vectors is None else {id: vectors.matrix.take([n]).packed.tobytes() for n, id in enumerate(vectors.ids)}
    )


def state(index: Path) -> dict[str, Any]:
    """All that is held of vectors, in whatever order, and what they find."""
    with closing(graph_of(index)) as graph, closing(sqlite3.connect(index / "work_cache.sqlite")) as cache:
        asked = asyncio.run(FakeEmbedder().embed(["the Harbour Board of Saltrey"]))[0]
        tables = [row[0] for row in graph._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            "entities": rows_of(graph.vectors),
            "relations": rows_of(graph.relation_vectors),
            "found": [graph.nearest(asked, k, -1.0) for k in (1, 3, 50)],
            "kept": sorted(row[0] for row in cache.execute("SELECT hash FROM vectors")),
            **{
                table: graph._db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
                for table in tables
                if table in ("graph_named", "graph_times_named", "graph_entity_texts", "graph_relation_texts")
            },
        }


def expected(index: Path, *, every: bool) -> dict[str, bytes]:
    """The vectors of entities by their definition, from all rows of the graph."""
    with closing(graph_of(index)) as graph:
        data = read_graph(graph._db)
    named = Counter(mention.entity for mention in data.mentions)
    named.update(mention.entity for mention in data.mentions if mention.about)
    texts = {
        row.id: f"{row.name}: {row.description}" if row.description else row.name
        for row in data.entities
        if row.type not in ("date", "quantity") and (every or named[row.id] > 1)
    }
    vectors = pack(asyncio.run(FakeEmbedder().embed(list(texts.values()))))
    return {id: row.tobytes() for id, row in zip(texts, vectors, strict=True)}


@settings(max_examples=4, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(["toggle", "change", "remove"])), min_size=1, max_size=4
    ),
    st.sampled_from(["shared", "all"]),
    st.booleans(),
)
def test_after_any_changes_vectors_are_those_of_a_fresh_build(
    actions: list[tuple[str, str]], which: str, relations: bool
) -> None:
    made = recipe({"vectors": which, "relation_vectors": relations}, layers="graph vectors")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        corpus = write(place / "corpus", {"Tide": "The tide rises in Saltrey."})
        run(place / "index", corpus, made)
        for name, how in actions:
            file = corpus / f"{name}.json"
            if how == "remove" and file.exists():
                file.unlink()
                asyncio.run(remove(place / "index", [f"corpus/{name}.json"]))
            elif how == "toggle" and file.exists():
                file.unlink()
            else:
                write(corpus, {name: ARTICLES[name] if how == "toggle" else f"{OTHER} {ARTICLES[name]}"})
            run(place / "index", corpus, made)
        write(corpus, {"Tide": "The tide rises in Saltrey, and falls."})  # a removal embeds nothing; a run does
        run(place / "index", corpus, made)
        run(place / "fresh", corpus, made)
        assert state(place / "index") == state(place / "fresh")
        assert state(place / "index")["entities"] == expected(place / "index", every=which == "all")
        assert bool(state(place / "index")["relations"]) == relations


SEEN = {f"Notes {n}": f"In the evening {name} was seen." for n, name in enumerate(("Otto Brack", "Oriel Tamsett"))}


def test_a_run_in_several_batches_embeds_what_a_fresh_build_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A name that is new is told of with the first batch, and may come with a later one."""
    monkeypatch.setattr(updates, "_AT_ONCE", 1)
    made = recipe(layers="graph vectors")
    corpus = write(tmp_path / "corpus", {"Tide": "The tide rises."})
    run(tmp_path / "index", corpus, made)
    write(corpus, SEEN)
    run(tmp_path / "index", corpus, made)
    run(tmp_path / "fresh", corpus, made)
    assert state(tmp_path / "index") == state(tmp_path / "fresh")


def test_what_an_earlier_version_counted_wrongly_is_counted_again(tmp_path: Path):
    made = recipe(layers="graph vectors")
    corpus = write(tmp_path / "corpus", {"Tide": "The tide rises."} | SEEN)
    run(tmp_path / "index", corpus, made)
    with writing(tmp_path / "index", rebuild=False) as (store, _):
        store.db.execute("ALTER TABLE graph_times_named RENAME TO graph_named")
        store.db.execute("INSERT INTO graph_named SELECT id, 2 FROM graph_entities WHERE true ON CONFLICT DO NOTHING")
        store.commit()
    write(corpus, {"Tide": "The tide rises, and falls."})
    run(tmp_path / "index", corpus, made)
    run(tmp_path / "fresh", corpus, made)
    assert state(tmp_path / "index") == state(tmp_path / "fresh")
    assert not {"graph_named"} & set(state(tmp_path / "index"))


# Hashes of texts, by the tables alone


@st.composite
def naming(draw: st.DrawFn, number: int) -> DocumentGraph:
    """A document with chunks that name all of its entities, as real ones do."""
    made = draw(documents(number))
    about = draw(st.booleans())
    return replace(made, chunks=(*made.chunks, ("article:1:s9:p9:c9", dict.fromkeys(made.entities, (1, about)))))


HASHES = ("graph_times_named", "graph_entity_texts", "graph_relation_texts")


def hashes(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    return {table: db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in HASHES}


@settings(max_examples=30, deadline=None)
@given(st.data(), st.booleans())
def test_after_any_changes_the_hashes_of_texts_are_those_of_all_rows(data: st.DataObject, every: bool) -> None:
    held = {number: data.draw(naming(number)) for number in data.draw(st.sets(NUMBERS))}
    wanted: dict[str, Any] = {"vectors": True, "every": every, "relations": True}
    shown = data.draw(SHOWN)
    db, graph = tables()
    with closing(db):
        graph.fill(laid_down(db, held.values()), shown=shown.get, common=bool)
        see_to_texts(db, None, **wanted)
        for _ in range(data.draw(st.integers(1, 3))):
            before = hashes(db)
            gone = sorted(data.draw(st.sets(NUMBERS, min_size=1, max_size=2)))
            after = [data.draw(naming(number)) for number in gone if data.draw(st.booleans())]
            was_shown, shown = shown, data.draw(SHOWN)
            graph = GraphTables(db)
            graph.change(
                [held.pop(number) for number in gone if number in held],
                after,
                shown=shown.get,
                common=bool,
                renamed={name for name in shown.keys() | was_shown.keys() if shown.get(name) != was_shown.get(name)},
            )
            held |= {document.number: document for document in after}
            kinds = see_to_texts(db, graph.touched, **wanted)
            changed = hashes(db)
            see_to_texts(db, None, **wanted)
            assert changed == hashes(db)
            for kind, table in zip(kinds, HASHES[1:], strict=True):
                was, now = (dict(row[:2] for row in state[table]) for state in (before, changed))
                other = {id for id in was if was[id] != now.get(id)}
                assert kind.gone == other
                assert kind.freed == {was[id].hex() for id in other}
                freed = {hash.hex() for hash in was.values()}
                assert kind.used(freed) == {hash.hex() for hash in now.values()} & freed


# What a change looks at


def _never(*_: object) -> None:
    raise AssertionError("the whole work cache was looked through")


def corpus_of(place: Path, villages: int) -> Path:
    """Villages that have nothing to do with each other, and an article that names two of them."""
    texts = {
        f"Dorf{n}": f"Dorf{n} is a village near Burg{n}. Burg{n} is a castle. Otto Graf{n} lives there."
        for n in range(villages)
    }
    return write(place, texts | {"Guest": "Guest met Otto Graf1 in Dorf1. Guest wrote to Otto Graf2."})


@pytest.mark.parametrize("way", ["remove", "run"])
def test_a_removal_asks_the_work_cache_for_what_it_touches_alone(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_facts, "_MUCH", 1)
    asked: dict[int, Counter[str]] = {}
    for villages in (8, 32):
        place, made = tmp_path / str(villages), recipe(layers="graph vectors words")
        corpus = corpus_of(place / "corpus", villages)
        run(place / "index", corpus, made)
        (corpus / "Guest.json").unlink()
        with monkeypatch.context() as patch:
            asked[villages] = Counter()
            patch.setattr(WorkCache, "keep_only", _never)
            for name in ("known", "vectors", "forget"):
                patch.setattr(WorkCache, name, _counting(getattr(WorkCache, name), asked[villages]))
            if way == "remove":
                asyncio.run(remove(place / "index", ["corpus/Guest.json"]))
            else:
                run(place / "index", corpus, made)
        run(place / "fresh", corpus, made)
        assert state(place / "index") == state(place / "fresh")
    assert asked[8] == asked[32]
    assert 0 < asked[8]["forget"] < 20


def _counting(method: Any, counts: Counter[str]) -> Any:
    """The method of a work cache, counting the hashes that it is given."""

    def counted(self: WorkCache, *given: Any, **more: Any) -> Any:
        counts[method.__name__] += len(list(given[-1]))
        return method(self, *given, **more)

    return counted


class _Limited(FakeEmbedder):
    """Its budget ends when something else than chunks is to be embedded."""

    async def embed(self, texts: Any) -> Any:
        if any("\n" not in text for text in texts):
            raise BudgetExceeded("no more")
        return await super().embed(texts)


async def _limited() -> _Limited:
    return _Limited()


def test_what_a_budget_left_without_a_vector_gets_it_with_the_next_change(tmp_path: Path) -> None:
    made, corpus = recipe(layers="graph vectors"), write(tmp_path / "corpus", ARTICLES)
    assert run(tmp_path / "index", corpus, replace(made, embedder=_limited)).stopped
    assert not state(tmp_path / "index")["entities"]
    write(corpus, {"Tide": "The tide rises in Saltrey, and falls off Saltrey."})
    run(tmp_path / "index", corpus, made)
    run(tmp_path / "fresh", corpus, made)
    assert state(tmp_path / "index") == state(tmp_path / "fresh")
    assert state(tmp_path / "index")["entities"] == expected(tmp_path / "index", every=False)


def test_an_entity_that_now_stands_in_two_chunks_has_a_vector() -> None:
    share = EntityShare({"Tide": 2}, {}, {}, {"rules": 1}, 2)
    once, twice = (
        DocumentGraph(
            1, {("tide", ""): share}, tuple((f"article:1:s0:p{n}:c0", mentions) for n in range(chunks)), (), {}
        )
        for chunks, mentions in ((1, {("tide", ""): (2, False)}), (2, {("tide", ""): (1, False)}))
    )
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        GraphTables(db).fill(laid_down(db, [once]), shown=lambda _: None, common=bool)
        see_to_texts(db, None, vectors=True, every=False, relations=False)
        assert not db.execute("SELECT * FROM graph_entity_texts").fetchall()
        for before, after, count in ((once, twice, 1), (twice, once, 0)):
            graph = GraphTables(db)
            graph.change([before], [after], shown=lambda _: None, common=bool)
            see_to_texts(db, graph.touched, vectors=True, every=False, relations=False)
            assert len(db.execute("SELECT * FROM graph_entity_texts").fetchall()) == count


def test_a_change_leaves_segments_alone_that_lose_nothing(tmp_path: Path) -> None:
    made, corpus = recipe(layers="graph vectors"), corpus_of(tmp_path / "corpus", 8)
    run(tmp_path / "index", corpus, made)
    files = {path.stat().st_ino for path in (tmp_path / "index" / "derived" / "1" / "entities").rglob("rows.npy")}
    write(corpus, {"Sea": "The Sea is near Dorf3. The Sea is deep. Dorf3 has a port."})
    run(tmp_path / "index", corpus, made)
    kept = {path.stat().st_ino for path in (tmp_path / "index" / "derived" / "2" / "entities").rglob("rows.npy")}
    assert len(files) > 2
    assert len(files & kept) >= len(files) - 1


def test_rows_are_found_by_id_and_part(tmp_path: Path) -> None:
    made, corpus = recipe(layers="graph vectors"), corpus_of(tmp_path / "corpus", 8)
    run(tmp_path / "index", corpus, made)
    with closing(graph_of(tmp_path / "index")) as graph:
        held = graph.vectors
        assert held is not None
        ids = list(held.ids)
        assert ids == [held.ids[n] for n in range(len(held))] == held.ids[:]
        assert held.places([*ids, "entity:0000000000000000", "relation:0", "x"]) == {id: n for n, id in enumerate(ids)}
        kept = np.arange(len(held)) % 3 == 0
        assert rows_of(held.only(kept)) == {id: row for n, (id, row) in enumerate(rows_of(held).items()) if kept[n]}
        assert len(held.only(np.zeros(len(held), np.bool_))) == 0


def test_an_entity_that_is_described_otherwise_has_another_vector(tmp_path: Path) -> None:
    made, corpus = recipe(layers="graph vectors"), write(tmp_path / "corpus", ARTICLES)
    run(tmp_path / "index", corpus, made)
    with closing(graph_of(tmp_path / "index")) as graph:
        [id] = graph.named("Saltrey")
        assert graph.entities([id])[id].description == "Saltrey is an island."
        assert graph.entities([id], described=False)[id].description == ""
    before = state(tmp_path / "index")["entities"]
    write(corpus, {"Saltrey": ARTICLES["Saltrey"].replace("an island", "a very large island")})
    run(tmp_path / "index", corpus, made)
    with closing(graph_of(tmp_path / "index")) as graph:
        assert graph.entities([id])[id].description == "Saltrey is a very large island."
    after = state(tmp_path / "index")["entities"]
    assert {each for each in before.keys() | after.keys() if before.get(each) != after.get(each)} == {id}
    assert after == expected(tmp_path / "index", every=False)
