"""What must hold of the layer of windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragways.index.chunk_vectors import check_array
from ragways.index.layer import CheckContext, Finding, findings
from ragways.index.sentences import sentence_counts
from ragways.index.windows.edges import Space, nearest_and_offers
from ragways.index.windows.reader import FOLDER, Windows, made_of


def check_rows(context: CheckContext) -> Iterator[Finding]:
    """Windows of documents."""
    if not (context.derived / FOLDER).is_dir():
        return
    layer = Windows.open(context.derived)
    left_out = made_of(context.derived / FOLDER)["left_out"]
    counts = dict(sentence_counts(context.store.db))
    wanted = counts.keys() - {*left_out}
    there = set(layer.documents.numbers.tolist())
    cure = context.cure_of_derived
    lacking, extra = (f"article:{n}" for n in sorted(wanted - there)), (f"article:{n}" for n in sorted(there - wanted))
    yield from findings("documents without windows", "error", lacking, cure)
    yield from findings("windows of documents that are not there", "error", extra, cure)
    twice = len(layer.documents) - len(there)
    if twice:
        yield Finding("documents with windows twice", "error", twice, "", cure)
    # Sentences of the index are those of the store.
    ends = layer.window_at[[layer.windows_of(id)[-1] for id in layer.documents], 1] if len(layer) else np.zeros(0)
    held = np.diff(ends, prepend=0).tolist()
    other = (id for id, n, count in zip(layer.documents, layer.documents.numbers.tolist(), held, strict=True)
             if counts.get(n) != count)  # fmt: skip
    yield from findings("documents with other sentences than theirs", "error", other, cure)


def check_vectors(context: CheckContext) -> Iterator[Finding]:
    """Vectors of windows."""
    if (context.derived / FOLDER).is_dir():
        layer = Windows.open(context.derived)
        yield from check_array(context, f"{FOLDER}/windows", layer.windows)
        yield from check_array(context, f"{FOLDER}/sentences", layer.sentences)


def check_edges(context: CheckContext) -> Iterator[Finding]:
    """Edges between windows."""
    if not (context.derived / FOLDER).is_dir():
        return
    layer = Windows.open(context.derived)
    owners, ids, cure = layer.window_at[:, 2], layer.windows.ids, context.cure_of_derived
    for name, edges, own in (("within", layer.within.packed(), True), ("across", layer.across.packed(), False)):
        rows = np.repeat(np.arange(len(edges)), np.diff(edges.start))
        wrong = (owners[rows] == owners[edges.to]) != own
        yield from findings(f"edges {name} documents that are none", "error", (ids[r] for r in rows[wrong]), cure)


_ASKED = 64


def check_recall(context: CheckContext) -> Iterator[Finding]:
    """How many of the nearest windows in other documents windows are joined to."""
    if (context.derived / FOLDER).is_dir() and len(layer := Windows.open(context.derived)):
        made = made_of(context.derived / FOLDER)
        context.figures["window_edges_recall"] = 1.0 if made["exact"]["across"] else recall(layer)
    yield from ()


def recall(layer: Windows) -> float:
    """The share of the nearest windows in other documents that windows from all over are joined to; what is as near as
    the last of these is as good.
    """
    space = Space(layer.windows.matrix, layer.window_at[:, 2].astype(np.int64), layer.window_same)
    asked = np.unique(np.linspace(0, len(layer) - 1, _ASKED).astype(np.int32))
    joined = [layer.across.of(row)[1] for row in asked.tolist()]
    k = max(map(len, joined), default=0)
    nearest, _ = nearest_and_offers(space, asked, k, np.full(len(layer), np.inf, np.float32), 0)
    wanted = (nearest.to >= 0).sum(axis=1)
    least = nearest.similarity[np.arange(len(asked)), np.maximum(wanted - 1, 0)]
    found = sum(int((some >= last).sum()) for some, last in zip(joined, least, strict=True))
    return found / max(1, int(wanted.sum()))
