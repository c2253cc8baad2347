"""The two paradigms over communities: by a script, without a model, and against brute force over the tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import UnusableReply
from ragways.core.trace import Span, span
from ragways.core.types import Answer, Query
from ragways.index.open import Index
from ragways.layers.communities.read import StoredCommunities
from ragways.models.client import ModelClient
from ragways.models.tokens import count_tokens
from ragways.retrieval.communities import COMMUNITY_GLOBAL, COMMUNITY_LOCAL
from ragways.retrieval.knowledge_graph import EntityScores
from ragways.retrieval.resources import Resources
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes
from tests.layers.communities.made import FAR, HARBOUR, ORCHARD
from tests.retrieval.graph_corpus import every_entity, indexed, mentions, relations

TITLES = {
    "tamsett": "Orla Tamsett", "guild": "Harbour Guild", "light": "Skerry Light", "venn": "Maud Venn",
    "market": "Vale Market", "comet": "Comet Ysolde",
}  # fmt: skip
QUESTION = "Who planted the Quillon Orchard with Piers Hallow?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    home = tmp_path_factory.mktemp("communities")
    texts = {f"{name}.md": f"# {TITLES[name]}\n\n{text}" for name, text in {**HARBOUR, **ORCHARD, **FAR}.items()}
    layers = frozenset({"vectors", "graph", "communities"})
    opened = Index.open(indexed(home, texts, layers, communities={"members": 3, "text": 0}))
    yield opened
    opened.close()


def asked(
    index: Index, paradigm: Any, question: str = QUESTION, model: Any = None, fallback: bool = False, **values: Any
) -> tuple[Answer, Span]:
    async def ask() -> tuple[Answer, Span]:
        use = Resources(index, WordHashes(), ModelClient(model), threshold=0.0, fallback=fallback)
        with span("test") as trace:
            answer = await paradigm.strategy(use, values)(Query(question))
        return answer, trace

    return asyncio.run(ask())


def test_global_asks_each_batch_drops_what_is_rated_nothing_and_orders_by_rating(index: Index):
    shown: list[str] = []

    def points(ratings: list[int]) -> Callable[[Any], Any]:
        def reply(call: Any) -> Any:
            shown.append(call.messages[-1].content)
            return {"points": [{"text": f"Point {rating}.", "rating": rating, "reports": [1]} for rating in ratings]}

        return reply

    def final(call: Any) -> Any:
        shown.append(call.messages[-1].content)
        return "Maud Venn did. [1]"

    with ScriptedModel([points([30, 0]), points([70, 10]), final]) as script:
        # Reports have 59, 77 and 103 tokens: two fit a batch, three do not.
        answer, trace = asked(index, COMMUNITY_GLOBAL, model=script, batch=190)
    evidence = answer.evidence
    assert [hit.piece.text for hit in evidence.items] == ["Point 70.", "Point 30.", "Point 10."]
    assert [hit.score for hit in evidence.items] == [70.0, 30.0, 10.0]
    assert [hit.found[0].rank for hit in evidence.items] == [1, 2, 3]
    assert all(hit.piece.kind == "report" and hit.piece.document.startswith("community:") for hit in evidence.items)
    assert sum("bought the Vale Market" in text for text in shown[:2]) == 1, "a report is read once"
    assert shown[2].index("Point 70.") < shown[2].index("Point 30.") < shown[2].index("Point 10.")
    assert "Point 0." not in shown[2]
    assert (answer.text, answer.citations[0].quote) == ("Maud Venn did. [1]", "Point 70.")
    details = next(step.details for step in trace.walk() if step.name == "report points")
    assert (details["level"], details["reports"], details["batches"]) == (0, 3, 2)


def test_global_packs_the_best_points_into_the_budget(index: Index):
    points = {"points": [{"text": f"Point {n} " + "word " * 20, "rating": n, "reports": [2]} for n in (5, 50, 95)]}
    said = "So. [1]"
    cost = count_tokens("Point 95 " + "word " * 20)
    with ScriptedModel([points, said]) as script:
        answer, _ = asked(index, COMMUNITY_GLOBAL, model=script, tokens=2 * cost)
    assert [hit.score for hit in answer.evidence.items] == [95.0, 50.0]
    assert answer.evidence.tokens <= 2 * cost


def test_global_goes_on_without_a_batch_whose_reply_stays_unusable_and_fails_without_any(index: Index):
    bad: list[Any] = ["no", "no", "no"]
    good = {"points": [{"text": "P.", "rating": 9, "reports": [1]}]}
    said = "So. [1]"

    def first_batch_bad(call: Any) -> Any:
        return "no" if "Ysolde" in call.messages[1].content else good

    with ScriptedModel([*[first_batch_bad] * 4, said]) as script:
        answer, trace = asked(index, COMMUNITY_GLOBAL, model=script, batch=190)
    assert [hit.piece.text for hit in answer.evidence.items] == ["P."]
    assert any(step.details.get("unusable") == 1 for step in trace.walk())
    with ScriptedModel(bad) as script, pytest.raises(UnusableReply):
        asked(index, COMMUNITY_GLOBAL, model=script)
    with ScriptedModel([*bad, said]) as script:
        answer, _ = asked(index, COMMUNITY_GLOBAL, model=script, fallback=True)
    ruled, _ = asked(index, COMMUNITY_GLOBAL)
    assert [hit.piece.id for hit in answer.evidence.items] == [hit.piece.id for hit in ruled.evidence.items]


def test_global_without_a_model_quotes_the_findings_that_cover_the_question(index: Index):
    answer, trace = asked(index, COMMUNITY_GLOBAL)
    assert not answer.abstained
    assert answer.evidence.items[0].piece.text == "Maud Venn planted the Quillon Orchard with Piers Hallow."
    assert "Maud Venn planted the Quillon Orchard with Piers Hallow." in answer.text
    assert answer.citations[0].document.startswith("community:")
    assert str(answer.citations[0].source).startswith("report on "), "the report and the documents under it"
    assert any(key in str(answer.citations[0].source) for _, key, _ in index.documents())
    ratings = [hit.score for hit in answer.evidence.hits.items]
    assert ratings == sorted(ratings, reverse=True)
    assert 0 < ratings[-1] <= ratings[0] <= 100
    assert {step.way for step in trace.walk()} <= {"", "rule"}


def test_global_reads_no_more_than_its_budget_and_takes_the_nearest(index: Index):
    shown: list[str] = []

    def note(call: Any) -> Any:
        shown.append(call.messages[-1].content)
        return {"points": []}

    question = asyncio.run(WordHashes().embed([QUESTION]))[0]
    communities = index.communities
    nearest = communities.communities([id for id, _ in communities.nearest(question, 1)])
    (best,) = nearest.values()
    with ScriptedModel([note]) as script:
        answer, _ = asked(index, COMMUNITY_GLOBAL, model=script, reports=best.tokens)
    assert answer.abstained
    assert f"[1] {best.title}\n" in shown[0]
    assert "[2]" not in shown[0]
    answer, _ = asked(index, COMMUNITY_GLOBAL, reports=10)
    assert answer.evidence.items == ()


def test_global_says_whether_it_read_all_reports_or_the_nearest(index: Index):
    """A budget makes it a search of the nearest; 0 is the source's map-reduce over all reports."""
    total = index.communities.tokens_of_level(0)
    shown: list[str] = []

    def point(call: Any) -> Any:
        shown.append(call.messages[-1].content)
        return {"points": [{"text": f"Point {len(shown)}.", "rating": len(shown), "reports": [1]}]}

    def read(script: list[Any], **values: Any) -> tuple[object, set[str]]:
        shown.clear()
        with ScriptedModel([*script, "Insufficient information"]) as model:
            answer, trace = asked(index, COMMUNITY_GLOBAL, model=model, **values)
        details = next(step.details for step in trace.walk() if step.name == "report points")
        return details["read"], {hit.found[0].note.partition(";")[0] for hit in answer.evidence.hits.items}

    part = f"the 2 nearest of 3 reports, up to {total - 1} tokens"
    assert read([point], reports=total - 1) == (part, {part})
    assert read([point], reports=total) == ("all 3 reports", {"all 3 reports"})
    assert read([point] * 3, reports=0, batch=1) == ("all 3 reports", {"all 3 reports"})
    assert sum(title in text for text in shown for title in (c.title for c in index.communities.of_level(0))) == 3


