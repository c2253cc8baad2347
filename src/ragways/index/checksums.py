"""Checksums: what is read is what was written, or it is not used.

Derived files never change once they are made. Their folder lists them with size and the CRC-32 of each block; what is
opened is compared with the list first. A file that a generation has in common with the one before, by a hard link,
keeps its checksums: what a run reads to seal its files is what it has written.

CRC-32 finds every flipped bit and, but for one in four thousand million, any other damage. It is no protection against
somebody who writes files and checksums on purpose.
"""

from __future__ import annotations

import os
import random
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from ragways.core.errors import StoreDamaged

BLOCK = 1 << 24
"""Bytes of a derived file that have one checksum."""
COMPARED = 1 << 27
"""Bytes that are all compared whenever something is opened. Of more, every size, and some blocks; `ragways check`
compares all.
"""
DRAWN = 1 << 25
"""Bytes of those blocks, which are drawn anew each time."""
_READ = 1 << 20
_AT_ONCE = 4


class DamagedBefore(StoreDamaged):
    """Files of the generation before were damaged, so nothing may be taken over of it."""


@contextmanager
def reading_before(folder: Path) -> Iterator[None]:
    """While arrays of the generation before are opened: one that cannot be is damaged, however that came to be."""
    try:
        yield
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise DamagedBefore(f"a file in {folder} is damaged") from error


class Sum(NamedTuple):
    """Size of a file, and the CRC-32 of each of its blocks."""

    size: int
    crcs: Sequence[int]


def sum_of(descriptor: int, block: int) -> Sum:
    """Size and checksums of a file as it is now, by blocks of so many bytes."""
    size = os.fstat(descriptor).st_size
    return Sum(size, tuple(crc_of(descriptor, at, block) for at in range(0, size, block)))


def crc_of(descriptor: int, start: int, length: int) -> int:
    """The CRC-32 of a stretch of a file, as far as the file goes."""
    crc, end = 0, start + length
    # By `pread`, for the descriptor may be SQLite's, whose position is not ours to move.
    while start < end and (some := os.pread(descriptor, min(_READ, end - start), start)):
        crc = zlib.crc32(some, crc)
        start += len(some)
    return crc


def drawn(sizes: Sequence[int], *, every: bool = False) -> Sequence[int]:
    """Which of the blocks of these sizes are compared: all where `every` one is to be, or where they are little."""
    if every or sum(sizes) <= COMPARED:
        return range(len(sizes))
    chosen, bytes_left = dict[int, None](), DRAWN
    # One after the other: to put all in another order takes longer, where there are many, than to compare these.
    while bytes_left > 0 and len(chosen) < len(sizes):
        block = random.randrange(len(sizes))  # noqa: S311 - nothing is to be kept from anybody
        if block not in chosen and (bytes_left := bytes_left - sizes[block]) >= 0:
            chosen[block] = None
    return list(chosen)


def sync(path: Path) -> None:
    """Have the disk hold a file's content, or a folder's names, before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, text: str) -> None:
    """Put a small file in the place of another at one stroke, so that no reader and no power cut finds half of it."""
    draft = path.with_name(f"{path.name}.draft")
    draft.write_text(text, encoding="utf-8")
    sync(draft)
    draft.replace(path)
    sync(path.parent)


def with_own_sum(text: str) -> str:
    return f"{text}{zlib.crc32(text.encode()):08x}\n"


def without_own_sum(path: Path) -> str | None:
    """The text that `with_own_sum` ended, or None where it is missing or damaged."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return text[:-9] if len(text) >= 9 and with_own_sum(text[:-9]) == text else None


# Files that never change


def seal_files(folder: Path, name: str, before: Path | None = None) -> None:
    """Have the disk hold all files of a folder, and list them there, with their checksums, in a file of this name.
    Those that are files of the folder `before`, too, are there already, with the checksums that its list has.
    """
    listed = (listed_files(before, name) if before is not None else None) or {}
    files = []
    for place, folders, names in os.walk(folder):
        for each in folders:
            sync(Path(place, each))
        below = place[len(str(folder)) + 1 :].replace(os.sep, "/")
        files += [f"{below}/{each}" if below else each for each in names if each != name]
    lines = []
    for file in sorted(files):
        known = listed.get(file) if before is not None and is_linked(folder / file, before / file) else None
        size, crcs = known or _written(folder / file)
        lines.append(f"{','.join(f'{crc:08x}' for crc in crcs)} {size} {file}\n")
    replace_file(folder / name, with_own_sum("".join(lines)))


def link_file(source: Path, target: Path) -> None:
    """Take over a file that never changes, without copying it."""
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def is_linked(path: Path, other: Path) -> bool:
    """Whether two names are of one file."""
    try:
        return os.path.samestat(os.stat(path), os.stat(other))
    except OSError:
        return False


def _written(path: Path) -> Sum:
    """The checksums of a file that is new, once the disk holds it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        known = sum_of(descriptor, BLOCK)
        os.fsync(descriptor)
        return known
    finally:
        os.close(descriptor)


def listed_files(folder: Path, name: str) -> Mapping[str, Sum] | None:
    """The files of a folder by name, as they were listed; None where the list is missing or damaged."""
    text = without_own_sum(folder / name)
    if text is None:
        return None
    rows = (line.split(" ", 2) for line in text.splitlines())
    return {file: Sum(int(size), tuple(int(crc, 16) for crc in crcs.split(",") if crc)) for crcs, size, file in rows}


def fitting(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Those of the names of files that fit a pattern, or lie in a folder that does."""
    wanted = list(patterns)
    return [name for name in names if any(fnmatch(name, p) or fnmatch(name, f"{p}/*") for p in wanted)]


def damaged_files(folder: Path, listed: Mapping[str, Sum], *, every: bool = False) -> list[str]:
    """Those of the listed files that are not as they were written. `every`: compare all blocks, however many."""
    wrong = {name for name, known in listed.items() if _size(folder / name) != known.size}
    blocks = [(name, at) for name, known in listed.items() if name not in wrong for at in range(len(known.crcs))]
    sizes = [min(BLOCK, listed[name].size - at * BLOCK) for name, at in blocks]
    compared = [blocks[one] for one in drawn(sizes, every=every)]

    def whole(place: tuple[str, int]) -> bool:
        name, at = place
        try:
            descriptor = os.open(folder / name, os.O_RDONLY)
        except OSError:
            return False
        try:
            return crc_of(descriptor, at * BLOCK, BLOCK) == listed[name].crcs[at]
        except OSError:
            return False
        finally:
            os.close(descriptor)

    if sum(sizes) < _READ:
        wrong.update(place[0] for place in compared if not whole(place))
    else:  # checksums and reading need no Python, so they run side by side
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            results = zip(compared, threads.map(whole, compared), strict=True)
            wrong.update(place[0] for place, good in results if not good)
    return [name for name in listed if name in wrong]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
