"""The way to an answer as one HTML file that needs nothing else: no network, no script, every word escaped.

A picture for each walk that a step attached to the trace: windows hop by hop, or seeds, entities and passages of
PageRank. Every number in the SVG is ours, and every text goes through `escaped`, which escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragways.core.markdown import html
from ragways.core.text import counted, printable
from ragways.core.trace import Span
from ragways.core.types import Piece, answer_tree
from ragways.index.open import Index
from ragways.layers.layer import Scored
from ragways.layers.protocols import Graph
from ragways.pictures.shell import page_file, shell
from ragways.pictures.window_map import WindowMap, map_section, walk_map
from ragways.retrieval.ask import Result
from ragways.retrieval.knowledge_graph import GraphWalk
from ragways.retrieval.traversals import WindowPath, WindowTexts

SEEDS, ENTITIES, PASSAGES = 8, 12, 8
"""Of each that a picture shows."""
_CHARACTERS = 700  # of a sentence; one that is longer is a table
_LINKS = 3  # lines that lead to one entity or passage
_PASSAGE = 240  # characters of a passage that are shown
_STEP, _LANE, _LABELS = 88, 46, 230
_BOX, _ROW, _GAP, _HEAD = 270, 40, 130, 30
_LETTERS = 32  # that a label has room for


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence of a window. `similarity`, to the question, is known of those that were gathered."""

    text: str
    gathered: bool
    similarity: float | None


@dataclass(frozen=True, slots=True)
class ShownWindow:
    """A window on the way: how similar it was by the traversal's own measure, and why it was chosen."""

    window: str
    title: str
    similarity: float
    why: str
    sentences: tuple[ShownSentence, ...]


@dataclass(frozen=True, slots=True)
class PathPicture:
    """The windows of a traversal in its order, why it stopped, and where it went on the map of windows."""

    name: str
    windows: tuple[ShownWindow, ...]
    stopped: str
    map: WindowMap | None = None


@dataclass(frozen=True, slots=True)
class ShownNode:
    """An entity or a passage, with its share of the walk."""

    id: str
    name: str
    score: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """What PageRank led to. `links` join ids: seeds to entities, and both to passages."""

    name: str
    seeds: tuple[ShownNode, ...]
    entities: tuple[ShownNode, ...]
    passages: tuple[ShownNode, ...]
    links: tuple[tuple[str, str], ...]


Picture = PathPicture | GraphPicture


def pictures(index: Index, result: Result, question: NDArray[np.floating] | None = None) -> list[Picture]:
    """One for each walk in the trace, in its order; a loop has several. `question` is the vector of the question, which
    is a point on the map of windows.
    """
    found: list[Picture] = []
    for span in result.trace.walk():
        for each in span.attachments:
            if isinstance(each, WindowPath):
                found.append(_path_picture(index, span.name, each, result, question))
            elif isinstance(each, GraphWalk):
                found.append(_graph_picture(index, span.name, each))
    return found


def _path_picture(
    index: Index, name: str, path: WindowPath, result: Result, question: NDArray[np.floating] | None
) -> PathPicture:
    windows = index.windows
    texts = WindowTexts(index, windows)
    near = {hit.piece.id: found.score for hit in result.answer.evidence.hits.items for found in hit.found}
    shown, rows = [], []
    for visited in path.windows:
        if (row := windows.row_of(visited.window)) is None:
            continue  # the index was rebuilt meanwhile
        rows.append(row)
        sentences = []
        for sentence in windows.sentences_of(row):
            id = windows.sentence_id(sentence)
            text = texts.sentence(sentence)[:_CHARACTERS]
            sentences.append(ShownSentence(text, id in visited.sentences, near.get(id)))
        title = texts.title(row)
        shown.append(ShownWindow(visited.window, title, visited.similarity, visited.why, tuple(sentences)))
    return PathPicture(name, tuple(shown), path.stopped, walk_map(index, rows, question) if rows else None)


def _graph_picture(index: Index, name: str, walk: GraphWalk) -> GraphPicture:
    graph = index.graph
    first = {id: score for id, score in walk.seeds[:SEEDS] if id in graph}
    strongest = walk.entities if walk.entities is not None else _strongest(graph, walk.seeds)
    others = {id: score for id, score in strongest if id not in first and id in graph}
    others = dict(list(others.items())[:ENTITIES])
    scores = dict(walk.passages[:PASSAGES])
    pieces = index.pieces(scores)
    named = graph.entities([*first, *others])
    return GraphPicture(
        name,
        tuple(ShownNode(id, named[id].name, score, named[id].description) for id, score in first.items()),
        tuple(ShownNode(id, named[id].name, score, named[id].description) for id, score in others.items()),
        tuple(ShownNode(id, piece.title, scores[id], piece.text) for id, piece in pieces.items()),
        tuple(_links(index, first, others, pieces)),
    )


