"""An index as one value: two of them are equal when all that a reader can see of them is."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from ragways.index.words import Words

_COUNTED = ("generation",)
"""What tells how often a run was made, and nothing of the corpus."""


def whole(folder: Path) -> dict[str, object]:
    """Every row of the store and of the derived tables, every derived file, and what the words find."""
    held: dict[str, object] = dict(_tables(folder / "index.sqlite"))
    [meta] = [rows for name, rows in held.items() if name.endswith("/meta")]
    assert isinstance(meta, list)
    held["index.sqlite/meta"] = [row for row in meta if row[0] not in _COUNTED]
    held["index.sqlite/sources"] = []  # holds the time of files
    generation = next(row[1] for row in meta if row[0] == "generation")
    derived = folder / "derived" / generation
    for file in sorted(derived.rglob("*")):
        name = str(file.relative_to(derived))
        # The list of files has their checksums, and which chunks lie in one segment tells of the order they came in.
        if file.is_dir() or name.startswith(("words/", "format-")) or file.suffix in (".sqlite-wal", ".sqlite-shm"):
            continue
        if file.suffix == ".sqlite":
            held |= {f"derived/{key}": rows for key, rows in _tables(file).items()}
        else:
            held[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    if (derived / "words").is_dir():
        held["words"] = Words(derived / "words").search(
            "the light ship storm harbour tower keeper was of 1 2 3", 10_000
        )
    return held


def unlike(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """Names of the parts that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _tables(file: Path) -> dict[str, list[tuple[object, ...]]]:
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        # What the next run takes over of this one's work tells in which order documents came, to nobody but that run.
        names = [name for name in names if not name.startswith("graph_")]
        return {f"{file.name}/{name}": sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in names}
    finally:
        db.close()
