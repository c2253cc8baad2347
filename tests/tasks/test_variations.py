"""What good models write instead of the JSON that a schema asks for: no task may lose a reply by it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ragways.models.client import ModelClient
from ragways.models.reply import schema_of
from ragways.models.task import Task
from ragways.tasks.answers import RECALL, AgentAnswerInput, AnswerReply, RecallInput
from ragways.tasks.duel import DuelAnswerInput, DuelDifferentialInput, DuelInput
from ragways.tasks.follow_up import FollowUpInput, Turn
from ragways.tasks.graph import (
    CommunityReportInput,
    ExtractedFacts,
    FactsInput,
    MoreFactsInput,
    PointsInput,
    Rater,
    ShownReport,
)
from ragways.tasks.judges import (
    CitationsInput,
    CitedSentence,
    ClaimsInput,
    CorrectInput,
    MatchInput,
    QuestionsInput,
    SupportInput,
    UsefulInput,
)
from ragways.tasks.questions import (
    EvolvedInput,
    PassagesInput,
    ReasoningInput,
    SameInput,
    StructureInput,
    SummaryInput,
    UnanswerableInput,
)
from ragways.tasks.search import (
    ArmCard,
    ChooseArmInput,
    JudgeAnswerInput,
    KeywordsInput,
    QuestionEntitiesInput,
    SubquestionsInput,
)
from ragways.tasks.themes import ThemesInput
from ragways.testing.scripted import ScriptedModel
from tests.tasks.test_tasks import tasks

Reply = dict[str, Any]
PASSAGES = (("Dam", "Ness built it in 1801."), ("Ness", "Ness was born in Averne."))
POINTS = {"comprehensiveness": 3, "relevance": 4, "empowerment": 2, "directness": 5}
JUDGED = {"why": "fuller", "first": POINTS, "second": POINTS}
VERDICTS = {"verdicts": [{"claim": 1, "why": "stated", "supported": True}, {"claim": 2, "why": "", "supported": False}]}
CITING = {"question": "Who built the dam?", "answer": "Ness.", "passages": [1, 2]}
FACTS = {
    "entities": [{"passage": 1, "name": "Ness", "type": "person", "description": "A builder."}],
    "relations": [{"passage": 2, "subject": "Ness", "predicate": "born_in", "object": "Averne", "description": "",
                   "weight": 7.0, "date": "1770"}],
}  # fmt: skip


def _no_terms(_: str) -> list[str]:
    return []


TABLE: Mapping[str, tuple[object, Reply]] = {
    "agent answer": (
        AgentAnswerInput("Who?", "found", "notes"),
        {"answers": ["Ness"], "explanation": "It says so.", "references": ["article:1"], "assumptions": []},
    ),
    "choose arm": (ChooseArmInput("Who?", (ArmCard("naive", 0.5, "cheap"),), "naive"), {"arm": "naive"}),
    "duel answer": (DuelAnswerInput("Who?", PASSAGES, 9), {"answered": True, "answer": "Ness, in 1801."}),
    "duel difference": (DuelInput("Who?", "a", "b"), {"first": ["Ness built it."], "second": ["It is old."]}),
    "duel differential": (DuelDifferentialInput("Who?", ("a",), ("b",)), JUDGED),
    "duel forced": (
        DuelInput("Who?", "a", "b"),
        dict.fromkeys(("comprehensiveness", "diversity", "empowerment", "directness"), "first") | {"winner": "second"},
    ),
    "duel score": (DuelInput("Who?", "a", "b"), {"why": "fuller", "first": POINTS, "second": POINTS}),
    "facts": (FactsInput(PASSAGES), FACTS),
    "facts more": (MoreFactsInput(PASSAGES, "none"), FACTS),
    "follow-up": (FollowUpInput("And when?", (Turn("Who?", "Ness."),)), {"question": "When did Ness build it?"}),
    "judge answer": (
        JudgeAnswerInput("Who?", "Ness", (), (), _no_terms), {"suffices": False, "subquestion": "When was it built?"}
    ),
    "judge citations": (
        CitationsInput("Who?", (CitedSentence("a", ("q",), ("p",)), CitedSentence("b", ("q",), ("p",))), {"p": "Ness"}),
        VERDICTS,
    ),
    "judge claims": (ClaimsInput("Who?", "Ness."), {"claims": ["Ness built it.", "It is old."]}),
    "judge correct": (CorrectInput("Who?", "Ness", ("Ness",)), {"why": "the same", "verdict": "correct"}),
    "judge match": (
        MatchInput("Who?", ("a", "b"), ("a", "c")),
        {"matches": [{"claim": 1, "why": "same", "gold": [1]}, {"claim": 2, "why": "", "gold": []}]},
    ),
    "judge questions": (QuestionsInput("Ness."), {"noncommittal": False, "questions": ["Who?", "Whom?", "Which one?"]}),
    "judge support": (SupportInput(("a", "b"), "text"), VERDICTS),
    "judge useful": (UsefulInput("Who?", "Ness", "text"), {"why": "it names him", "useful": True}),
    "keywords": (KeywordsInput("Who?", _no_terms, _no_terms), {"low": ["Ness"], "high": ["building", "dams"]}),
    "points": (
        PointsInput("Who?", (ShownReport("Dam", ("a",)),), Rater(None, _no_terms)),  # type: ignore[arg-type]
        {"points": [{"text": "Ness built it.", "rating": 90, "reports": [1]}]},
    ),
    "question context": (PassagesInput(PASSAGES), CITING),
    "question entities": (QuestionEntitiesInput("Who?", _no_terms), {"entities": ["Ness", "Averne"]}),
    "question evolved": (EvolvedInput("Who?", "Ness", "reasoning", PASSAGES), CITING),
    "question factual": (PassagesInput(PASSAGES), {"question": "Who built the dam?", "answer": "Ness."}),
    "question reasoning": (ReasoningInput(PASSAGES, ("Ness",)), {"question": "Where is he from?", "answer": "Averne."}),
    "question same": (SameInput("Who?", "Ness", "Ness"), {"same": True}),
    "question structure": (StructureInput("node", "Ness", "", PASSAGES), CITING),
    "question summary": (SummaryInput("dam", PASSAGES), {"same": True, **CITING}),
    "question unanswerable": (UnanswerableInput(PASSAGES, "swapped", "Ness"), {"question": "When did Ness die?"}),
    "report": (
        CommunityReportInput("a", "b", ""),
        {"title": "Ness", "summary": "A builder.", "rating": 6.0,
         "findings": [{"text": "Ness built it.", "rating": 5.0, "entities": []}]},
    ),
    "subquestions": (SubquestionsInput("Who?", (), (), _no_terms), {"questions": ["Who built it?", "When?"]}),
    "themes": (
        ThemesInput((("Dam", "It was built."), ("Ness", "It is old.")), _no_terms),
        {"documents": [{"document": n, "themes": ["dams", "Ness", "water", "1801", "walls"]} for n in (1, 2)]},
    ),
}  # fmt: skip
TASKS = {task.name: task for task in tasks() if not task.in_words}


def _everywhere(change: Callable[[Reply], Reply]) -> Callable[[Reply], Reply]:
    """The change of an object made in all objects of a reply."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return change({key: changed(part) for key, part in value.items()})
        return [changed(part) for part in value] if isinstance(value, list) else value

    return changed


