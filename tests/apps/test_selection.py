"""Which files are indexed can be said in the command, in the settings and from Python; what is left out is counted.
Options that change settings do so in all commands alike.
"""

from __future__ import annotations

from pathlib import Path

import typer
from typer.testing import CliRunner

import ragways as library
from ragways.apps.terminal import JsonOption, with_settings
from ragways.settings import Settings, read_settings
from tests.apps.conftest import Run
from tests.fakes import write

DOCS = {
    "a.md": "# Light\n\nThe light was lit in 1801.",
    "b.txt": "The quay is of granite.",
    "old/c.txt": "An old note.",
    "node_modules/p/r.md": "# P",
}


def test_files_left_out_now_are_removed_and_it_is_said(ragways: Run, home: Path):
    write(home / "docs", DOCS)
    first = ragways("index", "docs", "--with", "words")
    assert "3 added" in first.out
    assert "left out: files or folders: 1 as usual (node_modules …)" in first.err
    (home / "docs" / ".gitignore").write_text("old/\n")
    planned = ragways("index", "docs", "--with", "words", "--exclude", "*.md", "--plan")
    assert "removed: 2 files that are there and were read before, but left out now" in planned.err
    second = ragways("index", "docs", "--with", "words", "--exclude", "*.md")
    assert "0 added, 0 changed, 2 removed, 1 unchanged" in second.out
    assert "1 by .gitignore, 1 by --include or --exclude" in second.err
    assert "removed: 2 files that are there and were read before, but left out now" in second.err
    third = ragways("index", "docs", "--with", "words", "--no-gitignore", "--include", "*.txt", "--json")
    assert (third.data["added"], third.data["unchanged"]) == (1, 1)
    assert third.data["left_out"] == {"excluded": 1, "junk": 1}


def test_patterns_in_settings_and_from_python(ragways: Run, home: Path):
    write(home / "docs", DOCS)
    (home / "ragways.toml").write_text('[corpus]\ninclude = ["*.md"]\n')
    assert ragways("index", "docs", "--with", "words", "--json").data["added"] == 1
    (home / "ragways.toml").unlink()
    settings = Settings(index=home / "other")
    assert library.build(home / "docs", settings=settings, layers=["words"], include=["old/"]).added == 1
    assert library.build(home / "docs", settings=settings, layers=["words"], exclude=["old/"]).removed == 1


def test_options_change_settings_and_unset_ones_leave_them(home: Path):
    seen: list[Settings] = []
    app = typer.Typer()

    @app.command()
    @with_settings("port", "include", "no_gitignore", "engine", "style", "model")
    def command(chosen: Settings, name: str = "", json: JsonOption = False) -> None:
        seen.append(chosen)

    given = "--port 0 --include *.md --no-gitignore --engine ray --style full --provider ollama --model m --json"
    for arguments in (given.split(), []):
        assert CliRunner().invoke(app, arguments).exit_code == 0
    changed, unset = seen
    assert (changed.serve.port, changed.corpus.include, changed.corpus.gitignore) == (0, ("*.md",), False)
    assert (changed.cluster.engine, changed.answer.style) == ("ray", "full")
    assert (changed.model.provider, changed.model.name) == ("ollama", "m")
    assert unset == read_settings()
    assert CliRunner().invoke(app, ["--engine", "horses"]).exit_code == 1
