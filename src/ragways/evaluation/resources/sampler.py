"""CPU seconds and memory of a run, sampled every two seconds under the name of the paradigm that is running.

Samples are kept in the folder of the run, a line of JSON each. What the process and its children use is read from the
standard library and /proc alone.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType

from ragways.core.errors import UsageError
from ragways.core.log import Log

FILE = "resources.jsonl"
EVERY = 2.0
"""Seconds between two samples."""
LIMIT = 20_000
"""Samples after which the next ones come half as often."""
_PROC = Path("/proc")
_DESCENDANTS = 256
"""Descendants looked at; a program that starts more is not measured by watching it."""


@dataclass(frozen=True, slots=True)
class ResourceSample:
    """`at`: seconds since 1970; `cpu`: seconds since the process began, so it falls where a run went on later;
    `memory`: bytes in memory, of the process and its children.
    """

    at: float
    label: str
    cpu: float
    memory: int


def samples_of(folder: Path) -> Log[ResourceSample]:
    """The samples of a run, in the order they were taken; none where nothing was sampled."""
    return Log(folder / FILE, ResourceSample)


def peak_memory(samples: Iterable[ResourceSample]) -> dict[str, int]:
    """The most memory seen under each label."""
    found: dict[str, int] = {}
    for sample in samples:
        found[sample.label] = max(sample.memory, found.get(sample.label, 0))
    return found


def cpu_seconds(samples: Iterable[ResourceSample]) -> dict[str, float]:
    """CPU seconds under each label: what came since the sample before, where the process is the same."""
    found: dict[str, float] = {}
    for before, after in pairwise(samples):
        if after.cpu >= before.cpu:
            found[after.label] = found.get(after.label, 0.0) + after.cpu - before.cpu
    return found


# What the process uses


def process_usage() -> tuple[float, int]:
    """CPU seconds since the start, and bytes of memory.

    On Linux children that still run are counted too, those that ended by the seconds they took. Elsewhere memory is
    the largest it has been since the start, as the system gives no more without further packages.
    """
    times = os.times()
    seconds = time.process_time() + times.children_user + times.children_system
    own = _resident("self")
    if own is None:
        return seconds, _largest()
    others = _descendants()
    return seconds + sum(map(_seconds, others)), own + sum(_resident(str(child)) or 0 for child in others)


def _descendants() -> list[int]:
    found: list[int] = []
    todo = [os.getpid()]
    while todo and len(found) < _DESCENDANTS:
        here = todo.pop()
        for file in _PROC.glob(f"{here}/task/*/children"):
            try:
                children = [int(child) for child in file.read_text().split()]
            except (OSError, ValueError):
                continue
            found += children
            todo += children
    return found[:_DESCENDANTS]


def _resident(process: str) -> int | None:
    try:
        return int((_PROC / process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def _seconds(process: int) -> float:
    """Of a child that runs, with those of its own that ended."""
    try:
        # The name, in brackets, may hold anything; what comes after it does not.
        fields = (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _largest() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


# Sampling


class Sampler:
    """Takes samples in a thread of its own while it is entered. `label` names the work, e.g. a paradigm.

    A sample is taken when the label changes too, so that work of less than two seconds has one as well, and CPU seconds
    can be put down to a label. A file that cannot be written (`error`) ends the writing, not the run.
    """

    def __init__(
        self,
        samples: Log[ResourceSample],
        *,
        every: float = EVERY,
        limit: int = LIMIT,
        look: Callable[[], tuple[float, int]] = process_usage,
    ) -> None:
        self.every, self.error = every, ""
        self._file, self._limit, self._look = samples, limit, look
        self._label, self._taken = "", 0
        self._lock, self._done = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="resources", daemon=True)

    def __enter__(self) -> Sampler:
        self._take()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._take()

    @property
    def label(self) -> str:
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        """The work until now is sampled once more."""
        if label != self._label:
            self._take()
            self._label = label

    def _watch(self) -> None:
        while not self._done.wait(self.every):
            self._take()

    def _take(self) -> None:
        with self._lock:
            cpu, memory = self._look()
            sample = ResourceSample(round(time.time(), 3), self._label, round(cpu, 3), memory)
            self._taken += 1
            if self._taken % self._limit == 0:
                self.every *= 2
            try:
                if not self.error:
                    self._file.append(sample)
            except UsageError as error:
                self.error = error.message
