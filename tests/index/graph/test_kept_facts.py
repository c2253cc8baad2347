"""Facts are kept and a document is read again only when it must: what is kept is what reading all anew would find."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.types import Document, Link
from ragways.corpus.structure import Chunking, structure
from ragways.index import array_tables
from ragways.index.gone_texts import forget_gone
from ragways.index.graph import asked_keys, concerned, kept_facts, relation_ends, tables, updates
from ragways.index.graph.asked_keys import AskedKeys
from ragways.index.graph.claim_rows import SHORT, all_claims, claims_of_name
from ragways.index.graph.corpus_names import STEM, WORD, CorpusNames, end_of, end_title, key_of
from ragways.index.graph.data import DocumentFacts
from ragways.index.graph.facts import Source
from ragways.index.graph.held_names import HeldNames
from ragways.index.graph.kept_facts import Readers, facts_by_rules
from ragways.index.graph.layer import tables_of
from ragways.index.graph.meanings import DocumentMeaning
from ragways.index.graph.names import fold
from ragways.index.graph.relation_ends import RelationEnds
from ragways.index.graph.stored_relations import JoiningRows, StoredRelations
from ragways.index.graph.tables import write_arrays
from ragways.index.layer import BuildContext, Changes, Texts
from ragways.index.settings import GraphSettings
from ragways.index.store import Store, number_of
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from tests.index.graph.graph_data import GraphData, read_graph
from tests.index.graph.plain_arrays import told
from tests.index.graph.reference_graph import make_graph

TITLES = [
    "Corran", "Ilsabet Corran", "Ilsabet Corran (ship)", "Ilsabet Corran (queen)", "The Lantern", "Lantern", "LANTERN",
    "Tide", "Tide table", "Harbour Board", "Harbour board", "New Saltrey", "At all", "Saltrey University",
    "大学", "iPhone", "Saltrey", "Saltrey (ship)", "Tamsett", "Pier", "Otto Tamsett (ship)",
]  # fmt: skip
SENTENCES = [
    "Ilsabet Corran was a queen.", "Ilsabet Corran was a ship in Saltrey.", "Corran met Otto Tamsett at the Pier.",
    "Tide rises.", "The tide table shows the tide.", "A tide is a process.",
    "In Tide Table, the Harbour Board (HB) met.",
    "the harbour board of the new Saltrey University", "Lantern was built by Corran.", "The Lantern is a film.",
    "It is not at all a lantern.", "Specifies Tables and Lanterns.", "He specified a table in the Harbour Board.",
    "Pier Hotel Saltrey", "the pier and a hotel with the Pier Hotel", "However Tamsett left New Saltrey.",
    "大学的历史 大学的学生 北京大学 历史学生", "北京大学 是 大学 在 北京", "北京大学 历史学生 iPhone",
    "He bought an iPhone.", "He left Saltrey for the Pier.", "Corran's ship left Saltrey.",
    "The Pier of Saltrey is new.",
    "Otto Tamsett met Tamsett.", "A ship named Saltrey met Otto Tamsett (OT).", "OT met Saltrey Pier.",
    "LANTERN Corran Pier Tide Board Table Hotel New Old Red Blue Green Grey Lantern Saltrey",
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> Document:
    key = draw(st.sampled_from("abcdefg"))
    title = draw(st.sampled_from(TITLES))
    if draw(st.integers(0, 3)) == 0:
        return Document(key, title, "", "text", redirect=draw(st.sampled_from(TITLES)))
    text = "\n\n".join(draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4)))
    links: tuple[Link, ...] = ()
    if len(text) > 9 and draw(st.booleans()):
        links = (Link(0, text.index(" "), draw(st.sampled_from(TITLES))),)
    return Document(key, title, text, "text", links=links)


class _Index:
    """A store in memory, and what is kept in it."""

    def __init__(self) -> None:
        self.store = Store(Path(), sqlite3.connect(":memory:", isolation_level=None))
        self.store.create()
        self.held: set[int] = set()

    def run(self, come: dict[str, Document | None], changes: bool, before: Path | None = None) -> None:
        """Add, change or remove documents by their key. `before`: the folder of the arrays as they were."""
        forget_gone(self.store.db)  # as a commit does
        added, changed, removed = set[int](), set[int](), set[int]()
        for key, document in come.items():
            number = number_of(Document(key, "", "", "text").id)
            if document is None:
                self.store.remove([number])
                removed |= {number} & self.held
                self.held -= {number}
                continue
            (changed if number in self.held else added).add(number)
            self.held.add(number)
            made = structure(document, Chunking(80, 0))
            self.store.put(made, key, [1] * len(made.chunks), ["00"] * len(made.chunks))
        self.store.set_meta({"generation": str(int(self.store.meta()["generation"]) + 1)})
        told = Changes(frozenset(added), frozenset(changed), frozenset(removed)) if changes else None
        self.context = BuildContext(
            self.store,
            WorkCache.in_memory(),
            ModelClient(None),
            None,
            _embed_nothing,
            before=before,
            changes=told,
            changed_documents=told,
        )
        self.context.once(tables_of)
        self.graph = read_graph(self.store.db)

    def arrays(self, folder: Path, before: Path | None) -> dict[str, object]:
        """What the arrays of the graph say, made from those before where there are some."""
        folder.mkdir()
        files = {file: file.read_bytes() for file in before.iterdir()} if before else {}
        write_arrays(self.store.db, folder, before, self.context.once(tables_of).touched if before else None)
        assert {file: file.read_bytes() for file in files} == files, "what was written never changes"
        return told(folder, self.store.db)

    def reference(self) -> GraphData:
        """The graph of the facts that are kept, made in the plainest way."""
        titles: dict[str, str] = {}
        for (name,) in self.store.db.execute("SELECT DISTINCT name FROM graph_titles ORDER BY name").fetchall():
            if folded := fold(name):
                titles.setdefault(folded, end_of(self.store.db, name))
        common = CorpusNames(self.store.db).lexicon.common
        return make_graph(kept_facts.kept_facts(self.store.db), titles, common)

    def links(self) -> Counter[tuple[int, int]]:
        """The weight of all relations of two entities."""
        found: Counter[tuple[int, int]] = Counter()
        for row in StoredRelations(self.store.db).all():
            found[row.subject, row.object] += row.weight
        return found

    def rows(self, table: str) -> list[tuple[object, ...]]:
        return sorted(self.store.db.execute(f"SELECT * FROM {table}"))

    def facts(self) -> list[object]:
        return list(kept_facts.kept_facts(self.store.db))

    def keys(self, table: str) -> dict[int, set[int]]:
        """Documents by the keys that they left; nothing else leads to them."""
        kept, db = AskedKeys(self.store.db, table), self.store.db
        found: dict[int, set[int]] = defaultdict(set)
        with_buckets = "graph_facts" if table == "graph_keys" else "graph_meanings"
        for document, place, buckets in db.execute(f"SELECT document, place, buckets FROM {with_buckets}").fetchall():
            for key in kept.keys_of(place, buckets).tolist():
                found[key].add(document)
        pairs = kept._pairs([bucket for (bucket,) in db.execute(f"SELECT bucket FROM {table}")])
        assert len(pairs) == sum(map(len, found.values()))
        return dict(found)


async def _embed_nothing(_: Texts) -> None:
    raise AssertionError("nothing is embedded here")


MEANT = ("graph_claims", "graph_ends", "graph_entities", "graph_names", "graph_statements", "graph_merges")
TOLD = ("graph_words", "graph_pairs", "graph_titles", "graph_first_words", "graph_phrases")


@pytest.fixture(autouse=True)
def never_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many documents change, they are not simply all read again, nor are arrays written anew while there is
    room for a few rows more.
    """
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(array_tables, "_VALUES", (60, 60))
    monkeypatch.setattr(relation_ends, "MANY", 2)
    monkeypatch.setattr(updates, "_IN_MEMORY", 3)  # of chunks; histories have fewer and more
    monkeypatch.setattr(updates, "_AT_ONCE", 1)  # documents that wait have their texts in places of the text before


