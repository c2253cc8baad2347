"""Arrays and texts as columns of a derived folder: many, of which a reader needs a few.

An array is a file of NumPy's. Texts lie one after the other in `<name>.text` as UTF-8; `<name>.ends.npy` says where
each ends. All are mapped, so opening reads next to nothing, and asking reads what is asked for. UTF-8 sorts as Python's
texts do, so `bisect` finds its way in a sorted column.
"""

from __future__ import annotations

import errno
import mmap
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 4096  # texts that are read or written together


def mapped(file: Path) -> NDArray[Any]:
    """The array of a file, mapped and not to be written to; raises OSError where the file is not whole, as after a disk
    that was full in the midst of a run, and ValueError where it is no array. In a third of the time of `np.load`, and a
    plain array: indexing a memmap costs as much again in bookkeeping.
    """
    from numpy.lib import format

    with file.open("rb") as stream:
        read = format.read_array_header_1_0 if format.read_magic(stream) == (1, 0) else format.read_array_header_2_0
        shape, by_columns, kind = read(stream)
        if kind.hasobject:
            raise ValueError(f"{file} holds objects")
        held = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            return np.ndarray(shape, kind, held, stream.tell(), order="F" if by_columns else "C")
        except TypeError as error:  # as NumPy says that the file is too short
            raise OSError(errno.EIO, f"{file.name} is not whole") from error


def write_array(file: Path, values: NDArray[Any]) -> None:
    """Write an array that is read again before the run is over; raises OSError where not all of it could be written,
    which `np.save` does not always hear of.
    """
    from numpy.lib import format

    whole = np.ascontiguousarray(values)
    with file.open("wb") as stream:
        format.write_array_header_1_0(stream, format.header_data_from_array_1_0(whole))
        stream.write(whole.data)


class TextRows(Sequence[str]):
    """Texts by their row. Whoever is one tells how many there are, and how the text of a row is found (`_at`)."""

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        rows = range(len(self))[row]
        return self._at(rows) if isinstance(rows, int) else self.take(rows)

    @abstractmethod
    def _at(self, row: int) -> str: ...

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> list[str]:
        """The texts of these rows, in their order."""
        return [self._at(int(row)) for row in rows]


class TextColumn(TextRows):
    """Texts that lie one after the other."""

    def __init__(self, text: bytes | mmap.mmap, ends: NDArray[np.unsignedinteger]) -> None:
        if len(text) != (int(ends[-1]) if len(ends) else 0):
            raise ValueError("a column of texts and its ends do not belong together")
        self._text = text
        self._ends = ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextColumn:
        """A column in memory."""
        encoded = [text.encode() for text in texts]
        return cls(b"".join(encoded), _ends(array("Q", map(len, encoded))))

    @classmethod
    def load(cls, folder: Path, name: str) -> TextColumn:
        """The column that was written under this name; raises OSError or ValueError where it is not whole."""
        ends = mapped(folder / f"{name}.ends.npy")
        with (folder / f"{name}.text").open("rb") as file:
            empty = not file.seek(0, 2)  # which cannot be mapped
            return cls(b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), ends)

    @staticmethod
    def write(folder: Path, name: str, texts: Iterable[str]) -> None:
        """Write texts, which may come one by one, as a column."""
        lengths, encoded = array("Q"), list[bytes]()
        with (folder / f"{name}.text").open("wb") as file:
            for text in texts:
                encoded.append(text.encode())
                if len(encoded) == _AT_ONCE:
                    lengths.extend(map(len, encoded))
                    file.writelines(encoded)
                    encoded.clear()
            lengths.extend(map(len, encoded))
            file.writelines(encoded)
        np.save(folder / f"{name}.ends.npy", _ends(lengths))

    def __len__(self) -> int:
        return len(self._ends)

    def _at(self, row: int) -> str:
        return self._text[int(self._ends[row - 1]) if row else 0 : int(self._ends[row])].decode()

    def __iter__(self) -> Iterator[str]:
        for at in range(0, len(self), _AT_ONCE):
            yield from self.take(range(at, min(at + _AT_ONCE, len(self))))

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> list[str]:
        """The texts of these rows, in their order."""
        wanted = np.asarray(rows, dtype=np.int64)
        ends = self._ends[wanted].tolist()
        starts = np.where(wanted > 0, self._ends[np.maximum(wanted - 1, 0)], 0).tolist() if len(wanted) else []
        return [self._text[start:end].decode() for start, end in zip(starts, ends, strict=True)]


class JoinedTexts(TextRows):
    """Several columns, or other sequences of texts, of which one follows on the other."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self._parts = parts
        self._ends = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def _at(self, row: int) -> str:
        part = int(np.searchsorted(self._ends, row, side="right")) - 1
        return self._parts[part][row - int(self._ends[part])]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._parts)


def _ends(lengths: array[int]) -> NDArray[np.unsignedinteger]:
    ends = np.cumsum(np.frombuffer(lengths, dtype=np.uint64), dtype=np.uint64)
    return ends.astype(np.uint32) if not len(ends) or ends[-1] < 2**32 else ends
