"""The layer of the index: communities are derived from the graph; reports of models and vectors are kept by content."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import cast

from ragways.core.errors import BudgetExceeded
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.communities.hierarchy import community_graph
from ragways.index.communities.options import by_model, keep_options, kept_kind, options_of
from ragways.index.communities.reader import FILE
from ragways.index.communities.reports import CommunityReports, expected, kind_of, read_all, write_all
from ragways.index.database import store_errors
from ragways.index.graph.layer import draft_of
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext
from ragways.models.tokens import count_tokens

VECTORS = "reports"
"""The name of the files that hold the reports' vectors."""

_TABLES = """
-- `way` tells who wrote the report; where it is empty there is none. `tokens` are those of the report's text.
CREATE TABLE communities (
    id TEXT PRIMARY KEY, level INTEGER NOT NULL, parent TEXT NOT NULL, leaf INTEGER NOT NULL, size INTEGER NOT NULL,
    title TEXT NOT NULL, summary TEXT NOT NULL, rank REAL NOT NULL, way TEXT NOT NULL, tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE members (community TEXT NOT NULL, entity TEXT NOT NULL, PRIMARY KEY (entity, community)) WITHOUT ROWID;
CREATE TABLE findings (
    community TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL, rating REAL NOT NULL, entities TEXT NOT NULL,
    PRIMARY KEY (community, ordinal)
) WITHOUT ROWID;
CREATE INDEX communities_by_level ON communities (level);
CREATE INDEX members_by_community ON members (community);
"""


async def _work(context: BuildContext) -> None:
    options = options_of(context)
    given = "communities" in context.settings or "communities" not in context.store.meta()
    if given:
        keep_options(context, options, kind_of(context.model) if by_model(context, options) else "")
    book = _new_book(context)
    stopped: BudgetExceeded | None = None
    try:
        if given:
            await write_all(book)
        else:
            # A removal has no model at hand: what it changes is left for the next run.
            context.failed += len(read_all(book).missing)
    except BudgetExceeded as stop:
        stopped = stop
    context.made["communities"] = book
    if _with_vectors(context):
        await context.embed({content_hash(text): text for text in _texts(book).values()})
    if stopped is not None:
        raise stopped


def book_of(context: BuildContext) -> CommunityReports:
    """The communities and reports of the documents; made once a run."""
    if "communities" not in context.made:
        context.made["communities"] = read_all(_new_book(context))
    return cast("CommunityReports", context.made["communities"])


def _new_book(context: BuildContext) -> CommunityReports:
    options = options_of(context)
    return CommunityReports(
        context, community_graph(draft_of(context), context.store, options), options, kept_kind(context)
    )


def _with_vectors(context: BuildContext) -> bool:
    return "vectors" in context.store.meta().get("layers", "").split()


def _texts(book: CommunityReports) -> dict[str, str]:
    """What is embedded, by community."""
    return {id: book.reports[id].embedded for id in sorted(book.reports)}


def _plan(planning: PlanContext) -> LayerEstimate:
    """Communities are not known before there is a graph: the sample's tell how many there will be."""
    context, sample = planning.context, planning.sample
    began = time.perf_counter()
    book = book_of(sample)
    seconds = (time.perf_counter() - began) / planning.share
    usage, kind = Usage(), ""
    if by_model(context, options_of(context)):
        kind = kind_of(context.model)
        usage = expected(context, kind, planning.fresh)
    return LayerEstimate(
        round(len(book.land.groups) / planning.share),
        like=list(_texts(book).values()) if _with_vectors(sample) else (),
        times=planning.fresh / planning.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="communities, reports and their vectors",
    )


def _derive(context: BuildContext, folder: Path) -> None:
    book = book_of(context)
    _write_tables(book, folder)
    if _with_vectors(context):
        _save_vectors(context, _texts(book), folder)


def _write_tables(book: CommunityReports, folder: Path) -> None:
    with store_errors(folder / FILE):
        db = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            # The folder is a draft until it is renamed, so a journal would protect nothing.
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("BEGIN")
            for statement in _TABLES.split(";\n"):
                db.execute(statement)
            _fill_tables(db, book)
            db.execute("COMMIT")
        finally:
            db.close()


def _fill_tables(db: sqlite3.Connection, book: CommunityReports) -> None:
    ids = book.land.ids
    for group in sorted(book.land.groups, key=lambda group: group.id):
        report = book.reports.get(group.id)
        said = (report.title, report.summary, report.rating) if report is not None else ("", "", 0.0)
        tokens = count_tokens(report.text) if report is not None else 0
        row = (group.id, group.level, group.parent, not group.children, len(group.members), *said)
        db.execute("INSERT INTO communities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, book.way(group), tokens))
        db.executemany("INSERT INTO members VALUES (?, ?)", ((group.id, ids[node]) for node in group.members))
        db.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?)",
            (
                (group.id, n, finding.text, finding.rating, json.dumps(finding.entities))
                for n, finding in enumerate(report.findings if report is not None else ())
            ),
        )


def _save_vectors(context: BuildContext, texts: dict[str, str], folder: Path) -> None:
    """Those that have a vector: where a budget ended the work, the rest is found by words."""
    from ragways.index.vectors import Vectors

    meta = context.store.meta()
    hashes = {id: content_hash(text) for id, text in texts.items()}
    known = context.work_cache.vectors(meta["embedder"], sorted(set(hashes.values())))
    ids = [id for id in hashes if hashes[id] in known]
    Vectors.stack(ids, (known[hashes[id]] for id in ids), int(meta["dimension"])).save(folder, VECTORS)


def _used(context: BuildContext) -> dict[str, set[str]]:
    book = book_of(context)
    used = {book.kind: {shown.hash for shown in book.shown.values()}} if book.kind else {}
    if _with_vectors(context):
        used["vectors"] = {content_hash(text) for text in _texts(book).values()}
    return used


COMMUNITIES = Layer(
    name="communities",
    summary="communities of the knowledge graph, a report for each",
    needs=frozenset({"graph"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
)
