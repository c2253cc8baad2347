"""Every long part of a run tells how far it is."""

from __future__ import annotations

import asyncio
import json
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.runtime import Progress, told
from ragways.index.build import build
from tests.fakes import recipe, write

DOCUMENTS = 450
COUNTED = ("collecting names", "finding facts", "comparing names", "making the graph", "reports by rules")


@given(st.integers(0, 900))
def test_items_stay_and_the_last_word_is_how_many_there_were(count: int):
    said: list[Progress] = []
    assert list(told(said.append, "x", iter(range(count)), count)) == list(range(count))
    assert said[-1:] == [Progress("x", count, count)][: min(1, count)]
    assert all(after.done - before.done <= 200 for before, after in pairwise(said))
    assert len(said) <= 2 + count // 200


def test_each_stage_of_an_index_is_counted_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.file_reader._OFTEN", 100)
    monkeypatch.setattr("ragways.index.graph.updates._IN_MEMORY", 0)  # as of many documents
    text = "Keeper {0} Holm kept Light {0} near Port Elm. Light {0} stands by Light {1}."
    rows = [{"id": n, "title": f"Light {n}", "text": text.format(n, n // 2)} for n in range(DOCUMENTS)]
    corpus = write(tmp_path / "corpus", {"rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    said: list[Progress] = []
    layers = frozenset({"vectors", "words", "graph", "communities"})
    asyncio.run(build(tmp_path / "index", [corpus], recipe(layers=layers), progress=said.append))
    notes = [each.note for each in said if each.stage == "reading"]
    assert notes[-4:] == [f"corpus/rows.jsonl: {count} documents" for count in (100, 200, 300, 400)]
    stages = [(stage, list(some)) for stage, some in groupby(said, key=lambda each: each.stage)]
    assert {*COUNTED, "sorting the graph", "finding communities", "deriving", "writing"} <= {
        stage for stage, _ in stages
    }
    for stage in COUNTED[:-1]:
        counts = [(each.done, each.total) for name, some in stages if name == stage for each in some]
        assert counts[-1] == (DOCUMENTS, DOCUMENTS), stage
        assert (200, DOCUMENTS) in counts, stage
    for reports in (some for stage, some in stages if stage == COUNTED[-1]):
        assert reports[-1].done == reports[-1].total > 0
