"""The library in a browser: collections made and deleted, files dragged in, priced, indexed, asked, removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.testing import LoopbackServer
from tests.apps.browser import Browser, needs_browser
from tests.fakes import write
from tests.service.conftest import RunningServer, serving
from tests.service.pages import ShownPage, checked
from tests.service.test_jobs import endpoint, hold, until_held

pytestmark = needs_browser
TEXTS = {
    "light.md": "# Harbour\n\nThe harbour light was built by Anna Brack in 1801.\n",
    "storm.txt": "The storm of 1883 destroyed the roof of the customs house in one night.",
    "deep/er/tide.txt": "The tide at Skelwick rises by eleven metres twice a day.",
    "deep/.hidden": "never sent",
    "broken.pdf": "this is no PDF",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("library") / "data", cache=cache_folder) as running:
        yield running


@pytest.fixture
def page(page_browser: Browser, server: RunningServer) -> Iterator[ShownPage]:
    yield from checked(page_browser, server.url)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return write(tmp_path / "desk", TEXTS)


def made(page: ShownPage, name: str) -> None:
    page.open("library")
    page.write("Name", name)
    page.press("Make it")
    page.wait(f"location.hash === '#/library/{name}'")
    page.wait("document.querySelector('.drop')")


def states(page: ShownPage) -> dict[str, str]:
    row = "[one.cells[0].innerText.split('\\n')[0], one.cells[2].innerText]"
    return dict(page.ask(f"[...document.querySelectorAll('.list tbody tr')].map((one) => {row})"))


def test_an_empty_server_says_what_to_do_first(page: ShownPage):
    page.open("ask")
    page.see("Nothing to ask yet")
    page.press("Open the library")
    page.see("Make the first collection")


def test_files_are_dragged_in_priced_indexed_asked_and_removed(page: ShownPage, files: Path):
    made(page, "notes")
    page.drop_files(".drop", files / "light.md", files / "deep", files / "broken.pdf")
    page.wait("document.querySelectorAll('.list tbody tr').length === 3")
    assert set(states(page).values()) == {"waits for indexing"}
    assert "deep/er/tide.txt" in states(page)
    page.see("1 hidden file left out.")
    page.give_files("input[type=file]", files / "storm.txt")
    page.wait("document.querySelectorAll('.list tbody tr').length === 4")
    page.press("Plan and price")
    page.wait("document.querySelector('.plan')")
    assert "3 new documents: costs nothing" in page.text(".plan .reading")
    assert page.ask("[...document.querySelectorAll('.plan tbody th')].map((one) => one.innerText)") == [
        "vectors",
        "words",
    ]
    assert "broken.pdf" in page.text(".plan .failures")
    page.ask(
        "window.stages = new Set(), new MutationObserver(() => document.querySelectorAll('.stages li > :first-child')"
        ".forEach((one) => stages.add(one.innerText))).observe(document.body, { childList: true, subtree: true })"
    )
    page.press("Index now")
    page.see("3 added")
    assert page.ask("stages.size") >= 2, "progress was shown by layer"
    page.wait("[...document.querySelectorAll('.list .tag.good')].length === 3")
    assert states(page)["broken.pdf"] == "could not be read"
    assert page.text(".list .reason")
    page.see("light.md", ".documents")
    page.see("3", ".about")
    page.press("Ask it")
    page.write("Question", "Who built the harbour light?")
    page.key("Enter", 13)
    page.wait("document.querySelector('.answered')")
    assert "Anna Brack" in page.text(".answered .said")
    page.press("Library")
    page.press("Remove storm.txt")
    page.wait("document.querySelectorAll('.list tbody tr').length === 3")
    page.press("Index now")
    page.see("1 document gone without a trace", ".erasure")
    page.write("Find a document", "tide")
    page.wait("document.querySelectorAll('.documents li').length === 1")
    page.browser.click(".documents .source")
    page.see("eleven metres", "dialog .document")


def test_no_button_moves_away_from_under_the_pointer(page: ShownPage, server: RunningServer):
    """The list of files comes late, and makes room for itself: what is below it comes after it."""
    server.client.post("/api/v1/collections", json={"name": "late"})
    server.client.put("/api/v1/collections/late/files/light.md", content=TEXTS["light.md"].encode())
    with page.holding_back("/files", ".indexing .main, #documents-title"):
        page.open("library/late")
        page.wait("passed.some((url) => url.includes('/documents?'))")  # all but the list is there
    page.see("light.md", ".list")
    page.see("What you index appears here.")
    page.wait("document.querySelector('.indexing .main')")
    assert page.ask("Object.values(seen).map((places) => places.size)") == [1, 1]


def test_a_collection_is_deleted_only_by_typing_its_name(page: ShownPage, server: RunningServer):
    made(page, "old-notes")
    page.press("Delete")
    page.wait("document.querySelector('dialog')")
    page.write("Type old-notes to confirm", "old")
    assert page.ask("document.querySelector('dialog .danger').disabled")
    page.key("Escape", 27)
    page.wait("!document.querySelector('dialog')")
    page.press("Delete")
    page.write("Type old-notes to confirm", "old-notes")
    page.press("Delete for good")
    page.wait("location.hash === '#/library'")
    names = [one["name"] for one in server.client.get("/api/v1/collections").json()["collections"]]
    assert "old-notes" not in names
    page.wait("![...document.querySelectorAll('.shelf h2')].some((one) => one.innerText === 'old-notes')")


def test_a_name_that_is_taken_and_a_file_that_is_refused_say_why(page: ShownPage, tmp_path: Path):
    page.refused = {400, 409}
    made(page, "twice")
    page.open("library")
    page.write("Name", "twice")
    page.press("Make it")
    page.see("already", ".trouble")
    page.open("library/twice")
    page.wait("document.querySelector('.drop')")
    odd = write(tmp_path, {"what?.txt": "refused"}) / "what?.txt"
    page.give_files("input[type=file]", odd)
    page.see("refused", ".queue")
    page.see("this cannot be the name of a file", ".queue .trouble")
    page.see("Request", ".queue .trouble")


def test_a_job_is_priced_cancelled_and_goes_on(page_browser: Browser, tmp_path: Path, cache_folder: Path):
    with LoopbackServer() as model:
        endpoint(model, tmp_path)
        with serving(tmp_path / "data", cache=cache_folder) as server:
            server.client.post("/api/v1/collections", json={"name": "slow"})
            server.client.put("/api/v1/collections/slow/files/light.md", content=TEXTS["light.md"].encode())
            for page in checked(page_browser, server.url):
                page.open("library/slow")
                page.press("Plan and price")
                page.see("1 new document: about $0.", ".plan")
                hold(model)
                page.write("Most to spend, in US dollars", "0.5")
                page.press("Index now")
                until_held(model, 1)
                page.press("Cancel")
                page.see("cancelled", ".job")
                jobs = server.client.get("/api/v1/collections/slow/jobs").json()["jobs"]
                assert [job["state"] for job in jobs] == ["cancelled", "done"]
                model.faults = []
                page.press("Go on")
                page.see("1 added")
                page.see("It cost $0.0")


def test_a_job_is_watched_to_its_end_over_a_restart_of_the_server(
    page_browser: Browser, tmp_path: Path, cache_folder: Path
):
    with LoopbackServer() as model:
        endpoint(model, tmp_path)
        with serving(tmp_path / "data", cache=cache_folder) as server:
            server.client.post("/api/v1/collections", json={"name": "slow"})
            server.client.put("/api/v1/collections/slow/files/light.md", content=TEXTS["light.md"].encode())
            for page in checked(page_browser, server.url):
                page.open("library/slow")
                hold(model)
                page.press("Index now")
                until_held(model, 1)
                page.see("running", ".job")
                server.stop()
                page.see("The server does not answer", ".indexing .trouble")
                model.faults = []
                with serving(tmp_path / "data", "--port", server.url.rsplit(":", 1)[1], cache=cache_folder):
                    page.see("1 added")
                    page.see("done", ".job")
                    assert page.count(".trouble") == 0
                page_browser.errors[:] = [one for one in page_browser.errors if "net::ERR_" not in one]


def test_a_phone_gives_the_name_of_a_file_a_line_of_its_own(page: ShownPage, server: RunningServer):
    server.client.post("/api/v1/collections", json={"name": "phone"})
    for name in ("harbour-rules-of-1883.txt", "letters/from-the-keeper-of-the-light-to-the-board-of-trade.txt"):
        server.client.put(f"/api/v1/collections/phone/files/{name}", content=b"The tide rises.")
    page.open("library/phone", width=360)
    page.wait("document.querySelectorAll('.list tbody tr').length === 2")
    boxes = page.ask(
        "[...document.querySelectorAll('.list tbody tr')].map((row) =>"
        " [row, row.cells[0], ...row.querySelectorAll('td, .tag, button')].map((one) => {"
        " const { width, height, top, bottom, right } = one.getBoundingClientRect();"
        " return { width, height, top, bottom, right, line: parseFloat(getComputedStyle(one).lineHeight) }; }))"
    )
    for row, name, *others in boxes:
        assert len(others) == 5
        assert name["width"] == row["width"]
        assert all(name["bottom"] <= other["top"] and other["right"] <= row["right"] for other in others)
    assert [round(name["height"] / name["line"]) for _, name, *_ in boxes] == [1, 2]
    assert not page.too_wide()
    assert page.violations() == []


GUIDE = f"""# The light

