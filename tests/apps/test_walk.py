"""Traces as text and as a picture: what is in them, and that no word of a document becomes code."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from ragways.apps.trace_tree import entity_names, show_trace
from ragways.core.trace import Span, Usage
from ragways.core.types import Answer, Evidence, Hits, Query
from ragways.index.open import Index
from ragways.layers.table import LAYERS
from ragways.pictures.walk_page import (
    GraphPicture,
    PathPicture,
    ShownNode,
    ShownSentence,
    ShownWindow,
    pictures,
    walk_page,
)
from ragways.pictures.window_map import walk_map
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import PARADIGMS, Result, ask
from ragways.testing.server import LoopbackServer
from tests.apps.browser import Browser, needs_browser
from tests.apps.conftest import Run, one_line
from tests.fakes import write
from tests.retrieval.graph_corpus import HOPS, TEXTS, indexed, resources

EVIL = "<script>alert(1)</script></style></title>{{policy}}\u202e\x1b[31m"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.open(indexed(tmp_path_factory.mktemp("walk"), layers=frozenset(LAYERS)))


@pytest.fixture
def walked(ragways: Run, home: Path) -> Run:
    write(home / "docs", {name: TEXTS[name] for name in ("ness-light.md", "ada-holm.md", "gull-rock.md")})
    assert ragways("index", "docs", "--with", "vectors,words,windows,graph").code == 0
    return ragways


def test_a_trace_shows_inputs_outputs_time_and_the_way(walked: Run):
    shown = walked("ask", HOPS, "-p", "graph-ppr,query-traversal", "--trace").out
    tree = shown[shown.index("\ngraph-ppr") :]
    assert f"in   {HOPS}" in tree
    assert re.search(r"out  \d+ seeds? from Ness Light", tree)
    assert re.search(r"seeds: Ness Light 1\.000", tree)
    assert "strongest: " in tree
    assert re.search(r" 1  0\.\d{3}  article:\d+:w\d+  anchor: most similar to the question; \d sentences", tree)
    assert "stopped: " in tree
    assert re.search(r"pagerank  [\d.]+ ms", tree)


def test_the_picture_of_a_traversal_and_of_pagerank(walked: Run, home: Path):
    done = walked("ask", HOPS, "-p", "graph-ppr,query-traversal,fused,words", "--html", "walk.html")
    assert done.code == 0
    assert "wrote walk.html" in done.err
    page = (home / "walk.html").read_text()
    assert all(f'id="{name}"' in page for name in ("graph-ppr", "query-traversal", "fused", "words"))
    assert page.count("PageRank: ") == 2
    assert "anchor: most similar to the question" in page
    assert "<mark>The Ness Light was designed by Ada Holm in 1801.</mark>" in page
    assert "<script" not in page
    assert "://" not in page, "nothing is fetched"
    assert "default-src 'none'; style-src 'sha256-" in page


def test_the_window_graph_is_drawn_in_two_and_three_dimensions_with_the_walk_and_the_question(walked: Run, home: Path):
    done = walked("ask", HOPS, "-p", "query-traversal", "--html", "walk.html")
    assert done.code == 0, done.err
    page = (home / "walk.html").read_text()
    flat, deep = (page[page.index(f'in {name} dimensions"') :].partition("</svg>")[0] for name in ("two", "three"))
    steps = len(re.findall(r'class="visit', page))
    for picture in (flat, deep):
        assert picture.count('class="number"') == steps, "each stop of the walk has its number"
        assert picture.count('class="hop"') == 1
        assert picture.count("<title>the question</title>") == 1
        assert picture.count('class="edge"') > 0
        assert picture.count('class="point') >= steps
    sizes = [set(re.findall(r'class="point.*? r="([\d.]+)"', picture)) for picture in (flat, deep)]
    assert len(sizes[0]) == 1, "from above all are equally far"
    assert len(sizes[1]) > 1, "what is nearer is larger"
    assert "<script" not in page


def test_the_windows_of_a_document_are_shown_without_a_walk(walked: Run, home: Path):
    done = walked("graph", "show", "Ness Light", "--windows", "--html", "windows.html")
    assert (done.code, done.out) == (0, "wrote windows.html\n")
    page = (home / "windows.html").read_text()
    assert page.count("<svg") == 2
    assert 'class="hop"' not in page
    assert "<h1>Ness Light</h1>" in page
    walked("graph", "show", "Ada Holm", "--windows", "--html", "other.html")
    assert "<h1>Ada Holm</h1>" in (home / "other.html").read_text(), "the document, not the first that is joined to it"
    found = walked("graph", "show", "Ness Light", "--windows", "--json").data
    assert len(found["places"]) == len(found["titles"]) == page.count('class="point') / 2
    assert found["question"] is None
    one_line(walked("graph", "show", "Ness Light", "--windows"), 2, "--html FILE")
    assert walked("graph", "show", "Nobody", "--windows", "--json").code != 0


def on_a_phone(page: Path, profile: Path, script: str) -> tuple[float, float]:
    """How wide the page is, and the value of a script on it."""
    with Browser(profile) as browser:
        browser.send("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=False)
        browser.send("Page.navigate", url=page.as_uri())
        browser.wait("document.readyState === 'complete' && document.querySelector('main')")
        return browser.ask("document.documentElement.scrollWidth"), browser.ask(script)


@needs_browser
def test_a_phone_shows_the_window_graph_whole(walked: Run, home: Path, tmp_path: Path):
    assert walked("ask", HOPS, "-p", "query-traversal", "--html", "walk.html").code == 0
    right = "Math.max(...[...document.querySelectorAll('.maps svg')].map((one) => one.getBoundingClientRect().right))"
    width, end = on_a_phone(home / "walk.html", tmp_path / "profile", right)
    assert width <= 390
    assert 300 < end <= 390


@needs_browser
def test_a_phone_scrolls_long_code_and_tables_alone(
    walked: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    table = f"| {' | '.join(f'a column {n}' for n in range(12))} |\n|{'---|' * 12}\n"
    with LoopbackServer(lambda body: f"So [1]:\n\n```python\n{'x = 1; ' * 40}\n```\n\n{table}") as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        assert walked("ask", HOPS, "-p", "words", "--html", "walk.html").code == 0
    width, code = on_a_phone(home / "walk.html", tmp_path / "profile", "document.querySelector('pre').scrollWidth")
    assert width <= 390
    assert code > 390


def test_places_on_the_map_of_windows_are_those_of_the_projection(index: Index):
    last = len(index.windows) - 1
    found = walk_map(index, [0, last], index.windows.points([0])[0])
    assert found.question == found.places[0], "a question like the first window stands where it stands"
    assert found.walk == (0, len(found.places) - 1)
    assert found.places[-1] == tuple(index.windows.projected(index.windows.points([last]))[0].round(6))
    assert found.documents[0] == found.titles[0]
    assert found.edges
    assert all(one < other < len(found.places) for one, other in found.edges)


def test_json_and_a_picture_together(walked: Run, home: Path):
    done = walked("ask", HOPS, "-p", "graph-ppr", "--html", "walk.html", "--trace", "--json")
    steps = {step["name"]: step for step in done.data["steps"]}
    assert steps["link entities"]["input"] == HOPS
    assert steps["pack"]["output"].endswith("tokens)")
    assert (home / "walk.html").is_file()


def test_each_walk_of_an_answer_has_its_picture(index: Index):
    def drawn(paradigm: str) -> list[object]:
        result = asyncio.run(ask(resources(index), HOPS, paradigm, {}))
        return list(pictures(index, result))

    assert drawn("naive") == []
    assert len(drawn("iterative")) > 1
    (reach,) = drawn("fast-graph")
    assert isinstance(reach, GraphPicture)
    assert reach.seeds[0].name == "Ness Light"
    known = {node.id for node in (*reach.seeds, *reach.entities, *reach.passages)}
    assert reach.links
    assert all(one in known and other in known for one, other in reach.links)
    (linked,) = drawn("fused")
    assert isinstance(linked, GraphPicture)
    assert linked.entities


WINDOW_PATHS = {name for name, paradigm in PARADIGMS.items() if "windows" in paradigm.needs}
GRAPH_WALKS = {"graph-ppr", "hybrid", "iterative", "fast-graph", "fused", "auto"}


@pytest.mark.parametrize("name", PARADIGMS)
def test_every_paradigm_has_a_trace_and_its_pictures(index: Index, name: str, capsys: pytest.CaptureFixture[str]):
    result = asyncio.run(ask(resources(index), HOPS, name, {}))
    drawn = pictures(index, result)
    assert {type(each) for each in drawn} == (
        {PathPicture} if name in WINDOW_PATHS else {GraphPicture} if name in GRAPH_WALKS else set()
    )
    page = walk_page([(result, drawn)])
    show_trace(result.trace, entity_names(index, [result.trace]))
    tree = capsys.readouterr().out
    data = json.loads(json.dumps(result_data(result)))
    for step in (step for step in result.trace.walk() if step is not result.trace):
        assert step.name in tree
        assert f"<b>{step.name}</b>" in page
    assert "entity:" not in tree, "entities are shown by name"
    kinds = set(re.findall(r'"kind": "(\w+)"', json.dumps(data["steps"])))
    assert ("WindowPath" in kinds) == (name in WINDOW_PATHS)


def test_what_a_plug_in_attaches_is_left_alone(index: Index, capsys: pytest.CaptureFixture[str]):
    result = asyncio.run(ask(resources(index), HOPS, "words", {}))
    result.trace.children[0].attachments.append("a note of someone else's")
    assert pictures(index, result) == []
    show_trace(result.trace, entity_names(index, [result.trace]))
    assert "words" in capsys.readouterr().out
    assert result_data(result)["steps"][0]["attachments"] == [{"kind": "str", "text": "a note of someone else's"}]


def test_text_of_documents_and_models_is_never_code():
    trace = Span(EVIL, {EVIL: EVIL}, input=EVIL, output=EVIL, usage=Usage(calls=1, input=2), error=EVIL, way=EVIL)
    answer = Answer(Evidence(Hits(Query(EVIL)), (), 0), EVIL, way=EVIL)
    result = Result(EVIL, EVIL, {}, answer, Span("all", children=[trace]))
    visit = ShownWindow(EVIL, EVIL, 0.5, EVIL, (ShownSentence(EVIL, True, 0.5), ShownSentence(EVIL, False, None)))
    node = ShownNode(EVIL, EVIL, 0.5, EVIL)
    page = walk_page(
        [(result, [PathPicture(EVIL, (visit,), EVIL), GraphPicture(EVIL, (node,), (node,), (node,), ())])] * 2
    )
    assert "<script" not in page
    assert page.count("</style>") == page.count("</title>") - page.count("<g ") == 1
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "{{policy}}" in page, "what a text says is not filled in"


def test_a_walk_to_nowhere_is_drawn_as_well():
    answer = Answer(Evidence(Hits(Query("?")), (), 0), "")
    result = Result("?", "words", {}, answer, Span("all"))
    assert "<svg" in walk_page([(result, [PathPicture("x", (), "no way on"), GraphPicture("x", (), (), (), ())])])
