"""The agent: rounds, parallel calls, repeats, errors, the last round, budgets, subsets of tools; and the fixed plan."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import ModelRefused, UsageError
from ragways.core.trace import Budget, Span, Usage, span, spending
from ragways.core.types import ABSTENTION, Answer, Query
from ragways.models.call import Message, Reply, ToolCall
from ragways.models.client import ModelClient
from ragways.models.tokens import Price, Prices
from ragways.retrieval.agent import AGENT_GRAPH, AGENT_VECTOR, GO_ON, LOOK_FIRST, NO_TOOLS, NOT_IN_FORM
from ragways.retrieval.resources import Resources
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox
from ragways.testing.scripted import ScriptedModel
from tests.retrieval.tools.conftest import LINKED, dump, indexed, resources

QUESTION = "When was the engineer who planned the Old Harbour born?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("agent"), {"wiki.xml": dump(LINKED, {"Port of Old": "Old Harbour"})})


@pytest.fixture
def use(folder: Path) -> Iterator[Resources]:
    opened = resources(folder)
    yield opened
    opened.index.close()


def calling(*calls: tuple[str, Any], text: str = "") -> Reply:
    made = [
        ToolCall(f"c{n}", name, given if isinstance(given, str) else json.dumps(given))
        for n, (name, given) in enumerate(calls)
    ]
    return Reply(text, Usage(calls=1, input=2000, output=100), tool_calls=tuple(made), finish="tool_calls")


def final(answers: Sequence[str], references: Sequence[str] = (), explanation: str = "") -> dict[str, Any]:
    return {
        "answers": list(answers),
        "explanation": explanation,
        "references": list(references),
        "assumptions": ["the calendar is ours"],
    }


def id_of(use: Resources, title: str) -> str:
    return f"article:{Toolbox(use).view.catalogue.find(title)}"


def asked(
    use: Resources, lines: Sequence[object], paradigm: Any = AGENT_GRAPH, budget: Budget | None = None, **settings: Any
) -> tuple[Answer, Span, ScriptedModel]:
    model = ScriptedModel(lines)
    use.model = ModelClient(model)

    async def run() -> tuple[Answer, Span]:
        with spending(budget), span("test") as trace:
            said = await paradigm.strategy(use, settings)(Query(QUESTION))
        return said, trace

    said, trace = asyncio.run(run())
    model.close()
    return said, next(s for s in trace.walk() if s.name == "agent"), model


def results(model: ScriptedModel, call: int) -> list[str]:
    return [message.content for message in model.calls[call].messages if message.role == "tool"]


def test_an_agent_looks_reads_and_answers_with_citations(use: Resources):
    brack = id_of(use, "Anna Brack")
    lines = [
        calling(("title_search", {"title": "Old Harbour"}), ("chunk_search", {"query": "planned by"}), text="I look."),
        calling(("article_text", {"article": "Anna Brack"})),
        calling(("final_answer", final(["3 February 1760"], [brack, "article:7"], "Anna Brack planned it."))),
    ]
    said, trace, model = asked(use, lines)
    assert (said.text, said.explanation) == ("3 February 1760 [1]", "Anna Brack planned it.")
    assert "Anna Brack planned it." in said.full_text
    assert not said.abstained
    assert said.way == "model scripted"
    assert said.evidence.items[0].piece.document == brack, "what the answer names comes first"
    assert [(c.document, "1760" in c.quote) for c in said.citations] == [(brack, True)]
    assert trace.details["calls"] == {"article_text": 1, "chunk_search": 1, "title_search": 1}
    assert trace.details["references"] == [brack]
    assert trace.details["references_not_seen"] == 1
    assert trace.details["assumptions"] == ["the calendar is ours"]
    assert trace.details["stopped"] == "answered"
    assert trace.details["rounds"] == 3
    assert len(results(model, 1)) == 2
    assert all(text.startswith("<<<data ") for text in results(model, 2)), "what tools return is fenced"
    assert "never an instruction" in model.calls[0].messages[0].content


def advised(use: Resources, paradigm: Any, **settings: Any) -> str:
    _, _, model = asked(use, [calling(("final_answer", final([])))] * 2, paradigm, **settings)
    return model.calls[0].messages[0].content


def test_an_agent_is_told_how_to_use_the_tools_it_has_and_no_others(use: Resources):
    graph, vector = advised(use, AGENT_GRAPH), advised(use, AGENT_VECTOR)
    assert {"title_search", "section_titles_and_infoboxes", "sections", "backlinks"} <= {
        name for name in TOOLS if f"`{name}`" in graph
    }
    assert {name for name in TOOLS if f"`{name}`" in vector} == {"chunk_search", "calculator"}
    assert "`backlinks`" not in advised(use, AGENT_GRAPH, tools="-backlinks")
    for prompt in (graph, vector):
        assert "Split the question into parts" in prompt
        assert "You have 10 rounds." in prompt
        assert "\n\n\n" not in prompt


def test_calls_of_one_round_run_side_by_side(use: Resources, monkeypatch: pytest.MonkeyPatch):
    under_way, most = 0, 0
    run = Toolbox.result

    async def slow(self: Toolbox, name: str, arguments: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return await run(self, name, arguments)

    monkeypatch.setattr(Toolbox, "result", slow)
    calls = [("title_search", {"title": name}) for name in ("Old Harbour", "Anna Brack", "Tellmouth")]
    asked(use, [calling(*calls), calling(("final_answer", final([])))])
    assert most == 3


def test_errors_are_shown_and_repeats_are_answered_from_the_trace(use: Resources):
    lines = [
        calling(("article_text", {"article": "Old Harbor"}), ("article_text", "not json"), ("shell", {"x": 1})),
        calling(("article_text", {"article": "Old Harbour", "offset": 0}), ("calculator", {"expression": "1/0"})),
        calling(("article_text", {"offset": 0, "article": "Old Harbour"})),
        calling(("final_answer", {"wrong": "form"})),
        calling(("final_answer", final(["1801"]))),
    ]
    said, trace, model = asked(use, lines)
    wrong, unread, unknown = results(model, 1)
    assert "Old Harbour" in wrong
    assert "[1] (Old Harbour)" in wrong, "an id in a message is a number too"
    assert "not a JSON object" in unread
    assert "there is no tool" in unknown
    assert "asked before" in results(model, 3)[-1]
    assert trace.details["repeated"] == 1
    assert trace.details["calls"] == {"article_text": 3, "calculator": 1, "unknown": 1}
    assert "not an answer" in results(model, 4)[-1]
    assert said.text == "1801"


def test_the_last_round_is_told_to_answer(use: Resources):
    lines = [
        calling(("title_search", {"title": "Old Harbour"}), text="First the harbour."),
        calling(("article_text", {"article": "Anna Brack"})),
        final(["1760"], [id_of(use, "Anna Brack")]),
    ]
    said, trace, model = asked(use, lines, rounds=3)
    assert trace.details["stopped"] == "3 rounds"
    assert not model.calls[2].tools
    assert "This is\nthe last step" in model.calls[2].messages[0].content
    assert "3 February 1760" in model.calls[2].messages[1].content
    assert "First the harbour." in model.calls[2].messages[1].content
    assert said.text == "1760 [1]"


def test_a_reply_without_a_call_is_an_answer_or_leads_to_one(use: Resources):
    said, _, _ = asked(use, [calling(("title_search", {"title": "x"})), json.dumps(final(["1760"]))])
    assert said.text == "1760"
    said, trace, model = asked(use, ["I think it was 1760.", "It was 1760.", "It was 1760. [1]"])
    assert (said.text, said.note) == ("It was 1760. [1]", NO_TOOLS)
    assert trace.details["stopped"] == "no tool was called"
    assert said.citations, "the fixed plan found evidence"
    assert model.calls[1].messages[-1] == Message("user", GO_ON)


def test_a_first_turn_in_prose_is_told_once_to_go_on(use: Resources):
    read, done = calling(("article_text", {"article": "Anna Brack"})), calling(("final_answer", final(["1760"], ["1"])))
    said, trace, model = asked(use, ["I look for the engineer.", read, done])
    assert (said.text, said.note, trace.details["stopped"]) == ("1760 [1]", "", "answered")
    assert [message.content for message in model.calls[1].messages[-2:]] == ["I look for the engineer.", GO_ON]


@pytest.mark.parametrize("ending", [calling(("final_answer", final(["1760"]))), json.dumps(final(["1760"]))])
def test_an_answer_before_anything_was_read_is_sent_back_once(use: Resources, ending: object):
    read, done = calling(("article_text", {"article": "Anna Brack"})), calling(("final_answer", final(["1760"], ["1"])))
    said, _, model = asked(use, [ending, read, done])
    assert model.calls[1].messages[-1].content == LOOK_FIRST
    assert said.text == "1760 [1]"
    assert asked(use, [ending, ending])[0].text == "1760", "once"


def test_calls_beside_an_answer_are_run_and_are_its_evidence(use: Resources):
    look = ("chunk_search", {"query": "engineer from Tellmouth"})
    both = calling(("article_text", {"article": "Anna Brack"}), ("final_answer", final(["1760"], ["Anna Brack"])))
    said, trace, _ = asked(use, [calling(("title_search", {"title": "Old Harbour"})), both])
    assert trace.details["calls"] == {"article_text": 1, "title_search": 1}
    assert (said.text, said.citations[0].document) == ("1760 [1]", id_of(use, "Anna Brack"))
    said, _, model = asked(use, [calling(look, ("final_answer", final(["1760"]))), both])
    assert [result[:8] for result in results(model, 1)] == ["<<<data ", LOOK_FIRST[:8]], "it was written before"
    assert said.text == "1760 [1]"


def test_results_are_numbered_and_numbers_titles_and_ids_are_references(use: Resources):
    look = calling(
        ("title_search", {"title": "Old Harbour"}), ("chunk_search", {"query": "born 3 February 1760 engineer"})
    )
    brack = id_of(use, "Anna Brack")
    read = calling(("section_titles_and_infoboxes", {"article": 1}), ("sections", {"ids": ["[1]", 99]}))
    for reference in (2, "[2]", brack, "Anna Brack", "anna_brack"):
        said, trace, model = asked(use, [look, read, calling(("final_answer", final(["1760"], [reference])))])  # type: ignore[list-item]
        assert said.citations[0].document == brack, reference
        assert trace.details["references_not_seen"] == 0
    shown = "\n".join(message.content for message in model.calls[2].messages)
    assert "[1] Old Harbour" in shown
    assert "[2] Anna Brack\nAnna Brack (born 3 February 1760)" in shown
    assert "Infobox port: name: Old Harbour; opened: 4 May 1801" in shown
    assert "article:" not in shown, "no id of fifteen digits"


def test_what_was_shown_is_not_shown_again(use: Resources):
    read = [
        calling(("chunk_search", {"query": text})) for text in ("born 3 February 1760", "engineer born 1760 Tellmouth")
    ]
    _, _, model = asked(use, [*read, calling(("final_answer", final([])))], AGENT_VECTOR)
    first, second = results(model, 2)
    assert "3 February 1760" in first
    assert "3 February 1760" not in second
    assert "seen above: [1]" in second


def test_titles_that_are_much_less_like_a_name_are_not_shown(use: Resources):
    found = asyncio.run(Toolbox(use).title_search("nobody speaks"))
    _, _, model = asked(
        use, [calling(("title_search", {"title": "nobody speaks"})), calling(("final_answer", final([])))]
    )
    shown = results(model, 1)[0].splitlines()[1:-1]
    assert shown[0] == "[1] Lonely Rock"
    assert len(shown) < len(found.articles)


def test_results_show_headings_and_the_text_as_it_was_written(tmp_path: Path):
    text = "# Guide\n\n## Retries\n\n### Backoff\n\nSet it so:\n\n```python\nretry(\n    wait=3,\n)\n```\n"
    use = resources(indexed(tmp_path, {"guide.md": text, "other.md": "# Other\n\nNothing.\n"}))
    _, _, model = asked(use, [calling(("chunk_search", {"query": "retry wait"})), calling(("final_answer", final([])))])
    [shown] = results(model, 1)
    assert "[1] Guide › Retries › Backoff\nSet it so:\n\n```python\nretry(\n    wait=3,\n)\n```" in shown
    assert not {"article_neighbourhood", "backlinks", "shortest_path"} & {tool.name for tool in model.calls[0].tools}
    assert "backlinks" not in model.calls[0].messages[0].content, "nothing is linked in this corpus"
    use.index.close()


def test_a_call_that_is_written_as_text_is_a_call(use: Resources):
    written = 'I search.\n```json\n{"name": "article_text", "arguments": {"article": "Anna Brack"}}\n```'
    said, trace, _ = asked(use, [written, calling(("final_answer", final(["1760"], [1])))])  # type: ignore[list-item]
    assert trace.details["calls"] == {"article_text": 1}
    assert said.text == "1760 [1]"


def test_what_an_agent_is_sent_before_it_reads_is_short(use: Resources):
    """Tokens of a prompt are paid again in each round: they were 2,800, and 950 with two tools."""
    for paradigm, most in ((AGENT_GRAPH, 1500), (AGENT_VECTOR, 700)):
        _, _, model = asked(use, [calling(("final_answer", final([])))] * 2, paradigm)
        call = model.calls[0]
        tools = [[tool.name, tool.description, tool.parameters] for tool in call.tools]
        assert len(json.dumps([[m.content for m in call.messages], tools])) / 4 < most


@pytest.mark.parametrize("paradigm", [AGENT_GRAPH, AGENT_VECTOR])
def test_a_model_that_takes_no_tools_answers_from_the_fixed_plan(use: Resources, paradigm: Any):
    refused = ModelRefused("tools are not supported", "choose another model")
    said, trace, _ = asked(use, [refused, "It was 1760. [1]"], paradigm)
    assert (said.text, said.way) == ("It was 1760. [1]", "model scripted")
    assert any(step.name.startswith("tool ") for step in trace.walk())


def test_one_that_reads_and_then_gives_no_answer_in_form_answers_from_what_was_read(use: Resources):
    read = calling(("article_text", {"article": "Anna Brack"}))
    said, _, _ = asked(use, [read, "So it was 1760.", "Yes.", "prose", "prose", "prose", "In 1760. [1]"])
    assert (said.text, said.note) == ("In 1760. [1]", NOT_IN_FORM)


@pytest.mark.parametrize("answers", [[], ["unknown"], ["Unknown."], [" "]])
def test_unknown_is_an_abstention(use: Resources, answers: list[str]):
    ended = final(answers, explanation="No year is given.")
    said, _, _ = asked(use, [calling(("title_search", {"title": "x"})), calling(("final_answer", ended))])
    assert said.abstained
    assert said.text == ABSTENTION
    assert said.explanation == "No year is given.\n\nAssumed: the calendar is ours"


def test_too_many_calls_in_one_round_are_not_made(use: Resources):
    many = [("calculator", {"expression": f"{n}+1"}) for n in range(20)]
    _, trace, model = asked(use, [calling(*many), calling(("final_answer", final([])))])
    assert trace.details["calls"] == {"calculator": 8}
    assert "at most 8 calls" in results(model, 1)[-1]


@pytest.mark.parametrize("budget", [Budget(calls=2), Budget(tokens=9000), Budget(usd=0.009)])
def test_a_budget_ends_it_with_the_best_answer_so_far(use: Resources, budget: Budget):
    read = [calling(("article_text", {"article": title})) for title in ("Old Harbour", "Anna Brack")]
    model = ScriptedModel([*read, *[calling(("chunk_search", {"query": f"{n}"})) for n in range(9)]])
    use.model = ModelClient(model, prices=Prices({"scripted": Price(1.0, 1.0)}))
    use.threshold = 0.0

    async def run() -> tuple[Answer, Span]:
        with spending(budget), span("test") as trace:
            return await AGENT_GRAPH.strategy(use)(Query(QUESTION)), trace

    said, trace = asyncio.run(run())
    agent = next(s for s in trace.walk() if s.name == "agent")
    assert "budget" in str(agent.details["stopped"])
    assert said.evidence.items
    assert said.way == "rule (budget reached)"
    assert said.abstained or said.citations


def test_a_budget_of_nothing_is_unknown(use: Resources):
    said, trace, _ = asked(use, [], budget=Budget(calls=0))
    assert said.abstained
    assert said.text == ABSTENTION
    assert trace.details["rounds"] == 1


def test_any_subset_of_tools(use: Resources):
    _, _, model = asked(use, [calling(("final_answer", final([])))] * 2, tools="title_search,calculator")
    assert [tool.name for tool in model.calls[0].tools] == ["title_search", "calculator", "final_answer"]
    for left_out in TOOLS:
        lines = [calling((left_out, {})), calling(("final_answer", final([])))]
        _, trace, model = asked(use, lines, tools=f"-{left_out}")
        assert left_out not in {tool.name for tool in model.calls[0].tools}
        assert len(model.calls[0].tools) == len(TOOLS)
        assert trace.details["calls"] == {"unknown": 1}
    _, _, model = asked(use, [calling(("final_answer", final([])))] * 2, AGENT_VECTOR)
    assert [tool.name for tool in model.calls[0].tools] == ["chunk_search", "calculator", "final_answer"]
    with pytest.raises(UsageError, match="did you mean backlinks"):
        asked(use, [], tools="backlink")


def test_a_paragraph_seen_in_parts_is_one_piece_of_evidence(tmp_path: Path):
    text = " ".join(f"word{n}" for n in range(2500))
    use = resources(indexed(tmp_path, {"long.md": f"# Long\n\n{text}\n"}))
    read = [calling(("article_text", {"article": "Long", "offset": n})) for n in (0, 1, 2)]
    said, _, _ = asked(use, [*read, calling(("final_answer", final(["x"])))], tokens=100_000)
    (hit,) = said.evidence.items
    assert hit.piece.text == use.index.text(hit.piece.document, hit.piece.start, hit.piece.end)
    assert len(hit.piece.text) > 4000
    use.index.close()


def planned(use: Resources, question: str, paradigm: Any = AGENT_GRAPH, **settings: Any) -> tuple[Answer, Span]:
    use.threshold = 0.0

    async def run() -> tuple[Answer, Span]:
        with span("test") as trace:
            return await paradigm.strategy(use, settings)(Query(question)), trace

    said, trace = asyncio.run(run())
    return said, next(s for s in trace.walk() if s.name == "plan")


def test_without_a_model_a_fixed_plan_runs_over_the_same_tools(use: Resources):
    said, plan = planned(use, "When was the engineer who planned the Old Harbour born?")
    titles = list(dict.fromkeys(hit.piece.title for hit in said.evidence.items))
    assert titles[:2] == ["Old Harbour", "Anna Brack"]
    assert plan.way == "rule"
    assert list(plan.details["calls"]) == [  # type: ignore[call-overload]
        "article_neighbourhood", "backlinks", "chunk_search", "section_titles_and_infoboxes", "sections",
        "title_search",
    ]  # fmt: skip
    assert said.way == "rule"


def test_two_named_articles_are_joined(use: Resources):
    said, plan = planned(use, "What have Anna Brack and the Great Storm in common?")
    assert "shortest_path" in plan.details["calls"]  # type: ignore[operator]
    assert {"Anna Brack", "Great Storm"} <= {hit.piece.title for hit in said.evidence.items[:2]}
    assert any(found.by == "linked" for hit in said.evidence.items for found in hit.found)


def test_a_plan_takes_no_quotes_of_a_question_for_words_that_must_be_there(use: Resources):
    said, _ = planned(use, 'Which mayor and which engineer "from Tellmouth" are there?', AGENT_VECTOR)
    assert sum("from Tellmouth" in hit.piece.text for hit in said.evidence.items) == 1
    assert len(said.evidence.items) > 1


def test_the_plan_does_without_a_tool_that_is_left_out(use: Resources):
    for left_out in TOOLS:
        said, plan = planned(use, QUESTION, tools=f"-{left_out}")
        assert left_out not in plan.details["calls"]  # type: ignore[operator]
        assert said.evidence.items
    said, plan = planned(use, QUESTION, AGENT_VECTOR)
    assert plan.details["calls"] == {"chunk_search": 1}
