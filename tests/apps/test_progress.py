"""Long work says how far it is, in a log as well, and short work says nothing there."""

from __future__ import annotations

import pytest

from ragways.apps import terminal
from ragways.core.runtime import Progress


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
