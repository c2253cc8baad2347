"""What answers cost: by hand, and of every paradigm with a model that counts its own calls."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragways.assemble import opened
from ragways.core.plain import to_plain
from ragways.core.trace import Usage
from ragways.evaluation.question import Question
from ragways.evaluation.record import AnswerUsage, Record, Records, TraceStep
from ragways.evaluation.resources.sampler import ResourceSample
from ragways.evaluation.resources.usage import answering, construction, layer_costs, split, usage
from ragways.evaluation.run import Variant, evaluate
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import Settings
from ragways.store.cache import Spent
from ragways.testing.server import LoopbackServer
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture
from tests.retrieval.test_contract import QUESTION
from tests.retrieval.test_contract import answering as reply

BUILT = {
    "vectors": Spent(0, 0, 0, 0.0, 4.0),
    "words": Spent(0, 0, 0, 0.0, 0.0),
    "graph": Spent(20, 3000, 1000, 0.5, 9.0),
    "communities": Spent(5, 900, 100, 0.1, 2.0),
}


def row(name: str, depth: int = 0, **used: int) -> TraceStep:
    return TraceStep(name, depth, "", 0.1, Usage(**used))


def step(name: str, depth: int = 0, **used: int) -> list[TraceStep]:
    """A step that does one task with one call."""
    return [row(name, depth, **used), row(name, depth + 1, **used), row("model call", depth + 2, **used)]


def record(question: str = "q", **changes: Any) -> Record:
    base: dict[str, Any] = {"question": question, "text": "?", "type": "", "gold": (), "paradigm": "kg", "repeat": 0}
    return Record(**{**base, **changes})


def test_generation_is_the_last_answer_and_the_rest_is_retrieval():
    steps = [
        row("answer in rounds", calls=4, input=460, output=23),
        row("round", 1, calls=1, input=10, output=1), *step("recall", 2, calls=1, input=10, output=1),
        row("judge answer", 1, calls=1, input=20, output=2), row("model call", 2, calls=1, input=20, output=2),
        row("round", 1, calls=1, input=400, output=15), *step("answer", 2, calls=1, input=400, output=15),
        row("judge answer", 1, calls=1, input=30, output=5), row("model call", 2, calls=1, input=30, output=5),
    ]  # fmt: skip
    parts = split(steps, AnswerUsage(calls=4, input=460, output=23))
    assert parts is not None
    assert (parts[1].input, parts[1].output, parts[1].calls) == (400, 15, 1)
    assert (parts[0].input, parts[0].output, parts[0].calls) == (60, 8, 3)


def test_a_step_is_meant_and_not_the_task_of_the_same_name_within():
    steps = [
        row("answer", calls=2, input=17, output=1), row("embed", 1, calls=1, input=7),
        row("embedding call", 2, calls=1, input=7), *step("answer", 0, calls=1, input=10, output=1)[1:],
    ]  # fmt: skip
    assert answering(steps) is steps[0]
    parts = split(steps, AnswerUsage(calls=2, input=17, output=1))
    assert parts is not None
    assert (parts[0].input, parts[1].input) == (0, 17)


def test_of_an_agent_the_last_round_is_the_answer():
    steps = [
        row("agent", calls=2, input=30, output=3),
        row("round", 1, calls=1, input=10, output=1), row("model call", 2, calls=1, input=10, output=1),
        row("tool search", 2),
        row("round", 1, calls=1, input=20, output=2), row("model call", 2, calls=1, input=20, output=2),
        row("pack", 1),
    ]  # fmt: skip
    assert answering(steps) is steps[4]
    assert answering([row("dense"), row("pack")]) is None


def test_a_trace_that_was_cut_short_is_not_split():
    steps = [*step("keywords", calls=1, input=5, output=1), row("answer", calls=1, input=50, output=1)]
    assert split(steps, AnswerUsage(calls=2, input=55, output=2)) is None
    assert split([], AnswerUsage(tokens=10)) is None
    nothing = split([row("dense")], AnswerUsage(calls=0, input=0, output=0))
    assert nothing is not None
    assert nothing[0] == nothing[1] == AnswerUsage.of(Usage())


def test_figures_by_hand():
    steps = (*step("edges", calls=1, input=20, output=5), *step("answer", calls=1, input=100, output=10))
    used = AnswerUsage(calls=2, input=120, output=15, reasoning=4, usd=0.02, evidence=80, spent=0.01)
    records = [
        record("a", usage=used, steps=steps, seconds=1.0, cpu=0.5, tools={"search": 3}),
        record("a", repeat=1, usage=used, steps=steps, seconds=3.0, cpu=0.7),
        record("b", usage=replace(used, usd=0.05), steps=steps[:3], seconds=2.0, tools={"search": 1, "read": 3}),
        record("c", error="down", seconds=9.0, usage=AnswerUsage(calls=1, input=70, usd=0.004, spent=0.004)),
    ]
    samples = [ResourceSample(0, "", 1.0, 5), ResourceSample(1, "kg", 3.0, 700), ResourceSample(2, "kg", 4.0, 600)]
    found = usage(records, built=BUILT, samples=samples)["kg"]
    assert (found.answered, found.failed, found.questions, found.unsplit) == (3, 1, 2, 1)
    assert found.generation is not None
    assert found.retrieval is not None
    assert (found.generation.tokens, found.retrieval.tokens) == (110, 25)
    assert (found.total.tokens, found.total.calls, found.total.reasoning) == (135, 2, 4)
    assert found.total.usd == pytest.approx(0.03)
    assert found.spent == pytest.approx(0.034), "what failed was paid for as well"
    assert found.tools == {"read": 1.0, "search": pytest.approx(4 / 3)}
    assert (found.seconds_p50, found.evidence, found.peak_memory) == (2.0, 80, 700)
    assert found.seconds_p95 == pytest.approx(2.9)
    assert found.cpu == pytest.approx(0.6)
    assert found.construction is not None
    assert found.construction.layers == ("graph", "vectors")
    assert found.construction.tokens_per_question == 2000
    assert found.with_construction is not None
    assert found.with_construction.tokens == 2135
    assert json.loads(json.dumps(to_plain(found)))["construction"]["usd_per_question"] == 0.25


def test_what_records_do_not_tell_is_none_and_not_zero():
    given = usage([record(paradigm="theirs", usage=AnswerUsage(tokens=2208))], built=BUILT)["theirs"]
    assert (given.total.tokens, given.total.input, given.total.usd, given.seconds_p50) == (2208, None, None, None)
    assert (given.unsplit, given.generation, given.construction, given.with_construction) == (1, None, None, None)
    failed = usage([record(error="down")])["kg"]
    assert (failed.answered, failed.failed, failed.total.tokens, failed.cpu) == (0, 1, None, None)
    assert usage([]) == {}
    named = usage([record(paradigm="kg, k=20")], built=BUILT, paradigms={"kg, k=20": "kg"})["kg, k=20"]
    assert named.construction is not None
    assert named.construction.layers == ("graph", "vectors")


def test_answers_made_side_by_side_share_the_sampled_seconds():
    samples = [ResourceSample(0, "", 1.0, 5), ResourceSample(1, "kg", 4.0, 7)]
    assert usage([record("a"), record("b")], samples=samples)["kg"].cpu == 1.5


def test_construction_counts_a_shared_layer_in_full_for_each():
    one = construction(PARADIGMS["community-global"].needs, BUILT, questions=10)
    assert (one.layers, one.tokens) == (("communities", "graph", "vectors"), 5000)
    assert one.usd == pytest.approx(0.6)
    assert construction({"communities"}, BUILT, questions=10).layers == ("communities", "graph"), "what it needs itself"
    assert construction(frozenset(), BUILT, questions=0).tokens_per_question is None
    assert construction({"windows"}, BUILT, questions=1).unknown == ("windows",)
    assert layer_costs({"graph", "vectors"}, BUILT) == {"graph": 4000.0, "vectors": 0.0}
    assert layer_costs({"graph"}, BUILT, unit="USD") == {"graph": 0.5}


def test_every_paradigm_is_split_as_its_model_was_called(demo_settings: Settings, tmp_path: Path):  # noqa: F811
    records = Records(tmp_path / "run")

    async def ask(base_url: str) -> None:
        model = demo_settings.model.model_copy(update={"base_url": base_url, "name": "loopback"})
        async with opened(demo_settings.model_copy(update={"model": model})) as use:
            await evaluate(use, [Question("q", QUESTION)], [Variant(name, name) for name in PARADIGMS], records.folder)

    with LoopbackServer(reply=reply) as server:
        asyncio.run(ask(server.base_url))
    found = usage(records)
    assert found.keys() == PARADIGMS.keys()
    # Those that only look things up without a model, and those that think before they answer.
    thinking = {"recursive", "kg", "community-global", "graph-ppr", "hybrid", "iterative", "light", "fast-graph",
                "llm-guided"}  # fmt: skip
    for name, use in found.items():
        assert (use.failed, use.unsplit) == (0, 0), name
        assert use.generation is not None
        assert use.retrieval is not None
        assert use.generation.calls == 1, name
        assert (use.generation.output or 0) > 0, name
        calls = use.total.calls or 0
        assert use.retrieval.calls == calls - 1
        if not name.startswith("agent"):
            assert (calls > 1) == (name in thinking), name
