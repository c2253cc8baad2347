"""One run over an index: batches of documents are extracted and applied, then views are folded and published.

A batch is one transaction, and what is paid for is cached as it comes: so a run that is killed, or stopped by its
budget, is continued by the next. A document that waits for a layer's facts (a new layer, other settings, another
lexicon, work that failed) is the same to all runs: one that the layer has not extracted.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ragways.core.errors import BudgetExceeded, EmbedderChanged, SettingsError
from ragways.core.runtime import Progress, ProgressCallback, in_turn
from ragways.core.section import parse_section
from ragways.core.trace import Budget, spending
from ragways.core.types import content_hash
from ragways.index.erase import Erasing
from ragways.index.reading import BegunFile, EmptyFile, FileChange, FileReader, ReadDocument, ReadFile
from ragways.index.recipe import Recipe, Summary
from ragways.index.views import Draft, ShownView, Views, clear_old, draft, published
from ragways.layers.layer import Layer, Texts, Use
from ragways.layers.settings import LayerSettings
from ragways.layers.table import in_order
from ragways.models.client import ModelClient
from ragways.store.cache import WorkCache
from ragways.store.source import Source
from ragways.store.store import Batch, Change, Facts, Store

if TYPE_CHECKING:
    from ragways.layers.lexicon import Lexicon

BATCH = 500
"""Documents of a batch, and so lost at most when a run is killed: what was paid for them is not."""
BATCH_CHARACTERS = 8_000_000
"""Characters of their texts, at most but for one document."""
BATCHES_AT_ONCE = 20
"""Where several machines work on a batch, it is so many times as large at most."""
EMBEDDED_AT_ONCE = 64
"""Texts embedded in one call, and so lost at most when a run is killed."""
PUBLISH_SECONDS = 30.0
"""Views are published so often in a long run, and take a fifth of its time at most."""


class IndexRun:
    """One run, on rows and a work cache that it may write to."""

    def __init__(self, store: Store, cache: WorkCache, progress: ProgressCallback, summary: Summary) -> None:
        self.store = store
        self.cache = cache
        self.progress = progress
        self.summary = summary
        self.meta = store.meta()
        self.names = frozenset(self.meta.get("layers", "").split())
        self.fresh = frozenset[str]()
        """What is to be made anew on request."""
        self.erasing: Erasing | None = None
        """Notes documents before they go, where they are to be erased."""
        self._working = "vectors"
        self._failed: dict[str, set[int]] = defaultdict(set)
        """Documents, by layer, that could not be extracted in this run: the next one tries again."""
        self._waiting: list[FileChange] = []
        self._batches_at_once = 1
        self._count = self._size = 0
        """Documents among them, and their characters."""
        self._views: Views | None = None
        self._published = time.monotonic()
        self._pause = PUBLISH_SECONDS
        self._readers: dict[str, Any] = {}
        self._lexicon_opened = False
        self._draft: Draft | None = None
        self.use = Use(cache, ModelClient(None), None, self._embed, self._reader, progress=progress, pays=False)
        self._take_settings({})

    # Before

    async def take_up(self, recipe: Recipe) -> dict[str, str]:
        """Take up the recipe, and write nothing yet; what is to be remembered of it."""
        self.names |= recipe.layers
        self.use.pays = True
        self.use.model = recipe.model(self.cache)
        wanted = {"chunking": recipe.chunking.name, "chunk_titles": str(recipe.chunking.title)}
        if "vectors" in self.names:
            self.use.embedder = await recipe.embedder()
            wanted |= {"embedder": self.use.embedder.name, "dimension": str(self.use.embedder.dimension)}
        self._take_settings(recipe.settings)
        wanted |= {f"settings:{name}": each.model_dump_json() for name, each in self.use.settings.items()}
        if recipe.graph_where_it_pays and "layers" not in self.meta:
            wanted["undecided"] = "graph"
        return wanted | {"layers": " ".join(sorted(self.names)), "rows": self.meta.get("rows") or uuid4().hex}

    def decide(self, layer: str, given: Mapping[str, LayerSettings], *, wanted: bool) -> None:
        """Take up a layer that the recipe left open, or not; later runs hold to it."""
        self.names |= {layer} if wanted else set()
        self._take_settings(given)
        settings = {f"settings:{name}": each.model_dump_json() for name, each in self.use.settings.items()}
        self._note({**settings, "layers": " ".join(sorted(self.names)), "undecided": ""})

    async def prepare(self, recipe: Recipe, fresh: frozenset[str] = frozenset()) -> None:
        """Take up the recipe; refuse to mix vectors of two embedders or chunks of two sizes in one index."""
        if recipe.engine is not None:
            self.use.engine = recipe.engine()
            self._batches_at_once = min(BATCHES_AT_ONCE, self.use.engine.parallel)
        wanted = await self.take_up(recipe)
        self.fresh = fresh
        for key in ("embedder", "chunking") if self.store.files else ():
            if self.meta.get(key, wanted.get(key)) != wanted.get(key, self.meta.get(key)):
                raise EmbedderChanged(
                    f"this index was built with {key} {self.meta[key]}, and the settings now say {wanted[key]}",
                    "set it back, choose another folder with --index, or build anew with --rebuild",
                )
        self._note(wanted)

    def _take_settings(self, given: Mapping[str, LayerSettings]) -> None:
        """Settings of every layer: those given, else those that the index was built with, else the defaults."""
        self.layers = in_order(self.names)
        settings: dict[str, LayerSettings] = {}
        for layer in self.layers:
            known = given.get(layer.name)
            if known is None:
                known = _stored_settings(layer, self.meta.get(f"settings:{layer.name}"))
            elif not isinstance(known, layer.settings):
                known = parse_section(layer.name, layer.settings, known.model_dump())
            settings[layer.name] = known
        self.use.settings, self.use.layers = settings, self.names

    def _note(self, wanted: dict[str, str]) -> None:
        """Remember settings of the index, where they are others than before."""
        changed = {key: value for key, value in wanted.items() if self.meta.get(key) != value}
        if changed:
            self.store.set_meta(changed)
            self.meta |= changed

    async def aclose(self) -> None:
        await self.use.model.aclose()
        if self.use.lexicon is not None:
            self.use.lexicon.close()
        if self.use.embedder is not None:
            await self.use.embedder.aclose()

    # Read, extract and apply

    async def read(self, reader: FileReader) -> None:
        """Bring the rows up to date with the files."""
        self.open_lexicon()
        try:
            for change in reader.changes():
                self._waiting.append(change)
                if isinstance(change, ReadDocument):
                    self._count, self._size = self._count + 1, self._size + len(change.source.text)
                    if self._is_full(self._count, self._size):
                        await self._flush()
            self._waiting += [EmptyFile(key) for key in reader.vanished()]
            await self._flush()
        except BudgetExceeded as stop:
            self.summary.stopped = stop.message

    def _is_full(self, documents: int, characters: int) -> bool:
        """Whether so many documents are a batch."""
        return max(documents / BATCH, characters / BATCH_CHARACTERS) >= self._batches_at_once

    async def _flush(self) -> None:
        """Extract what waits, and apply it: a document is stored with the facts of all layers that can be asked. Once
        the budget is spent, those are stored for which nothing more has to be paid.
        """
        layers = [layer for layer in self.layers if has_facts(layer) and self._is_ready(layer)]
        waiting, self._waiting, self._count, self._size = self._waiting, [], 0, 0
        documents = [change.source for change in waiting if isinstance(change, ReadDocument)]
        facts: dict[int, dict[str, Facts | None]] = {document.number: {} for document in documents}
        stop: BudgetExceeded | None = None
        for layer in layers if documents else ():
            known = [document for document in documents if document.number in facts]
            found, stopped = await self._extract(layer, known)
            stop = stop or stopped
            for document in known:
                if document.number in found:
                    facts[document.number][layer.name] = found[document.number]
                else:
                    del facts[document.number]  # it waits until it can be paid for
        if stop is not None:
            unread = {each.file for each in waiting if isinstance(each, ReadDocument) and each.number not in facts}
            waiting = [each for each in waiting if not _waits(each, facts, unread)]
        with self.summary.timed("storing"), self.store.batch() as batch:
            for change in waiting:
                self._apply(batch, change, facts)
            self._note_missing(facts.values())
        if stop is not None:
            raise stop
        await self._publish_if_due()

    async def _extract(
        self, layer: Layer, documents: Sequence[Source]
    ) -> tuple[dict[int, Facts | None], BudgetExceeded | None]:
        """Facts of documents by number; and where the budget ends, what ended it, with facts of those documents only
        for which nothing has to be paid.
        """
        self._working = layer.name
        with self.summary.timed(layer.name):
            try:
                with self._budget():
                    found = await layer.extract(documents, self.use)
                facts = {document.number: each for document, each in zip(documents, found, strict=True)}
                self._failed[layer.name] |= {number for number, each in facts.items() if each is None}
                return facts, None
            except BudgetExceeded as stop:
                facts = {}
                for document in documents:
                    try:
                        with spending(Budget(calls=0)):
                            [facts[document.number]] = await layer.extract([document], self.use)
                    except BudgetExceeded:
                        continue
                return facts, stop

    @contextmanager
    def _budget(self) -> Iterator[None]:
        """Once the budget has ended something, nothing after it spends what is left: it would pay for work on a part of
        what the next run makes whole.
        """
        with spending(Budget(calls=0) if self.summary.stopped else None):
            yield

    def _apply(self, batch: Batch, change: FileChange, facts: Mapping[int, Mapping[str, Facts | None]]) -> None:
        files = self.store.files
        if isinstance(change, ReadDocument):
            if self.erasing is not None:
                self.erasing.note(change.number)
            if change.put(batch):
                self.summary.changed += 1
                self._note_removal()
            else:
                self.summary.added += 1
            self.summary.chunks += len(change.source.passages)
            for layer in self.layers:
                if (found := facts[change.number].get(layer.name)) is not None:
                    batch.put_facts(layer.name, change.number, found, layer.tables, self.facts_made(layer))
        elif isinstance(change, BegunFile):
            files.begin(change.key, change.root)
        elif isinstance(change, ReadFile):
            self.remove(batch, change.gone)
            files.put(change.key, change.root, change.size, change.modified, change.hash)
            files.put_records(change.key, change.records)
        else:
            self.remove(batch, self.store.hashes_of_source(change.key))
            files.remove(change.key)

    def remove(self, batch: Batch, numbers: Iterable[int]) -> None:
        for number in numbers:
            if self.erasing is not None:
                self.erasing.note(number)
            if batch.remove(number):
                self.summary.removed += 1
                self._note_removal()

    def remove_all(self, numbers: Collection[int]) -> None:
        """Remove documents from the rows. Their files count as unread: one that is still there comes back."""
        with self.store.batch() as batch:
            self.store.files.forget(numbers)
            self.remove(batch, numbers)

    def _note_removal(self) -> None:
        """Replies of the model may rest on a document that changes or goes: they go too, when the run ends."""
        self._note({"forget": "yes"})

    # Facts of documents that were read before

    def facts_made(self, layer: Layer) -> str:
        """What the facts of a layer are made with now."""
        lexicon = self.use.lexicon if layer.reads_lexicon else None
        epoch = lexicon.epoch if lexicon is not None else ""
        settings = layer.facts_made_with(self.use.settings[layer.name])
        return content_hash(layer.version, settings, epoch, self._embedder)

    @property
    def _embedder(self) -> str:
        """The name of the embedder: a layer may embed where the index has vectors, and do without where it has none."""
        return self.use.embedder.name if self.use.embedder is not None else self.meta.get("embedder", "")

    def _is_ready(self, layer: Layer) -> bool:
        return self.use.lexicon is not None or not layer.reads_lexicon

    def _note_missing(self, facts: Iterable[Mapping[str, Facts | None]]) -> None:
        """Note which layers have not extracted all documents any more."""
        stored = list(facts)
        for layer in self.layers:
            if has_facts(layer) and any(each.get(layer.name) is None for each in stored):
                self._note({f"whole:{layer.name}": ""})

    async def extract_missing(self) -> None:
        """Have every layer extract the documents that it has no facts of, or others than it would make now."""
        self.renew_lexicon()
        for layer in self.layers:
            if not (has_facts(layer) and self._is_ready(layer)) or not (self.use.pays or layer.reads_lexicon):
                continue
            made = self.facts_made(layer)
            whole = self.meta.get(f"whole:{layer.name}") == made
            again = set(layer.unfinished(self.store, self.use)) if self.use.pays else set()
            missing = [] if whole else self.store.not_extracted(layer.name, made)
            failed = self._failed[layer.name]
            numbers = [number for number in sorted(again.union(missing)) if number not in failed]
            if await self._extract_rows(layer, made, numbers) and not (whole or failed):
                self._note({f"whole:{layer.name}": made})

    async def _extract_rows(self, layer: Layer, made: str, numbers: Sequence[int]) -> bool:
        """Whether all of these documents were extracted."""
        done, all_done = 0, True
        for documents in self._batches(self.store.sources(numbers)):
            facts, stop = await self._extract(layer, documents)
            with self.summary.timed("storing"), self.store.batch() as batch:
                for number, found in facts.items():
                    if found is not None:
                        batch.put_facts(layer.name, number, found, layer.tables, made)
            done += len(documents)
            self.progress(Progress(layer.name, done, len(numbers)))
            all_done &= len(facts) == len(documents) and None not in facts.values()
            if stop is not None:
                self.summary.stopped = self.summary.stopped or stop.message
                return False
            await self._publish_if_due()
        return all_done

    def _batches(self, sources: Iterable[Source]) -> Iterator[list[Source]]:
        batch: list[Source] = []
        size = 0
        for source in sources:
            batch.append(source)
            size += len(source.text)
            if self._is_full(len(batch), size):
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    # The lexicon

    def open_lexicon(self) -> Lexicon | None:
        """That of the last epoch, where a layer reads it and there is one."""
        if not self._lexicon_opened and any(layer.reads_lexicon for layer in self.layers):
            from ragways.layers.lexicon import Lexicon

            self._lexicon_opened = True
            self.use.lexicon = Lexicon.open(self.store, self.store.folder)
        return self.use.lexicon

    def renew_lexicon(self) -> None:
        """Make the lexicon anew where there is none, the corpus has doubled or halved since, or it is asked for."""
        lexicon = self.open_lexicon()
        due = lexicon is None or (self.use.pays and lexicon.is_due(self.store))
        if not (due or "lexicon" in self.fresh) or not any(layer.reads_lexicon for layer in self.layers):
            return
        from ragways.layers.lexicon import Lexicon

        with self.summary.timed("lexicon"):
            if lexicon is not None:
                lexicon.close()
            self.use.lexicon = Lexicon.make(self.store, self.store.folder, self.progress)

    # Fold and publish

    async def _publish_if_due(self) -> None:
        if time.monotonic() - self._published >= self._pause:
            await self.publish()

    async def publish(self, *, last: bool = False, anew: bool = False) -> None:
        """Bring every view up to date with the rows, and have readers find them. The `last` time in a run, work that
        views lack is done, and what is to be `fresh` is. `anew`: make all views of nothing but the rows.
        """
        began = time.monotonic()
        before = None if anew else self._newest_views()
        plan = {layer: self._change(layer, before) for layer in self.layers}
        self.use.last, self.use.fresh = last, self.fresh if last else frozenset()
        again = {layer for layer in self.layers if last and (self.fresh or self._lacks_work(layer, before))}
        stale = [layer for layer, change in plan.items() if change is None or change or layer in again]
        if not stale and before is not None and set(before.layers) == self.names:
            return
        if (views := before or published(self.store.folder)) is not None and views.generation >= self.store.generation:
            with self.store.batch() as batch:
                batch.changed = True
        shown: dict[str, ShownView] = {}
        with draft(self.store.folder, self.store.generation, before) as self._draft:
            try:
                for layer in self.layers:
                    with self.summary.timed(layer.name):
                        if (view := await self._fold(layer, plan[layer], layer in stale, before)) is not None:
                            shown[layer.name] = view
            finally:
                self._close_readers()
            self._views = self._draft.publish(shown, self.meta["rows"])
        clear_old(self.store.folder, self._views.generation)
        self.store.finish()
        self._published = time.monotonic()
        self._pause = max(PUBLISH_SECONDS, 4 * (self._published - began))

    @property
    def views(self) -> Views:
        """What was published last."""
        assert self._views is not None  # noqa: S101 - asked for after a publication
        return self._views

    def _newest_views(self) -> Views | None:
        """The published views of these rows. Those that another run has left are compared with their checksums."""
        if self._views is None:
            views = published(self.store.folder, self.store.generation)
            if views is not None and views.rows == self.meta.get("rows"):
                layers = {name: each for name, each in views.layers.items() if not views.damaged(name)}
                self._views = replace(views, layers=layers)
        return self._views

    def _lacks_work(self, layer: Layer, before: Views | None) -> bool:
        """Whether a view, or one that it is made of, lacks work that this run may pay for."""
        return self.use.pays and before is not None and any(map(before.undone, self._with_needs(layer)))

    def _change(self, layer: Layer, before: Views | None) -> Change | None:
        """What a view lacks; None where it is to be made anew."""
        if before is None or before.made(layer.name) != self.view_made(layer):
            return None
        since = before.generation_of(layer.name)
        changes = [self.store.changes(since, name) for name in self._with_needs(layer)]
        added = {number for change in changes for number in change.added}
        removed = {number for change in changes for number in change.removed}
        return Change(tuple(sorted(added)), tuple(sorted(removed)))

    def _with_needs(self, layer: Layer) -> list[str]:
        """A layer, and those that its view is made of."""
        names = {layer.name}
        for each in reversed(self.layers):
            names |= each.needs if each.name in names else set()
        return sorted(names)

    def view_made(self, layer: Layer) -> str:
        """What a view is made with now, and those that it is made of."""
        parts = [self._embedder]
        for each in self.layers:
            if each.name in self._with_needs(layer):
                parts += [each.name, each.version, each.view_made_with(self.use.settings[each.name])]
        return content_hash(*parts)

    async def _fold(self, layer: Layer, change: Change | None, stale: bool, before: Views | None) -> ShownView | None:
        """Make or fold one view in the draft; None where there is no view."""
        assert self._draft is not None  # noqa: S101 - `publish` has made it
        self._working = layer.name
        known = before.layers.get(layer.name) if before is not None else None
        if change is not None:
            self._draft.link(layer.name)
        if not stale and known is not None:
            return known._replace(generation=self._draft.generation)
        failed, why = self.use.failed, self.use.why
        self.progress(Progress(f"{layer.name} view", 0))
        try:
            with self._budget():
                await layer.fold(self._draft.of(layer.name), self.store, change, self.use)
        except BudgetExceeded as stop:
            self.summary.stopped = self.summary.stopped or stop.message
            self._draft.clear(layer.name)
            if known is not None:  # as it was
                self._draft.link(layer.name)
            return known
        undone = self.use.failed - failed
        if not self.use.last:  # the last fold does this work, and counts what then fails
            self.use.failed, self.use.why = failed, why
        return ShownView(self._draft.generation, self.view_made(layer), undone)

    def _reader(self, name: str) -> Any:  # noqa: ANN401 - each layer has its own
        """For `use.layer`."""
        assert self._draft is not None  # noqa: S101 - layers read each other when they are folded
        if name not in self._readers:
            layer = next(layer for layer in self.layers if layer.name == name)
            self._readers[name] = layer.open(self._draft.of(name), self.store)
        return self._readers[name]

    def _close_readers(self) -> None:
        for reader in self._readers.values():
            if hasattr(reader, "close"):
                reader.close()
        self._readers = {}

    async def _embed(self, texts: Texts) -> None:
        """For `use.embed`. Vectors are cached as they come; their cost is counted for the layer that wants them."""
        embedder, engine, kind = self.use.embedder, self.use.engine, f"embed:{self._working}"
        if embedder is None or not self.use.pays:
            return
        known = self.cache.known(embedder.name, texts)
        # Texts of one length together, so that a batch of an endpoint is even.
        missing = sorted((hash for hash in texts if hash not in known), key=lambda hash: (-len(texts[hash]), hash))

        async def embed(hashes: Sequence[str]) -> None:
            some = [texts[hash] for hash in hashes]
            with self.cache.costing(kind) as cost:
                vectors = await (embedder.embed(some) if engine is None else engine.embed(embedder, some))
                self.cache.keep(embedder.name, dict(zip(hashes, vectors, strict=True)), kind, cost)
            self.summary.embedded += len(hashes)
            self.progress(Progress("embedding", self.summary.embedded))

        slices = [missing[at : at + EMBEDDED_AT_ONCE] for at in range(0, len(missing), EMBEDDED_AT_ONCE)]
        with self.summary.timed("embedding"):
            await in_turn(map(embed, slices), (engine or embedder).parallel)

    # After

    def end(self) -> None:
        """Clear up after the last publication."""
        self.summary.came, self.summary.lost = dict(self.cache.came), dict(self.cache.failed)
        self.summary.outside = dict(self.use.outside.most_common())
        self.summary.undone, self.summary.why = self.use.failed, self.use.why
        if self.meta.get("forget"):
            self.cache.forget_replies()
        newest = self._views.generation if self._views is not None else self.store.generation
        shown = clear_old(self.store.folder, newest)
        with self.store.batch() as batch:
            self._note({"forget": ""})
            batch.forget_changes(shown)
        if self.use.pays and not (self.use.failed or self.summary.stopped):
            self.cache.forget_failures()
        self.store.finish()


def has_facts(layer: Layer) -> bool:
    """Whether a layer extracts anything; others have views alone."""
    return type(layer).extract is not Layer.extract


def _waits(change: FileChange, facts: Collection[int], unread: Collection[str]) -> bool:
    """Whether a change is left to the next run: a document that is not paid for, or a file with such a document."""
    if isinstance(change, ReadDocument):
        return change.number not in facts
    return isinstance(change, ReadFile) and change.key in unread


def _stored_settings(layer: Layer, stored: str | None) -> LayerSettings:
    try:
        return layer.settings() if stored is None else parse_section(layer.name, layer.settings, json.loads(stored))
    except SettingsError:  # of another version
        return layer.settings()
