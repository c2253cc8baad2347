"""The page as a whole: for everybody (axe-core), at every width, by keyboard alone, with a key, in every place."""

# ruff: noqa: F811 - fixtures that were imported are arguments
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragways.service.keys import Keys
from ragways.service.state import FILE, State
from ragways.settings import Settings
from tests.apps.browser import Browser, colours, needs_browser
from tests.service.conftest import RunningServer, Serve
from tests.service.pages import SIZES, ShownPage, checked
from tests.service.test_workers import small  # noqa: F401 - a fixture

pytestmark = needs_browser
QUESTION = "In what year did the light on Pell Rock become automatic?"
TAB, ENTER, ESCAPE = ("Tab", 9), ("Enter", 13), ("Escape", 27)


@pytest.fixture
def page(page_browser: Browser, demo_server: RunningServer) -> Iterator[ShownPage]:
    yield from checked(page_browser, demo_server.url)


def answered(page: ShownPage) -> None:
    page.write("Question", QUESTION)
    page.key(*ENTER)
    page.wait("document.querySelector('.answered')")
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.press("Bad")
    page.press("Filter")


def opened(page: ShownPage) -> None:
    page.write("Question", QUESTION)
    page.key(*ENTER)
    page.wait("document.querySelector('.answered button.cite')")
    page.browser.click("button.cite")
    page.wait("document.querySelector('dialog mark')")


def compared(page: ShownPage) -> None:
    page.write("Question", QUESTION)
    page.press("Compare", "button")
    page.wait("document.querySelector('table.evidence')")


def listed(page: ShownPage) -> None:
    page.wait("document.querySelector('.documents li')")
    page.see("en (", ".about")


def nothing(page: ShownPage) -> None:
    page.wait("document.querySelector('main h1, main h2')")


@pytest.mark.parametrize(
    ("place", "act"),
    [("ask/{}", nothing), ("ask/{}", answered), ("ask/{}", opened), ("compare/{}", compared), ("library", nothing),
     ("library/{}", listed), ("ask/nowhere", nothing)],
)  # fmt: skip
def test_everybody_can_use_it(page: ShownPage, demo_name: str, place: str, act: Callable[[ShownPage], None]):
    page.open(place.format(demo_name))
    act(page)
    for width, dark in SIZES:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        page.browser.send("Emulation.setEmulatedMedia", features=scheme)
        page.browser.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
        )
        assert page.violations() == []
        assert not page.too_wide()
        assert page.ask("(([one]) => one.scrollWidth <= one.clientWidth)(document.querySelectorAll('.bar nav'))"), (
            "no view is cut off"
        )
    assert len(colours(page.browser.screenshot(scale=0.25))) > 20, "letters, not a blank sheet"


def test_it_is_used_by_keyboard_alone(page: ShownPage, demo_name: str):
    page.open(f"compare/{demo_name}")
    page.key(*TAB)
    assert page.ask("document.activeElement.innerText") == "Skip to the content"
    page.key(*ENTER)
    page.wait("document.activeElement.id === 'main'")
    page.key(*TAB)
    assert page.ask("document.activeElement.id") == "question"
    page.open(f"ask/{demo_name}")
    assert page.ask("document.activeElement.id") == "question", "one can ask at once"
    page.browser.type(QUESTION)
    page.key(*ENTER)
    page.wait("document.querySelector('.answered')")
    page.ask("document.querySelector('.turn').setAttribute('tabindex', '-1'), document.querySelector('.turn').focus()")
    page.key(*TAB)
    assert "cite" in page.ask("document.activeElement.className")
    page.key(*ENTER)
    page.wait("document.querySelector('dialog mark')")
    for _ in range(4):
        assert page.ask("document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))")
        page.key(*TAB)
    page.key(*ESCAPE)
    page.wait("!document.querySelector('dialog')")
    page.wait("document.activeElement.className === 'cite'")


def test_nothing_moves_for_those_who_do_not_want_it(page: ShownPage, demo_name: str):
    page.open(f"library/{demo_name}")
    page.wait("document.querySelector('.documents .source')")
    for wish, moved in (("no-preference", True), ("reduce", False)):
        page.browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": wish}])
        page.browser.click(".documents .source")
        page.wait("document.querySelector('dialog')")
        assert (page.ask("getComputedStyle(document.querySelector('dialog')).animationName") != "none") is moved
        page.key(*ESCAPE)
        page.wait("!document.querySelector('dialog')")


def test_no_document_moves_away_from_under_the_pointer(page: ShownPage, demo_name: str):
    """What is told of a collection comes late, and makes room for itself: its documents come after it."""
    with page.holding_back(f"/collections/{demo_name}", "#documents-title"):
        page.open(f"library/{demo_name}")
        page.wait("passed.some((url) => url.includes('/documents?'))")
    page.wait("document.querySelector('.documents .source')")
    page.see("sentences", ".about")
    assert page.ask("Object.values(seen).map((places) => places.size)") == [1]


def test_every_place_has_an_address(page: ShownPage, demo_name: str):
    page.open("")
    page.wait(f"location.hash === '#/ask/{demo_name}'")
    for view in ("compare", "library", "ask"):
        page.press(view.capitalize(), "nav a")
        page.wait(f"location.hash === '#/{view}/{demo_name}'")
        page.wait(f"document.title === '{view.capitalize()} · {demo_name} · ragways'")
        assert page.text("nav [aria-current=page]") == view.capitalize()
        page.wait("document.activeElement.id === 'main' || document.activeElement.id === 'question'")
    page.ask("history.back()")
    page.wait(f"location.hash === '#/library/{demo_name}'")
    page.wait("document.querySelector('.about')")


def test_a_key_is_asked_for_and_forgotten_and_a_server_that_is_gone_is_said(
    page_browser: Browser,
    small: Settings,
    serve: Serve,
    tmp_path: Path,
):
    data = tmp_path / "data"
    data.mkdir()
    state = State(data / FILE)
    _, text = Keys(state).add("reader")
    state.close()
    with serve(data, "--index", str(small.index), cache=small.cache) as server:
        for page in checked(page_browser, server.url):
            page.refused = {401}
            page.browser.send("Page.navigate", url=f"{server.url}/#/ask/index")
            page.wait("document.querySelector('dialog')")
            assert page.violations() == []
            page.write("Key", "rw_wrong")
            page.press("Use this key")
            page.see("not known here", "dialog .trouble")
            page.write("Key", text)
            page.press("Use this key")
            page.wait("document.querySelector('#question')")
            assert page.ask("JSON.stringify([{ ...localStorage }, document.cookie])") == '[{},""]'
            assert page.ask("Object.values({ ...sessionStorage })") == [text, "index"]
            assert all(text not in one for one in page.browser.requests), "never in an address"
            page.press("Library")
            page.wait("document.querySelector('.about')")
            assert page.count(".danger, .drop") == 0, "a key that only reads is offered nothing else"
            page.press("Forget key")
            page.wait("document.querySelector('dialog')")
            assert page.ask("sessionStorage.getItem('ragways-key')") is None
            page.write("Key", text)
            page.press("Use this key")
            page.wait("document.querySelector('.about')")
            server.stop()
            page.press("Ask", "nav a")
            page.write("Question", "Who built the harbour light?")
            page.key(*ENTER)
            page.see("The server does not answer", ".trouble")
            page_browser.errors.clear()
