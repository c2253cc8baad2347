"""Long work says how far it is, in a log as well, and short work says nothing there."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from ragways.apps import terminal
from ragways.apps.index_views import show_summary
from ragways.core.runtime import Progress
from ragways.corpus.source import Skipped
from ragways.index.recipe import Summary


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    monkeypatch.setattr("ragways.apps.terminal.time.monotonic", lambda: now[0])
    with terminal.progress_bar() as report:
        for second in range(70):
            now[0] = second
            report(Progress("asking", second, 70, f"[bold]{second}"))
    said = capsys.readouterr().err.splitlines()
    assert said == ["asking: [bold]30", "asking: [bold]60"]
    with terminal.progress_bar(False) as report:
        now[0] = 1000
        report(Progress("asking", 1))
    assert capsys.readouterr().err == ""


def test_a_bar_shows_a_note_as_it_stands(monkeypatch: pytest.MonkeyPatch):
    """An address with brackets is no markup of the terminal's library, which would raise."""
    shown = io.StringIO()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(terminal, "console", lambda **_: Console(file=shown, force_terminal=True, width=200))
    with terminal.progress_bar() as report:
        report(Progress("fetching", 1, note="https://example.org/[/a]"))
    assert "https://example.org/[/a]" in shown.getvalue()


def test_what_was_left_out_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]):
    skipped = [Skipped("https://example.org/", "no loader for \x1b[2Jx")]
    show_summary(Summary(added=1, skipped=skipped), ".ragways")
    assert "no loader for \ufffd[2Jx" in capsys.readouterr().err
