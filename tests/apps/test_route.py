"""`ragways route`: a decision explained, a router fitted on runs, and held against simpler policies."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.question import Gold
from ragways.evaluation.record import AnswerUsage, Record, Records, RunInfo, begin
from ragways.evaluation.record import Run as EvaluationRun
from ragways.evaluation.routing.fit import FitSettings
from ragways.evaluation.routing.outcomes import Outcomes
from ragways.evaluation.routing.tables import type_table, verdict
from ragways.experiment import Evaluation
from ragways.index.open import Index
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.routing.features import FEATURES
from ragways.retrieval.routing.router import ABSTAIN, ArmModel, CorpusRange, Guard, Router, Scale, Stop
from ragways.settings import Settings
from ragways.testing.server import LoopbackServer
from tests.apps.browser import BROWSER, Browser, needs_browser
from tests.apps.conftest import Run, one_line
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture

QUESTION = "Who designed the Pell Rock Lighthouse?"


def arm(name: str, constant: float, tokens: float = 100.0, **weights: float) -> ArmModel:
    needs = () if name == ABSTAIN else tuple(sorted(PARADIGMS.find(name.partition("[")[0]).needs))
    costs = {"tokens": tokens, "evidence": tokens}
    return ArmModel(name, 0.5, constant, weights, costs, needs, model=name == "llm-only")


ROUTER = Router(
    "all-evidence", "tokens", 0.1, "fused[k=10]",
    (arm("fused[k=3]", 1.0, **{"question.words": -2.0}), arm("fused[k=10]", 1.0), arm("llm-only", 6.0)),
    {"question.words": Scale(9.0, 2.0), "corpus.documents": Scale(4.0, 1.0)},
    Guard(0.03, 0.01, passed=True, how="each of 3 corpora was left out in turn", questions=300),
    corpora={"news": CorpusRange({"corpus.documents": 3.5}, 100)}, reach=2.0,
    stop=Stop(words="certified: at most 10 % of what is answered is wrong"),
)  # fmt: skip


# Explaining


def test_the_whole_decision_is_explained_and_no_model_is_asked(
    ragways: Run,
    home: Path,
    demo_settings: Settings,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
):
    (home / "router.json").write_text(ROUTER.text())
    options = ("--index", str(demo_settings.index), "--router", "router.json")
    shown = ragways("route", "explain", QUESTION, *options)
    assert shown.code == 0, shown.err
    for words in (
        "takes   fused[k=3]: the highest value for its cost",
        "weighed most (for it beside fused[k=10]): question.words 6 (+3.00)",
        "router  router.json",
        "its gain over always `fused[k=10]` was +0.030, and at least +0.010",
        "deviations from the nearest of news, and 2.00 is its reach",
        "certified: at most 10 %",
        "fused found",
        "no model is set",
        "less 0.1 for 1,000 tokens",
        FEATURES["question.words"],
    ):
        assert words in " ".join(shown.out.split()) or words in shown.out, words
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("route", "explain", QUESTION, *options, "--json")
        assert not server.requests
    assert done.data["decision"]["arm"] == "llm-only", "there is a model now"
    features = {one["name"]: one for group in done.data["features"].values() for one in group}
    assert features.keys() == FEATURES.keys()
    assert features["question.words"]["value"] == 6
    assert features["question.words"]["usual"] == 9
    assert features["look.top"]["value"] == pytest.approx(done.data["look"]["first"][0]["score"], abs=0.01)
    assert list(done.data["features"]) == ["question", "look", "corpus"]
    taken = ragways("ask", QUESTION, "-p", "auto", "--index", str(demo_settings.index), "--json").data["route"]
    own = ragways("route", "explain", QUESTION, "--index", str(demo_settings.index), "--json").data
    assert own["decision"] == taken, "it is what `ask` decides"


def test_the_router_among_paradigms_is_taken_by_its_name(
    ragways: Run,
    home: Path,
    demo_settings: Settings,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
):
    options = ("--index", str(demo_settings.index))
    shown = ragways("route", "explain", QUESTION, *options, "--router", "paradigms")
    assert shown.code == 0, shown.err
    words = " ".join(shown.out.split())
    assert "takes hybrid[weighted=False]" in words
    assert "published by its authors, not measured here" in words
    assert "its gain over always `hybrid[weighted=False]` was -0.012" in words
    assert words.count("no model is set") == 2
    monkeypatch.setenv("RAGWAYS_ANSWER__ROUTER", "paradigms")
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("ask", QUESTION, *options, "-p", "auto", "--json")
        assert done.code == 0, done.err
        assert server.requests
    assert done.data["route"]["arm"] == "hybrid[weighted=False]"
    assert not [one["arm"] for one in done.data["route"]["estimates"] if one["impossible"]]


def test_a_trade_changes_what_is_taken(ragways: Run, home: Path, demo_settings: Settings):  # noqa: F811
    arms = (arm("fused[k=3]", 0.0), arm("fused[k=10]", 0.5))
    (home / "router.json").write_text(replace(ROUTER, arms=arms, trade=0.0).text())
    options = ("route", "explain", QUESTION, "--index", str(demo_settings.index), "--router", "router.json", "--json")
    free, dear = (ragways(*options, "--trade", trade).data["decision"] for trade in ("0", "1"))
    assert (free["arm"], dear["arm"]) == ("fused[k=10]", "fused[k=3]")
    assert dear["trade"] == 1


def test_where_there_is_no_router_that_is_said(indexed: Run, home: Path):
    done = indexed("route", "explain", "Who built the harbour light?", "--json")
    assert done.data["look"]["by"] == "hybrid-words"
    assert done.data["router"].startswith("none")
    assert done.data["decision"]["arm"] == "hybrid-words[k=15;tokens=1600]"
    one_line(indexed("route", "explain", "Who?", "--router", "nowhere.json"), 2, "cannot read the router nowhere.json")
    (home / "old.json").write_text('{"format": 0}')
    one_line(indexed("route", "explain", "Who?", "--router", "old.json"), 2, "format 0", "fit it anew")
    one_line(indexed("route", "explain", " "), 2)


# Fitting


def record(n: int, arm: str, right: bool, **changes: object) -> Record:
    """A question whose first feature says which arm is right."""
    base = Record(
        question=f"q{n}", text=f"What is the harbour light {n}?", type="odd" if n % 2 else "even", gold=("gold",),
        paradigm=arm, repeat=0, answer="gold" if right else "lead", seconds=0.5,
        usage=AnswerUsage(calls=0, input=0, output=0, usd=0.0, evidence=300.0 if "k=3]" in arm else 1000.0),
        features={"question.words": float(n % 2), "look.top": (n * 7 % 10) / 10, "look.fused": 1.0,
                  "corpus.documents": 4.0},
    )  # fmt: skip
    return replace(base, **changes)  # type: ignore[arg-type]


def run(folder: Path, records: list[Record], index: str = "") -> Path:
    begin(folder, RunInfo(index=index or folder.name))
    for one in records:
        Records(folder).append(one)
    return folder


FEW, MANY = "fused[k=3]", "fused[k=10]"


def unlike(count: int = 150, **changes: object) -> list[Record]:
    """Even questions are answered from little evidence alone, odd ones from more alone; one in ten is otherwise."""
    return [
        record(n, arm, ((n % 2 == 0) == (arm == FEW)) != (n % 10 == 3), **changes)
        for n in range(count)
        for arm in (FEW, MANY)
    ]


def test_a_router_is_fitted_where_arms_differ(ragways: Run, home: Path):
    run(home / "run", unlike())
    done = ragways("route", "fit", "run", "--out", "router.json", "--quality", "accuracy", "--alpha", "0.3", "--json")
    assert done.code == 0, done.err
    found = done.data
    assert found["guard"]["passed"]
    assert found["guard"]["lower"] > 0.2
    assert found["trade"] == 0.01
    assert {(one["type"], one["arm"], one["wins"]) for one in found["types"]} == {
        ("even", FEW, found["fixed"] != FEW), ("odd", MANY, found["fixed"] != MANY),
    }  # fmt: skip
    assert {one["arm"]: one["cost"] for one in found["arms"]} == {FEW: 300, MANY: 1000}
    assert "certified: at most 30" in found["certified"]
    router = Router.read(home / "router.json")
    assert router.look == "fused"
    again = ragways("route", "fit", "run", "--out", "again.json", "--quality", "accuracy", "--alpha", "0.3")
    assert (home / "again.json").read_bytes() == (home / "router.json").read_bytes()
    assert "routing is on" in again.out
    assert "best fixed" in again.out
    assert "not certified" not in again.out
    other = ragways("route", "fit", "run", "--out", "b.json", "--quality", "accuracy", "--cost", "seconds", "--json")
    assert (other.data["cost"], other.data["arms"][0]["cost"]) == ("seconds", 0.5)


def test_where_nothing_tells_the_arms_apart_one_of_them_is_as_good(ragways: Run, home: Path):
    luck = Random(0)
    run(home / "run", [record(n, arm, luck.random() < 0.5) for n in range(100) for arm in (FEW, MANY)])
    done = ragways("route", "fit", "run", "--out", "router.json", "--quality", "accuracy", "--trade", "0")
    assert done.code == 0, done.err
    router = Router.read(home / "router.json")
    assert f"no gain over always `{router.fixed}` is shown: routing is off" in done.out
    assert " *" not in done.out.partition("fixed: what always")[0], "no arm is shown to win on a type"
    few = replace(router, guard=Guard(0.3, 0.2, passed=False, questions=60))
    assert verdict(few) == "60 questions are too few to show a gain: routing is off"


@pytest.mark.parametrize(("count", "wins"), [(4, False), (60, True)])
def test_a_few_questions_that_went_well_show_nothing(count: int, wins: bool):
    """An arm that is cheaper and was as good on four questions may lose the fifth."""
    quality, tokens = np.ones((count, 2, 1)), np.repeat([[300.0, 9000.0]], count, axis=0)
    outcomes = Outcomes(
        "accuracy", ("a",), (FEW, MANY), tuple(map(str, range(count))), ("?",) * count, ("one",) * count,
        np.zeros(count, dtype=np.intp), quality, {"tokens": tokens, "evidence": tokens}, (), np.zeros((count, 0)),
        np.full(quality.shape, np.nan), np.zeros(quality.shape),
    )  # fmt: skip
    [found] = type_table(outcomes, FitSettings(trade=0.01), MANY).to_plain()
    assert found["gain"] == pytest.approx(0.087)
    assert (found["arm"], found["wins"]) == (FEW, wins)


BAD = {
    "an empty run": (lambda home: run(home / "run", []), "run holds no run", ()),
    "no run": (lambda home: None, "there is no run in run", ()),
    "one arm": (lambda home: run(home / "run", [record(n, FEW, True) for n in range(30)]), "one arm only", ()),
    "all equal": (
        lambda home: run(home / "run", [record(n, arm, n % 2 == 0) for n in range(30) for arm in (FEW, MANY)]),
        "nothing to learn", (),
    ),
    "unscored": (lambda home: run(home / "run", unlike()), "judged-correct is unscored in every record",
                 ("--quality", "judged-correct")),
    "arms missing": (lambda home: run(home / "run", unlike()[:-3]), "lack a value", ()),
    "no such metric": (lambda home: run(home / "run", unlike()), "accuracy", ("--quality", "acuracy")),
    "too few": (lambda home: run(home / "run", unlike(10)), "10 questions are too few", ()),
    "no features": (lambda home: run(home / "run", unlike(features={})), "--index", ()),
    "alpha": (lambda home: run(home / "run", unlike()), "an alpha of 2 makes no sense", ("--alpha", "2")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name"), [*(("fit", name) for name in BAD), *(("evaluate", name) for name in BAD if name != "alpha")]
)
def test_bad_input_is_said_in_a_sentence_and_nothing_is_written(command: str, name: str, ragways: Run, home: Path):
    make, said, options = BAD[name]
    make(home)
    given = options if "--quality" in options else ("--quality", "accuracy", *options)
    out = ("--out", "router.json") if command == "fit" else ("--html", "router.json")
    done = ragways("route", command, "run", *out, *given)
    one_line(done, 2, said)
    assert not (home / "router.json").exists()
    assert not list(home.glob("*.draft"))


def test_questions_that_an_arm_lacks_can_be_left_out(ragways: Run, home: Path):
    run(home / "run", unlike()[:-3])
    done = ragways("route", "fit", "run", "--out", "r.json", "--quality", "accuracy", "--common", "--json")
    assert done.code == 0, done.err
    assert done.data["questions"] == 148
    assert "left out" in done.data["notes"]


def test_runs_that_were_not_looked_at_alike_are_refused(ragways: Run, home: Path):
    run(home / "run", unlike())
    flat = [replace(one, features={**one.features, "look.fused": 0.0, "look.nearness": 0.5}) for one in unlike()]
    run(home / "flat", flat)
    done = ragways("route", "fit", "run", "flat", "--out", "r.json", "--quality", "accuracy")
    one_line(done, 2, "not looked at alike")
    assert not (home / "r.json").exists()


def test_runs_without_features_take_them_from_their_index(indexed: Run, home: Path):
    with closing(Index.open(home / ".ragways")) as opened:
        identity = opened.identity
    run(home / "run", unlike(24, features={}), index=identity)
    done = indexed("route", "fit", "run", "--out", "r.json", "--quality", "accuracy", "--index", ".ragways", "--json")
    assert done.code == 0, done.err
    router = Router.read(home / "r.json")
    assert router.look == "hybrid-words"
    assert {name.partition(".")[0] for name in router.features} == {"look", "corpus"}, "questions of one form"
    run(home / "other", unlike(24, features={}), index="another")
    said = indexed("route", "fit", "other", "--out", "s.json", "--quality", "accuracy", "--index", ".ragways")
    assert said.code == 2
    assert "made on another index" in said.err
    assert not (home / "s.json").exists()


# Evaluating


@pytest.fixture
def runs(home: Path) -> list[str]:
    """Two corpora over which the same is true."""
    run(home / "news", unlike(90))
    run(home / "wiki", [replace(one, question=f"w{one.question}") for one in unlike(60)])
    return ["news", "wiki"]


def test_a_router_is_held_against_simpler_policies(ragways: Run, runs: list[str]):
    done = ragways("route", "evaluate", *runs, "--quality", "accuracy", "--json")
    assert done.code == 0, done.err
    found = done.data
    policies = {one["policy"]: one for one in found["policies"] if not one["corpus"]}
    assert {"router", FEW, MANY, "always fused", "type router (words)", "nearest neighbours"} <= policies.keys()
    router, fixed = policies["router"], policies[found["fixed"]]
    assert router["gain"] == pytest.approx(router["utility"] - fixed["utility"])
    assert router["low"] > 0.1
    assert router["p"] < 0.01
    assert {one["corpus"] for one in found["policies"] if one["policy"] == "router"} == {"", "news", "wiki"}
    assert found["oracle"]["naive"] >= found["oracle"]["corrected"] >= router["utility"]
    assert 0.8 < found["closed"] <= 1 + 1e-9
    assert {one["control"]: one["low"] <= 0 for one in found["controls"]} == {
        "shuffled outcomes": True, "random features": True,
    }  # fmt: skip
    assert "of that gap is closed" in found["words"]["oracle"]
    assert found["words"]["how"].startswith("each fifth of the questions")


def test_an_evaluation_as_text_and_as_a_page(ragways: Run, home: Path, runs: list[str], tmp_path: Path):
    shown = ragways("route", "evaluate", *runs, "--quality", "accuracy", "--trade", "0", "--html", "page.html")
    assert shown.code == 0, shown.err
    for words in ("router without its guard", "random at the router's cost", "by Holm", "regret",
                  "the router by corpus", "what the router takes, by type", "over trades", "verdict", "controls",
                  "let it route in", "wrote page.html"):  # fmt: skip
        assert words in shown.out, words
    one_line(ragways("route", "evaluate", *runs, "--quality", "accuracy", "--ask-model"), 2, "no model is set")
    if BROWSER is not None:
        with Browser(tmp_path / "profile") as browser:
            drawn(browser, home / "page.html")


def drawn(browser: Browser, page: Path) -> None:
    """Two fixed arms, the router's curve and the router itself; nothing sticks out, nothing is sent."""
    for width in (1200, 390):
        browser.open(page.as_uri(), width=width)
        for part, count in ((".mark", 2), ("path.front", 1), (".ring", 1)):
            assert browser.ask(f"document.querySelectorAll('#routing .plot svg {part}').length") == count
        assert browser.ask("document.querySelectorAll('#routing tbody tr').length") >= 8
        assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.errors == []
    assert all(url.startswith(("file:", "about:")) for url in browser.requests)


