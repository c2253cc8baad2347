"""The graph of windows as a picture in two dimensions and in three: windows, what joins them, a walk, the question.

Places are those of the projection that one traversal walks by: the directions in which windows differ most. The first
two of them make the flat picture, all three the deep one. Both are plain SVG.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import UsageError
from ragways.core.text import counted, printable
from ragways.index.lookup import find_document
from ragways.index.open import Index
from ragways.pictures.shell import page_file, shell

Floats = NDArray[np.float64]
Place = tuple[float, float, float]
LIMIT = 400
"""Windows of a picture. Of more, those of the walk and a sample at even distances are shown."""
_EDGES = 3  # of a window, to those most similar to it
_SIDE, _MARGIN = 520, 22
_TURN, _TILT, _FAR = math.radians(35), math.radians(22), 4.5  # from where the deep picture is seen
_TIP = 160  # characters of a window that are shown under the pointer


@dataclass(frozen=True, slots=True)
class WindowMap:
    """Windows by place, with the title of their document and the beginning of their text. `edges` and `walk` hold
    numbers of windows, the walk in its order; `question` is its place, None where it is not known.
    """

    places: tuple[Place, ...]
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    walk: tuple[int, ...] = ()
    question: Place | None = None

    @property
    def documents(self) -> tuple[str, ...]:
        """Titles, each once, those of the walk first and in its order."""
        return tuple(dict.fromkeys([*(self.titles[number] for number in self.walk), *self.titles]))


def walk_map(index: Index, visited: Sequence[int], question: NDArray[np.floating] | None = None) -> WindowMap:
    """The windows of the documents that a walk came to, with the walk; `question` is the vector of the question."""
    windows = index.windows
    documents = dict.fromkeys(map(windows.document_of, visited))
    return _map(index, (row for id in documents for row in windows.windows_of(id)), visited, question)


def document_map(index: Index, name: str) -> WindowMap:
    """The windows of the document of this id, key or title, and those of other documents that are joined to them."""
    index.require(["windows"])
    windows, id = index.windows, find_document(index, name)
    own = windows.windows_of(id)
    if not own:
        raise UsageError(f"no document {name!r} has windows", "see them with: ragways status --documents")
    joined = (other for row in own for other, _ in windows.near_across(row))
    return _map(index, [*own, *joined], (), None)


def _map(index: Index, rows: Iterable[int], visited: Sequence[int], question: NDArray[np.floating] | None) -> WindowMap:
    windows = index.windows
    every = list(dict.fromkeys(rows))
    picked = np.linspace(0, len(every) - 1, min(LIMIT, len(every))).round().astype(int).tolist()
    shown = sorted({*visited, *(every[place] for place in picked)})
    number = {row: at for at, row in enumerate(shown)}
    edges = set()
    for row in shown:
        near = sorted(windows.neighbours(row), key=lambda pair: (-pair[1], pair[0]))
        joined = [other for other, _ in near if other in number][:_EDGES]
        edges |= {(min(number[row], number[other]), max(number[row], number[other])) for other in joined}
    places = windows.projected(windows.points(shown))
    titles, texts = _described(index, shown)
    return WindowMap(
        tuple((x, y, z) for x, y, z in places.round(6).tolist()),
        titles,
        texts,
        tuple(sorted(edges)),
        tuple(number[row] for row in visited),
        None if question is None else _place(windows.projected(question)),
    )


def _place(point: NDArray[np.float64]) -> Place:
    x, y, z = point.round(6).tolist()
    return x, y, z


def _described(index: Index, rows: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    windows = index.windows
    documents = {id: index.document(id) for id in {windows.document_of(row) for row in rows}}
    titles, texts = [], []
    for row in rows:
        document = documents[windows.document_of(row)]
        spans = [windows.span_of(sentence) for sentence in windows.sentences_of(row)]
        titles.append(document.title if document is not None else "")
        texts.append(document.text[spans[0][0] : spans[-1][1]][:_TIP] if document is not None and spans else "")
    return tuple(titles), tuple(texts)


# As pictures


def map_page(index: Index, name: str) -> str:
    """A page with the two pictures of a document's windows."""
    found, document = document_map(index, name), index.document(find_document(index, name))
    title = document.title if document is not None else name
    body = f"<header><h1>{_text(title)}</h1></header>\n<main><section>{map_section(found)}</section></main>"
    return shell(printable(f"{title[:80]}: windows"), body, style=page_file("walk.css"))


