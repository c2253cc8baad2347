"""Walks as SVG. Every number is ours, and every text goes through the `said` that escapes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ragways.apps.picture.walk import Journey, Node, Reach

Said = Callable[[str], str]

_STEP, _LANE, _LABELS = 88, 46, 230
_BOX, _ROW, _GAP, _HEAD = 270, 40, 130, 30
_LETTERS = 32  # that a label has room for


def lanes(journey: Journey) -> dict[str, int]:
    """Documents in the order that the walk came to them: a lane and a colour each."""
    return {title: number for number, title in enumerate(dict.fromkeys(visit.title for visit in journey.visits))}


def measured(similarity: float) -> str:
    """A similarity, or, where a traversal measures by distance, which it writes below 0, that distance."""
    return f"{similarity:.3f}" if similarity >= 0 else f"distance {-similarity:.3f}"


def journey_drawing(journey: Journey, said: Said) -> str:
    """Documents as lanes, hops from left to right: the larger a stop, the more similar."""
    rows = lanes(journey)
    width, height = _LABELS + _STEP * max(len(journey.visits), 1), _LANE * max(len(rows), 1) + 16
    places = [
        (_LABELS + _STEP * number + _STEP // 2, 8 + _LANE * rows[visit.title] + _LANE // 2)
        for number, visit in enumerate(journey.visits)
    ]
    lines = [
        f'<line class="lane" x1="{_LABELS}" x2="{width}" y1="{_y(row)}" y2="{_y(row)}"/>'
        f'<text x="14" y="{_y(row) + 4}">{said(_short(title))}</text>'
        for title, row in rows.items()
    ]
    lines += [_hop(before, after) for before, after in pairwise(places)]
    for number, ((x, y), visit) in enumerate(zip(places, journey.visits, strict=True), start=1):
        # A distance is below 0 and the nearer to it the better; a cosine is up to 1.
        size = 11 + 7 * max(0.0, min(1.0, visit.similarity if visit.similarity >= 0 else 1 + visit.similarity))
        lines.append(
            f'<g class="c{rows[visit.title] % 6}"><title>{said(f"{measured(visit.similarity)}, {visit.why}")}</title>'
            f'<circle class="dot" cx="{x}" cy="{y}" r="{size:.1f}"/>'
            f'<text class="number" x="{x}" y="{y + 4.5}">{number}</text></g>'
        )
    return _svg(width, height, "Windows in the order of the walk, a lane for each document", lines)


def reach_drawing(reach: Reach, said: Said) -> str:
    """Seeds, the strongest entities and the passages as columns; bars are their shares, lines what joins them."""
    columns = (("seed", "seeds", reach.seeds), ("entity", "strongest entities", reach.entities),
               ("passage", "passages", reach.passages))  # fmt: skip
    tallest = max(len(nodes) for _, _, nodes in columns)
    height, width = _HEAD + _ROW * max(tallest, 1) + 12, 3 * _BOX + 2 * _GAP + 28
    lines, boxes = [], []
    places: dict[str, tuple[int, int]] = {}
    for number, (kind, title, nodes) in enumerate(columns):
        left = 14 + number * (_BOX + _GAP)
        boxes.append(f'<text class="soft" x="{left}" y="20">{title}</text>')
        top = _HEAD + (tallest - len(nodes)) * _ROW // 2
        most = max((node.score for node in nodes), default=1.0) or 1.0
        for row, node in enumerate(nodes):
            places[node.id] = (left, top + row * _ROW)
            boxes.append(_node(kind, node, left, top + row * _ROW, node.score / most, said))
    for one, other in reach.links:
        if one in places and other in places:
            lines.append(_link(places[one], places[other]))
    return _svg(width, height, "Seeds, entities and passages of PageRank", [*lines, *boxes])


def _node(kind: str, node: Node, x: int, y: int, share: float, said: Said) -> str:
    tip = f"{node.name}: {node.text[:200]}" if node.text else node.name
    return (
        f'<g class="{kind}"><title>{said(tip)}</title>'
        f'<rect class="box" x="{x}" y="{y}" width="{_BOX}" height="30" rx="6"/>'
        f'<rect class="share" x="{x}" y="{y}" width="{_BOX * max(0.0, min(1.0, share)):.1f}" height="30" rx="6"/>'
        f'<text x="{x + 10}" y="{y + 19}">{said(_short(node.name, _LETTERS - 4))}</text>'
        f'<text class="soft" x="{x + _BOX - 50}" y="{y + 19}">{node.score:.4f}</text></g>'
    )


def _hop(before: tuple[int, int], after: tuple[int, int]) -> str:
    (x1, y1), (x2, y2) = before, after
    middle = (x1 + x2) / 2
    return (
        f'<path class="hop" d="M{x1} {y1} C{middle:.0f} {y1} {middle:.0f} {y2} {x2 - 22} {y2}"/>'
        f'<path class="tip" d="M{x2 - 16} {y2} l-9 -5 v10 z"/>'
    )


def _link(one: tuple[int, int], other: tuple[int, int]) -> str:
    x1, y1, x2, y2 = one[0] + _BOX, one[1] + 15, other[0], other[1] + 15
    bend = (x2 - x1) / 2
    return f'<path class="link" d="M{x1} {y1} C{x1 + bend:.0f} {y1} {x2 - bend:.0f} {y2} {x2} {y2}"/>'


def _y(row: int) -> int:
    return 8 + _LANE * row + _LANE // 2


def _short(text: str, most: int = _LETTERS) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(width: int, height: int, label: str, lines: Sequence[str]) -> str:
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{label}">{"".join(lines)}</svg>'
    )
