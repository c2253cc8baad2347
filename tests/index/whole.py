"""An index as one value: two of them are equal when all that a reader can see of them is."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ragways.index.chunk_vectors import VectorSegment
from ragways.index.graph.graph_tables import TABLES as GRAPH_TABLES
from ragways.index.segments import segments
from ragways.index.windows.reader import Windows
from ragways.index.words import Words

_COUNTED = ("generation", "graph_meant", "communities_state")
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
        # The list of files has their checksums, and what lies in one segment tells of the order in which it came.
        if file.is_dir() or name.startswith(("vectors/", "words/", "windows/", "format-")):
            continue
        if file.suffix in (".sqlite-wal", ".sqlite-shm"):
            continue
        if file.suffix == ".sqlite":
            held |= {f"derived/{key}": rows for key, rows in _tables(file).items()}
        else:
            held[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    if (derived / "vectors").is_dir():
        held["vectors"] = sorted(_rows(derived / "vectors"))
    if (derived / "words").is_dir():
        held["words"] = Words(derived / "words").search(
            "the light ship storm harbour tower keeper was of 1 2 3", 10_000
        )
    if (derived / "windows").is_dir():
        held |= {f"windows/{name}": said for name, said in windows_said(Windows.open(derived)).items()}
    return held


def windows_said(layer: Windows) -> dict[str, object]:
    """All that a reader can tell of the windows, to the last bit."""
    edges = {"within": layer.within, "across": layer.across, "themes": layer.by_theme}
    return {
        "documents": list(layer.documents),
        "windows": list(layer.windows.ids),
        "sentences": list(layer.sentences.ids),
        "vectors": (layer.windows.matrix.packed.tobytes(), layer.sentences.matrix.packed.tobytes()),
        "at": (layer.window_at.tolist(), layer.sentence_at.tolist()),
        "same": (layer.window_same.tolist(), layer.sentence_same.tolist()),
        "axes": (layer.projection.mean.tobytes(), layer.projection.axes.tobytes()),
        "themes": dict(layer.themed),
        "left out": layer.left_out,
        **{
            name: [tuple(part.tolist() for part in some.of(row)) for row in range(len(some))]
            for name, some in edges.items()
        },
    }


def _rows(folder: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Id, vector and sketch of every chunk."""
    for segment in map(VectorSegment.load, segments(folder)):
        for row, id in enumerate(segment.ids):
            yield id, segment.packed[row].tobytes(), segment.sketches[:, row].tobytes()


def unlike(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """Names of the parts that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _tables(file: Path) -> dict[str, list[tuple[object, ...]]]:
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        # What the next run takes over of this one's work tells in which order documents came, to nobody but that run.
        seen = {line.split()[5] for line in GRAPH_TABLES.splitlines() if line.startswith("CREATE")}
        names = [name for name in names if not name.startswith("graph_") or name in seen]
        return {f"{file.name}/{name}": sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in names}
    finally:
        db.close()
