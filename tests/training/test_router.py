"""What the bundled routers are fitted on: questions on which nothing was trained, foreign ones, and global ones."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ragways.assemble import opened
from ragways.evaluation.record import Records
from ragways.evaluation.routing.outcomes import gather
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import ask
from ragways.settings import Settings
from training import router
from training.data import half_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two sets of a few questions each, laid out as HippoRAG has them."""
    for name in ("musique", "hotpotqa"):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        rows = [
            {"id": f"{name}-{n}", "question": f"Who built house {n}?", "answer": "Ann", "paragraphs": [
                {"title": f"House {n}", "paragraph_text": "Ann built it.", "is_supporting": True}]}
            for n in range(40)
        ]  # fmt: skip
        (folder / "questions.json").write_text(json.dumps(rows))
    return tmp_path / "data"


def test_only_questions_on_which_nothing_was_trained_are_used(data: Path, monkeypatch: pytest.MonkeyPatch):
    layout = {name: ("hipporag", "corpus.json", "questions.json", name) for name in ("musique", "hotpotqa")}
    monkeypatch.setattr(router, "SETS", layout)
    monkeypatch.setattr(router, "MOST", 5)
    questions = router.asked(data, "musique", list(layout))
    own = [one for one in questions if one.gold]
    assert len(own) == 5
    assert all(half_of(one.id) == "report" for one in own)
    foreign = [one for one in questions if one.type == "null"]
    assert len(foreign) == router.FOREIGN
    assert all(one.id.startswith("foreign hotpotqa") and not one.gold for one in foreign)
    assert [one.text for one in questions if one.type == "summary"] == list(router.GLOBAL)


def test_twins_share_no_question(data: Path, monkeypatch: pytest.MonkeyPatch):
    layout = {name: ("hipporag", f"{name}.json", "questions.json", "one") for name in ("musique", "hotpotqa")}
    monkeypatch.setattr(router, "SETS", layout)
    (data / "hotpotqa" / "questions.json").write_bytes((data / "musique" / "questions.json").read_bytes())
    one, other = ({each.id for each in router.report_half(data, name)} for name in layout)
    assert one
    assert other
    assert not one & other
    assert all(half_of(id) == "report" for id in one | other)


def test_a_run_holds_what_each_arm_would_show(tmp_path: Path, demo_settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(router, "asked", lambda *_: router.report_half(tmp_path, "demo")[:3])
    asyncio.run(router.make_run(tmp_path, demo_settings.index, tmp_path / "run", "demo", "fused", ["demo"]))
    records = list(Records(tmp_path / "run"))
    arms = {record.paradigm for record in records}
    assert arms == {*(f"fused[k={k}]" for k in (3, 5, 10, 20, 30, 60)), "community-global"}
    assert len(records) == 3 * len(arms)

    async def shown(text: str) -> int:
        async with opened(demo_settings) as use:
            with retrieval_only():
                return (await ask(use, text, "fused", {"k": 10})).answer.evidence.tokens

    one = next(record for record in records if record.paradigm == "fused[k=10]")
    assert one.usage.evidence == asyncio.run(shown(one.text))
    assert one.features["look.fused"] == 1.0
    assert gather([tmp_path / "run"], quality="all-evidence", common=True).look == "fused"
