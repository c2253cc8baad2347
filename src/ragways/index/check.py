"""Whether an index is whole, and fit to answer from.

A check looks at everything that must hold, changes nothing, and names a cure for all that does not. An error means that
answers can be wrong or a run can fail; a warning, that something is missing or left over.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zlib import crc32

from ragways.core.errors import StoreDamaged, StoreError
from ragways.core.types import content_hash
from ragways.index.languages import CURE, unread_documents
from ragways.index.open import views_of
from ragways.index.run import has_facts
from ragways.index.views import Views
from ragways.layers.layer import AGAIN, CheckContext, Finding, findings
from ragways.layers.lexicon import FILE as LEXICON
from ragways.layers.lexicon import is_damaged
from ragways.layers.table import LAYERS, in_order
from ragways.store.cache import CURE as MOVE_AWAY
from ragways.store.cache import FILE as WORK_CACHE
from ragways.store.cache import damaged_rows
from ragways.store.database import REBUILD, connect, has_table, raise_exhausted
from ragways.store.place import VIEWS
from ragways.store.sentences import sentence_rows
from ragways.store.store import FACTS, FILE, PARTS, Store, check_text
from ragways.store.titles import letters

Check = Callable[[CheckContext], Iterator[Finding]]
FAILED_SHARE = 0.05
"""The share of a layer's or a kind of work that may be undone before the index counts as unfit."""
_UNORDERED = ("links", "infoboxes")
_APART = ("paragraphs", "sentences")
"""Parts that do not overlap; a section lies in another, and chunks may share text."""


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
    except StoreDamaged as error:  # nothing else can be read
        return Health((Finding(f"damage in {FILE}", "error", 1, error.message, error.cure),), {})
    with closing(store):
        cache = connect(folder / WORK_CACHE, write=False) if (folder / WORK_CACHE).is_file() else None
        try:
            views = views_of(store)
            context = CheckContext(store, cache, views.folder if views is not None else folder / VIEWS)
            found = [finding for one in _checks(context, views) for finding in _carried_out(one, context)]
        except StoreDamaged as error:
            found = [Finding(f"damage in {FILE}", "error", 1, error.message, error.cure)]
        finally:
            if cache is not None:
                cache.close()
    return Health(tuple(sorted(found, key=lambda finding: finding.severity)), context.figures)


def _checks(context: CheckContext, views: Views | None) -> Iterator[Check]:
    yield from (check_files, check_cache, check_contents)
    yield lambda context: check_views(context, views)
    yield from (check_parts, check_titles, check_facts, check_texts, check_languages, check_failures)
    for layer in in_order(context.layers):
        # Nothing is read from a damaged file. A view that is behind its rows differs from them.
        whole = views is not None and layer.name in views.layers and not views.damaged(layer.name, every=True)
        if views is not None and whole and not context.store.changes(views.generation_of(layer.name), layer.name):
            yield layer.check


def _carried_out(one: Check, context: CheckContext) -> Iterator[Finding]:
    """A check that cannot be carried out, because what it reads is damaged, is a finding and does not stop the rest.
    Where the system lacks room or handles, nothing can be said of the index.
    """
    try:
        yield from one(context)
    except (StoreError, sqlite3.Error, OSError, ValueError, TypeError, LookupError, EOFError) as error:
        raise_exhausted(context.store.path, error)
        name = (one.__doc__ or "").partition(".")[0].lower() or "a layer"
        example = " ".join(f"{type(error).__name__}: {error}".split())
        cure = error.cure if isinstance(error, StoreError) else REBUILD
        yield Finding(f"cannot be checked: {name}", "error", 1, example[:200], cure)


# Files


def check_files(context: CheckContext) -> Iterator[Finding]:
    """Database files."""
    for path, cure in ((context.store.path, REBUILD), (context.store.folder / WORK_CACHE, MOVE_AWAY)):
        if path.is_file():
            with closing(connect(path, write=False)) as db:
                problems = [str(row[0]) for row in db.execute("PRAGMA quick_check(20)") if row[0] != "ok"]
            yield from findings(f"damage in {path.name}", "error", problems, cure)
    lexicon = context.store.folder / LEXICON
    damaged = ["its bytes are not those that were stored"] if is_damaged(context.store, lexicon) else []
    yield from findings(f"damage in {LEXICON}", "error", damaged, AGAIN)


def check_contents(context: CheckContext) -> Iterator[Finding]:
    """Files that were indexed."""
    name = "files with other contents than when they were indexed"
    yield from findings(name, "warning", context.store.files.changed(), f"{AGAIN} --compare-contents")


def check_cache(context: CheckContext) -> Iterator[Finding]:
    """Rows of the work cache."""
    if context.cache is not None and has_table(context.cache, "failures"):
        yield from findings(f"damaged rows in {WORK_CACHE}", "error", damaged_rows(context.cache), MOVE_AWAY)


