"""The layer of windows: embeds windows, sentences and themes, and derives the edges between them.

When documents come or go, only theirs are worked on: rows lie in segments (`segment.py`), and of the edges those are
computed that can have changed (`neighbours.py`). A document whose texts have no vectors yet, because a budget ended the
work, is left out whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext, no_files
from ragways.index.packed import PackedRows
from ragways.index.segments import Rows, SegmentDocuments, segments
from ragways.index.segments import renew as renew_segments
from ragways.index.settings import WindowSettings
from ragways.index.store import Store, derived_folder
from ragways.index.windows.checks import check_edges, check_recall, check_rows, check_vectors
from ragways.index.windows.joined import JoinedSegments
from ragways.index.windows.neighbours import SlotTables, renew_nearest
from ragways.index.windows.projection import FEW, Moments
from ragways.index.windows.reader import FOLDER, Windows, made_of
from ragways.index.windows.segment import WindowSegment, WindowSegments, from_hashes, to_hashes
from ragways.index.windows.sliding import WindowedDocument, window_counts, windowed_documents
from ragways.index.windows.slots import Slots
from ragways.index.windows.themes import (
    KIND,
    RULE,
    ask_themes,
    themes_hash,
    themes_of,
    themes_to_come,
    words_hash,
)

_TEXTS_AT_ONCE = 8192
_DOCUMENTS_AT_ONCE = 1000
_PAIR_SECONDS = 2e-8
"""To compare two windows of 384 numbers on one core, among many (`benchmarks/windows.py`)."""
_ROW_SECONDS = 2e-3
"""To find the neighbours of a window where not all are compared."""


# Work


async def _work(context: BuildContext) -> None:
    settings, numbers = _settings(context), _unfinished(context)
    waiting: dict[str, str] = {}
    for slid in windowed_documents(context.store, settings, numbers):
        waiting |= {content_hash(text): text for text in (*slid.window_texts(), *slid.sentence_texts())}
        if len(waiting) >= _TEXTS_AT_ONCE:
            await context.embed(waiting)
            waiting = {}
    await context.embed(waiting)
    try:
        await ask_themes(context, windowed_documents(context.store, settings, numbers))
    finally:
        # Where a budget ends the asking, the rest have their themes by the rule.
        themes = themes_of(context, windowed_documents(context.store, settings, numbers))
        await context.embed({content_hash(themed.text): themed.text for themed in themes.values()})


def _unfinished(context: BuildContext) -> Sequence[int] | None:
    """Numbers of the documents that there may be work for; None for all. They are those that are new, those that were
    left out, and, if there is a model, those whose themes it has not named yet.
    """
    if context.changes is None:
        return None
    before = _before(context)
    asks = context.model.model is not None
    if before is None:  # a shard has no files of this layer
        return None if asks or context.store.meta().get("unfinished") else sorted(context.changes.fresh)
    waiting = _by_rule(before)[0] if asks else []
    return sorted({*context.changes.fresh, *made_of(before)["left_out"], *waiting} - context.changes.removed)


def _by_rule(before: Path) -> tuple[list[int], list[str]]:
    """The documents whose themes no model has named, and what it would be asked, by hash."""
    numbers: list[int] = []
    asked: list[str] = []
    for path in segments(before):
        part = WindowSegment.load(path)
        ruled = ~part.of_documents.by_model
        numbers += part.documents.numbers[ruled].tolist()
        asked += [row.tobytes().hex() for row in part.of_documents.work[ruled, 1]]
    return numbers, asked


def _before(context: BuildContext) -> Path | None:
    """The layer's folder of the generation before, where it may be taken over."""
    if context.before is None or context.changes is None or not (context.before / FOLDER / "made.json").is_file():
        return None
    made, meta = made_of(context.before / FOLDER), context.store.meta()
    alike = made["settings"] == _settings(context).model_dump() and made["embedder"] == meta["embedder"]
    return context.before / FOLDER if alike else None


