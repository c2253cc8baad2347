"""The layer of the index: communities are derived from the graph; reports of models and vectors are kept by content."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ragways.core.errors import BudgetExceeded
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.array_tables import ArrayTable
from ragways.index.communities.hierarchy import community_graph
from ragways.index.communities.reader import FILE, MEMBER, MEMBER_OF, Communities, id_number
from ragways.index.communities.reports import CommunityReports, expected, kind_of, read_all, write_all
from ragways.index.database import connect, new_database
from ragways.index.graph.ids import ENTITIES, EntityIds
from ragways.index.graph.layer import graph_of
from ragways.index.layer import (
    BuildContext,
    CheckContext,
    Finding,
    Layer,
    LayerEstimate,
    PlanContext,
    findings,
    rows_of_table,
)
from ragways.index.settings import CommunitySettings, GraphSettings
from ragways.index.vectors import Vectors, save_known
from ragways.models.tokens import count_tokens

_KIND = "communities_kind"
"""Where the store keeps the kind of result that holds the reports of models; empty where rules write them."""
VECTORS = "reports"
"""The name of the files that hold the reports' vectors."""

_TABLES = """
-- `way` tells who wrote the report; where it is empty there is none. `tokens` are those of the report's text.
CREATE TABLE communities (
    id TEXT PRIMARY KEY, level INTEGER NOT NULL, parent TEXT NOT NULL, leaf INTEGER NOT NULL, size INTEGER NOT NULL,
    title TEXT NOT NULL, summary TEXT NOT NULL, rank REAL NOT NULL, way TEXT NOT NULL, tokens INTEGER NOT NULL
) WITHOUT ROWID;
-- Ids as numbers (`id_number`): the table is long, and its index as long again.
CREATE TABLE members (
    community INTEGER NOT NULL, entity INTEGER NOT NULL, PRIMARY KEY (entity, community)
) WITHOUT ROWID;
CREATE TABLE findings (
    community TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL, rating REAL NOT NULL, entities TEXT NOT NULL,
    PRIMARY KEY (community, ordinal)
) WITHOUT ROWID;
CREATE INDEX communities_by_level ON communities (level);
CREATE INDEX members_by_community ON members (community);
"""


async def _work(context: BuildContext) -> None:
    new_settings = context.has_new_settings("communities")
    if new_settings:
        by_model = _by_model(context)
        context.store.set_meta({_KIND: kind_of(context.model) if by_model else ""})
    written = _new_reports(context)
    stopped: BudgetExceeded | None = None
    try:
        if new_settings:
            await write_all(written)
        else:
            # A removal has no model at hand: what it changes is left for the next run.
            context.failed += len(read_all(written).missing)
    except BudgetExceeded as stop:
        stopped = stop
    context.give(reports_of, written)
    if context.has_layer("vectors"):
        await context.embed({content_hash(text): text for text in _texts(written).values()})
    if stopped is not None:
        raise stopped


def reports_of(context: BuildContext) -> CommunityReports:
    """The communities of the documents, with those reports that are there already."""
    return read_all(_new_reports(context))


def _new_reports(context: BuildContext) -> CommunityReports:
    settings = _settings(context)
    graph = community_graph(context.once(graph_of), context.store, settings)
    return CommunityReports(context, graph, settings, context.store.meta().get(_KIND, ""))


def _settings(context: BuildContext) -> CommunitySettings:
    return context.settings_of("communities", CommunitySettings)


def _by_model(context: BuildContext) -> bool:
    method = _settings(context).method
    if method == "graph":
        return context.settings_of("graph", GraphSettings).method == "model"
    return method == "model"


def _texts(reports: CommunityReports) -> dict[str, str]:
    """What is embedded, by community."""
    return {id: reports.reports[id].embedded for id in sorted(reports.reports)}


