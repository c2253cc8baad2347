"""The command run in this process: what it printed and how it ended."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragways.apps.cli import main
from tests.apps.browser import Browser
from tests.fakes import write

CORPUS = {
    "harbour.md": "---\ndate: 1801-05-04\n---\n# Harbour\n\nThe harbour light was built by Anna Brack in 1801.\n",
    "storm.txt": "The storm of 1883 destroyed the harbour light. The keeper was saved by the ship Tern.",
    "notes.bin": "?",
}


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGWAYS_CACHE", str(cache_folder))
    monkeypatch.setenv("COLUMNS", "200")
    (cache_folder / "endpoints.json").unlink(missing_ok=True)  # of another server at the same port
    return tmp_path


@pytest.fixture
def ragways(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["ragways", *arguments])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


@pytest.fixture
def indexed(ragways: Run, home: Path) -> Run:
    write(home / "docs", CORPUS)
    assert ragways("index", "docs").code == 0
    return ragways


@pytest.fixture(scope="session")
def opened_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all tests."""
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def browser(opened_browser: Browser) -> Iterator[Browser]:
    """The browser, which may not complain of the pages that a test shows, nor leave this machine."""
    opened_browser.errors.clear()
    opened_browser.requests.clear()
    yield opened_browser
    assert opened_browser.errors == []
    assert [
        url for url in opened_browser.requests if not url.startswith(("file:", "about:", "http://127.0.0.1:"))
    ] == []


def one_line(done: Done, code: int, *said: str) -> None:
    assert done.code == code, done
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for words in said:
        assert words in done.err
