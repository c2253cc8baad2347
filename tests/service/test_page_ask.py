"""Ask and Compare in a browser: what a person asks, sees, opens, stops and says of it."""

# ruff: noqa: F811 - fixtures that were imported are arguments
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from ragways.settings import Settings
from ragways.testing import LoopbackServer
from tests.apps.browser import Browser, needs_browser
from tests.service.conftest import RunningServer, Serve
from tests.service.pages import ShownPage, checked
from tests.service.test_workers import held_back, small, until  # noqa: F401 - fixtures

pytestmark = needs_browser
QUESTION = "Who was in command of the paddle steamer Lanner Queen on her final voyage?"


@pytest.fixture
def page(page_browser: Browser, demo_server: RunningServer) -> Iterator[ShownPage]:
    yield from checked(page_browser, demo_server.url)


def asked(page: ShownPage, name: str, question: str = QUESTION) -> None:
    page.open(f"ask/{name}")
    page.write("Question", question)
    page.key("Enter", 13)
    page.wait("document.querySelector('.answered')")


def test_an_answer_opens_its_document_at_the_sentence(page: ShownPage, demo_name: str, demo_server: RunningServer):
    asked(page, demo_name)
    assert "Orlan Tesk" in page.text(".answered .said")
    page.press("Source 2: PS Lanner Queen") if page.count(".cite") > 1 else page.browser.click("button.cite")
    page.wait("document.querySelector('dialog mark')")
    marked = page.text("dialog mark")
    data = demo_server.client.post(f"/api/v1/collections/{demo_name}/ask", json={"question": QUESTION}).json()
    assert marked == data["citations"][0]["quote"]
    box = "document.querySelector('dialog mark').getBoundingClientRect()"
    page.wait(f"{box}.top >= 0 && {box}.bottom <= innerHeight")
    named = "document.getElementById(document.querySelector('dialog').getAttribute('aria-labelledby')).innerText"
    assert page.ask(named) == "PS Lanner Queen"
    page.key("Escape", 27)
    page.wait("!document.querySelector('dialog')")
    page.wait("document.activeElement.className === 'cite'")  # the focus is back where it was


def test_what_was_done_why_and_at_what_cost_is_told(page: ShownPage, demo_name: str):
    page.open(f"ask/{demo_name}")
    page.ask(
        "window.seen = new Set(), new MutationObserver(() => document.querySelectorAll('.turn > .steps .name')"
        ".forEach((one) => seen.add(one.innerText))).observe(document.body, { childList: true, subtree: true })"
    )
    page.write("Question", QUESTION)
    page.press("Ask", "button")
    page.wait("document.querySelector('.answered')")
    assert {"auto", "answer"} <= set(page.ask("[...seen]")), "steps were shown while they happened"
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert "Took fused" in page.text(".route")
    assert page.count(".route tbody tr") >= 5
    assert page.count(".route tr.taken") == 1
    assert "What weighed most" in page.text(".route")
    assert page.count(".answered .steps li") >= 5
    assert "no tokens · $0 · " in page.text(".cost")
    page.see("Answer: Orlan Tesk", "#voice")


def test_an_abstention_is_shown_as_one(page: ShownPage, demo_name: str):
    asked(page, demo_name, "Who built the lighthouse?")
    assert "had a chance of" in page.text(".abstained"), "of one that was found, and withheld"
    assert "What else was read" in page.text(".answered .others")
    asked(page, demo_name, "What is the name of the captain's cat?")
    assert "The documents do not tell" in page.text(".abstained")
    assert page.count("button.cite") == 0
    page.see("Nearest passages", ".answered")
    nearest = "[aria-label='Nearest passages'] .passage"
    quotes = page.ask(f'[...document.querySelectorAll("{nearest}")].map((one) => one.innerText)')
    assert len(quotes) == 3
    assert any("The captain was last seen" in quote for quote in quotes), "with the best sentence"


def test_a_follow_up_is_understood_and_shown_and_conversations_are_kept(page: ShownPage, demo_name: str):
    asked(page, demo_name, "Who designed the Pell Rock Lighthouse?")
    page.write("Question", "When was it automated?")
    page.key("Enter", 13)
    page.wait("document.querySelectorAll('.answered').length === 2")
    assert "Understood as:" in page.text(".turns li:last-child .rewritten")
    assert "Pell Rock" in page.text(".turns li:last-child .rewritten")
    assert page.count(".turns li:first-child .rewritten") == 0
    there = page.ask("location.hash")
    page.see("Who designed the Pell Rock", ".conversations")
    page.press("New conversation")
    page.wait("document.querySelectorAll('.turn').length === 0")
    page.open(there.removeprefix("#/"))
    page.wait("document.querySelectorAll('.turn').length === 2")
    assert "1968" in page.text(".turns li:last-child")
    page.press("Delete conversation: Who designed the Pell Rock Lighthouse?")
    page.wait(f"location.hash === '#/ask/{demo_name}'")
    page.wait("!document.querySelector('.conversations').innerText.includes('Who designed the Pell Rock')")
    assert page.count(".turn") == 0


def test_a_filter_is_put_together_and_holds(page: ShownPage, demo_name: str):
    page.open(f"ask/{demo_name}")
    page.press("Filter")
    page.wait("[...document.querySelectorAll('.filter option')].some((one) => one.value === 'category')")
    page.choose("Documents whose", "title")
    page.write("Value", "Pell Rock")
    page.press("Add")
    assert page.ask("[...document.querySelectorAll('.filter input')].at(-1).value") == 'title ~ "Pell Rock"'
    page.write("Question", "Who designed the lighthouse?")
    page.key("Enter", 13)
    page.wait("document.querySelector('.answered')")
    assert 'title ~ "Pell Rock"' in page.text(".turn")
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    titles = page.ask("[...document.querySelectorAll('.source .title')].map((one) => one.innerText)")
    assert titles
    assert all("Pell Rock" in title for title in titles)


