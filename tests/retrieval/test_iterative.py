"""`iterative`: answer, judge, look up, answer again, and its four ways to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ragways.core.trace import Span
from ragways.core.types import ABSTENTION
from ragways.index.open import Index
from ragways.retrieval.rounds import ITERATIVE as PARADIGM
from tests.fakes import FindsWords
from tests.retrieval.graph_corpus import HOPS, asked, falls, ids, indexed, prompts, resources, step

SAID = "In Port Averne. [1]"
MARKET = "Is herring sold in the market on the quay of Skelwick?"
KNOWN = "In Skelwick."
REFUSED = "Insufficient information"
ENOUGH = {"suffices": True, "subquestion": ""}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("iterative")))
    yield index
    index.close()


def lacks(question: str) -> dict[str, object]:
    return {"suffices": False, "subquestion": question}


def end(trace: Span) -> object:
    return step(trace, "answer in rounds").details["stopped"]


def test_two_rounds_and_then_the_answer_suffices(index: Index):
    script = [KNOWN, lacks("Who designed the Ness Light?"), REFUSED, lacks(MARKET), SAID, ENOUGH]
    use = resources(index, script)
    answer, trace = asked(use, PARADIGM, HOPS, base="naive", k=2, minimum=0.0, memory=True)
    assert end(trace) == "the answer suffices"
    assert answer.text == "In Port Averne. [1]"
    assert answer.evidence.hits.query.text == HOPS
    assert all(f"Question: {HOPS}" in shown for shown in prompts(use))
    temperatures = [call.temperature for call in use.model.model.calls]  # type: ignore[union-attr]
    assert [t for t in temperatures if t == 0.1] == [0.1] * 3
    falls(answer)


def test_without_passages_no_model_is_asked(index: Index):
    """The question itself is searched for first, and the first call answers from what that found."""
    use = resources(index, [SAID, ENOUGH])
    answer, trace = asked(use, PARADIGM, HOPS, base="naive", minimum=0.0)
    assert (answer.text, end(trace)) == (SAID, "the answer suffices")
    assert step(trace, "answer in rounds").details["questions"] == [HOPS]
    assert "Passages:" in prompts(use)[0]
    answer, trace = asked(resources(index, []), PARADIGM, "qqq?", base="naive", minimum=0.99)
    assert answer.abstained


def test_what_a_later_round_found_first_is_among_the_first_that_are_shown(index: Index):
    use = resources(index, [SAID, lacks(MARKET), SAID, ENOUGH])
    whole, _ = asked(use, PARADIGM, HOPS, base="naive", k=4, minimum=0.0)
    budget = sum(hit.piece.tokens for hit in whole.evidence.items[:3])
    use = resources(index, [SAID, lacks(MARKET), SAID, ENOUGH])
    answer, _ = asked(use, PARADIGM, HOPS, base="naive", k=4, minimum=0.0, tokens=budget)
    notes = " ".join(found.note for hit in answer.evidence.items for found in hit.found)
    assert f"round 1: {HOPS}" in notes
    assert f"round 2: {MARKET}" in notes


def test_an_answer_from_memory_may_suffice(index: Index):
    answer, trace = asked(resources(index, [KNOWN, ENOUGH]), PARADIGM, HOPS, memory=True)
    assert (answer.text, answer.evidence.items) == ("In Skelwick.", ())
    assert end(trace) == "the answer suffices"


def test_it_ends_when_the_rounds_are_spent(index: Index):
    script = [KNOWN, lacks("Where is Gull Rock?"), SAID, lacks("Who is Thea Brandell?"), SAID]
    answer, trace = asked(
        resources(index, script), PARADIGM, HOPS, memory=True, base="naive", rounds=2, k=2, minimum=0.0
    )
    assert end(trace) == "2 rounds"
    assert answer.text == "In Port Averne. [1]"


def test_it_ends_when_no_sub_question_comes(index: Index):
    script = [KNOWN, lacks("Where is Gull Rock?"), SAID, lacks(" ")]
    _, trace = asked(resources(index, script), PARADIGM, HOPS, memory=True, base="naive", minimum=0.0)
    assert end(trace) == "no sub-question"


def test_the_first_search_is_for_the_question_itself_where_no_sub_question_comes(index: Index):
    """As in the source (algorithm 4, line 10): what memory does not suffice for is looked up in any case."""
    script = [KNOWN, lacks(""), SAID, ENOUGH]
    answer, trace = asked(resources(index, script), PARADIGM, HOPS, memory=True, base="naive", minimum=0.0)
    assert answer.text == "In Port Averne. [1]"
    assert step(trace, "answer in rounds").details["questions"] == [HOPS]


def test_the_question_itself_counts_as_asked_in_later_rounds(index: Index):
    script = [KNOWN, lacks("Where is Gull Rock?"), SAID, lacks(HOPS)]
    _, trace = asked(resources(index, script), PARADIGM, HOPS, memory=True, base="naive", minimum=0.0)
    assert end(trace) == "the sub-question came before"
    assert step(trace, "answer in rounds").details["questions"] == ["Where is Gull Rock?"]


def test_it_ends_when_a_sub_question_comes_back(index: Index):
    script = [KNOWN, lacks("Where is Gull Rock?"), SAID, lacks("where is  GULL rock")]
    _, trace = asked(resources(index, script), PARADIGM, HOPS, memory=True, base="naive", minimum=0.0)
    assert end(trace) == "the sub-question came before"


@pytest.mark.parametrize(
    "memory",
    ["Insufficient information", "I don't know."],
)
def test_an_answer_that_refuses_never_suffices_whatever_the_model_says(index: Index, memory: dict[str, object]):
    script = [memory, ENOUGH, SAID, ENOUGH]
    answer, trace = asked(resources(index, script), PARADIGM, HOPS, memory=True, base="naive", minimum=0.0)
    assert answer.text == "In Port Averne. [1]"
    assert step(trace, "answer in rounds").details["questions"] == [HOPS]


def test_a_round_that_finds_nothing_leaves_the_answer_as_it_is(index: Index):
    script = [KNOWN, lacks("qqq"), lacks("qqq")]
    answer, trace = asked(resources(index, script), PARADIGM, HOPS, memory=True, base="naive", minimum=0.99)
    assert answer.text == "In Skelwick."
    assert end(trace) == "the sub-question came before"


def test_the_graph_is_the_base_unless_another_is_asked_for(index: Index):
    entities = {"entities": ["Ness Light"]}
    script = [KNOWN, lacks("Who designed the Ness Light?"), entities, SAID, ENOUGH]
    answer, _ = asked(resources(index, script), PARADIGM, HOPS, memory=True)
    assert {hit.found[0].by for hit in answer.evidence.items} == {"graph-ppr"}


@pytest.mark.parametrize("base", ["naive", "graph-ppr"])
def test_without_a_model_it_searches_for_what_is_not_covered(index: Index, base: str):
    answer, trace = asked(resources(index), PARADIGM, HOPS, base=base, k=2, minimum=0.2)
    looped = step(trace, "answer in rounds").details
    assert looped["questions"][0] == HOPS  # type: ignore[index]
    assert len(looped["questions"]) > 1  # type: ignore[arg-type]
    assert {each.way for each in trace.walk()} <= {"", "rule", "exact", "push"}
    assert answer.citations
    assert asked(resources(index), PARADIGM, HOPS, base=base, k=2, minimum=0.2)[0] == answer
    falls(answer)


def test_without_a_model_an_answer_that_covers_the_question_suffices(index: Index):
    _, trace = asked(resources(index), PARADIGM, "Who designed the Ness Light?", base="naive", minimum=0.0)
    assert end(trace) == "the answer suffices"


def test_without_a_model_and_without_evidence_it_abstains(index: Index):
    answer, trace = asked(resources(index), PARADIGM, "qqq?", base="naive", minimum=0.99)
    assert answer.text == ABSTENTION
    assert end(trace) == "the sub-question came before"


READS = FindsWords({"in Port Averne": 8.0, "Skelwick": 1.0})


def test_without_a_model_the_readers_chance_ends_it_or_makes_it_look_on(index: Index):
    use = replace(resources(index), reader=READS)
    chance = asked(use, PARADIGM, HOPS, base="naive", k=2, minimum=0.0, rounds=1)[0].chance
    assert chance is not None
    _, enough = asked(use, PARADIGM, HOPS, base="naive", k=2, minimum=0.0, enough=chance)
    assert end(enough) == f"the answer is likely enough (chance {chance:.2f})"
    assert step(enough, "answer in rounds").details["questions"] == [HOPS]
    assert [each.details["chance"] for each in enough.walk() if "subquestion" in each.details] == [chance]
    _, more = asked(use, PARADIGM, HOPS, base="naive", k=2, minimum=0.0, enough=1.0)
    assert len(step(more, "answer in rounds").details["questions"]) > 1  # type: ignore[arg-type]


def test_the_reader_is_shown_the_best_of_every_round(index: Index):
    use = replace(resources(index), reader=READS)
    answer, _ = asked(use, PARADIGM, HOPS, base="naive", k=4, minimum=0.0, enough=1.0)
    assert "round 2" in " ".join(found.note for hit in answer.evidence.items[:3] for found in hit.found)
    before: list[str] = []
    for tokens in (0, 40, 80, 160, 8000):
        found = ids(asked(use, PARADIGM, HOPS, base="naive", k=4, minimum=0.0, enough=1.0, tokens=tokens)[0])
        assert found[: len(before)] == before
        before = found


def test_with_a_model_the_model_judges_however_sure_the_reader_is(index: Index):
    script = [SAID, lacks(MARKET), SAID, ENOUGH]
    use = replace(resources(index, script), reader=READS, check=True)
    _, trace = asked(use, PARADIGM, HOPS, base="naive", k=2, minimum=0.0, enough=0.0)
    assert end(trace) == "the answer suffices"
