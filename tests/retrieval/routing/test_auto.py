"""The paradigm `auto`: a look, a decision, and the way that was decided for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragways.assemble import opened
from ragways.core.errors import UsageError
from ragways.core.stream import streaming
from ragways.core.types import ABSTENTION
from ragways.evaluation.datasets import load_questions
from ragways.retrieval.ask import PARADIGMS, Result, ask, retrieve
from ragways.retrieval.paradigm import parse_variant
from ragways.retrieval.routing.auto import (
    ABSTAINED,
    DOUBT,
    NOT_ROUTED,
    OWN,
    WISHED,
    WITHHELD,
    bundled,
    checked,
    doubt,
)
from ragways.retrieval.routing.features import FEATURES
from ragways.retrieval.routing.router import ABSTAIN, ArmEstimate, ArmModel, Decision, Guard, Router, Scale, Stop
from ragways.settings import Settings
from ragways.testing.server import LoopbackServer

QUESTION = "Who designed the Pell Rock Lighthouse?"
RouteBy = Callable[..., Result]


def arm(name: str, constant: float, **weights: float) -> ArmModel:
    needs = () if name == ABSTAIN else tuple(sorted(PARADIGMS.find(name.partition("[")[0]).needs))
    return ArmModel(name, 0.5, constant, weights, {"tokens": 100.0, "evidence": 100.0}, needs, name == "llm-only")


def router(*arms: ArmModel, look: str = "fused", stop: Stop = Stop()) -> Router:  # noqa: B008 - frozen
    return Router("all-evidence", "tokens", 0.0, arms[0].name, arms, {"question.words": Scale(6.0, 2.0)},
                  Guard(0.1, 0.1, passed=True), look=look, stop=stop)  # fmt: skip


@pytest.fixture
def route_by(tmp_path: Path, demo_settings: Settings) -> RouteBy:
    """Asks a question by a router of one's own."""

    def run(chosen: Router, question: str = QUESTION, settings: Settings = demo_settings, /, **values: Any) -> Result:
        file = tmp_path / "router.json"
        file.write_text(chosen.text(), encoding="utf-8")
        return result_of(settings, "auto", question, router=file, **values)

    return run


def test_an_arm_needs_the_layers_that_its_settings_use(route_by: RouteBy):
    flat = replace(arm("iterative[base=naive]", 1.0), needs=("vectors",))
    result = route_by(router(flat, arm("naive", 0.0), look="naive"), layers=frozenset({"vectors"}))
    assert taken(result) == "iterative[base=naive]"
    with pytest.raises(UsageError, match="needed other layers"):
        route_by(router(replace(flat, needs=("graph", "vectors")), arm("naive", 0.0)))


def taken(result: Result) -> str:
    assert result.route is not None
    return result.route.arm


LAYERS = frozenset({"vectors", "words", "graph", "communities"})


def result_of(
    settings: Settings,
    paradigm: str,
    question: str = QUESTION,
    /,
    layers: frozenset[str] = LAYERS,
    router: Path | None = None,
    **values: Any,
) -> Result:
    async def run() -> Result:
        async with opened(settings) as use:
            use.index.layers = use.index.layers & layers
            return await ask(replace(use, router=router), question, paradigm, values)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "name",
    ["fused[k=3]", "fused[k=30]", "naive[k=4]", "recursive", "iterative[rounds=1]", "community-global", "agent-graph"],
)
def test_an_arm_answers_as_its_paradigm_with_its_settings(route_by: RouteBy, demo_settings: Settings, name: str):
    routed = route_by(router(arm(name, 2.0), arm("words", 0.0)))
    paradigm, settings = parse_variant(name)
    values: dict[str, Any] = dict(settings)
    assert (routed.paradigm, taken(routed)) == ("auto", name)
    assert routed.answer == result_of(demo_settings, paradigm, **values).answer
    if paradigm == "fused":
        assert [step.name for step in routed.trace.walk()].count("weigh") == 1, "nothing is searched twice"


def test_it_abstains_where_the_router_says_so_and_shows_what_is_nearest(route_by: RouteBy, demo_settings: Settings):
    result = route_by(router(arm("fused[k=10]", 2.0), arm(ABSTAIN, 2.0), stop=Stop(look=0.5)))
    assert result.answer.abstained
    assert result.answer.text == ABSTENTION
    assert result.answer.way == ABSTAINED
    assert result.answer.evidence == result_of(demo_settings, "fused", k=3).answer.evidence


@pytest.mark.parametrize("name", ["fused[k=5]", "naive[k=5]"])
def test_an_answer_below_the_threshold_is_withheld_also_from_who_listens(route_by: RouteBy, name: str):
    arms = arm(name, 2.0), arm("words", 0.0)
    given = route_by(router(*arms, stop=Stop(answer=0.01)))
    assert given.answer.chance is not None
    assert not given.answer.abstained
    streamed: list[str] = []
    with streaming(lambda text, restart=False: streamed.append(text)):
        withheld = route_by(router(*arms, stop=Stop(answer=given.answer.chance + 0.001)))
    assert withheld.answer.text == ABSTENTION == streamed[-1]
    assert (withheld.answer.abstained, withheld.answer.way) == (True, WITHHELD)
    assert withheld.answer.chance == given.answer.chance
    assert withheld.answer.evidence == given.answer.evidence
    assert not withheld.answer.citations


