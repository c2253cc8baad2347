"""Where ragas is installed (in an environment of its own), ours and theirs agree on what one scripted judge says."""

from __future__ import annotations

import asyncio
from importlib import import_module
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.skipif(find_spec("ragas") is None, reason="ragas is not installed"),
    pytest.mark.filterwarnings("ignore"),  # theirs
]


def test_ours_and_theirs_agree():
    compare = import_module("benchmarks.against_ragas").compare
    rows = asyncio.run(compare(cases=20, seed=7))
    assert len(rows) == 7
    for row in rows:
        # Factual correctness comes rounded to two digits.
        assert row["difference"] < (0.0051 if row["metric"].startswith("factual") else 1e-6), row
    assert any(row["counted_otherwise"] for row in rows)