@settings(max_examples=60, deadline=None)
@given(
    st.lists(documents(), min_size=3, max_size=7),
    st.lists(st.lists(documents() | st.sampled_from("abcdefg"), min_size=1, max_size=2), min_size=1, max_size=4),
    st.sets(st.integers(0, 3)),
)
def test_any_history_keeps_what_reading_all_anew_would(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[Document],
    steps: list[list[Document | str]],
    without: set[int],
) -> None:
    """`without`: steps at which the arrays of the step before are not there."""
    index, place = _Index(), tmp_path_factory.mktemp("arrays")
    present: dict[str, Document] = {document.key: document for document in first}
    index.run(dict(present), changes=False)
    index.arrays(place / "0", None)
    for n, step in enumerate(steps):
        come = {item if isinstance(item, str) else item.key: None if isinstance(item, str) else item for item in step}
        for key, document in come.items():
            if document is None:
                present.pop(key, None)
            else:
                present[key] = document
        before = index.links()
        index.run(dict(come), changes=True, before=None if n in without else place / f"{n}")
        assert index.graph == index.reference()
        touched = index.context.once(tables_of).touched
        assert touched is not None
        before.update(touched.links)
        assert {link: weight for link, weight in before.items() if weight} == index.links()
        _compare_ends(index.store.db, RelationEnds(index.store.db, place / f"{n}", touched))
        assert index.arrays(place / f"{n + 1}", place / f"{n}") == index.arrays(place / f"whole{n}", None)
    fresh = _Index()
    fresh.run(dict(present), changes=False)
    for table in TOLD:
        assert index.rows(table) == fresh.rows(table), table
    assert index.facts() == fresh.facts()
    for table in ("graph_keys", "graph_meaning_keys"):
        assert index.keys(table) == fresh.keys(table)
    assert index.graph == fresh.graph  # row by row
    for table in MEANT:
        assert index.rows(table) == fresh.rows(table), table


