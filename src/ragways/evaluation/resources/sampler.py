"""CPU seconds and memory of a run, looked at every two seconds under the name of what is under way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from ragways.core.errors import UsageError
from ragways.evaluation.resources.process import used
from ragways.evaluation.resources.samples import Sample, Samples

EVERY = 2.0
"""Seconds."""
MOST = 20_000
"""Samples kept; past them, every other one goes and the next ones come half as often."""


class Sampler:
    """Looks from a thread of its own while it is entered. `label` says what is under way, e.g. a paradigm.

    A look is taken when the label changes too, so that work of less than two seconds has a `peak` as well, and CPU
    seconds can be put down to a label. A file that cannot be written (`error`) ends the writing, not the run.
    """

    def __init__(
        self,
        samples: Samples | None = None,
        *,
        every: float = EVERY,
        most: int = MOST,
        look: Callable[[], tuple[float, int]] = used,
    ) -> None:
        self.every = every
        self.samples: list[Sample] = []
        self.peak: dict[str, int] = {}
        self.error = ""
        self._file = samples
        self._most = max(2, most)
        self._look = look
        self._label = ""
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Sampler:
        self._done.clear()
        self._take()
        self._thread = threading.Thread(target=self._watch, name="resources", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        self._take()

    @property
    def label(self) -> str:
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        """What was under way until now is looked at once more."""
        if label != self._label:
            self._take()
            self._label = label

    @contextmanager
    def under(self, label: str) -> Iterator[None]:
        """Work under a label; then under the one before again."""
        before, self.label = self._label, label
        try:
            yield
        finally:
            self.label = before

    def _watch(self) -> None:
        while not self._done.wait(self.every):
            self._take()

    def _take(self) -> None:
        with self._lock:
            sample = self._now()
            self.peak[sample.label] = max(sample.memory, self.peak.get(sample.label, 0))
            self.samples.append(sample)
            self._write(sample)
            if len(self.samples) >= self._most:
                del self.samples[1::2]
                self.every *= 2

    def _now(self) -> Sample:
        cpu, memory = self._look()
        return Sample(round(time.time(), 3), self._label, round(cpu, 3), memory)

    def _write(self, sample: Sample) -> None:
        if self._file is None or self.error:
            return
        try:
            self._file.append(sample)
        except UsageError as error:
            self.error = error.message


__all__ = ["EVERY", "MOST", "Sample", "Sampler", "Samples"]
