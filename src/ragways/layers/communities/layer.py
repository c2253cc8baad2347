"""The layer: communities are a view of the graph, and reports of models and vectors are cached by content."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import BudgetExceeded
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.layers.communities.assign import CommunityTree, JoinedEntities, brought_up, entity_id, find, joined_in
from ragways.layers.communities.read import STATE, VECTORS, Communities, CommunityState
from ragways.layers.communities.report import ReportTable, read_reports
from ragways.layers.communities.reports import ReportTexts, ReportWriter, kind_of
from ragways.layers.files import save_json
from ragways.layers.layer import CheckContext, Estimate, Finding, Layer, Sample, Use, findings
from ragways.layers.settings import CommunitySettings, GraphSettings
from ragways.layers.vectors import Vectors
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
"""Of the corpus, for one report; and what reports read for each of its tokens (`benchmarks/communities.py`)."""
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

    def open(self, view: Path, store: Store) -> Communities:
        return Communities(view, store)

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        """Communities are not known before there is a graph: their number is in proportion to the text."""
        passages = [passage.text for source in sample.documents for passage in source.passages]
        tokens = sum(count_each(passages)) / (sample.share or 1.0)
        reports = math.ceil(tokens / TOKENS_A_CALL)
        usage, kind = Usage(), ""
        if _by_model(use):
            kind = kind_of(use.model)
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
        tree = CommunityTree.load(view)
        graph = joined_in(view)
        for name, examples in chain(_unsound(tree), _strangers(tree, graph)):
            yield from findings(name, "error", examples, cure)
        with closing(read_reports(view)) as db:
            reports = {row[0] for row in db.execute("SELECT id FROM reports")}
            broken = [row[0] for row in db.execute("PRAGMA quick_check") if row[0] != "ok"]
        yield from findings("a table of reports that is damaged", "error", broken, cure)
        lost = sorted(reports.difference(tree.ids))
        yield from findings("reports of communities that are not there", "error", lost, cure)
        if (view / f"{VECTORS}.npy").is_file():
            lost = sorted(set(Vectors.load(view, VECTORS).ids) - reports)
            yield from findings("vectors of reports that are not there", "error", lost, cure)
        if len(tree.members):
            context.figures["new_entities_in_communities"] = float(tree.members["new"].mean())


def _unsound(tree: CommunityTree) -> Iterator[tuple[str, Iterable[str]]]:
    """Communities that are no tree whose leaves have all members."""
    nodes, leaf = tree.nodes, tree.members["leaf"]
    places = np.arange(len(nodes))
    inner = nodes["parent"] >= 0
    behind = (nodes["parent"] >= places) | (inner & (nodes["level"] != nodes["level"][nodes["parent"]] + 1))
    yield "communities whose parent is not there", _ids(tree, places[behind])
    apart = (leaf < 0) | (leaf >= len(nodes))
    apart[~apart] = ~nodes["leaf"][leaf[~apart]]
    yield "members of communities that are not there", _entities(tree, apart)
    if not behind.any() and not apart.any():
        sizes = np.bincount(leaf, minlength=len(nodes))
        for place in places[inner][::-1].tolist():
            sizes[nodes["parent"][place]] += sizes[place]
        yield "communities that have other members than they say", _ids(tree, places[sizes != nodes["size"]])


def _strangers(tree: CommunityTree, graph: JoinedEntities) -> Iterator[tuple[str, Iterable[str]]]:
    strange = ~np.isin(tree.members["entity"], graph.ids)
    yield "communities of entities that are not there", _entities(tree, strange)
    missing = graph.ids[~np.isin(graph.ids, tree.members["entity"])]
    yield "entities without a community", map(entity_id, missing.tolist())


def _ids(tree: CommunityTree, places: Sequence[int]) -> Iterable[str]:
    return [tree.ids[int(place)] for place in places]


def _entities(tree: CommunityTree, which: NDArray[np.bool_]) -> Iterable[str]:
    return map(entity_id, tree.members["entity"][which].tolist())


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
            return kind_of(self._use.model)
        if self._before is not None and self._before.kind:
            return self._before.kind
        # A view made again by whoever has no model: reports are found again under the kind that most were cached as.
        kinds = self._use.cache.kinds(_KIND)
        return max(kinds, key=lambda kind: (self._use.cache.count(kind), kind), default=_KIND)

    # Reports that do not stay

    def _drop_stale(self, table: ReportTable, texts: ReportTexts, kind: str, *, anew: bool) -> None:
        """Drop the reports that are to be written anew; of communities found anew, rules write all of them."""
        if self._before is None or self._before.kind != kind or (anew and not kind):
            table.drop(table.ids())
            return
        table.drop(table.of_documents({*self._change.added, *self._change.removed}))
        if anew:
            self._give_to_heirs(table, texts.tree)
        else:
            self._drop_of_others(table, texts.tree)
        if self._change.removed:
            self._drop_altered(table, texts)

    def _give_to_heirs(self, table: ReportTable, tree: CommunityTree) -> None:
        """Let a report be that of the community found anew with nearly the same members, and drop the others."""
        members, lines = table.members(), table.lines()
        heirs: dict[str, tuple[float, str]] = {}
        for id, before in sorted(members.items()):
            places = np.searchsorted(tree.members["entity"], before).clip(max=max(0, len(tree.members) - 1))
            stayed = places[tree.members["entity"][places] == before] if len(tree.members) else places[:0]
            leaves, counts = np.unique(tree.members["leaf"][stayed], return_counts=True)
            shared: dict[int, int] = {}
            for leaf, count in zip(leaves.tolist(), counts.tolist(), strict=True):
                for place in tree.chain(leaf):
                    shared[place] = shared.get(place, 0) + count
            for place, count in shared.items():
                size = int(tree.nodes["size"][place])
                alike = count / (size + len(before) - count)
                able = count >= _STAYS * len(before) and size <= _GROWTH * len(before)
                if able and (alike, id) > heirs.get(tree.ids[place], (0.0, "")):
                    own = set(tree.members["entity"][tree.inside(place)].tolist())
                    if own.issuperset(lines[id]):
                        heirs[tree.ids[place]] = alike, id
        moved: dict[str, str] = {}
        for heir, (_, id) in sorted(heirs.items(), key=lambda each: (-each[1][0], each[0])):
            moved.setdefault(id, heir)
        table.drop(members.keys() - moved.keys())
        table.move({id: heir for id, heir in moved.items() if id != heir})

    def _drop_of_others(self, table: ReportTable, tree: CommunityTree) -> None:
        """Drop reports of communities that are gone, or have too few of the members that they had, or too many more."""
        written = table.ids()
        gone = {id for id in written if id not in tree.place_of}
        came = ~np.isin(tree.members["entity"], self._members_before["entity"])
        for id, before in table.members((self._left | _around(tree, came)) & written - gone).items():
            now = tree.members["entity"][tree.inside(tree.place_of[id])]
            stayed = len(np.intersect1d(now, before, assume_unique=True))
            if stayed < _STAYS * len(before) or len(now) > _GROWTH * len(before):
                gone.add(id)
        table.drop(gone)

    def _drop_altered(self, table: ReportTable, texts: ReportTexts) -> None:
        """Drop reports that show an entity otherwise than it is now: nothing stays that only removed documents said."""
        joined, before = self._joined, self._members_before
        at = np.searchsorted(before["entity"], joined.ids).clip(max=max(0, len(before) - 1))
        altered = joined.named_in(frozenset(self._change.added))
        if len(before):
            altered |= (before["entity"][at] != joined.ids) | (before["count"][at] != joined.counts)
        shown = table.lines(self._left | _around(texts.tree, altered))
        places = {int(joined.ids[place]): place for place in np.flatnonzero(altered).tolist()}
        entities = {entity for lines in shown.values() for entity in lines}
        gone = entities.difference(joined.ids[np.isin(joined.ids, np.array(sorted(entities), np.uint64))].tolist())
        now = texts.line_sums([place for entity, place in places.items() if entity in entities])
        table.drop(
            id
            for id, lines in shown.items()
            if any(each in gone or (each in places and line not in now[places[each]]) for each, line in lines.items())
        )

    @property
    def _members_before(self) -> NDArray[Any]:
        return CommunityTree.none().members if self._old is None else self._old.members

    @cached_property
    def _left(self) -> set[str]:
        """Ids of the communities that some members have left."""
        return (
            set()
            if self._old is None
            else _around(self._old, ~np.isin(self._members_before["entity"], self._joined.ids))
        )

    # Vectors

    async def _embed(self, table: ReportTable) -> int:
        """Give every report its vector, where the index has vectors; how many are missing."""
        if "vectors" not in self._use.layers:
            return 0
        meta, hashes = self._store.meta(), table.hashes()
        known = self._use.cache.known(meta["embedder"], hashes.values())
        missing = {id for id, hash in hashes.items() if hash not in known}
        if missing:
            try:
                await self._use.embed({hashes[id]: row.report.embedded for id, row in table.written(missing).items()})
            except BudgetExceeded as stop:
                self._use.fail(stop.message)
        elif not table.changed and self._before is not None and not self._before.missing:
            return 0
        vectors = self._use.cache.vectors(meta["embedder"], hashes.values())
        ids = [id for id in sorted(hashes) if hashes[id] in vectors]
        stacked = Vectors.stack(ids, [vectors[hashes[id]] for id in ids], int(meta["dimension"]))
        stacked.save(self._view, VECTORS)
        return len(hashes) - len(ids)


def _around(tree: CommunityTree, members: NDArray[np.bool_]) -> set[str]:
    """Ids of all communities that these members are in."""
    leaves = np.unique(tree.members["leaf"][members]).astype(np.int64)
    return {tree.ids[place] for place in tree.around(leaves).tolist()}


COMMUNITIES = CommunityLayer()