def _compare_ends(db: sqlite3.Connection, ends: RelationEnds) -> None:
    """Relations by their ends, from the arrays of before and what changed, are those of the rows."""
    rows = [(row.id, row.subject, row.object, row.weight) for row in StoredRelations(db).all()]
    entities = [id for (id,) in db.execute("SELECT id FROM graph_entities")]
    for asked in (entities, entities[::2], entities[:1]):
        for place, end in enumerate(("subject", "object"), start=1):
            assert _as_rows(ends.with_end(end, asked)) == sorted(row for row in rows if row[place] in asked)  # type: ignore[arg-type]
        assert _as_rows(ends.inside([asked])[0]) == sorted(row for row in rows if {*row[1:3]} <= {*asked})
    groups = [entities[:3], [], entities[3::3], entities[4::3]]
    told, numbers = ends.inside(groups)
    assert sorted(zip(numbers.tolist(), _in_turn(told), strict=True)) == sorted(
        (n, row) for n, group in enumerate(groups) for row in rows if {*row[1:3]} <= {*group}
    )
    assert _as_rows(ends.all()) == sorted(rows)
    for entity in entities:
        assert ends.counts([entity])[entity] >= sum(entity in row[1:3] for row in rows)


def _as_rows(found: JoiningRows) -> list[tuple[int, ...]]:
    return sorted(_in_turn(found))


def _in_turn(found: JoiningRows) -> list[tuple[int, ...]]:
    columns = (found.ids, found.subjects, found.objects, found.weights)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_only_documents_that_asked_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    index = _Index()
    texts = {
        "a": ("Oriel Tamsett", "Oriel Tamsett built the Pier of Saltrey."),
        "b": ("Pier Hotel", "The Pier Hotel is a hotel in Saltrey."),
        "c": ("Tide", "The moon moves the tides."),
    }
    index.run({key: Document(key, *said, "text") for key, said in texts.items()}, changes=False)
    read: list[str] = []
    real = kept_facts.read

    def noting(source: Source, *rest: object) -> object:
        read.append(source.title)
        return real(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_facts, "read", noting)
    index.run({"d": Document("d", "Saltrey", "Saltrey is an island.", "text")}, changes=True)
    # `Saltrey` stands in `Pier of Saltrey`; elsewhere it was a name for itself and stays one.
    assert sorted(read) == ["Oriel Tamsett", "Saltrey"]
    read.clear()
    index.run({"d": Document("d", "Saltrey", "Saltrey is an island. Many moon over it.", "text")}, changes=True)
    assert read == ["Saltrey"]
    read.clear()
    index.run({"d": None}, changes=True)
    assert read == ["Oriel Tamsett"]
    read.clear()
    index.run({"e": Document("e", "Saltrey Pier", "It is a pier.", "text")}, changes=True)
    assert read == ["Saltrey Pier"]  # others have both words, and not in a row
    read.clear()
    index.run({"d": Document("d", "Saltrey", "Saltrey is an island.", "text")}, changes=True)
    index.run({"f": Document("f", "Otto", "Otto left a ship in Saltrey.", "text")}, changes=True)
    read.clear()
    index.run({"g": Document("g", "Saltrey (ship)", "Saltrey is a ship.", "text")}, changes=True)
    assert sorted(read) == ["Otto", "Saltrey (ship)"]  # the others have no ship in their sentences
    read.clear()
    index.run({"g": Document("g", "Saltrey (ship)", "It is a ship.", "text")}, changes=True)
    assert read == ["Saltrey (ship)"]


