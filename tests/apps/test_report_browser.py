"""The report in a real browser: it is drawn, it is searched and filtered, and text stays text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragways.pictures.report import report_page
from tests.apps.browser import Browser, colours, needs_browser
from tests.evaluation.report.made import EVIL, figures, labelled, made_report, made_run, notes_of, rows_of

pytestmark = needs_browser

SHOWN = "[...document.querySelectorAll('.question')].map((one) => one.dataset.id)"
SECTIONS = ("figures", "types", "comparisons", "pareto", "labels", "duels", "costs", "timeline", "tools", "questions")


def changed(data: dict[str, Any], **tables: list[dict[str, Any]]) -> dict[str, Any]:
    """A report with other rows in some of its tables."""
    some = json.loads(json.dumps(data))
    for table in some["tables"]:
        table["rows"] = tables.get(table["name"].replace(" ", "_"), table["rows"])
    return dict(some)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = labelled(made_run(tmp_path_factory.mktemp("report") / "run", questions=60, duels=True))
    return made_report([folder])


@pytest.fixture(scope="module")
def url(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(report_page(data), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize(("width", "dark"), [(1400, True), (390, False)])
def test_it_is_drawn(browser: Browser, url: str, data: dict[str, Any], width: int, dark: bool):
    browser.open(url, width=width, height=900, dark=dark)
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(22, 24, 28)" if dark else "rgb(251, 250, 247)")
    assert browser.ask("document.documentElement.scrollWidth") <= width, "nothing sticks out sideways"
    cut = "[...document.querySelectorAll('.frame')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert browser.ask(cut) == 0, "no column is cut off"
    assert browser.ask("document.getElementById('verdict').textContent") == notes_of(data, "runs")[0]
    assert rows_of(data, "runs")[0]["date"] in browser.ask("document.getElementById('summary').textContent")
    for section in SECTIONS:
        assert browser.ask(f"document.getElementById('{section}').children.length") > 1
    assert browser.ask("document.querySelectorAll('#figures tbody tr').length") == 5
    assert browser.ask("document.querySelectorAll('#pareto .mark').length") >= 5
    assert browser.ask("document.querySelectorAll('#duels .box').length") == 10
    assert browser.ask("document.querySelectorAll('.heat tbody td').length") == 25
    assert browser.ask("document.querySelectorAll('#timeline .curve').length") == 10
    assert browser.ask("document.querySelectorAll('#labels tbody tr').length") >= 10
    assert "by </b>ann" in browser.ask("document.getElementById('labels').textContent")
    assert browser.ask("document.querySelectorAll('.missing').length") == 0
    assert browser.ask("document.getElementById('routing')") is None, "it was not asked for"
    seen = colours(browser.screenshot(scale=0.25))
    assert len(seen) > 50, "letters and marks, not a blank sheet"
    assert seen.most_common(1)[0][1] < 0.97 * seen.total()
    first = browser.ask("document.querySelector('#figures tbody th').textContent")
    means = {name: row["mean"] for name, row in figures(data, "accuracy").items()}
    assert first == max(means, key=lambda name: means[name])


def test_labels_of_the_plot_do_not_lie_upon_each_other(browser: Browser, data: dict[str, Any], tmp_path: Path):
    """As many paradigms as there are, some of them all but alike."""
    costs, means = rows_of(data, "costs"), figures(data, "accuracy")
    new_costs, new_means = [], []
    for at in range(23):
        cost, name = costs[at % 5], f"some-paradigm-{at}"
        new_costs.append({**cost, "paradigm": name, "tokens": cost["tokens"] * (1 + at % 7 / 50)})
        mean = means[cost["paradigm"]]
        new_means.append({**mean, "paradigm": name, "mean": mean["mean"] + at // 7 / 40})
    many = changed(data, costs=new_costs, figures=new_means, other_figures=[])
    (tmp_path / "many.html").write_text(report_page(many), encoding="utf-8")
    for width in (1400, 390):
        browser.open((tmp_path / "many.html").as_uri(), width=width)
        boxes = browser.ask(
            "[...document.querySelectorAll('#pareto .name')].map((e) => e.getBoundingClientRect())"
            ".map((b) => [b.left, b.top, b.right, b.bottom])"
        )
        assert len(boxes) == (23 if width == 1400 else len(boxes)) >= 15
        for at, one in enumerate(boxes):
            for other in boxes[at + 1 :]:
                apart = one[0] >= other[2] or one[2] <= other[0] or one[1] + 2 >= other[3] or one[3] - 2 <= other[1]
                assert apart, (one, other)


def ids(data: dict[str, Any], fits: Any) -> list[str]:
    return [question["id"] for question in data["questions"] if fits(question)]


def values(question: dict[str, Any], metric: str, paradigm: str = "") -> list[float]:
    return [
        a["values"][metric] for a in question["answers"] if metric in a["values"] and paradigm in ("", a["paradigm"])
    ]


def test_filters_in_the_address(browser: Browser, url: str, data: dict[str, Any]):
    def shown(fragment: str) -> list[str]:
        browser.open(f"{url}#{fragment}")
        browser.ask("grow(1000)")
        found: list[str] = browser.ask(SHOWN)
        return found

    assert shown("type=null") == ids(data, lambda q: q["type"] == "null")
    assert shown("outcome=wrong&paradigm=naive") == ids(data, lambda q: 0 in values(q, "accuracy", "naive"))
    assert shown("outcome=right&metric=f1") == []
    assert shown("outcome=wrong&metric=hallucinated") == ids(data, lambda q: 1 in values(q, "hallucinated"))
    assert shown("outcome=unscored&metric=accuracy") == ids(
        data, lambda q: any("accuracy" in a.get("why", {}) for a in q["answers"])
    )
    failed = ids(data, lambda q: any(a.get("error") for a in q["answers"]))
    assert failed
    assert shown("outcome=failed") == failed
    disagree = ids(data, lambda q: len(set(values(q, "accuracy"))) > 1)
    assert 0 < len(disagree) < 60
    assert shown("disagree=1") == disagree
    assert shown("search=THING+1&type=summary") == ids(
        data, lambda q: q["type"] == "summary" and any("1" in text for text in (q["id"], q["text"], *_texts(q)))
    )
    assert shown("type=none-such") == []
    assert "No question fits" in browser.ask("document.querySelector('.list').textContent")


def _texts(question: dict[str, Any]) -> list[str]:
    return [answer["answer"] for answer in question["answers"]]


def test_a_question_by_its_address(browser: Browser, url: str):
    browser.open(f"{url}#q=q055")
    box = "document.querySelector('.question[data-id=q055]')"
    assert browser.ask(f"{box}.querySelector('button').getAttribute('aria-expanded')") == "true"
    assert browser.ask(f"{box}.querySelectorAll('.card').length") == 5
    assert browser.ask("document.activeElement.closest('.question').dataset.id") == "q055"
    top = browser.ask(f"{box}.getBoundingClientRect().top")
    assert 0 <= top < 500, "it is what one sees"
    browser.open(f"{url}#q=q003&type=factual")
    assert "q003" in browser.ask(SHOWN), "what is asked for by name is shown, whatever the filters say"


def test_by_mouse_and_keyboard(browser: Browser, url: str, data: dict[str, Any]):
    browser.open(url)
    assert len(browser.ask(SHOWN)) < 60, "the first ones alone"
    browser.ask("document.querySelector('#questions').scrollIntoView()")
    browser.press("/", 191)
    assert browser.ask("document.activeElement === controls.search")
    browser.type("thing 17")
    browser.wait(f"{SHOWN}.length === 1")
    assert browser.ask("status.textContent") == "1 of 60 questions"
    assert "search=thing+17" in browser.ask("location.hash")
    browser.press("Escape", 27)
    browser.wait("status.textContent === '60 questions'")
    browser.click(".question:nth-of-type(2) button")
    assert browser.ask("location.hash") == "#q=q001"
    assert browser.ask("document.querySelectorAll('.card').length") == 5
    browser.press("ArrowDown", 40)
    assert browser.ask("document.activeElement.closest('.question').dataset.id") == "q002"
    browser.press("Enter", 13)
    assert browser.ask("document.querySelectorAll('.question .body:not([hidden])').length") == 2
    browser.ask("document.querySelectorAll('.card details').forEach((one) => { one.open = true; })")
    browser.wait("document.querySelector('.piece') && document.querySelector('.scores')")
    first = data["questions"][1]["answers"][0]["evidence"][0][0]
    assert browser.ask("document.querySelector('.piece .text').textContent") == data["pieces"][first]["text"]
    assert "the evidence says so" in browser.ask("document.querySelector('.list').textContent")


def test_sorting_and_choosing(browser: Browser, url: str, data: dict[str, Any]):
    browser.open(url)
    browser.click("#figures thead th:first-child button")
    names = browser.ask("[...document.querySelectorAll('#figures tbody th')].map((one) => one.textContent)")
    assert names == sorted(row["paradigm"] for row in rows_of(data, "costs"))
    assert browser.ask("document.querySelector('#figures thead th').getAttribute('aria-sort')") == "ascending"
    browser.ask(
        "(() => { const s = document.querySelector('#types select');"
        " s.value = 'recall@5'; s.dispatchEvent(new Event('change')); })()"
    )
    assert "recall@5 by type" in browser.ask("document.querySelector('#types caption').textContent")
    for at, words in enumerate(row["cost"] for row in rows_of(data, "fronts")):
        browser.ask(
            "(() => { const s = document.querySelectorAll('#pareto select')[1];"
            f" s.selectedIndex = {at}; s.dispatchEvent(new Event('change')); }})()"
        )
        assert words in browser.ask("document.querySelector('#pareto svg').getAttribute('aria-label')")


def test_no_front_is_drawn_of_an_advisory_metric(browser: Browser, data: dict[str, Any], tmp_path: Path):
    metrics = [{**one, "advisory": one["name"] == "f1"} for one in rows_of(data, "metrics")]
    (tmp_path / "report.html").write_text(report_page(changed(data, metrics=metrics)), encoding="utf-8")
    browser.open((tmp_path / "report.html").as_uri())
    offered = "[...document.querySelector('#{} select').options].map((one) => one.value)"
    assert "f1" in browser.ask(offered.format("types"))
    assert sorted(browser.ask(offered.format("pareto"))) == sorted(m["name"] for m in metrics if not m["advisory"])


def test_text_stays_text(browser: Browser, tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=4, hostile=True, paradigms=["naive", "words", "</script><b>x"])
    (tmp_path / "evil.html").write_text(report_page(made_report([folder])), encoding="utf-8")
    browser.open(f"{(tmp_path / 'evil.html').as_uri()}#q=q001")
    browser.ask("document.querySelectorAll('.card details').forEach((one) => { one.open = true; })")
    browser.wait("document.querySelector('.piece')")
    assert browser.ask("document.querySelectorAll('script').length") == 2, "the questions' own is read and dropped"
    assert browser.ask("document.querySelectorAll('img, .card b b, h4 b').length") == 0
    shown = browser.ask("document.querySelector('.card .answer').textContent")
    assert EVIL.split("\u202e")[0] in shown
    assert "\u202e" not in browser.ask("document.body.innerText")
    assert "\x1b" not in browser.ask("document.body.innerText")
    longest = browser.ask(
        "Math.max(...[...document.querySelectorAll('.piece .text')].map((one) => one.textContent.length))"
    )
    assert longest < 2100
    assert browser.ask("document.documentElement.scrollWidth") <= 1400


def test_without_duels_samples_and_tools(browser: Browser, tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=5, paradigms=["naive"], judged=False, sampled=False)
    (tmp_path / "few.html").write_text(report_page(made_report([folder])), encoding="utf-8")
    browser.open((tmp_path / "few.html").as_uri())
    said = browser.ask("[...document.querySelectorAll('.missing')].map((one) => one.textContent)")
    assert "Left out: no duel was run: ragways eval duel RUN." in said
    assert len(said) == 6


def test_no_verdict_is_shown_as_such(browser: Browser, data: dict[str, Any], tmp_path: Path):
    none = {"outcome": "no verdict", "winner": "", "words": "no verdict: x", "adjusted": None}
    failed = {"passed": False, "why": "the judge failed its test: it does not tell a right answer"}
    some = changed(
        {**data, "questions": data["questions"][:3]},
        duels=[pair | none for pair in rows_of(data, "duels")],
        judge_tests=[test | failed for test in rows_of(data, "judge tests")],
    )
    (tmp_path / "none.html").write_text(report_page(some), encoding="utf-8")
    browser.open((tmp_path / "none.html").as_uri())
    assert browser.ask("document.querySelectorAll('.heat td.none').length") == 20
    assert browser.ask("document.querySelectorAll('.heat td.over, .heat td.under').length") == 0
    assert browser.ask("document.querySelectorAll('.box.none').length") == 10
    assert "does not tell a right answer" in browser.ask("document.getElementById('duels').textContent")


def test_many_questions_are_quick(browser: Browser, data: dict[str, Any], tmp_path: Path):
    """2,000 questions: what is drawn at once does not grow with them."""
    many = data["questions"] * 34
    many = [{**question, "id": f"x{at}"} for at, question in enumerate(many)]
    (tmp_path / "many.html").write_text(report_page({**data, "questions": many}), encoding="utf-8")
    browser.open((tmp_path / "many.html").as_uri())
    assert browser.ask("status.textContent") == "2,040 questions"
    assert browser.ask("document.querySelectorAll('.question').length") <= 120
    assert browser.ask("document.querySelectorAll('*').length") < 12_000


def marked(browser: Browser, section: str) -> list[str]:
    found: list[str] = browser.ask(
        f"[...document.querySelectorAll('#{section} tbody tr')].filter((one) => one.querySelector('td .best'))"
        ".map((one) => one.querySelector('th').textContent)"
    )
    return found


def test_the_best_and_what_is_not_shown_to_differ_are_marked(browser: Browser, data: dict[str, Any], tmp_path: Path):
    for best in (["fused", "agent"], []):
        rows = [row | {"best": "yes" if not row["type"] and row["paradigm"] in best else ""}
                for row in rows_of(data, "figures") if row["metric"] == "accuracy"]  # fmt: skip
        some = changed({**data, "questions": data["questions"][:3]}, figures=rows)
        (tmp_path / "best.html").write_text(report_page(some), encoding="utf-8")
        browser.open((tmp_path / "best.html").as_uri())
        assert sorted(marked(browser, "figures")) == sorted(best)
        assert browser.ask("document.querySelectorAll('#types td .best').length") == len(best), "none by type"
    assert "not shown to differ" in browser.ask("document.getElementById('figures').textContent")
    assert "of means alone" in browser.ask("document.getElementById('pareto').textContent")
    assert "not over metrics" in browser.ask("document.getElementById('comparisons').textContent")


def test_figures_without_an_interval(browser: Browser, tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=1, paradigms=["naive", "words", "fused"], judged=False)
    (tmp_path / "one.html").write_text(report_page(made_report([folder])), encoding="utf-8")
    browser.open((tmp_path / "one.html").as_uri())
    browser.wait("document.body.dataset.drawn === 'all'")
    assert "no interval · n 1" in browser.ask("document.getElementById('figures').textContent")
    assert "no interval" in browser.ask("document.querySelector('#pareto .mark title').textContent")
    assert "NaN" not in browser.ask("document.querySelector('#pareto svg').outerHTML")


def test_the_timeline_says_nothing_of_nobody(browser: Browser, data: dict[str, Any], tmp_path: Path):
    """Samples from before the first answer have no paradigm."""
    nobody = {"run": "run", "paradigm": "opening", "seconds": 0.02, "cpu": 0, "cores": 0.28, "memory": 1}
    some = changed({**data, "questions": data["questions"][:3]}, load=[nobody, *rows_of(data, "load")])
    (tmp_path / "line.html").write_text(report_page(some), encoding="utf-8")
    browser.open((tmp_path / "line.html").as_uri())
    readout = "document.querySelector('#timeline .readout').textContent"
    assert browser.ask(readout) == "Point at the picture, or choose a paradigm."
    browser.click("#timeline .legend button")
    assert browser.ask(readout).startswith(f"{rows_of(data, 'costs')[0]['paradigm']}: ")
    assert "opening and warming up" in browser.ask("document.querySelector('#timeline table').textContent")
