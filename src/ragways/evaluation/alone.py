"""One command at a time writes the records of a run: two would ask everything twice, and count it twice."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragways.core.errors import UsageError


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a run's folder while inside; UsageError where another process does. A kill lets go of it.

    The folder itself is locked, so that no file is left behind. Windows has no such lock, nor have some network drives:
    there two writers are not told apart.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}", "name another folder") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            f"another process is writing to {folder}", "wait for it to end, or name another --out"
        ) from None
    except OSError:
        pass  # a drive without locks
    try:
        yield
    finally:
        os.close(handle)
