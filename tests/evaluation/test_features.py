"""Runs keep the features of their questions: once a question, in nobody's time, and never at the cost of an answer."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.evaluation import run as module
from ragways.evaluation.question import Question
from ragways.evaluation.record import FEATURES_FILE, FILE, Records, question_features
from ragways.evaluation.run import RunOptions, evaluate, parse_variants, take_features
from ragways.index.open import Index
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.features import FEATURES, all_features
from tests.retrieval.graph_corpus import HOPS, TWO, WHEN, indexed, resources

QUESTIONS = [Question(str(n), text) for n, text in enumerate((HOPS, TWO, WHEN))]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("features")))
    yield index
    index.close()


def ran(index: Index, folder: Path, paradigms: str = "words,naive[k=2]", *, features: bool = True) -> list[str]:
    """The names of the records of a run."""
    options = RunOptions(repeats=2, features=features)
    run = asyncio.run(evaluate(resources(index), QUESTIONS, parse_variants(paradigms), folder, options=options))
    assert run.failed == 0
    return [record.paradigm for record in run.records]


def test_every_record_has_the_features_of_its_question(index: Index, tmp_path: Path):
    ran(index, tmp_path)
    records = list(Records(tmp_path))
    assert len(records) == 3 * 2 * 2
    for record in records:
        found = asyncio.run(all_features(resources(index), record.text))
        assert record.features.keys() == found.keys() <= FEATURES.keys()
        assert record.features == pytest.approx(found, abs=1e-6)
    assert len((tmp_path / FEATURES_FILE).read_text().splitlines()) == 3, "once a question"


def test_records_of_auto_have_the_arm_that_was_taken(index: Index, tmp_path: Path):
    ran(index, tmp_path, "auto,auto[k=4],words", features=False)
    taken = {(record.paradigm, record.arm) for record in Records(tmp_path)}
    assert ("words", "") in taken
    assert ("auto[k=4]", "fused[k=4]") in taken
    assert all(arm for paradigm, arm in taken if paradigm == "auto")


def test_a_run_that_goes_on_takes_those_that_are_missing(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ran(index, tmp_path, features=False)
    assert not (tmp_path / FEATURES_FILE).exists()
    assert all(not record.features for record in Records(tmp_path))
    before = (tmp_path / FILE).read_text()
    ran(index, tmp_path)  # nothing is asked again
    assert (tmp_path / FILE).read_text() == before
    assert all(record.features for record in Records(tmp_path))
    kept = (tmp_path / FEATURES_FILE).read_text()
    monkeypatch.setattr(module, "all_features", None)  # whoever takes them again fails
    ran(index, tmp_path, "hybrid-words")
    assert (tmp_path / FEATURES_FILE).read_text() == kept
    assert all(record.features for record in Records(tmp_path))


def test_they_are_taken_when_all_is_answered_and_on_resources_of_their_own(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    use = resources(index)
    seen: list[tuple[int, bool, bool, bool]] = []

    async def watched(own: Resources, question: str) -> dict[str, float]:
        found = await all_features(own, question)
        records = len(list(Records(tmp_path)))
        seen.append((records, own.model is use.model, bool(own._vectors), bool(use._vectors)))
        return found

    monkeypatch.setattr(module, "all_features", watched)
    asyncio.run(evaluate(use, QUESTIONS, parse_variants("words,naive"), tmp_path))
    assert seen == [(6, False, True, False)] * 3
    labels = [json.loads(line)["label"] for line in (tmp_path / "resources.jsonl").read_text().splitlines()]
    assert set(labels) <= {"", "words", "naive"}


def test_a_run_does_not_fail_for_them(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    tries = []

    async def broken(own: Resources, question: str) -> dict[str, float]:
        tries.append(question)
        raise RuntimeError("no such thing")

    monkeypatch.setattr(module, "all_features", broken)
    with caplog.at_level(logging.WARNING):
        assert ran(index, tmp_path, "words") == ["words"] * 6
    assert len(tries) == 3
    assert [record.message for record in caplog.records] == ["ragways: features could not be taken: no such thing"]


def test_an_invalid_question_has_none_and_no_model_is_called(index: Index, tmp_path: Path):
    use = resources(index, [])  # a scripted model that fails when it is asked anything
    asyncio.run(take_features(use, {"empty": "  ", "long": "x" * 9000, "one": f"  {TWO} "}, tmp_path))
    kept = {row.question: row.features for row in question_features(tmp_path)}
    assert kept.keys() == {"one"}
    asyncio.run(take_features(use, {"two": TWO}, tmp_path))
    assert {row.question: row.features for row in question_features(tmp_path)}["two"] == kept["one"]
