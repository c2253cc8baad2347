"""A neighbourhood of many entities in a real browser: the strongest first, by kind, and as many as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.pictures.neighbourhood import Connection, Neighbour, Neighbourhood
from tests.apps.browser import Browser, needs_browser

pytestmark = needs_browser

KINDS = ("person", "place", "work")
MANY = 150
DRAWN = "[...document.querySelectorAll('.dot:not(.out)')].map((dot) => dot.querySelector('title').textContent)"
SLIDE = "(() => {{ const s = document.getElementById('most'); s.value = {}; s.dispatchEvent(new Event('input')); }})()"


def neighbour(number: int) -> Neighbour:
    kind = KINDS[number % 3]
    weight = float(MANY - number)
    hop, through = (1, "entity:0") if number else (0, "")
    return Neighbour(f"entity:{number}", f"Name {number}", kind, kind, "", (), 1, 1, hop, weight, through)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    nodes = tuple(map(neighbour, range(MANY + 1)))
    edges = tuple(
        Connection(f"relation:{n}", "entity:0", f"entity:{n}", "knows", "", nodes[n].weight, "", None)
        for n in range(1, MANY + 1)
    )
    (tmp_path / "page.html").write_text(Neighbourhood("entity:0", 1, MANY, "", nodes, edges).page(), encoding="utf-8")
    browser.open((tmp_path / "page.html").as_uri())
    return browser


def names(numbers: range | list[int]) -> list[str]:
    return [f"Name {number}" for number in numbers]


def test_the_strongest_are_drawn_first_and_a_slider_says_how_many(page: Browser):
    assert page.ask(DRAWN) == names(range(61))
    assert page.ask("document.getElementById('shown').textContent").startswith("60 of 150 neighbours")
    assert page.ask("document.querySelectorAll('.line:not(.out)').length") == 60
    page.ask(SLIDE.format(10))
    assert page.ask(DRAWN) == names(range(11))
    page.ask(SLIDE.format(150))
    assert page.ask(DRAWN) == names(range(151))


def test_a_kind_can_be_left_out_and_the_next_strongest_come_in(page: Browser):
    page.click("#legend .k-place")
    assert page.ask("document.querySelector('#legend .k-place').getAttribute('aria-pressed')") == "false"
    others = [number for number in range(1, MANY + 1) if number % 3 != 1]
    assert page.ask(DRAWN) == names([0, *others[:60]])
    page.click("#legend .k-place")
    assert page.ask(DRAWN) == names(range(61))


def test_what_is_looked_up_comes_onto_the_picture(page: Browser):
    page.click("#search")
    page.type("Name 149")
    page.press("Enter", 13)
    assert "Name 149" in page.ask(DRAWN)
    assert page.ask("document.querySelector('#panel h2').textContent") == "Name 149"


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_sticks_out_sideways(page: Browser, width: int):
    page.open(page.ask("location.href"), width=width, height=800)
    assert page.ask("document.documentElement.scrollWidth") <= width
