"""What the docs say is what the code does: generated pages are fresh, links lead somewhere, examples run."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import write

ROOT = Path(__file__).parent.parent
PAGES = runpy.run_path(str(ROOT / "docs" / "generate.py"))["PAGES"]
WRITTEN = [page for folder in ("docs", "training") for page in sorted((ROOT / folder).glob("*.md"))]
MARKDOWN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *WRITTEN]


@pytest.mark.parametrize("name", list(PAGES))
def test_generated_pages_are_fresh(name: str):
    fresh = re.sub(r"\n{3,}", "\n\n", PAGES[name]())
    assert (ROOT / "docs" / name).read_text() == fresh, "run `make docs`"


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_two_commands_stand_at_the_top_of_the_readme():
    top = (ROOT / "README.md").read_text().split("```")[1]
    assert "make demo" in top
    assert "make test" in top


def test_commands_that_the_readme_shows_exist():
    from typer.main import get_command

    from ragways.apps.cli import full_app

    known = set(get_command(full_app()).commands)  # type: ignore[attr-defined]
    shown = set(re.findall(r"^ragways ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert shown
    assert shown <= known


def test_the_page_about_models_names_the_commands_that_take_one():
    from typer.main import get_command

    from ragways.apps.cli import full_app

    def takers(command: Any, name: str = "") -> Iterator[str]:
        for word, inner in getattr(command, "commands", {}).items():
            yield from takers(inner, f"{name} {word}".strip())
        if {"--provider", "--model"} <= {option for each in command.params for option in each.opts}:
            yield name

    said = re.search(r"`--provider` and `--model` are options of ([^;]+);", (ROOT / "docs" / "models.md").read_text())
    assert said is not None
    assert re.findall(r"`([^`]+)`", said[1]) == sorted(takers(get_command(full_app())))


def test_variables_that_the_readme_sets_are_settings():
    from ragways.settings import read_settings

    exported = re.findall(r"(RAGWAYS_\w+)=(\S+)", (ROOT / "README.md").read_text())
    assert {name for name, _ in exported} >= {"RAGWAYS_MODEL__PROVIDER", "RAGWAYS_MODEL__BASE_URL"}
    for name, value in exported:
        read_settings(environment={name: value})
    providers = re.search(r"RAGWAYS_MODEL__PROVIDER=(\w+) +# or (.+)\n", (ROOT / "README.md").read_text())
    assert providers is not None
    for name in (providers[1], *providers[2].split(", ")):
        read_settings(environment={"RAGWAYS_MODEL__PROVIDER": name})


def test_the_python_of_the_readme_prints_what_is_shown(
    tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGWAYS_CACHE", str(cache_folder))
    write(tmp_path / "docs", {"light.txt": "The lighthouse was designed by Anna Brack in 1801. It stands on a rock."})
    (tmp_path / "mine.jsonl").write_text('{"question": "Who designed the lighthouse?", "answers": ["Anna Brack"]}\n')
    names: dict[str, Any] = {}
    exec(block, names)
    names["corpus"].close()
    answer, *tables = capsys.readouterr().out.splitlines()
    assert "Anna Brack" in answer
    assert sum("naive" in line for line in tables) >= 2, "both tables are printed"
    assert any("f1" in line for line in tables)
