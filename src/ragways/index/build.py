"""Bring an index up to date with files: read what changed, embed what is new, commit it all at once.

The run is one transaction of the store, so readers see the corpus before or after it. What costs time or money, the
vectors, is kept as it comes: a run that is killed, or stopped by its budget, finds them again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragways.core.errors import BudgetExceeded, EmbedderChanged, LoadError, NoText, UsageError
from ragways.core.progress import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, spending
from ragways.core.types import Document, Structure, content_hash, title_name
from ragways.corpus.load import load
from ragways.corpus.source import NO_TEXT, Skipped, SourceFile
from ragways.corpus.structure import structure
from ragways.index.chunks import chunk_texts_of
from ragways.index.embedding import Embedding
from ragways.index.folder import KEPT, clear_old, derive, derived_folder, writing
from ragways.index.layer import BuildContext, Layer, Texts
from ragways.index.layers import in_order
from ragways.index.store import Store, document_hash, number_of
from ragways.index.update import Recipe, Summary, find_files
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.models.tokens import count_each

PENDING_CHUNKS = 1024
"""Chunks gathered before they are embedded: enough to sort by length, few enough to lose when killed."""

_Read = tuple[str, str, int, int]
"""A file that was read: key, root, size and time."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A document that waits for the vectors of its chunks."""

    structure: Structure
    source: str
    texts: tuple[str, ...]
    hashes: tuple[str, ...]


async def build(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    rebuild: bool = False,
    report: ProgressCallback = silent,
    root: str = "",
) -> Summary:
    """Index these files and folders. Files that vanished from a folder since the last run go from the index too.

    `root` is a name to remember instead of where the files lie, for a corpus that may lie elsewhere next time.
    """
    found, skipped, hidden = find_files(paths, recipe.options)  # before the folder of the index is made
    if root:
        found = [(root, file) for _, file in found]
    with writing(folder, rebuild) as (store, work_cache):
        started = time.perf_counter()
        run = _Run(store, work_cache, report, anew=rebuild)
        run.summary.skipped, run.summary.hidden = skipped, hidden
        with spending() as meter:
            try:
                await run.prepare(recipe)
                await run.update(found, [root] if root else [str(path.resolve()) for path in paths])
                await run.publish()
            finally:
                await run.aclose()
        run.summary.usage = meter.spent
        run.summary.wall = time.perf_counter() - started
        return run.summary


async def remove(folder: Path, names: Sequence[str]) -> Summary:
    """Remove documents, by key, id or title, with everything that was made of their text."""
    Store.open(folder).close()
    with writing(folder, rebuild=False) as (store, work_cache):
        run = _Run(store, work_cache, silent)
        for name in names:
            found = run.find(name)
            store.forget_sources(found)
            run.drop(found)
        await run.publish()
        return run.summary


def rebuild_derived(folder: Path) -> None:
    """Make the derived files again where they were deleted."""
    with writing(folder, rebuild=False) as (store, work_cache):
        run = _Run(store, work_cache, silent)
        generation = int(run.meta["generation"])
        derive(replace(run.context(generation), new=None), generation, in_order(run.built))


