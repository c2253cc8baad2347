"""Answers in Markdown on the page, in a real browser: each part as its element, and nothing in them that acts."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import ragways
from ragways.settings import read_settings
from ragways.testing import LoopbackServer
from tests.apps.browser import Browser, needs_browser
from tests.fakes import write
from tests.service.conftest import serving
from tests.service.pages import SIZES, ShownPage, checked

pytestmark = needs_browser
TEXTS = {
    "light.txt": "The harbour light was built by Anna Brack. Its plans are at https://example.org/light?part=1 now.",
    "storm.txt": "The storm of 1883 took the light from the harbour, and the roof of the customs house.",
}
CODE = (
    'requests.get("https://api.example.com/v1?a=1&b=2", timeout=5)\n'
    "found: List<Item> = []  # <b>no tag</b> &amp; ![no](https://picture.example/p.png)\n"
    "\treturn items[0] [2]\n"
)
MARKDOWN = f"""## The harbour light

**Anna Brack** built the harbour light [1]. Call `items[0] [2]` for more [2].

```python
{CODE}```

- Built by *Anna Brack* [1]
- Taken in ~~1882~~ 1883 [2]

| What | Taken by |
|:-----|---------:|
| light | the storm [2] |

Nothing bears this out.

The plans are [with the archive](https://example.org/light?part=1) [1].
"""
NAMES = {
    "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "table", "thead",
    "tbody", "tr", "th", "td", "hr", "br", "a", "div", "span", "small", "button",
}  # fmt: skip
ATTRIBUTES = {"class", "title", "href", "target", "rel", "type", "aria-label", "tabindex", "role", "scope", "start"}
OUTLINE = """(() => {
  const one = document.querySelector(".said").cloneNode(true);
  one.querySelectorAll("button.cite, .unseen").forEach((each) => each.remove());
  return [...one.querySelectorAll("*")].map((each) => [each.tagName, each.textContent.replace(/\\s/g, "")]);
})()"""


class Canary(BaseHTTPRequestHandler):
    """A stranger's server, which nobody should ask for anything."""

    def do_GET(self) -> None:
        self.server.hits.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@dataclass
class Scripted:
    """A page, and a model that answers each question as it is scripted to. `hits` are requests to a stranger."""

    page: ShownPage
    answers: list[str]
    hold: dict[str, Any]
    stranger: str = ""
    hits: list[str] = field(default_factory=list)

    def ask(self, answer: str, *, wait: bool = True) -> None:
        """A question of its own for each answer, as replies are cached."""
        self.answers.append(answer)
        page = self.page
        page.open("ask/index")
        page.choose("Way of answering", "words")
        page.write("Question", f"Who built the harbour light? Case {len(self.answers) - 1}")
        page.key("Enter", 13)
        if wait:
            page.wait("document.querySelector('.answered .said')")

    def answered(self) -> None:
        self.page.wait("document.querySelector('.answered .said')")


@pytest.fixture(scope="module")
def script(page_browser: Browser, tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Scripted]:
    folder = tmp_path_factory.mktemp("markdown")
    settings = read_settings(environment={}, cache=cache_folder)
    ragways.build([write(folder / "files", TEXTS)], folder / "index", layers=("words",), settings=settings)
    answers: list[str] = []
    hold: dict[str, Any] = {"piece": "", "go": threading.Event()}

    def reply(body: Any) -> str:
        return answers[int(re.findall(r"Case (\d+)", json.dumps(body))[-1])]

    async def before_event(event: bytes) -> None:
        if hold["piece"] and hold["piece"].encode() in event:
            await asyncio.to_thread(hold["go"].wait)

    stranger = HTTPServer(("127.0.0.1", 0), Canary)
    stranger.hits = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=stranger.serve_forever)
    thread.start()
    try:
        with LoopbackServer(reply, before_event=before_event) as model:
            environment = {"RAGWAYS_MODEL__NAME": "loopback", "RAGWAYS_MODEL__BASE_URL": model.base_url}
            data, index = folder / "data", str(folder / "index")
            with serving(data, "--index", index, cache=folder / "cache", environment=environment) as server:
                made = Scripted(ShownPage(page_browser, server.url), answers, hold)
                made.stranger = f"http://127.0.0.1:{stranger.server_port}"
                made.hits = stranger.hits  # type: ignore[attr-defined]
                yield made
            hold["go"].set()
    finally:
        stranger.shutdown()
        thread.join()
        stranger.server_close()


