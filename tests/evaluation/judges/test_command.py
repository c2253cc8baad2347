"""`ragways eval judge`: what can be judged is, the rest is said, and a judge of the generator's family is warned of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ragways.apps.evaluation.judge import judge
from ragways.core.errors import PARTLY, UsageError
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.judging import FILE, Judgements
from ragways.evaluation.record import Records
from ragways.testing.server import LoopbackServer
from tests.evaluation.judges.resources import record

app = typer.Typer()
app.command()(judge)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGWAYS_CACHE", str(cache_folder))
    monkeypatch.setenv("COLUMNS", "160")
    records = Records(tmp_path / "run")
    records.append(record())
    records.append(record(question="q2", abstained=True, answer="Insufficient information", citations=()))
    return tmp_path / "run"


def ragways(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def rule(body: Mapping[str, object]) -> object:
    """Calls everything correct; to other tasks it has nothing to say."""
    shown = json.dumps(body)
    return '{"why": "so", "verdict": "correct"}' if "judge_correct" in shown else "no idea"


def settings(server: LoopbackServer, **judge: str) -> None:
    lines = ["[model]", f'base_url = "{server.base_url}"', 'name = "gpt-4o-mini"']
    if judge:
        lines += ["[judge]", f'base_url = "{server.base_url}"', *(f'{key} = "{text}"' for key, text in judge.items())]
    Path("ragways.toml").write_text("\n".join(lines))


def test_without_a_model_embedder_and_reader_judge(run: Path):
    done = ragways(str(run), "--json")
    assert done.exit_code == 0
    data = json.loads(done.stdout)
    without_model = [metric.name for one in JUDGES.values() if one.by != "model" for metric in one.metrics]
    assert list(data["metrics"]) == without_model
    assert data["metrics"]["citation-support-estimated"] == {"scored": 1, "unscored": {"nothing was cited": 1}}
    assert (data["judge"], data["same_family"]) == ("", [])
    assert data["metrics"]["support-hard"] == {"scored": 1, "unscored": {"abstained": 1}}
    values = Judgements(run).latest()
    assert values["q1", "naive", 0, "support-hard"].value == 1.0
    assert 0.3 < (values["q1", "naive", 0, "bertscore-f1"].value or 0) < 1
    held = (run / FILE).read_bytes()
    shown = ragways(str(run))
    assert shown.exit_code == 0
    assert "support-hard" in shown.stdout
    assert "1 abstained" in shown.stdout
    assert (run / FILE).read_bytes() == held


def test_a_record_that_failed_is_counted_and_judged_once_it_has_an_answer(run: Path):
    Records(run).append(record(question="q3", answer="", error="down", citations=()))
    asked = (str(run), "--metrics", "support", "--json")
    done = ragways(*asked)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["metrics"]["support-hard"] == {
        "scored": 1,
        "unscored": {"abstained": 1, "failed": 1},
    }
    assert not any(question == "q3" for question, *_ in Judgements(run).latest())
    lines = (run / "records.jsonl").read_text().splitlines(keepends=True)
    (run / "records.jsonl").write_text("".join(lines[:-1]))
    Records(run).append(record(question="q3"))
    assert json.loads(ragways(*asked).stdout)["metrics"]["support-hard"] == {"scored": 2, "unscored": {"abstained": 1}}


def test_asked_for_a_judge_that_is_not_there(run: Path):
    done = ragways(str(run), "--metrics", "faithfulness", "--json")
    assert done.exit_code == PARTLY
    assert json.loads(done.stdout)["metrics"] == {
        "faithfulness": {"scored": 0, "unscored": {"no judge": 1, "abstained": 1}}
    }
    with pytest.raises(UsageError, match="did you mean"):
        ragways(str(run), "--metrics", "faithfulnes")
    with pytest.raises(UsageError, match="holds no run"):
        ragways("nowhere")


@pytest.mark.parametrize(("name", "warned"), [("", True), ("o3-mini", True), ("claude-3-haiku", False)])
def test_a_judge_of_the_generators_family_is_warned_of(run: Path, name: str, warned: bool):
    with LoopbackServer(rule) as server:
        settings(server, **({"name": name} if name else {}))
        data = json.loads(ragways(str(run), "--metrics", "judged-correct", "--json").stdout)
        assert data["same_family"] == (["gpt-4o-mini"] if warned else [])
        assert data["metrics"]["judged-correct"] == {"scored": 2, "unscored": {}}
        shown = ragways(str(run), "--metrics", "judged-correct")
        assert ("of its own family" in shown.stderr) == warned
        assert len(server.requests) == 1  # the abstention is graded by rule, and nothing is asked twice


def test_unreadable_replies_are_counted_shown_and_end_with_another_code(run: Path):
    with LoopbackServer(rule) as server:
        settings(server)
        done = ragways(str(run), "--metrics", "crag, judged-correct", "--at-once", "2")
    assert done.exit_code == PARTLY
    assert "1 unreadable reply" in done.stdout
    assert "no idea" in done.stderr
    assert Judgements(run).latest()["q1", "naive", 0, "crag-fine"].value is None
