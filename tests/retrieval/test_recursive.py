"""`recursive`: rounds that append what is missing, and its three ways to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ragways.core.step import rank_fusion
from ragways.core.types import Hit, Query, ranked
from ragways.index.open import Index
from ragways.retrieval.rounds import RECURSIVE as PARADIGM
from tests.fakes import FindsWords
from tests.retrieval.graph_corpus import HOPS, asked, falls, ids, indexed, prompts, resources, step

MARKET = "Is herring sold in the market on the quay of Skelwick?"
VIADUCT = "Who opened the Osker Viaduct over the River Osker that carries the railway?"
ANSWER = "In Port Averne. [1]"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("recursive")))
    yield index
    index.close()


def more(*questions: str) -> dict[str, object]:
    return {"questions": list(questions)}


def test_sub_questions_are_appended_to_the_query_round_by_round(index: Index):
    use = resources(index, [more(MARKET, "Where is Tollen?"), more(VIADUCT), more(), ANSWER])
    answer, trace = asked(use, PARADIGM, HOPS, k=3)
    assert answer.text == "In Port Averne. [1]"
    assert answer.evidence.hits.query.text == HOPS
    searched = use.embedder.texts  # type: ignore[attr-defined]
    assert f"{HOPS} {MARKET} Where is Tollen?" in searched
    assert f"{HOPS} {MARKET} Where is Tollen? {VIADUCT}" in searched
    shown = prompts(use)
    assert f"{MARKET}\nWhere is Tollen?" in shown[1], "what was asked before is shown"
    assert f"Question: {HOPS}" in shown[-1], "the original question is answered"
    assert step(trace, "gather in rounds").details["stopped"] == "no sub-question"
    falls(answer)


def test_it_ends_when_the_rounds_are_spent(index: Index):
    # Each round asks for an article that the one before did not bring; the last round asks for nothing more.
    use = resources(index, [more(MARKET, "Where is Tollen?"), more(VIADUCT), ANSWER])
    _, trace = asked(use, PARADIGM, HOPS, rounds=3, k=3)
    gathering = step(trace, "gather in rounds")
    assert gathering.details["stopped"] == "3 rounds"
    assert gathering.details["rounds"] == 3


def test_it_ends_when_a_round_finds_nothing_new(index: Index):
    use = resources(index, [more("And what else?"), ANSWER])
    _, trace = asked(use, PARADIGM, HOPS, k=100)
    gathering = step(trace, "gather in rounds")
    assert gathering.details["stopped"] == "nothing new"
    assert gathering.details["rounds"] == 2


def test_it_ends_when_no_sub_question_comes(index: Index):
    use = resources(index, [more(), ANSWER])
    _, trace = asked(use, PARADIGM, HOPS)
    assert step(trace, "gather in rounds").details["stopped"] == "no sub-question"


def test_a_sub_question_that_was_asked_before_is_none(index: Index):
    use = resources(index, [more("Who is Ada Holm?"), more("who is ADA holm", " ", HOPS), ANSWER])
    _, trace = asked(use, PARADIGM, HOPS, k=2)
    assert step(trace, "gather in rounds").details["stopped"] == "no sub-question"


def test_no_more_than_three_are_taken(index: Index):
    use = resources(index, [more("One?", "Two?", "Three?", "Four?"), more(), ANSWER])
    asked(use, PARADIGM, HOPS, k=2)
    assert any(text.endswith("One? Two? Three?") for text in use.embedder.texts)  # type: ignore[attr-defined]
    assert not any("Four?" in text for text in use.embedder.texts)  # type: ignore[attr-defined]


def test_without_a_model_names_beside_the_questions_words_lead_on(index: Index):
    answer, trace = asked(resources(index), PARADIGM, HOPS, k=2)
    first = step(trace, "round")
    assert "Ada Holm town born" in " | ".join(first.details["sub-questions"])  # type: ignore[arg-type]
    assert {each.way for each in trace.walk()} <= {"", "rule"}
    assert any(hit.piece.title == "Ada Holm" for hit in answer.evidence.items)
    falls(answer)


def test_rounds_are_joined_by_rank_and_say_so(index: Index):
    use = resources(index, [more(MARKET, "Where is Tollen?"), more(), ANSWER])
    answer, _ = asked(use, PARADIGM, HOPS, k=3)
    rounds: dict[str, list[Hit]] = {"round 1": [], "round 2": []}
    for hit in answer.evidence.hits.items:
        for found in hit.found:
            rounds[found.note].append(Hit(hit.piece, 1 / found.rank, (found,)))
    assert all(rounds.values())
    joined = rank_fusion([ranked(Query(HOPS), hits) for hits in rounds.values()])
    assert answer.evidence.hits.items == joined.items
    assert answer.evidence.hits.query == Query(HOPS, (MARKET, "Where is Tollen?"))


def test_the_budget_changes_what_is_kept_and_not_what_is_searched_for(index: Index):
    before: list[str] = []
    for tokens in (0, 40, 90, 8000):
        answer, _ = asked(resources(index), PARADIGM, HOPS, tokens=tokens, k=2)
        assert answer.evidence.tokens <= tokens
        assert ids(answer)[: len(before)] == before
        before = ids(answer)
    assert asked(resources(index), PARADIGM, HOPS, k=2)[0] == answer


def test_without_a_model_it_ends_when_what_was_gathered_suffices(index: Index):
    use = replace(resources(index), reader=FindsWords({"in Port Averne": 8.0, "by Ada Holm": 1.0}))
    _, whole = asked(use, PARADIGM, HOPS, k=2, enough=1.0)
    first = step(whole, "round").details["chance"]
    assert isinstance(first, float)
    assert step(whole, "gather in rounds").details["rounds"] > 1  # type: ignore[operator]
    _, trace = asked(use, PARADIGM, HOPS, k=2, enough=first)
    gathering = step(trace, "gather in rounds").details
    assert (gathering["rounds"], gathering["stopped"]) == (1, f"the answer is likely enough (chance {first:.2f})")


def test_with_a_model_nothing_is_read_between_rounds(index: Index):
    reader = FindsWords({"in Port Averne": 8.0})
    use = replace(resources(index, [more("Who is Ada Holm?"), more(), ANSWER]), reader=reader)
    asked(use, PARADIGM, HOPS, k=2, enough=0.0)
    assert reader.groups == []
