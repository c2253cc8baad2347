"""The files of an index run, each with its key and the folder that was named for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.corpus.load import walk
from ragways.corpus.source import LoadOptions, Skipped, SourceFile


def find_files(paths: Sequence[Path], options: LoadOptions) -> tuple[list[tuple[str, SourceFile]], list[Skipped], int]:
    """Files with the folder that was named for them, what is left out and why, and how many are hidden.

    A key begins with the name of its folder, so that two folders of one index do not mix up their files.
    """
    found: dict[str, tuple[str, SourceFile]] = {}
    keys: dict[str, str] = {}
    skipped: list[Skipped] = []
    hidden = 0
    for path in sorted({path.resolve() for path in paths} if all(p.exists() for p in paths) else paths):
        walked = walk([path], options)
        for entry in walked:
            key = f"{path.name}/{entry.key}" if path.is_dir() else entry.key
            if isinstance(entry, Skipped):
                skipped.append(Skipped(key, entry.reason))
                continue
            real = os.path.realpath(entry.path)
            if keys.setdefault(key, real) != real:
                raise UsageError(
                    f"{real} and {keys[key]} would both be called {key}",
                    "index the folder that holds both, or rename one",
                )
            found.setdefault(real, (str(path), replace(entry, key=key)))
        hidden += walked.hidden
    return list(found.values()), skipped, hidden
