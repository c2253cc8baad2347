"""The folders of views: one a generation, with a folder for each layer in it.

A generation is made in a draft, which begins as hard links of the files before it, and is published by renaming it when
it is whole and on the disk. So readers keep the generation that they opened, and a killed run leaves nothing but a
draft, which the next clears. A list tells size and checksum of every file.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ragways.core.errors import StoreFailed
from ragways.store.database import raise_exhausted, store_errors
from ragways.store.place import VIEWS

FORMAT = "2"
"""Of the list, and of whatever no layer's own version tells. Views of another format are made anew."""
LIST = "views.json"
_SMALL = 8 << 20
"""Bytes of a file that is compared whole whenever it is opened."""
_BLOCK = 1 << 20
_DRAFT = ".draft"


@dataclass(frozen=True, slots=True)
class FileSeal:
    """What a file was when its generation was published. It may have grown since: a later generation appends to it."""

    size: int
    crc: int

    def fits(self, path: Path, *, whole: bool) -> bool:
        """Whether the file is still so; `whole`: compare every byte, however large it is."""
        try:
            if path.stat().st_size < self.size:
                return False
            return not (whole or self.size <= _SMALL) or checksum(path, self.size) == self.crc
        except OSError as error:
            raise_exhausted(path, error)
            return False


class ShownView(NamedTuple):
    """The generation that a view shows, what it was made with, and how many units of its work are not done yet."""

    generation: int
    made: str
    undone: int = 0


@dataclass(frozen=True, slots=True)
class Views:
    """The published views of one generation. `rows` names the rows they were made of."""

    folder: Path
    generation: int
    rows: str
    layers: Mapping[str, ShownView]
    files: Mapping[str, FileSeal]
    """By their path below the folder."""

    def of(self, layer: str) -> Path:
        """The folder of a layer's view."""
        return self.folder / layer

    def made(self, layer: str) -> str:
        """What the view was made with; nothing where there is none."""
        return self.layers[layer].made if layer in self.layers else ""

    def generation_of(self, layer: str) -> int:
        return self.layers[layer].generation

    def undone(self, layer: str) -> int:
        """How many units of work the view lacks; 0 where there is no view."""
        return self.layers[layer].undone if layer in self.layers else 0

    def lock(self) -> int | None:
        """Have no writer remove the files until this descriptor is closed. None where they are removed already."""
        with store_errors(self.folder):
            try:
                descriptor = os.open(self.folder / LIST, os.O_RDONLY)
            except FileNotFoundError:
                return None
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)
            return None

    def files_of(self, layer: str) -> dict[str, FileSeal]:
        return {name: seal for name, seal in self.files.items() if name.startswith(f"{layer}/")}

    def size_of(self, layer: str) -> int:
        """Bytes of the files of a view."""
        return sum(seal.size for seal in self.files_of(layer).values())

    def damaged(self, layer: str, *, every: bool = False) -> list[str]:
        """Files of a view that are not what was published. Of large files only the size is compared, unless `every`
        byte is to be.
        """
        files = self.files_of(layer).items()
        return [name for name, seal in files if not seal.fits(self.folder / name, whole=every)]


def published(folder: Path, until: int | None = None) -> Views | None:
    """The newest views of an index; `until`: of those that show no later generation than this."""
    for number in sorted(_generations(folder), reverse=True):
        views = _listed(folder / VIEWS / str(number)) if until is None or number <= until else None
        if views is not None:
            return views
    return None


def _generations(folder: Path) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder / VIEWS) if name.isdecimal()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise_exhausted(folder / VIEWS, error)
        raise


