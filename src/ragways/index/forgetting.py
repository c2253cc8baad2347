"""What was made of texts that are gone is forgotten: by what went, or by looking for all that is not used any more."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.index.layer import BuildContext, Layer
from ragways.index.place import PAGES
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache


class Forgetting:
    """How a run forgets. It costs what went, where the layers can tell what they kept work under for it and the work
    cache holds nothing but what is used. It does not where a run began to keep work in it and did not end: then, and
    where the layers of an index are others than before, all that is kept is looked through.
    """

    def __init__(self, store: Store, work_cache: WorkCache) -> None:
        self._store = store
        self._work_cache = work_cache
        self._tidy = work_cache.tidy
        self._owed = bool(store.meta().get("forget"))
        self._released: set[str] | None = None

    def begin(self) -> None:
        """Before anything is kept: until the run has ended, it may be that nothing uses it."""
        self._work_cache.tidy = False

    def prepare(self, context: BuildContext, layers: Sequence[Layer]) -> None:
        """Find out what is to go, while the store is open for writing."""
        if not self._tidy or self._owed or context.changes is None or any(layer.keeps_more for layer in layers):
            return
        gone = self._store.released.union(*(layer.released(context) for layer in layers))
        self._released = gone.difference(
            *(layer.still_used(context, gone) for layer in layers if layer.still_used is not None)
        )

    def forget(self, context: BuildContext, layers: Sequence[Layer]) -> None:
        """Drop all that was made of texts that are gone, once the commit that removed them stands."""
        if self._released is not None:
            self._work_cache.forget(self._released)
            return
        used: dict[str, set[str]] = {}
        for layer in layers:
            for kind, hashes in layer.used(context).items():
                used.setdefault(kind, set()).update(hashes)
        self._work_cache.keep_only(used)
        self._tidy = True

    def end(self) -> None:
        """The run has ended, and uses what it has kept."""
        self._work_cache.tidy = self._tidy


def forget_pages(store: Store) -> None:
    """Delete fetched pages that are not in the index any more."""
    if (store.folder / PAGES).is_dir():
        from ragways.corpus import web

        web.forget_pages(store.folder / PAGES, store.pages())