It is lit so:

```bash
light --wick new --oil {"a" * 300}
```

- Wind the clock
  - with the small key

| Part | Costs |
|---|---|
| wick | 12 crowns a year |
| | {"b" * 90} {"c" * 90} |
"""


def test_a_document_has_its_code_its_items_and_its_tables_also_where_they_are_cited(
    page: ShownPage, server: RunningServer
):
    made(page, "guide")
    server.client.put("/api/v1/collections/guide/files/guide.md", content=GUIDE.encode())
    page.open("library/guide")
    page.press("Index now")
    page.see("1 added")
    wider = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)"
    for width in (1400, 390):
        page.open("library/guide", width=width)
        page.wait("document.querySelector('.documents .source')")
        page.browser.click(".documents .source")
        page.see("light --wick new", "dialog pre code")
        assert "\n- Wind the clock\n  - with the small key\n" in page.text("dialog .document")
        rows = page.ask("[...document.querySelectorAll('dialog tr')].map((row) => row.innerText)")
        assert rows[:2] == ["Part\tCosts", "wick\t12 crowns a year"]
        assert page.count("dialog th") == 2
        assert page.ask(f"{wider}(document.querySelector('dialog pre'))"), "code scrolls by itself"
        around = "[...document.querySelectorAll('dialog, dialog .inside, .document')]"
        assert not page.ask(f"{around}.some({wider})")
        assert not page.too_wide()
        assert page.violations() == []
    for question, place in (
        ("What does a wick cost a year?", "td"),
        ("What is lit with light --wick new?", "pre code"),
    ):
        page.open("ask/guide")
        page.write("Question", question)
        page.key("Enter", 13)
        page.wait("document.querySelector('.answered')")
        page.browser.click(".sources .source")
        page.wait(f"document.querySelector('dialog {place} mark')")
        assert page.count("dialog pre, dialog table") == 2


def test_what_stands_in_names_and_texts_stays_text(page: ShownPage, server: RunningServer):
    evil = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>'
    made(page, "evil")
    said = "The lamp of \u202eMoor was lit by Joan Fell in 1911."
    # Letters that take two places in JavaScript and one in Python stand before what is marked.
    text = f"---\ntitle: {json.dumps(evil)}\n---\n# {evil}\n\nSmiling \U0001f600\U0001f600 faces.\n\n{said}\n"
    server.client.put("/api/v1/collections/evil/files/evil.md", content=text.encode())
    page.open("library/evil")
    page.press("Index now")
    page.see("1 added")
    page.see("<img", ".documents")
    page.browser.click(".documents .source")
    page.see("Joan Fell", "dialog .document")
    assert "\u202e" not in page.text("dialog .document")
    assert "\ufffd" in page.text("dialog .document")
    page.key("Escape", 27)
    page.press("Ask it")
    page.write("Question", "Who lit the lamp of Moor in 1911?")
    page.key("Enter", 13)
    page.wait("document.querySelector('.answered')")
    page.browser.click("button.cite")
    page.wait("document.querySelector('dialog mark')")
    assert page.text("dialog mark") == said.replace("\u202e", "\ufffd")
    assert page.ask("window.hacked") is None
    assert page.count("main img, main script") == 0