def test_a_word_that_stands_otherwise_has_only_those_read_again_that_have_other_names_by_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others may ask for something else to tell that they have the same: that is kept, and no more."""
    index = _Index()
    texts = {
        "a": "They met Bobor Tamsett. He sailed.",
        "b": "Bobor Tamsett sailed to Saltrey.",
        "c": "The pier was built by Bobor.",
        "d": "Bobor was there. Nobody saw it.",
    }
    present = {key: Document(key, f"{key} {key}", text, "text") for key, text in texts.items()}
    index.run(dict(present), changes=False)
    read, real = list[str](), kept_facts.read

    def noting(source: Source, *rest: object) -> object:
        read.append(source.title)
        return real(source, *rest)  # type: ignore[arg-type]

    before = index.keys("graph_keys")
    small = Document("e", "e e", "A bobor is a small bobor, and a bobor sings. Every bobor does so.", "text")
    with monkeypatch.context() as patch:
        patch.setattr(kept_facts, "read", noting)
        index.run({"e": small}, changes=True)
    assert sorted(read) == ["b b", "c c", "d d", "e e"]
    asked = key_of(WORD, "tamsett")
    assert asked not in before or len(before[asked]) < len(index.keys("graph_keys")[asked])
    fresh = _Index()
    fresh.run({**present, "e": small}, changes=False)
    assert index.facts() == fresh.facts()
    assert index.keys("graph_keys") == fresh.keys("graph_keys")


def test_a_key_that_is_that_of_a_word_too_leads_to_those_who_asked_for_it() -> None:
    """A stem and a word with the same hash, both of which are others by one document."""
    assert key_of(WORD, "conubuko") == key_of(STEM, "palafog")
    _compare_one_after_the_other("Palafogies rose early.", "They palafogy the conubuko again.")


def _compare_one_after_the_other(*texts: str) -> None:
    """Documents that come one after the other leave what all at once would."""
    index, fresh = _Index(), _Index()
    present = {key: Document(key, f"{key} {key}", text, "text") for key, text in zip("abcd", texts, strict=False)}
    for n, (key, document) in enumerate(present.items()):
        index.run({key: document}, changes=n > 0)
    fresh.run({**present}, changes=False)
    assert index.facts() == fresh.facts()
    assert index.keys("graph_keys") == fresh.keys("graph_keys")


def test_many_words_that_stand_otherwise_have_all_read_again_that_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concerned, "_WORDS", 0)
    _compare_one_after_the_other("They met Bobor Tamsett.", "A bobor sings, as a bobor must.")


def test_only_documents_that_asked_are_thought_over_again(monkeypatch: pytest.MonkeyPatch) -> None:
    index = _Index()
    texts = {
        "a": ("Otto", "He saw Tamsett."),
        "b": ("Pier", "Tamsett (OT) met Oriel Tamsett."),
        "c": ("Tide", "The moon moves the tides."),
    }
    index.run({key: Document(key, *said, "text") for key, said in texts.items()}, changes=False)
    thought: list[int] = []
    real = updates._Thought.of

    def noting(facts: DocumentFacts, document: DocumentMeaning) -> object:
        thought.append(facts.number)
        return real(facts, document)

    monkeypatch.setattr(updates._Thought, "of", noting)
    index.run({"d": Document("d", "Tamsett", "Tamsett is an island.", "text")}, changes=True)
    # With an article, `Tamsett` is no short form of `Oriel Tamsett`; it is shown and written as before.
    assert sorted(thought) == sorted(number_of(Document(key, "", "", "text").id) for key in "bd")


def test_a_person_is_called_by_the_first_word_too() -> None:
    index = _Index()
    said = "Oriel Tamsett was an engineer. Oriel died."
    index.run({"a": Document("a", "Oriel Tamsett", said, "text")}, changes=False)
    assert claims_of_name(index.store.db, "oriel")[SHORT] == {"": 1}


def test_facts_that_stay_the_same_are_no_change() -> None:
    """A document that is read again, and says what it said, is not thought over."""
    index = _Index()
    index.run({"a": Document("a", "Tide", "The Tide Table lay in Saltrey.", "text")}, changes=False)
    index.run({"b": Document("b", "Pier", "Tamsett left Saltrey.", "text")}, changes=True)
    run = _facts_run(index, {"b": Document("b", "Saltrey", "Tamsett left it.", "text")})
    assert {number_of(Document(key, "", "", "text").id) for key in "b"} == set(run.read) == set(run.before)


def _facts_run(index: _Index, come: dict[str, Document | None]) -> kept_facts.FactsRun:
    """What a run does to the facts."""
    runs: list[kept_facts.FactsRun] = []

    def noting(
        context: BuildContext, wanted: GraphSettings, readers: Readers, held: HeldNames | None
    ) -> kept_facts.FactsRun:
        runs.append(facts_by_rules(context, wanted, readers, held))
        return runs[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_facts, "facts_by_rules", noting)
        index.run(come, changes=True)
    return runs[0]


def test_a_sentence_that_stands_elsewhere_than_before_still_describes_its_relations() -> None:
    index = _Index()
    said = "Corran met Otto Tamsett in Saltrey."
    index.run({"a": Document("a", "Tide", f"It rose. It sank. {said}", "text")}, changes=False)
    before = {relation.description for relation in index.graph.relations}
    index.run({"a": Document("a", "Tide", f"It rose. It sank and sank. {said}", "text")}, changes=True)
    assert {relation.description for relation in index.graph.relations} == before == {said}


def test_keys_as_an_earlier_version_kept_them_are_taken_over_and_no_document_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (asked_keys, concerned):
        monkeypatch.setattr(module, "BLOCK", 2)
    texts = ("The tide rises in Saltrey.", "Corran met Otto Tamsett in Saltrey.", "Tamsett (T) saw the tide.")
    present = {key: Document(key, f"{key} {key}", text, "text") for key, text in zip("abc", texts, strict=True)}
    index = _Index()
    index.run({**present, "d": Document("d", "d d", "A bobor sings.", "text")}, changes=False)
    index.run({"d": None}, changes=True)
    tables = {"graph_keys": "graph_facts", "graph_meaning_keys": "graph_meanings"}
    before = {table: (index.keys(table), index.rows(table), index.rows(tables[table])) for table in tables}
    db = index.store.db
    for table, holder in tables.items():
        place = dict(db.execute("SELECT document, place FROM graph_facts").fetchall())
        db.execute(f"DROP TABLE {table}")
        db.execute(f"ALTER TABLE {holder} RENAME COLUMN buckets TO keys")
        db.execute(
            f"CREATE TABLE {table} (block INTEGER NOT NULL, key INTEGER NOT NULL, places BLOB NOT NULL, "
            "PRIMARY KEY (block, key)) WITHOUT ROWID"
        )
        for key, documents in before[table][0].items():
            for block in (0, 1):
                here = sorted(place[n] % 2 for n in documents if place[n] // 2 == block)
                if here:
                    row = block, key, b"".join(each.to_bytes(2, "little") for each in here)
                    db.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", row)
        db.execute(f"UPDATE {holder} SET keys = ?", (b"all keys",))
    claims = index.rows("graph_claims")
    _keep_as_before(db)
    db.execute("UPDATE graph_state SET made = '9' || substr(made, 3)")
    with monkeypatch.context() as patch:
        patch.setattr(kept_facts, "read", None)
        facts_by_rules(index.context, GraphSettings())
    assert {table: (index.keys(table), index.rows(table), index.rows(tables[table])) for table in tables} == before
    assert index.rows("graph_claims") == claims
    (left,) = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'graph_keys_before'").fetchone()
    assert left == 0


def _keep_as_before(db: sqlite3.Connection) -> None:
    """As versions 9 and 10 had it: a row for each claim, titles with all that follows from them, and stems."""
    rows = [
        (name, claim, "" if claim == "s" and value == name.title() else value, count)
        for name, said in all_claims(db)
        for claim, counts in said.items()
        for value, count in counts.items()
    ]
    db.execute("DROP TABLE graph_claims")
    db.execute(
        "CREATE TABLE graph_claims (name TEXT NOT NULL, claim TEXT NOT NULL, value TEXT NOT NULL, "
        "count INTEGER NOT NULL, PRIMARY KEY (name, claim, value)) WITHOUT ROWID"
    )
    db.executemany("INSERT INTO graph_claims VALUES (?, ?, ?, ?)", rows)
    titles = db.execute("SELECT * FROM graph_titles").fetchall()
    db.execute("DROP TABLE graph_titles")
    db.execute(
        "CREATE TABLE graph_titles (document INTEGER PRIMARY KEY, title TEXT NOT NULL, name TEXT NOT NULL, "
        "redirect TEXT NOT NULL, leads TEXT NOT NULL, type TEXT NOT NULL, small INTEGER NOT NULL, "
        "uncased INTEGER NOT NULL, folded TEXT NOT NULL)"
    )
    db.execute("CREATE INDEX graph_titles_by_folded ON graph_titles (folded)")
    for row in titles:
        db.execute("INSERT INTO graph_titles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row[:-1], fold(row[2])))
    for folded, title in db.execute("SELECT folded, title FROM graph_ends").fetchall():
        db.execute("UPDATE graph_ends SET title = ? WHERE folded = ?", (end_title(folded, title), folded))
    db.execute("CREATE TABLE graph_stems (stem TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID")


def test_claims_and_titles_as_an_earlier_version_kept_them_are_taken_over_and_no_document_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = {
        "Pier": "Harbour Board (HB) met in Saltrey on 4 May 1898.",
        "Oriel Tamsett (ship)": "It left.",
        "Oriel Tamsett": "Oriel Tamsett was an engineer. Oriel died.",
    }
    present = {title: Document(title, title, text, "text") for title, text in texts.items()}
    index = _Index()
    index.run({**present}, changes=False)
    db, tables = index.store.db, ("graph_claims", "graph_titles", "graph_ends")
    before = {table: index.rows(table) for table in tables}
    made = _schema(db)
    assert {claim for _, said in all_claims(db) for claim in said} == set("suaiyk")
    _keep_as_before(db)
    assert {table: index.rows(table) != rows for table, rows in before.items()} == dict.fromkeys(before, True)
    db.execute("UPDATE graph_state SET made = '10' || substr(made, 3)")
    with monkeypatch.context() as patch:
        patch.setattr(kept_facts, "read", None)
        facts_by_rules(index.context, GraphSettings())
    assert {table: index.rows(table) for table in tables} == before
    assert _schema(db) == made
    index.run(dict.fromkeys(present), changes=True)
    assert {table: index.rows(table) for table in tables} == {table: [] for table in tables}


def _schema(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """All tables and indexes."""
    return sorted(db.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())


def test_documents_that_ask_nothing_leave_no_key() -> None:
    """As where a file or a model tells all facts."""
    index = _Index()
    index.run({"a": Document("a", "Tide", "The tide rises.", "text")}, changes=False)
    facts_by_rules(index.context, GraphSettings(method="model", structure=False))
    assert index.rows("graph_keys") == []
    assert len(index.rows("graph_facts")) == 1


def test_nothing_of_a_removed_document_is_kept() -> None:
    index = _Index()
    index.run({"a": Document("a", "Tide", "The tide rises.", "text")}, changes=False)
    before = {table: index.rows(table) for table in (*TOLD, "graph_keys", "graph_facts")}
    index.run({"b": Document("b", "Corran", "Corran met Otto Tamsett in Saltrey.", "text")}, changes=True)
    assert any(index.rows(table) != rows for table, rows in before.items())
    index.run({"b": None}, changes=True)
    assert {table: index.rows(table) for table in before} == before
