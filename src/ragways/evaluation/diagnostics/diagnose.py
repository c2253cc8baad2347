"""What kind of corpus an index holds: figures of its graph's structure and of its chunks' vectors.

They tell which paradigms may suit it: a corpus whose graph is dense and in one piece rewards walking it, one whose
vectors fill many dimensions with few hubs is easy to search by meaning.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import UsageError
from ragways.index.database import connect, store_errors
from ragways.index.export import replacing
from ragways.index.store import derived_folder

if TYPE_CHECKING:
    from ragways.evaluation.diagnostics.semantic import Semantic
    from ragways.evaluation.diagnostics.structural import Structural
    from ragways.index.reader import Index

FILE = "diagnosis.json"

NO_GRAPH = "not built, run ragways index PATH --with graph"
NO_VECTORS = "not built, run ragways index PATH --with vectors"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The figures of one generation of an index; a part whose layer is not built is None."""

    generation: int
    seed: int
    structure: Structural | None
    meaning: Semantic | None

    def data(self) -> dict[str, Any]:
        """For a file: a part that was not measured is null, and `missing` says why."""
        parts = {"structure": (self.structure, NO_GRAPH), "meaning": (self.meaning, NO_VECTORS)}
        return {
            "generation": self.generation,
            "seed": self.seed,
            **{name: None if part is None else asdict(part) for name, (part, _) in parts.items()},
            "missing": {name: why for name, (part, why) in parts.items() if part is None},
        }


def diagnose(index: Index, *, seed: int = 0) -> Diagnosis:
    """Measure what is built. Large corpora are sampled; the figures say from what."""
    return Diagnosis(
        index.generation,
        seed,
        _structure(index, seed) if "graph" in index.layers else None,
        _meaning(index, seed) if "vectors" in index.layers else None,
    )


def _structure(index: Index, seed: int) -> Structural:
    from ragways.evaluation.diagnostics.structural import structural
    from ragways.index.graph.tables import FILE as TABLES
    from ragways.index.pagerank import Adjacency

    folder = derived_folder(index.folder, index.generation)
    with store_errors(folder):
        links = Adjacency.load(folder, "graph-entities")
        db = connect(folder / TABLES, write=False)
        try:
            relations, types = db.execute("SELECT count(*), count(DISTINCT predicate) FROM relations").fetchone()
        finally:
            db.close()
    return structural(links, relations=relations, relation_types=types, seed=seed)


def _meaning(index: Index, seed: int) -> Semantic:
    from ragways.evaluation.diagnostics.semantic import semantic

    return semantic(index.vectors.matrix, seed=seed)


def save(folder: Path, diagnosis: Diagnosis) -> Path | None:
    """Keep the figures beside the index; an index that cannot be written goes without."""
    file = folder / FILE
    try:
        write_json(file, diagnosis.data())
    except UsageError:
        return None
    return file


def saved(folder: Path) -> Diagnosed | None:
    """The figures that were kept, whatever generation they are of."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return Diagnosed(int(data["generation"]), data)
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Figures kept from an earlier run: stale where the index has gone on to another generation."""

    generation: int
    data: dict[str, Any]

    def stale(self, generation: int) -> bool:
        return self.generation != generation


def write_json(file: Path, data: object) -> None:
    with replacing(file) as draft:
        draft.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