def test_an_arm_that_needs_a_model_is_taken_only_where_there_is_one(route_by: RouteBy, demo_settings: Settings):
    chosen = router(arm("llm-only", 3.0), arm("fused[k=3]", 0.0))
    without = route_by(chosen)
    assert taken(without) == "fused[k=3]"
    assert without.route is not None
    assert [each.impossible for each in without.route.estimates] == ["no model is set", ""]
    with LoopbackServer() as server:
        model = demo_settings.model.model_copy(update={"base_url": server.base_url, "name": "loopback"})
        asking = route_by(chosen, QUESTION, demo_settings.model_copy(update={"model": model}))
    assert taken(asking) == "llm-only"
    assert asking.usage.calls == 1


def test_an_arm_whose_layer_is_missing_is_not_taken(route_by: RouteBy):
    chosen = router(arm("community-global", 3.0), arm("fused[k=3]", 0.0))
    route = route_by(chosen, layers=LAYERS - {"communities"}).route
    assert route is not None
    assert route.arm == "fused[k=3]"
    assert route.estimates[0].impossible == "the index has no communities"


def test_with_k_there_is_no_routing(route_by: RouteBy, demo_settings: Settings):
    result = route_by(router(arm("naive", 2.0), arm("fused[k=3]", 0.0)), QUESTION, k=4)
    assert result.answer == result_of(demo_settings, "fused", k=4).answer
    assert result.route is not None
    assert (result.route.arm, result.route.reason) == ("fused[k=4]", WISHED)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (router(ArmModel("no-such", 0.5, 0.0)), "no-such"),
        (router(arm("fused[k=none]", 0.0)), "k of fused"),
        (router(ArmModel("fused[k=3]", 0.5, 0.0)), "other layers"),
        (router(arm("auto", 0.0)), "names itself"),
        (replace(router(arm("fused[k=3]", 0.0)), features={"look.unheard": Scale(0.0, 1.0)}), "look.unheard"),
        (router(arm("hybrid-words", 0.0), look="hybrid-words"), "looks by hybrid-words"),
    ],
)
def test_a_router_for_something_else_is_refused(route_by: RouteBy, wrong: Router, message: str):
    with pytest.raises(UsageError, match=message):
        route_by(wrong)


def test_the_index_has_a_router_of_its_own_that_goes_before_the_bundled_one(demo_settings: Settings):
    file = demo_settings.index / OWN
    try:
        file.write_text(router(arm("naive[k=2]", 2.0), arm("fused[k=3]", 0.0)).text(), encoding="utf-8")
        assert taken(result_of(demo_settings, "auto")) == "naive[k=2]"
        file.write_text(router(arm("naive[k=2]", -2.0), arm("fused[k=3]", 0.0)).text(), encoding="utf-8")
        assert taken(result_of(demo_settings, "auto")) == "fused[k=3]", "a changed file is read again"
    finally:
        file.unlink()


@pytest.mark.parametrize(
    ("layers", "by"), [({"vectors", "words"}, "hybrid-words"), ({"vectors"}, "naive"), ({"words"}, "words")]
)
def test_an_index_with_fewer_layers_is_answered_too(demo_settings: Settings, layers: set[str], by: str):
    result = result_of(demo_settings, "auto", layers=frozenset(layers))
    assert result.route is not None
    assert result.route.arm.startswith(by)
    assert (result.route.reason, bundled(by)) == (NOT_ROUTED, None)
    assert result.answer.evidence.items


def test_what_comes_with_ragways_knows_its_arms_and_features():
    found = bundled(by := "fused")
    assert found is not None
    assert checked(found, by, PARADIGMS.find) is found
    assert found.look == by
    assert found.features.keys() <= FEATURES.keys()
    assert len(found.corpora) >= 5
    names = {each.name for each in found.arms}
    assert {f"{by}[k=3]", f"{by}[k=10]", f"{by}[k=30]", ABSTAIN} <= names
    assert "community-global" in names


@pytest.mark.parametrize(
    ("question", "arm"),
    [
        (QUESTION, "fused[k="),
        ("What are the main themes of this collection of documents?", "community-global"),
        ("Give an overview of everything in the corpus.", "community-global"),
        ("Summarise the collection as a whole.", "community-global"),
        ("Which actor played the lead in the 1994 film Pulp Fiction?", ABSTAIN),
    ],
)
def test_the_bundled_router_on_the_bundled_corpus(demo_settings: Settings, question: str, arm: str):
    result = result_of(demo_settings, "auto", question)
    assert taken(result).startswith(arm)
    assert result.answer.abstained or arm != ABSTAIN


