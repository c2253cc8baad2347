"""Files of views: written beside and renamed, so that readers of the generation before keep theirs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreFailed


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it takes the place of `path` at the end. A file that another generation shares is
    left as it is.
    """
    draft = path.with_name(f"{path.name}.draft")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array (`.npy`), and see that it was written whole."""
    with replacing(path) as draft:
        with draft.open("wb") as file:
            np.save(file, array, allow_pickle=False)
            size = file.tell()
        if draft.stat().st_size != size:
            raise StoreFailed(f"{path} was not written whole", "check the disk and its room, then run again")


def load_array(path: Path, *, mapped: bool = True) -> NDArray[Any]:
    """An array, mapped into memory so that processes share it."""
    array: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    return array


def save_json(path: Path, value: object) -> None:
    with replacing(path) as draft:
        draft.write_text(json.dumps(value, ensure_ascii=False, sort_keys=True), encoding="utf-8")


def load_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
