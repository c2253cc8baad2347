"""An index in shards behind the server: an answer says so where a shard could not take part in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import ragways
from ragways.settings import read_settings
from tests.fakes import write
from tests.service.conftest import Serve

QUESTION = {"question": "Who built the light of harbour 7?", "paradigm": "words"}
TEXTS = {f"light-{n}.txt": f"The light of harbour {n} was built by Anna Brack in {1800 + n}." for n in range(12)}


def test_a_missing_shard_is_told_of_by_every_route(tmp_path: Path, cache_folder: Path, serve: Serve):
    docs = write(tmp_path / "docs", TEXTS)
    settings = read_settings(environment={}, cache=cache_folder)
    for name in ("whole", "parted"):
        ragways.build(docs, tmp_path / name, layers=("words",), settings=settings, shards=3)
    shutil.move(tmp_path / "parted" / "shards" / "1", tmp_path / "away")
    indexes = ("--index", str(tmp_path / "whole"), "--index", str(tmp_path / "parted"))
    with serve(tmp_path / "data", *indexes, cache=cache_folder) as server:
        whole, parted = (
            {
                end: server.client.post(f"/api/v1/collections/{name}/{end}", json=QUESTION).json()
                for end in ("ask", "retrieve")
            }
            for name in ("whole", "parted")
        )
        streamed = list(server.events("/api/v1/collections/parted/ask", {**QUESTION, "stream": True}))
    assert "Anna Brack" in whole["ask"]["answer"]
    assert not whole["ask"].get("shards")
    assert not whole["retrieve"].get("shards")
    for said in (parted["ask"], parted["retrieve"], streamed[-1][1]):
        assert said["shards"].startswith("2 of 3 shards answered")
