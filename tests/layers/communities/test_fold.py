"""Communities folded over any history: a valid tree without removed documents; made anew, that of a fresh index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.types import document_number
from ragways.layers.communities.assign import joined_in
from ragways.layers.communities.layer import COMMUNITIES
from ragways.layers.communities.read import StoredCommunities, age_of
from ragways.layers.layer import CheckContext
from tests.fakes import WordHashes, vector_of
from tests.layers.communities.made import HARBOUR, ORCHARD, MadeIndex, all_of

PEOPLE = [
    f"{first} {last}" for first in ("Orla", "Bram", "Maud", "Piers", "Edda") for last in ("Venn", "Holt", "Quist")
]


def text_of(pairs: list[tuple[int, int]], version: int) -> str:
    """What a version of a document says; its own mark is in each sentence, and it names somebody who is in no other."""
    said = [f"{PEOPLE[one]} met {PEOPLE[other]} at mark{version}x." for one, other in pairs]
    return " ".join([*said, f"{PEOPLE[pairs[0][0]]} met Stranger Mark{version}x."])


person = st.integers(0, len(PEOPLE) - 1)
change = st.tuples(st.integers(0, 9), st.one_of(st.none(), st.lists(st.tuples(person, person), min_size=1, max_size=5)))
history = st.lists(st.lists(change, min_size=1, max_size=3), min_size=2, max_size=7)


def check_tree(index: MadeIndex, read: StoredCommunities) -> None:
    """Every entity that is joined to others is in one leaf, and communities contain those inside them."""
    joined = [f"entity:{number:016x}" for number in joined_in(index.view).ids.tolist()]
    for level in read.levels():
        assert sorted(member for each in read.of_level(level) for member in read.members(each.id)) == joined
    for level in read.levels():
        for community in read.of_level(level):
            members, children = read.members(community.id), read.children(community.id)
            assert community.size == len(members) > 0
            assert community.leaf == (not children)
            if children:
                assert sorted(member for child in children for member in read.members(child.id)) == members
                assert all(child.level == community.level + 1 and child.parent == community.id for child in children)
    findings = COMMUNITIES.check(CheckContext(index.store, None, index.view.parent))
    assert [finding.name for finding in findings] == []


@settings(max_examples=15, deadline=None)
@given(history, st.integers(4, 8))
def test_any_history_gives_a_valid_tree_and_made_anew_it_is_that_of_a_fresh_index(changes, size):
    with TemporaryDirectory() as folder:
        index = MadeIndex(Path(folder) / "index", WordHashes(), size=size)
        there: dict[str, int] = {}
        for version, step in enumerate(changes):
            for key, pairs in step:
                if pairs is not None:
                    there[f"d{key}"] = version * 10 + key
                    index.put({f"d{key}": text_of(pairs, there[f"d{key}"])})
                elif there.pop(f"d{key}", None) is not None:
                    index.remove(f"d{key}")
            index.fold()
            read = index.open()
            check_tree(index, read)
            seen = str(all_of(read)["reports"]).casefold()
            marks = {int(part.split("x")[0]) for part in seen.split("mark")[1:]}
            assert marks <= set(there.values()), "a report names a document that is gone"
            large = [each for level in read.levels() for each in read.of_level(level) if each.size >= 3]
            assert all(each.way == "rules" for each in large)
        index.fold(fresh=True)
        assert all_of(index.open()) == all_of(index.made(Path(folder) / "made"))
        index.close()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[MadeIndex]:
    made = MadeIndex(tmp_path / "index", WordHashes())
    yield made
    made.close()


def clubs(count: int = 12) -> dict[str, str]:
    """Communities of five that nothing joins; of each its first member is the strongest."""
    found = {}
    for n in range(count):
        club = [f"{name} Club{chr(97 + n)}" for name in ("Ada", "Ben", "Cleo", "Dov", "Eve")]
        met = [f"{one} met {other} in club{n}." for one in club for other in club if one < other]
        found[f"club{n}"] = " ".join([*met, f"{club[0]} met {club[1]}.", f"{club[0]} met {club[2]}."])
    return found


def test_a_new_entity_joins_the_community_to_which_most_of_its_weight_leads(index: MadeIndex) -> None:
    index.put(clubs())
    index.fold()
    before = index.open()
    index.put(
        {"more": "Fay Late met Ada Cluba. Ben Cluba met Fay Late. Fay Late met Ada Clubb. Gus Late met Fay Late."}
    )
    index.fold()
    read = index.open()
    check_tree(index, read)
    graph = index.graph()
    [ada], [fay], [gus] = (graph.named(name) for name in ("Ada Cluba", "Fay Late", "Gus Late"))
    assert read.of_entity(fay) == read.of_entity(gus) == read.of_entity(ada)
    assert {each.id for each in read.of_level(0)} == {each.id for each in before.of_level(0)}, "ids stay"
    assert age_of(index.view)[1:] == (2, 0)
    index.remove("more")
    index.fold()
    assert age_of(index.view)[1:] == (0, 0)
    assert all_of(index.open())["communities"] == all_of(before)["communities"]


def test_communities_are_detected_anew_when_a_tenth_is_new_or_gone(index: MadeIndex) -> None:
    index.put(clubs())
    index.fold()
    index.put({"more": " ".join(f"Fay Late{chr(97 + n)} met Ada Cluba." for n in range(5))})
    index.fold()
    assert age_of(index.view)[1:] == (5, 0)
    index.remove("club7")
    index.fold()
    assert (age_of(index.view).found, *age_of(index.view)[1:]) == (60, 0, 0)
    index.put({"even": "Ada Clubc met Fay Even."})
    index.fold()
    assert age_of(index.view).share > 0
    index.fold(fresh=True)
    assert age_of(index.view).share == 0


def test_a_report_is_hidden_as_soon_as_a_document_that_it_was_written_from_changes(index: MadeIndex) -> None:
    index.put(HARBOUR | ORCHARD)
    index.fold()
    read = index.open()
    [harbour, orchard] = read.of_level(0)
    index.remove("venn")
    assert [each.way for each in read.of_level(0)] == ["rules", ""]
    assert read.report(orchard.id) is None
    assert read.report(harbour.id) is not None
    assert [id for id, _ in read.nearest(vector_of("Maud Venn"), 5)] == [harbour.id]
    assert read.tokens_of_level(0) == harbour.tokens


def test_a_name_that_only_a_removed_document_gave_is_in_no_report(index: MadeIndex) -> None:
    index.put({f"d{n}": f"Hub Centre met Name {chr(65 + n)}a in a very long street." for n in range(20)})
    index.put({**clubs(), "type": "Hub Centre (xylographer) | Name Aa."})  # no sentence that is quoted
    index.fold()
    assert "Hub Centre (xylographer)" in str(all_of(index.open()))
    index.remove("type")
    index.fold()
    assert age_of(index.view).found == 81, "communities are not found anew"
    assert "xylographer" not in str(all_of(index.open()))
    assert "Hub Centre" in str(all_of(index.open()))


def test_a_filter_shows_communities_whose_members_no_other_document_names(index: MadeIndex) -> None:
    index.put({**clubs(3), "more": "Ada Cluba met Old Friend."})
    index.fold()
    numbers = [document_number(f"club{n}") for n in range(2)]
    part = index.open().only(numbers)
    [shown] = part.of_level(0)
    assert "Clubb" in shown.title
    assert part.left_out == 2
    assert part.levels() == [0]
    assert part.counts() == {"rules": 1}
    assert part.vectors is not None
    assert part.vectors.ids == [shown.id]
    whole = index.open()
    assert {part.report(each.id) is None for each in whole.of_level(0) if each.id != shown.id} == {True}
    assert part.members(whole.of_level(0)[0].id) in ([], part.members(shown.id))
    assert index.open().only([]).levels() == []


def test_a_check_finds_members_that_are_not_there(index: MadeIndex) -> None:
    index.put(HARBOUR | ORCHARD)
    index.fold()
    index.remove(*ORCHARD)
    index.make_graph()
    names = [finding.name for finding in COMMUNITIES.check(CheckContext(index.store, None, index.view.parent))]
    assert names == ["entities that communities lack or should not have"]
