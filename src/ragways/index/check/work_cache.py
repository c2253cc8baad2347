"""What was worked or paid for: work that failed, and vectors that nothing uses."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ragways.index.check.finding import AGAIN, Finding, Place, found
from ragways.index.check.vectors import arrays, slices

MOST_FAILED = 0.05
"""The share of a kind of work that may have failed before the index counts as unfit."""


def failures(place: Place) -> Iterator[Finding]:
    """Work that failed."""
    if place.work_cache is None or not _has(place.work_cache, "failures"):
        return
    done = dict(place.work_cache.execute("SELECT kind, count(*) FROM results GROUP BY kind").fetchall())
    query = "SELECT kind, count(*), min(hash), min(error), max(tries) FROM failures GROUP BY kind ORDER BY kind"
    for kind, count, hash, error, tries in place.work_cache.execute(query):
        place.figures[f"failed: {kind}"] = count
        # A kind with a colon names the prompt and the model: that of another build harms nobody.
        current = ":" not in kind or kind in place.meta.values()
        many = current and count > MOST_FAILED * (count + done.get(kind, 0))
        example = " ".join(f"{hash} (tried {tries} times): {error}".split())[:200]
        yield Finding(f"failed work: {kind}", "error" if many else "warning", count, example, AGAIN)


def leftovers(place: Place) -> Iterator[Finding]:
    """Vectors that nothing uses."""
    if place.work_cache is None or not _has(place.work_cache, "vectors") or not place.derived.is_dir():
        return
    # Every row of a derived array is a kept vector, whichever layer made it: so what no array holds, nobody uses.
    used = {
        hash(row.tobytes())
        for _, vectors in arrays(place.derived)
        for _, some in slices(vectors.matrix)
        for row in some
    }
    embedder = place.meta.get("embedder", "")
    unused = (
        text
        for by, text, vector in place.work_cache.execute("SELECT embedder, hash, vector FROM vectors")
        if by != embedder or hash(bytes(vector)) not in used
    )
    cure = "they wait for a run that was stopped, or go when a document is next removed"
    for finding in found("kept vectors that nothing uses", "warning", unused, cure):
        place.figures["unused_vectors"] = finding.count
        yield finding


def _has(db: sqlite3.Connection, table: str) -> bool:
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone())