def _settings(context: BuildContext) -> WindowSettings:
    return context.settings_of("windows", WindowSettings)


# Files


def _derive(context: BuildContext, folder: Path) -> None:
    settings, meta = _settings(context), context.store.meta()
    dimension, target, before = int(meta["dimension"]), folder / FOLDER, _before(context)
    old = _Replaced(context, before, dimension)
    kind = WindowSegments(settings, old.used)
    counts = partial(window_counts, context.store, settings)
    renew_segments(target, before, context, kind, counts=counts, again=old.again)
    joined = JoinedSegments.load(target, dimension)
    new = joined.holds(old.numbers) if before is not None else np.ones(len(joined.numbers), np.bool_)
    fresh = np.flatnonzero(np.repeat(new, joined.window_counts)).astype(np.int32)
    windows, themes = joined.windows_space(), joined.themes_space()
    if len(windows) > FEW:
        if old.moments is None:
            moments = Moments.of(windows.matrix)
        else:
            moments = old.moments
            moments.add(PackedRows(*joined.vectors("windows")).take(fresh))
        moments.save(target)
    was_exact = made_of(before)["exact"] if before is not None else {}
    exact: dict[str, bool] = {}
    for name, space, slots, k, gone, rows in (
        ("across", windows, joined.slots, settings.top_x, old.slots[0], fresh),
        ("themes", themes, joined.theme_slots, settings.top_t, old.slots[1], np.flatnonzero(new).astype(np.int32)),
    ):
        tables = SlotTables(target, name, before, was_exact.get(name, True))
        exact[name] = renew_nearest(tables, space, slots, k, gone=gone, fresh=rows)
    made = {
        "settings": settings.model_dump(),
        "embedder": meta["embedder"],
        "dimension": dimension,
        "exact": exact,
        "left_out": sorted(kind.left_out),
    }
    (target / "made.json").write_text(json.dumps(made, sort_keys=True), encoding="utf-8")


class _Replaced:
    """What the generation before has of documents that went, or that are made anew: `again` are those that did not
    change. `slots` are theirs, of windows and of documents, and `used` all others.
    """

    def __init__(self, context: BuildContext, before: Path | None, dimension: int) -> None:
        nothing = np.zeros(0, np.int32)
        self.again: frozenset[int] = frozenset()
        self.numbers: Rows = np.zeros(0, np.int64)
        self.moments: Moments | None = None
        self.slots: tuple[Slots, Slots] = (nothing, nothing)
        self.used: tuple[Slots, Slots] = (nothing, nothing)
        if before is None or context.changes is None:
            return
        self.again = frozenset(made_of(before)["left_out"]) | _themed_since(context, before)
        self.numbers = np.array(sorted(context.changes.gone | context.changes.fresh | self.again), np.int64)
        joined = JoinedSegments.load(before, dimension)
        documents = joined.holds(self.numbers)
        windows = np.repeat(documents, joined.window_counts)
        self.slots = joined.slots[windows], joined.theme_slots[documents]
        self.used = joined.slots[~windows], joined.theme_slots[~documents]
        self.moments = Moments.load(before)
        if self.moments is not None:
            self.moments.add(PackedRows(*joined.vectors("windows")).take(np.flatnonzero(windows)), times=-1)


def _themed_since(context: BuildContext, before: Path) -> frozenset[int]:
    """Documents whose themes a model has named since, so that those by the rule are not theirs any more."""
    if not context.work_cache.count(KIND):
        return frozenset()
    numbers, asked = _by_rule(before)
    named = context.work_cache.results(KIND, asked)
    return frozenset(number for number, hash in zip(numbers, asked, strict=True) if hash in named)


def _rows(_: Store, derived: Path) -> int:
    folder = derived / FOLDER
    return sum(SegmentDocuments.load(path).size for path in segments(folder)) if folder.is_dir() else 0