@pytest.fixture
def scripted(page_browser: Browser, script: Scripted) -> Iterator[Scripted]:
    for page in checked(page_browser, script.page.url):
        script.page = page
        yield script


def texts(page: ShownPage, selector: str) -> list[str]:
    found: list[str] = page.ask(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent.trim())"
    )
    return found


def test_each_part_of_an_answer_is_its_element(scripted: Scripted):
    scripted.ask(MARKDOWN)
    page = scripted.page
    assert texts(page, ".said h3") == ["The harbour light"]
    assert texts(page, ".said strong") == ["Anna Brack"]
    assert texts(page, ".said p code") == ["items[0] [2]"]
    assert page.ask("document.querySelector('.said pre code').textContent") == CODE.removesuffix("\n")
    assert page.text(".said .code .row").splitlines() == ["python", "Copy"]
    assert page.count(".said pre *") == 1, "the code and nothing in it"
    assert texts(page, ".said th") == ["What", "Taken by"]
    assert page.ask("getComputedStyle(document.querySelector('.said td:last-child')).textAlign") == "right"
    assert texts(page, ".said li em, .said li s") == ["Anna Brack", "1882"]
    assert texts(page, ".said .uncited") == ["Nothing bears this out. This cites no passage."]
    assert "A dotted line" in page.text(".legend")
    for place, title in (("li:first-child", "light"), ("td", "storm")):
        assert page.ask(f"document.querySelector('.said {place} button.cite').ariaLabel").endswith(title)
        page.browser.click(f".said {place} button.cite")
        page.wait("document.querySelector('dialog mark')")
        page.key("Escape", 27)
        page.wait("!document.querySelector('dialog')")
    link = "document.querySelector('.said a')"
    assert page.ask(f"[{link}.href, {link}.target, {link}.rel, {link}.nextSibling.textContent.trim()]") == [
        "https://example.org/light?part=1", "_blank", "noreferrer noopener", "(example.org/light?…)",
    ]  # fmt: skip
    assert page.count(".said a") == 1
    page.see("Answer: The harbour light Anna Brack built the harbour light", "#voice")
    assert "requests.get" not in page.text("#voice")


def test_everybody_can_read_it_at_every_width(scripted: Scripted):
    wide = "a" * 300
    scripted.ask(
        f"{MARKDOWN}\n#### Deep\n\n{wide} `{wide}` [1]\n\n| | {wide} |\n|-|-|\n| x [1] | https://{wide}.example |\n"
    )
    page = scripted.page
    for width, dark in [*SIZES, (390, False)]:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        page.browser.send("Emulation.setEmulatedMedia", features=scheme)
        page.browser.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
        )
        assert page.violations() == []
        assert not page.too_wide()
    wider = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)"
    assert page.ask(f"{wider}([...document.querySelectorAll('.said .frame')].at(-1))"), "the table itself scrolls"
    assert page.ask(f"{wider}(document.querySelector('.said pre'))"), "and so does code"


def test_code_is_copied_as_it_is_seen(scripted: Scripted):
    page = scripted.page
    page.browser.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    scripted.ask(MARKDOWN)
    page.press("Copy the code")
    page.wait("document.querySelector('.code button').innerText === 'Copied'")
    assert page.ask("navigator.clipboard.readText()") == CODE.removesuffix("\n")
    page.browser.send("Browser.grantPermissions", permissions=["geolocation"])  # and no other
    page.wait("document.querySelector('.code button').innerText === 'Copy'")
    page.press("Copy the code")
    page.see("The code is selected.", "#voice")
    page.browser.send("Browser.resetPermissions")
    assert page.ask("String(getSelection())") == CODE.removesuffix("\n")


def test_what_is_streamed_is_shown_at_the_end_and_is_there_again_later(scripted: Scripted):
    page, hold = scripted.page, scripted.hold
    hold["go"].clear()
    hold["piece"] = "the storm"
    scripted.ask(MARKDOWN, wait=False)
    page.wait("document.querySelectorAll('.said li').length === 2")
    assert page.count(".answered") == 0, "while it is written"
    assert page.ask("document.querySelector('.said pre code').textContent") == CODE.removesuffix("\n")
    assert page.count(".said .uncited") == 0
    assert page.count(".said button.cite") == 0
    hold["piece"] = ""
    hold["go"].set()
    scripted.answered()
    outline = page.ask(OUTLINE)
    assert page.count(".said button.cite") == 6
    page.browser.send("Page.reload")
    page.see("what it rested on is not kept")
    assert page.ask(OUTLINE) == outline
    assert page.count(".cite, .uncited, .legend") == 0
    assert not re.search(
        r"\[\d\]|\s[.]", page.ask("document.querySelector('.said p').textContent.replace('[0] [2]', '')")
    )


