"""The layer built by the real builder: the same whatever way documents came, paid for once, and gone when they go."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragways.core.errors import NoModel, SettingsError
from ragways.core.trace import Budget, spending
from ragways.index.build import remove
from ragways.index.communities import finding as finding_module
from ragways.index.communities import report_texts
from ragways.index.communities import reports as reports_module
from ragways.index.communities.community_rows import CommunityRows
from ragways.index.communities.entity_links import EntityLinks
from ragways.index.communities.report import CommunityFinding, CommunityReport
from ragways.index.communities.report_texts import ReportTexts
from ragways.index.communities.reports import CommunityReports
from ragways.index.graph import relation_ids
from ragways.index.graph.relation_ends import RelationEnds
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.layers import layer_settings
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.testing.server import LoopbackServer
from tests.fakes import WordHashes, reseal, write
from tests.index.communities.corpora import FAR, HARBOUR, ORCHARD, Reporter, held, opened, run

ALL = {**HARBOUR, **ORCHARD, **FAR}


def paid_rows(folder: Path, table: str = "results") -> list[tuple[Any, ...]]:
    db = sqlite3.connect(folder / "work_cache.sqlite")
    try:
        return db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
    finally:
        db.close()


def test_a_report_by_rule_names_the_central_and_quotes_what_joins_them(tmp_path: Path):
    write(tmp_path / "corpus", ALL)
    run(tmp_path / "index", tmp_path / "corpus")
    read = opened(tmp_path / "index")
    assert read.levels() == [0]
    assert {frozenset(c.title.split(", ")) for c in read.of_level(0)} == {
        frozenset({"Orla Tamsett", "Skerry Light", "Harbour Guild"}),
        frozenset({"Maud Venn", "Vale Market", "Piers Hallow"}),
        frozenset({"Comet Ysolde", "Tycho Marn", "Star Society"}),
    }
    assert all(c.way == "rules" and c.tokens > 0 and c.leaf for c in read.of_level(0))
    text = " ".join(" ".join(part.split("\n\n")) for part in ALL.values())
    for community in read.of_level(0):
        report = read.report(community.id)
        assert report is not None
        members = set(read.members(community.id))
        assert len(report.findings) >= 3
        assert [f.rating for f in report.findings] == sorted((f.rating for f in report.findings), reverse=True)
        for finding in report.findings:
            assert finding.text in text
            assert 0 < finding.rating <= 10
            assert set(finding.entities) <= members
    read.close()


def test_the_reader_finds_communities_by_entity_and_by_vector(tmp_path: Path):
    write(tmp_path / "corpus", ALL)
    embedder = WordHashes()
    run(tmp_path / "index", tmp_path / "corpus", embedder=embedder)
    read = opened(tmp_path / "index")
    for community in read.of_level(0):
        members = read.members(community.id)
        assert all([c.id for c in read.of_entity(member)] == [community.id] for member in members)
        report = read.report(community.id)
        assert report is not None
        vector = asyncio.run(embedder.embed([report.embedded]))[0]
        ((nearest, cosine),) = read.nearest(vector, 1)
        assert nearest == community.id
        assert cosine == pytest.approx(1.0, abs=1e-3)
    assert read.of_entity("entity:nobody") == []
    assert read.report("community:none") is None
    assert read.counts() == {"rules": 3}
    read.close()


NAMES = sorted(ALL)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(NAMES), st.integers(1, len(NAMES) - 1))
def test_any_order_of_documents_gives_the_same_layer(tmp_path_factory, order, first):
    home = tmp_path_factory.mktemp("order")
    for some in (order[:first], order[first:]):
        write(home / "corpus", {name: ALL[name] for name in some})
        run(home / "index", home / "corpus", size=4)
    whole = tmp_path_factory.mktemp("whole")
    write(whole / "corpus", ALL)
    run(whole / "index", whole / "corpus", size=4)
    assert held(home / "index") == held(whole / "index")


def test_a_model_writes_reports_once_and_anew_only_where_something_changed(tmp_path: Path):
    model = Reporter()
    write(tmp_path / "corpus", {**HARBOUR, **ORCHARD})
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    assert len(model.calls) == 2
    before = {row[0]: row for row in held(tmp_path / "index")["communities"]}
    write(tmp_path / "corpus", FAR)
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    assert len(model.calls) == 3, "only the new community is asked for"
    assert "Comet Ysolde" in model.calls[-1].messages[-1].content
    after = {row[0]: row for row in held(tmp_path / "index")["communities"]}
    assert before.items() < after.items()
    (tmp_path / "corpus" / "venn.md").write_text(ORCHARD["venn.md"].replace("cider", "perry"))
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    assert len(model.calls) == 4, "the same members, and other text behind them"
    assert "perry" in model.calls[-1].messages[-1].content


def test_reports_of_a_model_are_not_paid_again_where_ids_of_relations_are_made_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What a model is shown is in an order that ids of relations do not decide."""
    model = Reporter()
    write(tmp_path / "corpus", ALL)
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    paid = len(model.calls)
    with sqlite3.connect(tmp_path / "index" / "index.sqlite") as db:
        before = {row.id for row in StoredRelations(db).all()}
        db.execute("DELETE FROM meta WHERE key = 'graph_meant'")
    reseal(tmp_path / "index")
    shutil.rmtree(tmp_path / "index" / "derived")
    monkeypatch.setattr(relation_ids, "_STEPS", ((29, 0xBF58476D1CE4E5B9), (31, 0x94D049BB133111EB)))
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    with sqlite3.connect(tmp_path / "index" / "index.sqlite") as db:
        assert before.isdisjoint(row.id for row in StoredRelations(db).all())
    assert len(model.calls) == paid


