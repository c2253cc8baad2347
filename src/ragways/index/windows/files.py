"""The layer's folder: which files there are, and how vectors get into theirs without all being held at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.vectors import Vectors
from ragways.index.work_cache import WorkCache

FOLDER = "windows"
_AT_ONCE = 4096


def write_vectors(
    folder: Path,
    name: str,
    ids: Sequence[str],
    hashes: Sequence[str],
    *,
    work_cache: WorkCache,
    embedder: str,
    dimension: int,
) -> NDArray[np.float32]:
    """`NAME.npy` and `NAME.ids` as `Vectors` reads them; gives the matrix, memory-mapped."""
    if not ids:
        Vectors([], np.zeros((0, dimension), np.float32)).save(folder, name)
        return np.zeros((0, dimension), np.float32)
    rows = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.dtype(np.float32), (len(ids), dimension))
    for at in range(0, len(ids), _AT_ONCE):
        some = hashes[at : at + _AT_ONCE]
        found = work_cache.vectors(embedder, some)
        joined = b"".join(found[hash] for hash in some)
        rows[at : at + len(some)] = np.frombuffer(joined, np.float32).reshape(len(some), dimension)
    rows.flush()
    (folder / f"{name}.ids").write_text("\n".join(ids), encoding="utf-8")
    return np.asarray(rows)


def write_json(folder: Path, name: str, value: object) -> None:
    (folder / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False, sort_keys=True), encoding="utf-8")


def read_json(folder: Path, name: str) -> Any:  # noqa: ANN401
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
