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
from ragways.models.minilm import MiniLM
from ragways.models.reader import FILE as READER

run, sentence = Encoder.run, MiniLM._sentence
SHORT = 64
"""Of the embedder, rows are kept for texts of so many tokens: questions. Of a passage, its one vector is enough."""


@pytest.fixture(scope="session", autouse=True)
def encoded_once() -> Iterator[None]:
    rows: dict[tuple[Path, str, tuple[int, ...]], Vectors] = {}
    sentences: dict[tuple[Path, int, str], Vectors] = {}

    def kept_or_run(self: Encoder, ids: Sequence[int]) -> Vectors:
        key = (encoder.WEIGHTS, self._file, tuple(ids))
        if key in rows:
            return rows[key]
        found = run(self, ids)
        if self._file == READER or len(ids) <= SHORT:
            found.setflags(write=False)
            rows[key] = found
        return found

    def kept_or_embedded(self: MiniLM, text: str) -> Vectors:
        key = (encoder.WEIGHTS, self._max_tokens, text)
        if key not in sentences:
            sentences[key] = sentence(self, text)
            sentences[key].setflags(write=False)
        return sentences[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "run", kept_or_run)
        patch.setattr(MiniLM, "_sentence", kept_or_embedded)
        yield


@pytest.fixture(autouse=True)
def encoded_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of encoders themselves, which import this one."""
    monkeypatch.setattr(Encoder, "run", run)
    monkeypatch.setattr(MiniLM, "_sentence", sentence)