def test_what_a_model_says_is_kept_with_the_entities_it_rests_on(tmp_path: Path):
    write(tmp_path / "corpus", ORCHARD)
    run(tmp_path / "index", tmp_path / "corpus", Reporter(), method="model")
    read = opened(tmp_path / "index")
    (community,) = read.of_level(0)
    assert (community.title, community.way, community.rank) == ("About Vale Market", "model", 7.0)
    report = read.report(community.id)
    assert report is not None
    assert [finding.text for finding in report.findings] == ["Vale Market matters most.", "Vale Market matters."]
    assert len(report.findings[1].entities) == 1, "a name that is no member is left out"
    assert set(report.findings[0].entities) <= set(read.members(community.id))
    read.close()


def test_a_loopback_endpoint_writes_reports_too(tmp_path: Path):
    write(tmp_path / "corpus", ALL)
    said = {"title": "T", "summary": "S.", "rating": 3, "findings": [{"text": "F.", "rating": 2, "entities": []}]}
    with LoopbackServer(reply=lambda body: json.dumps(said)) as server:
        client = ModelClient(Endpoint(server.base_url, "", "loopback"))
        run(tmp_path / "index", tmp_path / "corpus", client, method="model")
        assert server.count == 3
    read = opened(tmp_path / "index")
    assert read.counts() == {"model": 3}
    read.close()
    kinds = {row[0] for row in paid_rows(tmp_path / "index")}
    assert all(kind.startswith("report:model-") and kind.endswith("-loopback") for kind in kinds)


def test_an_unusable_reply_is_recorded_marked_and_tried_again(tmp_path: Path):
    write(tmp_path / "corpus", ORCHARD)
    run(tmp_path / "index", tmp_path / "corpus", Reporter(fail=3), method="model")
    read = opened(tmp_path / "index")
    assert [(c.way, c.title) for c in read.of_level(0)] == [("", "")]
    assert read.report(read.of_level(0)[0].id) is None
    read.close()
    ((kind, _, tries, error, reply),) = paid_rows(tmp_path / "index", "failures")
    assert kind.startswith("report:model-")
    assert [tries, reply] == [1, "no report today"]
    assert "no usable reply" in error
    write(tmp_path / "corpus", FAR)
    model = Reporter()
    run(tmp_path / "index", tmp_path / "corpus", model, method="model")
    assert len(model.calls) == 2
    assert paid_rows(tmp_path / "index", "failures") == []
    read = opened(tmp_path / "index")
    assert read.counts() == {"model": 2}
    read.close()


