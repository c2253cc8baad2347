"""The graph on the page, in a browser: found, opened, expanded, joined by paths, grouped, and walked to an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.browser import Browser, needs_browser
from tests.service.conftest import RunningServer
from tests.service.pages import SIZES, ShownPage, checked

pytestmark = needs_browser
STAGE = "document.querySelector('.stage').sigma"
NODES = f"{STAGE}.getGraph().nodes()"
NAMES = "[...document.querySelectorAll('.listed tbody th')].map((one) => one.querySelector('button').innerText)"


@pytest.fixture
def page(page_browser: Browser, demo_server: RunningServer) -> Iterator[ShownPage]:
    yield from checked(page_browser, demo_server.url)


@pytest.fixture
def told(demo_server: RunningServer, demo_name: str) -> Any:
    """What the server says, asked beside the page."""

    def get(path: str) -> Any:
        return demo_server.client.get(f"/api/v1/collections/{demo_name}/{path}").json()

    return get


def drawn(page: ShownPage, place: str, **how: Any) -> None:
    page.open(place, **how)
    page.wait("document.querySelector('.stage')?.sigma?.getGraph().order")


def entity(told: Any, name: str) -> str:
    return str(told(f"entities?search={name}")["entities"][0]["id"])


def test_the_map_has_what_the_server_tells_and_a_list_of_it(page: ShownPage, demo_name: str, told: Any):
    drawn(page, f"graph/{demo_name}")
    found = told("graph?limit=1000")
    assert set(page.ask(NODES)) == {node["id"] for node in found["nodes"]}
    assert page.ask(f"{STAGE}.getGraph().size") == len(found["edges"])
    page.press("List")
    names = page.ask(NAMES)
    assert len(names) == min(150, len(found["nodes"]))
    assert names[0] == max(found["nodes"], key=lambda node: node["degree"])["name"]
    page.press("Communities")
    page.wait("document.querySelector('.communities li')")
    # A community of very few members has no report, and so no title.
    assert [one["title"] or "Without a report" for one in told("communities")["communities"]] == page.ask(
        "[...document.querySelectorAll('.communities a span:nth-child(2)')].map((one) => one.innerText)"
    )
    page.choose("Show", "200")
    page.wait("document.querySelector('.stage')?.sigma?.getGraph().order === 200")


def test_by_keyboard_an_entity_is_found_and_its_neighbours_expanded(page: ShownPage, demo_name: str, told: Any):
    drawn(page, f"graph/{demo_name}")
    page.write("Find an entity", "oriel tam")
    page.wait("document.querySelector('[role=option]')")
    page.key("ArrowDown", 40)
    page.key("ArrowUp", 38)
    page.key("Enter", 13)
    page.see("Oriel Tamsett", ".panel-body h2")
    assert page.ask("document.activeElement.tagName") == "H2", "what was found is read out next"
    page.press("Explore from here")
    id = entity(told, "Oriel Tamsett")
    page.wait(f"location.hash.endsWith('{id.replace(':', '%3A')}') && document.querySelector('.stage')?.sigma")
    around = told(f"entities/{id}/neighbourhood?limit=60")
    page.wait(f"{NODES}.length === {len(around['nodes'])}")
    page.press("List")
    other = next(node for node in around["nodes"] if node["name"] == "Skelwick")
    page.ask("[...document.querySelectorAll('.listed button')].find((one) => one.innerText === 'Skelwick').focus()")
    page.key("ArrowDown", 40)
    assert page.ask("document.activeElement.innerText") != "Skelwick"
    page.key("ArrowUp", 38)
    page.key("Enter", 13)
    page.see("Skelwick", ".panel-body h2")
    more = told(f"entities/{other['id']}/neighbourhood?limit=40")
    both = {node["id"] for node in (*around["nodes"], *more["nodes"])}
    page.wait(f"{NODES}.length === {len(both)}")
    assert set(page.ask(NODES)) == both


def test_the_evidence_of_an_edge_opens_its_document(page: ShownPage, demo_name: str, told: Any):
    id = entity(told, "Oriel Tamsett")
    drawn(page, f"graph/{demo_name}/entity/{id}")
    page.see("Oriel Tamsett", ".panel-body h2")
    quote = page.text(".relation .quote p")
    page.browser.click(".relation .quote .source")
    page.wait("document.querySelector('dialog mark')")
    assert quote.removesuffix("…") in " ".join(page.text("dialog mark").split())
    page.key("Escape", 27)
    page.wait("!document.querySelector('dialog')")


def test_a_click_on_the_picture_tells_of_what_is_there(page: ShownPage, demo_name: str):
    drawn(page, f"graph/{demo_name}")
    page.wait("document.getAnimations().length === 0")
    hub = page.ask(
        f"(() => {{ const g = {STAGE}.getGraph(); return g.nodes().sort((a, b) => g.degree(b) - g.degree(a))[0]; }})()"
    )
    x, y = page.ask(
        f"(() => {{ const s = {STAGE}, p = s.graphToViewport(s.getGraph().getNodeAttributes('{hub}')),"
        " b = document.querySelector('.stage').getBoundingClientRect(); return [p.x + b.x, p.y + b.y]; })()"
    )
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        page.browser.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    page.see(page.ask(f"{STAGE}.getGraph().getNodeAttribute('{hub}', 'label')"), ".panel-body h2")


def test_paths_between_two(page: ShownPage, demo_name: str, told: Any):
    drawn(page, f"graph/{demo_name}")
    page.press("Path between two")
    for label, name in (("From", "Oriel Tamsett"), ("To", "Grey Petrel")):
        page.write(label, name)
        page.key("Enter", 13)  # before anything is suggested: the first that is found is taken
    start, end = entity(told, "Oriel Tamsett"), entity(told, "Grey Petrel")
    found = told(f"paths?start={start}&end={end}&limit=8")
    page.see("shortest path", ".panel-body h2")
    assert page.count(".paths > li") == len(found["paths"]) > 0
    names = {node["id"]: node["name"] for node in found["nodes"]}
    assert page.text(".paths .way") == " → ".join(names[id] for id in found["paths"][0]["nodes"])
    page.wait(f"document.querySelector('.stage')?.sigma && {NODES}.length === {len(names)}")


def test_what_is_written_before_the_boxes_are_painted_is_kept(page: ShownPage, demo_name: str):
    drawn(page, f"graph/{demo_name}")
    page.ask(
        """(async () => {
          [...document.querySelectorAll("button")].find((one) => one.innerText === "Path between two").click();
          while (!document.querySelector(".between input")) await null;
          const box = document.querySelector(".between input");
          box.value = "Oriel Tamsett";
          box.dispatchEvent(new Event("input", { bubbles: true }));
          await null;
          box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
        })()"""
    )
    page.write("To", "Grey Petrel")
    page.key("Enter", 13)
    page.see("shortest path", ".panel-body h2")


def test_a_community_and_its_report(page: ShownPage, demo_name: str, told: Any):
    first = told("communities")["communities"][0]
    whole = told(f"communities/{first['id']}")
    drawn(page, f"graph/{demo_name}")
    page.browser.click(".communities a")
    page.see(whole["findings"][0]["text"], ".panel-body")
    assert page.text(".panel-body h2") == first["title"]
    lit = page.ask(f"{NODES}.filter((id) => !{STAGE}.getNodeDisplayData(id).faint).length")
    members = {node["id"] for node in whole["members"]}
    assert lit == sum(id in members for id in page.ask(NODES)) > 0


def test_the_walk_that_led_to_an_answer(page: ShownPage, demo_name: str):
    page.open(f"graph/{demo_name}?walk=last")
    page.see("No answer yet")
    page.open(f"ask/{demo_name}")
    page.choose("Way of answering", "graph-ppr")
    page.write("Question", "Who designed the Pell Rock Lighthouse?")
    page.key("Enter", 13)
    page.wait("document.querySelector('.answered')")
    page.press("The walk to it on the graph")
    page.see("The walk to the answer", ".panel-body h2")
    page.see("Pell Rock Lighthouse", ".stops")
    assert page.count(".stops li") >= 3
    labels = f"{NODES}.map((id) => {STAGE}.getGraph().getNodeAttribute(id, 'label'))"
    page.wait(f"document.querySelector('.stage')?.sigma && {labels}.some((label) => label.startsWith('1 · '))")
    assert page.ask(f"{STAGE}.getGraph().filterEdges((key, data) => data.walked).length") > 0
    page.press("The whole map")
    page.press("The last answer’s walk")
    page.see("The walk to the answer", ".panel-body h2")


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_nothing_is_wrong_with_it_for_those_who_cannot_see_or_point(
    page: ShownPage, demo_name: str, told: Any, width: int, dark: bool
):
    id = entity(told, "Oriel Tamsett")
    drawn(page, f"graph/{demo_name}/entity/{id}", width=width, dark=dark)
    page.see("Oriel Tamsett", ".panel-body h2")
    assert page.violations() == []
    assert not page.too_wide()
    page.press("List")
    page.press("Path between two")
    assert page.violations() == []
    page.press("Communities")
    page.wait("document.querySelector('.communities li')")
    assert page.violations() == []
    assert not page.too_wide()


def test_without_webgl_the_lists_say_the_same(page: ShownPage, demo_name: str):
    script = page.browser.send(
        "Page.addScriptToEvaluateOnNewDocument", source="HTMLCanvasElement.prototype.getContext = () => null;"
    )
    try:
        page.open(f"graph/{demo_name}")
        page.see("draws no WebGL")
        page.press("List")
        assert len(page.ask(NAMES)) > 100
    finally:
        page.browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