def _plan(planning: PlanContext) -> LayerEstimate:
    context, settings = planning.context, _settings(planning.context)
    rows = sum(count for _, count in window_counts(context.store, settings))
    unthemed, usage = themes_to_come(context, windowed_documents(context.store, settings))
    said = [
        themed.text
        for themed in themes_of(planning.sample, windowed_documents(planning.sample.store, settings)).values()
    ]
    return LayerEstimate(
        rows,
        texts=(
            text
            for slid in windowed_documents(context.store, settings)
            for text in (*slid.window_texts(), *slid.sentence_texts())
        ),
        like=said,
        times=unthemed / max(1, len(said)),
        usage=usage,
        kind=KIND,
        seconds=min(_PAIR_SECONDS * rows, _ROW_SECONDS) * rows * planning.fresh,
        estimated="themes, edges" if unthemed or planning.fresh else "",
    )


# What is kept


def _hashes(context: BuildContext, documents: Iterable[WindowedDocument]) -> dict[str, set[str]]:
    """What work for documents is kept under, by its kind."""
    found: dict[str, set[str]] = {"vectors": set(), KIND: set(), RULE: set()}
    rest = iter(documents)
    while some := list(islice(rest, _DOCUMENTS_AT_ONCE)):
        themes = themes_of(context, some)
        for slid in some:
            texts = (*slid.window_texts(), *slid.sentence_texts(), themes[slid.id].text)
            found["vectors"].update(map(content_hash, texts))
            found[KIND].add(themes_hash(slid))
            found[RULE].add(words_hash(slid))
    return found


def _used(context: BuildContext) -> dict[str, set[str]]:
    return _hashes(context, windowed_documents(context.store, _settings(context)))


def _freed(context: BuildContext) -> Set[str] | None:
    """What work was kept under for documents that went or changed."""
    before = _before(context)
    if before is None or context.changes is None:
        return None
    gone = np.array(sorted(context.changes.gone), np.int64)
    parts = [WindowSegment.load(path) for path in segments(before)]
    return set[str]().union(*(part.hashes_of(part.documents.holds(gone)) for part in parts))


def _still_used(context: BuildContext, hashes: Set[str]) -> Set[str]:
    """Those of the hashes that the generation to come has, or that a document needs which it leaves out."""
    folder = derived_folder(context.store.folder, int(context.store.meta()["generation"])) / FOLDER
    found: set[str] = set()
    wanted = to_hashes(sorted(hashes))[:, 0]
    likely = np.zeros(1 << 16, np.bool_)  # by some bits of a hash: what few of these fit is compared whole
    likely[wanted & np.uint64(0xFFFF)] = True
    for path in segments(folder):
        part = WindowSegment.load(path)
        for kept in (part.of_windows.window_texts, part.of_sentences.sentence_texts, part.of_documents.work):
            rows = kept.reshape(-1, 2)
            found |= from_hashes(rows[likely[rows[:, 0] & np.uint64(0xFFFF)]])
    left_out = windowed_documents(context.store, _settings(context), made_of(folder)["left_out"])
    return hashes & found.union(*_hashes(context, left_out).values())


def _kept_vectors(derived: Path) -> Iterator[NDArray[np.int8]]:
    folder = derived / FOLDER
    joined = JoinedSegments.load(folder, made_of(folder)["dimension"])
    for name in ("windows", "sentences", "themes"):
        yield from joined.vectors(name)


WINDOWS = Layer(
    name="windows",
    summary="windows of sentences joined to the most similar ones, for traversals",
    needs=frozenset({"vectors"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
    freed=_freed,
    still_used=_still_used,
    kept_vectors=_kept_vectors,
    checks=(check_rows, check_vectors, check_edges, check_recall),
    settings=WindowSettings,
    open=Windows.open,
    files=(FOLDER,),
    rows=_rows,
    kinds=frozenset({KIND}),
    # Windows, sentences and themes are a document's own; only edges lead to others.
    apart=Layer(
        "windows", "vectors of windows", frozenset(), derive=no_files, work=_work, used=_used, settings=WindowSettings
    ),
)
