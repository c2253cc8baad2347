"""`ragways eval label` in a terminal and on its page, and `ragways eval agreement`."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from ragways.apps.evaluation.label_page import MOST_BYTES, label_page, serve
from ragways.evaluation.labels import Labelling, Labels
from ragways.evaluation.record import Records, locked
from tests.apps.browser import Browser, needs_browser
from tests.apps.conftest import Run, one_line
from tests.evaluation.report.made import EVIL, made_run


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch):
    """What a person types, a line each."""

    def type_(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{key}\n" for key in text.split())))

    return type_


# In the terminal


def test_labels_by_keys_and_going_on(ragways: Run, home: Path, keys):
    folder = made_run(home / "run", questions=12, paradigms=["naive", "words"])
    keys("1 2 x 3 b s q")
    done = ragways("eval", "label", "run", "--count", "6", "--by", "ann")
    assert done.code == 0, done.err
    assert "1 of 6. Does the answer say what the gold answer says?" in done.out
    assert "question: What of thing" in done.out
    assert "gold: " in done.out
    assert "answer: " in done.out
    assert "there is no key 'x'" in done.out
    assert "3 of 6 labelled: 1 right, 1 partly, 0 wrong, 1 skip" in done.out
    assert "naive" not in done.out, "blind"
    assert "words" not in done.out
    assert [label.value for label in Labels(folder)] == ["right", "partly", "wrong", "skip"]
    keys("1 1 1")
    done = ragways("eval", "label", "run", "--count", "6", "--by", "ann")
    assert done.out.count("question: ") == 3, "it goes on, and ends when all have a label"
    assert "6 of 6 labelled" in done.out
    keys("1")
    assert "1 of 6 labelled" in ragways("eval", "label", "run", "--count", "6", "--by", "ben").out, "no more is typed"


def test_pairs_by_keys(ragways: Run, home: Path, keys):
    folder = made_run(home / "run", questions=24, paradigms=["naive", "words"], duels=True)
    keys("1 2 3 s q")
    done = ragways("eval", "label", "run", "--about", "better", "--count", "6", "--by", "ann")
    assert done.code == 0, done.err
    assert "1 of 6. Which answer is better?" in done.out
    assert "first answer: " in done.out
    assert "second answer: " in done.out
    assert "4 of 6 labelled: 1 first, 1 even, 1 second, 1 skip" in done.out
    assert "ragways eval duel run" in done.out
    assert "naive" not in done.out, "blind"
    assert [label.value for label in Labels(folder)] == ["first", "even", "second", "skip"]


def test_ctrl_c_keeps_what_was_said(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    made_run(home / "run", questions=4, paradigms=["naive"])
    said = iter(["1"])

    def typed(prompt: str) -> str:
        for key in said:
            return key
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", typed)
    done = ragways("eval", "label", "run", "--count", "3")
    assert done.code == 0
    assert "1 of 3 labelled: 1 right" in done.out


def test_text_cannot_move_the_cursor(ragways: Run, home: Path, keys):
    made_run(home / "run", questions=3, paradigms=["naive"], hostile=True)
    keys("q")
    done = ragways("eval", "label", "run", "--about", "supported")
    assert "evidence: " in done.out
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_agreement(ragways: Run, home: Path, keys):
    made_run(home / "run", questions=40, paradigms=["naive", "words"])
    one_line(ragways("eval", "agreement", "run"), 2, "has no labels", "ragways eval label run")
    keys("1 3 " * 30)
    assert "60 of 60 labelled" in ragways("eval", "label", "run", "--count", "60").out
    done = ragways("eval", "agreement", "run")
    assert done.code == 0, done.err
    for words in ("Agreement with people", "kappa", "accuracy", "accuracy, and corrected by labels", "labels alone"):
        assert words in done.out
    assert "30 right, 0 partly, 30 wrong, 0 skip; by me." in done.out
    assert [line.split(",")[0] for line in done.out.splitlines() if "corrected by" in line] == ["accuracy", "f1"]
    data = ragways("eval", "agreement", "run", "--json").data
    own = next(one for one in data["labels"] if one["of"] == "accuracy")
    assert -1 <= own["low"] <= own["kappa"] <= own["high"] <= 1
    assert {one["metric"] for one in data["corrected"]} >= {"accuracy", "em", "f1"}
    lines = ragways("eval", "agreement", "run", "--metric", "em").out.splitlines()
    assert [line.split(",")[0] for line in lines if "corrected by" in line] == ["em"]
    one_line(ragways("eval", "agreement", "run", "--about", "nice"), 2, "no verdict 'nice'", "correct, supported")
    one_line(ragways("eval", "label", "nowhere"), 2, "holds no run")


# On the page


@dataclass
class Served:
    url: str
    work: Labelling
    folder: Path
    thread: threading.Thread

    def post(self, what: str, body: object = None, **headers: str) -> int:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx2.post(f"{self.url}{what}", content=data, headers=headers).status_code


def served(folder: Path) -> Served:
    work = Labelling(folder, list(Records(folder)), by="ann", count=6)
    told: list[str] = []
    ready = threading.Event()

    def tell(url: str) -> None:
        told.append(url)
        ready.set()

    thread = threading.Thread(target=serve, args=(work, tell), daemon=True)
    thread.start()
    assert ready.wait(10)
    return Served(told[0], work, folder, thread)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    one = served(made_run(tmp_path / "run", questions=8, paradigms=["naive", "secret-paradigm"], hostile=True))
    yield one
    if one.thread.is_alive():
        with suppress(httpx2.ConnectError):  # the page may have ended it a moment ago
            assert one.post("done") == 204
    one.thread.join(10)
    assert not one.thread.is_alive(), "done ends it"


def test_the_page_is_for_this_machine_and_who_knows_the_token(page: Served):
    assert page.url.startswith("http://127.0.0.1:")
    home, token = page.url.rsplit("/", 2)[:2]
    got = httpx2.get(page.url)
    assert got.status_code == 200
    assert "secret" not in got.text, "blind"
    assert "connect-src 'self'; script-src 'sha256-" in got.text.replace("&#x27;", "'")
    assert got.headers["x-frame-options"] == "DENY"
    assert "<img" not in got.text
    for wrong in (home, f"{home}/", f"{home}/{token[:-1]}/", f"{home}/{token}x/", f"{home}/%00/", f"{page.url}else"):
        assert httpx2.get(wrong).status_code == 404
    assert httpx2.get(page.url, headers={"Host": "evil.example"}).status_code == 404, "a name led here"
    right = {"at": 0, "value": "right"}
    assert page.post("label", right, Host="evil.example") == 404
    assert page.post("label", right, Origin="http://evil.example") == 404
    assert page.post("done", right, Origin="null") == 404
    assert httpx2.post(f"{home}/label", content=b"{}").status_code == 404
    assert page.work.first == 0, "none of that was a label"


def test_the_page_takes_labels_and_nothing_else(page: Served):
    assert page.post("label", {"at": 0, "value": "right"}) == 204
    assert page.post("label", {"at": 5, "value": "skip"}, Origin=page.url.rsplit("/", 2)[0]) == 204
    bad: list[object] = [
        {"at": 6, "value": "right"}, {"at": -1, "value": "right"}, {"at": True, "value": "right"}, {"at": 0}, [], 1,
        {"at": 0, "value": "great"}, {"at": 0, "value": ["right"]}, b"", b"{", b"\xff", b"[" * 900,
        b'{"at": 0, "value": "wrong"}'.ljust(MOST_BYTES + 1),
    ]  # fmt: skip
    assert [page.post("label", body) for body in bad] == [400] * len(bad)
    with locked(page.folder):
        assert page.post("label", {"at": 1, "value": "right"}) == 503, "it says so, and is not ended by it"
    assert page.work.values == ["right", None, None, None, None, "skip"]
    assert [(label.value, label.by) for label in Labels(page.folder)] == [("right", "ann"), ("skip", "ann")]


def test_the_command_serves_until_done(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    made_run(home / "run", questions=4, paradigms=["naive"])

    def visit(work: Labelling, ready) -> None:
        def come(url: str) -> None:
            ready(url)
            for what, body in (("label", b'{"at": 0, "value": "wrong"}'), ("done", b"{}")):
                threading.Timer(0.2 if what == "label" else 0.6, httpx2.post, [url + what], {"content": body}).start()

        serve(work, come)

    monkeypatch.setattr("ragways.apps.evaluation.label_page.serve", visit)
    done = ragways("eval", "label", "run", "--count", "3", "--page")
    assert done.code == 0
    assert "open http://127.0.0.1:" in done.out
    assert "1 of 3 labelled: 0 right, 0 partly, 1 wrong, 0 skip" in done.out


def test_every_character_of_a_task_is_data(tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=2, paradigms=["naive"], hostile=True)
    text = label_page(Labelling(folder, list(Records(folder)), by="</script><b>", count=2))
    assert text.count("<script") == 2
    assert "</script><b>" not in text
    assert EVIL not in text


@needs_browser
def test_in_a_browser(page: Served, browser: Browser):
    browser.open(page.url, width=800)
    assert "Does the answer say" in browser.ask("document.querySelector('h1').textContent")
    assert "1 of 6" in browser.ask("document.getElementById('place').textContent")
    shown = browser.ask("document.body.innerText")
    assert EVIL.split("\u202e")[0] in shown
    assert "\u202e" not in shown
    assert browser.ask("document.querySelectorAll('img, #task b, #task script').length") == 0
    assert browser.ask("document.documentElement.scrollWidth") <= 800
    browser.press("1", 49)
    browser.wait("document.getElementById('place').textContent.startsWith('2 of 6')")
    browser.click("#buttons button:nth-child(3)")
    browser.wait("document.getElementById('place').textContent.startsWith('3 of 6 · 2 labelled by ann')")
    browser.press("b", 66)
    browser.wait("document.querySelector('[aria-pressed=true]').textContent === 'wrong (3)'")
    browser.press("2", 50)
    browser.wait("document.getElementById('place').textContent.startsWith('3 of 6')")
    assert [label.value for label in Labels(page.folder)] == ["right", "wrong", "partly"]
    browser.open(page.url)
    browser.wait("document.getElementById('place').textContent.startsWith('3 of 6')")
    browser.click("#buttons button:nth-child(6)")
    browser.wait("document.getElementById('said').textContent.startsWith('All labels are kept')")
    assert browser.ask("document.querySelectorAll('button:disabled').length") == 6
    assert browser.errors == []
    home = page.url.rsplit("/", 2)[0]
    assert [url for url in browser.requests if not url.startswith((home, "about:"))] == []
