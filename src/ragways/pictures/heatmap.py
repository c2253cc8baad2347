"""How similar the windows of a document are to each other, as one HTML file that needs nothing else.

Red is similar, blue is not: squares along the diagonal are stretches on one subject, and what is blue throughout stands
apart. The picture is a PNG inside the page, so it shows without scripts; a script only tells what the pointer is on.
"""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import UsageError
from ragways.core.text import counted
from ragways.index.lookup import find_document
from ragways.index.open import Index
from ragways.pictures.shell import filled, page_file, shell

LIMIT = 400
"""Windows to a side. Of longer documents as many are taken at even distances."""

_CHARACTERS = 240
_BLUE, _PALE, _RED = (38, 70, 160), (246, 244, 240), (178, 24, 43)


def heatmap(index: Index, name: str, *, limit: int = LIMIT) -> str:
    """The page for the document of this id, key or title. Of more windows than `limit` a sample is shown."""
    index.require(["windows"])
    layer = index.windows
    id = find_document(index, name)
    document = index.document(id)
    every = layer.windows_of(id)
    if document is None or not every:
        raise UsageError(f"no document {name!r} has windows", "see them with: ragways status --documents")
    rows = _sample(every, limit)
    vectors = layer.points(rows)
    similarities = vectors @ vectors.T
    low, high = _range(similarities)
    levels = _levels(similarities, low, high)
    texts = []
    for row in rows:
        spans = map(layer.span_of, layer.sentences_of(row))
        texts.append(" ".join(document.text[start:end] for start, end in spans)[:_CHARACTERS])
    themed = layer.themes(id)
    parts = {
        "title": document.title,
        "themes": ", ".join(themed.themes),
        "way": themed.way,
        "size": _size_said(len(rows), len(every)),
        "low": f"{low:.2f}",
        "high": f"{high:.2f}",
        "picture": base64.b64encode(_png(levels)).decode(),
        "legend": base64.b64encode(_png(np.arange(256, dtype=np.uint8)[None, :])).decode(),
    }
    data = {
        "names": list(map(layer.window_id, rows)),
        "texts": texts,
        "low": low,
        "high": high,
        "levels": base64.b64encode(levels.tobytes()).decode(),
    }
    return shell(
        f"{document.title}: windows",
        filled(page_file("heatmap.html"), {name: escape(part) for name, part in parts.items()}),
        style=page_file("heatmap.css"),
        script=page_file("heatmap.js"),
        data={"data": data},
        images=True,
    )


def _sample(rows: range, limit: int) -> list[int]:
    if len(rows) <= limit:
        return list(rows)
    return [rows[place] for place in np.linspace(0, len(rows) - 1, limit).round().astype(int).tolist()]


def _size_said(shown: int, total: int) -> str:
    if shown == total:
        return f"{counted(total, 'window')}, in reading order"
    return f"a sample: {shown:,} of {total:,} windows, at even distances, in reading order"


def _range(similarities: NDArray[np.floating]) -> tuple[float, float]:
    """From the least to the greatest off the diagonal, which is 1 everywhere and would pale the rest."""
    others = similarities[~np.eye(len(similarities), dtype=bool)]
    if not len(others) or others.min() == others.max():
        return 0.0, 1.0
    return float(others.min()), float(others.max())


def _levels(similarities: NDArray[np.floating], low: float, high: float) -> NDArray[np.uint8]:
    scaled = np.clip((similarities - low) / (high - low), 0, 1)
    levels: NDArray[np.uint8] = np.round(scaled * 255).astype(np.uint8)
    return levels


def _png(levels: NDArray[np.uint8]) -> bytes:
    """A picture with a palette: one byte a cell, each row behind a byte that says "as it is"."""
    height, width = levels.shape
    data = np.hstack([np.zeros((height, 1), np.uint8), levels]).tobytes()
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _part(b"PLTE", _palette()),
            _part(b"IDAT", zlib.compress(data, 9)),
            _part(b"IEND", b""),
        ]
    )


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _palette() -> bytes:
    blue, pale, red = (np.array(colour, float) for colour in (_BLUE, _PALE, _RED))
    share = np.linspace(0, 2, 256)[:, None]
    colours = np.where(share < 1, blue + (pale - blue) * share, pale + (red - pale) * (share - 1))
    return bytes(colours.round().astype(np.uint8))
