"""An index in shards on the command line: asked as any other, and what is said where a shard is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ragways.core.errors import PARTLY
from tests.apps.conftest import Run
from tests.fakes import write

TEXTS = {f"light-{n}.txt": f"The light of harbour {n} was built by Anna Brack in {1800 + n}." for n in range(12)}
ASK = ("ask", "Who built the light of harbour 7?", "-p", "words", "--json")


@pytest.fixture
def sharded(ragways: Run, home: Path) -> Run:
    write(home / "docs", TEXTS)
    assert ragways("index", "docs", "--with", "words", "--shards", "4").code == 0
    return ragways


def test_it_is_asked_as_one_index_is(sharded: Run):
    said = sharded(*ASK)
    assert said.code == 0
    assert said.data["shards"] == ""
    assert sharded("index", "docs", "--with", "words", "--index", "one").code == 0
    one = sharded(*ASK, "--index", "one")
    assert said.data["answer"] == one.data["answer"] == "Anna Brack [1]"
    assert said.data["evidence"] == one.data["evidence"]


def test_a_missing_shard_is_in_the_answer_and_in_the_exit_code(sharded: Run, home: Path):
    shutil.move(home / ".ragways" / "shards" / "2", home / "away")
    said = sharded(*ASK)
    assert said.code == PARTLY
    assert said.data["shards"].startswith("3 of 4 shards answered")
    assert "3 of 4 shards answered" in said.err
    assert sharded("check").code != 0
    refused = sharded("index", "docs", "--with", "words")
    assert refused.code == 3
    assert "has 4 shards, and 3 are there: put it back from a copy" in refused.err
    shutil.move(home / "away", home / ".ragways" / "shards" / "2")
    assert sharded(*ASK).data["shards"] == ""


def test_documents_come_and_go(sharded: Run, home: Path):
    assert sharded("status", "--json").data["counts"]["documents"] == 12
    assert sharded("remove", "docs/light-7.txt").code == 0
    (home / "docs" / "light-3.txt").unlink()
    done = sharded("index", "docs", "--with", "words", "--json")
    assert (done.data["removed"], done.data["added"]) == (1, 1)
    assert sharded("status", "--json").data["counts"]["documents"] == 11
