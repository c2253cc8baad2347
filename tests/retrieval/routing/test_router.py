"""A router's file, and the decisions that are made from it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from ragways.core.errors import UsageError
from ragways.retrieval.routing.router import ABSTAIN, ArmModel, CorpusRange, Guard, Router, Scale, Stop

LITTLE = ArmModel("fused[k=3]", 0.5, 0.0, {"look.left": 2.0}, {"tokens": 300.0, "evidence": 300.0})
MORE = ArmModel(
    "fused[k=30]", 0.7, 1.0, {"look.left": 0.5, "question.hops": 0.2}, {"tokens": 3000.0, "evidence": 3000.0}
)
REFUSAL = ArmModel(ABSTAIN, 0.1, -3.0, {"question.hops": 3.0})
ROUTER = Router(
    quality="all-evidence",
    cost="tokens",
    trade=0.1,
    fixed="fused[k=30]",
    arms=(LITTLE, MORE, REFUSAL),
    features={"look.left": Scale(0.0, 2.0), "question.hops": Scale(1.0, 1.0), "corpus.size": Scale(5.0, 1.0)},
    guard=Guard(gain=0.1, lower=0.05, passed=True),
    corpora={"one": CorpusRange({"corpus.size": 4.0}, 10), "two": CorpusRange({"corpus.size": 6.0}, 10)},
    reach=2.0,
)


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_the_arm_of_the_highest_utility_is_taken_and_the_estimates_say_why():
    sure = ROUTER.decide({"look.left": 4.0, "question.hops": 1.0, "corpus.size": 5.0})
    values = {each.arm: each for each in sure.estimates}
    assert values["fused[k=3]"].value == pytest.approx(logistic(2 * 4 / 2))
    assert values["fused[k=3]"].utility == pytest.approx(logistic(4) - 0.1 * 0.3)
    assert values["fused[k=30]"].utility == pytest.approx(logistic(2) - 0.1 * 3)
    assert sure.arm == "fused[k=3]"
    assert sure.against == "fused[k=30]"
    unsure = ROUTER.decide({"look.left": -4.0, "question.hops": 1.0})
    assert unsure.arm == "fused[k=30]"


def test_a_decision_has_the_features_that_weighed_most_with_their_sign():
    told = ROUTER.decide({"look.left": 4.0, "question.hops": 3.0}).weighed
    assert [each.feature for each in told] == ["look.left", "question.hops"]
    assert told[0].weight == pytest.approx((2.0 - 0.5) * 2)
    assert told[1].weight == pytest.approx((0.0 - 0.2) * 2)
    assert told[0].value == 4.0


def test_an_unknown_feature_counts_as_usual_and_a_wild_one_is_cut():
    assert ROUTER.standardised({}) == {}
    assert ROUTER.standardised({"look.left": 1e9, "no.such": 1.0}) == {"look.left": 5.0}
    values = [each.value for each in ROUTER.decide({}).estimates]
    assert values == pytest.approx([0.5, logistic(1), logistic(-3)])


def test_a_guard_that_did_not_pass_turns_routing_off():
    off = replace(ROUTER, guard=Guard(0.01, -0.02, passed=False))
    decision = off.decide({"look.left": 4.0})
    assert decision.arm == "fused[k=30]"
    assert "off" in decision.reason


@pytest.mark.parametrize(("size", "far"), [(4.5, False), (8.0, False), (8.1, True), (-20.0, True)])
def test_far_from_every_corpus_it_knows_the_best_fixed_arm_is_taken(size: float, far: bool):
    decision = ROUTER.decide({"look.left": 4.0, "corpus.size": size})
    assert decision.far is far
    assert decision.arm == ("fused[k=30]" if far else "fused[k=3]")
    assert ("unlike" in decision.reason) is far


def test_at_another_trade_the_best_fixed_arm_is_another():
    off = replace(ROUTER, guard=Guard(0.1, -0.1, passed=False))
    assert off.decide({}).arm == "fused[k=30]"
    assert off.decide({}, trade=0.2).arm == "fused[k=3]"


def test_it_abstains_only_where_a_threshold_says_so():
    features = {"question.hops": 4.0}
    assert ROUTER.decide(features).arm != ABSTAIN
    assert replace(ROUTER, stop=Stop(look=0.9)).decide(features).arm == ABSTAIN
    assert replace(ROUTER, stop=Stop(look=0.9)).decide({"question.hops": 1.0}).arm != ABSTAIN


def test_what_was_certified_holds_where_routing_is_off_and_not_far_away():
    features = {"question.hops": 4.0}
    off = replace(ROUTER, guard=Guard(0.01, -0.02, passed=False), stop=Stop(look=0.9, answer=0.4))
    assert off.decide(features).arm == off.fixed
    certified = replace(off, stop=replace(off.stop, certified=True))
    assert certified.decide(features).arm == ABSTAIN
    assert certified.decide({}).least_chance == 0.4
    away = certified.decide({**features, "corpus.size": 20.0})
    assert (away.arm, away.least_chance) == (off.fixed, None)


def test_an_arm_that_is_not_possible_is_never_taken_and_the_rest_stand_in_for_the_fixed_one():
    def possible(arm: ArmModel) -> str:
        return "no graph" if arm.name == "fused[k=30]" else ""

    decision = ROUTER.decide({"look.left": -4.0}, possible)
    assert decision.arm == decision.fixed == "fused[k=3]"
    assert [each.impossible for each in decision.estimates] == ["", "no graph", ""]
    with pytest.raises(UsageError, match="none of the router's methods"):
        ROUTER.decide({}, lambda arm: "no")


def test_an_arm_with_a_least_value_is_taken_only_from_that_value_on():
    reports = ArmModel("community-global", 0.1, 0.0, {"question.hops": 1.0}, {"tokens": 0.0}, least=0.5)
    chosen = replace(ROUTER, arms=(replace(LITTLE, constant=-9.0), replace(MORE, constant=-9.0), reports), trade=0.0)
    unlikely = chosen.decide({"question.hops": 0.5})
    assert unlikely.estimates[2].value > max(each.value for each in unlikely.estimates[:2])
    assert unlikely.arm != reports.name
    assert "0.5" in unlikely.estimates[2].impossible
    assert chosen.decide({"question.hops": 1.5}).arm == reports.name


def test_evidence_that_is_known_already_takes_the_place_of_the_usual_cost():
    decision = ROUTER.decide({}, evidence={"fused[k=30]": 500.0})
    assert {each.arm: each.cost for each in decision.estimates} == {
        "fused[k=3]": 300.0, "fused[k=30]": 500.0, ABSTAIN: 0.0
    }  # fmt: skip
    asked = replace(MORE, cost={"tokens": 3400.0, "evidence": 3000.0})
    assert replace(ROUTER, arms=(LITTLE, asked)).decide({}, evidence={MORE.name: 500.0}).estimates[1].cost == 900.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format 2"),
        ({"format": None}, "format None"),
        ({"more": 1}, "more"),
        ({"arms": "all"}, "arms"),
        ({"fixed": "naive"}, "none of its arms"),
        ({"trade": "much"}, "trade"),
    ],
)
def test_what_is_no_router_of_this_format_is_refused(change: dict[str, object], said: str):
    with pytest.raises(UsageError, match=said):
        Router.parse(json.dumps({**json.loads(ROUTER.text()), **change}), "mine.json")


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"router"', "\ud83d"])
def test_what_is_no_json_of_a_router_is_refused(text: str):
    with pytest.raises(UsageError, match=r"mine\.json is"):
        Router.parse(text, "mine.json")