def _plan(planning: PlanContext) -> LayerEstimate:
    """Communities are not known before there is a graph: the sample's tell how many there will be."""
    context, sample = planning.context, planning.sample
    began = time.perf_counter()
    reports = sample.once(reports_of)
    seconds = (time.perf_counter() - began) / planning.share
    usage, kind = Usage(), ""
    if _by_model(context):
        kind = kind_of(context.model)
        usage = expected(context, kind, planning.fresh)
    return LayerEstimate(
        round(len(reports.graph.groups) / planning.share),
        like=list(_texts(reports).values()) if sample.has_layer("vectors") else (),
        times=planning.fresh / planning.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="communities, reports and their vectors",
    )


def _derive(context: BuildContext, folder: Path) -> None:
    reports = context.once(reports_of)
    with new_database(folder / FILE) as db:
        for statement in _TABLES.split(";\n"):
            db.execute(statement)
        _fill_tables(db, reports)
    if context.has_layer("vectors"):
        save_known(context, _texts(reports), folder, VECTORS)


def _fill_tables(db: sqlite3.Connection, reports: CommunityReports) -> None:
    ids = reports.graph.ids
    for group in sorted(reports.graph.groups, key=lambda group: group.id):
        report = reports.reports.get(group.id)
        text = (report.title, report.summary, report.rating) if report is not None else ("", "", 0.0)
        tokens = count_tokens(report.text) if report is not None else 0
        row = (group.id, group.level, group.parent, not group.children, len(group.members), *text)
        db.execute("INSERT INTO communities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, reports.way(group), tokens))
        number = id_number(group.id)
        db.executemany("INSERT INTO members VALUES (?, ?)", ((number, id_number(ids[node])) for node in group.members))
        db.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?)",
            (
                (group.id, n, finding.text, finding.rating, json.dumps(finding.entities))
                for n, finding in enumerate(report.findings if report is not None else ())
            ),
        )


def _used(context: BuildContext) -> dict[str, set[str]]:
    reports = context.once(reports_of)
    used = {reports.kind: {shown.hash for shown in reports.shown.values()}} if reports.kind else {}
    if context.has_layer("vectors"):
        used["vectors"] = {content_hash(text) for text in _texts(reports).values()}
    return used


# Checks

_DANGLING = (
    (
        "communities whose parent is not there",
        "SELECT id FROM communities WHERE parent != '' AND parent NOT IN (SELECT id FROM communities)",
    ),
    (
        "members of communities that are not there",
        f"SELECT {MEMBER} FROM members WHERE {MEMBER_OF} NOT IN (SELECT id FROM communities)",  # noqa: S608
    ),
    (
        "findings of communities that are not there",
        "SELECT community FROM findings WHERE community NOT IN (SELECT id FROM communities)",
    ),
)


def check_members(context: CheckContext) -> Iterator[Finding]:
    """Members of communities."""
    if not context.derived.is_dir():
        return
    known = set(EntityIds.of(ArrayTable(context.derived, ENTITIES)))
    with closing(connect(context.derived / FILE, write=False)) as db:
        for name, query in _DANGLING:
            yield from findings(name, "error", (row[0] for row in db.execute(query)), context.cure_of_derived)
        strange = (f"{of}: {id}" for of, id in _named_entities(db) if id not in known)
        yield from findings("communities of entities that are not there", "error", strange, context.cure_of_derived)
        yield from _check_vectors(context, {row[0] for row in db.execute("SELECT id FROM communities")})


def _named_entities(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Every entity that a community names, as a member or as what a finding rests on."""
    yield from db.execute(f"SELECT {MEMBER_OF}, {MEMBER} FROM members")  # noqa: S608
    for community, entities in db.execute("SELECT community, entities FROM findings"):
        yield from ((community, id) for id in json.loads(entities))


def _check_vectors(context: CheckContext, known: set[str]) -> Iterator[Finding]:
    if (context.derived / "reports.ids").is_file():
        strange = (id for id in Vectors.load(context.derived, "reports").ids if id not in known)
        yield from findings("vectors of communities that are not there", "error", strange, context.cure_of_derived)


COMMUNITIES = Layer(
    name="communities",
    summary="communities of the knowledge graph, a report for each",
    needs=frozenset({"graph"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
    checks=(check_members,),
    settings=CommunitySettings,
    open=Communities.open,
    files=("communities*", "reports.*"),
    rows=rows_of_table(FILE, "communities"),
    kinds=frozenset({"report"}),
)
