"""Documents as rows of facts: what rules find, and which of a document's names are one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from ragways.layers.graph.extract import NamesApart, Processes, extract
from ragways.layers.graph.names import fold, hash_of
from ragways.layers.graph.rules import Entity, PassageFacts, Relation
from ragways.layers.lexicon import Lexicon
from ragways.store.source import Source
from ragways.store.store import Facts, Store
from tests.layers.graph.texts import documents, sources
from tests.store.rows import CHUNKING, put

WIKI = {
    "Saltrey.wiki": (
        "{{Infobox island\n| name = Saltrey\n| capital = Gallow Quay\n| area = 12 km2\n}}\n"
        "'''Saltrey''' is an island. Its largest harbour is [[Gallow Quay]], built by "
        "[[Oriel Tamsett|the engineer]] in 1868. Tamsett lived there.\n"
    ),
    "Gallow Quay.wiki": "'''Gallow Quay''' is a harbour on Saltrey. It was built by Oriel Tamsett.\n",
    "Quays.wiki": '{| class="wikitable"\n! Quay !! Opened\n|-\n| Gallow Quay || 1868\n|}\n',
    "Isle of Salt.wiki": "#REDIRECT [[Saltrey]]",
}
PEOPLE = {
    "Oriel Tamsett": "Oriel Tamsett was an engineer. Tamsett built the Harbour Board Office in Saltrey. Oriel died.",
    "Harbour Board": "The Harbour Board (HB) is a company. The HB was led by Oriel Tamsett. Tamsett left in 1883.",
    "Grey Petrel (ship)": "Grey Petrel was a ship of the Harbour Board.",
    "Saltrey": "Saltrey is an island. The Grey Petrel came from Saltrey. New Saltrey is a town.",
}
NO_SHORT_FORMS = {
    "Skyy": "Skyy Vodka is made in Saltrey. The Vodka is clear, as vodka is. Chalone AVA and the AVA are near.",
    "Coalspur, Alberta": "Coalspur, Alberta is a town. The town lies in Alberta.",
    "Gale (season 7)": "Gale (season 7) is the end of Gale.",
    "Harbour": "The series Gale was made in Saltrey. Corran, a harbour, was named for Ilsabet Corran.",
    "Quay": "The first quay was built by Oriel Tamsett. Tamsett left.",
    "Tide": "Another Tamsett watched the tide.",
    "Pier": "The Lanner Memcache is a pier. The Memcache is old.",
    "Stone": "It came from Lanner.",
}


def extracted(texts: Mapping[str, str], apart: Iterable[tuple[str, str]] = ()) -> dict[str, tuple[Source, Facts]]:
    found = sources(texts)
    lexicon = Lexicon.of(found)
    return {each.title: (each, extract(each, lexicon, apart=NamesApart.of(apart))) for each in found}


def relations(facts: Facts) -> set[tuple[str, str, str]]:
    return {(row[1], row[3], row[4]) for row in facts["relations"]}


def other_names(texts: Mapping[str, str], apart: Iterable[tuple[str, str]] = ()) -> set[tuple[str, str, str]]:
    return {row for _, facts in extracted(texts, apart).values() for row in facts["other_names"]}


def test_links_boxes_tables_and_sentences_become_rows_with_their_places() -> None:
    found = extracted(WIKI)
    source, facts = found["Saltrey"]
    assert relations(facts) >= {
        ("saltrey", "links_to", "gallow quay"),
        ("saltrey", "links_to", "oriel tamsett"),
        ("saltrey", "capital", "gallow quay"),
    }
    assert ("gallow quay", "opened", "1868") in relations(found["Quays"][1])
    assert ("gallow quay", "built_by", "oriel tamsett") in relations(found["Gallow Quay"][1])
    [link] = [row for row in facts["relations"] if row[3] == "links_to" and row[4] == "oriel tamsett"]
    start, length, given, way = link[8:]
    assert source.text[start : start + length].startswith("Its largest harbour is Gallow Quay, built by the engineer")
    assert (given, way) == ("", "rules:link")
    [box] = [row for row in facts["relations"] if row[3] == "capital"]
    assert source.text[box[8] : box[8] + box[9]] == "capital: Gallow Quay"
    assert box[10:] == ("", "rules:infobox")
    own = [row for row in facts["mentions"] if row[5] == "Saltrey"]
    assert {(name, hash, kind, type) for _, name, hash, kind, _, _, type, _, _ in own if type} == {
        ("saltrey", hash_of("saltrey"), "place", "island")
    }
    assert [row[3] for row in facts["descriptions"]] == ["Saltrey is an island."]


def test_a_redirect_has_no_facts_and_names_that_fold_to_nothing_have_no_rows() -> None:
    assert extracted(WIKI)["Isle of Salt"][1] == {}
    assert extracted({"!!!": "!!! met Oriel Tamsett."})["!!!"][1]["mentions"] != []
    assert "" not in {row[1] for row in extracted({"!!!": "!!! met Oriel Tamsett."})["!!!"][1]["mentions"]}


def test_short_forms_and_acronyms_are_resolved_within_the_document() -> None:
    names = other_names(PEOPLE)
    assert ("oriel tamsett", "tamsett", "short form") in names
    assert ("harbour board", "hb", "acronym") in names
    assert ("oriel tamsett", "oriel", "short form") in names
    _, facts = extracted(PEOPLE)["Harbour Board"]
    assert {(row[1], row[5]) for row in facts["mentions"] if row[5] in ("HB", "Tamsett")} == {
        ("harbour board", "HB"),
        ("oriel tamsett", "Tamsett"),
    }


def test_what_is_no_short_form_stays_apart() -> None:
    names = {other for _, other, _ in other_names(NO_SHORT_FORMS)}
    assert names & {"vodka", "ava", "alberta", "gale", "corran", "saltrey", "memcache"} == set()
    found = extracted(NO_SHORT_FORMS)
    assert ("oriel tamsett", "tamsett", "short form") in found["Quay"][1]["other_names"]
    assert "tamsett" in {row[1] for row in found["Tide"][1]["mentions"]}  # nobody there has the longer name


def test_a_word_that_mostly_is_a_name_by_itself_is_no_short_form_of_one_beside_it() -> None:
    once = {"Pier": "The pier was built by Oriel Quennel. Quennel left."}
    assert ("oriel quennel", "quennel", "short form") in other_names(once)
    often = {f"Shore {n}": "It lies in Quennel, and Quennel is far." for n in range(3)}
    assert "quennel" not in {other for _, other, _ in other_names(once | often)}


def test_names_that_people_keep_apart_are_not_one_in_any_document() -> None:
    apart = [("Tamsett", "Oriel Tamsett"), ("Harbour Board", "HB")]
    assert other_names(PEOPLE, apart) & {
        ("oriel tamsett", "tamsett", "short form"), ("harbour board", "hb", "acronym")
    } == set()  # fmt: skip
    _, facts = extracted(PEOPLE, [("The Harbour Board", "Harbour Board")])["Harbour Board"]
    spelled = {row[5]: row[1] for row in facts["mentions"]}
    assert spelled["The Harbour Board"] != spelled["Harbour Board"] == "harbour board"


def test_text_without_capitals_is_read_by_titles_and_phrases() -> None:
    found = extracted(
        {
            "東京": "東京は日本の首都である。",
            "日本": "日本は島国である。首都圏がある。",
            "大阪": "大阪は日本の都市で、首都圏ではない。",
            "京都": "京都は古い都市で、首都圏ではない。",
        }
    )
    assert (fold("東京"), "named_with", fold("日本")) in relations(found["東京"][1])
    naming = [title for title, (_, facts) in found.items() if fold("首都圏") in {row[1] for row in facts["mentions"]}]
    assert sorted(naming) == sorted(["日本", "大阪", "京都"])


def test_facts_of_a_document_depend_on_it_and_the_lexicon_alone() -> None:
    found = sources(WIKI | PEOPLE | NO_SHORT_FORMS, CHUNKING)
    one, other = Lexicon.of(found), Lexicon.of(found[::-1])
    rows = {each.number: extract(each, one) for each in found}
    assert rows == {each.number: extract(each, other) for each in found[::-1]}
    assert rows == {each.number: extract(each, one) for each in found}


def test_ends_that_no_entity_lists_are_mentions_too_and_weights_are_whole_numbers() -> None:
    [source] = sources({"Tide": "The tide rises."})
    facts = PassageFacts(
        (Entity("Gale", "storm", "a bad one", count=2),), (Relation("Gale", "hit", "Saltrey", "it hit", 0.2, "1883"),)
    )
    found = extract(source, Lexicon.of([source]), [[("model", facts)]])
    assert [row[1:] for row in found["mentions"]] == [
        ("gale", hash_of("gale"), "event", "event", "Gale", "storm", 2, "model"),
        ("saltrey", hash_of("saltrey"), "", "", "Saltrey", "", 1, "model"),
    ]
    assert found["relations"] == [(0, "gale", "event", "hit", "saltrey", "", 200_000, "1883", -1, 0, "it hit", "model")]
    assert found["descriptions"] == [(0, "gale", hash_of("gale"), "a bad one")]


@pytest.mark.parametrize("killed", [False, True])
def test_several_processes_extract_the_same_rows(
    tmp_path: Path, killed: bool, started: list[subprocess.Popen[bytes]]
) -> None:
    store = Store.write(tmp_path / "index")
    texts = WIKI | PEOPLE | NO_SHORT_FORMS
    texts |= {f"Light {n}": f"Keeper {n} Holm kept Light {n} near Port Elm." for n in range(150)}
    with store.batch() as batch:
        for document in documents(texts):
            put(batch, document)
    lexicon = Lexicon.make(store, store.folder)
    assert lexicon.path is not None
    apart = NamesApart.of([("Tamsett", "Oriel Tamsett")])
    found = list(store.sources())
    processes = Processes(lexicon.path, lexicon.epoch, apart, 2)
    if killed:
        for child in started:
            child.kill()
    assert processes.extract(found) == [extract(each, lexicon, apart=apart) for each in found]
    processes.close()
    assert all(child.poll() is not None for child in started)
    lexicon.close()
    store.close()
