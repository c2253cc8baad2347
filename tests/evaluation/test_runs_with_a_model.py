"""Runs that ask a model: side by side, each repeat anew, every token counted whether or not it was paid for now."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragways.assemble import opened
from ragways.core import log as jsonl
from ragways.core.errors import BudgetExceeded, UsageError
from ragways.evaluation.gate import gate
from ragways.evaluation.question import Gold, Question
from ragways.evaluation.record import Records, RunInfo, begin
from ragways.evaluation.run import RunOptions, Variant, evaluate
from ragways.index.build import build
from ragways.index.open import Index
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from ragways.models.tokens import Price, Prices
from ragways.retrieval.resources import Resources
from ragways.settings import AnswerSettings, Settings
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe, write
from tests.models.model_fakes import MemoryCache

QUESTIONS = [
    Question(str(n), f"Who built light number {n}?", ("Anna Brack",), "factual", (Gold(title="Harbour"),))
    for n in range(6)
]


class Slow:
    """Answers the same to everything, after a while, and knows how many were waiting at once."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.name, self.base_url = "slow", ""
        self.calls: list[Call] = []
        self.most = self._waiting = 0
        self._seconds = seconds

    async def send(self, call: Call) -> Reply:
        self.calls.append(call)
        self._waiting += 1
        self.most = max(self.most, self._waiting)
        await asyncio.sleep(self._seconds)
        self._waiting -= 1
        said = (
            "Anna Brack built it. [1]" if call.schema_name == "answer" else {"answered": True, "answer": "Anna Brack"}
        )
        return await ScriptedModel([said], name="slow").send(call)

    async def aclose(self) -> None: ...


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = write(tmp_path / "docs", {"Harbour.md": "# Harbour\n\nThe light was built by Anna Brack in 1801.\n"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(WordHashes())))
    return tmp_path


PRICES = Prices({"slow": Price(1.0, 1.0)})


async def asked(
    folder: Path,
    model: Slow,
    *,
    out: str = "run",
    cache: MemoryCache | None = None,
    prices: Prices = PRICES,
    **options,
) -> Records:
    index = Index.open(folder / "index")
    client = ModelClient(model, cache=cache, prices=prices)
    try:
        use = Resources(index, WordHashes(), client, fallback=True)
        run = await evaluate(use, QUESTIONS, [Variant("words", "words")], folder / out, options=RunOptions(**options))
        return run.records
    finally:
        index.close()


def test_the_temperature_of_the_settings_is_sent_and_part_of_what_a_run_is(folder: Path):
    model, run = Slow(), folder / "run"

    async def one(temperature: float) -> None:
        settings = Settings(index=folder / "index", answer=AnswerSettings(temperature=temperature))
        async with opened(settings, embedder=WordHashes(), model=model) as use:  # type: ignore[arg-type]
            await evaluate(use, QUESTIONS[:1], [Variant("words", "words")], run)

    asyncio.run(one(0.3))
    assert [call.temperature for call in model.calls] == [0.3]
    assert RunInfo.read(run).temperature == 0.3  # type: ignore[union-attr]
    assert [record.made.temperature for record in Records(run)] == [0.3]
    with pytest.raises(UsageError, match=r"temperature 0\.3"):
        asyncio.run(one(0.0))


def test_questions_run_concurrently_and_none_is_lost(folder: Path):
    model = Slow(0.05)
    records = list(asyncio.run(asked(folder, model, at_once=6)))
    assert model.most == 6
    assert sorted(record.question for record in records) == [q.id for q in QUESTIONS]
    assert all(record.cpu is None for record in records), "CPU seconds cannot be told apart"
    alone = list(asyncio.run(asked(folder, Slow(), out="alone")))
    assert all(record.cpu is not None for record in alone)
    assert [r.answer for r in alone] == [r.answer for r in sorted(records, key=lambda r: r.question)]


