"""Whether an index is fit to be asked.

A check looks at everything that must hold, changes nothing, and names a cure for all that does not. An error means that
answers can be wrong or a run can fail; a warning, that something is missing or left over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from ragways.core.errors import StoreDamaged, StoreError
from ragways.core.types import content_hash
from ragways.index.chunk_vectors import arrays, check_arrays
from ragways.index.database import REBUILD, connect, has_table
from ragways.index.documents import chunk_texts
from ragways.index.folder import damaged_parts, is_current
from ragways.index.languages import CURE, unread_documents
from ragways.index.layer import AGAIN, Check, CheckContext, Finding, findings
from ragways.index.layers import in_order
from ragways.index.schema import PARTS
from ragways.index.sentences import sentence_rows
from ragways.index.shards import MISSING, SHARDED, ShardList, state_in
from ragways.index.store import FILE, Store, derived_folder
from ragways.index.work_cache import CURE as MOVE_AWAY
from ragways.index.work_cache import FILE as WORK_CACHE
from ragways.index.work_rows import damaged_rows, kept_vectors


@dataclass(frozen=True, slots=True)
class Health:
    """What was found, errors first; `figures` are shares and counts worth knowing of a sound index too."""

    findings: tuple[Finding, ...]
    figures: dict[str, float]

    @property
    def fit(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)


def check(folder: Path) -> Health:
    """Everything there is to find out about the index in this folder."""
    try:
        store = Store.open(folder)
    except StoreDamaged as error:  # nothing else can be told of it
        return Health((Finding(f"damage in {FILE}", "error", 1, error.message, error.cure),), {})
    with closing(store):
        cache = connect(folder / WORK_CACHE, write=False) if (folder / WORK_CACHE).is_file() else None
        try:
            context = CheckContext(store, cache)
            found = [finding for one in _checks(context) for finding in _carried_out(one, context)]
        finally:
            if cache is not None:
                cache.close()
        shards = ShardList.of(folder, context.meta)
    if shards is not None:
        found += _in_shards(shards)
    return Health(tuple(sorted(found, key=lambda finding: finding.severity)), context.figures)


def _in_shards(shards: ShardList) -> Iterator[Finding]:
    """What is found in each shard, by its number."""
    for shard, (place, state) in enumerate(zip(shards.places(), shards.states, strict=True)):
        if shard in shards.missing():
            yield Finding(f"shard {shard}: missing", "error", 1, str(place), MISSING)
            continue
        for finding in check(place).findings:
            yield replace(finding, name=f"shard {shard}: {finding.name}")
        if state_in(place) != state:
            held = derived_folder(place, state[0])
            example = f"generation {state_in(place)[0]} (the whole has {state[0]})"
            yield Finding(f"shard {shard}: changes that the whole does not show yet", "warning", 1, example, AGAIN)
            for finding in findings("damaged derived files", "error", damaged_parts(held, every=True), AGAIN):
                yield replace(finding, name=f"shard {shard}: {finding.name} that the whole shows")


def _checks(context: CheckContext) -> Iterator[Check]:
    """Those of the structure, of each layer that is built and whole, and of the work cache; of an index that an earlier
    version derived files for, only what does not look into these.
    """
    yield from (check_files, check_sums, check_generation, check_parts, check_texts)
    yield from (check_languages, check_failures)
    if _is_older(context):
        return
    sharded = ShardList.of(context.store.folder, context.meta) is not None
    if sharded and "vectors" in context.layers:
        yield check_arrays
    layers = context.layers - SHARDED if sharded else context.layers
    for layer in in_order(layers):
        # Of damaged files all that can be said is that they are, and looking into them may end in anything.
        if not context.derived.is_dir() or not damaged_parts(context.derived, layer.patterns, every=True):
            yield from layer.checks
    if not context.meta.get("apart"):  # which a shard keeps for the whole
        yield check_leftovers


def _carried_out(one: Check, context: CheckContext) -> Iterator[Finding]:
    """A check that cannot be carried out, because what it reads is damaged, is a finding and does not stop the rest."""
    try:
        yield from one(context)
    except (StoreError, sqlite3.Error, OSError, ValueError, TypeError, LookupError, EOFError) as error:
        name = (one.__doc__ or "").partition(".")[0].lower()
        example = " ".join(f"{type(error).__name__}: {error}".split())
        yield Finding(f"cannot be checked: {name}", "error", 1, example[:200], REBUILD)


# Documents and their parts

_UNORDERED = ("links", "infoboxes")
_APART = ("paragraphs", "sentences")
"""Parts that do not overlap; a section lies in another, and chunks may share text."""


def check_files(context: CheckContext) -> Iterator[Finding]:
    """Database files."""
    derived = sorted(context.derived.rglob("*.sqlite"))
    known = context.store.seal.read()
    if known is not None and known.broken_by:
        cure = "close what has the index open, then ask it anything: ragways ask QUESTION"
        yield Finding("not yet erased: what was removed can still be read in the file", "warning", 1, FILE, cure)
    elif known is not None and not context.store.seal.is_whole(known.was, every=True):
        yield Finding(f"damage in {FILE}", "error", 1, "it is not what was written to it", REBUILD)
    for path in (context.store.path, context.store.folder / WORK_CACHE, *derived):
        if path.is_file():
            db = connect(path, write=False)
            try:
                said = [str(row[0]) for row in db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            finally:
                db.close()
            yield from findings(
                f"damage in {path.name}", "error", said, context.cure_of_derived if path in derived else REBUILD
            )


def check_sums(context: CheckContext) -> Iterator[Finding]:
    """Checksums."""
    if context.derived.is_dir():
        damaged = damaged_parts(context.derived, every=True)
        yield from findings("damaged derived files", "error", damaged, context.cure_of_derived)
    if context.work_cache is not None:
        yield from findings(f"damaged rows in {WORK_CACHE}", "error", damaged_rows(context.work_cache), MOVE_AWAY)


def check_generation(context: CheckContext) -> Iterator[Finding]:
    """The generation."""
    if context.meta.get("forget"):
        yield Finding("a removal that did not end", "error", 1, str(context.store.folder), AGAIN)
    if int(context.meta["generation"]) and not context.derived.is_dir():
        there = ", ".join(sorted(path.name for path in context.derived.parent.glob("*"))) or "none"
        example = f"generation {context.derived.name} (there: {there})"
        yield Finding("no derived files of this generation", "error", 1, example, _OPENING)
    elif _is_older(context):
        name = "files of an earlier version, which are not looked into"
        yield Finding(name, "warning", 1, str(context.derived), _OPENING)


def _is_older(context: CheckContext) -> bool:
    """Whether an earlier version made the derived files: it may have kept other rows in the store for them, too."""
    generation = int(context.meta["generation"])
    return bool(generation) and context.derived.is_dir() and not is_current(context.store.folder, generation)


_OPENING = "ask anything: ragways ask QUESTION"
"""Whoever opens an index makes what is missing."""


def check_parts(context: CheckContext) -> Iterator[Finding]:
    """Parts of documents."""
    lost: list[str] = []
    outside: list[str] = []
    disordered: list[str] = []
    orphaned: list[str] = []
    parents: set[tuple[int, str]] = set()
    for table in (*PARTS, "sentences"):  # after the paragraphs, which they stand in
        before = (-1, 0)
        for document, path, start, end in _rows(context, table):
            id = f"article:{document}:{path}" if path else f"article:{document} ({table} at {start})"
            if document not in context.documents:
                lost.append(id)
                continue
            if not 0 <= start <= end <= context.documents[document]:
                outside.append(id)
            if path and before[0] == document and start < before[1]:
                disordered.append(id)
            before = document, end if table in _APART else start
            if path and table != "sections" and (document, path.rpartition(":")[0]) not in parents:
                orphaned.append(id)
            if table in ("sections", "paragraphs"):
                parents.add((document, path))
    yield from findings("parts without their document", "error", lost, REBUILD)
    yield from findings("parts outside their document's text", "error", outside, REBUILD)
    yield from findings("parts out of order", "error", disordered, REBUILD)
    yield from findings("parts without the part they lie in", "error", orphaned, REBUILD)


def _rows(context: CheckContext, table: str) -> Iterator[tuple[int, str, int, int]]:
    if table == "sentences":
        return ((number, *row) for number in context.documents for row in sentence_rows(context.store.db, number))
    path = "''" if table in _UNORDERED else "path"
    query = f"SELECT document, {path}, start, end FROM {table} ORDER BY document, ordinal"  # noqa: S608 - our own names
    return context.store.db.execute(query)


def check_texts(context: CheckContext) -> Iterator[Finding]:
    """Texts of chunks."""
    hashes = dict(context.store.chunk_rows())
    changed = (id for id, text in chunk_texts(context.store) if content_hash(text) != hashes[id])
    yield from findings("chunks whose text is not the one they were made from", "error", changed, REBUILD)


def check_languages(context: CheckContext) -> Iterator[Finding]:
    """Languages of documents."""
    if unread := unread_documents(context.store):
        yield Finding("documents that the embedder does not know", "warning", unread.count, unread.said, CURE)


# Work

FAILED_SHARE = 0.05
"""The share of a kind of work that may have failed before the index counts as unfit."""


def check_failures(context: CheckContext) -> Iterator[Finding]:
    """Work that failed."""
    if context.work_cache is None or not has_table(context.work_cache, "failures"):
        return
    done = dict(context.work_cache.execute("SELECT kind, count(*) FROM results GROUP BY kind").fetchall())
    query = "SELECT kind, count(*), min(hash), min(error), max(tries) FROM failures GROUP BY kind ORDER BY kind"
    for kind, count, hash, error, tries in context.work_cache.execute(query):
        context.figures[f"failed: {kind}"] = count
        # A kind with a colon names the prompt and the model: that of another build harms nobody.
        current = ":" not in kind or kind in context.meta.values()
        many = current and count > FAILED_SHARE * (count + done.get(kind, 0))
        example = " ".join(f"{hash} (tried {tries} times): {error}".split())[:200]
        yield Finding(f"failed work: {kind}", "error" if many else "warning", count, example, AGAIN)


def check_leftovers(context: CheckContext) -> Iterator[Finding]:
    """Vectors that nothing uses."""
    if context.work_cache is None or not has_table(context.work_cache, "vectors") or not context.derived.is_dir():
        return
    # Every row of a derived array is a kept vector, whichever layer made it, and `*.hashes` name those that were made
    # into something else: so what neither holds, nobody uses.
    named = {text for file in context.derived.rglob("*.hashes") for text in file.read_text().split()}
    found = [part for _, vectors in arrays(context.derived) for part in vectors.matrix.parts]
    for layer in in_order(context.layers):
        found += layer.kept_vectors(context.derived)
    used = {hash(row.tobytes()) for part in found for row in part}
    if has_table(context.store.db, "community_reports"):
        named.update(row[0] for row in context.store.db.execute("SELECT hash FROM community_reports"))
    embedder = context.meta.get("embedder", "")
    unused = (
        text
        for by, text, vector in kept_vectors(context.work_cache)
        if by != embedder or (hash(vector) not in used and text not in named)
    )
    cure = "they wait for a run that was stopped, or go when a document is next removed"
    for finding in findings("kept vectors that nothing uses", "warning", unused, cure):
        context.figures["unused_vectors"] = finding.count
        yield finding
