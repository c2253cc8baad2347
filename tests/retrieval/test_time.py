"""Questions about time, on the bundled news: evidence shows its date, and relations stand in the order of theirs."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from ragways.assemble import opened
from ragways.core.types import Hit
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.retrieval.ask import Result, ask
from ragways.retrieval.knowledge_graph import temporal
from ragways.settings import Settings
from ragways.testing.scripted import ScriptedModel

WHEN = "When was the viaduct at Oskerford opened, and when was its opening first announced?"
CHUNKS = ("naive", "words", "hybrid-words", "recursive", "graph-ppr", "hybrid", "iterative", "light", "fused")
WALKS = ("basic-retrieval", "query-traversal")


def asked(settings: Settings, paradigm: str, *script: object) -> tuple[Result, list[str]]:
    async def run() -> tuple[Result, list[str]]:
        async with opened(settings) as use:
            model = ScriptedModel(script)
            if script:
                use.model = ModelClient(model)
            result = await ask(use, WHEN, paradigm)
            return result, [call.messages[-1].content for call in model.calls]

    return asyncio.run(run())


def news(result: Result) -> list[Hit]:
    return [hit for hit in result.answer.evidence.items if hit.piece.date and hit.piece.kind in ("chunk", "sentence")]


@pytest.mark.parametrize("paradigm", CHUNKS + WALKS)
def test_evidence_from_the_news_has_its_date(demo_settings: Settings, paradigm: str):
    result, _ = asked(demo_settings, paradigm)
    found = news(result)
    assert found, "news items on the viaduct are found"
    index = Index.open(demo_settings.index)
    for hit in found:
        document = index.document(hit.piece.document)
        assert document is not None
        assert hit.piece.date == document.metadata["date"]
        assert date.fromisoformat(hit.piece.date).year >= 1800
    index.close()


@pytest.mark.parametrize("paradigm", ["graph-ppr", "hybrid"])
def test_the_model_sees_the_dates(demo_settings: Settings, paradigm: str):
    said = "Insufficient information"
    result, prompts = asked(demo_settings, paradigm, {"entities": ["Oskerford"]}, said)
    for number, (hit, origin, _) in enumerate(result.answer.evidence.described(), start=1):
        dated = f" ({hit.piece.date})" if hit.piece.date else ""
        assert f"[{number}] {origin.heading(hit.piece.title)}{dated}\n" in prompts[-1]


@pytest.mark.parametrize("paradigm", ["kg", "light", "fast-graph"])
def test_relations_stand_in_the_order_of_their_dates(demo_settings: Settings, paradigm: str):
    assert temporal(WHEN)
    result, _ = asked(demo_settings, paradigm)
    index = Index.open(demo_settings.index)
    ids = [hit.piece.id for hit in result.answer.evidence.items if hit.piece.id.startswith("relation:")]
    rows = index.graph.relations(ids)
    index.close()
    dates = [rows[id].date for id in ids]
    assert any(dates)
    assert dates == sorted(dates, key=lambda said: (not said, said)), "what has a date first, and in its order"
