"""Facts that are packed come back whole, with the text that they were found in."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragways.index.graph.facts import Entity, PassageFacts, Relation, SourcePassage
from ragways.index.graph.packed_facts import packed_facts, unpacked_facts, unpacked_names

TEXT = "Oriel Tamsett built the Pier of Saltrey.\nIt sank \u2028 in 1883. 大学 Ünal \x00 met her." * 5
PARTS = st.tuples(st.integers(0, len(TEXT)), st.integers(0, 60)).map(lambda place: TEXT[place[0] : sum(place)])
TEXTS = PARTS | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ENTITIES = st.builds(Entity, TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=3).map(tuple), st.integers(1, 10**6), TEXTS)
RELATIONS = st.builds(
    Relation, TEXTS, TEXTS, TEXTS, TEXTS, st.floats(0, 100) | st.sampled_from([1.0, 0.5]), TEXTS, TEXTS
)
SAID = st.builds(PassageFacts, st.lists(ENTITIES, max_size=4).map(tuple), st.lists(RELATIONS, max_size=4).map(tuple))
PLACES = st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT))).map(sorted)


@given(TEXTS, st.lists(st.tuples(PLACES, st.lists(SAID, max_size=2)), max_size=4))
def test_packed_facts_come_back(title: str, chunks: list[tuple[list[int], list[PassageFacts]]]) -> None:
    passages = [
        (SourcePassage(f"article:77:s0:p{n}:c0", start, end, title, TEXT[start:end]), said)
        for n, ((start, end), said) in enumerate(chunks)
    ]
    packed = packed_facts(title, TEXT, passages)
    assert unpacked_facts(packed, 77, TEXT) == (title, [(passage.id, said) for passage, said in passages])
    facts = [facts for _, said in passages for facts in said]
    names = [[replace(entity, description="") for entity in each.entities] for each in facts]
    ends = [list(dict.fromkeys(end for r in each.relations for end in (r.subject, r.object))) for each in facts]
    assert unpacked_names(packed, TEXT) == (title, list(zip(names, ends, strict=True)))


def test_what_the_text_has_is_not_kept_twice() -> None:
    text = "".join(f"Person{n} Tamsett{n} met Otto{n} Corran{n} at a pier of stone. " for n in range(20))
    sentences = [f"{each}." for each in text.split(". ") if each]
    words = [each.split() for each in sentences]
    facts = PassageFacts(
        tuple(Entity(" ".join(each[:2])) for each in words),
        tuple(
            Relation(" ".join(each[:2]), "met", " ".join(each[3:5]), said)
            for each, said in zip(words, sentences, strict=True)
        ),
    )
    packed = packed_facts("Pier", text, [(SourcePassage("article:1:c0", 0, len(text), "Pier", text), [facts])])
    assert len(packed) < len(text) / 2
    assert unpacked_facts(packed, 1, text) == ("Pier", [("article:1:c0", [facts])])