def check_views(context: CheckContext, views: Views | None) -> Iterator[Finding]:
    """Files of views."""
    known = views.layers if views is not None else {}
    missing = sorted(context.layers - set(known))
    yield from findings("layers without a view", "warning", missing, "ask anything: ragways ask QUESTION")
    if views is not None:
        damaged = [name for layer in sorted(known) for name in views.damaged(layer, every=True)]
        yield from findings("damaged files of views", "error", damaged, context.cure_of_view)
        behind = {layer: len(context.store.changed_since(views.generation_of(layer))) for layer in known}
        if behind and (waiting := max(behind.values())):
            name = "documents that wait until views are brought up to date"
            yield Finding(name, "warning", waiting, max(behind, key=lambda layer: behind[layer]), AGAIN)
        for layer in known:
            if undone := views.undone(layer):
                severity = _severity(undone, LAYERS.find(layer).count(views.of(layer), context.store))
                yield Finding(f"work of {layer} that is not done", severity, undone, "", AGAIN)


def _severity(undone: int, total: int) -> Literal["error", "warning"]:
    """Return how much it matters that so much of the work of a layer is not done."""
    return "error" if undone > FAILED_SHARE * total else "warning"


# Documents, their parts and facts


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


def check_titles(context: CheckContext) -> Iterator[Finding]:
    """Titles by their letters."""
    db = context.store.db
    titles = {number: letters(title) for number, title in db.execute("SELECT number, title FROM documents")}
    stored = dict(db.execute("SELECT rowid, letters FROM titles").fetchall())
    with closing(Store.scratch(context.store.folder)) as fresh:
        fresh.db.executemany("INSERT INTO titles (rowid, letters) VALUES (?, ?)", titles.items())
        runs, wanted = _runs(db), _runs(fresh.db)
    every = sorted(titles.keys() | stored.keys() | runs.keys())
    wrong = (n for n in every if stored.get(n) != titles.get(n) or runs.get(n) != wanted.get(n))
    yield from findings("titles that are not found by their letters", "error", (f"article:{n}" for n in wrong), REBUILD)


def _runs(db: sqlite3.Connection) -> dict[int, int]:
    """A checksum, for each document, of the runs of letters that its title is found by."""
    found = Counter[int]()
    db.execute("CREATE VIRTUAL TABLE temp.runs USING fts5vocab ('main', 'titles', 'instance')")
    for number, run, place in db.execute("SELECT doc, term, offset FROM temp.runs"):
        found[number] += crc32(f"{place} {run}".encode())
    db.execute("DROP TABLE temp.runs")
    return found


def check_facts(context: CheckContext) -> Iterator[Finding]:
    """Facts of documents."""
    db = context.store.db
    for table in FACTS:
        chunk = "NULL" if table in ("themes", "other_names") else "chunk"
        query = (
            f"SELECT DISTINCT document, {chunk} FROM {table} t "  # noqa: S608 - names of our own
            "WHERE NOT EXISTS (SELECT 1 FROM documents WHERE number = t.document)"
        )
        if chunk == "chunk":
            query += " OR NOT EXISTS (SELECT 1 FROM chunks WHERE document = t.document AND ordinal = t.chunk)"
        lost = (
            f"article:{number}" + (f", chunk {place}" if place is not None else "")
            for number, place in db.execute(query)
        )
        yield from findings(f"{table} without their chunk", "error", lost, REBUILD)
    for layer in in_order(context.layers):
        if has_facts(layer) and (waiting := context.store.waiting_for(layer.name)):
            severity = _severity(len(waiting), len(context.documents))
            yield from findings(f"documents that wait to be read for {layer.name}", severity, waiting, AGAIN)


def check_texts(context: CheckContext) -> Iterator[Finding]:
    """Texts of documents and of chunks."""
    damaged: list[str] = []
    changed: list[str] = []
    for number, key, crc, text in context.store.db.execute("SELECT number, key, crc, text FROM documents"):
        try:
            check_text(context.store.path, key, text, crc)
        except StoreDamaged:
            damaged.append(f"article:{number}")
            continue
        hashes = {ordinal: hash for _, ordinal, _, hash in context.store.chunk_rows([number])}
        for source in context.store.sources([number]):
            changed += [part.id for part in source.passages if content_hash(part.searched) != hashes[part.ordinal]]
    yield from findings("documents whose text is damaged", "error", damaged, REBUILD)
    yield from findings("chunks whose text is not the one they were made from", "error", changed, REBUILD)


def check_languages(context: CheckContext) -> Iterator[Finding]:
    """Languages of documents."""
    if unread := unread_documents(context.store):
        yield Finding("documents that the embedder does not know", "warning", unread.count, unread.text, CURE)


# Work


def check_failures(context: CheckContext) -> Iterator[Finding]:
    """Work that failed."""
    if context.cache is None or not has_table(context.cache, "failures"):
        return
    done = dict(context.cache.execute("SELECT kind, count(*) FROM results GROUP BY kind").fetchall())
    query = "SELECT kind, count(*), min(hash), min(error), max(tries) FROM failures GROUP BY kind ORDER BY kind"
    for kind, count, hash, error, tries in context.cache.execute(query):
        context.figures[f"failed: {kind}"] = count
        # A kind with a colon names the prompt and the model: that of another build harms nobody.
        current = ":" not in kind or kind in context.meta.values()
        severity = _severity(count, count + done.get(kind, 0)) if current else "warning"
        example = " ".join(f"{hash} (tried {tries} times): {error}".split())[:200]
        yield Finding(f"failed work: {kind}", severity, count, example, AGAIN)
