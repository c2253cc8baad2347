"""Reports written: by rules at no cost, by a model for what changed, kept by the name of what the model was shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.progress import Progress
from ragways.core.trace import Usage
from ragways.index.communities.content import Content, content
from ragways.index.communities.landscape import Landscape
from ragways.index.communities.options import CommunityOptions
from ragways.index.communities.partition import Group
from ragways.index.communities.report import Finding, Report
from ragways.index.communities.rules import RuleReporter
from ragways.index.graph.names import fold
from ragways.index.layer import BuildContext
from ragways.index.team import work_through
from ragways.index.work_cache import Cost
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.tasks.report import REPORT, SaidReport

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
class Book:
    """The reports of a landscape. `kind` is empty where rules write all of them."""

    context: BuildContext
    land: Landscape
    options: CommunityOptions
    kind: str
    reports: dict[str, Report] = field(default_factory=dict)
    shown: dict[str, Content] = field(default_factory=dict)
    """Of each community whose report a model writes, what it is shown."""

    def __post_init__(self) -> None:
        self._rules = RuleReporter(self.land, self.context.store)

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
            if len(group.members) < self.options.members:
                continue
            if self.kind and self.land.text_behind(group) >= self.options.text:
                self.shown[group.id] = content(self.land, group, self.reports, self.options.tokens)
                asked.append(group)
            else:
                self.reports[group.id] = self._rules.write(group)
        known = self.context.work_cache.results(self.kind, {self.shown[group.id].hash for group in asked})
        for group in asked:
            if (text := known.get(self.shown[group.id].hash)) is not None:
                self.reports[group.id] = Report.from_json(text)
        return [group for group in asked if group.id not in self.reports]

    def keep(self, group: Group, said: SaidReport, cost: Cost | None = None) -> None:
        names = {fold(node.name): node.id for node in (self.land.draft.entities[m] for m in reversed(group.members))}
        findings = (
            Finding(
                f.text.strip(), f.rating, tuple(dict.fromkeys(names[n] for n in map(fold, f.entities) if n in names))
            )
            for f in said.findings
            if f.text.strip()
        )
        best_first = tuple(sorted(findings, key=lambda finding: -finding.rating))
        report = Report(said.title.strip(), said.summary.strip(), said.rating, best_first)
        self.reports[group.id] = report
        self.context.work_cache.keep_results(self.kind, {self.shown[group.id].hash: report.to_json()}, cost)


def read_all(book: Book) -> Book:
    """All reports that are there already."""
    for stage in book.land.stages:
        book.read(stage)
    return book


async def write_all(book: Book) -> Book:
    """As `read_all`, and ask a model for what is missing. Where it must stop, what is done is kept and read."""
    asking = _Asking(book)
    stopped: BudgetExceeded | ModelRefused | None = None
    for stage in book.land.stages:
        missing = book.read(stage)
        if stopped is None:
            try:
                await work_through(missing, asking.do)
            except (BudgetExceeded, ModelRefused) as stop:
                stopped = stop
    if stopped is not None:
        raise stopped
    return book


@dataclass
class _Asking:
    """One report a call, many calls at once. Reports are kept as they come, so a killed run has lost only those under
    way.
    """

    book: Book
    done: int = 0

    async def do(self, group: Group) -> Sequence[Group]:
        with self.book.context.work_cache.costing(self.book.kind) as cost:
            await self._one(group, cost)
        return ()

    async def _one(self, group: Group, cost: Cost) -> None:
        context, shown = self.book.context, self.book.shown[group.id]
        try:
            said = await context.model.do(
                REPORT, entities=shown.entities, relations=shown.relations, reports=shown.reports
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
            self.book.keep(group, said, cost)
        self.done += 1
        context.report(Progress("reports", self.done))

    def _fail(self, shown: Content, error: str, reply: str = "") -> None:
        self.book.context.work_cache.keep_failure(self.book.kind, shown.hash, error, reply[:4000])
        self.book.context.fail(error)
