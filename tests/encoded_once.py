"""No text goes through an encoder twice: hundreds of tests ask the same questions of the bundled corpus.

What an encoder gives for a text is the same, bit for bit, whenever it is run: `tests/models` runs it each time and sees
to that. So what it gave is kept for the tests that come after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ragways.models import encoder
from ragways.models.embed import Vectors
from ragways.models.encoder import Encoder

run = Encoder.run
MOST = 10_000_000
"""Numbers kept, of 4 bytes each."""


@pytest.fixture(scope="session", autouse=True)
def encoded_once() -> Iterator[None]:
    kept: dict[tuple[Path, str, tuple[int, ...]], Vectors] = {}
    size = 0

    def kept_or_run(self: Encoder, ids: Sequence[int]) -> Vectors:
        nonlocal size
        text = (encoder.WEIGHTS, self._file, tuple(ids))
        found = kept.get(text)
        if found is None:
            found = run(self, ids)
            if size + found.size <= MOST:
                found.setflags(write=False)
                kept[text] = found
                size += found.size
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "run", kept_or_run)
        yield


@pytest.fixture(autouse=True)
def encoded_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of encoders themselves, which import this one."""
    monkeypatch.setattr(Encoder, "run", run)
