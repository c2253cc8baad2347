"""What was made of texts that are gone is forgotten: by what went, or by looking for all that is not used any more."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.index.layer import BuildContext, Layer, nothing_freed
from ragways.index.place import PAGES
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache


class Forgetting:
    """How a run forgets. It costs what went, where all layers can tell what the run's changes have freed and the work
    cache holds nothing but what is used. It does not where a run began to keep work in it and did not end: then, and
    where the layers of an index are others than before, all that is kept is looked through when documents go.
    """

    def __init__(self, store: Store, work_cache: WorkCache) -> None:
        self._store = store
        self._work_cache = work_cache
        self._tidy = work_cache.tidy
        self._owed = bool(store.meta().get("forget"))
        self._first = store.meta()["generation"] == "0"
        self._released: set[str] | None = None

    def begin(self) -> None:
        """Before anything is kept: until the run has ended, it may be that nothing uses it."""
        self._work_cache.tidy = False

    def prepare(self, context: BuildContext, layers: Sequence[Layer]) -> None:
        """Find out what is to go, while the store is open for writing."""
        if context.changes is not None and not any(layer.keeps_more for layer in layers):
            freed = [layer.freed(context) for layer in layers]
            known = [some for some in freed if some is not None]
            if len(known) == len(freed):
                gone = self._store.released.union(*known)
                self._released = gone.difference(
                    *(layer.still_used(context, gone) for layer in layers if layer.still_used is not None)
                )
        if self._released is None and not self._first and any(layer.freed is not nothing_freed for layer in layers):
            self._tidy = False

    def forget(self, context: BuildContext, layers: Sequence[Layer]) -> None:
        """Drop all that was made of texts that are gone, once the commit that removed them stands."""
        released, self._released = self._released, None
        if released is not None and self._tidy and not self._owed:
            self._work_cache.forget(released)
            return
        used: dict[str, set[str]] = {}
        for layer in layers:
            for kind, hashes in layer.used(context).items():
                used.setdefault(kind, set()).update(hashes)
        self._work_cache.keep_only(used)
        self._tidy = True

    def end(self) -> None:
        """The run has ended, and uses what it has kept. Where no document went, layers may still need less than before,
        because others came.
        """
        if self._released:
            self._work_cache.forget(self._released, replies=False)
        self._work_cache.tidy = self._tidy
        self._work_cache.settle()


def forget_pages(store: Store) -> None:
    """Delete fetched pages that are not in the index any more."""
    if (store.folder / PAGES).is_dir():
        from ragways.corpus import web

        web.forget_pages(store.folder / PAGES, store.files.pages())
