"""Every reason to leave a draft out is reached, by rules and by a model; and what is good passes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.evaluation.questions import verify
from ragways.evaluation.questions.facts import facts_of
from ragways.evaluation.questions.source import (
    AMBIGUOUS,
    ANSWERABLE,
    BY_HEART,
    LEAK,
    NO_MATERIAL,
    NOT_GROUNDED,
    OTHER_ENTITY,
    PASSED,
    REPEATED,
    SHORTCUT,
    UNREADABLE,
    QuestionDraft,
    QuestionSource,
    SupportingChunk,
    null,
)
from ragways.evaluation.questions.writer import chained
from ragways.index.open import Index
from ragways.models.call import Call
from ragways.testing.scripted import ScriptedModel
from tests.evaluation.questions.fakes import REPLIES, ModelByTask, asked, indexed, made, resources, shown

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
    chains = [c for row in facts_of(source).chains(2).values() for c in row]
    return chained(source, next(c for c in chains if c[0].subject.bare == title and c[-1].relation.name == last))


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
    two = next(fact for fact in facts_of(source).every if fact.subject.bare == "North Gate")
    assert verify.rule_fault(chained(source, (two,)), source) == AMBIGUOUS


def test_what_has_no_answer_must_have_none(source: QuestionSource):
    absent = null("Who was the spouse of Ada Holm?", absent=(("Ada Holm", ("marri", "wife")),))
    assert verify.rule_fault(absent, source) == ""
    assert verify.rule_fault(replace(absent, absent=(("Ada Holm", ("di",)),)), source) == ANSWERABLE
    assert verify.rule_fault(replace(absent, absent=()), source) == ANSWERABLE


SUPPORT = tuple(SupportingChunk(f"c{n}", f"d{n}", f"k{n}", f"T{n}", f"Text {n}. Anna Brack.") for n in (1, 2))
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
    index = source.index
    assert counted(index, {}) == {PASSED: 1, REPEATED: 9}
    assert counted(index, {"question_grounded": NO}) == {NOT_GROUNDED: 10}
    assert counted(index, {"question_factual": "no JSON"}) == {UNREADABLE: 10}
    # A question that speaks of a text nobody sees, or that names a passage that was not shown, is not readable either.
    shown = {"question": "What does the passage say?", "answer": "Much."}
    assert counted(index, {"question_factual": shown}) == {UNREADABLE: 10}
    assert counted(index, {"question_context": lambda call: asked(call, passages=[99])}, "native") == {UNREADABLE: 10}
    same = counted(index, {"question_summary": {"same": False}}, "summary")
    assert set(same) <= {NO_MATERIAL, OTHER_ENTITY}
    assert OTHER_ENTITY in same


def test_a_writer_that_verifies_itself_does_not_pass_what_stands_nowhere(source: QuestionSource):
    lie = {"question": "Where did Ada Holm die?", "answer": "Zanzibar"}
    lines = {"question_factual": lie, "question_structure": {**lie, "passages": [1]}, "question_grounded": "Zanzibar"}
    assert counted(source.index, lines) == {NOT_GROUNDED: 10}
    assert set(counted(source.index, lines, "node")) <= {NOT_GROUNDED, NO_MATERIAL}
    true = {**lie, "answer": "Skelwick"}
    assert PASSED in counted(source.index, {"question_factual": true, "question_grounded": "Skelwick"}, count=4)


LONG = "She died in Skelwick, where she had been an engineer of lights"


@pytest.mark.parametrize(
    ("answer", "fine"),
    [
        ("Skelwick", True),
        ("in Skelwick.", True),
        ("Zanzibar", False),
        ("3 May 1770", True),
        ("4 May 1770", False),
        ("Skelwick, Zanzibar", False),
        (f"{LONG}.", True),
        (f"{LONG} in Zanzibar.", False),
        (f"{LONG} until 1893.", False),
        ("A violinist of remarkable gifts travelled widely through cold mountains playing sonatas.", False),
        ("The", False),
    ],
)
def test_the_answer_of_a_model_stands_in_its_support(answer: str, fine: bool):
    text = f"{ADA} She built lights."
    draft = QuestionDraft("What became of her?", (answer,), (SupportingChunk("c", "d", "k", "Ada Holm", text),))
    assert verify.stands(draft) is fine


THREE = tuple(SupportingChunk(f"c{n}", f"d{n}", f"k{n}", f"T{n}", f"Text {n}. Anna Brack.") for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("answered_from", "reason"), [({1, 2, 3}, ""), ({1, 3}, SHORTCUT), ({2}, SHORTCUT), ({2, 3}, SHORTCUT)]
)
def test_a_model_is_asked_with_every_part_of_the_support(source, answered_from: set[int], reason: str):
    def reads(call: Call) -> str:
        texts = " ".join(shown(call))
        return "Anna Brack" if {n for n in (1, 2, 3) if f"Text {n}." in texts} >= answered_from else NO

    model = ModelByTask({**REPLIES, "question_grounded": reads})
    draft = replace(HOPS, support=THREE)
    assert asyncio.run(verify.model_fault(draft, QuestionSource(resources(source.index, model)))) == reason


ROW = {
    "opera.md": "# Salt Opera\n\nSalt Opera is an opera composed by Ida Wend.{opera}",
    "ida.md": "# Ida Wend\n\nIda Wend was born in Tollen Quay.{ida}",
    "quay.md": "# Tollen Quay\n\nTollen Quay is a town. Tollen Quay was founded in 1655.{quay}",
}


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ({}, ""),
        ({"quay": " Ida Wend lived there."}, SHORTCUT),  # the town's own text joins her to it: hers is not needed
        ({"opera": " It was first heard at Tollen Quay."}, SHORTCUT),
        ({"ida": " She wrote Salt Opera."}, SHORTCUT),
        ({"quay": " Salt Opera plays there."}, SHORTCUT),
    ],
)
def test_no_part_of_a_chain_may_suffice(tmp_path: Path, extra: dict[str, str], reason: str):
    texts = {name: text.format(**{"opera": "", "ida": "", "quay": "", **extra}) for name, text in ROW.items()}
    index = indexed(tmp_path, texts, LAYERS)
    source = QuestionSource(resources(index))
    draft = chained(source, next(c for row in facts_of(source).chains(3).values() for c in row))
    assert draft.text == "When was the town where the composer of Salt Opera was born founded?"
    assert verify.rule_fault(draft, source) == reason
    index.close()
