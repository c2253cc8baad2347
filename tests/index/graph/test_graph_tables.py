"""Tables that change by document hold what tables made of the documents anew would, and that is what they say."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.graph.data import DocumentGraph, EntityRow, EntityShare, entity_id
from ragways.index.graph.document_statements import contents_rows
from ragways.index.graph.facts import Relation
from ragways.index.graph.graph_rows import digits, number_of_id
from ragways.index.graph.graph_tables import TABLES, GraphTables
from ragways.index.graph.kinds import decided, kind_of_name
from ragways.index.graph.names import fold, split_title
from ragways.index.graph.resolve import Key
from ragways.index.graph.stating_documents import own_relations
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.graph.weights import link_weights
from tests.index.graph.graph_data import GraphData, MentionRow, MergeRow, RelationRow, laid_down, read_graph
from tests.index.graph.reference_graph import relation_id

KEYS = [("tide", ""), ("tide", "person"), ("harbour board", ""), ("saltrey", "place"), ("a\x1fA", ""), ("corran", "")]
NAMES = ["Tide", "tide", "Harbour Board", "HB", "Saltrey", "Saltrey, Isle of", "Ilsabet Corran (ship)", "Queen Corran"]
TEXTS = ["", "The tide rises.", "Corran built it.", "It sank.", "A board."]
WEIGHTS = [0.5, 1.0, 0.1, 0.2, 0.3333333, 7.25]
DATES = ["", "1883", "1901-10-04", "0999", "188", "1883-10", "18830-1-04", "1883_10_04", "²²²²", "c. 1900"]
WORDS = ["tide", "hb", "saltrey", "corran", "board"]


def counted(names: list[str]) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(st.sampled_from(names), st.integers(1, 3), max_size=2)


@st.composite
def documents(draw: st.DrawFn, number: int) -> DocumentGraph:
    entities = {}
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True)):
        names = draw(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3), min_size=1, max_size=3))
        entities[key] = EntityShare(
            names,
            draw(counted(["place", "date"])),
            draw(counted(["person", "place"])),
            draw(st.dictionaries(st.sampled_from(["rules", "model"]), st.integers(1, 3), min_size=1, max_size=2)),
            sum(names.values()),
            tuple(draw(st.lists(st.sampled_from(TEXTS[1:]), max_size=2, unique=True))),
        )
    keys = list(entities)
    chunks: list[tuple[str, dict[Key, tuple[int, bool]]]] = []
    statements: list[tuple[Key, str, Key, Relation, str, str]] = []
    for place in range(draw(st.integers(0, 3))):
        chunk = f"article:{number}:s0:p{place}:c0"
        first = len(statements)
        for _ in range(draw(st.integers(0, 3))):
            subject, object = draw(st.sampled_from(keys)), draw(st.sampled_from(keys))
            relation = Relation(
                "", "", "", draw(st.sampled_from(TEXTS)), draw(st.sampled_from(WEIGHTS)),
                draw(st.sampled_from(DATES)),
            )  # fmt: skip
            way = draw(st.sampled_from(["rules", "rules:infobox", "model"]))
            if subject != object:
                statements.append((subject, draw(st.sampled_from(["knows", "is_in"])), object, relation, chunk, way))
        # Whoever states something of an entity names it.
        ends = {end for subject, _, object, *_ in statements[first:] for end in (subject, object)}
        named = sorted(draw(st.sets(st.sampled_from(keys))) | ends)
        counts = st.tuples(st.sampled_from([1, 2, 5, 300]), st.booleans())
        chunks.append((chunk, {key: draw(counts) for key in named}))
    merges = {
        (key, draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES)), draw(st.sampled_from(["alias", "title"]))): n
        for key in keys
        for n in range(1, draw(st.integers(1, 3)))
    }
    return DocumentGraph(number, entities, tuple(chunks), tuple(statements), merges)


def reference(held: list[DocumentGraph], shown: dict[str, str], common: set[str]) -> GraphData:
    """The rows as their definition has them, all documents at once."""
    held = sorted(held, key=lambda document: document.number)
    shares: dict[tuple[str, str], list[EntityShare]] = {}
    said: dict[tuple[str, str, str], list[tuple[Relation, str, str]]] = {}
    merges: Counter[tuple[str, str, str, str]] = Counter()
    for document in held:
        for key, share in document.entities.items():
            shares.setdefault(key, []).append(share)
        for subject, predicate, object, relation, chunk, way in document.statements:
            ends = entity_id(subject), predicate, entity_id(object)
            said.setdefault(ends, []).append((relation, chunk, way))
        for (key, name, into, reason), count in document.merges.items():
            merges[entity_id(key), name, reason, into] += count
    entities, everyday = [], set()
    for key, some in shares.items():
        names, types, guesses, ways = (
            sum((Counter(getattr(share, part)) for share in some), Counter())
            for part in ("names", "types", "guesses", "ways")
        )
        main = min(names, key=lambda name: (-names[name], name))
        name = main if "\x1f" in key[0] else shown.get(key[0], main)
        aliases = sorted((other for other in names if other != name), key=lambda other: (-names[other], other))
        type = min(types, key=lambda type: (-types[type], type), default="")
        if not type and "rules" in ways:
            type = decided(guesses + Counter(filter(None, map(kind_of_name, names))))
        texts = dict.fromkeys(text for share in some for text in share.descriptions)
        entities.append(
            EntityRow(
                entity_id(key), name, type, " ".join(list(texts)[:3]), tuple(aliases[:50]),
                sum(share.count for share in some), "+".join(sorted(ways)),
            )
        )  # fmt: skip
        forms = {fold(form) for form in (name, *aliases, split_title(name)[0].partition(",")[0])}
        everyday |= {form for form in forms if form and " " not in form and form in common}
    relations = [
        RelationRow(
            relation_id(subject, predicate, object), subject, predicate, object,
            " ".join(list(dict.fromkeys(relation.description for relation, *_ in some if relation.description))[:3]),
            sum(round(relation.weight * 1e6) for relation, *_ in some) / 1e6,
            next((relation.date for relation, *_ in some if relation.date), ""),
            "+".join(sorted({way for *_, way in some})),
            tuple(dict.fromkeys(chunk for _, chunk, _ in some)),
        )
        for (subject, predicate, object), some in said.items()
    ]  # fmt: skip
    return GraphData(
        entities=tuple(sorted(entities, key=lambda row: row.id)),
        relations=tuple(sorted(relations, key=lambda row: row.id)),
        mentions=tuple(
            sorted(
                (
                    MentionRow(entity_id(key), chunk, count, about)
                    for document in held
                    for chunk, mentions in document.chunks
                    for key, (count, about) in mentions.items()
                ),
                key=lambda row: (row.entity, row.chunk),
            )
        ),
        merges=tuple(
            MergeRow(entity, name, into, reason, count)
            for (entity, name, reason, into), count in sorted(merges.items())
        ),
        chunks=tuple(chunk for document in held for chunk, _ in document.chunks),
        everyday=frozenset(everyday),
    )


def tables() -> tuple[sqlite3.Connection, GraphTables]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE documents (number INTEGER PRIMARY KEY, text TEXT)")
    texts = {3: "", 4: "It sank. The tide rises.", 10**14: "The tide rises. A board. It sank.", 2 * 10**14: "A board."}
    db.executemany("INSERT INTO documents VALUES (?, ?)", [*texts.items(), (1, "It rose."), (2, "")])
    return db, GraphTables(db)


def rows(db: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    names = [line.split()[5] for line in TABLES.splitlines() if line.startswith("CREATE")]
    found = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    # Numbers of predicates are as they came.
    found["graph_contents"] = [row._replace(predicates=b"") for some in contents_rows(db) for row in some]
    shared = "SELECT id, subject, object, weight, date, told FROM graph_shared_relations"
    found["graph_shared_relations"] = db.execute(shared).fetchall()
    stated = {id for (id,) in db.execute("SELECT DISTINCT relation FROM graph_statements")}
    assert stated == {*own_relations(db).shared.tolist()} == {row[0] for row in found["graph_shared_relations"]}
    found["graph_relations"] = sorted(StoredRelations(db).all())
    predicates = db.execute("SELECT predicate, way, count FROM graph_predicates ORDER BY 1, 2").fetchall()
    return found | {"graph_predicates": predicates}


NUMBERS = st.sampled_from([3, 2 * 10**14, 10**14, 4])
SHOWN = st.dictionaries(st.sampled_from([key for key, _ in KEYS]), st.sampled_from(NAMES), max_size=3)
COMMON = st.sets(st.sampled_from(WORDS))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_history_leaves_what_a_fresh_fill_would(data: st.DataObject) -> None:
    held = {number: data.draw(documents(number)) for number in data.draw(st.sets(NUMBERS))}
    shown, common = data.draw(SHOWN), data.draw(COMMON)
    db, graph = tables()
    graph.fill(laid_down(db, held.values()), shown=shown.get, common=common.__contains__)
    assert read_graph(graph._db) == reference(list(held.values()), shown, common)
    for _ in range(data.draw(st.integers(1, 3))):
        touched = sorted(data.draw(st.sets(NUMBERS, min_size=1, max_size=2)))
        after = [data.draw(documents(number)) for number in touched if data.draw(st.booleans())]
        before = [held.pop(number) for number in touched if number in held]
        held |= {document.number: document for document in after}
        was_shown, was_common = shown, common
        shown, common = data.draw(SHOWN), data.draw(COMMON)
        graph.change(
            before,
            after,
            shown=shown.get,
            common=common.__contains__,
            renamed={name for name in shown.keys() | was_shown.keys() if shown.get(name) != was_shown.get(name)},
            words=common ^ was_common,
        )
    fresh_db, fresh = tables()
    fresh.fill(laid_down(fresh_db, reversed(held.values())), shown=shown.get, common=common.__contains__)
    assert rows(db) == rows(fresh_db)  # not only the same graph: whatever was there before has left nothing
    assert read_graph(graph._db) == read_graph(fresh._db) == reference(list(held.values()), shown, common)


@given(
    st.lists(st.integers(1, 999) | st.integers(1, 10**12), min_size=1, max_size=200), st.randoms(use_true_random=False)
)
def test_weights_of_links_add_up_to_the_same_in_any_order(millionths: list[int], dice: Random) -> None:
    weights = link_weights(np.array(millionths)).astype(np.float64).tolist()
    mixed = dice.sample(weights, len(weights))
    assert sum(mixed) == sum(weights) == math.fsum(weights)
    for weight, each in zip(weights, millionths, strict=True):
        assert abs(weight - each / 1e6) <= 2**-23 * max(1.0, weight)


def test_numbers_of_ids_are_in_the_order_of_ids() -> None:
    ids = [f"entity:{digit}{'0' * 15}" for digit in "012789abcdef"]
    numbers = [number_of_id(id) for id in ids]
    assert numbers == sorted(numbers)
    assert [f"entity:{digits(number)}" for number in numbers] == ids


TIDE, CORRAN = ("tide", ""), ("corran", "")


def stating(number: int, *texts: str) -> DocumentGraph:
    """A document with a statement of the same relation for each text."""
    share = EntityShare({"Tide": 1}, {}, {}, {"rules": 1}, 1, ("What rises.",))
    chunk = f"article:{number}:s0:p0:c0"
    said = tuple((TIDE, "knows", CORRAN, Relation("", "", "", text), chunk, "rules") for text in texts)
    return DocumentGraph(
        number, {TIDE: share, CORRAN: share}, ((chunk, {TIDE: (1, True), CORRAN: (1, False)}),), said, {}
    )


def nothing(_: str) -> None:
    """No name is shown otherwise than it is written."""


def test_nothing_of_a_document_is_left_when_it_goes() -> None:
    db, graph = tables()
    document = stating(1, "Secret words.")
    graph.fill(laid_down(db, [document]), shown=nothing, common=bool)
    assert all(rows(db)[table] for table in ("graph_entities", "graph_contents", "graph_relations", "graph_texts"))
    graph.change([document], [], shown=nothing, common=bool)
    assert not any(rows(db).values())


def test_a_text_that_changes_in_its_place_changes_what_it_describes() -> None:
    db, graph = tables()
    before, after = stating(1, "It sank."), stating(1, "It rose.")
    graph.fill(laid_down(db, [before, stating(2, "It is lost.")]), shown=nothing, common=bool)
    assert read_graph(graph._db).relations[0].description == "It sank. It is lost."
    graph.change([before], [after], shown=nothing, common=bool)
    assert read_graph(graph._db).relations[0].description == "It rose. It is lost."


SAID = st.tuples(
    st.sampled_from(TEXTS),
    st.sampled_from(WEIGHTS),
    st.sampled_from(["", "", "1883", "c. 1900"]),
    st.sampled_from(["rules", "rules:infobox", "model"]),
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.integers(1, 6), st.lists(SAID, min_size=1, max_size=2), min_size=3),
    st.permutations(range(1, 7)),
    st.integers(0, 6),
)
def test_what_more_documents_state_of_a_relation_joins_what_others_do(
    said: dict[int, list[tuple[str, float, str, str]]], order: list[int], first: int
) -> None:
    db, graph = tables()
    db.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?)", [(number, " ".join(TEXTS)) for number in order])
    held = {number: stating_so(number, said[number]) for number in order if number in said}
    graph.fill(laid_down(db, [*held.values()][:first]), shown=nothing, common=frozenset[str]().__contains__)
    for document in [*held.values()][first:]:
        graph.change([], [document], shown=nothing, common=frozenset[str]().__contains__)
    assert read_graph(db) == reference([*held.values()], {}, set())
    made = rows(db)
    graph.fill(laid_down(db, held.values()), shown=nothing, common=frozenset[str]().__contains__)
    assert rows(db) == made


def stating_so(number: int, said: list[tuple[str, float, str, str]]) -> DocumentGraph:
    """A document that states one relation in these ways."""
    share = EntityShare({"Tide": 1}, {}, {}, {"rules": 1}, 1)
    chunk = f"article:{number}:s0:p0:c0"
    statements = tuple(
        (TIDE, "knows", CORRAN, Relation("", "", "", text, weight, date), chunk, way)
        for text, weight, date, way in said
    )
    named = {TIDE: (1, True), CORRAN: (1, False)}
    return DocumentGraph(number, {TIDE: share, CORRAN: share}, ((chunk, named),), statements, {})