def test_each_repeat_asks_anew_and_a_second_run_is_not_answered_from_the_first(folder: Path):
    model, cache = Slow(), MemoryCache()
    records = list(asyncio.run(asked(folder, model, cache=cache, repeats=3)))
    assert len(model.calls) == len(records) == 18
    assert {record.usage.input for record in records if record.question == "0"} != {0}
    asyncio.run(asked(folder, model, cache=cache, out="second"))
    assert len(model.calls) == 18 + 6


def test_a_reply_that_was_paid_before_a_kill_counts_with_what_it_cost(folder: Path):
    model, cache = Slow(), MemoryCache()
    first = list(asyncio.run(asked(folder, model, cache=cache)))
    (folder / "run" / "records.jsonl").unlink()  # the records are lost, the replies are not
    again = list(asyncio.run(asked(folder, model, cache=cache)))
    assert len(model.calls) == 6
    assert [r.usage.input for r in again] == [r.usage.input for r in first]
    assert all(record.usage.spent == 0 for record in again)
    assert all(record.usage.spent == record.usage.usd and record.usage.spent for record in first)


def test_an_unknown_price_is_unknown_and_no_gate_takes_it_for_nothing(folder: Path):
    records = list(asyncio.run(asked(folder, Slow(), prices=Prices())))
    assert {(record.usage.usd, record.usage.spent, record.usage.calls) for record in records} == {(None, None, 1)}
    words = [check.words for check in gate(folder / "run", require=["usd<=1", "spent<=1"], least=1).misses]
    assert words == ["usd is unscored", "spent is unscored"]


def test_a_seed_reaches_the_model_and_the_record(folder: Path):
    model = Slow()
    records = list(asyncio.run(asked(folder, model, seed=40, repeats=2)))
    assert {call.seed for call in model.calls} == {40, 41}
    assert {record.seed for record in records} == {40, 41}
    unseeded = Slow()
    asyncio.run(asked(folder, unseeded, out="unseeded"))
    assert {call.seed for call in unseeded.calls} == {None}
    with pytest.raises(UsageError, match="seed 40"):
        begin(folder / "run", RunInfo(seed=41, model="slow", prompts="shared"))
    kept = RunInfo.read(folder / "run")
    assert kept is not None
    assert begin(folder / "run", RunInfo(seed=40, model="slow", prompts="shared")).id == kept.id


def test_side_by_side_a_run_uses_its_budget_as_one_by_one(folder: Path):
    answered = {}
    for at_once in (1, 16):
        with pytest.raises(BudgetExceeded):
            asyncio.run(asked(folder, Slow(0.001), budget=0.004, at_once=at_once, out=f"run-{at_once}"))
        answered[at_once] = len(list(Records(folder / f"run-{at_once}")))
    assert answered[16] == answered[1] > 0


def test_a_line_that_was_cut_short_takes_no_other_with_it(tmp_path: Path):
    file = tmp_path / "lines.jsonl"
    jsonl.append(file, {"n": 1})
    with file.open("a") as stream:
        stream.write('{"n": 2, "tex')
    jsonl.append(file, {"n": 3, "text": "half a letter \ud83d"})
    assert [row["n"] for row in jsonl.read(file)] == [1, 3]
    jsonl.replace(file, [{"n": 4}])
    assert list(jsonl.read(file)) == [{"n": 4}]
    assert list(jsonl.read(tmp_path / "none.jsonl")) == []


def test_a_rules_answer_never_stands_in_for_the_models(folder: Path):
    class Broken(Slow):
        async def send(self, call: Call) -> Reply:
            return await ScriptedModel([""], name="slow").send(call)

    records = list(asyncio.run(asked(folder, Broken())))
    assert len(records) == len(QUESTIONS)
    assert all("no usable reply" in record.error for record in records)


def test_an_abstention_with_a_reason_is_one_in_records_too(folder: Path):
    class Refuses(Slow):
        async def send(self, call: Call) -> Reply:
            return await ScriptedModel(["Insufficient information. But Anna Brack [1] is named."]).send(call)

    [record, *_] = list(asyncio.run(asked(folder, Refuses())))
    assert (record.abstained, record.answer) == (True, "Insufficient information")
    assert record.explanation == "But Anna Brack [1] is named."
