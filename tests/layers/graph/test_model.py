"""Facts by a model and from a file: what is requested, cached, tried again, and stored beside the rules' facts."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import BudgetExceeded, LoadError, NoModel
from ragways.core.trace import Budget, spending
from ragways.layers.communities.assign import joined_in
from ragways.layers.graph.csr import WIDE
from ragways.layers.graph.extract import extract
from ragways.layers.graph.layer import GRAPH, VETO, split
from ragways.layers.graph.model import plain, read_facts
from ragways.layers.graph.names import veto_hash
from ragways.layers.graph.rules import PassageFacts, Relation
from ragways.layers.layer import CheckContext, Sample, Use
from ragways.layers.lexicon import Lexicon
from ragways.layers.settings import GraphSettings
from ragways.models.call import Call
from ragways.models.client import ModelClient
from ragways.store.cache import WorkCache
from ragways.store.source import Source
from ragways.store.store import Store
from ragways.testing.scripted import ScriptedModel
from tests.layers.graph.texts import sources
from tests.store.rows import failed_work, write_texts

TWO = {"Oriel Tamsett": "He built the pier of Saltrey in 1868.", "Lanner Queen": "She was lost in the gale of 1883."}
MADE = "1"


class Index:
    """Rows and a work cache; documents that have no facts yet are extracted by `run`, all in one batch."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.settings = GraphSettings.model_validate(settings)
        self.store = Store.write(folder)
        self.cache = WorkCache(folder)
        self.use = self.use_of(None)

    def use_of(self, model: ScriptedModel | None, pays: bool = True) -> Use:
        async def embed(_: Mapping[str, str]) -> None: ...

        lexicon = Lexicon.of(list(self.store.sources()))
        return Use(
            self.cache, ModelClient(model, cache=self.cache), None, embed, lambda _: None, {"graph": self.settings},
            lexicon=lexicon, pays=pays,
        )  # fmt: skip

    def run(self, texts: Mapping[str, str], model: ScriptedModel | None = None, *, pays: bool = True) -> list[str]:
        """Titles of the documents that were extracted."""
        write_texts(self.store, texts)
        self.use = self.use_of(model, pays)
        numbers = {*self.store.not_extracted("graph", MADE), *GRAPH.unfinished(self.store, self.use)}
        found: list[Source] = list(self.store.sources(sorted(numbers)))
        done = []
        for source, facts in zip(found, asyncio.run(GRAPH.extract(found, self.use)), strict=True):
            if facts is not None:
                done.append(source.title)
                with self.store.batch() as batch:
                    batch.put_facts("graph", source.number, facts, GRAPH.tables, MADE)
        return sorted(done)

    def view(self) -> Path:
        view = self.folder / f"views{self.store.generation}" / GRAPH.name
        view.mkdir(parents=True)
        asyncio.run(GRAPH.fold(view, self.store, None, self.use))
        return view

    def used(self) -> Mapping[str, set[str]]:
        return GRAPH.used(self.store, self.view(), self.use)

    def relations(self) -> set[tuple[str, str, str, str]]:
        return set(self.store.facts("relations", "subject, predicate, object, way"))

    def names(self) -> set[str]:
        return {row[0] for row in self.store.facts("mentions", "name")}

    def types(self, name: str) -> list[str]:
        """Of each entity with this name, its type."""
        graph = GRAPH.open(self.view(), self.store)
        return sorted(each.type for each in graph.entities(graph.named(name)).values() if each.name == name)

    def sample(self) -> Sample:
        found = list(self.store.sources())
        return Sample(found, len(found), sum(len(each.passages) for each in found), 1.0, lambda: iter(found))

    def close(self) -> None:
        self.store.close()
        self.cache.close()


@pytest.fixture
def made(tmp_path: Path):
    opened: list[Index] = []

    def make(**settings: object) -> Index:
        opened.append(Index(tmp_path / f"index{len(opened)}", **settings))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def entity(passage: int, name: str, type: str = "person") -> dict[str, object]:
    return {"passage": passage, "name": name, "type": type, "description": f"about {name}"}


def relation(passage: int, subject: str, predicate: str, object: str, date: str = "") -> dict[str, object]:
    return {"passage": passage, "subject": subject, "predicate": predicate, "object": object, "weight": 5,
            "date": date}  # fmt: skip


