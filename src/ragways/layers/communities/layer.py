"""The layer: communities are a view of the graph, and reports of models and vectors are cached by content."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import BudgetExceeded
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.layers.communities.assign import CommunityTree, brought_up, entity_id, find, joined_in
from ragways.layers.communities.partition import Keys
from ragways.layers.communities.read import STATE, VECTORS, CommunityState, StoredCommunities
from ragways.layers.communities.report import ReportTable, read_reports
from ragways.layers.communities.reports import ReportTexts, ReportWriter, kind_of
from ragways.layers.files import save_json
from ragways.layers.layer import CheckContext, Estimate, Finding, Layer, Sample, Use, findings
from ragways.layers.settings import CommunitySettings, GraphSettings
from ragways.layers.vectors import StoredVectors
from ragways.models.tokens import count_each
from ragways.store.store import Change, Store
from ragways.tasks.graph import REPORT

_KIND = "report:"
MANY = 0.1
"""The share of entities that may be new or gone until all communities are found anew."""
_STAYS = 0.9
"""The share of the members that a report was written from which must still be in its community."""
_GROWTH = 1.5
"""How much larger a community may be than when its report was written."""
TOKENS_A_CALL = 800
"""Of the corpus, for one report; and what reports read for each of its tokens."""
INPUT_A_TOKEN = 2.05
_SECONDS_A_REPORT = 0.003
"""By rules, with its share of finding communities."""
_OF_SAMPLE = 800  # characters of a passage that stand for a report which is to be embedded


class CommunityLayer(Layer):
    """Communities of entities, found in the graph, with a report for each that is not too small."""

    name = "communities"
    summary = "communities of the knowledge graph, a report for each"
    needs = frozenset({"graph"})
    settings = CommunitySettings
    kinds = frozenset({_KIND.removesuffix(":")})

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        await _Fold(view, store, change, use).run()

    def open(self, view: Path, store: Store) -> StoredCommunities:
        return StoredCommunities(view, store)

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        """Communities are not known before there is a graph: their number is in proportion to the text."""
        passages = [passage.text for source in sample.documents for passage in source.passages]
        tokens = sum(count_each(passages)) / (sample.share or 1.0)
        reports = math.ceil(tokens / TOKENS_A_CALL) + sample.undone
        usage, kind = Usage(), ""
        if _by_model(use):
            kind = kind_of(use.model.of(REPORT.role))
            before = use.cache.spent(kind)
            if before.calls:
                each = Usage(1, round(before.input / before.calls), round(before.output / before.calls))
            else:
                each = Usage(1, round(TOKENS_A_CALL * INPUT_A_TOKEN), REPORT.max_output)
            usage = Usage(reports, reports * each.input, reports * each.output)
        like = [text[:_OF_SAMPLE] for text in passages] if "vectors" in use.layers else []
        return Estimate(
            reports,
            like=like,
            times=reports / max(1, len(like)),
            usage=usage,
            kind=kind,
            role=REPORT.role,
            seconds=reports * _SECONDS_A_REPORT,
            estimated="communities, reports and their vectors",
        )

    def count(self, view: Path, store: Store) -> int:
        return len(CommunityTree.load(view).nodes)

    def used(self, store: Store, view: Path, use: Use) -> Mapping[str, set[str]]:
        with closing(read_reports(view)) as db:
            inputs = {row[0] for row in db.execute("SELECT input FROM reports WHERE way = 'model'")}
            vectors = {row[0] for row in db.execute("SELECT hash FROM reports")}
        kind = CommunityState.load(view).kind
        return {"vectors": vectors} | ({kind: inputs} if kind else {})

    def check(self, context: CheckContext) -> Iterator[Finding]:
        view, cure = context.views / self.name, context.cure_of_view
        tree, joined = CommunityTree.load(view), joined_in(view)
        yield from findings("communities that are no tree of all their members", "error", _unsound(tree), cure)
        apart = np.setxor1d(tree.members["entity"], joined.ids)
        yield from findings("entities that communities lack or should not have", "error", map(entity_id, apart), cure)
        with closing(read_reports(view)) as db:
            reports = {row[0] for row in db.execute("SELECT id FROM reports")}
            broken = [row[0] for row in db.execute("PRAGMA quick_check") if row[0] != "ok"]
        yield from findings("a table of reports that is damaged", "error", broken, cure)
        lost = reports.difference(tree.ids)
        if (view / f"{VECTORS}.npy").is_file():
            lost |= set(StoredVectors.load(view, VECTORS).ids) - reports
        yield from findings("reports, or vectors of them, of what is not there", "error", sorted(lost), cure)
        if len(tree.members):
            context.figures["new_entities_in_communities"] = float(tree.members["new"].mean())


def _unsound(tree: CommunityTree) -> Iterable[str]:
    """Communities whose parent is not above them, or that have other members than they say."""
    nodes, leaf = tree.nodes, tree.members["leaf"]
    parents, places = nodes["parent"], np.arange(len(nodes))
    wrong = (parents >= places) | ((parents >= 0) & (nodes["level"] != nodes["level"][parents] + 1))
    sizes = np.bincount(leaf[(leaf >= 0) & (leaf < len(nodes))], minlength=len(nodes))
    wrong |= (sizes > 0) != nodes["leaf"]
    for place in places[parents >= 0][::-1].tolist():
        sizes[parents[place]] += sizes[place]
    return [tree.ids[place] for place in np.flatnonzero(wrong | (sizes != nodes["size"])).tolist()]


def _by_model(use: Use) -> bool:
    method = use.settings_of("communities", CommunitySettings).method
    if method == "graph":
        return use.settings_of("graph", GraphSettings).method == "model"
    return method == "model"


class _Fold:
    """One fold of a view."""

    def __init__(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        self._view, self._store, self._use = view, store, use
        self._change = change or Change()
        self._settings = use.settings_of("communities", CommunitySettings)
        self._before = CommunityState.load(view) if change is not None else None
        self._old = CommunityTree.load(view) if change is not None else None
        self._joined = joined_in(view)

    async def run(self) -> None:
        anew = self._is_due()
        if anew or self._old is None:
            self._use.progress(Progress("finding communities", 0))
            tree = find(self._joined, self._settings)
        else:
            tree = brought_up(self._old, self._joined, self._settings)
        kind = self._kind()
        texts = ReportTexts(self._use.layer("graph"), self._store, self._joined, tree)
        with ReportTable.changing(self._view) as table:
            self._drop_stale(table, texts, kind, anew=anew)
            written = table.ids()
            large = np.flatnonzero(tree.nodes["size"] >= self._settings.members).tolist()
            writer = ReportWriter(table, texts, self._settings, kind, self._use)
            await writer.write([place for place in large if tree.ids[place] not in written])
            missing = writer.missing + await self._embed(table)
        tree.save(self._view)
        found = len(self._joined) if anew or self._before is None else self._before.found
        state = CommunityState(self._store.generation, found, kind, missing)
        save_json(self._view / STATE, asdict(state))

    def _is_due(self) -> bool:
        """Whether all communities are to be found anew."""
        if self._old is None or self._before is None or "communities" in self._use.fresh:
            return True
        return self._old.change_since(self._before.found, self._joined).share > MANY

    def _kind(self) -> str:
        """What reports of the model are cached as. A run that does not pay has no model, and leaves it as it was."""
        if not _by_model(self._use):
            return ""
        if self._use.pays:
            return kind_of(self._use.model.of(REPORT.role))
        if self._before is not None and self._before.kind:
            return self._before.kind
        # A view made again by whoever has no model: reports are found again under the kind that most were cached as.
        kinds = self._use.cache.kinds(_KIND)
        return max(kinds, key=lambda kind: (self._use.cache.count(kind), kind), default=_KIND)

    # Reports that do not stay

    def _drop_stale(self, table: ReportTable, texts: ReportTexts, kind: str, *, anew: bool) -> None:
        """Drop the reports that are to be written anew; of communities found anew, rules write all of them."""
        old, tree = self._old, texts.tree
        if old is None or self._before is None or self._before.kind != kind or (anew and not kind):
            table.drop(table.ids())
            return
        table.drop(table.of_documents({*self._change.added, *self._change.removed}))
        left = _around(old, ~np.isin(old.members["entity"], tree.members["entity"], assume_unique=True))
        if anew:
            _give_to_heirs(table, tree)
        else:
            came = ~np.isin(tree.members["entity"], old.members["entity"], assume_unique=True)
            table.drop(table.ids().difference(tree.place_of))
            members = table.members(left | _around(tree, came))
            table.drop(id for id, before in members.items() if not _likeness(before, tree, tree.place_of[id]))
        if self._change.removed:
            self._drop_altered(table, left, old, texts)

    def _drop_altered(self, table: ReportTable, left: set[str], old: CommunityTree, texts: ReportTexts) -> None:
        """Drop reports that show an entity otherwise than it is now, so that no text of a removed document stays.
        `left` are communities that some members have left.
        """
        joined, before = self._joined, old.members
        _, was, now = np.intersect1d(before["entity"], joined.ids, assume_unique=True, return_indices=True)
        altered = joined.named_in(frozenset(self._change.added))
        altered[now] |= before["count"][was] != joined.counts[now]
        shown = table.lines(left | _around(texts.tree, altered))
        entities = np.array(sorted({entity for lines in shown.values() for entity in lines}), np.uint64)
        there = texts.tree.places(entities)
        sums = texts.line_sums(there[altered[there]].tolist())
        gone = {entity: set[int]() for entity in set(entities.tolist()).difference(joined.ids[there].tolist())}
        now_shown = gone | {int(joined.ids[place]): lines for place, lines in sums.items()}
        table.drop(
            id
            for id, lines in shown.items()
            if any(line not in now_shown.get(entity, (line,)) for entity, line in lines.items())
        )

    # Vectors

    async def _embed(self, table: ReportTable) -> int:
        """Give every report its vector, where the index has vectors; how many are missing."""
        if "vectors" not in self._use.layers:
            return 0
        made = (self._view / f"{VECTORS}.npy").is_file()
        if made and not table.changed and self._before is not None and not self._before.missing:
            return 0
        meta, hashes = self._store.meta(), table.hashes()
        known = self._use.cache.known(meta["embedder"], hashes.values())
        missing = {id for id, hash in hashes.items() if hash not in known}
        if missing:
            try:
                await self._use.embed({hashes[id]: row.report.embedded for id, row in table.written(missing).items()})
            except BudgetExceeded as stop:
                self._use.fail(stop.message)
        vectors = self._use.cache.vectors(meta["embedder"], hashes.values())
        ids = [id for id in sorted(hashes) if hashes[id] in vectors]
        stacked = StoredVectors.stack(ids, [vectors[hashes[id]] for id in ids], int(meta["dimension"]))
        stacked.save(self._view, VECTORS)
        return len(hashes) - len(ids)


def _around(tree: CommunityTree, members: NDArray[np.bool_]) -> set[str]:
    """Ids of all communities that these members are in."""
    leaves = np.unique(tree.members["leaf"][members]).astype(np.int64)
    return {tree.ids[place] for place in tree.around(leaves).tolist()}


def _likeness(before: Keys, tree: CommunityTree, place: int) -> float:
    """How alike the members of a community are to those that a report was written from; 0 where it does not stay."""
    size = int(tree.nodes["size"][place])
    if size > _GROWTH * len(before):
        return 0.0
    stayed = len(np.intersect1d(before, tree.entities(place), assume_unique=True))
    return stayed / (len(before) + size - stayed) if stayed >= _STAYS * len(before) else 0.0


def _give_to_heirs(table: ReportTable, tree: CommunityTree) -> None:
    """Let a report be that of the community found anew with nearly the same members, and drop the others."""
    members, lines = table.members(), table.lines()
    able = []
    for id, before in members.items():
        if len(places := tree.places(before)):
            for place in tree.chain(int(np.bincount(tree.members["leaf"][places]).argmax())):
                alike = _likeness(before, tree, place)
                if alike and set(lines[id]).issubset(tree.entities(place).tolist()):
                    able.append((-alike, id, tree.ids[place]))
    heirs: dict[str, str] = {}
    for _, id, heir in sorted(able):
        if id not in heirs.values():
            heirs.setdefault(heir, id)
    table.drop(members.keys() - heirs.values())
    table.move({id: heir for heir, id in heirs.items() if id != heir})


COMMUNITIES = CommunityLayer()
