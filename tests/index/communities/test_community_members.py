"""Members that are packed in slices and buckets are found as in a plain dictionary, whatever came and went before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import WrongVersion
from ragways.index.communities import community_members, packed_members
from ragways.index.communities.community_members import CommunityMembers, Leaf, create_member_tables
from ragways.index.communities.packed_members import Member
from ragways.index.folder import FORMAT, FORMAT_MARK
from ragways.index.graph.document_statements import HALF, MILLION
from ragways.index.graph.relation_ids import SHIFT
from ragways.index.reader import Index
from tests.fakes import reseal, write
from tests.index.communities.corpora import FAR, HARBOUR, ORCHARD, Reporter, held, run

ENTITIES = st.one_of(
    st.integers(-SHIFT, SHIFT - 1),
    st.sampled_from([-SHIFT, SHIFT - 1, 0, -1, 1]),
    st.integers(0, 60),  # whose first bits are the same
)
STRENGTHS = st.one_of(
    st.integers(1, 6).map(HALF.__mul__),
    st.integers(120, 140).map(HALF.__mul__),  # some that one rank tells apart, and some that it does not
    st.integers(1, 1 << 40),
)
MEMBERS = st.tuples(st.integers(1, 5), STRENGTHS)


def tables() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    create_member_tables(db)
    return db


def leaves_of(known: dict[int, Member]) -> list[Leaf]:
    numbers = sorted({leaf for leaf, _ in known.values()})
    found = ((number, [entity for entity, (leaf, _) in known.items() if leaf == number]) for number in numbers)
    return [Leaf(number, some, [known[entity][1] for entity in some]) for number, some in found]


def strongest_of(known: dict[int, Member], number: int) -> list[tuple[int, int]]:
    inside = [(entity, strength) for entity, (leaf, strength) in known.items() if leaf == number]
    return sorted(inside, key=lambda member: (-member[1], member[0]))


def as_known(made: CommunityMembers, known: dict[int, Member], asked: set[int]) -> None:
    """All that can be read is what the dictionary says."""
    assert not list(made.unfit())
    assert made.is_found()
    rows = zip(*(column.tolist() for column in made.all()), strict=True)
    assert sorted(rows) == sorted((entity, *member) for entity, member in known.items())
    assert made.of(asked | known.keys()) == known
    for number in range(1, 6):
        strongest = strongest_of(known, number)
        assert made.best(number) == (strongest[0][1] if strongest else 0)
        assert made.inside([number]) == [entity for entity, _ in strongest]
        for count in (1, 3, 100):
            assert made.strongest(number, count) == strongest[:count]


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(ENTITIES, MEMBERS, max_size=80),
    st.lists(st.lists(st.tuples(ENTITIES, MEMBERS | st.none()), max_size=12), max_size=5),
    st.sampled_from([(1, 2), (3, 8), (32, 256)]),
    st.randoms(use_true_random=False),
)
def test_any_history_of_members(known, steps, limits, dice):
    made = CommunityMembers(tables())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_members, "_LARGEST", limits[0])
        patch.setattr(community_members, "_OVERFULL", limits[1])
        patch.setattr(community_members, "_FILLED", max(1, limits[1] // 4))
        made.fill(leaves_of(known))
        asked = {12345}
        as_known(made, known, asked)
        for step in steps:
            some = [*step, *((entity, dice.choice([None, (2, HALF)])) for entity in known if dice.random() < 0.2)]
            for entity, now in some:
                made.move(entity, known.get(entity), now)
                known = {each: member for each, member in known.items() if each != entity}
                known |= {} if now is None else {entity: now}
            asked |= {entity for entity, _ in some}
            for number in range(1, 6):
                assert made.inside([number]) == [entity for entity, _ in strongest_of(known, number)], "not yet written"
            made.write()
            as_known(made, known, asked)


def test_a_change_of_a_large_leaf_writes_little_and_leaves_nothing_behind():
    """Of hundreds of slices, one more member and one less write one or two; and where all have gone, no row is left."""
    dice = Random(5)
    known = {dice.randrange(-SHIFT, SHIFT): (1, dice.choice([1, 2, 3, 3, 3, 9, 400]) * HALF) for _ in range(10_000)}
    db = tables()
    made = CommunityMembers(db)
    made.fill(leaves_of(known))
    sizes = [len(row[0]) // 8 for row in db.execute("SELECT members FROM community_slices")]
    assert max(sizes) <= 32
    assert sum(sizes) == len(known)
    assert len(sizes) < len(known) / 15
    before = set(db.execute("SELECT * FROM community_slices"))
    for n in range(20):
        entity = dice.randrange(-SHIFT, SHIFT)
        known[entity] = 1, n * HALF + HALF
        made.move(entity, None, known[entity])
        made.write()
        now = set(db.execute("SELECT * FROM community_slices"))
        assert len(now - before) <= 2
        before = now
    as_known(made, known, set())
    for entity, member in known.items():
        made.move(entity, member, None)
    made.write()
    assert [db.execute(f"SELECT count(*) FROM community_{table}").fetchone() for table in ("slices", "buckets")] == [
        (0,),
        (0,),
    ]


def test_members_take_few_bytes():
    dice = Random(6)
    known = {
        dice.randrange(-SHIFT, SHIFT): (dice.randrange(1, 600), dice.randrange(1, 20) * HALF) for _ in range(10_000)
    }
    db = tables()
    CommunityMembers(db).fill(leaves_of(known))
    lengths = {"slices": "members, strengths", "buckets": "members, strengths, communities"}
    for table, columns in lengths.items():
        total = "+".join(f"length({column})" for column in columns.split(", "))
        (taken,) = db.execute(f"SELECT sum({total}) FROM community_{table}").fetchone()
        assert taken <= 11 * len(known)


OLD = """
CREATE TABLE community_members (
    entity INTEGER PRIMARY KEY, community INTEGER NOT NULL, strength INTEGER NOT NULL
);
CREATE INDEX members_by_community ON community_members (community, strength DESC);
"""


def as_before(folder: Path) -> None:
    """Have an index keep members as an earlier version did."""
    db = sqlite3.connect(folder / "index.sqlite")
    rows = list(zip(*(column.tolist() for column in CommunityMembers(db).all()), strict=True))
    for table in ("community_slices", "community_buckets"):
        db.execute(f"DROP TABLE {table}")
    db.executescript(OLD)
    db.executemany("INSERT INTO community_members VALUES (?, ?, ?)", rows)
    db.commit()
    db.close()
    reseal(folder)
    [listed] = (folder / "derived").glob(f"*/{FORMAT_MARK}{FORMAT}")
    listed.rename(listed.with_name(f"{FORMAT_MARK}1"))


def test_rows_of_an_earlier_version_are_brought_into_todays_form():
    dice = Random(7)
    known = {
        dice.randrange(-SHIFT, SHIFT): (dice.randrange(1, 6), dice.randrange(1, MILLION * 9)) for _ in range(2_000)
    }
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(OLD)
    rows = [(entity, *member) for entity, member in known.items()]
    db.executemany("INSERT INTO community_members VALUES (?, ?, ?)", rows)
    for _ in range(2):  # the second time there is nothing to do
        create_member_tables(db)
        as_known(CommunityMembers(db), known, {1, 2})
    assert not db.execute("SELECT 1 FROM sqlite_master WHERE name LIKE '%members%'").fetchall()


def test_an_index_of_an_earlier_version_keeps_its_reports_and_says_so_where_it_cannot_be_read(tmp_path: Path):
    model = Reporter()
    write(tmp_path / "corpus", {**HARBOUR, **ORCHARD})
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    paid, before = len(model.calls), held(tmp_path / "index")
    as_before(tmp_path / "index")
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with (
            closing(Index.open(tmp_path / "index")) as index,
            pytest.raises(WrongVersion, match="'communities' of this"),
        ):
            _ = index.communities
        writer.execute("ROLLBACK")
    with closing(Index.open(tmp_path / "index")) as index:
        read = index.communities
        for community in read.of_level(0):
            members = read.members(community.id)
            assert read.at_level(members, 0) == dict.fromkeys(members, community.id)
    assert held(tmp_path / "index") == before
    as_before(tmp_path / "index")
    write(tmp_path / "corpus", FAR)
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    assert len(model.calls) == paid + 1, "only the new community is asked for"
