"""Evaluate in a browser: questions are made, a run is started and watched, its figures and its report are read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragways.settings import Settings
from tests.apps.browser import Browser, needs_browser
from tests.service.conftest import RunningServer, serving
from tests.service.pages import SIZES, ShownPage, checked

pytestmark = needs_browser
GOOD = {"question": "Who designed the Pell Rock Lighthouse?", "answer": "Jorun Askeby", "verdict": "good"}
BAD = {"question": "Where was Oriel Tamsett born?", "answer": "Tollen", "verdict": "bad", "correction": "Dunmarrow"}


@pytest.fixture(scope="module")
def server(demo_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One of its own: what is made here must not be seen by others."""
    with serving(tmp_path_factory.mktemp("evaluate") / "data", "--index", str(demo_settings.index)) as running:
        yield running


@pytest.fixture(scope="module")
def name(server: RunningServer) -> str:
    return str(server.client.get("/api/v1/collections").json()["collections"][0]["name"])


@pytest.fixture
def page(page_browser: Browser, server: RunningServer) -> Iterator[ShownPage]:
    yield from checked(page_browser, server.url)


def test_questions_are_made_asked_and_read_by_keyboard(page: ShownPage, server: RunningServer, name: str):
    base = f"/api/v1/collections/{name}"
    page.open(f"evaluate/{name}")
    page.see("There are none yet")
    page.see("Make questions first")
    page.see("No run has ended yet")
    page.write("Name", "small")
    page.write("Of each kind", "1")
    page.key("Enter", 13)
    page.wait("document.querySelector('.sets li')")
    page.see("done", ".job")
    [made] = server.client.get(f"{base}/questions").json()["sets"]
    assert made["name"] == "small"
    assert f"{made['questions']} question" in page.text(".sets")

    for said in (GOOD, BAD):
        assert server.client.post(f"{base}/feedback", json=said).status_code == 201
    page.open(f"evaluate/{name}")
    page.see("from what people said of answers", ".sets")
    page.choose("Questions", "feedback")
    page.ask(
        "document.querySelectorAll('.ways input').forEach((one) => {"
        " if (one.checked !== ['auto', 'words'].includes(one.parentElement.innerText.trim())) one.click(); })"
    )
    page.ask("[...document.querySelectorAll('button')].find((one) => one.innerText === 'Start the run').focus()")
    page.key("Enter", 13)
    page.wait("document.querySelector('.begin section:nth-child(2) .job progress')")
    page.see("feedback: 2 questions", ".run h3")
    [run] = server.client.get(f"{base}/runs").json()["runs"]
    figures = server.client.get(f"{base}/runs/{run['id']}").json()
    rows = page.ask(
        "[...document.querySelectorAll('.run tbody tr')].map((one) => one.innerText.replaceAll('\\n', ' '))"
    )
    assert len(rows) == len(figures["paradigms"]) == 2
    for one in figures["paradigms"]:
        row = next(text for text in rows if one["paradigm"] in text)
        assert "unscored" in row, "nobody said which passages hold the answer, so there is no recall"
        assert all(f"{one['metrics'][metric]['mean']:.3f}" in row for metric in ("f1", "accuracy"))
    page.choose("Quality", "accuracy")
    page.wait("document.querySelector('.run svg[role=img]')?.getAttribute('aria-label').startsWith('Plot of accuracy')")
    assert page.count(".plot .mark") == 2
    assert page.count(".plot .ring") == 1, "the router"
    for width, dark in SIZES:
        page.open(f"evaluate/{name}/{run['id']}", width=width, dark=dark)
        page.wait("document.querySelector('.run svg[role=img]')")
        assert page.violations() == []
        assert not page.too_wide()
    read_report(page, server, f"{base}/runs/{run['id']}/report.html")


def read_report(page: ShownPage, server: RunningServer, path: str) -> None:
    assert page.ask("document.querySelector('.run a.button').pathname") == path
    page.browser.open(server.url + path)
    assert GOOD["question"] in page.ask("document.getElementById('questions').textContent")
    assert page.count("#pareto .plot .mark") == 2
    assert page.ask("self.origin") == "null", "in a sandbox: it reads nothing of ours"


def test_a_set_is_deleted_once_its_name_is_typed(page: ShownPage, server: RunningServer, name: str):
    sets = f"/api/v1/collections/{name}/questions"
    if not any(one["name"] == "feedback" for one in server.client.get(sets).json()["sets"]):
        server.client.post(f"/api/v1/collections/{name}/feedback", json=GOOD)
    page.open(f"evaluate/{name}")
    page.press("Delete feedback")
    page.write("Type feedback to confirm", "feedback")
    page.key("Enter", 13)
    page.wait("!document.querySelector('dialog')")
    page.wait("!document.querySelector('.sets')?.innerText.includes('feedback')")
    assert "feedback" not in [one["name"] for one in server.client.get(sets).json()["sets"]]
