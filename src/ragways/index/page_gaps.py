"""What SQLite leaves of removed rows in the file of a database, and how it is cleared.

With `secure_delete` SQLite overwrites what is deleted. But where it shares the rows of a full page out among several,
their bytes stay behind in the part of the page that is in no use then; and when these rows are deleted, they are
overwritten where they stand, and not there. So pages that were written are looked through once they have reached the
file: what lies between the end of a page's list of rows and the first row belongs to nobody, and is set to zero.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

_HEADS = {2: 12, 5: 12, 10: 8, 13: 8}
"""Bytes of the head of a page that has rows, by its kind. A page that goes on with a long row, or is free, begins with
the number of another page instead, whose first byte is below 2 in a file of less than `_MOST` pages.
"""
_MOST = 1 << 25
_SHRINKS = 52
"""Where the file's head tells of `auto_vacuum`: such a file, which is none of ours, has pages of other kinds."""
_FIRST_HEAD = 100  # bytes of the file's own head, on its first page
_STRETCH = 1 << 20  # bytes that are read at once


def page_size(descriptor: int) -> int:
    """Bytes of a page of a database."""
    size = int.from_bytes(os.pread(descriptor, 2, 16), "big")
    return 65536 if size == 1 else size


def clear_gaps(descriptor: int, pages: Collection[int] | None = None) -> None:
    """Clear what is in no use on these pages of a database, or on all of them, and have the disk hold it. The log must
    be empty, and the caller must hold the write lock. Readers may go on: nobody looks at what is cleared. A file of
    137 GB or more (of pages of 4 KB) is left as it is, for its pages cannot be told apart by one byte.
    """
    size = page_size(descriptor)
    if not size or os.fstat(descriptor).st_size // size >= _MOST or any(os.pread(descriptor, 4, _SHRINKS)):
        return
    held = _all_pages(descriptor, size) if pages is None else _some_pages(descriptor, size, pages)
    cleared = False
    for number, page in held:
        begin, end = _gap(page, _FIRST_HEAD if number == 1 else 0)
        if page.count(0, begin, end) < end - begin:
            os.pwrite(descriptor, bytes(end - begin), (number - 1) * size + begin)
            cleared = True
    if cleared:
        os.fsync(descriptor)


def _all_pages(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """All pages with their numbers."""
    at = 0
    while stretch := os.pread(descriptor, _STRETCH, at):
        for place in range(0, len(stretch), size):
            yield (at + place) // size + 1, stretch[place : place + size]
        at += len(stretch) - len(stretch) % size or size


def _some_pages(descriptor: int, size: int, pages: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """These pages, as far as the file has them."""
    for number in sorted(pages):
        if page := os.pread(descriptor, size, (number - 1) * size):
            yield number, page


def _gap(page: bytes, head: int) -> tuple[int, int]:
    """Where what is in no use begins and ends on a page. `head`: where the head of the page is."""
    length = _HEADS.get(page[head], 0) if len(page) > head else 0
    if not length:
        return 0, 0
    begin = head + length + 2 * int.from_bytes(page[head + 3 : head + 5], "big")
    end = int.from_bytes(page[head + 5 : head + 7], "big") or 65536
    return (begin, end) if begin <= end <= len(page) else (0, 0)
