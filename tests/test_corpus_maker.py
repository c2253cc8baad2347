"""The corpus maker: a document is the same whatever else is made."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.corpus_maker import documents, title_of


def test_a_document_depends_on_the_seed_and_its_number_alone() -> None:
    whole = list(documents(2100, seed=3))
    assert list(documents(50, seed=3, first=1000)) == whole[1000:1050]
    assert list(islice(documents(10**9, seed=3), 5)) == whole[:5]
    assert list(documents(5, seed=4)) != whole[:5]
    assert title_of(2050, seed=3) == whole[2050].title