ABOUT_OTHERS = (
    "Which actor played the lead in the 1994 film Pulp Fiction?",
    "What is the capital of the Australian state that Perth is in?",
    "Who was the first woman to win a Nobel Prize in physics?",
    "Is the Eiffel Tower taller than the Chrysler Building?",
    "In what year did the Berlin Wall fall?",
    "Which company makes the PlayStation, Sony or Nintendo?",
    "How many moons does Jupiter have?",
    "Who wrote the novel on which the film Blade Runner is based?",
    "Does TechCrunch report that Apple was fined by the European Union?",
    "How do I declare an optional query parameter in FastAPI?",
)


def test_most_questions_are_answered_that_the_corpus_answers_and_few_that_it_does_not(
    demo_settings: Settings, demo_corpus: Path
):
    answerable = [
        question.text
        for question in load_questions("plain", demo_corpus / "questions.jsonl")
        if question.type not in ("null", "summary")
    ]

    async def refused(questions: Sequence[str]) -> float:
        async with opened(demo_settings) as use:
            results = [await ask(use, question, "auto") for question in questions]
            return sum(result.answer.abstained for result in results) / len(results)

    assert asyncio.run(refused(answerable[::2])) <= 0.3
    assert asyncio.run(refused(ABOUT_OTHERS)) >= 0.9


def test_doubt_lowers_the_chance_that_is_printed_and_nothing_raises_it():
    def odds_divided_by(value: float, **values: Any) -> float:
        return doubt(Decision("naive", "", (ArmEstimate(ABSTAIN, value, 0, 0),), (), "naive", **values))

    assert odds_divided_by(0.01) == odds_divided_by(DOUBT) == 1
    assert 1 < odds_divided_by(0.5) < odds_divided_by(0.9)
    assert odds_divided_by(0.9, far=True) == odds_divided_by(0.9, least_chance=0.4) == 1


@pytest.mark.parametrize("question", [QUESTION, *ABOUT_OTHERS[:3], "When did the Gale of 1883 break?"])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9])
def test_the_chance_that_is_printed_decides_against_the_threshold_that_is_set(
    demo_settings: Settings, question: str, threshold: float
):
    answer_settings = demo_settings.answer.model_copy(update={"threshold": threshold})
    answer = result_of(demo_settings.model_copy(update={"answer": answer_settings}), "auto", question).answer
    if answer.way != ABSTAINED:
        assert answer.chance is not None
        assert answer.abstained == (answer.chance < threshold)


def test_with_another_embedder_than_the_routers_the_best_fixed_arm_is_taken_and_the_threshold_stays(
    route_by: RouteBy, demo_settings: Settings
):
    chosen = replace(
        router(arm("fused[k=3]", 0.0), arm("words", 2.0), arm(ABSTAIN, 2.0), stop=Stop(look=0.5)), embedder="another"
    )
    result = route_by(chosen)
    assert (taken(result), result.route and result.route.far) == ("fused[k=3]", True)
    assert result.answer.chance == result_of(demo_settings, "fused", k=3).answer.chance


def test_without_reports_the_answer_names_the_layer_that_a_question_about_the_whole_corpus_needs(
    demo_settings: Settings,
):
    async def run(question: str) -> str:
        async with opened(demo_settings) as use:
            use.index.layers = frozenset({"vectors", "words", "graph"})
            return (await ask(use, question, "auto")).answer.note

    assert asyncio.run(run("What are the main themes?")).endswith("ragways index PATH --with communities")
    assert asyncio.run(run(QUESTION)) == ""


def test_the_bundled_router_trades_as_its_file_has_it_unless_a_trade_is_set(demo_settings: Settings):
    found, route, dear = (
        bundled("fused"),
        result_of(demo_settings, "auto").route,
        result_of(demo_settings, "auto", trade=0.5).route,
    )
    assert found is not None
    assert route is not None
    assert dear is not None
    assert (route.trade, dear.trade) == (found.trade, 0.5)
    assert found.guard.passed
    assert min(arm.cost["tokens"] for arm in found.arms if arm.name == dear.arm) < 500


def test_retrieval_alone_gives_what_the_arm_would_show(demo_settings: Settings):
    async def run() -> tuple[list[str], list[str]]:
        async with opened(demo_settings) as use:
            route = (await ask(use, QUESTION, "auto")).route
            assert route is not None
            size = int(route.arm.partition("k=")[2].rstrip("]"))
            return (
                [hit.piece.id for hit in await retrieve(use, QUESTION, "auto")],
                [hit.piece.id for hit in await retrieve(use, QUESTION, "fused", {"k": size})],
            )

    routed, alone = asyncio.run(run())
    assert routed == alone


def test_a_budget_holds_whatever_the_arm(route_by: RouteBy):
    for name in ("fused[k=30]", "naive[k=30]", "recursive"):
        result = route_by(router(arm(name, 2.0), arm("words", 0.0)), QUESTION, tokens=150)
        assert 0 < result.answer.evidence.tokens <= 150
