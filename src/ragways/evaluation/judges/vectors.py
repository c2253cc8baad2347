"""Vectors of sentences and of tokens, each text embedded once: records of one question share most of their evidence."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ragways.evaluation.judges.shown import sentences

if TYPE_CHECKING:
    from ragways.models.embed import Embedder, Vectors

ROWS = 40_000
"""Rows that are kept, of sentences and of tokens alike: 60 MB at 384 numbers each."""

ROOM = 250
"""Tokens handed to the embedder at once when each is looked at: the built-in one reads no further than 254."""


class Kept:
    """Vectors by text. Those not used for longest go first once there are more than `most` rows."""

    def __init__(self, most: int = ROWS) -> None:
        self._most, self._rows = most, 0
        self._known: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    async def of(
        self, kind: str, texts: Sequence[str], make: Callable[[list[str]], Awaitable[list[Vectors]]]
    ) -> list[Vectors]:
        """One a text, in order; `make` is asked for those not known, all at once."""
        found = {text: known for text in dict.fromkeys(texts) if (known := self._get(kind, text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            for text, made in zip(missing, await make(missing), strict=True):
                found[text] = made
                self._put(kind, text, made)
        return [found[text] for text in texts]

    def _get(self, kind: str, text: str) -> Vectors | None:
        known = self._known.get((kind, text))
        if known is not None:
            self._known.move_to_end((kind, text))
        return known

    def _put(self, kind: str, text: str, made: Vectors) -> None:
        before = self._known.pop((kind, text), None)
        self._known[kind, text] = made
        self._rows += _cost(made) - (_cost(before) if before is not None else 0)
        while self._rows > self._most and len(self._known) > 1:
            _, gone = self._known.popitem(last=False)
            self._rows -= _cost(gone)


def _cost(made: Vectors) -> int:
    """Rows; a text without any takes room too."""
    return max(1, len(made))


_kept: WeakKeyDictionary[Embedder, Kept] = WeakKeyDictionary()


async def of_sentences(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """A row of length 1 a text: (texts, dimension)."""
    import numpy as np

    async def make(missing: list[str]) -> list[Vectors]:
        return [row[None] for row in await embedder.embed(missing)]

    rows = await _kept.setdefault(embedder, Kept()).of("sentence", texts, make)
    return np.concatenate(rows) if rows else np.zeros((0, embedder.dimension), np.float32)


async def of_tokens(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    """For each text a row of length 1 a token, special tokens left out, however long the text is."""
    import numpy as np

    async def make(missing: list[str]) -> list[Vectors]:
        parts = [stretches(embedder, text) if text.strip() else [] for text in missing]
        made = iter(await embedder.tokens([part for some in parts for part in some]))
        nothing = np.zeros((0, embedder.dimension), np.float32)
        return [np.concatenate([nothing, *(next(made) for _ in some)]) for some in parts]

    return await _kept.setdefault(embedder, Kept()).of("tokens", texts, make)


def stretches(embedder: Embedder, text: str) -> list[str]:
    """The text where it has room, else in runs of whole sentences that do. A single sentence without room is cut there
    by the embedder.
    """
    if embedder.count([text])[0] <= ROOM:
        return [text]
    runs: list[list[str]] = [[]]
    used = 0
    lines = sentences(text) or (text,)
    for sentence, tokens in zip(lines, embedder.count(lines), strict=True):
        if runs[-1] and used + tokens > ROOM:
            runs.append([])
            used = 0
        runs[-1].append(sentence)
        used += tokens
    return [" ".join(run) for run in runs]