def reply(call: Call) -> dict[str, object]:
    """What a careful model finds in these two passages, whatever their numbers are in the pack."""
    shown = call.messages[-1].content
    number = {title: int(n) for n, title in re.findall(r"^\[(\d+)\] (.*)$", shown, re.MULTILINE)}
    entities, relations = [], []
    if n := number.get("Oriel Tamsett"):
        entities += [entity(n, "Oriel Tamsett"), entity(n, "Saltrey", "place")]
        relations += [relation(n, "Oriel Tamsett", "Built Pier Of", "Saltrey", "1868")]
    if n := number.get("Lanner Queen"):
        entities += [entity(n, "Lanner Queen", "ship")]
        relations += [relation(n, "Lanner Queen", "lost_in", "gale of 1883", "1883")]
    return {"entities": entities, "relations": relations}


NOTHING: dict[str, list[object]] = {"entities": [], "relations": []}


def test_short_passages_share_a_call_and_one_more_document_costs_its_own_alone(made: Any) -> None:
    index = made(method="model")
    with ScriptedModel([reply]) as model:
        assert index.run(TWO, model) == sorted(TWO)
    rows = index.store.facts("relations", "predicate, object_kind, weight, date, start, description, way")
    assert ("built_pier_of", "place", 1_000_000, "1868", 0, "", "model") in set(rows)  # the sentence that states it
    assert ("oriel tamsett", "built_pier_of", "saltrey", "model") in index.relations()
    ways = set(index.store.facts("mentions", "name, way"))
    assert {("lanner queen", "model"), ("lanner queen", "rules"), ("saltrey", "model")} <= ways
    assert ("saltrey", "rules") not in ways  # rules read titles, links and boxes alone
    assert ("saltrey", "about Saltrey") in set(index.store.facts("descriptions", "name, text"))
    with ScriptedModel([{"entities": [entity(1, "Tide", "event")], "relations": []}]) as model:
        assert index.run({"Tide": "The tide rises."}, model) == ["Tide"]
    assert "Tamsett" not in model.calls[0].messages[-1].content
    index.store.db.execute("UPDATE extracted SET made = ''")
    with ScriptedModel([]) as model:
        assert index.run({}, model) == sorted([*TWO, "Tide"])  # read again, and nothing is paid again


def test_an_unusable_reply_leaves_its_document_for_the_next_run(made: Any) -> None:
    index = made(method="model")

    def one_is_broken(call: Call) -> object:
        return "I would rather not" if "Lanner Queen" in call.messages[1].content else reply(call)

    # The pack of two fails three times, then each passage is asked for alone: one answers, one fails three times more.
    with ScriptedModel([one_is_broken] * 7) as model:
        assert index.run(TWO, model) == ["Oriel Tamsett"]
    assert index.use.failed == 1
    assert "no usable reply" in index.use.why
    [kind] = index.cache.kinds("facts:")
    assert re.fullmatch(r"facts:model-[0-9a-f]{8}-scripted", kind)
    [(failed, tries, error, text)] = failed_work(index.folder)
    assert (failed, tries, "no usable reply" in error, "rather not" in text) == (kind, 1, True, True)
    with ScriptedModel([reply]) as model:
        assert index.run({}, model) == ["Lanner Queen"]
    assert failed_work(index.folder) == []
    assert "gale of 1883" in index.names()


@pytest.mark.parametrize("shape", ["another", "cut"])
def test_a_reply_of_another_shape_or_cut_is_a_failure_and_not_a_passage_without_facts(made: Any, shape: str) -> None:
    index = made(method="model")

    def broken(call: Call) -> object:
        return {"foo": [1, 2]} if shape == "another" else json.dumps(reply(call))[:-40]

    with ScriptedModel([broken] * 9) as model:
        assert index.run(TWO, model) == []
    assert index.use.failed == 2
    with ScriptedModel([reply]) as model:
        assert index.run({}, model) == sorted(TWO)


def test_a_second_look_adds_to_the_first(made: Any) -> None:
    index = made(method="model", gleaning=1)
    more = {"entities": [entity(1, "Pier Company", "company")], "relations": []}
    with ScriptedModel([reply, more]) as model:
        index.run({"Oriel Tamsett": TWO["Oriel Tamsett"]}, model)
    assert "Oriel Tamsett built_pier_of Saltrey" in model.calls[1].messages[-1].content
    assert {"pier company", "saltrey"} <= index.names()


