"""Reports written: by rules at no cost, by a model for what changed, kept by the hash of what the model was shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.index.communities.hierarchy import (
    CENTRAL,
    CommunityFinding,
    CommunityGraph,
    CommunityReport,
    ReportInput,
    report_input,
)
from ragways.index.communities.partition import Group
from ragways.index.graph.data import EntityRow, RelationRow
from ragways.index.graph.names import fold
from ragways.index.layer import BuildContext
from ragways.index.settings import CommunitySettings
from ragways.index.store import Store, number_of, path_of
from ragways.index.units import work_through
from ragways.index.work_cache import Cost
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.tasks.graph import REPORT, CommunityReportInput, WrittenReport

TITLE = 3
FINDINGS = 6
_CHUNKS = 24  # looked at for sentences
_SENTENCE = (20, 400)  # characters of one that can stand alone


class RuleReporter:
    """Writes reports from the communities of a graph and the sentences of its documents."""

    def __init__(self, graph: CommunityGraph, store: Store) -> None:
        self._graph = graph
        self._db = store.db
        self._document = lru_cache(64)(self._read_document)
        self._chunk = lru_cache(4096)(self._read_chunk)

    def write(self, group: Group) -> CommunityReport:
        ranked = self._graph.ranked(group)
        strength = {node.id: weight for node, weight in ranked}
        central = [node for node, _ in ranked[:CENTRAL]]
        relations = self._graph.relations(group, strength)
        findings = self._findings(central, strength, relations) or _said(relations, self._graph)
        return CommunityReport(
            title=", ".join(node.name for node in central[:TITLE]),
            summary=_summary(central, len(group.members)),
            rating=round(min(10.0, 2 * math.log(len(group.members))), 1),
            findings=findings,
        )

    def _findings(
        self, central: Sequence[EntityRow], strength: dict[str, float], relations: Sequence[RelationRow]
    ) -> tuple[CommunityFinding, ...]:
        """Sentences, each time the one that names most of what is not yet spoken of."""
        total = sum(strength[node.id] for node in central) or 1.0
        names = [(node.id, [n.casefold() for n in (node.name, *node.aliases[:3]) if len(n) > 1]) for node in central]
        sentences: dict[str, tuple[str, ...]] = {}
        for sentence in dict.fromkeys(self._sentences(relations)):
            folded = sentence.casefold()
            held = tuple(id for id, called in names if any(name in folded for name in called))
            if held:
                sentences[sentence] = held
        spoken: Counter[str] = Counter()
        found: list[CommunityFinding] = []
        while sentences and len(found) < FINDINGS:
            # What was said already counts half, and again half: so the rest comes to be spoken of.
            best = max(sentences, key=lambda s: (sum(strength[id] / 2 ** spoken[id] for id in sentences[s]), s))
            held = sentences.pop(best)
            spoken.update(held)
            rating = round(10 * sum(strength[id] for id in held) / total, 1)
            found.append(CommunityFinding(best, rating, held))
        return tuple(sorted(found, key=lambda finding: (-finding.rating, finding.text)))

    def _sentences(self, relations: Sequence[RelationRow]) -> Iterator[str]:
        chunks = dict.fromkeys(chunk for edge in relations[:_CHUNKS] for chunk in edge.chunks[:2])
        for chunk in list(chunks)[:_CHUNKS]:
            yield from self._chunk(chunk)

    def _read_chunk(self, id: str) -> tuple[str, ...]:
        number = number_of(id)
        row = self._db.execute(
            "SELECT start, end FROM chunks WHERE document = ? AND path = ?", (number, path_of(id))
        ).fetchone()
        if row is None:
            return ()
        text, places = self._document(number)
        low, high = _SENTENCE
        inside = (" ".join(text[s:e].split()) for s, e in places if s >= row[0] and e <= row[1])
        return tuple(sentence for sentence in inside if low <= len(sentence) <= high and _whole(sentence))

    def _read_document(self, number: int) -> tuple[str, list[tuple[int, int]]]:
        text = self._db.execute("SELECT text FROM documents WHERE number = ?", (number,)).fetchone()[0]
        query = "SELECT start, end FROM sentences WHERE document = ? ORDER BY ordinal"
        return text, self._db.execute(query, (number,)).fetchall()


def _whole(sentence: str) -> bool:
    """Not a heading, nor a row of a table or of a box."""
    return sentence.rstrip("\"'”’»)").endswith((".", "!", "?", "。", "！", "？", "…")) and " | " not in sentence


def _summary(central: Sequence[EntityRow], size: int) -> str:
    names = [f"{node.name} ({node.type})" if node.type else node.name for node in central]
    rest = size - len(names)
    return f"{', '.join(names)} and {rest} more." if rest > 0 else f"{', '.join(names)}."


def _said(relations: Sequence[RelationRow], graph: CommunityGraph) -> tuple[CommunityFinding, ...]:
    """Where no sentence names them: what the graph itself says."""
    entities, places = graph.data.entities, graph.places
    found = []
    for edge in relations[:FINDINGS]:
        ends = (entities[places[edge.subject]], entities[places[edge.object]])
        text = edge.description or f"{ends[0].name} {edge.predicate.replace('_', ' ')} {ends[1].name}"
        found.append(CommunityFinding(text, 1.0, (edge.subject, edge.object)))
    return tuple({finding.text: finding for finding in reversed(found)}.values())[::-1]


TOKENS_A_CALL = 800
"""Of the corpus, for one report; and what reports read for each of its tokens (`benchmarks/communities.py`)."""
INPUT_A_TOKEN = 2.05


def kind_of(model: ModelClient) -> str:
    """What reports are kept as: another prompt or model writes others."""
    if model.model is None:
        raise NoModel("reports of communities are to be written by a language model, and none is set", CURE_NO_MODEL)
    return f"report:model-{REPORT.text.hash[:8]}-{model.model.name}"


def expected(context: BuildContext, kind: str, fresh: float) -> Usage:
    """What reports would use, in proportion to the text that is new: an estimate, from what reports took elsewhere, or
    here where some were written. What a community is shown is known only when those below it are written.
    """
    tokens = fresh * int(context.store.db.execute("SELECT coalesce(sum(tokens), 0) FROM chunks").fetchone()[0])
    calls = math.ceil(tokens / TOKENS_A_CALL)
    left = max(0, calls - context.work_cache.count(kind)) if fresh == 1.0 else calls
    before = context.work_cache.spent(kind)
    if before.calls:
        return Usage(left, round(left * before.input / before.calls), round(left * before.output / before.calls))
    return Usage(left, round(left * TOKENS_A_CALL * INPUT_A_TOKEN), left * REPORT.max_output)


@dataclass
class CommunityReports:
    """The reports of the communities of a graph. `kind` is empty where rules write all of them."""

    context: BuildContext
    graph: CommunityGraph
    settings: CommunitySettings
    kind: str
    reports: dict[str, CommunityReport] = field(default_factory=dict)
    shown: dict[str, ReportInput] = field(default_factory=dict)
    """Of each community whose report a model writes, what it is shown."""

    def __post_init__(self) -> None:
        self._rules = RuleReporter(self.graph, self.context.store)

    def way(self, group: Group) -> str:
        """Who wrote a community's report; nobody where it is too small, or where writing it failed."""
        if group.id not in self.reports:
            return ""
        return "model" if group.id in self.shown else "rules"

    @property
    def missing(self) -> list[str]:
        """Communities whose report a model must still write."""
        return sorted(self.shown.keys() - self.reports.keys())

    def read(self, stage: Sequence[Group]) -> list[Group]:
        """Take up the reports of a stage, when those below it are done; returns those that a model must still write."""
        asked = []
        for group in stage:
            if len(group.members) < self.settings.members:
                continue
            if self.kind and self.graph.text_behind(group) >= self.settings.text:
                self.shown[group.id] = report_input(self.graph, group, self.reports, self.settings.tokens)
                asked.append(group)
            else:
                self.reports[group.id] = self._rules.write(group)
        known = self.context.work_cache.results(self.kind, {self.shown[group.id].hash for group in asked})
        for group in asked:
            if (text := known.get(self.shown[group.id].hash)) is not None:
                self.reports[group.id] = CommunityReport.from_json(text)
        return [group for group in asked if group.id not in self.reports]

    def keep(self, group: Group, said: WrittenReport, cost: Cost | None = None) -> None:
        names = {fold(node.name): node.id for node in (self.graph.data.entities[m] for m in reversed(group.members))}
        findings = (
            CommunityFinding(
                f.text.strip(), f.rating, tuple(dict.fromkeys(names[n] for n in map(fold, f.entities) if n in names))
            )
            for f in said.findings
            if f.text.strip()
        )
        best_first = tuple(sorted(findings, key=lambda finding: -finding.rating))
        report = CommunityReport(said.title.strip(), said.summary.strip(), said.rating, best_first)
        self.reports[group.id] = report
        self.context.work_cache.keep_results(self.kind, {self.shown[group.id].hash: report.to_json()}, cost)


