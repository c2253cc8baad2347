"""What the docs say is what the code does: generated pages are fresh, links lead somewhere, examples run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

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

    from ragways.apps.cli import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    shown = set(re.findall(r"^ragways ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert shown
    assert shown <= known


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