def test_a_wrong_filter_is_refused_with_its_cure_and_id(page: ShownPage, demo_name: str):
    page.refused = {400}
    page.open(f"ask/{demo_name}")
    page.press("Filter")
    page.write("Filter", "colour = red")
    page.write("Question", QUESTION)
    page.key("Enter", 13)
    page.wait("document.querySelector('.trouble')")
    assert "colour" in page.text(".trouble")
    assert "Request" in page.text(".trouble")
    page.press("Ask", "button") if page.ask("document.querySelector('#question').value") else None
    assert page.count(".answered") == 0


def test_a_verdict_is_kept_with_what_would_have_been_right(page: ShownPage, demo_name: str, demo_server: RunningServer):
    asked(page, demo_name)
    page.press("Bad")
    page.write("What would have been right?", "Captain Orlan Tesk <b>himself</b>")
    page.press("Send")
    page.see("Kept as bad", ".feedback, .answered footer")
    lines = demo_server.client.get(f"/api/v1/collections/{demo_name}/feedback").text.splitlines()
    kept = json.loads(lines[-1])
    assert kept["question"] == QUESTION
    assert kept["answers"] == ["Captain Orlan Tesk <b>himself</b>"]


def test_ways_stand_side_by_side_with_what_each_found_alone(page: ShownPage, demo_name: str):
    page.open(f"compare/{demo_name}")
    page.write("Question", "In what year did the light on Pell Rock become automatic?")
    page.press("llm-only", "label")
    page.press("Compare", "button")
    page.wait("document.querySelector('table.evidence')")
    cards = page.ask("[...document.querySelectorAll('.way-card h3')].map((one) => one.innerText)")
    assert cards == ["llm-only", "naive", "words", "fused"]
    assert "No answer" in page.text(".way-card")
    assert "1968" in page.text(".ways article:last-child")
    assert page.ask("[...document.querySelectorAll('table.evidence thead th')].map((one) => one.innerText)") == [
        "Passage", "llm-only", "naive", "words", "fused",
    ]  # fmt: skip
    rows = page.count("table.evidence tbody tr")
    alone = page.count("table.evidence tr.alone")
    assert 0 < alone < rows
    page.choose("Show", "alone")
    page.wait(f"document.querySelectorAll('table.evidence tbody tr').length === {alone}")
    assert page.count("table.evidence tr.alone") == alone
    page.browser.click("table.evidence .source")
    page.wait("document.querySelector('dialog mark')")


@pytest.fixture
def small_page(
    page_browser: Browser, small: Settings, held_back: LoopbackServer, serve: Serve, tmp_path: Path
) -> Iterator[ShownPage]:
    """Two documents by words alone, and a model that waits."""
    environment = {"RAGWAYS_MODEL__NAME": "loopback", "RAGWAYS_MODEL__BASE_URL": held_back.base_url}
    with serve(tmp_path / "data", "--index", str(small.index), cache=small.cache, environment=environment) as server:
        yield from checked(page_browser, server.url)


def test_stopping_calls_the_model_off_and_a_way_that_fails_hides_no_other(
    small_page: ShownPage, page_browser: Browser, held_back: LoopbackServer
):
    page = small_page
    page.open("ask/index")
    page.choose("Way of answering", "words")
    page.write("Question", "Who built the harbour light?")
    page.key("Enter", 13)
    until(lambda: held_back.count > 0)
    page.press("Stop")
    # Text that came meanwhile may have moved the button from under the pointer.
    until(lambda: not page.count("button.stop") or bool(page.ask("document.querySelector('button.stop')?.click()")))
    page.see("Stopped.")
    page.write("Question", "Who took the roof?")
    page.key("Enter", 13)
    until(lambda: held_back.count > 1)
    page.press("New conversation")  # which leaves, and so stops, the other
    page.wait("document.querySelectorAll('.turn').length === 0")
    # Called off before the model goes on: a reply that came to its end would leave its connection open for the next.
    until(lambda: "ragways_worker_calls 0.0" in httpx2.get(f"{page.url}/metrics").text)
    held_back.go_on.set()  # type: ignore[attr-defined]
    until(lambda: not held_back.connections)
    page.write("Question", "Who built the harbour light?")
    page.key("Enter", 13)
    page.wait("document.querySelector('.answered')")
    assert page.count(".turn") == 1
    assert "Stopped." not in page.text(".turns")
    assert "Anna Brack" in page.text(".answered .said")
    assert "tokens · price unknown · " in page.text(".cost")
    # Now the page believes that a layer is there, which is gone when the question comes.
    believes = """const read = Response.prototype.json; Response.prototype.json = async function () {
      const data = await read.call(this);
      data.collections?.forEach((one) => one.layers.push("vectors"));
      return data; };"""
    script = page_browser.send("Page.addScriptToEvaluateOnNewDocument", source=believes)["identifier"]
    page.open("compare/index")
    page_browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    page.write("Question", "Who built the harbour light?")
    page.press("Compare", "button")
    page.wait("document.querySelector('table.evidence')")
    assert "this index has no vectors" in page.text("[aria-label=naive] .trouble")
    assert "Anna Brack" in page.text("[aria-label=words] .said")
