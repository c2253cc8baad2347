"""What a paradigm takes does not depend on what ran before it, and replies from our cache are in no latency."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragways.assemble import opened
from ragways.core.step import Step
from ragways.core.types import Query
from ragways.evaluation.question import Question
from ragways.evaluation.record import Records
from ragways.evaluation.resources.sampler import peak_memory, samples_of
from ragways.evaluation.run import Variant, evaluate
from ragways.evaluation.score import score
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.paradigm import Paradigm, Strategy
from ragways.retrieval.resources import Resources
from ragways.settings import Settings
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import CORPUS, Run, home, ragways  # noqa: F401 - fixtures
from tests.fakes import write
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture

QUESTIONS = [Question(str(n), f"Who kept the light of {name}?") for n, name in enumerate(("Skerrin", "Hallan"))]
Seen = tuple[frozenset[str], bool]


def watched(name: str, seen: list[Seen]) -> Paradigm:
    """The paradigm, which notes before each question what of the index was loaded, and whether it was embedded."""
    real = PARADIGMS[name]

    def build(use: Resources) -> Strategy:
        async def look(query: Query) -> Query:
            seen.append((frozenset(use.index._layers), query.text in use._vectors))
            return query

        return Step("look", look) >> real.strategy(use, {})

    return Paradigm(name=f"{name}, watched", summary="", source="", needs=real.needs, build=build)


@pytest.mark.parametrize("order", [("naive", "words", "fast-graph"), ("fast-graph", "words", "naive")])
def test_each_paradigm_finds_what_it_would_find_alone(demo_settings: Settings, tmp_path: Path, order: tuple[str, ...]):  # noqa: F811
    seen: Mapping[str, list[Seen]] = {name: [] for name in order}

    async def run() -> None:
        async with opened(demo_settings) as use:
            await evaluate(use, QUESTIONS, [Variant(n, watched(n, seen[n])) for n in order], tmp_path)

    asyncio.run(run())
    own = {"naive": {"vectors"}, "words": {"words"}, "fast-graph": {"graph", "vectors"}}
    for name in order:
        first, *measured = seen[name]
        assert first == (frozenset(), False), "the first of all only warms up, and finds nothing loaded"
        assert len(measured) == len(QUESTIONS)
        for loaded, embedded in measured:
            assert loaded == own[name]
            assert not embedded
    assert len(list(Records(tmp_path))) == len(order) * len(QUESTIONS)


def test_replies_from_our_cache_are_marked_and_in_no_latency(demo_settings: Settings, tmp_path: Path):  # noqa: F811
    """The second variant asks what the first has asked: it is answered at once, which is not how long it takes."""

    async def run(base_url: str) -> list[tuple[Any, ...]]:
        model = demo_settings.model.model_copy(update={"base_url": base_url, "name": "loopback"})
        async with opened(demo_settings.model_copy(update={"model": model})) as use:
            same = [Variant("naive", "naive"), Variant("again", "naive", {"k": 10})]
            done = await evaluate(use, QUESTIONS, same, tmp_path)
        known = {record.paradigm: record.replies_known for record in done.records}
        costs = score(done)["costs"].only("paradigm", "seconds_p50", "untimed").rows
        return [(known[str(name)], seconds, untimed) for name, seconds, untimed in costs]

    with LoopbackServer() as server:
        (asked, seconds, untimed), (known, no_seconds, left_out) = asyncio.run(run(server.base_url))
    assert (asked, untimed) == (0, 0)
    assert seconds is not None
    assert (known, no_seconds, left_out) == (1, None, 2)


def test_each_paradigm_in_a_process_of_its_own(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    module = importlib.import_module("ragways.apps.evaluation.run")
    monkeypatch.setattr(module, "_run", None)  # nothing is asked in this process
    write(home / "docs", CORPUS)
    (home / "questions.jsonl").write_text(json.dumps({"question": "Who built the harbour light?"}))
    ragways("index", "docs")
    done = ragways("eval", "run", "--questions", "questions.jsonl", "--out", "run", "--paradigms", "naive,words[k=3]",
                   "--apart", "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert [row["paradigm"] for row in done.data] == ["naive", "words[k=3]"]
    assert set(peak_memory(samples_of(home / "run"))) == {"", "naive", "words[k=3]"}
    broken = ragways("eval", "run", "--questions", "nowhere.jsonl", "--out", "other", "--apart")
    assert broken.code == 2
