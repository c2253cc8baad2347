"""The layer of the index: communities are rows of the store; reports of models and vectors are kept by content."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from ragways.core.errors import BudgetExceeded
from ragways.core.trace import Usage
from ragways.index.communities.community_members import CommunityMembers
from ragways.index.communities.finding import KIND, communities_of, links_of
from ragways.index.communities.packed_members import Members, joined
from ragways.index.communities.report import CommunityReport
from ragways.index.communities.report_rows import ReportRows, WithoutVector
from ragways.index.communities.reports import CommunityReports, expected, kind_of, read_all, write_all
from ragways.index.database import REBUILD
from ragways.index.graph.graph_rows import digits, number_of_id
from ragways.index.layer import BuildContext, CheckContext, Finding, Layer, LayerEstimate, PlanContext, findings
from ragways.index.settings import CommunitySettings, GraphSettings
from ragways.index.store import Store

_AT_ONCE = 2000  # reports that are embedded together


async def _work(context: BuildContext) -> None:
    new_settings = context.has_new_settings("communities")
    if new_settings:
        by_model = _by_model(context)
        context.store.set_meta({KIND: kind_of(context.model) if by_model else ""})
    reports = _owed_reports(context)
    stopped: BudgetExceeded | None = None
    try:
        if new_settings:
            await write_all(reports)
        else:
            # A removal has no model at hand: what it changes is left for the next run.
            context.failed += len(read_all(reports).shown)
    except BudgetExceeded as stop:
        stopped = stop
    context.give(reports_of, reports)
    context.once(links_of).ends.forget()
    if context.has_layer("vectors"):
        rows = ReportRows(context.store.db)
        while some := rows.without_vector(_AT_ONCE):
            await context.embed({hash: report.embedded for _, hash, report in some})
            if not _keep_vectors(context, rows, some):
                break
    if stopped is not None:
        raise stopped


def reports_of(context: BuildContext) -> CommunityReports:
    """The communities of the documents in the store, with those reports that need no model, or were written already."""
    return read_all(_owed_reports(context))


def _owed_reports(context: BuildContext) -> CommunityReports:
    settings = context.settings_of("communities", CommunitySettings)
    return CommunityReports(context, settings, context.store.meta().get(KIND, ""))


def _by_model(context: BuildContext) -> bool:
    method = context.settings_of("communities", CommunitySettings).method
    if method == "graph":
        return context.settings_of("graph", GraphSettings).method == "model"
    return method == "model"


def _keep_vectors(context: BuildContext, rows: ReportRows, reports: Sequence[WithoutVector]) -> int:
    """Keep the vectors of reports, as far as they are known; how many are."""
    known = context.work_cache.vectors(context.store.meta()["embedder"], [each.hash for each in reports])
    there = {each.id: known[each.hash] for each in reports if each.hash in known}
    rows.keep_vectors(there)
    return len(there)


def _plan(planning: PlanContext) -> LayerEstimate:
    """Communities are not known before there is a graph: the sample's tell how many there will be."""
    context, sample = planning.context, planning.sample
    began = time.perf_counter()
    sample.once(reports_of)
    seconds = (time.perf_counter() - began) / planning.share
    usage, kind = Usage(), ""
    if _by_model(context):
        kind = kind_of(context.model)
        usage = expected(context, kind, planning.fresh)
    return LayerEstimate(
        round(count_communities(sample.store) / planning.share),
        like=[each.report.embedded for each in ReportRows(sample.store.db).without_vector()]
        if sample.has_layer("vectors")
        else (),
        times=planning.fresh / planning.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="communities, reports and their vectors",
    )


def _derive(context: BuildContext, _: Path) -> None:
    """There are no files; but where the files of an index are made again, its rows may be those of another version."""
    context.once(reports_of)
    if context.has_layer("vectors"):
        rows = ReportRows(context.store.db)
        _keep_vectors(context, rows, rows.without_vector())


