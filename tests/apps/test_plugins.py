"""Packages that add to ragways, as a user meets them: a loader that reads files, and one that is broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LOADER = """
from ragways.corpus.builder import TextBuilder
from ragways.corpus.load import Loader
from ragways.corpus.source import read_text


def load(file, options):
    text, metadata = read_text(file, options.max_bytes)
    builder = TextBuilder(options.max_text)
    builder.text(text.swapcase())
    yield builder.document(file.key, file.stem, "shout", metadata)


SHOUT = Loader("shout", {suffixes}, "Text in the wrong case.", load)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


def install(site: Path, package: str, code: str, group: str, value: str) -> None:
    """A package as an installer leaves it: a module and its metadata."""
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(code)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\none = {module}:{value}\n")


def ragways(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: plug-ins are looked for once in each."""
    return subprocess.run(
        [sys.executable, "-m", "ragways.apps.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"},
    )


def test_a_loader_of_another_package_reads_files(site: Path):
    install(site, "rw-shout", LOADER.replace("{suffixes}", "('.shout',)"), "ragways.loaders", "SHOUT")
    docs = site.parent / "docs"
    docs.mkdir()
    (docs / "Harbour_light.shout").write_text("tHE HARBOUR LIGHT WAS BUILT BY aNNA bRACK.")
    done = ragways(site, "index", "docs", "--with", "words", "--json")
    assert json.loads(done.stdout)["added"] == 1, done.stderr
    shown = json.loads(ragways(site, "show", "Harbour light", "--json").stdout)
    assert shown["text"] == "The harbour light was built by Anna Brack."


def test_two_loaders_of_one_suffix_are_an_error_that_names_both(site: Path):
    install(site, "rw-shout", LOADER.replace("{suffixes}", "('.shout', '.md')"), "ragways.loaders", "SHOUT")
    (site.parent / "a.md").write_text("text")
    done = ragways(site, "index", "a.md", "--with", "words")
    assert done.returncode == 2
    assert "files ending in .md are read by the loader 'markdown' of ragways and by 'shout' of rw-shout" in done.stderr


def test_the_command_lists_what_packages_add_and_what_is_broken(site: Path):
    install(site, "rw-shout", LOADER.replace("{suffixes}", "('.shout',)"), "ragways.loaders", "SHOUT")
    install(site, "rw-upper", LOADER.replace("{suffixes}", "('.SHOUT',)"), "ragways.loaders", "SHOUT")
    install(site, "rw-broken", "raise RuntimeError('no\\nsuch luck')", "ragways.paradigms", "P")
    install(site, "rw-naive", "from ragways.retrieval.flat import NAIVE", "ragways.paradigms", "NAIVE")
    done = ragways(site, "plugins", "--json")
    groups = {group["group"]: group for group in json.loads(done.stdout)}
    nouns = ("paradigms", "loaders", "metrics", "datasets", "embedders", "models")
    assert {f"ragways.{noun}" for noun in nouns} <= groups.keys()
    assert groups["ragways.loaders"]["added"] == [{"name": "shout", "package": "rw-shout"}]
    assert "'.SHOUT' is not a dot and lower-case letters" in groups["ragways.loaders"]["problems"][0]
    assert groups["ragways.paradigms"]["added"] == []
    assert "rw-naive and ragways both bring a paradigm called 'naive'" in groups["ragways.paradigms"]["problems"][0]
    assert groups["ragways.metrics"] == {"group": "ragways.metrics", "added": [], "problems": []}
    text = ragways(site, "plugins").stdout
    assert "rw-shout" in text
    assert "both bring a paradigm" in text


def test_a_broken_one_is_named_once_by_a_command_that_uses_the_table(site: Path):
    install(site, "rw-broken", "raise RuntimeError('no\\nsuch luck')", "ragways.paradigms", "P")
    done = ragways(site, "paradigms")
    assert done.returncode == 0
    line = "plug-in one of rw-broken (ragways.paradigms) cannot be used: RuntimeError: no such luck"
    assert done.stderr.count(line) == 1
    assert "rw-broken" not in ragways(site, "init").stderr
