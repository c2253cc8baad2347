"""The derived folder: one a generation, made under a temporary name and renamed when it is whole.

Only then does the store's commit name it. So a reader that opened the generation before keeps it, and a killed build
leaves nothing but litter, which the next one clears.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from ragways.index.database import explained
from ragways.index.layer import BuildContext, Layer

FORMAT = "2"
"""Which files a derived folder has and what is in them; a folder of another format is made again when it is opened."""

KEPT = 2
"""Generations that stay on disk: the newest, and one for readers that began before it."""


def derived_folder(folder: Path, generation: int) -> Path:
    return folder / "derived" / str(generation)


def is_current(folder: Path, generation: int) -> bool:
    """Whether the derived files of a generation are there, in the format that this version reads."""
    return _mark(derived_folder(folder, generation)).is_file()


def _mark(derived: Path) -> Path:
    """An empty file whose name tells the format."""
    return derived / f"format-{FORMAT}"


def derive(context: BuildContext, generation: int, layers: Iterable[Layer]) -> None:
    """Make the derived files of a generation."""
    final = derived_folder(context.store.folder, generation)
    draft = final.with_name(f"{generation}.draft")
    with explained(final):
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        for layer in layers:
            layer.derive(context, draft)
        _mark(draft).touch()
        # Until here, readers have what there was.
        shutil.rmtree(final, ignore_errors=True)
        draft.rename(final)


def clear_old(folder: Path, generation: int, keep: int = KEPT) -> None:
    """Remove generations that no reader can have begun with lately, and drafts of killed builds.

    Where documents went, only the newest stays: it must hold nothing of them, and the older ones do.
    """
    names = {str(g) for g in range(generation - keep + 1, generation + 1)}
    for path in (folder / "derived").iterdir():
        if path.name not in names:
            shutil.rmtree(path, ignore_errors=True)