def _used(context: BuildContext) -> dict[str, set[str]]:
    context.once(communities_of)
    kind, rows = context.store.meta().get(KIND, ""), ReportRows(context.store.db)
    used = {kind: rows.shown_to_models()} if kind else {}
    if context.has_layer("vectors"):
        used["vectors"] = rows.embedded()
    return used


def _freed(context: BuildContext) -> Set[str]:
    """What reports were made of, or embedded as, that are no more."""
    return ReportRows(context.store.db).take_released()


def _still_used(context: BuildContext, gone: Set[str]) -> Set[str]:
    return ReportRows(context.store.db).still_used(gone)


def count_communities(store: Store, _: Path | None = None) -> int:
    """For `Layer.rows`."""
    there = store.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'communities'").fetchone()
    return int(store.db.execute("SELECT count(*) FROM communities").fetchone()[0]) if there else 0


# Checks

_DANGLING = (
    (
        "communities whose parent is not there",
        "SELECT id FROM communities WHERE parent AND parent NOT IN (SELECT number FROM communities)",
    ),
    (
        "reports of communities that are not there",
        "SELECT id FROM community_reports WHERE id NOT IN (SELECT id FROM communities)",
    ),
    (
        "vectors of communities that are not there",
        "SELECT id FROM community_vectors WHERE id NOT IN (SELECT id FROM community_reports)",
    ),
)


def check_members(context: CheckContext) -> Iterator[Finding]:
    """Members of communities."""
    db = context.store.db
    for name, query in _DANGLING:
        yield from findings(name, "error", (f"community:{digits(row[0])}" for row in db.execute(query)), REBUILD)
    held = CommunityMembers(db)
    unfit = sorted({f"community {number}" for number in held.unfit()})
    yield from findings("members of communities that are kept otherwise than they are read", "error", unfit, REBUILD)
    members = joined([]) if unfit else held.all()
    if not unfit:
        yield from _check_counts(db, members)
        lost = () if held.is_found() else ("the leaves that members are in",)
        yield from findings("members that are not found in their communities", "error", lost, REBUILD)
    known = {row[0] for row in db.execute("SELECT id FROM graph_entities")}
    strange = (f"{of}: {id}" for of, id in _named_entities(db, members) if number_of_id(id) not in known)
    yield from findings("communities of entities that are not there", "error", strange, REBUILD)


def _check_counts(db: sqlite3.Connection, members: Members) -> Iterator[Finding]:
    counts = Counter(members.communities.tolist())
    leaves = {
        number: (id, size) for number, id, size in db.execute("SELECT number, id, size FROM communities WHERE leaf")
    }
    strange = (f"community {number}" for number in counts if number not in leaves)
    yield from findings("members of communities that are not there", "error", strange, REBUILD)
    others = (f"community:{digits(id)}" for number, (id, size) in leaves.items() if counts[number] != size)
    yield from findings("communities that have other members than they say", "error", others, REBUILD)


def _named_entities(db: sqlite3.Connection, members: Members) -> Iterator[tuple[str, str]]:
    """Every entity that a community names, as a member or as what a finding rests on."""
    ids = dict(db.execute("SELECT number, id FROM communities"))
    for entity, number in zip(members.entities.tolist(), members.communities.tolist(), strict=True):
        if number in ids:
            yield f"community:{digits(ids[number])}", f"entity:{digits(entity)}"
    for id, *row in db.execute("SELECT id, title, summary, rank, findings FROM community_reports"):
        report = CommunityReport.of_row(*row)
        yield from ((f"community:{digits(id)}", entity) for finding in report.findings for entity in finding.entities)


COMMUNITIES = Layer(
    name="communities",
    summary="communities of the knowledge graph, a report for each",
    needs=frozenset({"graph"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
    freed=_freed,
    still_used=_still_used,
    checks=(check_members,),
    settings=CommunitySettings,
    rows=count_communities,
    kinds=frozenset({"report"}),
)