def test_ways_side_by_side_are_shown_so_too_and_a_verdict_has_the_text(scripted: Scripted):
    scripted.ask(MARKDOWN)
    page = scripted.page
    page.press("Good")
    page.see("Kept as good", ".answered footer")
    page.open("compare/index")
    page.write("Question", f"Who built the harbour light? Case {len(scripted.answers) - 1}")
    page.press("Compare", "button")
    page.wait("document.querySelector('table.evidence')")
    assert texts(page, ".way-card h3") == ["words"]
    assert texts(page, ".way-card h4") == ["The harbour light"], "below the name of the way"
    assert page.ask("document.querySelector('.way-card pre code').textContent") == CODE.removesuffix("\n")
    assert page.count(".way-card td button.cite") == 1
    assert page.violations() == []
    kept = page.ask("fetch('/api/v1/collections/index/feedback').then((one) => one.text())").splitlines()[-1]
    assert "List<Item>" in json.loads(kept)["answers"][0]


RUN = "window.hacked = 1; alert(1)"
DATA = "data:text/html;base64," + base64.b64encode(b"<script>alert(1)</script>").decode()
ATTACKS = {
    "script": f"<script>{RUN}; fetch('THERE/script')</script>",
    "script block": f"Text [1].\n\n<script src='THERE/src'>\n{RUN}\n</script>\n",
    "handler": f'<img src=x onerror="{RUN}"> <svg onload="{RUN}"><a xlink:href="javascript:{RUN}">x</a></svg>',
    "frame": '<iframe src="THERE/frame" srcdoc="<script>alert(1)</script>"></iframe><object data="THERE/o"></object>',
    "page": '<meta http-equiv="refresh" content="0;url=THERE/m"><base href="THERE"><link rel=stylesheet href="THERE">',
    "form": '<form action="THERE/form"><input autofocus onfocus="alert(1)"><button>Send</button></form>',
    "style": '<style>@import url(THERE/i); * { background: url(THERE/c) }</style><p style="color:url(THERE)">x</p>',
    "picture": "![pixel](THERE/pixel.png?q=secret) ![pixel]( THERE/pixel.png 'title')",
    "picture in HTML": '<img src="THERE/p.png"><picture><source srcset="THERE/s.png"></picture><video poster="THERE">',
    "picture by reference": "![pixel][p] and ![p]\n\n[p]: THERE/reference.png",
    "picture in a link": "[![pixel](THERE/inner.png)](THERE/outer)",
    "javascript": "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](<java\tscript:x>) [d](java&#10;script:)",
    "javascript by reference": "[press][j] <javascript:alert(1)> [v](vbscript:x)\n\n[j]: javascript:alert(1)",
    "data": f"[press]({DATA}) ![press]({DATA}) <{DATA}> [b](blob:null/x) [f](file:///etc/passwd)",
    "relative": "[a](//HOST/x) [b](/api/v1/keys) [c](\\\\HOST\\x) [d](?q=1) [e](#/library/evil)",
    "comment": "<!-- <img src=x onerror=alert(1)> --> --> <![CDATA[ <b>x</b> ]]> <?php alert(1) ?>",
    "signs": "one \u202eenod\u202c two \u2066three\u2069 \x1b[31mred\x1b[0m \x00 \u200f `co\u202ede` [1]",
    "code": '```"><img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```\n',
    "table": "| <script>alert(1)</script> | ![p](THERE) |\n|-|-|\n| [x](javascript:alert(1)) | <img src=THERE> |\n",
    "heading": "# <img src=x onerror=alert(1)> ![p](THERE)\n\n> [x](javascript:alert(1))\n\n1. <svg/onload=alert(1)>",
    "entities": "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62; \\<b>x\\</b>",
    "nested": ">" * 5_000 + " deep",
    "nested lists": "".join(f"{'  ' * depth}- x\n" for depth in range(60)),
    "brackets": "[" * 100_000,
    "emphasis": "**a _b " * 1_000,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_in_an_answer_acts(scripted: Scripted, name: str):
    page = scripted.page
    host = scripted.stranger.removeprefix("http://")
    scripted.ask(ATTACKS[name].replace("THERE", scripted.stranger).replace("HOST", host))
    for _ in range(2):  # as it is answered, and as a turn that is stored
        assert set(page.ask("[...document.querySelectorAll('.said *')].map((one) => one.localName)")) <= NAMES
        assert page.count("main :is(img, script, iframe, object, embed, svg, video, link, meta, base, style)") == 0
        names = "[...document.querySelectorAll('.said *')].flatMap((one) => one.getAttributeNames())"
        assert set(page.ask(names)) <= ATTRIBUTES
        assert page.count(".said a") == 0
        assert not re.search(
            "[\u202a-\u202e\u2066-\u2069\u200f\0-\x08\x0b-\x1f]", page.ask("document.body.textContent")
        )
        assert page.ask("window.hacked") is None
        page.browser.send("Page.reload")
        page.see("what it rested on is not kept")
    assert scripted.hits == []
    assert not page.too_wide()


def test_the_page_makes_nothing_else_of_any_tree(scripted: Scripted):
    """What would come if nothing on the server looked at addresses and names."""
    page, there = scripted.page, scripted.stranger
    page.open("ask/index")
    acts = {"onclick": RUN, "style": f"background:url({there})", "dangerouslySetInnerHTML": {"__html": "<img src=x>"}}
    nodes: list[Any] = [
        ["script", {}, RUN], ["iframe", {"src": there}, "framed"], ["img", {"src": there}], ["h1", {}, "large"],
        ["p", acts, "plain", ["ol", {"start": 'x"', **acts}, ["li", acts, "item"]], ["br", acts, "in a break"]],
        ["p", {}, *(["a", {"href": to, **acts}, "press"] for to in (
            "javascript:alert(1)", " java\nscript:alert(1)", DATA, "//host/x", "/api/v1/keys", "ftp://host/x", "",
        ))],
        ["p", {}, ["a", {"href": "https://known.example@host/x"}, "https://known.example@host/x"]],
        ["pre", {"language": '"><img src=x>', **acts}, "code", ["img", {"src": there}], ["cite", {"n": 1}]],
    ]  # fmt: skip
    page.ask(
        "(async () => { const base = document.querySelector('script[src]').src.replace('start.js', 'parts/');"
        " const { html, render } = await import(base + 'html.js'), { Markdown } = await import(base + 'markdown.js');"
        " const box = document.createElement('div'); box.id = 'made'; document.querySelector('main').append(box);"
        f" render(html`<${{Markdown}} blocks=${{{json.dumps(nodes)}}} cite=${{() => 'cited'}} />`, box); }})()"
    )
    page.wait("document.querySelector('#made pre')")
    elements = page.ask("[...document.querySelectorAll('#made *')].map((one) => one.localName)")
    assert set(elements) <= NAMES - {"img", "script"}
    names = "[...document.querySelectorAll('#made *')].flatMap((one) => one.getAttributeNames())"
    assert set(page.ask(names)) <= ATTRIBUTES
    assert page.ask("[...document.querySelectorAll('#made a')].map((one) => one.href)") == [
        "https://known.example@host/x"
    ]
    shown = page.ask("document.querySelector('#made').textContent")
    assert "press (javascript:alert(1))press ( java\nscript:alert(1))" in shown
    assert "press (//host/x)press (/api/v1/keys)press (ftp://host/x)press" in shown
    assert "https://known.example@host/x (host/x)" in shown, "where it leads, not whom it names first"
    page.browser.click("#made li")
    assert page.ask("window.hacked") is None
    assert scripted.hits == []


def test_a_link_leads_only_where_the_evidence_does(scripted: Scripted):
    page, known = scripted.page, "https://example.org/light?part=1"
    scripted.ask(
        f"See [the plans]({known}), {known} and <{known}> [1]. Not [this]({scripted.stranger}/x?q=secret), "
        f"{scripted.stranger}/bare, <{scripted.stranger}/auto> or [that]({known}&q=secret) [1]."
    )
    links = "[...document.querySelectorAll('.said a')]"
    assert page.ask(f"{links}.map((one) => one.href)") == [known] * 3
    assert page.ask(f"{links}.every((one) => one.rel === 'noreferrer noopener' && one.target === '_blank')")
    assert page.count(".said small") == 1, "where the text is the address, it is not shown twice"
    page.see(f"{scripted.stranger}/bare", ".said")
    assert scripted.hits == []


def test_why_a_model_abstained_is_shown(scripted: Scripted):
    scripted.ask("Insufficient information. The [light] is named [1–2], **not** its height.")
    assert texts(scripted.page, ".abstained strong") == ["not"]
    assert texts(scripted.page, ".abstained button.cite") == ["1", "2"]