def test_a_budget_stops_the_work_and_what_was_paid_for_is_not_paid_again(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragways.layers.units.UNITS_AT_ONCE", 1)
    index = made(method="model", passage_tokens=1)
    with ScriptedModel([reply]) as model, spending(Budget(calls=1)), pytest.raises(BudgetExceeded):
        index.run(TWO, model)
    with ScriptedModel([reply]) as model:
        assert index.run({}, model) == sorted(TWO)


def test_a_run_that_may_not_pay_leaves_documents_to_the_next_and_one_without_a_model_is_an_error(made: Any) -> None:
    index = made(method="model")
    assert index.run(TWO, pays=False) == []
    with pytest.raises(NoModel):
        index.run({})
    with ScriptedModel([reply]) as model:
        index.run({}, model)
    assert index.run({}, pays=False) == []


def test_what_a_model_would_cost_is_counted_and_only_for_what_is_missing(made: Any) -> None:
    index = made(method="model", passage_tokens=1)
    with ScriptedModel([reply]) as model:
        index.run({"Oriel Tamsett": TWO["Oriel Tamsett"]}, model)
    write_texts(index.store, {**TWO, "Tide": "The tide rises.", "Same": ""})
    with ScriptedModel([reply, NOTHING]) as model:
        use = index.use_of(model)
        estimate = GRAPH.estimate(index.sample(), use)
        assert model.calls == []
        asyncio.run(GRAPH.extract(list(index.store.sources()), use))
    assert estimate.usage.calls == len(model.calls) == 2
    assert estimate.usage.input > 0
    assert estimate.kind == index.cache.kinds("facts:")[0]
    assert estimate.rows > 0


# What kinds of things they are

BANDS = {
    "Delhi": "Indian Ocean played in Delhi.",
    "Seas": "The Indian Ocean is the third largest of the seas.",
    "Both": "Indian Ocean, the band, once played on a beach of the Indian Ocean.",
}


def kinds_by_document(call: Call) -> dict[str, object]:
    types = {"Delhi": ["band"], "Seas": ["ocean"], "Both": ["band", "ocean"]}
    shown = re.findall(r"^\[(\d+)\] (.*)$", call.messages[-1].content, re.MULTILINE)
    named = [entity(int(n), "Indian Ocean", type) for n, title in shown for type in types[title]]
    return {"entities": named, "relations": []}


@pytest.mark.parametrize("titles", [["Delhi", "Seas"], ["Both"], [*BANDS]])
def test_things_of_one_name_and_of_two_types_are_two(made: Any, titles: list[str]) -> None:
    index = made(method="model")
    with ScriptedModel([kinds_by_document]) as model:
        index.run({title: BANDS[title] for title in titles}, model)
    assert index.types("Indian Ocean") == ["band", "ocean"]


def test_types_of_a_model_are_not_overridden_by_rules(made: Any) -> None:
    text = "Midway is a film of 2019. Midway was well received."
    typed = {"entities": [entity(1, "Midway", "place")], "relations": []}
    index = made(method="model")
    with ScriptedModel([typed]) as model:
        index.run({"Midway (film)": text, "Other": ""}, model)
    rows = set(index.store.facts("mentions", "name, type, way"))
    assert {type for _, type, way in rows if way == "rules"} == {""}
    assert ("midway", "place", "model") in rows or ("midway film", "place", "model") in rows


VALUES = [
    "1868", "19th century", "between 995 and 997", "early 1990s", "4 May 1990", "$5 million", "1,200 people", "42",
    "Brazilian", "asynchronous",
]  # fmt: skip


def test_dates_numbers_and_adjectives_are_no_members_of_communities(made: Any) -> None:
    named = [entity(1, "Oriel Tamsett"), entity(1, "Saltrey", "place"), entity(1, "1984", "work")]
    stated = [relation(1, "Oriel Tamsett", "has", value) for value in (*VALUES, "Saltrey", "1984", "Vivian Stone")]
    index = made(method="model")
    with ScriptedModel([{"entities": named, "relations": stated}]) as model:
        index.run({"Oriel Tamsett": TWO["Oriel Tamsett"]}, model)
    joined = joined_in(index.view())
    names = {joined.arrays.text(int(code) // WIDE) for code in joined.arrays.codes[joined.places]}
    assert names == {"oriel tamsett", "saltrey", "1984", "vivian stone"}


def test_a_relation_stands_with_the_sentence_that_states_it() -> None:
    said = ["Oriel Tamsett was an engineer.", "He was married to Ruth Calder in 1870.", "Tamsett built Saltrey Pier."]
    stated = [("married", "Ruth Calder", "1870"), ("built", "Saltrey Pier", ""), ("was", "engineer", "")]
    relations = tuple(Relation("Oriel Tamsett", one, other, date=date) for one, other, date in stated)
    [source] = sources({"Oriel Tamsett": " ".join(said)})
    rows = extract(source, Lexicon.of([source]), [[("model", PassageFacts((), relations))]])["relations"]
    shown = {row[3]: source.text[row[8] : row[8] + row[9]] for row in rows}
    assert shown == {"married": said[1], "built": said[2], "was": said[0]}


# The schema

SCHEMA = {
    "entities": {"engineer": "who builds", "Pier": "what stands in the sea"},
    "relations": {"built": "an engineer made a pier"},
}


def test_what_a_schema_does_not_name_is_counted_and_not_stored(made: Any) -> None:
    index = made(method="model", schema=SCHEMA, gleaning=1, structure=False)
    names = {"Oriel Tamsett": "engineer", "Saltrey Pier": "pier", "Saltrey": "place", "Ness Pier": "pier"}
    stated = [("Oriel Tamsett", "Built", "Saltrey Pier"), ("Oriel Tamsett", "built", "1868"),
              ("Oriel Tamsett", "liked", "Saltrey Pier"), ("Oriel Tamsett", "built", "Saltrey")]  # fmt: skip
    first = {"entities": [entity(1, *each) for each in names.items()], "relations": [relation(1, *r) for r in stated]}
    more = {"entities": [], "relations": [relation(1, "Oriel Tamsett", "built", "Ness Pier")]}
    with ScriptedModel([first, more]) as model:
        index.run({"Oriel Tamsett": TWO["Oriel Tamsett"]}, model)
    for call in model.calls:
        assert "- Pier: what stands in the sea" in call.messages[0].content
        assert "- built: an engineer made a pier" in call.messages[0].content
    assert index.names() == {"oriel tamsett", "saltrey pier", "ness pier", "1868"}
    assert {(one, other) for _, one, other, _ in index.relations()} == {
        ("built", "saltrey pier"), ("built", "1868"), ("built", "ness pier")
    }  # fmt: skip
    assert index.use.outside == {"place": 1, "liked": 1, "built": 1}


def test_two_types_of_a_schema_are_two_things_of_one_name(made: Any) -> None:
    index = made(method="model", schema={"entities": {"gene": "codes for a protein", "protein": "a molecule"}})
    found = [entity(1, "BRCA1", "gene"), entity(1, "BRCA1", "protein")]
    with ScriptedModel([{"entities": found, "relations": []}]) as model:
        index.run({"Cells": "BRCA1 codes for BRCA1."}, model)
    assert index.types("BRCA1") == ["gene", "protein"]


def test_another_schema_is_another_question(made: Any) -> None:
    made_with = [
        GRAPH.facts_made_with(GraphSettings.model_validate({"method": "model", "schema": schema}))
        for schema in ({}, SCHEMA, {"entities": SCHEMA["entities"]})
    ]
    assert len(set(made_with)) == 3


# From a file

HIPPO = {
    "docs": [
        {
            "title": "Oriel Tamsett",
            "text": TWO["Oriel Tamsett"],
            "passage": "Oriel Tamsett\n" + TWO["Oriel Tamsett"],
            "extracted_entities": ["Oriel Tamsett", "Saltrey"],
            "extracted_triples": [["Oriel Tamsett", "built pier of", "Saltrey"], ["broken", "triple"]],
        }
    ]
}


def test_hipporags_layout(made: Any, tmp_path: Path) -> None:
    file = tmp_path / "openie.json"
    file.write_text(json.dumps(HIPPO))
    index = made(method="import", file=str(file))
    index.run(TWO)
    assert index.relations() == {("oriel tamsett", "built_pier_of", "saltrey", "import")}


def test_a_triple_a_line_by_id_hash_or_text_and_a_text_in_several_chunks(made: Any, tmp_path: Path) -> None:
    parts = ["Saltrey is an island in the sea, far from all.", "Lanner is another island, and quite as far from all."]
    [whole] = sources({"Isles": "\n\n".join(parts)})
    file = tmp_path / "triples.jsonl"
    index = made(method="import", file=str(file), structure=False)
    write_texts(index.store, {**TWO, "Isles": whole.text})
    tamsett = next(source for source in index.store.sources() if source.title == "Oriel Tamsett")
    lines = [
        {"subject": "Lanner Queen", "predicate": "lost in", "object": "gale", "text": TWO["Lanner Queen"]},
        {"subject": "Lanner Queen", "predicate": "sister of", "object": "Grey Petrel", "passage": TWO["Lanner Queen"]},
        {"subject": "Tamsett", "predicate": "built", "object": "pier", "chunk": tamsett.passages[0].id},
        {"subject": "Tamsett", "predicate": "died", "object": "1883", "hash": tamsett.passages[0].hash},
        {"subject": "It", "predicate": "is", "object": "Saltrey", "text": whole.text},
        {"subject": "It", "predicate": "is", "object": "Lanner", "text": whole.text},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert len(read_facts(file)[plain(TWO["Lanner Queen"])].relations) == 2
    index.run({})
    found = set(index.store.facts("relations", "chunk, predicate, object"))
    assert found == {(0, "lost_in", "gale"), (0, "sister_of", "grey petrel"), (0, "built", "pier"),
                     (0, "is", "saltrey"), (1, "is", "lanner")}  # fmt: skip


def test_only_settings_of_facts_have_documents_read_again() -> None:
    one = GRAPH.facts_made_with(GraphSettings())
    view = {"vectors": "all", "relation_vectors": True, "near": True, "near_string": 0.5, "processes": 2}
    assert GRAPH.facts_made_with(GraphSettings.model_validate(view)) == one
    for other in ({"method": "model"}, {"apart": [["a", "b"]]}):
        assert GRAPH.facts_made_with(GraphSettings.model_validate(other)) != one
    model = GRAPH.facts_made_with(GraphSettings(method="model"))
    for more in ({"gleaning": 1}, {"passage_tokens": 9}, {"structure": False}):
        assert GRAPH.facts_made_with(GraphSettings.model_validate({"method": "model", **more})) != model


def test_a_file_without_triples_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"no": "docs"}')
    with pytest.raises(LoadError):
        read_facts(tmp_path / "x.json")
    with pytest.raises(LoadError):
        GRAPH.facts_made_with(GraphSettings(method="import", file=str(tmp_path / "missing.json")))


# Corrections

PEOPLE = {
    "Oriel Tamsett": "Oriel Tamsett was an engineer. Tamsett built the Pier Office in Saltrey.",
    "Tide": "The tide rises at Saltrey.",
}


def test_a_split_has_the_documents_read_again_that_it_concerns_and_erasing_spares_it(made: Any) -> None:
    index = made()
    assert index.run(PEOPLE) == sorted(PEOPLE)
    assert "tamsett" not in index.names()
    index.close()
    split(index.folder, "Tamsett", "Oriel Tamsett")
    index.store, index.cache = Store.write(index.folder), WorkCache(index.folder)
    assert len(list(GRAPH.unfinished(index.store, index.use))) == 1
    assert index.run({}) == ["Oriel Tamsett"]
    assert {"tamsett", "oriel tamsett"} <= index.names()
    hash = veto_hash("Oriel Tamsett", "Tamsett")
    assert index.used()[VETO] == {hash}
    index.run({"Oriel Tamsett": ""})
    assert index.used()[VETO] == set()


def test_a_view_that_is_not_made_of_its_rows_is_reported(made: Any) -> None:
    index = made()
    index.run(PEOPLE)
    context = CheckContext(index.store, None, index.view().parent)
    assert [found.name for found in GRAPH.check(context) if found.severity == "error"] == []
    index.store.db.execute("DELETE FROM mentions WHERE name = 'saltrey'")
    assert "graph: arrays that are not made of the rows" in {found.name for found in GRAPH.check(context)}


def test_facts_are_of_the_model_that_extracts(made: Any) -> None:
    index = made(method="model")
    write_texts(index.store, TWO)
    with ScriptedModel([]) as large, ScriptedModel([reply], name="small") as small:
        use = index.use_of(large)
        use.model.roles["extract"] = ModelClient(small)
        estimate = GRAPH.estimate(index.sample(), use)
        asyncio.run(GRAPH.extract(list(index.store.sources()), use))
    assert (estimate.role, [estimate.kind]) == ("extract", index.cache.kinds("facts:"))
    assert estimate.kind.endswith("-small")
