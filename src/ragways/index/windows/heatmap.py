"""How similar the windows of a document are to each other, as one HTML file that needs nothing else.

Red is similar, blue is not: squares along the diagonal are stretches on one subject, and what is blue throughout stands
apart. The picture is a PNG inside the page, so it shows without scripts; a script only tells what the pointer is on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zlib
from html import escape

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import UsageError
from ragways.index.reader import Index

MOST = 400
"""Windows to a side. Of longer documents as many are taken at even distances."""

_CHARACTERS = 240
_BLUE, _PALE, _RED = (38, 70, 160), (246, 244, 240), (178, 24, 43)


def heatmap(index: Index, document: str, *, most: int = MOST) -> str:
    """The page for the document of this id."""
    layer = index.windows
    found = index.document(document)
    if found is None or document not in layer.themed:
        raise UsageError(f"no document {document!r} has windows", "see them with: ragways status --documents")
    every = layer.windows_of(document)
    rows = _sample(every, most)
    vectors = np.asarray(layer.windows.matrix)[rows]
    similarities = vectors @ vectors.T
    low, high = _range(similarities)
    texts = []
    for row in rows:
        sentences = layer.sentence_at[list(layer.sentences_of(row))]
        texts.append(" ".join(found.text[start:end] for start, end in sentences.tolist())[:_CHARACTERS])
    themed = layer.themes(document)
    return _PAGE.format(
        policy=_policy(),
        style=_STYLE,
        script=_SCRIPT,
        title=escape(found.title),
        themes=escape(", ".join(themed.themes)),
        way=escape(themed.way),
        size=_size_said(len(rows), len(every)),
        low=f"{low:.2f}",
        high=f"{high:.2f}",
        picture=base64.b64encode(_png(_levels(similarities, low, high))).decode(),
        legend=base64.b64encode(_png(np.arange(256, dtype=np.uint8)[None, :])).decode(),
        data=_script_json(
            {
                "names": [layer.windows.ids[row] for row in rows],
                "texts": texts,
                "low": low,
                "high": high,
                "levels": base64.b64encode(_levels(similarities, low, high).tobytes()).decode(),
            }
        ),
    )


def _sample(rows: range, most: int) -> list[int]:
    if len(rows) <= most:
        return list(rows)
    return [rows[place] for place in np.linspace(0, len(rows) - 1, most).round().astype(int).tolist()]


def _size_said(shown: int, total: int) -> str:
    if shown == total:
        return f"{total:,} windows, in reading order"
    return f"a sample: {shown:,} of {total:,} windows, at even distances, in reading order"


def _range(similarities: NDArray[np.float32]) -> tuple[float, float]:
    """From the least to the greatest off the diagonal, which is 1 everywhere and would pale the rest."""
    others = similarities[~np.eye(len(similarities), dtype=bool)]
    if not len(others) or others.min() == others.max():
        return 0.0, 1.0
    return float(others.min()), float(others.max())


def _levels(similarities: NDArray[np.float32], low: float, high: float) -> NDArray[np.uint8]:
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


def _policy() -> str:
    """Only this very style and script, and pictures that stand in the page; nothing is fetched."""
    style, script = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (_STYLE, _SCRIPT))
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _script_json(value: object) -> str:
    """JSON that cannot end the script it stands in."""
    text = json.dumps(value, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


_STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1f2328; --rule: #dedbd3; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e8e6e1; --rule: #343941; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
body { background: var(--paper); color: var(--ink); overflow-wrap: anywhere; }
#map { width: min(100%, 40rem); aspect-ratio: 1; image-rendering: pixelated; border: 1px solid var(--rule); }
.legend img { width: 12rem; height: .8rem; vertical-align: middle; }
#told { min-height: 9rem; }
#told b { font-weight: 600; }
"""

_SCRIPT = """
const data = JSON.parse(document.getElementById("data").textContent);
const levels = atob(data.levels), count = data.names.length;
const map = document.getElementById("map"), told = document.getElementById("told");
function line(number) {
  const p = document.createElement("p"), b = document.createElement("b");
  b.textContent = data.names[number] + " ";
  p.append(b, data.texts[number]);
  return p;
}
map.addEventListener("pointermove", (event) => {
  const box = map.getBoundingClientRect();
  const place = (at, length) => Math.min(count - 1, Math.max(0, Math.floor(at / length * count)));
  const x = place(event.clientX - box.left, box.width), y = place(event.clientY - box.top, box.height);
  const level = levels.charCodeAt(y * count + x) / 255;
  const similarity = document.createElement("p");
  similarity.textContent = x === y ? "the same window" : (data.low + level * (data.high - data.low)).toFixed(2);
  told.replaceChildren(similarity, line(y), line(x));
});
"""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}: windows</title>
<style>{style}</style>
<h1>{title}</h1>
<p>Themes ({way}): {themes}.</p>
<p>Similarity of each window to each other: {size}.</p>
<p class="legend">{low} <img alt="from blue to red" src="data:image/png;base64,{legend}"> {high}</p>
<img id="map" alt="Heat map of the similarities between the windows of {title}" src="data:image/png;base64,{picture}">
<div id="told"></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</html>
"""
