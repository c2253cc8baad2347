"""Files of views: written beside and renamed, so that readers of the generation before keep theirs."""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged, StoreFailed
from ragways.store.database import raise_exhausted


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


@contextmanager
def _writing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` if it was written whole."""
    with replacing(path) as draft:
        with draft.open("wb") as file:
            yield file
            size = file.tell()
        if draft.stat().st_size != size:
            raise StoreFailed(f"{path} was not written whole", "check the disk and its room, then run again")


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array (`.npy`)."""
    with _writing(path) as file:
        np.save(file, array, allow_pickle=False)


def load_array(path: Path) -> NDArray[Any]:
    """An array, mapped into memory so that processes share it."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


_ALIGNED = 64  # bytes
_HEAD = 8  # bytes that say how long the table of contents is


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays into one file, which is mapped at once: an open file for each of forty would be many."""
    contents, at = {}, 0
    for name, array in arrays.items():
        contents[name] = (array.dtype.str, array.shape, at)
        at += -(-array.nbytes // _ALIGNED) * _ALIGNED
    head = json.dumps(contents).encode()
    head += b" " * (-(_HEAD + len(head)) % _ALIGNED)
    with _writing(path) as file:
        file.write(len(head).to_bytes(_HEAD, "little") + head)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(-array.nbytes % _ALIGNED))


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of such a file, mapped into memory so that processes share them."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        begin = _HEAD + int.from_bytes(data[:_HEAD], "little")
        return {
            name: np.frombuffer(data, dtype, math.prod(shape), begin + at).reshape(shape)
            for name, (dtype, shape, at) in json.loads(data[_HEAD:begin]).items()
        }
    except (OSError, ValueError, TypeError) as error:
        raise_exhausted(path, error)
        raise StoreDamaged(f"{path} is missing or damaged", "run again: ragways index PATH") from error


def save_json(path: Path, value: object) -> None:
    with replacing(path) as draft:
        draft.write_text(json.dumps(value, ensure_ascii=False, sort_keys=True), encoding="utf-8")


def load_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
