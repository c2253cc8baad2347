"""What the model cannot do is done by the rule, and the trace says so; the answer only where that is allowed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ragways.core.brief import LONGEST, brief
from ragways.core.errors import BudgetExceeded, ModelUnavailable, UnusableReply
from ragways.core.trace import Budget, Span, span, spending
from ragways.index.open import Index
from ragways.models.call import Reply, ToolCall
from ragways.models.client import RULE_AFTER_FAILURE, RULE_INSTEAD, RULE_OVER_BUDGET, ModelClient
from ragways.models.task import Task
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.resources import Resources
from ragways.tasks.search import KEYWORDS, Keywords, KeywordsInput, Subquestions
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes
from tests.retrieval.graph_corpus import HOPS, asked, indexed

JUNK = "hm"
NOTHING = "<think>hm</think>"
ANSWER = "In Port Averne. [1]"
GIVEN = KeywordsInput("Who built that", names=lambda _: ["Ness"], terms=str.split)


def done(script: list[object], task: Task = KEYWORDS, asks: int = 2) -> tuple[object, Span]:  # type: ignore[type-arg]
    async def run() -> tuple[object, Span]:
        with ScriptedModel(script) as model, span("test") as trace:
            outcome = await ModelClient(model, asks=asks).do(task, GIVEN, rule_if_unusable=True)
        assert outcome.way == trace.children[-1].way
        return outcome.value, trace

    return asyncio.run(run())


def test_a_usable_reply_is_taken_and_told():
    found, trace = done([{"low": ["Ness"], "high": []}])
    assert found == Keywords(("Ness",), ())
    assert [(child.way, child.output) for child in trace.children] == [("model scripted", "low Ness")]


def test_after_unusable_replies_the_rule_does_it_and_the_trace_says_so():
    found, trace = done([JUNK, JUNK])
    assert found == Keywords(("Ness",), ("built", "that"))
    failed, ruled = trace.children
    assert failed.error.startswith("UnusableReply")
    assert failed.total.calls == 2, "what the model did cost is counted"
    assert (ruled.name, ruled.way) == ("keywords", RULE_INSTEAD)


def test_what_cannot_be_done_by_a_rule_still_fails():
    task: Task[KeywordsInput, Subquestions] = Task(
        "keywords", prompt="question-entities", reply=Subquestions, render=lambda _: {"question": "?"}
    )
    with pytest.raises(UnusableReply):
        done([JUNK], task, asks=1)


def test_a_budget_is_no_unusable_reply():
    with pytest.raises(BudgetExceeded), spending(Budget(calls=0)):
        done([])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.open(indexed(tmp_path_factory.mktemp("doing")))


def use(index: Index, *script: object) -> Resources:
    return Resources(index, WordHashes(), ModelClient(ScriptedModel(script), asks=1), threshold=0.0)


@pytest.mark.parametrize("paradigm", ["graph-ppr", "kg", "light", "fast-graph", "hybrid"])
def test_a_paradigm_answers_though_its_helper_could_not_be_read(index: Index, paradigm: str):
    answer, trace = asked(use(index, JUNK, ANSWER), PARADIGMS.find(paradigm), HOPS)
    assert answer.text == "In Port Averne. [1]"
    assert answer.way == "model scripted"
    assert RULE_INSTEAD in {step.way for step in trace.walk()}


def test_loops_go_on_by_the_rule(index: Index):
    recursive, _ = asked(use(index, JUNK, ANSWER), PARADIGMS.find("recursive"), HOPS, rounds=2)
    assert recursive.text == "In Port Averne. [1]"
    recalled = "Insufficient information"
    judged, trace = asked(
        use(index, recalled, JUNK, JUNK, ANSWER), PARADIGMS.find("iterative"), HOPS, rounds=1, memory=True
    )
    assert judged.text == "In Port Averne. [1]"
    assert [step.way for step in trace.walk() if step.name == "judge answer"] == ["model scripted", RULE_INSTEAD]


def test_the_answer_is_never_a_rules_where_a_model_was_asked(index: Index):
    with pytest.raises(UnusableReply, match="answer"):
        asked(use(index, NOTHING), PARADIGMS.find("naive"), HOPS)


def test_what_is_told_is_short():
    assert len(brief(Subquestions(("long " * 400,)))) == LONGEST
    assert brief(Subquestions(("One?", "Two?"))) == "questions One?, Two?"


@pytest.mark.parametrize(
    ("line", "way"),
    [
        (NOTHING, RULE_INSTEAD),
        (ModelUnavailable("it is down", "start it"), RULE_AFTER_FAILURE),
        (BudgetExceeded("the budget of $0.01 is spent", "raise it"), RULE_OVER_BUDGET),
    ],
)
@pytest.mark.parametrize("paradigm", ["naive", "words", "hybrid-words"])
def test_what_was_found_outlives_a_model_that_cannot_answer(index: Index, paradigm: str, line: object, way: str):
    """Where the settings allow it, as they do by default outside evaluations."""
    resources = replace(use(index, line), fallback=True)
    answer, trace = asked(resources, PARADIGMS.find(paradigm), HOPS)
    ruled, _ = asked(replace(resources, model=ModelClient(None)), PARADIGMS.find(paradigm), HOPS)
    assert answer.evidence.items == ruled.evidence.items != ()
    assert (answer.text, answer.way) == (ruled.text, way)
    assert answer.error
    assert ruled.error == ""
    assert way in {step.way for step in trace.walk()}


def test_an_agent_that_has_read_keeps_it_when_its_model_fails(index: Index):
    search = Reply("", tool_calls=(ToolCall("1", "chunk_search", '{"query": "Port Averne"}'),), finish="tool_calls")
    down = ModelUnavailable("it is down", "start it")
    answer, _ = asked(replace(use(index, search, down), fallback=True), PARADIGMS.find("agent-vector"), HOPS)
    assert answer.evidence.items
    assert (answer.way, answer.error) == (RULE_AFTER_FAILURE, str(down))
    with pytest.raises(ModelUnavailable):
        asked(replace(use(index, down), fallback=True), PARADIGMS.find("agent-vector"), HOPS)