def test_a_budget_stops_cleanly_and_the_next_run_goes_on(tmp_path: Path):
    write(tmp_path / "corpus", ALL)
    first = Reporter()
    with spending(Budget(calls=2)):
        summary = run(tmp_path / "index", tmp_path / "corpus", ModelClient(first, concurrency=1), method="model")
    assert "budget" in summary.stopped
    read = opened(tmp_path / "index")
    assert read.counts() == {"": 1, "model": 2}
    read.close()
    assert len(paid_rows(tmp_path / "index")) == len(first.calls) == 2
    write(tmp_path / "corpus", {"note.md": "# Note\n\nNothing here."})
    second = Reporter()
    run(tmp_path / "index", tmp_path / "corpus", second, method="model")
    assert len(second.calls) == 1


def test_removing_a_document_leaves_no_report_of_it(tmp_path: Path):
    index = tmp_path / "index"
    write(tmp_path / "corpus", {**HARBOUR, **ORCHARD})
    run(index, tmp_path / "corpus", Reporter(), method="model")
    before = held(index), paid_rows(index), paid_rows(index, "vectors")
    write(tmp_path / "corpus", FAR)
    run(index, tmp_path / "corpus", Reporter(), method="model")
    assert len(paid_rows(index)) == 3
    asyncio.run(remove(index, ["Comet Ysolde"]))
    assert (held(index), paid_rows(index), paid_rows(index, "vectors")) == before
    for file in index.rglob("*"):
        if file.is_file():
            assert b"Ysolde" not in file.read_bytes(), file


def test_a_removal_marks_what_it_changed_and_keeps_the_settings(tmp_path: Path):
    index = tmp_path / "index"
    write(tmp_path / "corpus", {**HARBOUR, **ORCHARD})
    run(index, tmp_path / "corpus", Reporter(), method="model")
    asyncio.run(remove(index, ["Vale Market"]))
    read = opened(index)
    assert sorted(c.way for c in read.of_level(0)) == ["", "model"]
    read.close()
    assert len(paid_rows(index)) == 1
    (tmp_path / "corpus" / "market.md").unlink()
    model = Reporter()
    run(index, tmp_path / "corpus", model, method="model")
    assert len(model.calls) == 1, "the next run writes what the removal left"


def test_small_communities_and_those_with_little_text_are_not_put_to_a_model(tmp_path: Path):
    write(tmp_path / "corpus", ALL)
    model = Reporter()
    run(tmp_path / "index", tmp_path / "corpus", model, method="model", text=60, members=5)
    read = opened(tmp_path / "index")
    assert read.counts() == {"": 2, "model": 1}
    read.close()
    again = Reporter()
    run(tmp_path / "other", tmp_path / "corpus", again, method="model", text=100_000)
    assert again.calls == []
    read = opened(tmp_path / "other")
    assert read.counts() == {"rules": 3}
    read.close()