def _strongest(graph: Graph, seeds: Sequence[tuple[str, float]]) -> Scored:
    """Where the walk over entities and passages leaves its mass among entities: walked again, as answers need not
    know it.
    """
    return graph.walked_entities(dict(seeds), SEEDS + ENTITIES)


def _links(
    index: Index, seeds: Mapping[str, float], entities: Mapping[str, float], pieces: Mapping[str, Piece]
) -> list[tuple[str, str]]:
    """For each entity the seeds that are joined to it, for each passage the seeds and entities that it names."""
    graph = index.graph
    links = []
    for id in entities:
        joined = dict(graph.neighbours(id, 10_000))
        near = sorted((seed for seed in seeds if seed in joined), key=lambda seed: (-joined[seed], seed))
        links += [(seed, id) for seed in near[:_LINKS]]
    for id in pieces:
        named = {entity for entity, _ in graph.mentioned([id], 10_000)}
        links += [(entity, id) for entity in [*seeds, *entities] if entity in named][:_LINKS]
    return links


def walk_page(results: Sequence[tuple[Result, Sequence[Picture]]]) -> str:
    """A section for each answer: the answer, the pictures of its walks, and its steps."""
    question = results[0][0].question
    contents = _contents([result for result, _ in results])
    sections = "\n".join(_section(result, pictures) for result, pictures in results)
    body = f"<header><h1>{escaped(question)}</h1>{contents}</header>\n<main>{sections}</main>"
    # No script at all.
    title = printable(f"{question[:80]}: the way to the answer")
    return shell(title, body, style=page_file("walk.css"))


def escaped(text: str) -> str:
    """Text of a document or a model as it may stand on the page."""
    return escape(printable(text))


def _contents(results: Sequence[Result]) -> str:
    if len(results) < 2:
        return ""
    names = [escaped(result.paradigm) for result in results]
    return f"<nav>{''.join(f'<a href=#{name}>{name}</a>' for name in names)}</nav>"


def _section(result: Result, pictures: Sequence[Picture]) -> str:
    evidence = result.answer.evidence
    found = f"{counted(len(evidence.items), 'piece')} of evidence, {counted(evidence.tokens, 'token')}"
    drawn = "".join(_path_section(each) if isinstance(each, PathPicture) else _graph_section(each) for each in pictures)
    return (
        f'<section id="{escaped(result.paradigm)}"><h2>{escaped(result.paradigm)}</h2>'
        f'<div class="answer">{printable(html(answer_tree(result.answer)))}</div>'
        f'<p class="soft">{escaped(found)} · {escaped(cost(result.trace))} · {escaped(result.answer.way)}</p>'
        f"{drawn}<h3>Steps</h3>{_steps(result.trace.children)}</section>"
    )


def _path_section(path: PathPicture) -> str:
    colours = _lanes(path)
    windows = "".join(_window(number, window, colours) for number, window in enumerate(path.windows, start=1))
    return (
        f"<h3>The walk: {counted(len(path.windows), 'window')}</h3>"
        f'<div class="frame">{_draw_path(path)}</div>{map_section(path.map) if path.map is not None else ""}'
        f'<ol>{windows}</ol><p class="soft">It stopped: {escaped(path.stopped)}.</p>'
    )


def _window(number: int, window: ShownWindow, colours: dict[str, int]) -> str:
    lines = []
    for sentence in window.sentences:
        near = f' <span class="soft">{sentence.similarity:.3f}</span>' if sentence.similarity is not None else ""
        text = escaped(sentence.text)
        lines.append(f"<mark>{text}</mark>{near}" if sentence.gathered else f'<span class="left">{text}</span>')
    return (
        f'<li class="visit c{colours[window.title] % 6}"><b>{number}. {escaped(window.title)}</b>'
        f'<span class="soft">{_measured(window.similarity)} · {escaped(window.why)} · {escaped(window.window)}</span>'
        f"<p>{' '.join(lines)}</p></li>"
    )


def _graph_section(graph: GraphPicture) -> str:
    rows = "".join(
        f'<li class="visit passage"><b>{escaped(node.name)}</b>'
        f'<span class="soft">{node.score:.4f} · {escaped(node.id)}</span>'
        f"<p>{escaped(node.text[:_PASSAGE])}{'…' if len(node.text) > _PASSAGE else ''}</p></li>"
        for node in graph.passages
    )
    return (
        f'<h3>PageRank: {escaped(graph.name)}</h3><div class="frame">{_draw_graph(graph)}</div>'
        f"<h3>Passages reached</h3><ol>{rows}</ol>"
    )


def _steps(steps: Sequence[Span]) -> str:
    return f"<ol>{''.join(_step(step) for step in steps)}</ol>" if steps else ""


