"""`ragways graph`: text, files and a picture, whatever documents put into names."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragways.apps.graph import app
from ragways.core.errors import MissingLayer, UsageError
from ragways.core.plain import to_plain
from ragways.index.build import build
from ragways.index.open import Index
from ragways.layers.graph.names import hash_of
from ragways.pictures.neighbourhood import nearest_names, neighbourhood
from ragways.pictures.shell import script_json
from tests.apps.browser import BROWSER, needs_browser
from tests.fakes import Sections, recipe, write
from tests.index.test_export import HOSTILE

DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne. Anna Brack met Carl Dorn.\n",
    "carl.md": "# Carl Dorn\n\nCarl Dorn sailed from Port Averne to Skelwick with Nessa Druwick.\n",
    "port.md": "# Port Averne\n\nPort Averne is on the Lanner Sound. The Harbour Light is there.\n",
    "nessa.md": "# Nessa Druwick\n\nNessa Druwick was a pilot of Skelwick. Skelwick lies on Tollen.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph")
    layers = frozenset({"vectors", "words", "graph", "windows"})
    settings: Sections = {"graph": {}, "windows": {}}
    asyncio.run(build(folder / "index", [write(folder / "docs", DOCS)], recipe(layers=layers, settings=settings)))
    return folder / "index"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """An index whose graph has hostile names, types, descriptions and predicates, and a text that holds them too."""
    said = " ".join(text for text in HOSTILE if text.isprintable())
    docs = write(tmp_path / "docs", {"anna.md": f"# Anna Brack\n\nAnna Brack met Carl Dorn in Port Averne. {said}\n"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=frozenset({"graph"}), settings={"graph": {}})))
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite")) as db:
        (document,) = db.execute("SELECT number FROM documents").fetchone()
        for number, text in enumerate(HOSTILE):
            name = f"hostile {number}"
            mention = (document, 0, name, hash_of(name), "", "", text, text, 2, "rules")
            relation = (document, 0, name, "", text, "anna brack", "", 1_500_000, "1883", -1, 0, text, text)
            for table, row in (
                ("mentions", mention),
                ("relations", relation),
                ("descriptions", (document, 0, name, hash_of(name), text)),
            ):
                db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        db.commit()
    shutil.rmtree(tmp_path / "index" / "views")
    return tmp_path / "index"


@pytest.fixture
def opened(folder: Path) -> Iterator[Index]:
    with closing(Index.open(folder)) as index:
        yield index


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, arguments)


def test_an_entity_as_text(folder: Path):
    done = run("show", "anna brack", "--index", str(folder))
    assert done.exit_code == 0, done.output
    assert "Anna Brack" in done.output
    assert "Harbour Light" in done.output
    assert "Anna Brack built the Harbour Light in Port Averne." in " ".join(done.output.split())
    assert "Tollen" not in done.output
    assert "Tollen" in run("show", "Anna Brack", "--hops", "3", "--index", str(folder)).output


def test_an_entity_as_json_by_name_and_by_id(folder: Path):
    data = json.loads(run("show", "Carl Dorn", "--json", "--index", str(folder)).output)
    names = {node["name"] for node in data["nodes"]}
    assert {"Carl Dorn", "Anna Brack", "Port Averne"} <= names
    assert data["nodes"][0]["id"] == data["centre"]
    ids = {node["id"] for node in data["nodes"]}
    assert all({edge["source"], edge["target"]} <= ids for edge in data["edges"])
    assert all(edge["quote"]["chunk"].startswith("article:") for edge in data["edges"])
    assert json.loads(run("show", data["centre"], "--json", "--index", str(folder)).output) == data


def test_an_unknown_entity_gives_the_nearest_names(folder: Path):
    error = run("show", "Ana Brak", "--index", str(folder)).exception
    assert isinstance(error, UsageError)
    assert "Anna Brack" in error.cure


def test_nearest_names():
    names = ["Port Averne", "Porter", "Averne Mole", "Skelwick", "Tollen"]
    assert nearest_names("Prot Avern", names)[0] == "Port Averne"
    assert nearest_names("TOLLEN!", names)[0] == "Tollen"
    assert nearest_names("", []) == []
    assert len(nearest_names("", names)) == 5


def test_hops_grow_and_what_is_kept_hangs_together(opened: Index):
    start = opened.graph.named("Anna Brack")[0]
    sizes = [len(neighbourhood(opened, start, hops=hops).nodes) for hops in (1, 2, 3)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    for most in (1, 3, 5):
        shown = neighbourhood(opened, start, hops=3, limit=most)
        assert len(shown.nodes) == most
        assert shown.centre == start
        assert f"the {most} nearest and heaviest of {shown.reached}" in shown.cut
        kept = {member.id for member in shown.nodes}
        assert all(member.through in kept for member in shown.nodes[1:])
    assert neighbourhood(opened, start, hops=1).cut == ""


class Page(HTMLParser):
    """Scripts, styles and handlers of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.policy = ""
        self.texts: dict[str, str] = {}
        self.handlers: list[str] = []
        self.links: list[str] = []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.handlers += [name for name in values if name.startswith("on")]
        self.links += [str(values[name]) for name in ("src", "href") if name in values]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(values["content"])
        self._in = values.get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.texts[self._in] = self.texts.get(self._in, "") + data


