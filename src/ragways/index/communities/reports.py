"""Reports written: by rules at no cost, by a model for what changed, kept by the hash of what the model was shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.runtime import Progress, told
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.communities.finding import communities_of, links_of
from ragways.index.communities.report import CommunityFinding, CommunityReport, rating_of_size
from ragways.index.communities.report_texts import (
    ALIASES,
    AT_ONCE,
    CENTRAL,
    LINKS,
    LOOKED,
    ReportTexts,
    Strongest,
)
from ragways.index.graph.data import EntityRow
from ragways.index.graph.document_statements import MILLION
from ragways.index.graph.facts import UNSTATED
from ragways.index.graph.graph_rows import digits
from ragways.index.graph.names import fold
from ragways.index.graph.stored_relations import RelationRow
from ragways.index.layer import BuildContext
from ragways.index.settings import CommunitySettings
from ragways.index.units import work_through
from ragways.index.work_cache import Cost
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.models.tokens import count_each
from ragways.tasks.graph import REPORT, CommunityReportInput, WrittenReport

TITLE = 3
FINDINGS = 6


class RuleReporter:
    """Writes reports from the strongest members of communities and the sentences of documents that join them."""

    def __init__(self, texts: ReportTexts) -> None:
        self._texts = texts

    def write(
        self, numbers: Sequence[int], below: Callable[[int], Sequence[CommunityReport]]
    ) -> Iterator[tuple[int, str, CommunityReport]]:
        """Of communities of one level: the number of each, the hash of what its report is written from, and the report.
        `below` tells the reports of those inside one, the best first.
        """
        for at in range(0, len(numbers), AT_ONCE):
            some = numbers[at : at + AT_ONCE]
            bases = self._texts.bases(some)
            links = self._texts.links([id for basis in bases for id in basis.links])
            for number, basis in zip(some, bases, strict=True):
                joining = [links[id] for id in basis.links]
                yield number, basis.hash, self._write(number, basis.strongest, joining, below)

    def _write(
        self,
        number: int,
        strongest: Strongest,
        links: Sequence[RelationRow],
        below: Callable[[int], Sequence[CommunityReport]],
    ) -> CommunityReport:
        size = self._texts.rows.node(number).size
        central = list(strongest.rows)[:CENTRAL]
        findings = self._findings(central, strongest, links) or _said(
            self._texts.described(links[:FINDINGS]), strongest.rows
        )
        if not findings:
            findings = tuple(finding for report in below(number) for finding in report.findings)[:FINDINGS]
        return CommunityReport(
            title=", ".join(strongest.rows[id].name for id in central[:TITLE]),
            summary=_summary([strongest.rows[id] for id in central], size),
            rating=rating_of_size(size),
            findings=findings,
        )

    def _findings(
        self, central: Sequence[int], strongest: Strongest, links: Sequence[RelationRow]
    ) -> tuple[CommunityFinding, ...]:
        """Sentences, each time the one that names most of what is not yet spoken of."""
        strengths = strongest.strengths
        total = sum(strengths[id] for id in central) or 1
        rows = [(id, strongest.rows[id]) for id in central]
        names = [(n.casefold(), id) for id, row in rows for n in (row.name, *row.aliases[:ALIASES]) if len(n) > 1]
        sentences: dict[str, tuple[int, ...]] = {}
        for sentence, folded in self._texts.sentences(links, LINKS):
            if sentence not in sentences and (held := [id for name, id in names if name in folded]):
                sentences[sentence] = tuple(dict.fromkeys(held))
        spoken: Counter[int] = Counter()
        found: list[CommunityFinding] = []
        while sentences and len(found) < FINDINGS:
            # What was said already counts half, and again half: so the rest comes to be spoken of.
            worth = {ids: sum(strengths[id] / 2 ** spoken[id] for id in ids) for ids in set(sentences.values())}
            _, best = max((worth[ids], sentence) for sentence, ids in sentences.items())
            told = sentences.pop(best)
            spoken.update(told)
            rating = round(10 * sum(strengths[id] for id in told) / total, 1)
            found.append(CommunityFinding(best, rating, tuple(f"entity:{digits(id)}" for id in told)))
        return tuple(sorted(found, key=lambda finding: (-finding.rating, finding.text)))


def _summary(central: Sequence[EntityRow], size: int) -> str:
    names = [f"{node.name} ({node.type})" if node.type else node.name for node in central]
    # Not how many: a member more would give every community above it another text, and another vector.
    return f"{', '.join(names)} and others." if size > len(names) else f"{', '.join(names)}."


def _said(links: Sequence[tuple[RelationRow, str]], entities: dict[int, EntityRow]) -> tuple[CommunityFinding, ...]:
    """Where no sentence names them: what the graph itself says."""
    found = []
    for link, description in links:
        ends = (entities[link.subject], entities[link.object])
        text = description or f"{ends[0].name} {link.predicate.replace('_', ' ')} {ends[1].name}"
        found.append(CommunityFinding(text, 1.0, (ends[0].id, ends[1].id)))
    return tuple({finding.text: finding for finding in reversed(found)}.values())[::-1]


# What a model is shown

_ENTITY, _RELATION, _REPORT = 240, 320, 600  # characters of one line
_MINIMUM = 200  # tokens: below this a report would rest on nothing
_LINE = 12  # tokens; fewer does a line seldom have, so no more lines are looked at than could fit
_BELOW = 40  # reports of communities inside one that are looked at
_MANY = 1000
"""Members of a community that has enough text behind it in any case."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """`entities`, `relations` and `reports` as they are shown; `hash` names all of it."""

    entities: str
    relations: str
    reports: str

    @property
    def hash(self) -> str:
        return content_hash(self.entities, self.relations, self.reports)


def report_input(
    texts: ReportTexts, number: int, below: Sequence[CommunityReport], behind: float, tokens: int
) -> ReportInput:
    """In no more tokens than the text behind it has: so a level costs at most what the corpus does, and its prompts.

    A leaf is shown by its entities and relations, a community of communities by the reports below it first.
    """
    budget = round(min(tokens, max(_MINIMUM, behind)))
    reports, used_by_reports = _packed((_report_line(report) for report in below), 2 * budget // 3)
    budget -= used_by_reports
    [(strengths, rows)] = texts.strongest([number], max(LOOKED, budget // 3 // _LINE), described=True)
    entities, used = _packed(map(_entity_line, rows.values()), budget // 3)
    [numbers] = texts.link_numbers([strengths])
    # Equal ones go by what the ids of earlier versions were made of: else what models wrote would be paid again.
    links = sorted(
        texts.links(numbers).values(),
        key=lambda link: (-(link.weight / MILLION * (strengths[link.subject] + strengths[link.object])), _name(link)),
    )
    described = texts.described(links)
    relations, _ = _packed(_relation_lines(described, rows), budget - used)
    return ReportInput("\n".join(entities), "\n".join(relations), "\n".join(reports))


def _name(link: RelationRow) -> str:
    return content_hash(f"entity:{digits(link.subject)}", link.predicate, f"entity:{digits(link.object)}")


def _packed(lines: Iterator[str], tokens: int) -> tuple[list[str], int]:
    """The first lines that fit, and what they cost."""
    shown = [line for line, _ in zip(lines, range(max(1, tokens // _LINE)), strict=False)]
    kept, used = [], 0
    for line, cost in zip(shown, count_each(shown), strict=True):
        if used + cost + 1 > tokens:
            break
        kept.append(line)
        used += cost + 1  # and its line break
    return kept, used


def _entity_line(node: EntityRow) -> str:
    kind = f" ({node.type})" if node.type else ""
    said = f": {node.description}" if node.description else ""
    return _line(f"{node.name}{kind}{said}", _ENTITY)


def _relation_lines(links: Sequence[tuple[RelationRow, str]], rows: dict[int, EntityRow]) -> Iterator[str]:
    """A sentence that states several relations is shown once; what stands in one with no more to say is left out."""
    seen: set[str] = set()
    for link, description in links:
        date = f" ({link.date})" if link.date else ""
        if description in seen and link.predicate in UNSTATED:
            continue
        said = f": {description}" if description and description not in seen else ""
        seen.add(description)
        ends = rows[link.subject].name, rows[link.object].name
        yield _line(f"{ends[0]} — {link.predicate.replace('_', ' ')} — {ends[1]}{date}{said}", _RELATION)


def _report_line(report: CommunityReport) -> str:
    findings = " ".join(finding.text for finding in report.findings[:2])
    return _line(f"{report.title}: {report.summary} {findings}", _REPORT)


def _line(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


# All reports that are owed

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
    """The reports that are owed, written into the store. `kind` is empty where rules write all of them."""

    context: BuildContext
    settings: CommunitySettings
    kind: str
    shown: dict[int, ReportInput] = field(default_factory=dict)
    """Of each community whose report a model must still write, by its number, what it is shown."""
    written: int = 0

    def __post_init__(self) -> None:
        self._db = self.context.store.db
        self.texts = ReportTexts(self._db, self.context.once(links_of).ends, self.context.once(communities_of))
        self._rules = RuleReporter(self.texts)

    def levels(self) -> list[int]:
        """Those that have reports owed, the finest first: a report may rest on those below it."""
        rows = self._db.execute("SELECT DISTINCT level FROM communities WHERE owed ORDER BY level DESC")
        return [row[0] for row in rows]

    def read(self, level: int) -> list[int]:
        """Write what is owed of a level, when those below it are done; returns those that a model must still write."""
        query = "SELECT number FROM communities WHERE owed AND level = ? AND size >= ? ORDER BY number"
        owed = [row[0] for row in self._db.execute(query, (level, self.settings.members))]
        behind = self._behind(owed) if self.kind else {}
        asked = [number for number in owed if behind.get(number, -1.0) >= self.settings.text]
        for number in asked:
            below = self._below(number)
            self.shown[number] = report_input(self.texts, number, below, behind[number], self.settings.tokens)
        ruled = sorted({*owed} - {*asked})
        written = self._rules.write(ruled, self._below)
        for number, hash, report in told(self.context.progress, "reports by rules", written, len(ruled)):
            self._put(number, "rules", report, hash)
        self._db.execute("UPDATE communities SET owed = 0 WHERE level = ? AND size < ?", (level, self.settings.members))
        known = self.context.work_cache.results(self.kind, {self.shown[number].hash for number in asked})
        for number in asked:
            if (text := known.get(self.shown[number].hash)) is not None:
                self._put(number, "model", CommunityReport.from_json(text), self.shown.pop(number).hash)
            else:
                self.texts.rows.reports.drop("id = ?", (self.texts.rows.node(number).id,))
        return [number for number in asked if number in self.shown]

    def _behind(self, numbers: Sequence[int]) -> dict[int, float]:
        """Tokens of the corpus behind communities; of large ones there are enough."""
        rows = self.texts.rows
        small = {number: rows.members_below(number) for number in numbers if rows.node(number).size <= _MANY}
        tokens = self.texts.tokens_behind({member for members in small.values() for member in members})
        known = {number: sum(tokens[member] for member in members) for number, members in small.items()}
        return {number: known.get(number, math.inf) for number in numbers}

    def _below(self, number: int) -> list[CommunityReport]:
        """Reports of communities inside one, the best first."""
        if self.texts.rows.node(number).leaf:
            return []
        query = (
            "SELECT title, summary, rank, findings FROM communities JOIN community_reports r USING (id) "
            "WHERE parent = ? ORDER BY rank DESC, title LIMIT ?"
        )
        return [CommunityReport.of_row(*row) for row in self._db.execute(query, (number, _BELOW))]

    def keep(self, number: int, said: WrittenReport, cost: Cost | None = None) -> None:
        """Keep what a model has written."""
        [(_, members)] = self.texts.strongest([number], _MANY)
        names = {fold(row.name): row.id for row in reversed(members.values())}
        findings = (
            CommunityFinding(
                f.text.strip(), f.rating, tuple(dict.fromkeys(names[n] for n in map(fold, f.entities) if n in names))
            )
            for f in said.findings
            if f.text.strip()
        )
        best_first = tuple(sorted(findings, key=lambda finding: -finding.rating))
        report = CommunityReport(said.title.strip(), said.summary.strip(), said.rating, best_first)
        self.context.work_cache.keep_results(self.kind, {self.shown[number].hash: report.to_json()}, cost)
        self._put(number, "model", report, self.shown.pop(number).hash)

    def _put(self, number: int, way: str, report: CommunityReport, shown: str) -> None:
        self.texts.rows.reports.put(self.texts.rows.node(number).id, way, report, shown)
        self._db.execute("UPDATE communities SET owed = 0 WHERE number = ?", (number,))
        self.written += 1


def read_all(reports: CommunityReports) -> CommunityReports:
    """Write all reports that can be written without a model."""
    for level in reports.levels():
        reports.read(level)
    return reports


async def write_all(reports: CommunityReports) -> CommunityReports:
    """As `read_all`, and ask a model for what is missing. Where it must stop, what is done is kept and read."""
    asking = _Asking(reports)
    stopped: BudgetExceeded | ModelRefused | None = None
    for level in reports.levels():
        missing = reports.read(level)
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

    async def do(self, number: int) -> Sequence[int]:
        with self.reports.context.work_cache.costing(self.reports.kind) as cost:
            await self._one(number, cost)
        return ()

    async def _one(self, number: int, cost: Cost) -> None:
        context, shown = self.reports.context, self.reports.shown[number]
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
            self.reports.keep(number, outcome.value, cost)
        self.done += 1
        context.progress(Progress("reports", self.done))

    def _fail(self, shown: ReportInput, error: str, reply: str = "") -> None:
        self.reports.context.work_cache.keep_failure(self.reports.kind, shown.hash, error, reply[:4000])
        self.reports.context.fail(error)