def test_a_large_community_is_split_and_its_report_rests_on_those_below(tmp_path: Path):
    # A ring of tight groups: modularity alone prefers several of them as one.
    names = [
        f"{first} {last}"
        for first in ("Aldo", "Cora", "Egon", "Gwen")
        for last in ("Brine", "Dunn", "Frost", "Jute", "Kell", "Lorn")
    ]
    parts = {}
    for n, name in enumerate(names):
        own = [f"{name.replace(' ', '')} {word}" for word in ("Bridge", "Tower", "Mill")]
        said = [f"{name} owned {one} and {other}." for one in own for other in own if one < other]
        parts[f"p{n}.md"] = f"# {name}\n\n{' '.join(said)} {name} knew {names[n - 1]}."
    write(tmp_path / "corpus", parts)
    model = Reporter()
    run(tmp_path / "index", tmp_path / "corpus", model, method="model", size=6)
    read = opened(tmp_path / "index")
    tops = read.of_level(0)
    split = [c for c in tops if not c.leaf]
    assert split
    shown = [text for c in model.calls if "Reports of its parts" in (text := c.messages[-1].content)]
    for community in split:
        children = read.children(community.id)
        assert sorted(m for child in children for m in read.members(child.id)) == read.members(community.id)
        assert any(all(f"{child.title}: {child.summary}" in text for child in children if child.way) for text in shown)
    entities = sorted(m for c in tops for m in read.members(c.id))
    for level in read.levels():
        assert sorted(m for c in read.of_level(level) for m in read.members(c.id)) == entities
    read.close()


def test_a_corpus_without_entities_has_no_communities(tmp_path: Path):
    write(tmp_path / "corpus", {"a.md": "nothing to see here."})
    run(tmp_path / "index", tmp_path / "corpus")
    read = opened(tmp_path / "index")
    assert (read.levels(), read.of_level(0), read.tokens_of_level(0)) == ([], [], 0)
    assert read.nearest(asyncio.run(WordHashes().embed(["x"]))[0], 3) == []
    read.close()


def test_the_last_document_can_be_removed_and_an_empty_folder_indexed(tmp_path: Path):
    write(tmp_path / "corpus", {"light.txt": "The Skerry Light was lit by Orla Tamsett for the Harbour Guild."})
    run(tmp_path / "index", tmp_path / "corpus")
    assert asyncio.run(remove(tmp_path / "index", ["light"])).removed == 1
    read = opened(tmp_path / "index")
    assert read.levels() == []
    read.close()
    (tmp_path / "nothing").mkdir()
    assert run(tmp_path / "other", tmp_path / "nothing").added == 0


def test_a_model_must_be_set_to_write_reports(tmp_path: Path):
    write(tmp_path / "corpus", ORCHARD)
    with pytest.raises(NoModel):
        run(tmp_path / "index", tmp_path / "corpus", method="model")


@pytest.mark.parametrize(
    "wrong", [{"sise": 3}, {"size": 1}, {"method": "magic"}, {"members": True}, {"resolution": "x"}]
)
def test_a_wrong_setting_is_an_error_that_helps(wrong):
    with pytest.raises(SettingsError):
        layer_settings({"communities": wrong})


def test_a_report_is_read_as_it_was_written():
    report = CommunityReport(
        "Títle", "One.\nTwo.", 3.5, (CommunityFinding("F", 1.0, ("entity:1",)), CommunityFinding("G", 0.5))
    )
    assert CommunityReport.from_json(report.to_json()) == report
    assert report.text.splitlines() == ["One.", "Two.", "F", "G"]


