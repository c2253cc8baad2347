"""What an index is to be, which files a run is about, and what it did."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.runtime import Progress, ProgressCallback
from ragways.core.text import clean, is_utf8, printable_name
from ragways.core.trace import Usage
from ragways.core.types import title_name
from ragways.corpus.load import walk
from ragways.corpus.patterns import Selection
from ragways.corpus.source import NO_TEXT, ODD_NAME, LoadOptions, Skipped, SourceFile, WebSource
from ragways.corpus.structure import PRESETS, Chunking
from ragways.layers.layer import Engine
from ragways.layers.settings import LayerSettings
from ragways.layers.table import USUAL
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from ragways.store.cache import WorkCache
from ragways.store.store import Store


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that shapes an index. `settings` are those of layers, by name; a layer without any keeps its own."""

    embedder: Callable[[], Awaitable[Embedder]]
    chunking: Chunking = PRESETS["section"]
    layers: frozenset[str] = USUAL
    graph_where_it_pays: bool = False
    """Whether a new index gets a graph as well, where its corpus is of the kind that gains by one."""
    model: Callable[[WorkCache], ModelClient] = lambda _: ModelClient(None)
    settings: Mapping[str, LayerSettings] = field(default_factory=dict)
    options: LoadOptions = field(default_factory=LoadOptions)
    selection: Selection = field(default_factory=Selection)
    engine: Callable[[], Engine] | None = None
    """Connects to where documents are embedded and extracted, if that is not this process."""


@dataclass(slots=True)
class ErasedDocument:
    """A document that was removed or changed. `found` are the files that still have a string of it, below the folder of
    the index; `looked_for` counts the strings. `erased` is None where there was none to look for; `note` says why.
    """

    key: str
    looked_for: int = 0
    found: list[str] = field(default_factory=list)
    note: str = ""
    erased: bool | None = None


@dataclass(slots=True)
class Erasure:
    """What a search for erased documents found. `files` and `bytes` are what was searched, `words` how many words were
    looked up; `words_left` are those that no document has and the words layer does. `not_looked_at` are documents that
    were too many. `in_use`: a reader has a database open, so that its log may have what was deleted, or earlier views.
    `not_looked_through` counts texts of users that stay, by kind: they quote no erased document, but may say the same
    in other words.
    """

    documents: list[ErasedDocument]
    not_looked_at: int = 0
    files: int = 0
    bytes: int = 0
    words: int = 0
    words_left: int = 0
    in_use: bool = False
    not_looked_through: dict[str, int] = field(default_factory=dict)

    @property
    def erased(self) -> bool | None:
        """Whether nothing of what was looked for is left, and all of it was looked for. None where nothing is left, but
        some documents had nothing to look for.
        """
        if self.not_looked_at or self.in_use or self.words_left or any(each.found for each in self.documents):
            return False
        return True if all(each.erased for each in self.documents) else None


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
    """Files and folders that were left out, by why: `excluded`, `ignored` (by .gitignore), `junk`."""
    withdrawn: int = 0
    """Files that were removed from the index because they are left out now, though they are still there."""
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Skipped] = field(default_factory=list)
    undone: int = 0
    """Units of work that a layer could not do (unusable replies); they are tried again on the next run."""
    why: str = ""
    """What the first of them failed of."""
    came: dict[str, int] = field(default_factory=dict)
    """Units of work that a model did in this run, by kind: passages with facts, documents with themes, reports."""
    lost: dict[str, int] = field(default_factory=dict)
    """Units that it was asked for and that failed, by kind."""
    outside: dict[str, int] = field(default_factory=dict)
    """What a model found that `graph.schema` does not name, by type or predicate: it is not stored."""
    stopped: str = ""
    warning: str = ""
    """What a user should know of the index itself; empty where there is nothing."""
    erasure: Erasure | None = None
    """What a search for erased documents looked at; None where nothing was to be erased."""
    chosen: str = ""
    """Which layer was built without being named, why, and what it cost; empty where none was."""
    unread: str = ""
    """Documents in languages that the embedder does not know, and the cure; empty where there are few."""
    usage: Usage = field(default_factory=Usage)
    wall: float = 0.0
    """Seconds of the whole run; those of its stages overlap."""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def unerased(self) -> bool:
        """Whether something that was to be erased can still be read in a file."""
        return self.erasure is not None and self.erasure.erased is False

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


FRESH = frozenset({"lexicon", "communities"})
"""What is made anew only after many changes, and in any run on request."""


def check_fresh(names: Iterable[str]) -> frozenset[str]:
    """These names, or an error that says which there are."""
    chosen = frozenset(names)
    for name in chosen - FRESH:
        raise UsageError(f"{name!r} cannot be made anew by itself", did_you_mean(name, sorted(FRESH)))
    return chosen


# Which files


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files of a run, each with the root it was found under; `roots` are all that were named."""

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
        from ragways.corpus.web.fetch import fetch_pages  # an HTTP client, which files have no use for

        pages = fetch_pages(source, folder, on_page=lambda done, url: progress(Progress("fetching", done, note=url)))
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
