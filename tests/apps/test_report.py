"""`ragways eval report`: one page that loads nothing, whatever documents say; Markdown and JSON beside it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ragways.apps.evaluation.score import report
from ragways.core.errors import UsageError
from ragways.pictures.report import report_page
from tests.evaluation.report.made import EVIL, made_report, made_run, rows_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_run(tmp_path_factory.mktemp("report") / "run", questions=6, paradigms=["naive", "words"])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    evil = tmp_path_factory.mktemp("report") / "<b>run</b>"
    return made_run(evil, questions=4, paradigms=["naive", EVIL.replace("/", "")], hostile=True)


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(report)
    return CliRunner().invoke(app, list(arguments))


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.policy = ""
        self.texts: dict[str, str] = {}
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        values = dict(attrs)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(values["content"])
        self._in = values.get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.texts[self._in] = self.texts.get(self._in, "") + data


@pytest.mark.parametrize("which", ["folder", "hostile"])
def test_the_page_is_one_file_that_loads_nothing(which: str, request: pytest.FixtureRequest):
    data = made_report([request.getfixturevalue(which)])
    text = report_page(data)
    read = Page(text)
    assert read.tags.count("script") == 3
    assert "img" not in read.tags
    assert "link" not in read.tags
    names = [name for name, _ in read.attributes]
    assert not [name for name in names if name.startswith("on") or name in ("src", "style")]
    assert [value for name, value in read.attributes if name == "href"] == ["#questions"]
    names_of_spaces = {"2000/svg", "1999/xhtml", "1998/Math/MathML"}
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {f"http://www.w3.org/{name}" for name in names_of_spaces}
    for part in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(read.texts[part].encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in read.policy
    assert read.policy.startswith("default-src 'none'")
    shown: dict[str, Any] = json.loads(read.texts["data"]) | json.loads(read.texts["answers"])
    assert shown == json.loads(json.dumps(data))
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_html_markdown_and_json(folder: Path, tmp_path: Path):
    done = run(str(folder), "--html", str(tmp_path / "a.html"), "--markdown", str(tmp_path / "a.md"))
    assert done.exit_code == 0, done.exception
    assert done.output.count("6 questions, 2 paradigms") == 2
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# Evaluation: run\n")
    both = run(str(folder), "--html", str(tmp_path / "b.html"), "--json")
    assert [row["paradigm"] for row in rows_of(json.loads(both.stdout), "costs")] == ["naive", "words"]
    assert "wrote" in both.stderr
    tables = run(str(folder), "--latex", str(tmp_path / "a.tex"), "--csv", str(tmp_path / "tables"))
    assert tables.exit_code == 0, tables.exception
    assert r"\begin{tabular}" in (tmp_path / "a.tex").read_text(encoding="utf-8")
    assert (tmp_path / "tables" / "costs.csv").read_text(encoding="utf-8").startswith("paradigm,answered,")
    plain = run(str(folder), "--baseline", "words")
    assert plain.stdout.startswith("# Evaluation: run\n")
    assert "## Questions" not in plain.stdout


def test_no_text_can_steer_the_terminal(hostile: Path):
    done = run(str(hostile))
    assert done.exit_code == 0, done.exception
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout)


@pytest.mark.parametrize("place", ["/", ".", "/dev/null/x"])
@pytest.mark.parametrize("form", ["--html", "--markdown"])
def test_a_place_that_is_no_file_is_one_line(folder: Path, form: str, place: str):
    error = run(str(folder), form, place).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"cannot write {place}")


def test_no_run(tmp_path: Path):
    error = run(str(tmp_path)).exception
    assert isinstance(error, UsageError)
    assert "holds no run: make one with: ragways eval run" in str(error)
    assert run().exit_code == 2
