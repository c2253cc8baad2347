"""One run over an index: what its files changed goes into the store, each layer does its work, and all is committed.

The run is one transaction of the store, so readers see the corpus before or after it. What costs time or money, the
vectors, is kept as it comes: a run that is killed, or stopped by its budget, finds them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragways.core.errors import BudgetExceeded, EmbedderChanged
from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, spending
from ragways.corpus.source import NO_TEXT
from ragways.index.checksums import DamagedBefore
from ragways.index.embedding import Embedding
from ragways.index.file_reader import BegunFile, FileReader, ReadDocument, ReadFile
from ragways.index.folder import KEPT, clear_old, damaged_parts, derive, is_current, writing
from ragways.index.forgetting import Forgetting
from ragways.index.languages import CURE, unread_documents
from ragways.index.layer import BuildContext, Layer, Texts
from ragways.index.layers import in_order
from ragways.index.settings import LayerSettings
from ragways.index.shards import SHARDED, Deal, ShardList, check_there, clear_shards, new_state, take_over
from ragways.index.store import Store, derived_folder
from ragways.index.update import BuildShards, BuiltShard, ChangeLog, Recipe, ShardJob, Summary
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient

KeepFigures = Callable[[Store, int, bool], None]
"""Sees to the figures of a corpus: its store, documents that were put or removed, and whether all are new."""
PENDING_CHUNKS = 1024
"""Chunks gathered before they are embedded: enough to sort by length, few enough to lose when killed."""


class IndexRun:
    """One run of the builder, on a store and a work cache that it may write to."""

    def __init__(
        self, store: Store, work_cache: WorkCache, progress: ProgressCallback, *, anew: bool = False, hold: int = 0
    ) -> None:
        self.anew = anew
        self.hold = hold
        self.store = store
        self.work_cache = work_cache
        self.meta = store.meta()
        self.progress = progress
        self.summary = Summary()
        self.log = ChangeLog()
        self.pending: list[ReadDocument] = []
        self.finished: list[ReadFile] = []
        self.waiting = 0
        self.working = "vectors"
        self.layers = self.built = frozenset(self.meta.get("layers", "").split())
        self.apart = frozenset(self.meta.get("apart", "").split())
        self.shards = ShardList.of(store.folder, self.meta)
        self.read_shards()
        self.builds = False
        self.forgetting = Forgetting(store, work_cache)
        self.embedding: Embedding | None = None
        self.model = ModelClient(None)
        self.settings: Mapping[str, LayerSettings] = {}

    # Before

    async def prepare(self, recipe: Recipe, *, shard: bool = False) -> None:
        """Take up the recipe; refuse to mix vectors of two embedders or chunks of two sizes in one index. A shard has
        only layers that lie in shards, and does what can be done apart for the others.
        """
        self.builds = True
        self.forgetting.begin()
        self.settings = recipe.settings
        self.layers |= recipe.layers & SHARDED if shard else recipe.layers
        self.apart |= recipe.layers - SHARDED if shard else frozenset()
        self.embedding = Embedding(await recipe.embedder(), self.work_cache) if "vectors" in self.layers else None
        self.model = recipe.model(self.work_cache)
        wanted = {"chunking": recipe.chunking.name, "chunk_titles": str(recipe.chunking.title)}
        if self.embedding is not None:
            wanted["embedder"] = self.embedding.embedder.name
        if self.store.files:
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

    async def update(self, reader: FileReader) -> None:
        """Bring the store up to date with the files."""
        try:
            for change in reader.changes():
                if isinstance(change, ReadDocument):
                    self.pending.append(change)
                    self.waiting += len(change.texts)
                    if self.waiting >= PENDING_CHUNKS:
                        await self.flush()
                elif isinstance(change, ReadFile):
                    self.finished.append(change)
                elif isinstance(change, BegunFile):
                    self.store.files.begin(change.key, change.root)
                    self.log.files.add(change.key)
                else:
                    self.drop_source(change.key)
            await self.flush()
        except BudgetExceeded as stop:
            self.summary.stopped = stop.message
            return
        for key in reader.vanished():
            self.drop_source(key)

    async def update_shards(self, shards: ShardList, reader: FileReader, recipe: Recipe, engine: BuildShards) -> None:
        """Have every shard brought up to date with its files, and take over what came of it."""
        if not self.anew:
            check_there(shards)
        jobs = [
            ShardJob(shards.place(shard), found, Deal(shard, len(shards)), shards.generations[shard], self.anew)
            for shard, found in enumerate(reader.dealt(len(shards)))
        ]
        with self.summary.timed("shards"):
            done = await engine(jobs, replace(recipe, layers=self.layers), self.progress)
        self.summary.join(each.summary for each in done)
        if not self.summary.stopped:
            for key in reader.vanished():
                self.store.files.remove(key)
        self.take_over(shards, done)
        for entry in self.summary.skipped:
            if entry.reason == NO_TEXT:  # and so no shard has it any more
                self.store.files.remove(entry.key)
        self.summary.unchanged = sum(each.summary.present for each in done) - self.summary.added - self.summary.changed

    def built_shard(self) -> BuiltShard:
        """What this run did for the shard that its store is of."""
        return BuiltShard(self.summary, None if self.anew else self.log.in_shard(self.meta, self.store.meta()))

    def take_over(self, shards: ShardList, done: Sequence[BuiltShard]) -> None:
        """Bring the whole up to date with its shards, and name their states that belong to it now."""
        self.progress(Progress("merging", 0))
        self.shards = shards.now()
        with self.summary.timed("merging"):
            take_over(self.store, shards, self.shards, self.log, [each.changes for each in done], whole=self.anew)
        changes = self.log.changes()
        self.summary.added, self.summary.changed = len(changes.added), len(changes.changed)
        self.summary.removed = len(changes.removed)
        self.store.set_meta(self.shards.meta)
        self.read_shards()

    def read_shards(self) -> None:
        """Find what was worked and paid for in the shards too."""
        for place in self.shards.places() if self.shards is not None else ():
            self.work_cache.read_also(place)

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
        for document in self.pending:
            with self.summary.timed("storing"):
                existed, tokens = document.put(self.store)
            if existed:
                self.summary.changed += 1
            else:
                self.summary.added += 1
            self.log.put(document.number, existed=existed)
            self.summary.chunks += len(tokens)
        for file in self.finished:
            self.drop(file.gone)
            self.store.files.put(file.key, file.root, file.size, file.modified)
            self.log.files.add(file.key)
        self.pending, self.finished, self.waiting = [], [], 0

    def leave_incomplete(self, texts: Texts) -> None:
        """The budget is spent: of what waits, only documents that have all their vectors are stored now."""
        known = self.embedding.known(texts) if self.embedding is not None else set(texts)
        partly = {item.source for item in self.pending if not known.issuperset(item.hashes)}
        self.pending = [item for item in self.pending if known.issuperset(item.hashes)]
        self.finished = [file for file in self.finished if file.key not in partly]

    async def embed(self, texts: Texts) -> None:
        if self.embedding is not None:
            with self.summary.timed("embedding"):
                await self.embedding.see_to(texts, self.summary, self.progress, layer=self.working)

    def drop_source(self, key: str) -> None:
        self.drop(set(self.store.hashes_of_source(key)))
        self.store.files.remove(key)

    def drop(self, numbers: Collection[int]) -> None:
        self.store.remove(numbers)
        self.summary.removed += len(numbers)
        self.log.drop(numbers)

    # After

    async def publish(self, figures: KeepFigures = lambda *_: None) -> None:
        """Do the layers' own work, derive their files, then commit: from here on readers see the new state. `figures`
        has those of the corpus in the store; a shard has none.
        """
        generation = int(self.meta["generation"])
        grown = self.layers != self.built or " ".join(sorted(self.apart)) != self.meta.get("apart", "")
        before = derived_folder(self.store.folder, generation)
        # Nothing may be taken over of a damaged folder, or of one in another format.
        lost = bool(generation and (not is_current(self.store.folder, generation) or damaged_parts(before)))
        gone = bool(self.anew or self.summary.changed or self.summary.removed or self.meta.get("forget"))
        undone = bool(self.meta.get("unfinished") or self.meta.get("again"))
        undone |= self.meta.get("layer_settings", "{}") != self.layer_settings()
        # Readers know by the generation that the shards have others too.
        moved = self.shards != ShardList.of(self.store.folder, self.meta)
        if not (self.summary.touched or grown or lost or gone or undone or moved):
            self.tell_unread()
            self.store.commit()
            if self.builds and not self.summary.stopped:
                self.work_cache.forget_failures()
                self.forgetting.end()
            clear_shards(self.store.folder, self.shards, KEPT)
            return
        self.store.set_meta({"layers": " ".join(sorted(self.layers)), **new_state(generation + 1, self.meta)})
        if self.embedding is not None:
            self.store.set_meta({"dimension": str(self.embedding.embedder.dimension)})
        if self.apart:
            self.store.set_meta({"apart": " ".join(sorted(self.apart))})
        try:
            context = await self.make_layers(generation + 1, None if lost else before)
        except DamagedBefore:
            context = await self.make_layers(generation + 1, None, doubted=True)
        self.summary.undone, self.summary.why = self.summary.undone + context.failed, self.summary.why or context.why
        self.tell_unread()
        # A removal tries nothing again, so it leaves undone what was.
        left = not self.builds and self.meta.get("unfinished")
        unfinished = "yes" if context.failed or self.summary.stopped or left else ""
        self.store.set_meta({"unfinished": unfinished, "again": "", "layer_settings": self.layer_settings()})
        self.measure(figures, anew=self.anew or lost or undone)
        # Killed between this commit and the forgetting, the next run makes up for it.
        self.store.set_meta({"forget": "yes" if gone else ""})
        self.forgetting.prepare(context, self.steps(self.layers))
        with self.summary.timed("writing"):
            self.progress(Progress("writing", 0))
            self.store.commit(settle=not gone)
        keep = 1 if gone else KEPT
        clear_old(self.store.folder, generation + 1, keep, hold=self.hold)
        clear_shards(self.store.folder, self.shards, keep)
        if not unfinished:
            self.work_cache.forget_failures()
        if gone:
            self.forgetting.forget(context, self.steps(self.layers))
            self.store.begin()
            self.store.set_meta({"forget": ""})
            self.store.commit()
            self.summary.unerased |= not (self.store.settled and self.work_cache.settle())
        if not unfinished:
            self.forgetting.end()

    def measure(self, figures: KeepFigures, *, anew: bool) -> None:
        self.progress(Progress("measuring", 0))
        with self.summary.timed("measuring"):
            figures(self.store, self.summary.added + self.summary.changed + self.summary.removed, anew)

    def tell_unread(self) -> None:
        """Tell of documents in languages that the embedder does not know; a removal changes nothing about them."""
        if self.builds and (unread := unread_documents(self.store)):
            self.summary.unread = f"{unread.said}; {CURE}"

    async def make_layers(self, generation: int, before: Path | None, *, doubted: bool = False) -> BuildContext:
        """Do the work of all layers, and derive their files."""
        layers, context = self.steps(self.layers), replace(self.context(before), doubted=doubted)
        for layer in layers:
            with self.summary.timed(layer.name):
                await self.work(layer, context)
        with self.summary.timed("deriving"):
            self.progress(Progress("deriving", 0))
            derive(context, generation, layers)
        return context

    def steps(self, layers: frozenset[str]) -> list[Layer]:
        """What a run does for these layers, in order. The whole leaves to its shards what they have, and a shard does
        what it can for the others.
        """
        apart = (layer.apart for layer in in_order(self.apart))
        return [
            *in_order(layers if self.shards is None else layers - SHARDED),
            *(layer for layer in apart if layer is not None),
        ]

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
        context.keep_settings(layer)

    def layer_settings(self) -> str:
        """What the settings say of the layers; a run without settings leaves it as it was."""
        if not self.settings:
            return self.meta.get("layer_settings", "{}")
        return json.dumps({name: each.model_dump(mode="json") for name, each in self.settings.items()}, sort_keys=True)

    def context(self, before: Path | None) -> BuildContext:
        comparable = not self.anew and self.layers == self.built
        comparable &= self.meta.get("layer_settings", "{}") == self.layer_settings()
        changes = self.log.changes() if comparable else None
        return BuildContext(
            self.store,
            self.work_cache,
            self.model,
            self.embedding.embedder if self.embedding is not None else None,
            self.embed,
            progress=self.progress,
            before=before,
            changes=changes if before is not None else None,
            changed_documents=changes,
            settings=self.settings,
        )


def rebuild_derived(folder: Path) -> None:
    """Make the derived files again where they were deleted or damaged."""
    with writing(folder, rebuild=False) as (store, work_cache):
        run = IndexRun(store, work_cache, silent)  # rows in the store may be new as well: earlier versions had fewer
        derive(run.context(None), int(run.meta["generation"]), run.steps(run.built), ready=store.commit_changes)
