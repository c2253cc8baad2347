"""The page as somebody works with it: in a real browser, on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.apps.browser import Browser

AXE = Path(__file__).parent / "axe" / "axe.min.js"
SIZES = [(1300, False), (360, True)]
# What a screen reader calls an element: its label, else its text.
_NAMED = """(kind, name) => [...document.querySelectorAll(kind)].filter((one) => one.checkVisibility()).find((one) =>
  [one.getAttribute("aria-label") ?? "", one.textContent, ...[...(one.labels ?? [])].map((each) => each.textContent)]
    .some((text) => text.trim() === name))"""


class ShownPage:
    """One page of the server at `url`. `refused` are the statuses that a test expects the server to answer with."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.url = url
        self.refused: set[int] = set()

    def open(self, place: str, *, width: int = 1300, dark: bool = False) -> None:
        self.browser.open(f"{self.url}/#/{place}", width=width, height=800, dark=dark)

    def press(self, name: str, kind: str = "button, a") -> None:
        """Click what is called so."""
        self.wait(f"({_NAMED})({json.dumps(kind)}, {json.dumps(name)})")
        # The earlier mark is removed here, and not after its click, which may have opened another page.
        self.ask(
            "document.querySelectorAll('[data-pressed]').forEach((one) => delete one.dataset.pressed);"
            f"({_NAMED})({json.dumps(kind)}, {json.dumps(name)}).dataset.pressed = 'now'"
        )
        self.browser.click("[data-pressed=now]")

    def write(self, label: str, text: str) -> None:
        """Type into the field with this label, in place of what stands there."""
        field = f"({_NAMED})('input, textarea', {json.dumps(label)})"
        self.wait(field)
        self.ask(f"(() => {{ const one = {field}; one.focus(); one.select(); }})()")
        self.browser.type(text)

    def choose(self, label: str, value: str) -> None:
        field = f"({_NAMED})('select', {json.dumps(label)})"
        self.wait(field)
        self.ask(
            f"(() => {{ const one = {field}; one.value = {json.dumps(value)};"
            " one.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )

    def key(self, name: str, code: int) -> None:
        self.browser.press(name, code)

    def ask(self, script: str) -> Any:
        return self.browser.ask(script)

    def wait(self, script: str) -> None:
        self.browser.wait(script)

    def see(self, text: str, selector: str = "body") -> None:
        """Wait until this text is seen there."""
        self.wait(f"document.querySelector({json.dumps(selector)})?.innerText.includes({json.dumps(text)})")

    def text(self, selector: str) -> str:
        return str(self.ask(f"document.querySelector({json.dumps(selector)}).innerText"))

    def count(self, selector: str) -> int:
        return int(self.ask(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def give_files(self, selector: str, *files: Path) -> None:
        """Choose files in the dialog that an input opens."""
        root = self.browser.send("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.browser.send("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def drop_files(self, selector: str, *files: Path) -> None:
        """Drag files from the desktop onto an element."""
        x, y = self.ask(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            " one.scrollIntoView({ block: 'center' });"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + 10]; })()"
        )
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.browser.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def violations(self) -> list[Any]:
        """What axe-core finds wrong with what is seen now."""
        # What moves in is looked at when it stands.
        self.ask(
            "Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations === 1)"
            ".map((one) => one.finished))"
        )
        if not self.ask("typeof axe === 'object'"):
            self.ask(AXE.read_text(encoding="utf-8") + "; 1")
        found: list[Any] = self.ask(
            "axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations.map((one) =>"
            " [one.id, one.help, one.nodes.slice(0, 3).map((node) => [node.html.slice(0, 200), node.failureSummary])]))"
        )
        return found

    @contextmanager
    def holding_back(self, part: str, watched: str) -> Iterator[None]:
        """Replies from addresses that end so, before a question mark, come only after this. In the page, `passed` are
        the addresses of others that were answered, and `seen` the heights at which what is watched ever stood, by name.
        """
        source = """const get = window.fetch, held = new Promise((go) => { window.go = go; });
          window.passed = [];
          window.seen = {};
          window.fetch = async (...given) => {
            if (given[0].split("?")[0].endsWith(PART)) await held;
            const got = await get.apply(window, given);
            passed.push(given[0]);
            return got;
          };
          const note = (one) => (seen[one.id || one.className] ??= new Set())
            .add(Math.round(one.getBoundingClientRect().top + scrollY));
          setInterval(() => document.querySelectorAll(WATCHED).forEach(note), 2);
        """
        source = source.replace("PART", json.dumps(part)).replace("WATCHED", json.dumps(watched))
        script = self.browser.send("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
        try:
            yield
        finally:
            self.browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
            self.ask("go()")

    def too_wide(self) -> bool:
        return bool(self.ask("document.documentElement.scrollWidth > innerWidth"))


@pytest.fixture(scope="session")
def page_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of the page."""
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def checked(browser: Browser, url: str) -> Iterator[ShownPage]:
    """The page, which may not complain, nor ask any other server; forgets what it kept of the last test."""
    browser.errors.clear()
    browser.requests.clear()
    shown = ShownPage(browser, url)
    yield shown
    errors = [one for one in browser.errors if not any(f"status of {code}" in one for code in shown.refused)]
    requests = [one for one in browser.requests if not one.startswith((url, "about:", "data:"))]
    browser.send("Page.navigate", url="about:blank")
    browser.send("Storage.clearDataForOrigin", origin=url, storageTypes="all")
    assert errors == []
    assert requests == []