def _listed(folder: Path) -> Views | None:
    try:
        listed: dict[str, Any] = json.loads((folder / LIST).read_text(encoding="utf-8"))
        if listed["format"] != FORMAT:
            return None
        layers = {
            name: ShownView(int(each["generation"]), str(each["made"]), int(each["undone"]))
            for name, each in listed["layers"].items()
        }
        files = {name: FileSeal(int(size), int(crc)) for name, (size, crc) in listed["files"].items()}
        return Views(folder, int(listed["generation"]), str(listed["rows"]), layers, files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise_exhausted(folder / LIST, error)
        return None


class Draft:
    """The views of a generation that is being made."""

    def __init__(self, folder: Path, generation: int, before: Views | None) -> None:
        self.final = folder / VIEWS / str(generation)
        self.folder = self.final.with_name(f"{generation}{_DRAFT}")
        self.generation = generation
        self.before = before

    def of(self, layer: str) -> Path:
        """The folder of a layer's view, which is there."""
        place = self.folder / layer
        place.mkdir(parents=True, exist_ok=True)
        return place

    def link(self, layer: str) -> None:
        """Begin a view with the files of the generation before."""
        assert self.before is not None  # noqa: S101 - whoever takes over knows from what
        for name, seal in self.before.files_of(layer).items():
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(self.before.folder / name, target)
            except OSError:  # a file system without links
                shutil.copyfile(self.before.folder / name, target)
            if target.stat().st_size > seal.size:  # what a killed run has appended
                os.truncate(target, seal.size)

    def clear(self, layer: str) -> Path:
        """An empty folder for a view that is made anew."""
        shutil.rmtree(self.folder / layer, ignore_errors=True)
        return self.of(layer)

    def publish(self, layers: Mapping[str, ShownView], rows: str) -> Views:
        """List the files, bring them to the disk and have readers find them. `layers` are those that have a view."""
        for layer in layers:
            self.of(layer)
        files = {path.relative_to(self.folder).as_posix(): path for path in _files(self.folder)}
        seals = {name: self._seal(name, path) for name, path in files.items()}
        listed = {
            "format": FORMAT,
            "generation": self.generation,
            "rows": rows,
            "layers": {name: view._asdict() for name, view in layers.items()},
            "files": {name: (seal.size, seal.crc) for name, seal in seals.items()},
        }
        (self.folder / LIST).write_text(json.dumps(listed, sort_keys=True), encoding="utf-8")
        for path in (self.folder / LIST, *(path for path in self.folder.rglob("*") if path.is_dir()), self.folder):
            sync(path)
        _remove(self.final)
        self.folder.rename(self.final)
        sync(self.final.parent)
        return Views(self.final, self.generation, rows, dict(layers), seals)

    def _seal(self, name: str, path: Path) -> FileSeal:
        """Size and checksum of a file. One that is linked is as it was, or has grown."""
        status = path.stat()
        known = None if self.before is None else self.before.files.get(name)
        crc = begin = 0
        if self.before is not None and known is not None and _is_linked(status, self.before.folder / name):
            if status.st_size == known.size:
                return known
            crc, begin = known.crc, known.size
        sync(path)
        return FileSeal(status.st_size, checksum(path, status.st_size, crc, begin))


@contextmanager
def draft(folder: Path, generation: int, before: Views | None) -> Iterator[Draft]:
    """Views of a generation to be made in the folder of an index; nothing stays of them unless they are published."""
    made = Draft(folder, generation, before)
    with store_errors(made.final):
        _remove(made.folder)
        made.folder.mkdir(parents=True)
        try:
            yield made
        finally:
            shutil.rmtree(made.folder, ignore_errors=True)


def clear_old(folder: Path, newest: int) -> int:
    """Remove all generations before the newest, and drafts of killed runs. What a reader has open goes with a later
    run; a reader that finds its generation gone moves on to the next. The earliest generation that a view shows.
    """
    newest = max((number for number in _generations(folder) if number <= newest), default=-1)
    for path in (folder / VIEWS).iterdir() if (folder / VIEWS).is_dir() else ():
        if path.name != str(newest) and _is_own(path):
            _remove_unless_open(path)
    views = _listed(folder / VIEWS / str(newest))
    return min((view.generation for view in views.layers.values()), default=0) if views is not None else 0


def clear_others(views: Views) -> bool:
    """Remove all generations but this one. False where a reader has one of them open, so that it is still there."""
    folder = views.folder.parent.parent
    clear_old(folder, views.generation)
    return _generations(folder) == [views.generation]


def _remove(path: Path) -> None:
    """Remove a folder of ours that is in the way; what is not ours is never removed."""
    if not os.path.lexists(path):
        return
    if not _is_own(path):
        raise StoreFailed(f"{path} was not made by ragways, and is in its way", "move it elsewhere and run again")
    shutil.rmtree(path, ignore_errors=True)


def _remove_unless_open(path: Path) -> None:
    """Remove views that no reader has locked: one that locks them now waits, and finds them gone."""
    if path.name.endswith(_DRAFT):
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):
        descriptor = os.open(path / LIST, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
        finally:
            os.close(descriptor)


def _is_own(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir() or not path.name.removesuffix(_DRAFT).isdecimal():
        return False
    return path.name.endswith(_DRAFT) or (path / LIST).is_file()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / LIST)


def _is_linked(status: os.stat_result, path: Path) -> bool:
    try:
        return os.path.samestat(status, path.stat())
    except OSError:
        return False


def checksum(path: Path, size: int, crc: int = 0, begin: int = 0) -> int:
    """The CRC-32 of the first `size` bytes of a file; `crc` is that of the bytes before `begin`."""
    with path.open("rb") as file:
        file.seek(begin)
        left = size - begin
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            crc = zlib.crc32(block, crc)
            left -= len(block)
    return crc


def sync(path: Path) -> None:
    """Have the disk hold a file, or the names in a folder, before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