def map_section(found: WindowMap) -> str:
    """Both pictures with a key to their colours."""
    key = " ".join(
        f'<span class="c{number % 6}"><b class="key">●</b> {_text(title)}</span>'
        for number, title in enumerate(found.documents)
    )
    what = f"{counted(len(found.places), 'window')}, joined to those most similar"
    what += "; ✕ is the question" if found.question is not None else ""
    return (
        f'<h3>The window graph in two dimensions and in three</h3><p class="soft">{what}. {key}</p>'
        f'<div class="maps"><div class="frame">{drawn(found, deep=False)}</div>'
        f'<div class="frame">{drawn(found, deep=True)}</div></div>'
    )


def drawn(found: WindowMap, *, deep: bool) -> str:
    """The map as SVG: from above, or, where `deep`, from aside, with what is nearer drawn larger."""
    places = [*found.places, *([found.question] if found.question is not None else [])]
    points = np.array(places, dtype=np.float64).reshape(-1, 3)
    flat, sizes, box = _seen(points, deep=deep)
    colour = {title: number % 6 for number, title in enumerate(found.documents)}
    at = [(round(x, 1), round(y, 1)) for x, y in flat.tolist()]
    parts = [f'<path class="lane" d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"/>' for (x, y), (u, v) in box]
    parts += [f'<path class="edge" d="M{at[a][0]} {at[a][1]}L{at[b][0]} {at[b][1]}"/>' for a, b in found.edges]
    for number in np.argsort(sizes[: len(found.places)], kind="stable").tolist():
        tip = _text(f"{found.titles[number]}: {found.texts[number]}")
        parts.append(
            f'<circle class="point c{colour[found.titles[number]]}" cx="{at[number][0]}" cy="{at[number][1]}" '
            f'r="{2.6 * sizes[number]:.1f}"><title>{tip}</title></circle>'
        )
    if found.walk:
        line = " ".join(f"{at[number][0]},{at[number][1]}" for number in found.walk)
        parts.append(f'<polyline class="hop" points="{line}"/>')
    for step, number in enumerate(found.walk, start=1):
        x, y = at[number]
        parts.append(
            f'<g class="c{colour[found.titles[number]]}"><circle class="dot" cx="{x}" cy="{y}" r="9"/>'
            f'<text class="number" x="{x}" y="{y + 4.5}">{step}</text></g>'
        )
    if found.question is not None:
        x, y = at[-1]
        parts.append(
            f'<g class="question"><title>the question</title><path d="M{x - 7} {y - 7}l14 14m0 -14l-14 14"/></g>'
        )
    label = f"Windows by similarity in {'three' if deep else 'two'} dimensions"
    return (
        f'<svg width="{_SIDE}" height="{_SIDE}" viewBox="0 0 {_SIDE} {_SIDE}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )


def _seen(points: Floats, *, deep: bool) -> tuple[Floats, Floats, list[tuple[list[float], list[float]]]]:
    """Where points stand on the picture, how large what stands there is drawn, and the edges of the box around them."""
    if not len(points):
        return np.zeros((0, 2)), np.zeros(0), []
    low, high = points.min(axis=0), points.max(axis=0)
    corners = np.array(list(product(*zip(low, high, strict=True)))) if deep else np.zeros((0, 3))
    every = np.concatenate([points, corners]) - (low + high) / 2
    every /= float(np.abs(every).max()) or 1.0
    sizes = np.ones(len(every))
    if deep:
        x, y, z = every.T
        x, z = x * math.cos(_TURN) + z * math.sin(_TURN), z * math.cos(_TURN) - x * math.sin(_TURN)
        y, z = y * math.cos(_TILT) - z * math.sin(_TILT), z * math.cos(_TILT) + y * math.sin(_TILT)
        sizes = _FAR / (_FAR - z)
        every = np.stack([x * sizes, y * sizes], axis=1)
    flat = every[:, :2] / (float(np.abs(every[:, :2]).max()) or 1.0)
    placed = _SIDE / 2 + flat * np.array([1.0, -1.0]) * (_SIDE / 2 - _MARGIN)
    ends = placed[len(points) :].tolist()
    # Corners whose numbers differ in one bit are joined.
    box = [(ends[a], ends[a | bit]) for a in range(len(ends)) for bit in (1, 2, 4) if not a & bit]
    return placed[: len(points)], sizes[: len(points)], box


def _text(text: str) -> str:
    return escape(printable(text))