def test_global_over_all_reports_takes_the_finest_level(index: Index, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(StoredCommunities, "levels", lambda self: [0, 1, 2])
    monkeypatch.setattr(StoredCommunities, "tokens_of_level", lambda self, level: 8_000 + 4_000 * level)
    for reports, level in ((9_000, 0), (13_000, 1), (0, 2)):
        _, trace = asked(index, COMMUNITY_GLOBAL, reports=reports)
        assert next(s.details for s in trace.walk() if s.name == "report points")["level"] == level


def test_global_may_be_asked_for_a_level(index: Index):
    there, _ = asked(index, COMMUNITY_GLOBAL, level=3)
    coarse, _ = asked(index, COMMUNITY_GLOBAL, level=0)
    assert there.evidence == coarse.evidence, "what is not split stands for itself on every level below"


def test_local_finds_chunks_triplets_and_reports_of_the_entities_named(index: Index):
    answer, _ = asked(index, COMMUNITY_LOCAL)
    kinds = {hit.piece.kind for hit in answer.evidence.items}
    assert kinds == {"chunk", "triplet", "report"}
    assert "Maud Venn planted the Quillon Orchard" in answer.text
    for hit in answer.evidence.items:
        assert hit.found[0].by == "surroundings"
        assert hit.found[0].note
        if hit.piece.kind == "triplet":
            assert ": " in hit.piece.text
            document = index.document(hit.piece.document)
            assert document is not None
            assert 0 <= hit.piece.start < hit.piece.end <= len(document.text)
        assert hit.piece.tokens > 0


def test_local_gives_what_brute_force_over_the_tables_gives(index: Index):
    answer, trace = asked(
        index, COMMUNITY_LOCAL, named=False, entities=3, minimum=0.1, reports=1, chunks=1, relations=1
    )
    graph, communities = index.graph, index.communities
    embedder = WordHashes()
    question = asyncio.run(embedder.embed([QUESTION]))[0]
    near = graph.cosines(question, every_entity(index))
    seeds = {id: near[id] for id in sorted(near, key=lambda id: (-near[id], id))[:3] if near[id] >= 0.1}
    [found] = next(step.attachments for step in trace.walk() if step.name == "surroundings")
    assert isinstance(found, EntityScores)
    assert dict(found.scores) == pytest.approx(seeds, abs=5e-5)

    def order(kind: str) -> list[str]:
        return [hit.piece.id for hit in answer.evidence.hits.items if hit.piece.kind == kind]

    chunks: dict[str, float] = {}
    cosines = index.vectors.cosines(question, index.vectors.ids)
    for entity, chunk in mentions(index):
        if entity in seeds:
            chunks[chunk] = chunks.get(chunk, cosines[chunk]) + seeds[entity]
    assert order("chunk") == sorted(chunks, key=lambda id: (-round(chunks[id], 6), id))
    touching = {
        row.id: seeds.get(row.subject, 0.0) + seeds.get(row.object, 0.0) + 0.1 * row.weight / (1 + row.weight)
        for row in relations(index)
        if {row.subject, row.object} & seeds.keys()
    }
    assert order("triplet") == sorted(touching, key=lambda id: (-round(touching[id], 6), id))
    reports: dict[str, float] = {}
    for community in {each.id for level in communities.levels() for each in communities.of_level(level)}:
        for entity in seeds.keys() & set(communities.members(community)):
            reports[community] = reports.get(community, 0.0) + seeds[entity]
    assert order("report") == sorted(reports, key=lambda id: (-reports[id], id))


@pytest.mark.parametrize("tokens", [0, 60, 150, 400])
def test_local_keeps_the_shares_at_every_budget_and_never_loses_evidence(index: Index, tokens: int):
    small, _ = asked(index, COMMUNITY_LOCAL, tokens=tokens, chunks=0.5, relations=0.5, reports=0)
    large, _ = asked(index, COMMUNITY_LOCAL, tokens=tokens + 100, chunks=0.5, relations=0.5, reports=0)
    ids = [hit.piece.id for hit in small.evidence.items]
    assert small.evidence.tokens <= tokens
    assert [hit.piece.id for hit in large.evidence.items][: len(ids)] == ids
    assert not any(hit.piece.kind == "report" for hit in small.evidence.hits.items)
    kinds = [hit.piece.kind for hit in small.evidence.hits.items]
    widest = max(hit.piece.tokens for hit in small.evidence.hits.items)
    used = {"chunk": 0, "triplet": 0}
    for place, hit in enumerate(small.evidence.items):
        if set(kinds[place:]) != set(used):
            break  # one kind has come to its end
        used[hit.piece.kind] += hit.piece.tokens
        assert abs(used["chunk"] - used["triplet"]) <= widest


def test_local_with_nothing_to_start_from_finds_nothing(index: Index):
    answer, _ = asked(index, COMMUNITY_LOCAL, question="?", minimum=0.99)
    assert answer.abstained
    assert answer.evidence.items == ()


def test_a_question_to_a_corpus_of_many_communities_takes_under_20_000_tokens(tmp_path: Path, index: Index):
    """The most that the defaults allow, counted with the longest reports and replies there can be."""
    defaults = COMMUNITY_GLOBAL.settings
    reply = "word " * 690
    spent: list[int] = []

    class Long(ScriptedModel):
        async def send(self, call: Any) -> Any:
            said: Any = {"points": [{"text": reply, "rating": 50, "reports": [1]}]}
            if "passages" in str(call.schema):
                said = f"{reply} [1]"
            answered = self._say(said, call)
            spent.append(answered.usage.tokens)
            return answered

    communities = index.communities
    (community, *_) = communities.of_level(0)
    report = communities.report(community.id)
    assert report is not None

    from dataclasses import replace

    many = [replace(community, id=f"community:{n:016x}", tokens=300) for n in range(100)]
    long = replace(report, summary="word " * 299, findings=())
    patch = pytest.MonkeyPatch()
    patch.setattr(StoredCommunities, "of_level", lambda self, level: many)
    patch.setattr(StoredCommunities, "tokens_of_level", lambda self, level: 30_000)
    patch.setattr(StoredCommunities, "reports", lambda self, ids: dict.fromkeys(ids, long))
    try:
        asked(index, COMMUNITY_GLOBAL, model=Long([]))
    finally:
        patch.undo()
    assert len(spent) >= defaults["reports"] // defaults["batch"] + 1
    assert sum(spent) <= 20_000