def test_the_page_is_one_file_that_loads_nothing(folder: Path, tmp_path: Path):
    done = run("show", "Anna Brack", "--html", str(tmp_path / "anna.html"), "--index", str(folder))
    assert done.exit_code == 0, done.output
    text = (tmp_path / "anna.html").read_text(encoding="utf-8")
    read = Page(text)
    assert read.links == []
    assert read.handlers == []
    assert read.tags.count("script") == 2
    assert re.findall(r"https?://[^\"' ]+", text) == ["http://www.w3.org/2000/svg"]
    assert read.policy.startswith("default-src 'none'")
    for part in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(read.texts[part].encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in read.policy
    assert json.loads(read.texts["data"])["nodes"][0]["name"] == "Anna Brack"


def test_no_text_can_break_out_of_the_page(hostile: Path, tmp_path: Path):
    with closing(Index.open(hostile)) as index:
        for number in range(index.graph.counts()["entities"]):
            shown = neighbourhood(index, index.graph.entity_at(number), hops=3)
            text = shown.page()
            read = Page(text)
            assert read.tags.count("script") == 2
            assert read.handlers == []
            assert json.loads(read.texts["data"]) == json.loads(json.dumps(to_plain(shown)))
            assert "alert(1)</script>" not in text
        whole = neighbourhood(index, "Anna Brack", hops=6)
    assert set(HOSTILE) <= {member.name for member in whole.nodes}


def test_no_text_can_steer_the_terminal(hostile: Path):
    for hops in ("1", "6"):
        done = run("show", "Anna Brack", "--hops", hops, "--index", str(hostile))
        assert done.exit_code == 0, done.exception
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.output)
    assert "tab�and�null" in done.output


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800", "</SCRIPT", "<!--<script>"])
def test_json_for_a_script_tag(text: str):
    said = script_json({text: [text]})
    assert not set("<>&\u2028\u2029") & set(said)
    assert json.loads(said) == {text: [text]}
    said.encode("utf-8")


@needs_browser
def test_a_browser_draws_it(hostile: Path, tmp_path: Path):
    with closing(Index.open(hostile)) as index:
        shown = neighbourhood(index, "Anna Brack", hops=6)
    (tmp_path / "page.html").write_text(shown.page(), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = [str(BROWSER), *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [*command, (tmp_path / "page.html").as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.count("<circle") == len(shown.nodes)
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in done.stdout
    assert done.stdout.count("<script") == 2


def test_export(folder: Path, tmp_path: Path):
    for form, files in (("graphml", 1), ("json", 1), ("csv", 2), ("parquet", 2)):
        out = tmp_path / form
        done = run("export", "--format", form, "--out", str(out), "--index", str(folder))
        assert done.exit_code == 0, done.output
        assert "nodes" in done.output
        assert len([path for path in (out, *out.rglob("*")) if path.is_file()]) == files
    assert run("export", "--format", "dot", "--out", str(tmp_path / "x"), "--index", str(folder)).exit_code == 2


@pytest.mark.parametrize("place", ["/", ".", "..", "/dev/null/x.html"])
@pytest.mark.parametrize("command", [("show", "Anna Brack"), ("heatmap", "Anna Brack")])
def test_a_place_that_is_no_file_is_one_line(folder: Path, command: tuple[str, ...], place: str):
    error = run(*command, "--html", place, "--index", str(folder)).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"cannot write {place}")


def test_a_heat_map_of_a_document(folder: Path, tmp_path: Path):
    for name in ("Anna Brack", "anna_brack", "docs/anna.md"):
        done = run("heatmap", name, "--html", str(tmp_path / "map.html"), "--index", str(folder))
        assert done.exit_code == 0, done.exception
    text = (tmp_path / "map.html").read_text(encoding="utf-8")
    read = Page(text)
    assert "Anna Brack" in text
    assert "prefers-color-scheme: dark" in text
    for part in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(read.texts[part].encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in read.policy
    error = run("heatmap", "Ana Brack", "--html", str(tmp_path / "no.html"), "--index", str(folder)).exception
    assert isinstance(error, UsageError)
    assert "did you mean Anna Brack?" in str(error)


def test_without_a_graph(tmp_path: Path):
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", DOCS)], recipe()))
    for arguments in (("show", "Anna"), ("export", "--out", "x"), ("heatmap", "Anna Brack", "--html", "x")):
        assert isinstance(run(*arguments, "--index", str(tmp_path / "index")).exception, MissingLayer)


def test_a_neighbourhood_in_a_notebook_and_in_words(opened: Index, hostile: Path):
    shown = neighbourhood(opened, "Anna Brack", hops=2)
    first, *lines = repr(shown).split("\n")
    assert first.startswith("Anna Brack")
    assert "relations within 2 hops" in first
    assert any(line.startswith("  ") and "Carl Dorn" in line for line in lines)
    frame = Frame(shown._repr_html_())
    assert frame.tags == ["iframe"]
    assert frame.values["sandbox"] == "allow-scripts"
    assert frame.values["srcdoc"] == shown.page()
    with closing(Index.open(hostile)) as other:
        whole = neighbourhood(other, "Anna Brack", hops=6)
        assert Frame(whole._repr_html_()).tags == ["iframe"]
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", repr(whole))


class Frame(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: dict[str, str | None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values = dict(attrs)