@needs_browser
def test_routing_in_a_report(ragways: Run, home: Path, tmp_path: Path):
    run(home / "run", unlike(24))
    made = ragways("eval", "report", "run", "--routing", "--html", "report.html")
    one_line(made, 2, "all-evidence is unscored in every record (no gold evidence)")
    assert not (home / "report.html").exists()
    wanted = (Gold(title="A"),)
    kept = [replace(one, wanted=wanted, ranks=(1,), shown=(1 if one.answer == "gold" else None,)) for one in unlike(24)]
    run(home / "shown", kept)
    made = ragways("eval", "report", "shown", "--routing", "--html", "report.html", "--markdown", "report.md")
    assert made.code == 0, made.err
    assert "## Routing" in (home / "report.md").read_text()
    with Browser(tmp_path / "profile") as browser:
        drawn(browser, home / "report.html")


def test_the_same_from_python(home: Path):
    evaluation = Evaluation(EvaluationRun(run(home / "run", unlike())), [])
    router = evaluation.fit_router(home / "router.json", quality="accuracy")
    assert Router.read(home / "router.json").text() == router.text()
    assert router.guard.passed
    found = evaluation.evaluate_router(quality="accuracy")
    assert found.policies.cell("gain", policy="router", corpus="") > 0.2
    with pytest.raises(UsageError, match="all-evidence is unscored"):
        evaluation.fit_router(home / "other.json")
    assert not (home / "other.json").exists()