def test_a_change_of_a_larger_graph_writes_the_reports_around_it_and_leaves_the_rest(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(finding_module, "SMALL", 0)
    monkeypatch.setattr(finding_module, "MUCH", 10.0)
    places = [f"{first}{last}" for first in ("Ald", "Bren", "Cor", "Dun", "Esk") for last in ("mouth", "ford", "wick")]
    docs = {}
    for place in places:
        own = [f"{name} {place.title()}" for name in ("Orla", "Bram", "Maud", "Piers")]
        said = [f"{one} met {other} in {place}." for one in own for other in own if one < other]
        docs[f"{place}.md"] = f"# {place}\n\n{' '.join(said)}"
    write(tmp_path / "corpus", docs)
    index = tmp_path / "index"
    run(index, tmp_path / "corpus")
    before = held(index)
    written: list[int] = []
    put = CommunityReports._put

    def noting(self: CommunityReports, number: int, *rest: Any) -> None:
        written.append(number)
        put(self, number, *rest)

    monkeypatch.setattr(CommunityReports, "_put", noting)
    more = "# Orla Aldmouth\n\nOrla Aldmouth met Edda Vosk in Aldmouth. Edda Vosk knew Bram Aldmouth."
    write(tmp_path / "corpus", {"more.md": more})
    run(index, tmp_path / "corpus")
    assert 1 <= len(written) <= 3
    after = held(index)
    changed = set(before["reports"]) ^ set(after["reports"])
    assert 1 <= len(changed) <= 4
    assert len(set(before["members"]) & set(after["members"])) >= len(before["members"]) - 2
    assert any("Vosk" in str(report) for _, report in after["reports"])
    asyncio.run(remove(index, ["corpus/more.md"]))
    assert b"Vosk" not in (index / "index.sqlite").read_bytes()
    # A removal has no embedder: the report that it changed has no vector until the next run with a change.
    now = held(index)
    assert {key: now[key] for key in ("communities", "members", "reports")} == {
        key: before[key] for key in ("communities", "members", "reports")
    }
    assert set(now["vectors"]) < set(before["vectors"])


def test_a_member_more_at_the_edge_gives_no_community_another_text(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(finding_module, "SMALL", 0)
    monkeypatch.setattr(finding_module, "MUCH", 10.0)
    names = ("Orla Tamsett", "Bram Oldcastle", "Maud Venn", "Piers Hallow", "Edda Vosk", "Lars Holt", "Hanno Quist",
             "Ilse Brandt", "Jory Penrose", "Kit Lanyon")  # fmt: skip
    met = {f"{n}.md": " ".join(f"{one} met {other}." for other in names if other != one) for n, one in enumerate(names)}
    most = " ".join(f"Orla Tamsett paid {other}." for other in names[1:])
    write(tmp_path / "corpus", {**met, "most.md": f"# Orla Tamsett\n\n{most}", **FAR})
    index = tmp_path / "index"
    run(index, tmp_path / "corpus")
    before = held(index)
    write(tmp_path / "corpus", {"more.md": "# Orla Tamsett\n\nOrla Tamsett knew Casper Thole."})
    embedder = WordHashes()
    run(index, tmp_path / "corpus", embedder=embedder)
    after = held(index)
    assert any("Thole" in text for text in embedder.texts)
    assert not any("Tamsett, " in text for text in embedder.texts), "no report is embedded again"
    assert [id for id, _ in before["reports"]] != [id for id, _ in after["reports"]], "a community has a member more"
    assert {vector for _, vector in after["vectors"]} == {vector for _, vector in before["vectors"]}
    asyncio.run(remove(index, ["corpus/more.md"]))
    assert held(index) == before, "without an embedder, the same words have their vectors"


def test_reports_that_are_kept_are_those_that_would_be_written(tmp_path: Path, monkeypatch):
    """Two indexes with the same history: in one, every report of a community that changed is written anew."""
    monkeypatch.setattr(finding_module, "SMALL", 0)
    monkeypatch.setattr(finding_module, "MUCH", 100.0)
    for module in (report_texts, reports_module):
        monkeypatch.setattr(module, "LOOKED", 3)
        monkeypatch.setattr(module, "CENTRAL", 2)
        monkeypatch.setattr(module, "LINKS", 2)
    kept, written = Counter[tuple[bool, bool]](), 0
    real = report_texts.kept_reports

    def noting(texts: ReportTexts, links: EntityLinks, *rest: Any) -> set[int]:
        nonlocal written
        rows, found = texts.rows, real(texts, links, *rest)
        for number in found:
            kept[bool(rows.node(number).leaf), report_texts._is_unaltered(number, rows, links)] += 1
        written += len(rows.altered.keys() - found)
        return found

    first_names = ("Orla", "Bram", "Maud", "Piers", "Edda", "Lars", "Hanno", "Ilse", "Jory", "Kit")
    last_names = ("Tamsett", "Venn", "Hallow", "Vosk", "Holt", "Quist", "Brandt", "Penrose")
    names = [f"{first} {last}" for first in first_names for last in last_names]
    for seed in range(3):
        dice, corpus = random.Random(seed), tmp_path / f"corpus{seed}"

        def document(dice: random.Random = dice) -> str:
            """Two that are often together, and some others."""
            one = dice.randrange(len(names))
            some = [names[one], names[one - 1], *(names[one - dice.randrange(6)] for _ in range(3)), dice.choice(names)]
            said = [f"{a} {dice.choice(('met', 'paid', 'knew'))} {b}." for a, b in pairwise(some) if a != b]
            return f"# {dice.choice(some)}\n\n{' '.join(said)}"

        write(corpus, {f"{n}.md": document() for n in range(120)})
        for step in range(6):
            write(corpus, {f"{n}.md": document() for n in (*dice.sample(range(120), bool(step)), f"more{step}")})
            for n in dice.sample(range(8, 120), 4):  # others say the same in other words
                text = (corpus / f"{n}.md").read_text()
                write(corpus, {f"{n}.md": text.replace(".", f" {dice.choice(('again', 'twice', 'once more'))}.")})
            if step == 3:
                (corpus / "7.md").unlink()
            for folder, which in (("kept", noting), ("anew", lambda *_: set())):
                monkeypatch.setattr(finding_module, "kept_reports", which)
                run(tmp_path / f"{folder}{seed}", corpus, size=6)
            assert held(tmp_path / f"kept{seed}") == held(tmp_path / f"anew{seed}"), step
    assert min(kept[True, True], kept[True, False], kept[False, False], written) > 3
    assert kept[False, True]


def test_reports_in_another_form_are_written_anew(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(finding_module, "SMALL", 0)
    monkeypatch.setattr(finding_module, "MUCH", 10.0)
    write(tmp_path / "corpus", {**HARBOUR, **ORCHARD})
    run(tmp_path / "index", tmp_path / "corpus")
    before = held(tmp_path / "index")
    with sqlite3.connect(tmp_path / "index" / "index.sqlite") as db:
        db.execute("UPDATE community_reports SET summary = 'of another version'")
    monkeypatch.setattr(finding_module, "_FORMAT", "another")
    write(tmp_path / "corpus", FAR)
    run(tmp_path / "index", tmp_path / "corpus")
    (tmp_path / "corpus" / "comet.md").unlink()
    asyncio.run(remove(tmp_path / "index", ["corpus/comet.md"]))
    assert held(tmp_path / "index")["reports"] == before["reports"]


def test_sentences_come_from_all_documents_that_say_the_same(tmp_path: Path):
    """The relation has one description then, which is kept with one of the documents."""
    said = "Orla Tamsett built the Skerry Light."
    write(tmp_path / "corpus", {
        "one.md": f"# One\n\n{said} The Skerry Light was white.",
        "two.md": f"# Two\n\n{said} The Skerry Light was tall.",
    })  # fmt: skip
    run(tmp_path / "index", tmp_path / "corpus")
    with sqlite3.connect(tmp_path / "index" / "index.sqlite") as db:
        texts = ReportTexts(db, RelationEnds(db), CommunityRows(db))
        ids = dict(db.execute("SELECT name, id FROM graph_entities").fetchall())
        [numbers] = texts.link_numbers([{ids["Orla Tamsett"]: 1, ids["Skerry Light"]: 1}])
        links = list(texts.links(numbers).values())
        assert any(len(link.told) == 1 for link in links), "described by one of the two"
        assert all(link.document is None for link in links), "stated by both"
        found = {sentence for sentence, _ in texts.sentences(links, 24)}
    assert found == {said, "The Skerry Light was white.", "The Skerry Light was tall."}
