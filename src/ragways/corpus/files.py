"""Walk the files and folders that a user names: what can be read, and why the rest was left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.corpus.load import loader_of
from ragways.corpus.source import LoadOptions, Skipped, SourceFile

__all__ = ["Skipped", "SourceFile", "Walk", "walk"]


def walk(paths: Iterable[Path | str], options: LoadOptions | None = None) -> Walk:
    """Every file below the paths in one fixed order, whatever order they were named in."""
    roots = sorted({Path(path) for path in paths})
    for root in roots:
        if not root.exists():
            raise UsageError(f"{root} does not exist", "name a file or folder that is there")
    return Walk(roots, options or LoadOptions())


class Walk:
    """Iterate over it; afterwards `hidden` tells how many hidden files and folders were passed over."""

    def __init__(self, roots: list[Path], options: LoadOptions) -> None:
        self._roots = roots
        self._options = options
        self._keys: set[str] = set()
        self._seen: dict[str, str] = {}
        self.hidden = 0

    def __iter__(self) -> Iterator[SourceFile | Skipped]:
        self._keys, self._seen, self.hidden = set(), {}, 0
        for root in self._roots:
            if root.is_dir():
                yield from self._folder(root)
            else:
                yield self._file(root, root.name, root.resolve().parent)

    def _folder(self, root: Path) -> Iterator[SourceFile | Skipped]:
        """Links come last, so that a file is read under its own name where it has one in the folder."""
        links: list[tuple[Path, str]] = []
        pending = [(root, "")]
        while pending:
            folder, prefix = pending.pop()
            if folder != root and (folder / "index.sqlite").is_file():
                self.hidden += 1  # an index of ours is no corpus
                continue
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                yield Skipped(_printable(prefix or root.name), f"cannot be read: {_reason(error)}")
                continue
            below = []
            for entry in entries:
                key = prefix + entry.name
                if entry.name.startswith("."):
                    self.hidden += 1
                elif entry.is_symlink():
                    links.append((Path(entry.path), key))
                elif entry.is_dir(follow_symlinks=False):
                    below.append((Path(entry.path), key + "/"))
                else:
                    yield self._file(Path(entry.path), key, root)
            pending.extend(reversed(below))
        for path, key in links:
            yield self._link(path, key, root)

    def _link(self, path: Path, key: str, root: Path) -> SourceFile | Skipped:
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return Skipped(_printable(key), "link leads nowhere")
        if not target.is_relative_to(root.resolve()):
            return Skipped(_printable(key), "link leads outside the folder")
        if target.is_dir():
            return Skipped(_printable(key), "link to a folder that is read under its own name")
        return self._file(path, key, root)

    def _file(self, path: Path, key: str, root: Path) -> SourceFile | Skipped:
        printable = _printable(key)
        try:
            status = path.stat()
        except OSError as error:
            return Skipped(printable, f"cannot be read: {_reason(error)}")
        if not stat.S_ISREG(status.st_mode):
            return Skipped(printable, "not a regular file")
        loader = loader_of(path.name)
        if loader is None:
            return Skipped(printable, f"no loader for {path.suffix or 'files without a suffix'}")
        if status.st_size > self._options.max_bytes and not loader.streamed:
            return Skipped(printable, f"larger than {self._options.max_bytes:,} bytes (max_bytes)")
        real = os.path.realpath(path)
        if real in self._seen:
            return Skipped(printable, f"already read as {self._seen[real]}")
        self._seen[real] = self._unique(printable, root)
        return SourceFile(path, self._seen[real])

    def _unique(self, key: str, root: Path) -> str:
        """A key that another root has taken gets the root's name before it, then a number."""
        unique, number = key, 1
        while unique in self._keys:
            name = _printable(root.resolve().name)
            unique = f"{name}/{key}" if number == 1 else f"{name}~{number}/{key}"
            number += 1
        self._keys.add(unique)
        return unique


def _printable(name: str) -> str:
    """Names may hold bytes that are no text; keys are written to databases and terminals."""
    name = name.replace(os.sep, "/").encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
