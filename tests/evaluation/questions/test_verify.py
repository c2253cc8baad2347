"""Every reason to leave a draft out is reached, by rules and by a model; and what is good passes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ragways.core.errors import UnusableReply
from ragways.evaluation.questions import verify
from ragways.evaluation.questions.draft import (
    AMBIGUOUS,
    ANSWERABLE,
    BY_HEART,
    LEAK,
    NO_MATERIAL,
    NOT_GROUNDED,
    OTHER_ENTITY,
    PASSED,
    REASONS,
    REPEATED,
    SHORTCUT,
    UNREADABLE,
    NothingToAsk,
    QuestionDraft,
    SupportingChunk,
    null,
)
from ragways.evaluation.questions.graph_questions import summarised
from ragways.evaluation.questions.source import QuestionSource
from ragways.evaluation.questions.templates import chained
from ragways.index.reader import Index
from ragways.testing.scripted import ScriptedModel
from tests.evaluation.questions.fakes import ASKED, REPLIES, ModelByTask, indexed, made, resources

ADA = "# Ada Holm\n\nAda Holm (born 3 May 1770 in Port Averne) was an engineer. She died in Skelwick."
TEXTS = {
    "light.md": "# Ness Light\n\nThe Ness Light is a lighthouse designed by Ada Holm. It stands on Gull Rock.",
    "ada.md": ADA,
    "mill.md": "# Old Mill\n\nThe Old Mill is a building designed by Bertil Oakes. It stands in Ness.",
    "bertil.md": "# Bertil Oakes\n\nBertil Oakes (born 9 June 1801 in Tollen) was a mason, who designed the Old Mill.",
    "gate.md": "# North Gate\n\nThe North Gate is a building designed by Carla Finn. The North Gate was designed by "
    "Dora Gray.",
}
LAYERS = frozenset({"vectors", "words", "graph"})


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> QuestionSource:
    return QuestionSource(resources(indexed(tmp_path_factory.mktemp("verify"), TEXTS, LAYERS)))


def chain(source: QuestionSource, title: str, last: str) -> QuestionDraft:
    chains = [c for row in source.chains(2).values() for c in row]
    return chained(source, next(c for c in chains if c[0].subject.bare == title and c[-1].wording.name == last))


def test_rules(source: QuestionSource):
    good = chain(source, "Ness Light", "birth date")
    assert good.text == "When was the designer of the Ness Light born?"
    assert good.answers == ("3 May 1770", "May 3, 1770")
    assert verify.rule_fault(good, source) == ""
    assert verify.rule_fault(replace(good, text="When, if not on May 3, 1770, was she born?"), source) == LEAK
    assert verify.rule_fault(replace(good, answers=("4 May 1770",)), source) == NOT_GROUNDED
    assert verify.rule_fault(replace(good, support=()), source) == NOT_GROUNDED
    lying = tuple(replace(one, quote="Ada Holm was born in Rome") for one in good.support)
    assert verify.rule_fault(replace(good, support=lying), source) == NOT_GROUNDED
    # The mason's own document says what he designed and when he was born: one document suffices.
    assert verify.rule_fault(chain(source, "Old Mill", "birth date"), source) == SHORTCUT
    two = next(fact for fact in source.facts.every if fact.subject.bare == "North Gate")
    assert verify.rule_fault(chained(source, (two,)), source) == AMBIGUOUS


def test_an_answer_leaks_by_the_name_it_begins_with(source: QuestionSource):
    draft = QuestionDraft(
        "Where is Hill, Dodge County?", ("Dodge County, Wisconsin",), (SupportingChunk("c", "d", "k", "t", "x"),)
    )
    assert verify.rule_fault(draft, source) == LEAK


def test_what_has_no_answer_must_have_none(source: QuestionSource):
    absent = null("Who was the spouse of Ada Holm?", absent=(("Ada Holm", ("marri", "wife")),))
    assert verify.rule_fault(absent, source) == ""
    assert verify.rule_fault(replace(absent, absent=(("Ada Holm", ("di",)),)), source) == ANSWERABLE
    assert verify.rule_fault(replace(absent, absent=()), source) == ANSWERABLE


def test_namesakes_are_not_summed_up(tmp_path: Path):
    texts = {
        "a.md": "# John Ferrow\n\nJohn Ferrow (born 1 May 1801) was a sailor from Ness with a red beard.",
        "b.md": "# John Ferrow (poet)\n\nJohn Ferrow (born 9 June 1870) was a poet from Tollen with no beard at all.",
        "c.md": "# Ness\n\nNess is a town. It remembers John Ferrow with a statue of stone near the old harbour wall.",
    }
    index = indexed(tmp_path, texts, LAYERS)
    source, reasons = QuestionSource(resources(index)), set()
    for seed in range(40):
        try:
            drafted = summarised(source, Random(seed))
            assert "John Ferrow" not in drafted.text
        except NothingToAsk as nothing:
            reasons.add(nothing.reason)
    assert OTHER_ENTITY in reasons | made(index, kinds=["summary"], count=1).counts["summary"].keys()
    index.close()


SUPPORT = tuple(SupportingChunk(f"c{n}", f"d{n}", f"k{n}", f"T{n}", f"Text {n}.") for n in (1, 2))
HOPS = QuestionDraft("Who built it?", ("Anna Brack",), SUPPORT, multi_hop=True)
FACT = replace(HOPS, support=SUPPORT[:1], multi_hop=False)
NO, SAME, OTHER = "Insufficient information", {"same": True}, {"same": False}


@pytest.mark.parametrize(
    ("draft", "script", "reason"),
    [
        (FACT, ["Anna Brack", NO], ""),
        (FACT, ["anna brack!", NO], ""),
        (FACT, ["She was called Anna Brack", SAME, NO], ""),
        (FACT, ["Bertil", OTHER], NOT_GROUNDED),
        (FACT, [NO], NOT_GROUNDED),
        (FACT, ["Anna Brack", "Anna Brack"], BY_HEART),
        (FACT, ["Anna Brack", "Miss A. Brack", SAME], BY_HEART),
        (FACT, ["Anna Brack", "Bertil", OTHER], ""),
        (FACT, ["Someone", "?", "?", "?"], UNREADABLE),
        (replace(FACT, text="Did Anna Brack build it?"), [], LEAK),
        (HOPS, ["Anna Brack", NO, NO, NO], ""),
        (HOPS, ["Anna Brack", NO, "Anna Brack"], SHORTCUT),
        (HOPS, ["Anna Brack", "Anna Brack"], SHORTCUT),
    ],
)
def test_a_model(source: QuestionSource, draft: QuestionDraft, script: list[object], reason: str):
    with ScriptedModel(script) as model:
        asked = QuestionSource(resources(source.index, model))
        assert asyncio.run(verify.model_fault(draft, asked)) == reason


@pytest.mark.parametrize(("said", "reason"), [(NO, ""), ("In 1801.", ANSWERABLE)])
def test_a_model_tries_what_has_no_answer_with_all_that_is_found(source: QuestionSource, said: str, reason: str):
    draft = null("When did Ada Holm marry?", support=SUPPORT[:1])
    with ScriptedModel([said]) as model:
        assert asyncio.run(verify.model_fault(draft, QuestionSource(resources(source.index, model)))) == reason
        shown = model.calls[0].messages[-1].content
    assert "Text 1." in shown
    assert "Ada Holm (born 3 May 1770" in shown


def counted(index: Index, lines: Mapping[str, object], kind: str = "factual", count: int = 2) -> dict[str, int]:
    return made(index, ModelByTask({**REPLIES, **lines}), kinds=[kind], count=count).counts[kind]


def test_counts_say_why(source: QuestionSource):
    index, always = source.index, {"question_grounded": "The fourth tower"}
    assert counted(index, always) == {PASSED: 1, REPEATED: 9}
    assert counted(index, {"question_grounded": NO}) == {NOT_GROUNDED: 10}
    assert counted(index, {**always, "question_factual": "no JSON"}) == {UNREADABLE: 10}
    # A question that speaks of a text nobody sees, or that names a passage that was not shown, is not readable either.
    shown = {**ASKED, "question": "What does the passage say?"}
    assert counted(index, {**always, "question_factual": shown}) == {UNREADABLE: 10}
    far = {**always, "question_context": {**ASKED, "passages": [99]}}
    assert counted(index, far, "native") == {UNREADABLE: 10}
    same = counted(index, {"question_summary": {"same": False}}, "summary")
    assert set(same) <= {NO_MATERIAL, OTHER_ENTITY}
    assert OTHER_ENTITY in same


def test_every_reason_is_described_and_reached_here():
    here = Path(__file__).read_text(encoding="utf-8")
    names = ("LEAK", "NOT_GROUNDED", "SHORTCUT", "AMBIGUOUS", "ANSWERABLE", "BY_HEART", "UNREADABLE", "REPEATED")
    assert len(REASONS) == len(names) + 3
    assert all(here.count(name) > 1 for name in names)
    assert all(REASONS.values())
    assert issubclass(UnusableReply, Exception)
