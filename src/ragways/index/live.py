"""An index for those who read it for long: a server, a notebook, a program that keeps its corpus open."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ragways.index.database import connect, store_errors
from ragways.index.reader import ConnectShards, Index
from ragways.index.store import FILE, generation_of

LOOK_AGAIN = 10.0
"""Seconds between looks whether a shard that could not answer is back."""


class LiveIndex:
    """Each question sees one snapshot, the newest there is when it begins, with the documents and layers of then.

    Between questions nothing is held, so that a writer can clear up behind itself. Questions side by side share a
    snapshot. When the index has changed, those that begin now see the new one, and the old one is closed when the last
    of its own has ended. All of it belongs to one thread: whoever has several gives their questions to one event loop.
    """

    def __init__(self, folder: Path, connect: ConnectShards | None = None) -> None:
        self._folder = folder
        self._connect = connect
        self._current = Index.open(folder, connect)
        self._current.pause()
        self._readers: dict[Index, int] = {}
        self._look_again = 0.0

    @contextmanager
    def snapshot(self) -> Iterator[Index]:
        """The index as it is now; it stays so until the end of the `with` block."""
        index = self._newest()
        self._readers[index] = self._readers.get(index, 0) + 1
        try:
            yield index
        finally:
            self._readers[index] -= 1
            if not self._readers[index]:
                del self._readers[index]
                if index is self._current:
                    index.pause()
                else:
                    index.close()

    def _newest(self) -> Index:
        before = self._current
        if before in self._readers:
            # Its readers hold its snapshot: only another connection can tell whether there is a newer one.
            path = self._folder / FILE
            with store_errors(path), closing(connect(path, write=False)) as db:
                if generation_of(db) == before.generation:
                    return before
        elif before.begin() and not (before.shard_note and time.monotonic() > self._look_again):
            return before
        else:
            before.pause()
        self._current = Index.open(self._folder, self._connect)
        self._look_again = time.monotonic() + LOOK_AGAIN
        if before not in self._readers:
            before.close()
        return self._current

    def close(self) -> None:
        """Let go of every snapshot, also of those that are still read."""
        for index in {self._current, *self._readers}:
            index.close()