class _Run:
    """One run of the builder; holds the write lock."""

    def __init__(self, store: Store, work_cache: WorkCache, report: ProgressCallback, *, anew: bool = False) -> None:
        self.anew = anew
        self.store = store
        self.work_cache = work_cache
        self.meta = store.meta()
        self.report = report
        self.summary = Summary()
        self.new: set[int] = set()
        self.pending: list[_Pending] = []
        self.finished: list[tuple[_Read, set[int]]] = []
        self.waiting = 0
        self.working = "vectors"
        self.layers = self.built = frozenset(self.meta.get("layers", "").split())
        self.embedding: Embedding | None = None
        self.model = ModelClient(None)
        self.recipe_settings: Mapping[str, Any] = {}

    # Before

    async def prepare(self, recipe: Recipe) -> None:
        """Take up the recipe; refuse to mix vectors of two embedders or chunks of two sizes in one index."""
        self.recipe = recipe
        self.recipe_settings = recipe.settings
        self.layers |= recipe.layers
        self.embedding = Embedding(await recipe.embedder(), self.work_cache) if "vectors" in self.layers else None
        self.model = recipe.model(self.work_cache)
        wanted = {"chunking": self.recipe.chunking.name, "chunk_titles": str(self.recipe.chunking.title)}
        if self.embedding is not None:
            wanted["embedder"] = self.embedding.embedder.name
        if self.store.count("sources"):
            for key in ("embedder", "chunking"):
                if self.meta.get(key, wanted.get(key)) != wanted.get(key, self.meta.get(key)):
                    raise EmbedderChanged(
                        f"this index was built with {key} {self.meta[key]}, and the settings now say {wanted[key]}",
                        "set it back, choose another folder with --index, or build anew with --rebuild",
                    )
        self.store.set_meta(wanted)

    async def aclose(self) -> None:
        await self.model.aclose()
        if self.embedding is not None:
            await self.embedding.embedder.aclose()

    # Files

    async def update(self, found: list[tuple[str, SourceFile]], roots: Sequence[str]) -> None:
        found = self.under_known_names(found)
        self.keep_what_is_skipped()
        try:
            for done, (root, file) in enumerate(found):
                self.report(Progress("reading", done, len(found), file.key))
                await self.update_file(root, file)
            await self.flush()
        except BudgetExceeded as stop:
            self.summary.stopped = stop.message
            return
        seen = {file.key for _, file in found} | {skipped.key for skipped in self.summary.skipped}
        for root in roots:
            for key in sorted(self.store.sources_of_root(root) - seen):
                self.drop_source(key)

    def under_known_names(self, found: list[tuple[str, SourceFile]]) -> list[tuple[str, SourceFile]]:
        """A file that was read before below another folder keeps its name, or it would be there twice."""
        known = self.store.places()
        named = []
        for root, file in found:
            place = known.get(os.path.realpath(file.path))
            named.append((root, file) if place is None else (place[0], replace(file, key=place[1])))
        return named

    def keep_what_is_skipped(self) -> None:
        """What was read before and is left out now stays as it was, and is said to be out of date."""
        for entry in self.summary.skipped:
            if self.store.source(entry.key) is not None:
                self.summary.failed.append(Skipped(entry.key, f"{entry.reason}; its earlier version is kept"))

    async def update_file(self, root: str, file: SourceFile) -> None:
        try:
            stat = file.path.stat()
        except OSError as error:
            self.summary.failed.append(Skipped(file.key, f"cannot be read: {error.strerror}"))
            return
        known = self.store.source(file.key)
        if known is not None and known[0] != root and os.path.exists(known[0]):
            raise UsageError(
                f"{file.key} is in the index already, from {known[0]}",
                "index the folder that holds both, or rename one",
            )
        if known == (root, stat.st_size, stat.st_mtime_ns):
            self.summary.unchanged += len(self.store.hashes_of_source(file.key))
            return
        before = self.store.hashes_of_source(file.key)
        numbers: set[int] = set()
        try:
            for document in self.documents(file):
                numbers.add(number_of(document.id))
                self.note(document, file, before)
                if self.waiting >= PENDING_CHUNKS:
                    await self.flush()
        except NoText:
            # Nothing went wrong: the file has no document, and no longer the one it may have had.
            self.drop_source(file.key)
            self.leave_out(Skipped(file.key, NO_TEXT))
            return
        except LoadError as error:
            self.summary.failed.append(Skipped(file.key, error.message.removeprefix(f"{file.key} ")))
            return
        read = (file.key, root, stat.st_size, stat.st_mtime_ns)
        self.finished.append((read, set(before) - numbers))

    def leave_out(self, entry: Skipped) -> None:
        (self.summary.skipped if entry.reason == NO_TEXT else self.summary.failed).append(entry)

    def documents(self, file: SourceFile) -> Iterator[Document]:
        documents = load(file, replace(self.recipe.options, notice=self.leave_out))
        while True:
            with self.timed("reading"):
                document = next(documents, None)
            if document is None:
                return
            yield document

    def note(self, document: Document, file: SourceFile, before: dict[int, str]) -> None:
        number = number_of(document.id)
        if before.get(number) == document_hash(document):
            self.summary.unchanged += 1
            return
        with self.timed("structure"):
            parts = structure(document, self.recipe.chunking)
            texts = tuple(chunk_texts_of(parts, self.recipe.chunking))
        self.pending.append(_Pending(parts, file.key, texts, tuple(content_hash(text) for text in texts)))
        self.waiting += len(texts)

    # Documents

    async def flush(self) -> None:
        """Embed the texts that wait, then store their documents and files: none is stored without its vectors."""
        texts = {hash: text for item in self.pending for hash, text in zip(item.hashes, item.texts, strict=True)}
        try:
            await self.embed(texts)
        except BudgetExceeded:
            self.leave_incomplete(texts)
            self.put_pending()
            raise
        self.put_pending()

    def put_pending(self) -> None:
        for item in self.pending:
            self.put(item)
        for read, gone in self.finished:
            self.drop(gone)
            self.store.put_source(*read)
        self.pending, self.finished, self.waiting = [], [], 0

    def leave_incomplete(self, texts: Texts) -> None:
        """The budget is spent: of what waits, only documents that have all their vectors are stored now."""
        known = self.embedding.known(texts) if self.embedding is not None else set(texts)
        partly = {item.source for item in self.pending if not known.issuperset(item.hashes)}
        self.pending = [item for item in self.pending if known.issuperset(item.hashes)]
        self.finished = [(read, gone) for read, gone in self.finished if read[0] not in partly]

    def put(self, item: _Pending) -> None:
        document = item.structure.document
        number = number_of(document.id)
        existed = bool(self.store.db.execute("SELECT 1 FROM documents WHERE number = ?", (number,)).fetchone())
        with self.timed("storing"):
            if existed:
                self.summary.changed += 1
            else:
                self.new.add(number)
                self.summary.added += 1
            texts = [document.text[chunk.start : chunk.end] for chunk in item.structure.chunks]
            self.store.put(item.structure, item.source, count_each(texts), item.hashes)
        self.summary.chunks += len(item.hashes)

    async def embed(self, texts: Texts) -> None:
        if self.embedding is not None:
            with self.timed("embedding"):
                await self.embedding.see_to(texts, self.summary, self.report, layer=self.working)

    def find(self, name: str) -> set[int]:
        """Documents with this key, id, source file or title."""
        rows = self.store.db.execute(
            "SELECT number FROM documents WHERE key = ?1 OR source = ?1 OR name = ?2 OR 'article:' || number = ?1",
            (name, title_name(name)),
        ).fetchall()
        if not rows:
            raise UsageError(f"no document is called {name!r}", "see them with: ragways status --documents")
        return {row[0] for row in rows}

    def drop_source(self, key: str) -> None:
        self.drop(set(self.store.hashes_of_source(key)))
        self.store.remove_source(key)

    def drop(self, numbers: Collection[int]) -> None:
        self.store.remove(numbers)
        self.summary.removed += len(numbers)

    # After

    async def publish(self) -> None:
        """Do the layers' own work, derive their files, then commit: from here on readers see the new state."""
        generation = int(self.meta["generation"])
        grown = self.layers != self.built
        lost = not derived_folder(self.store.folder, generation).is_dir()
        gone = bool(self.anew or self.summary.changed or self.summary.removed or self.meta.get("forget"))
        undone = bool(self.meta.get("unfinished") or self.meta.get("again"))
        undone |= self.meta.get("layer_settings", "{}") != self.layer_settings()
        if not (self.summary.touched or grown or lost or gone or undone):
            self.store.commit()
            return
        self.store.set_meta({"layers": " ".join(sorted(self.layers)), "generation": str(generation + 1)})
        if self.embedding is not None:
            self.store.set_meta({"dimension": str(self.embedding.embedder.dimension)})
        layers, context = in_order(self.layers), self.context(generation)
        for layer in layers:
            with self.timed(layer.name):
                await self.work(layer, context)
        with self.timed("deriving"):
            self.report(Progress("deriving", 0))
            derive(context, generation + 1, layers)
        self.summary.undone, self.summary.why = context.failed, context.why
        unfinished = "yes" if context.failed or self.summary.stopped else ""
        self.store.set_meta({"unfinished": unfinished, "again": "", "layer_settings": self.layer_settings()})
        # Killed between this commit and the forgetting, the next run makes up for it.
        self.store.set_meta({"forget": "yes" if gone else ""})
        self.store.commit()
        clear_old(self.store.folder, generation + 1, keep=1 if gone else KEPT)
        if gone:
            self.forget(context)
            self.store.begin()
            self.store.set_meta({"forget": ""})
            self.store.commit()

    async def work(self, layer: Layer, context: BuildContext) -> None:
        """Do a layer's work. Once the budget has ended something, no layer after it spends what is left: it would pay
        for work on a part of what the next run makes whole.
        """
        self.working = layer.name
        try:
            with spending(Budget(calls=0) if self.summary.stopped else None):
                await layer.work(context)
        except BudgetExceeded as stop:
            self.summary.stopped = self.summary.stopped or stop.message

    def layer_settings(self) -> str:
        """What the settings say of the layers; a run without settings leaves it as it was."""
        if not self.recipe_settings:
            return self.meta.get("layer_settings", "{}")
        return json.dumps(dict(self.recipe_settings), sort_keys=True, default=str)

    def context(self, generation: int) -> BuildContext:
        only_new = not (self.anew or self.summary.changed or self.summary.removed) and self.layers == self.built
        return BuildContext(
            self.store,
            self.work_cache,
            self.model,
            self.embedding.embedder if self.embedding is not None else None,
            self.embed,
            report=self.report,
            before=derived_folder(self.store.folder, generation),
            new=frozenset(self.new) if only_new else None,
            settings=self.recipe_settings,
        )

    def forget(self, context: BuildContext) -> None:
        """Drop all that was made of texts that are gone."""
        used: dict[str, set[str]] = {}
        for layer in in_order(self.layers):
            for kind, hashes in layer.used(context).items():
                used.setdefault(kind, set()).update(hashes)
        self.work_cache.keep_only(used)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.summary.seconds[stage] = self.summary.seconds.get(stage, 0.0) + time.perf_counter() - started
