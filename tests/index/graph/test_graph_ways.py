"""Facts by a model and from a file."""

from __future__ import annotations

import json
import re

import pytest

from ragways.core.errors import LoadError, NoModel, SettingsError
from ragways.core.trace import Budget, spending
from ragways.index.graph.extraction import PASSAGES_IN_PACK, packs, plain, read_facts
from ragways.index.graph.facts import SourcePassage
from ragways.index.layers import layer_settings
from ragways.index.work_cache import WorkCache
from ragways.models.call import Call
from ragways.testing.scripted import ScriptedModel
from tests.index.graph.graph_fakes import graph_of, recipe, run, write

TWO = {"Oriel Tamsett": "He built the pier of Saltrey in 1868.", "Lanner Queen": "She was lost in the gale of 1883."}


def _entity(passage: int, name: str, type: str = "person") -> dict[str, object]:
    return {"passage": passage, "name": name, "type": type, "description": f"about {name}"}


def _relation(passage: int, subject: str, predicate: str, object: str, date: str = "") -> dict[str, object]:
    return {"passage": passage, "subject": subject, "predicate": predicate, "object": object, "description": "it is so",
            "weight": 5, "date": date}  # fmt: skip


def say(call: Call) -> dict[str, object]:
    """What a careful model says of these two passages, whatever their numbers are in the pack."""
    asked = call.messages[-1].content
    number = {title: int(n) for n, title in re.findall(r"^\[(\d+)\] (.*)$", asked, re.MULTILINE)}
    entities, relations = [], []
    if n := number.get("Oriel Tamsett"):
        entities += [_entity(n, "Oriel Tamsett"), _entity(n, "Saltrey", "place")]
        relations += [_relation(n, "Oriel Tamsett", "Built Pier Of", "Saltrey", "1868")]
    if n := number.get("Lanner Queen"):
        entities += [_entity(n, "Lanner Queen", "ship")]
        relations += [_relation(n, "Lanner Queen", "lost_in", "gale of 1883", "1883")]
    return {"entities": entities, "relations": relations}


