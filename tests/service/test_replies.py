"""Replies of the model are kept apart by tenant, also in a worker that serves several."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ragways.testing import LoopbackServer
from tests.service.test_workers import TEXTS, index_again, pool_of, with_model


def test_a_worker_asks_the_model_again_for_another_tenant(tmp_path: Path, cache_folder: Path):
    from ragways.settings import read_settings

    settings = read_settings(environment={}, index=tmp_path / "index", cache=cache_folder)
    index_again(settings, TEXTS)
    question = {"question": "Who built the harbour light?", "paradigm": "words"}

    async def counts(served: LoopbackServer) -> list[int]:
        found = []
        async with pool_of(with_model(settings, served)) as (pool, collection):
            for tenant in ("acme", "acme", "other", "main", "other", "main"):
                before = served.count
                await pool.call("ask", collection, question, tenant=tenant)
                found.append(served.count - before)
        return found

    with LoopbackServer() as served:
        first, again, other, main, other_again, main_again = asyncio.run(counts(served))
    assert first > 0
    assert (other, main) == (first, first)
    assert (again, other_again, main_again) == (0, 0, 0)