def read_all(reports: CommunityReports) -> CommunityReports:
    """All reports that are there already."""
    for stage in reports.graph.stages:
        reports.read(stage)
    return reports


async def write_all(reports: CommunityReports) -> CommunityReports:
    """As `read_all`, and ask a model for what is missing. Where it must stop, what is done is kept and read."""
    asking = _Asking(reports)
    stopped: BudgetExceeded | ModelRefused | None = None
    for stage in reports.graph.stages:
        missing = reports.read(stage)
        if stopped is None:
            try:
                await work_through(missing, asking.do)
            except (BudgetExceeded, ModelRefused) as stop:
                stopped = stop
    if stopped is not None:
        raise stopped
    return reports


@dataclass
class _Asking:
    """One report a call, many calls at once. Reports are kept as they come, so a killed run has lost only those under
    way.
    """

    reports: CommunityReports
    done: int = 0

    async def do(self, group: Group) -> Sequence[Group]:
        with self.reports.context.work_cache.costing(self.reports.kind) as cost:
            await self._one(group, cost)
        return ()

    async def _one(self, group: Group, cost: Cost) -> None:
        context, shown = self.reports.context, self.reports.shown[group.id]
        try:
            outcome = await context.model.do(
                REPORT, CommunityReportInput(shown.entities, shown.relations, shown.reports)
            )
        except UnusableReply as error:
            self._fail(shown, error.message, error.reply)
        except ModelRefused as error:
            if not self.done:  # the very first was refused: the key or the name is wrong, and so are all to come
                raise
            self._fail(shown, error.message)
        except ModelError as error:
            self._fail(shown, error.message)
        else:
            self.reports.keep(group, outcome.value, cost)
        self.done += 1
        context.progress(Progress("reports", self.done))

    def _fail(self, shown: ReportInput, error: str, reply: str = "") -> None:
        self.reports.context.work_cache.keep_failure(self.reports.kind, shown.hash, error, reply[:4000])
        self.reports.context.fail(error)
