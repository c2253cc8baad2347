"""A graph is the same whether documents are held in memory, or their names are laid down between the passes."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.database import create_tables
from ragways.index.graph import kept_facts, updates
from ragways.index.graph.claims import NameAnswers
from ragways.index.graph.data import DocumentFacts
from ragways.index.graph.facts import Entity, PassageFacts, Relation
from ragways.index.graph.held_names import KINDS, TAKEN, HeldNames
from ragways.index.graph.kept_facts import corpus_of
from ragways.index.graph.layer import split
from ragways.index.graph.meanings import DocumentMeaning
from ragways.index.graph.resolve import DocumentNames
from tests.index.graph.graph_fakes import recipe, run, write
from tests.index.graph.test_workers import ARTICLES, LAYERS, state

NAMES = st.sampled_from(["Oriel Tamsett", "Tamsett", "Harbour Board", "HB", "the Pier", "盐岛", "\ud83d", ""])
ENTITIES = st.builds(
    Entity,
    NAMES,
    st.sampled_from(["", "person", "ship"]),
    aliases=st.lists(NAMES, max_size=2).map(tuple),
    count=st.integers(1, 9),
    guess=st.sampled_from(["", "place"]),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", ARTICLES)


@given(NAMES, st.lists(ENTITIES, max_size=6), st.lists(NAMES, max_size=4))
def test_names_are_unpacked_as_they_were(title: str, entities: list[Entity], ends: list[str]):
    names = DocumentNames(title)
    names.hear(entities, ends)
    unpacked = DocumentNames.unpacked(names.packed())
    assert unpacked == names
    assert list(unpacked.names) == list(names.names)


def _answers() -> NameAnswers:
    corpus = corpus_of([])
    create_tables(corpus._db, updates.TABLES)
    return NameAnswers(corpus._db, corpus.lexicon.common)


def test_a_meaning_goes_on_where_another_was():
    said = PassageFacts(
        (Entity("Oriel Tamsett", "person"), Entity("Tamsett"), Entity("Harbour Board", "company", aliases=("HB",))),
        (Relation("Tamsett", "led", "HB"),),
    )
    facts = DocumentFacts(1, "Ferry", [("article:1:c0", [("rules", said)])])
    whole = DocumentMeaning(facts.names(), _answers())
    claims = [sorted(claimed(whole)) for claimed in (DocumentMeaning.taken, DocumentMeaning.kinds)]
    names, thought, answers = facts.names().packed(), None, _answers()
    for claimed, found in zip((DocumentMeaning.taken, DocumentMeaning.kinds), claims, strict=True):
        meaning = DocumentMeaning.going_on(names, thought, answers)
        assert sorted(claimed(meaning)) == found
        thought = meaning.thought()
    last = DocumentMeaning.going_on(names, thought, answers)
    assert {claim[0] for found in claims for claim, _ in found} == set("iyk")
    assert last.asked == whole.asked
    assert last.graph(facts) == whole.graph(facts)
    assert last.asked == whole.asked


def test_what_was_found_out_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch):
    names = DocumentNames("Ferry")
    names.hear([Entity("Oriel Tamsett", "person"), Entity("Tamsett")], [])
    first = DocumentMeaning(names, _answers())
    claims = list(first.taken())
    monkeypatch.setattr("ragways.index.graph.meanings.people_by_word", None)
    assert list(DocumentMeaning.going_on(names.packed(), first.thought(), _answers()).taken()) == claims


def test_documents_come_by_number_with_what_a_pass_left():
    held = HeldNames(sqlite3.connect(":memory:", isolation_level=None))
    assert held.empty
    assert not list(held.documents())
    held.put(7, b"seven")
    held.put(-2, b"two")
    held.leave(TAKEN, [(-2, b"a"), (7, b"b")])
    held.leave(KINDS, [(7, b"d"), (-2, b"c")])
    assert list(held.documents()) == [(-2, b"two", None), (7, b"seven", None)]
    assert list(held.documents(TAKEN)) == [(-2, b"two", b"a"), (7, b"seven", b"b")]
    assert list(held.documents(KINDS)) == [(-2, b"two", b"c"), (7, b"seven", b"d")]
    held.close()
    assert held.empty
    assert not held._db.execute("SELECT * FROM sqlite_temp_master").fetchall()


def test_a_pass_that_fails_leaves_nothing_in_the_way():
    db = sqlite3.connect(":memory:", isolation_level=None)
    held = HeldNames(db)
    for number in range(3):
        held.put(number, b"names")
    going = held.documents()
    next(going)
    held.close()  # SQLite drops no table that is being read
    again = HeldNames(db)
    del going
    again.put(7, b"seven")
    assert list(again.documents()) == [(7, b"seven", None)]


@pytest.mark.parametrize("settings", [{}, {"structure": False}, {"near": True}, {"method": "import"}])
def test_the_graph_is_the_same_in_memory_and_laid_down(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
):
    if settings.get("method") == "import":
        file = tmp_path / "triples.jsonl"
        triple = {"subject": "Bram Holt", "predicate": "left", "object": "Salt", "text": ARTICLES["Night"]}
        file.write_text(json.dumps(triple))
        settings = settings | {"file": str(file)}
    made = []
    for place, chunks in (("memory", 20_000), ("laid down", 0)):
        monkeypatch.setattr(updates, "_IN_MEMORY", chunks)
        run(tmp_path / place, corpus, recipe(settings, layers=LAYERS))
        made.append(state(tmp_path / place))
    assert made[0] == made[1]
    assert len(made[0]["graph_entities"]) > 10  # type: ignore[arg-type]


def test_facts_are_unpacked_once_where_documents_were_read(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    """And names alone only where they were read in another run."""
    unpacked: Counter[str] = Counter()

    def noting(name: str) -> Callable[..., Any]:
        real = getattr(kept_facts, name)

        def unpack(*given: Any) -> Any:
            unpacked[name] += 1
            return real(*given)

        return unpack

    monkeypatch.setattr(updates, "_IN_MEMORY", 0)
    for name in ("unpacked_facts", "unpacked_names"):
        monkeypatch.setattr(kept_facts, name, noting(name))
    documents = len(ARTICLES) - 1  # a redirect has no facts
    run(tmp_path / "index", corpus, recipe(layers=LAYERS))
    assert unpacked == {"unpacked_facts": documents}
    split(tmp_path / "index", "HB", "Harbour Board")
    unpacked.clear()
    run(tmp_path / "index", corpus, recipe(layers=LAYERS))
    assert unpacked == {"unpacked_facts": documents, "unpacked_names": documents}
