"""What the bundled routers are fitted on: questions on which nothing was trained, foreign ones, and global ones; and
published figures.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from ragways.assemble import opened
from ragways.evaluation.record import Records
from ragways.evaluation.routing.outcomes import gather
from ragways.reading.question_type import TYPES
from ragways.reproduce.experiment import published
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.routing.auto import PARADIGM_ROUTER, bundled, checked
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


# The router among the paradigms of RAGRouter-Bench


def test_the_bundled_router_among_paradigms_is_made_from_the_published_figures():
    found = bundled(PARADIGM_ROUTER)
    assert found is not None
    assert found.text() == router.paradigm_router().text()
    assert checked(found, PARADIGM_ROUTER, PARADIGMS.find) is found
    assert [arm.name.partition("[")[0] for arm in found.arms] == [
        "llm-only",
        "naive",
        "graph-ppr",
        "hybrid",
        "iterative",
    ]


@pytest.mark.parametrize(
    ("type", "row"),
    [("factual", 0), *((type, 1) for type in ("bridge", "comparison", "temporal", "aggregate")), ("summary", 2)],
)
@pytest.mark.parametrize("missing", [(), ("graph",), ("model",), ("graph", "model")])
def test_a_question_of_each_type_gets_the_arm_that_the_published_table_has_best(
    type: str, row: int, missing: tuple[str, ...]
):
    found = bundled(PARADIGM_ROUTER)
    assert found is not None
    table = np.mean([router.published_values(corpus) for corpus in router.CORPORA], axis=0)[row]
    lacking = {arm.name: bool({*arm.needs, *["model"] * arm.model} & set(missing)) for arm in found.arms}
    asked = {f"question.type.{one}": float(one == type) for one in TYPES}
    decision = found.decide(asked, lambda arm: "missing" * lacking[arm.name])
    values = dict(zip((arm.name for arm in found.arms), table, strict=True))
    assert {one.arm: one.value for one in decision.estimates} == pytest.approx(values, abs=0.0011)
    assert {one.arm: bool(one.impossible) for one in decision.estimates} == lacking
    assert decision.arm == max((name for name in values if not lacking[name]), key=values.__getitem__)


def test_shares_of_types_give_the_published_figures_over_all_types():
    for corpus in router.CORPORA:
        every = published("router-bench", corpus)["judged %"]
        found = 100 * router.type_shares(corpus) @ router.published_values(corpus)
        assert found.tolist() == pytest.approx([every[arm.published].value for arm in router.PARADIGM_ARMS], abs=0.1)
