"""Which files below a folder are read: patterns as in `.gitignore`, of the user and of the folder itself.

Rules of git: the last pattern that fits decides, `!` takes back, a pattern with a slash that is not its end is counted
from its own folder, `**` stands for any folders, and what lies in a folder that is left out stays out. Patterns come
with folders that are not ours, so matching takes time in proportion to pattern and path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ragways.core.errors import LoadError
from ragways.corpus.source import SourceFile, read_all

_MAX_BYTES = 256 * 1024
_MAX_RULES = 5_000
_MAX_PATTERN = 1_000
_JUNK = ("node_modules/", "__pycache__/", "*.dist-info/", "*.egg-info/", "/ragways.toml")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a folder is read. Patterns are those of `.gitignore`, counted from the folder that the user named."""

    include: tuple[str, ...] = ()
    """Of files to read; none is all of them."""
    exclude: tuple[str, ...] = ()
    """Of files and folders to leave out."""
    gitignore: bool = True
    """Follow the `.gitignore` files in the folder."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern, in its parts between slashes."""

    parts: tuple[str, ...]
    folders: bool
    takes_back: bool

    def fits(self, path: Sequence[str], *, folder: bool) -> bool:
        """Whether it names this path, given in its parts."""
        if self.folders and not folder:
            return False
        at = place = 0
        star, resumed = -1, 0
        while place < len(path):
            if at < len(self.parts) and self.parts[at] == "**":
                star, resumed = at, place
                at += 1
                if at == len(self.parts):
                    return True  # all below it
            elif at < len(self.parts) and fnmatchcase(path[place], self.parts[at]):
                at, place = at + 1, place + 1
            elif star >= 0:
                resumed += 1
                at, place = star + 1, resumed
            else:
                return False
        return at == len(self.parts)


def rules(patterns: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that these lines say; empty ones and comments are none."""
    found = []
    for line in patterns:
        pattern = line.rstrip("\r\n")
        if not pattern.endswith("\\ "):
            pattern = pattern.rstrip(" ")
        takes_back = pattern.startswith("!")
        pattern = pattern[takes_back:]
        if not pattern.strip("/ ") or pattern.startswith("#") or len(pattern) > _MAX_PATTERN:
            continue
        folders = pattern.endswith("/")
        body = _ESCAPED.sub(lambda escaped: f"[{escaped[1]}]", pattern).replace("[^", "[!").rstrip("/")
        anchored = "/" in body
        parts = tuple(part for part in body.split("/") if part)
        found.append(Rule(parts if anchored else ("**", *parts), folders, takes_back))
        if len(found) >= _MAX_RULES:
            break
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _IgnoreFile:
    """The rules of a `.gitignore`, and how deep below the root it lies."""

    depth: int
    rules: tuple[Rule, ...]


class Filter:
    """Decides for each entry below a root whether it is left out, and why. `below` is the filter of a folder in it."""

    def __init__(self, selection: Selection, ignored: tuple[_IgnoreFile, ...] = ()) -> None:
        self._selection = selection
        self._include, self._exclude = rules(selection.include), rules(selection.exclude)
        self._junk = rules(_JUNK)
        self._ignored = ignored

    def below(self, folder: Path, path: Sequence[str]) -> Filter:
        """The filter for what lies in this folder: with its `.gitignore`, if it has one."""
        file = folder / ".gitignore"
        if not self._selection.gitignore or not file.is_file() or file.is_symlink():
            return self
        try:
            lines = read_all(SourceFile(file, file.name), _MAX_BYTES).decode("utf-8", "replace").split("\n")
        except (OSError, LoadError):
            return self
        return Filter(self._selection, (*self._ignored, _IgnoreFile(len(path), rules(lines))))

    def left_out(self, path: Sequence[str], *, folder: bool) -> str:
        """`excluded` by the user's patterns, `ignored` by `.gitignore`, `junk`, or nothing."""
        if _decided(self._exclude, path, folder=folder):
            return "excluded"
        if self._include and not folder and not self._is_included(path):
            return "excluded"
        if _decided(self._junk, path, folder=folder):
            return "junk"
        for ignore in reversed(self._ignored):  # the nearest decides
            ignored = _decided(ignore.rules, path[ignore.depth :], folder=folder)
            if ignored is not None:
                return "ignored" if ignored else ""
        return ""

    def _is_included(self, path: Sequence[str]) -> bool:
        """A file is, whose own name or one of whose folders is named."""
        ends = range(1, len(path) + 1)
        return any(_decided(self._include, path[:end], folder=end < len(path)) for end in ends)


def _decided(those: Sequence[Rule], path: Sequence[str], *, folder: bool) -> bool | None:
    """What the last matching rule decides; None where none matches."""
    fitting = (not rule.takes_back for rule in reversed(those) if rule.fits(path, folder=folder))
    return next(fitting, None)
