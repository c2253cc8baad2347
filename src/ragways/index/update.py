"""What an index is to be, which files a run is about, and what it did."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.core.runtime import Progress, ProgressCallback
from ragways.core.text import clean, is_utf8, printable_name
from ragways.core.trace import Usage
from ragways.core.types import title_name
from ragways.corpus.load import walk
from ragways.corpus.patterns import Selection
from ragways.corpus.source import NO_TEXT, ODD_NAME, LoadOptions, Skipped, SourceFile, WebSource
from ragways.corpus.structure import PRESETS, Chunking
from ragways.index.layer import Changes
from ragways.index.layers import USUAL
from ragways.index.settings import LayerSettings
from ragways.index.shards import Deal, ShardChanges, state_of
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that shapes an index. `settings` are those of layers, by name; a layer that is not there keeps its own."""

    embedder: Callable[[], Awaitable[Embedder]]
    chunking: Chunking = PRESETS["section"]
    layers: frozenset[str] = USUAL
    model: Callable[[WorkCache], ModelClient] = lambda _: ModelClient(None)
    settings: Mapping[str, LayerSettings] = field(default_factory=dict)
    options: LoadOptions = field(default_factory=LoadOptions)
    selection: Selection = field(default_factory=Selection)


@dataclass
class Summary:
    """What a run did."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    hidden: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """Files and folders that were not looked at, by why: `excluded`, `ignored` (by .gitignore), `junk`."""
    withdrawn: int = 0
    """Files that were removed from the index because they are left out now, though they are still there."""
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Skipped] = field(default_factory=list)
    undone: int = 0
    """Units of work that a layer could not do (unusable replies); they are tried again on the next run."""
    why: str = ""
    """What the first of them failed of."""
    stopped: str = ""
    unerased: bool = False
    """What was removed can still be read in the files, because somebody has the index open. No question finds it, and
    it goes when the index is next opened.
    """
    unread: str = ""
    """Documents in languages that the embedder does not know, and the cure; empty where there are few."""
    usage: Usage = field(default_factory=Usage)
    wall: float = 0.0
    """Seconds of the whole run; those of its stages overlap."""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def touched(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    @property
    def present(self) -> int:
        """Documents that the files of the run have."""
        return self.added + self.changed + self.unchanged

    def join(self, shards: Iterable[Summary]) -> None:
        """Take in what was done for the shards; which documents came or went is told by what is taken over."""
        for each in shards:
            self.chunks += each.chunks
            self.embedded += each.embedded
            self.undone += each.undone
            self.why, self.stopped = self.why or each.why, self.stopped or each.stopped
            self.unerased |= each.unerased
            self.usage += each.usage
            for stage, seconds in each.seconds.items():
                self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
            # A file that may give many documents is read by every shard.
            self.skipped += [entry for entry in each.skipped if entry.reason and entry not in self.skipped]
            self.failed += [entry for entry in each.failed if entry not in self.failed]

    def leave_out(self, entry: Skipped) -> None:
        """Note what is not read: an empty file is skipped, and with any other reason something went wrong."""
        (self.skipped if entry.reason == NO_TEXT else self.failed).append(entry)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started


class ChangeLog:
    """Which documents a run has changed. It may put and drop one again; what counts is the generation before."""

    def __init__(self) -> None:
        self._added: set[int] = set()
        self._changed: set[int] = set()
        self._removed: set[int] = set()
        self.files: set[str] = set()
        """Those that were read."""

    def put(self, number: int, *, existed: bool) -> None:
        if number in self._removed:
            self._removed.discard(number)
            self._changed.add(number)
        elif not existed:
            self._added.add(number)
        elif number not in self._added:
            self._changed.add(number)

    def drop(self, numbers: Collection[int]) -> None:
        self._removed |= set(numbers) - self._added
        self._added.difference_update(numbers)
        self._changed.difference_update(numbers)

    def changes(self) -> Changes:
        return Changes(frozenset(self._added), frozenset(self._changed), frozenset(self._removed))

    def in_shard(self, before: Mapping[str, str], now: Mapping[str, str]) -> ShardChanges:
        """The same for whoever takes over a shard, whose store said this before the run, and says that now."""
        put, gone = frozenset(self._added | self._changed), frozenset(self._removed)
        return ShardChanges(state_of(before), state_of(now), put, gone, frozenset(self.files))


# Which files


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files of a run, each with the root it was found under; `roots` are all that were named. With a `deal`, only
    documents that are dealt to a shard are read of them.
    """

    files: list[tuple[str, SourceFile]]
    skipped: list[Skipped]
    hidden: int
    roots: tuple[str, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    failed: Sequence[Skipped] = ()

    def with_pages(self, source: WebSource | None, folder: Path, progress: ProgressCallback) -> FoundFiles:
        """These, and the pages of web sites, which are fetched into the folder."""
        if source is None or not source.urls:
            return self
        from ragways.corpus.web import fetch_pages  # an HTTP client, which files have no use for

        pages = fetch_pages(source, folder, told=lambda done, url: progress(Progress("fetching", done, note=url)))
        return replace(
            self,
            files=[*self.files, *pages.files],
            skipped=[*self.skipped, *pages.skipped],
            failed=[*self.failed, *pages.failed],
            roots=(*self.roots, *pages.roots),
        )


def find_files(paths: Sequence[Path], recipe: Recipe, root: str = "") -> FoundFiles:
    """The files under these paths that the recipe selects, what is left out and why, and how many are hidden.

    A key begins with the name of its folder, so that two folders of one index do not mix up their files. `root` is a
    name to remember instead of where the files lie, for a corpus that may lie elsewhere next time.
    """
    found: dict[str, tuple[str, SourceFile]] = {}
    keys: dict[str, str] = {}
    skipped: list[Skipped] = []
    failed: list[Skipped] = []
    hidden, left_out = 0, Counter[str]()
    named = sorted({path.resolve() for path in paths} if all(p.exists() for p in paths) else paths)
    odd = [path for path in named if not root and path.exists() and not is_utf8(str(path))]
    failed += [Skipped(printable_name(str(path)), ODD_NAME) for path in odd]
    for path in (path for path in named if path not in odd):
        walked = walk([path], recipe.options, selection=recipe.selection)
        for entry in walked:
            key = f"{printable_name(path.name)}/{entry.key}" if path.is_dir() else entry.key
            if isinstance(entry, Skipped):
                (failed if entry.reason == ODD_NAME else skipped).append(Skipped(key, entry.reason))
                continue
            real = os.path.realpath(entry.path)
            if keys.setdefault(key, real) != real:
                raise UsageError(
                    f"{real} and {keys[key]} would both be called {key}",
                    "index the folder that holds both, or rename one",
                )
            found.setdefault(real, (root or str(path), replace(entry, key=key)))
        hidden += walked.hidden
        left_out.update(walked.left_out)
    roots = (root,) if root else tuple(str(path) for path in named if path not in odd)
    return FoundFiles(list(found.values()), skipped, hidden, roots, left_out, failed)


def find_documents(store: Store, name: str) -> set[int]:
    """Documents with this key, id, source file or title."""
    key = printable_name(name)
    number = name.removeprefix("article:") if re.fullmatch(r"article:\d{1,18}", name) else None
    rows = store.db.execute(
        "SELECT number FROM documents WHERE key = ?1 OR source = ?1 OR name = ?2 OR number = ?3",
        (key, title_name(clean(name)), number),
    ).fetchall()
    if not rows:
        raise UsageError(f"no document is called '{key}'", "see them with: ragways status --documents")
    return {row[0] for row in rows}


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard to bring up to date: its folder, its files, which of their documents are its own, and the generation that
    the whole still shows of it.
    """

    folder: Path
    found: FoundFiles
    deal: Deal
    hold: int
    rebuild: bool


@dataclass(frozen=True, slots=True)
class BuiltShard:
    """What a run did for a shard, and what it changed there; None where it began anew."""

    summary: Summary
    changes: ShardChanges | None


BuildShards = Callable[[Sequence[ShardJob], Recipe, ProgressCallback], Awaitable[list[BuiltShard]]]
"""What builds shards, here or elsewhere, and tells of each, in order."""
