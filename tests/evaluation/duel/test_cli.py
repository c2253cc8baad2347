"""The command, against a judge on a loopback server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ragways.apps.evaluation.duel import duel
from ragways.core.errors import PARTLY, UsageError
from ragways.evaluation.duel.replies import DuelReplies
from ragways.evaluation.record import Records
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run, one_line, ragways  # noqa: F401 - fixtures
from tests.evaluation.duel.duel_fakes import FENCED, apart, both, record, worth
from tests.evaluation.report.made import made_report, rows_of

Duel = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run_duel(home: Path) -> Duel:
    app = typer.Typer()
    app.command()(duel)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["run", *arguments])

    return run


def write_run(home: Path, *names: str, **points: int) -> None:
    records = Records(home / "run")
    for n in range(9):
        for name in names:
            text = f"{name} says of {n} what is worth {points.get(name, 3)} points."
            records.append(record(name, f"q{n}", text, made={"model": "loopback"}))


def by_points(body: Mapping[str, object]) -> str:
    messages = body["messages"]
    assert isinstance(messages, list)
    content = messages[-1]["content"]
    question = next(line for line in content.splitlines() if line.startswith("Question: "))
    first, second = (text for _, text in FENCED.findall(content))
    return json.dumps(both(worth(question, first), worth(question, second)))


def settings(home: Path, server: LoopbackServer, *, price: bool = True) -> None:
    prices = '[prices."loopback"]\ninput = 1\noutput = 1\n' if price else ""
    (home / "ragways.toml").write_text(f'[judge]\nname = "loopback"\nbase_url = "{server.base_url}"\n{prices}')


def test_without_a_model_it_says_what_to_set(home: Path, run_duel: Duel):
    write_run(home, "x", "y")
    failed = run_duel()
    assert isinstance(failed.exception, UsageError)
    assert "cannot be judged without a language model" in str(failed.exception)
    assert "judge.name" in failed.exception.cure


def test_it_is_a_command_of_eval_and_its_errors_are_one_line(home: Path, ragways: Run):  # noqa: F811
    one_line(ragways("eval", "duel", "nowhere"), 2, "holds no run")
    write_run(home, "x", "y")
    one_line(ragways("eval", "duel", "run"), 2, "cannot be judged without a language model", "judge.name")
    (home / "ragways.toml").write_text('[judge]\nname = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    one_line(ragways("eval", "duel", "run", "--paradigms", "x,q"), 2, "no answers of 'q'")
    unpriced = ragways("eval", "duel", "run", "--budget", "1")
    assert unpriced.code == 2
    assert "price of model 'm' is not known" in unpriced.err.splitlines()[-1]


def test_a_duel_from_plan_to_verdict_in_80_columns(home: Path, run_duel: Duel):
    write_run(home, "x", "y", "longer-name-than-most", x=5, y=4)
    with LoopbackServer(by_points) as server:
        settings(home, server)
        done = run_duel("--trials", "2")
        assert done.exit_code == 0, done.output
        again = run_duel("--trials", "2")
    assert "calls of the judge" in done.stderr
    assert "about $" in done.stderr
    assert "same family" in done.stderr
    out = done.stdout
    assert "the judge's test: passed" in out
    assert "x against y: x wins" in out
    assert "of the row over the column" in out
    assert max(map(len, out.splitlines())) <= 80
    # Nothing is left to ask, and the figures are the same without any model.
    assert "0 calls of the judge" in again.stderr
    assert again.stdout == out
    (home / "ragways.toml").unlink()
    alone = run_duel()
    assert alone.exit_code == 0, alone.output
    assert alone.stdout == out


def test_json_has_the_plan_the_test_and_every_count(home: Path, run_duel: Duel):
    write_run(home, "x", "y", "z", x=5)
    with LoopbackServer(by_points) as server:
        settings(home, server)
        done = run_duel("--paradigms", "y,x", "--trials", "1", "--samples", "1", "--limit", "8", "--json")
    data = json.loads(done.stdout)
    assert data["plan"]["calls"] == data["plan"]["selftest"] + 8 * 2
    assert data["plan"]["usd"] > 0
    (pair,) = data["pairs"]
    assert (pair["a"], pair["b"], pair["winner"]) == ("x", "y", "x")
    assert (pair["pairs"], pair["judged"], pair["left_out"]) == (8, 8, {})
    assert (pair["replies"], pair["scored"], pair["unscored"]) == (16, 16, {})
    assert (pair["basis"], pair["taste"]["read"] > 0) == ("by the judge alone", True)
    assert len(list(DuelReplies(home / "run"))) == data["plan"]["calls"]


def test_a_judge_that_cannot_tell_is_named_and_nobody_wins(home: Path, run_duel: Duel):
    write_run(home, "x", "y", x=5)
    with LoopbackServer(lambda body: json.dumps(both(3, 3))) as server:
        settings(home, server)
        done = run_duel("--trials", "1")
        assert done.exit_code == PARTLY
        assert "the judge's test: NOT passed" in done.stdout
        said = " ".join(done.stdout.split())
        assert "no verdict: the judge failed its test: it does not tell a right answer" in said
        assert {line.kind for line in DuelReplies(home / "run")} == {"other"}
        anyway = run_duel("--trials", "1", "--anyway")
    assert "no verdict" in anyway.stdout
    assert "wins" not in anyway.stdout


def test_differential_is_an_option(home: Path, run_duel: Duel):
    write_run(home, "x", "y", x=5)

    def say(body: Mapping[str, object]) -> str:
        if "duel_difference" not in json.dumps(body["response_format"]):
            return by_points(body)
        messages = body["messages"]
        assert isinstance(messages, list)
        first, second = (text for _, text in FENCED.findall(messages[-1]["content"]))
        return json.dumps(apart(first, second))

    with LoopbackServer(say) as server:
        settings(home, server, price=False)
        done = run_duel("--trials", "1", "--differential")
    assert done.exit_code == 0, done.output
    assert "price unknown" in done.stderr
    assert "mode differential" in done.stdout
    assert "x against y: x wins" in done.stdout


def test_the_report_has_the_test_the_verdict_and_on_what_it_rests(home: Path, run_duel: Duel):
    write_run(home, "x", "y", x=5)
    with LoopbackServer(by_points) as server:
        settings(home, server)
        run_duel("--trials", "1")
    data = made_report([home / "run"])
    (test,), (pair,) = rows_of(data, "judge tests"), rows_of(data, "duels")
    assert (test["passed"], test["preferred"], test["trials"]) == (True, 36, 1)
    assert (pair["winner"], pair["basis"], pair["taste"]) == ("x", "by the judge alone", 0.0)
