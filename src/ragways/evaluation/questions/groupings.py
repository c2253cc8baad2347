"""Four ways to put together a context that a question is written from, before it is known what will be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from ragways.core.types import Piece
from ragways.evaluation.questions.draft import NothingToAsk, SupportingChunk
from ragways.evaluation.questions.source import QuestionSource

if TYPE_CHECKING:
    from ragways.layers.protocols import Windows

SENTENCES = 10
"""Sentences of a context, but for `sequential_multi_hop`."""
DOCUMENTS, READ = 3, 5
"""Documents of `sequential_multi_hop`, and sentences read in each."""
CHUNKS = 3
"""Chunks of `native`."""
Grouping = Callable[[QuestionSource, Random], tuple[SupportingChunk, ...]]


def intra_document(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """From a random window on, each time to the nearest of its document that holds no sentence seen before."""
    windows = source.index.windows
    here = _start(windows, random)
    path, seen = [here], set(windows.sentences_of(here))
    while len(seen) < SENTENCES:
        fresh = [row for row, _ in windows.near_within(here) if not seen & set(windows.sentences_of(row))]
        if not fresh:
            break
        here = fresh[0]
        path.append(here)
        seen |= set(windows.sentences_of(here))
    return _supports(source, windows, [list(windows.sentences_of(row)) for row in path])


def theme_based(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """From a random window on, each time to another document, the one of those near it whose themes are most alike."""
    windows = source.index.windows
    here = _start(windows, random)
    runs = [list(windows.sentences_of(here))]
    documents = [windows.document_of(here)]
    while sum(map(len, runs)) < SENTENCES:
        following = _by_theme(windows, here, documents)
        if following is None:
            break
        here = following
        documents.append(windows.document_of(here))
        runs.append(list(windows.sentences_of(here)))
    return _several(_supports(source, windows, runs))


def sequential_multi_hop(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """Read five sentences on, forwards or backwards; then to the document most alike in its themes; three times."""
    windows = source.index.windows
    here: int | None = _start(windows, random)
    runs: list[list[int]] = []
    documents: list[str] = []
    while here is not None and len(runs) < DOCUMENTS:
        run, here = _read_on(windows, here)
        runs.append(run)
        documents.append(windows.document_of(here))
        here = _by_theme(windows, here, documents)
    return _several(_supports(source, windows, runs))


def native(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """A few chunks: of different documents, or one after the other; no sentence twice."""
    if random.random() < 0.5:
        first = source.chunk(random)
        following = source.chunks_of(first.document)
        at = [piece.id for piece in following].index(first.id)
        pieces = following[at : at + CHUNKS]
    else:
        drawn = [source.chunk(random) for _ in range(CHUNKS)]
        pieces = list({piece.document: piece for piece in reversed(drawn)}.values())
    seen: set[str] = set()
    found = []
    for piece in pieces:
        sentences = [piece.text[s - piece.start : e - piece.start] for s, e in source.index.sentences(piece)]
        fresh = [sentence for sentence in sentences if sentence not in seen]
        seen.update(fresh)
        if fresh:
            found.append(source.support(piece))
    return tuple(found)


GROUPINGS: dict[str, Grouping] = {
    "intra_document": intra_document,
    "theme_based": theme_based,
    "sequential_multi_hop": sequential_multi_hop,
    "native": native,
}


def _start(windows: Windows, random: Random) -> int:
    if not len(windows):
        raise NothingToAsk
    return random.randrange(len(windows))


def _several(found: tuple[SupportingChunk, ...]) -> tuple[SupportingChunk, ...]:
    """A context over documents that stayed in one is none."""
    if len({one.document for one in found}) < 2:
        raise NothingToAsk
    return found


def _by_theme(windows: Windows, here: int, documents: Sequence[str]) -> int | None:
    """Of the windows near this one in documents not seen, the one whose themes are most alike; then the nearest."""
    own = windows.document_of(here)
    by_theme = dict(windows.neighbours_by_theme(own))
    themes = _words(windows, own)
    best: tuple[float, float, int] | None = None
    for row, near in windows.near_across(here):
        document = windows.document_of(row)
        if document in documents:
            continue
        others = _words(windows, document)
        shared = len(themes & others) / max(1, len(themes | others))
        ranked = (by_theme.get(document, 0.0) + shared, near, -row)
        best = max(best, ranked) if best is not None else ranked
    return None if best is None else -best[2]


def _words(windows: Windows, document: str) -> set[str]:
    return set(" ".join(windows.themes(document).themes).casefold().split())


def _read_on(windows: Windows, here: int) -> tuple[list[int], int]:
    """Sentences around a window in reading order, and the window where the reading ends."""
    rows = windows.windows_of(windows.document_of(here))
    after, before = here + 1, here - 1
    forwards, backwards = (_similarity(windows, here, there) if there in rows else -2.0 for there in (after, before))
    step = 1 if forwards >= backwards else -1
    seen, end = dict.fromkeys(windows.sentences_of(here)), here
    # Where the document ends before five sentences are read, those on the other side of the window make up for it.
    for way in (range(here + step, here + step * READ, step), range(here - step, here - step * READ, -step)):
        for row in way:
            if len(seen) >= READ or row not in rows:
                break
            seen.update(dict.fromkeys(windows.sentences_of(row)))
            end = row if (row - here) * step > 0 else end
    run = sorted(seen)
    return (run[:READ] if step == 1 else run[-READ:]), end


def _similarity(windows: Windows, one: int, other: int) -> float:
    first, second = windows.points([one, other])
    return float(first @ second)


def _supports(source: QuestionSource, windows: Windows, runs: list[list[int]]) -> tuple[SupportingChunk, ...]:
    """Every sentence of each run. Where a run goes on in the next chunk, so does a support: one a chunk."""
    found: dict[tuple[str, str], SupportingChunk] = {}
    for run in runs:
        document = ":".join(windows.sentence_id(run[0]).split(":")[:2])
        pieces, parts = source.chunks_of(document), dict[str, tuple[Piece, list[str]]]()
        for row in run:
            start, end = windows.span_of(row)
            # Chunks may overlap: where the last sentence stood, if this one does; else where most of it stands.
            best = max(pieces, key=lambda p: (min(end, p.end) - max(start, p.start), p.id in parts, -p.start))
            text = source.index.text(document, max(start, best.start), min(end, best.end))
            parts.setdefault(best.id, (best, []))[1].append(" ".join(text.split()))
        for piece, sentences in parts.values():
            support = source.support(piece, " ".join(sentences))
            found.setdefault((piece.id, support.quote), support)
    if not found:
        raise NothingToAsk
    return tuple(found.values())