def _step(step: Span) -> str:
    way = f" · {escaped(step.way)}" if step.way else ""
    ends = "".join(
        f"<dt>{word}</dt><dd>{escaped(text)}</dd>" for word, text in (("in", step.input), ("out", step.output)) if text
    )
    wrong = f'<p class="wrong">{escaped(step.error)}</p>' if step.error else ""
    return (
        f'<li class="step"><b>{escaped(step.name)}</b> <span class="soft">{escaped(cost(step))}{way}</span>'
        f'<div class="soft">{escaped(facts(step, {}))}</div><dl>{ends}</dl>{wrong}{_steps(step.children)}</li>'
    )


def _lanes(path: PathPicture) -> dict[str, int]:
    """Documents in the order that the walk came to them: a lane and a colour each."""
    return {title: number for number, title in enumerate(dict.fromkeys(window.title for window in path.windows))}


def _measured(similarity: float) -> str:
    """A similarity, or, where a traversal measures by distance, which it writes below 0, that distance."""
    return f"{similarity:.3f}" if similarity >= 0 else f"distance {-similarity:.3f}"


def _draw_path(path: PathPicture) -> str:
    """Documents as lanes, hops from left to right: the larger a stop, the more similar."""
    rows = _lanes(path)
    width, height = _LABELS + _STEP * max(len(path.windows), 1), _LANE * max(len(rows), 1) + 16
    places = [
        (_LABELS + _STEP * number + _STEP // 2, 8 + _LANE * rows[window.title] + _LANE // 2)
        for number, window in enumerate(path.windows)
    ]
    lines = [
        f'<line class="lane" x1="{_LABELS}" x2="{width}" y1="{_y(row)}" y2="{_y(row)}"/>'
        f'<text x="14" y="{_y(row) + 4}">{escaped(_short(title))}</text>'
        for title, row in rows.items()
    ]
    lines += [_hop(before, after) for before, after in pairwise(places)]
    for number, ((x, y), window) in enumerate(zip(places, path.windows, strict=True), start=1):
        # A distance is below 0 and the nearer to it the better; a cosine is up to 1.
        size = 11 + 7 * max(0.0, min(1.0, window.similarity if window.similarity >= 0 else 1 + window.similarity))
        tip = escaped(f"{_measured(window.similarity)}, {window.why}")
        lines.append(
            f'<g class="c{rows[window.title] % 6}"><title>{tip}</title>'
            f'<circle class="dot" cx="{x}" cy="{y}" r="{size:.1f}"/>'
            f'<text class="number" x="{x}" y="{y + 4.5}">{number}</text></g>'
        )
    return _svg(width, height, "Windows in the order of the walk, a lane for each document", lines)


def _draw_graph(graph: GraphPicture) -> str:
    """Seeds, the strongest entities and the passages as columns; bars are their shares, lines what joins them."""
    columns = (("seed", "seeds", graph.seeds), ("entity", "strongest entities", graph.entities),
               ("passage", "passages", graph.passages))  # fmt: skip
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
            boxes.append(_node(kind, node, left, top + row * _ROW, node.score / most))
    for one, other in graph.links:
        if one in places and other in places:
            lines.append(_link(places[one], places[other]))
    return _svg(width, height, "Seeds, entities and passages of PageRank", [*lines, *boxes])


def _node(kind: str, node: ShownNode, x: int, y: int, share: float) -> str:
    tip = f"{node.name}: {node.text[:200]}" if node.text else node.name
    return (
        f'<g class="{kind}"><title>{escaped(tip)}</title>'
        f'<rect class="box" x="{x}" y="{y}" width="{_BOX}" height="30" rx="6"/>'
        f'<rect class="share" x="{x}" y="{y}" width="{_BOX * max(0.0, min(1.0, share)):.1f}" height="30" rx="6"/>'
        f'<text x="{x + 10}" y="{y + 19}">{escaped(_short(node.name, _LETTERS - 4))}</text>'
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


def cost(span: Span) -> str:
    """Time, and what was spent on a model: `12.3 ms`, `1.2 s, 2 calls, 1,204 tokens`."""
    time = f"{span.seconds:.2f} s" if span.seconds >= 1 else f"{span.seconds * 1000:.1f} ms"
    used = span.total
    return f"{time}, {counted(used.calls, 'call')}, {counted(used.tokens, 'token')}" if used.calls else time


def facts(span: Span, names: Mapping[str, str]) -> str:
    """Settings of a step and what it counted: `k 10 · found 7`."""
    shown = ((key, _plain(value, names)) for key, value in span.details.items())
    return " · ".join(f"{key} {text}" for key, text in shown if text)


def _plain(value: object, names: Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value if len(value) <= 80 else value[:79] + "…"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        shown = [names.get(each, each) for each in value if isinstance(each, str)][:4]
        return ", ".join(shown) + (" …" if len(value) > len(shown) else "") if shown else ""
    return str(value) if isinstance(value, int) else ""
