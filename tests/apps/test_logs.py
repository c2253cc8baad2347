"""`-v`, `--log-format json` and completion: what is logged, where, and what is never in it."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragways.apps.logs import options_first
from ragways.testing import LoopbackServer
from tests.apps.conftest import Run

SECRET = "storm of 1883"


def lines(err: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in err.splitlines()]


def test_nothing_is_logged_unless_it_is_asked_for(indexed: Run):
    assert indexed("ask", SECRET, "-p", "words").err == ""


def test_v_says_what_is_done_and_vv_every_step(indexed: Run, home: Path):
    (home / "docs" / "more.txt").write_text("The keeper of the light was called Ole.")
    done = indexed("-v", "index", "docs")
    assert "reading seconds=" in done.err
    assert "file=docs/more.txt" not in done.err
    (home / "docs" / "more.txt").write_text("The keeper of the light was called Olav.")
    assert "reading file=docs/more.txt" in indexed("-vv", "index", "docs").err
    steps = indexed("ask", SECRET, "-p", "naive", "-vv").err
    assert " dense seconds=" in steps
    assert SECRET not in steps


def test_lines_of_json_and_nothing_else(indexed: Run, home: Path):
    (home / "docs" / "bad.pdf").write_bytes(b"%PDF-1.4 not really")
    done = indexed("index", "docs", "--log-format", "json", "-v")
    assert done.code == 6
    logged = lines(done.err)
    assert {"time", "level", "logger", "message"} <= set(logged[0])
    assert any("bad.pdf" in str(line["message"]) for line in logged)
    assert any(line["message"] == "reading" and isinstance(line["seconds"], float) for line in logged)
    failed = indexed("--log-format=json", "ask", "why?", "--index", "nowhere")
    (only,) = lines(failed.err)
    assert (failed.code, only["level"], only["exit_code"]) == (3, "error", 3)


def test_a_call_of_a_model_is_logged_with_its_tokens(indexed: Run, home: Path):
    with LoopbackServer(lambda _: "The Tern. [1]") as server:
        text = f'[model]\nname = "gpt-4o-mini"\nbase_url = "{server.base_url}"\n'
        (home / "ragways.toml").write_text(text)
        done = indexed("ask", "Which ship saved the keeper?", "-p", "words", "-v", "--log-format", "json")
    calls = [line for line in lines(done.err) if "input" in line]
    assert calls, done
    assert all(isinstance(line["input"], int) and line["input"] > 0 for line in calls)
    assert not any("usd" in line for line in calls), "no price is known here, which is not a price of 0"
    assert "Tern" not in done.err


def test_logging_is_left_as_it_was_found(indexed: Run):
    before = list(logging.getLogger("ragways").handlers), logging.getLogger("ragways").level
    indexed("-vv", "status")
    assert (list(logging.getLogger("ragways").handlers), logging.getLogger("ragways").level) == before


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["index", "a", "-v"], ["-v", "index", "a"]),
        (["ask", "q", "--log-format", "json", "-vv"], ["--log-format", "json", "-vv", "ask", "q"]),
        (["ask", "--log-format=json", "--", "-v"], ["--log-format=json", "ask", "--", "-v"]),
        (["ask", "--log-format"], ["--log-format", "ask"]),
        ([], []),
    ],
)
def test_options_of_every_command_may_stand_anywhere(given: list[str], wanted: list[str]):
    assert options_first(given) == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell: str, tmp_path: Path):
    environment = {
        **os.environ,
        "_RAGWAYS_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "ragways ",
        "HOME": str(tmp_path),
    }
    environment |= {"COMP_WORDS": "ragways st", "COMP_CWORD": "1"}
    environment |= {"_TYPER_COMPLETE_ARGS": "ragways st", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'ragways'; from ragways.apps.cli import main; main()"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "status" in done.stdout, done
