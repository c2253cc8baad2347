"""All gold evidence among what was shown: from the places that a record keeps, or, of older ones, from its ranks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.evaluation.metrics import METRICS
from ragways.evaluation.question import Gold
from ragways.evaluation.record import FILE, EvidenceItem, Record, Records
from tests.apps.conftest import CORPUS, Run, home, ragways  # noqa: F401 - fixtures
from tests.evaluation.test_run import QUESTIONS
from tests.fakes import write

ALL = METRICS["all-evidence"]
ITEMS = tuple(EvidenceItem(id) for id in ("article:1:s0:p0:c0", "article:1:s0:p1:c0", "article:2:s0:p0:c0"))


def record(**changes: object) -> Record:
    base = Record("q", "?", "factual", ("Anna",), "naive", 0, evidence=ITEMS, wanted=(Gold(title="A"), Gold(quote="b")))
    return replace(base, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"shown": (3, 1), "ranks": (2, 1)}, 1.0),
        ({"shown": (None, 1), "ranks": (3, 1)}, 0.0),  # found, and not shown
        ({"ranks": (2, 3)}, 1.0),  # older: the second document, the third piece
        ({"ranks": (3, 3)}, 0.0),  # there are three pieces of two documents
        ({"ranks": (2, 4)}, 0.0),
        ({"ranks": (2, None)}, 0.0),
        ({"ranks": (1, 1), "evidence": ()}, 0.0),
        ({"ranks": (), "wanted": (), "shown": ()}, None),
        ({"ranks": (3, 3), "evidence": tuple(EvidenceItem(text=text) for text in "abc")}, 1.0),  # another system's
        ({"ranks": (3, 3), "wanted": ()}, 1.0),  # older still
    ],
)
def test_by_hand(changes: dict[str, object], value: float | None):
    found = ALL.score(record(**changes))
    assert found.value == value
    assert (found.why == "no gold evidence") == (value is None)


def test_records_have_the_places_of_gold_and_those_without_score_the_same(ragways: Run, home: Path):  # noqa: F811
    write(home / "docs", CORPUS)
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    ragways("index", "docs")
    names = "words,words[k=1],words[tokens=0]"
    rows = ragways("eval", "run", "--questions", "questions.jsonl", "--out", "run", "--paradigms", names, "--json").data
    means = {row["paradigm"]: row["metrics"]["all-evidence"] for row in rows}
    assert means["words"]["mean"] == 1.0
    assert (means["words"]["n"], means["words"]["unscored"]) == (2, 1)
    assert means["words[tokens=0]"]["mean"] == 0.0
    kept = list(Records(home / "run"))
    assert all(len(one.shown or ()) == len(one.wanted) for one in kept)
    assert all(place is not None for one in kept if one.paradigm == "words" for place in one.shown or ())
    lines = [json.loads(line) for line in (home / "run" / FILE).read_text().splitlines()]
    for line in lines:
        del line["shown"], line["features"]
    (home / "run" / FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))
    older = list(Records(home / "run"))
    assert [one.shown for one in older] == [None] * len(kept)
    assert [ALL.score(one) for one in older] == [ALL.score(one) for one in kept]