def test_short_passages_share_a_call_and_are_kept_apart(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", TWO)
    with ScriptedModel([say]) as model:
        run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    graph = graph_of(tmp_path / "index")
    triplet = next(t for t in graph.triplets(graph.named("Saltrey")))
    assert (triplet.subject_name, triplet.predicate, triplet.object_name) == (
        "Oriel Tamsett",
        "built_pier_of",
        "Saltrey",
    )
    assert (triplet.date, triplet.way, triplet.weight) == ("1868", "model", 1.0)
    assert graph.entities(graph.named("Lanner Queen"))[graph.named("Lanner Queen")[0]].way == "model+rules"
    assert len(graph.mentions(graph.named("Saltrey"))) == 1
    # Nothing is asked twice: a new article is asked about alone.
    write(corpus, {"Tide": "The tide rises."})
    with ScriptedModel([{"entities": [_entity(1, "Tide", "event")], "relations": []}]) as model:
        run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    assert "Tamsett" not in model.calls[0].messages[-1].content


def test_an_unusable_reply_is_recorded_and_tried_again(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", TWO)

    def one_is_broken(call: Call) -> object:
        asked = call.messages[1].content
        return "I would rather not" if "Lanner Queen" in asked else say(call)

    # The pack of two fails three times, then each passage is asked alone: one answers, one fails three times more.
    with ScriptedModel([one_is_broken] * 7) as model:
        run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    work_cache = WorkCache(tmp_path / "index")
    [(kind,)] = work_cache._db.execute("SELECT DISTINCT kind FROM failures").fetchall()
    [(_, tries, error, reply)] = work_cache.failures(kind)
    work_cache.close()
    assert kind.startswith("facts:model-")
    assert kind.endswith("-scripted")
    assert tries == 1
    assert "no usable reply" in error
    assert "rather not" in reply
    assert graph_of(tmp_path / "index").named("Saltrey")
    # Once something is to be done, it is tried again.
    write(corpus, {"Tide": ""})
    (corpus / "Tide.json").write_text(json.dumps([{"title": "Tide", "text": "The tide rises."}]))
    with ScriptedModel([say]) as model:
        run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    work_cache = WorkCache(tmp_path / "index")
    assert work_cache.failures(kind) == []
    work_cache.close()
    assert graph_of(tmp_path / "index").named("gale of 1883")


@pytest.mark.parametrize("shape", ["another", "cut"])
def test_a_reply_of_another_shape_or_cut_in_the_middle_is_a_failure_and_not_a_passage_without_facts(
    tmp_path, shape
) -> None:
    corpus = write(tmp_path / "corpus", TWO)

    def broken(call: Call) -> object:
        return {"foo": [1, 2]} if shape == "another" else json.dumps(say(call))[:-40]

    with ScriptedModel([broken] * 9) as model:
        summary = run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    assert summary.undone == 2
    with ScriptedModel([say]) as model:
        run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    assert graph_of(tmp_path / "index").named("gale of 1883")


def test_a_second_look_adds_to_the_first(tmp_path) -> None:
    more = {"entities": [_entity(1, "Pier Company", "company")], "relations": []}
    with ScriptedModel([say, more]) as model:
        corpus = write(tmp_path / "corpus", {"Oriel Tamsett": TWO["Oriel Tamsett"]})
        run(tmp_path / "index", corpus, recipe({"method": "model", "gleaning": 1}, model))
    assert "Oriel Tamsett built_pier_of Saltrey" in model.calls[1].messages[-1].content
    graph = graph_of(tmp_path / "index")
    assert graph.named("Pier Company")
    assert graph.named("Saltrey")


def test_a_budget_stops_cleanly_and_keeps_what_is_done(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("ragways.index.units.UNITS_AT_ONCE", 1)
    corpus = write(tmp_path / "corpus", TWO)
    with ScriptedModel([say]) as model, spending(Budget(calls=1)):
        summary = run(tmp_path / "index", corpus, recipe({"method": "model", "passage_tokens": 1}, model))
    assert "budget" in summary.stopped
    graph = graph_of(tmp_path / "index")
    assert bool(graph.named("Saltrey")) != bool(graph.named("gale of 1883"))


def test_the_model_way_needs_a_model(tmp_path) -> None:
    with pytest.raises(NoModel):
        run(tmp_path / "index", write(tmp_path / "corpus", TWO), recipe({"method": "model"}))


def test_packs_hold_what_fits() -> None:
    passages = [SourcePassage(f"article:{n}:c0", 0, 9, "t", "one two three four") for n in range(40)]
    packed = list(packs(passages, 16))
    assert [p for pack in packed for p in pack] == passages
    assert {len(pack) for pack in packed} == {4}
    assert max(len(pack) for pack in packs(passages, 10_000)) == PASSAGES_IN_PACK


def test_a_removal_keeps_the_way_and_forgets_the_text(tmp_path) -> None:
    corpus = write(tmp_path / "corpus", TWO)
    with ScriptedModel([say]) as model:
        run(tmp_path / "index", corpus, recipe({"method": "model"}, model))
    import asyncio

    from ragways.index.build import remove

    asyncio.run(remove(tmp_path / "index", ["Lanner Queen"]))
    graph = graph_of(tmp_path / "index")
    assert graph.entities(graph.named("Saltrey"))[graph.named("Saltrey")[0]].way == "model"
    assert graph.named("gale of 1883") == []
    newest = max((tmp_path / "index" / "derived").iterdir(), key=lambda path: int(path.name))
    for file in [tmp_path / "index" / "work_cache.sqlite", *newest.rglob("*")]:
        if file.is_file():
            assert b"gale of 1883" not in file.read_bytes(), file


# Imported

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


def test_hipporags_layout(tmp_path) -> None:
    file = tmp_path / "openie.json"
    file.write_text(json.dumps(HIPPO))
    run(tmp_path / "index", write(tmp_path / "corpus", TWO), recipe({"method": "import", "file": str(file)}))
    graph = graph_of(tmp_path / "index")
    [triplet] = graph.triplets(graph.named("Saltrey"))
    assert (triplet.predicate, triplet.way) == ("built_pier_of", "import")
    assert graph.relation_chunks([triplet.id])[triplet.id] == [c for c, _ in graph.mentions(graph.named("Saltrey"))]


def test_a_triple_a_line(tmp_path) -> None:
    file = tmp_path / "triples.jsonl"
    lines = [
        {"subject": "Lanner Queen", "predicate": "lost in", "object": "gale", "text": TWO["Lanner Queen"]},
        {"subject": "Lanner Queen", "predicate": "sister of", "object": "Grey Petrel", "passage": TWO["Lanner Queen"]},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert len(read_facts(file)[plain(TWO["Lanner Queen"])].relations) == 2
    run(tmp_path / "index", write(tmp_path / "corpus", TWO), recipe({"method": "import", "file": str(file)}))
    graph = graph_of(tmp_path / "index")
    assert {t.predicate for t in graph.triplets(graph.named("Lanner Queen"))} == {"lost_in", "sister_of"}


def test_a_file_that_holds_no_triples_says_so(tmp_path) -> None:
    (tmp_path / "x.json").write_text('{"no": "docs"}')
    with pytest.raises(LoadError):
        read_facts(tmp_path / "x.json")
    with pytest.raises(LoadError):
        read_facts(tmp_path / "missing.json")


@pytest.mark.parametrize(
    "bad", [{"method": "magic"}, {"methods": "rules"}, {"method": "import"}, {"vectors": "some"}, {"gleaning": "lots"}]
)
def test_settings_are_checked(bad: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        layer_settings({"graph": bad})
