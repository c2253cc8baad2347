"""`ragways eval generate`: a set and its provenance from the command line, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ragways.apps.evaluation.questions import generate
from ragways.core.errors import UsageError
from ragways.evaluation.datasets import load_questions
from ragways.settings import Settings
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture


@pytest.fixture
def command(demo_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGWAYS_CACHE", str(demo_settings.cache))
    monkeypatch.setenv("COLUMNS", "200")
    app = typer.Typer()
    app.command()(generate)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--index", str(demo_settings.index)])

    return run


def test_a_set_from_the_command_line(command, tmp_path: Path):
    done = command("--out", "mine.jsonl", "--count", "2", "--kinds", "factual, moved", "--seed", "4")
    assert done.exit_code == 0, done.output
    assert "4 questions by templates, without a model in mine.jsonl" in done.output
    asked = load_questions("plain", tmp_path / "mine.jsonl")
    assert [question.type for question in asked] == ["factual", "factual", "null", "null"]
    about = json.loads((tmp_path / "mine.about.json").read_text())
    assert about["seed"] == 4

    data = json.loads(command("--out", "again.jsonl", "--count", "2", "--kinds", "factual,moved", "--seed", "4",
                              "--json").output)  # fmt: skip
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "mine.jsonl").read_bytes()
    assert data["counts"] == about["counts"]
    assert data["files"] == ["again.jsonl", "again.about.json"]


def test_an_unknown_kind_is_an_error(command):
    done = command("--out", "x.jsonl", "--kinds", "factal")
    assert isinstance(done.exception, UsageError)
    assert "did you mean factual?" in str(done.exception)