def _values(change: Callable[[Any], Any]) -> Callable[[Reply], Reply]:
    """A change of all values that are no list or object."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(part) for part in value]
        return {key: changed(part) for key, part in value.items()} if isinstance(value, dict) else change(value)

    return changed


def _one_list(good: Reply) -> str | None:
    lists = [key for key, value in good.items() if isinstance(value, list)]
    return lists[0] if len(good) == 1 and lists else None


def _bare_list(good: Reply) -> object:
    name = _one_list(good)
    return good[name] if name else [good]


def _list_of_one(good: Reply) -> object:
    """One item where a list of one is wanted."""
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in good.items()}


def _as_texts(good: Reply) -> object:
    """Findings as texts; and the other way round, objects where texts are wanted."""
    if "findings" in good:
        return {**good, "findings": [finding["text"] for finding in good["findings"]]}
    texts = {
        key: value for key, value in good.items() if isinstance(value, list) and value and isinstance(value[0], str)
    }
    return {**good, **{key: [{"text": text} for text in value] for key, value in texts.items()}}


@_everywhere
def _bad_item(good: Reply) -> Reply:
    """One more item in each list, that cannot be used: of a passage that is not there, or empty."""
    bad: dict[type, object] = {dict: {"passage": 99, "claim": 99, "name": "", "text": ""}, str: "", int: 99}
    return {
        key: [*value, bad[type(value[0])]] if isinstance(value, list) and value else value
        for key, value in good.items()
    }


def _empty_is_null(good: Reply) -> Reply:
    return _everywhere(lambda one: {key: None if value in ("", []) else value for key, value in one.items()})(good)


def _empty_is_missing(good: Reply) -> Reply:
    return _everywhere(lambda one: {key: value for key, value in one.items() if value not in ("", [])})(good)


def _single_quotes(good: Reply) -> str:
    return repr(good)


CALLED = {"name": "give_reply", "arguments": {}}
VARIATIONS: Mapping[str, Callable[[Reply], object]] = {
    "a fence": lambda good: f"```json\n{json.dumps(good, indent=2)}\n```",
    "a sentence before": lambda good: f"Here is what [1] and [2] say:\n\n{json.dumps(good)}",
    "a remark after": lambda good: f"{json.dumps(good)}\n\nI hope this {{really}} helps!",
    "thinking before": lambda good: f"<think>Is it {{'a': 1}}? No.</think>\n{json.dumps(good)}",
    "other order of keys": _everywhere(lambda one: dict(reversed(one.items()))),
    "keys in another case": _everywhere(lambda one: {key.title(): value for key, value in one.items()}),
    "an extra key": _everywhere(lambda one: {"confidence": 0.9, **one, "aliases": ["x"], "note": None}),
    "an enum in another case": _values(
        lambda value: value.capitalize() if value in ("first", "second", "correct", "naive") else value
    ),
    "null for empty": _empty_is_null,
    "a missing optional key": _empty_is_missing,
    "a number as text": _values(lambda value: str(value) if type(value) in (int, float) else value),
    "a truth value as text": _values(lambda value: str(value).lower() if type(value) is bool else value),
    "a bare list": _bare_list,
    "one for a list of one": _list_of_one,
    "a list of texts": _as_texts,
    "a trailing comma": lambda good: json.dumps(good).replace("]", ",]").replace("}", ",}"),
    "single quotes": _single_quotes,
    "a line break in a text": lambda good: json.dumps(good).replace(". ", ".\n"),
    "one bad item": _bad_item,
    "a call of a tool as text": lambda good: json.dumps({**CALLED, "arguments": good}),
    "a call of a tool as text in text": lambda good: json.dumps([{**CALLED, "arguments": json.dumps(good)}]),
}


def done(task: Task[Any, Any], given: object, *replies: object) -> object:
    with ScriptedModel(replies) as model:  # which fails on a call too many
        return asyncio.run(ModelClient(model).do(task, given)).value


def test_every_task_is_in_the_table():
    assert TABLE.keys() == TASKS.keys()
    for name, (_, reply) in TABLE.items():
        assert reply.keys() == schema_of(TASKS[name].reply)["properties"].keys(), name  # type: ignore[attr-defined]


@pytest.mark.parametrize("variation", VARIATIONS)
@pytest.mark.parametrize("name", TABLE)
def test_no_reply_is_lost_by_a_natural_variation(name: str, variation: str):
    given, good = TABLE[name]
    varied = VARIATIONS[variation](good)
    assert done(TASKS[name], given, varied if isinstance(varied, str) else json.dumps(varied)) == done(
        TASKS[name], given, good
    )


@pytest.mark.parametrize("text", ['{"name": "reply", "arguments": {"answer": "Ness [1]."}}', '{"answer": "Ness [1]."}'])
def test_words_in_json_are_read_where_words_were_wanted(text: str):
    assert done(RECALL, RecallInput("Who?"), text) == AnswerReply(True, "Ness [1].")


def test_json_that_somebody_asked_for_is_an_answer():
    text = '```json\n{"answer": 42}\n```'
    assert done(RECALL, RecallInput("What is returned?"), text) == AnswerReply(True, text)


def test_where_nothing_can_be_used_the_reply_is_shown_whole_with_what_is_wrong():
    given, good = TABLE["report"]
    bad = json.dumps({"rating": 3, "findings": [{"text": f"{n} " * 900} for n in range(9)]})
    with ScriptedModel([bad, good]) as model:
        asyncio.run(ModelClient(model).do(TASKS["report"], given))
    reply, complaint = model.calls[1].messages[-2:]
    assert reply.content == bad
    assert "title and summary must not be empty" in complaint.content


def test_facts_of_passages_that_were_not_shown_are_no_facts():
    given, good = TABLE["facts"]
    none = {"entities": [{"passage": 9, "name": "Ness"}], "relations": []}
    with ScriptedModel([none, good]) as model:
        asyncio.run(ModelClient(model).do(TASKS["facts"], given))
    assert "passages are numbered 1 to 2" in model.calls[1].messages[-1].content
    assert done(TASKS["facts"], given, {"entities": [], "relations": []}) == ExtractedFacts((), ())
