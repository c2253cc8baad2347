"""What answers cost: by hand, and of every paradigm with a model that counts its own calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragways.assemble import opened
from ragways.core.trace import Usage
from ragways.evaluation.question import Question
from ragways.evaluation.record import AnswerOrigin, AnswerUsage, Record, Records, TraceStep
from ragways.evaluation.resources.sampler import ResourceSample
from ragways.evaluation.resources.usage import split, usage
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
    (found,) = usage(records, built=BUILT, samples=samples).to_plain()
    assert (found["answered"], found["failed"], found["unsplit"]) == (3, 1, 1)
    assert (found["generation_tokens"], found["retrieval_tokens"]) == (110, 25)
    assert (found["tokens"], found["calls"], found["reasoning"]) == (135, 2, 4)
    assert found["usd"] == pytest.approx(0.03)
    assert found["spent"] == pytest.approx(0.034), "what failed was paid for as well"
    assert (found["seconds_p50"], found["evidence"], found["peak_memory"]) == (2.0, 80, 700)
    assert found["seconds_p95"] == pytest.approx(2.9)
    assert found["cpu"] == pytest.approx(0.6)
    assert found["index_layers"] == "graph, vectors"
    assert (found["index_tokens_each"], found["tokens_with_index"], found["index_usd_each"]) == (2000, 2135, 0.25)


def test_what_records_do_not_have_is_none_and_not_zero():
    (given,) = usage([record(paradigm="theirs", usage=AnswerUsage(tokens=2208))], built=BUILT).to_plain()
    assert (given["tokens"], given["input"], given["usd"], given["seconds_p50"]) == (2208, None, None, None)
    assert [given[name] for name in ("unsplit", "generation_tokens", "index_tokens", "tokens_with_index")] == [
        1, None, None, None,
    ]  # fmt: skip
    (failed,) = usage([record(error="down")]).to_plain()
    assert (failed["answered"], failed["failed"], failed["tokens"], failed["cpu"]) == (0, 1, None, None)
    assert usage([]).rows == ()
    (named,) = usage([record(paradigm="kg, k=20", made=AnswerOrigin(paradigm="kg"))], built=BUILT).to_plain()
    assert named["index_layers"] == "graph, vectors"


def test_construction_counts_a_shared_layer_in_full_for_each():
    names = ("community-global", "basic-retrieval", "llm-only")
    rows = usage([record(paradigm=name) for name in names], built=BUILT).to_plain()
    one, other, none = rows
    assert (one["index_layers"], one["index_tokens"]) == ("communities, graph, vectors", 5000)
    assert one["index_usd"] == pytest.approx(0.6)
    assert other["index_unknown"] == "windows"
    assert none["index_layers"] == ""
    assert usage([record(paradigm=names[0], error="down")], built=BUILT).cell("index_tokens_each", calls=None) is None


def test_a_layer_that_the_settings_leave_unused_is_not_paid_for():
    def built(base: str) -> tuple[object, object]:
        rows = [record(paradigm="iterative", settings={"base": base})]
        table = usage(rows, built=BUILT)
        return table.cell("index_layers", paradigm="iterative"), table.cell("index_tokens", paradigm="iterative")

    assert built("graph-ppr") == ("graph, vectors", 4000)
    assert built("naive") == ("vectors", 0)


def test_every_paradigm_is_split_as_its_model_was_called(demo_settings: Settings, tmp_path: Path):  # noqa: F811
    records = Records(tmp_path / "run")

    async def ask(base_url: str) -> None:
        model = demo_settings.model.model_copy(update={"base_url": base_url, "name": "loopback"})
        async with opened(demo_settings.model_copy(update={"model": model})) as use:
            await evaluate(use, [Question("q", QUESTION)], [Variant(name, name) for name in PARADIGMS], records.folder)

    with LoopbackServer(reply=reply) as server:
        asyncio.run(ask(server.base_url))
    found = {str(row["paradigm"]): row for row in usage(records).to_plain()}
    assert found.keys() == PARADIGMS.keys()
    # Those that only look things up without a model, and those that think before they answer.
    thinking = {"recursive", "kg", "community-global", "graph-ppr", "hybrid", "iterative", "light", "fast-graph",
                "llm-guided"}  # fmt: skip
    for name, use in found.items():
        assert (use["failed"], use["unsplit"]) == (0, 0), name
        assert use["generation_calls"] == 1, name
        assert float(use["generation_tokens"] or 0) > 0, name
        calls = float(use["calls"] or 0)
        assert use["retrieval_calls"] == calls - 1
        if not name.startswith("agent"):
            assert (calls > 1) == (name in thinking), name
