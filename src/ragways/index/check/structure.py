"""Documents and their parts, the database files, and the generation."""

from __future__ import annotations

from collections.abc import Iterator

from ragways.core.types import content_hash
from ragways.index.check.finding import AGAIN, REBUILD, Finding, Place, found
from ragways.index.chunks import chunk_texts
from ragways.index.database import connect
from ragways.index.schema import PARTS
from ragways.index.work_cache import FILE as WORK_CACHE

_UNORDERED = ("links", "infoboxes")
_APART = ("paragraphs", "sentences")
"""Parts that do not overlap; a section lies in another, and chunks may share text."""


def files(place: Place) -> Iterator[Finding]:
    """Database files."""
    derived = sorted(place.derived.rglob("*.sqlite"))
    for path in (place.store.path, place.store.folder / WORK_CACHE, *derived):
        if path.is_file():
            db = connect(path, write=False)
            try:
                said = [str(row[0]) for row in db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            finally:
                db.close()
            yield from found(f"damage in {path.name}", "error", said, place.derive if path in derived else REBUILD)


def generation(place: Place) -> Iterator[Finding]:
    """The generation."""
    if place.meta.get("forget"):
        yield Finding("a removal that did not end", "error", 1, str(place.store.folder), AGAIN)
    if int(place.meta["generation"]) and not place.derived.is_dir():
        there = ", ".join(sorted(path.name for path in place.derived.parent.glob("*"))) or "none"
        example = f"generation {place.derived.name} (there: {there})"
        yield Finding("no derived files of this generation", "error", 1, example, "ask anything: ragways ask QUESTION")


def parts(place: Place) -> Iterator[Finding]:
    """Parts of documents."""
    lost: list[str] = []
    outside: list[str] = []
    disordered: list[str] = []
    orphaned: list[str] = []
    parents: set[tuple[int, str]] = set()
    for table in PARTS:
        before = (-1, 0)
        for document, path, start, end in _rows(place, table):
            id = f"article:{document}:{path}" if path else f"article:{document} ({table} at {start})"
            if document not in place.documents:
                lost.append(id)
                continue
            if not 0 <= start <= end <= place.documents[document]:
                outside.append(id)
            if path and before[0] == document and start < before[1]:
                disordered.append(id)
            before = document, end if table in _APART else start
            if ":" in path and (document, path.rpartition(":")[0]) not in parents:
                orphaned.append(id)
            if table in ("sections", "paragraphs"):
                parents.add((document, path))
    yield from found("parts without their document", "error", lost, REBUILD)
    yield from found("parts outside their document's text", "error", outside, REBUILD)
    yield from found("parts out of order", "error", disordered, REBUILD)
    yield from found("parts without the part they lie in", "error", orphaned, REBUILD)


def _rows(place: Place, table: str) -> Iterator[tuple[int, str, int, int]]:
    path = "''" if table in _UNORDERED else "path"
    query = f"SELECT document, {path}, start, end FROM {table} ORDER BY document, ordinal"  # noqa: S608 - our own names
    return place.store.db.execute(query)


def texts(place: Place) -> Iterator[Finding]:
    """Texts of chunks."""
    hashes = dict(place.store.chunk_rows())
    changed = (id for id, text in chunk_texts(place.store) if content_hash(text) != hashes[id])
    yield from found("chunks whose text is not the one they were made from", "error", changed, REBUILD)
