"""Reports written: by rules at no cost, by a model where the run pays, cached by the hash of what the model is shown.

A report is written from the strongest members of a community, what joins them, and sentences of documents that state
it; so it takes no longer in a large community or corpus.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.types import content_hash
from ragways.layers.communities.assign import CommunityTree, JoinedEntities, entity_id
from ragways.layers.communities.partition import Ints
from ragways.layers.communities.report import (
    CommunityFinding,
    CommunityReport,
    ReportBasis,
    ReportTable,
    StoredReport,
    rating_of_size,
)
from ragways.layers.graph.names import fold
from ragways.layers.graph.walk import MILLION
from ragways.layers.layer import Use
from ragways.layers.protocols import UNSTATED
from ragways.layers.settings import CommunitySettings
from ragways.layers.units import work_through
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.models.tokens import count_each
from ragways.store.cache import Cost
from ragways.store.source import Source
from ragways.store.store import Store
from ragways.store.store import number_of as document_of
from ragways.tasks.graph import REPORT, CommunityReportInput, WrittenReport

if TYPE_CHECKING:
    from ragways.layers.protocols import Graph, GraphEntity, Triplet

Floats = NDArray[np.float64]
_LOOKED = 16  # members, the strongest, that are looked at for what joins them
_CENTRAL = 8  # of these, those that stand for a community
_TITLE = 3  # of these, those in its title
_ALIASES = 3  # other names of a member that are looked for
_LINKS = 24  # relations among members that are looked at for sentences, the best ones; and as many chunks
_CHUNKS_OF_ONE = 2  # that state a relation are looked at
_SENTENCE = (20, 400)  # characters of one that can stand alone
_FINDINGS = 6
_STATING = 16  # chunks that a relation's description may come from, the first ones
_AT_ONCE = 256  # communities whose members are read together
_RARE = 8  # documents: an entity that more of them name is known without any one of them


class Core(NamedTuple):
    """The strongest members of a community, and the relations among them, the best first: by their places among
    `JoinedEntities`.
    """

    members: list[int]
    links: list[int]


Sentence = tuple[str, int]
"""A sentence, and the number of its document."""


class ReportTexts:
    """What reports are written from: the graph, and the documents in the rows."""

    def __init__(self, graph: Graph, store: Store, joined: JoinedEntities, tree: CommunityTree) -> None:
        self.graph, self.store, self.joined, self.tree = graph, store, joined, tree
        self._labels = lru_cache(1)(tree.labels)
        self._document = lru_cache(64)(self._read_document)
        self._chunk = lru_cache(4096)(self._read_chunk)

    def cores(self, nodes: Sequence[int], members: int, links: int) -> list[Core]:
        """Of communities of one level: so many members of each, and so many of the relations among them."""
        joined, count = self.joined, len(nodes)
        number = np.full(len(self.tree.nodes) + 1, -1)
        number[np.asarray(nodes)] = np.arange(count)
        of = number[self._labels(int(self.tree.nodes["level"][nodes[0]]))]
        inside = np.flatnonzero(of >= 0)
        strengths = joined.strengths
        order = inside[np.lexsort((inside, -joined.counts[inside], -strengths[inside], of[inside]))]
        top = order[_first_of_each(of[order], members)]
        of = np.full(len(joined), -1)
        of[top] = of_top = np.repeat(np.arange(count), [min(members, n) for n in self.tree.nodes["size"][list(nodes)]])
        within = np.flatnonzero((of[joined.left] >= 0) & (of[joined.left] == of[joined.right]))
        left, right = joined.left[within], joined.right[within]
        worth = joined.weights[within] / MILLION * (strengths[left] + strengths[right])
        order = np.lexsort((within, -worth, of[left]))
        order = order[_first_of_each(of[left[order]], links)]
        of_link = of[left[order]]
        return [
            Core(top[a:b].tolist(), within[order[c:d]].tolist())
            for (a, b), (c, d) in zip(_stretches(of_top, count), _stretches(of_link, count), strict=True)
        ]

    def entities(self, members: Sequence[int], *, described: bool = False) -> dict[int, GraphEntity]:
        """Rows of the graph for entities by their places, in this order."""
        ids = {
            place: entity_id(number) for place, number in zip(members, self.joined.ids[members].tolist(), strict=True)
        }
        rows = self.graph.entities(ids.values(), described=described)
        return {place: rows[id] for place, id in ids.items() if id in rows}

    def line_sums(self, members: Sequence[int]) -> dict[int, set[int]]:
        """Checksums of the lines that would show entities by their places, to rules and to a model."""
        rows = self.entities(members, described=True)
        return {place: {_line_sum(_shown_name(row)), _line_sum(_entity_line(row))} for place, row in rows.items()}

    def relations(self, rows: Mapping[int, GraphEntity]) -> list[Triplet]:
        """All relations among these entities: those of much weight between strong ones first."""
        strengths = {row.id: int(self.joined.strengths[place]) for place, row in rows.items()}
        found = self.graph.triplets(list(strengths), _MOST, induced=True)
        return sorted(
            (relation for relation in found if relation.subject != relation.object),
            key=lambda each: (
                -(each.weight * (strengths[each.subject] + strengths[each.object])),
                content_hash(each.subject, each.predicate, each.object),
            ),
        )

    def sentences(self, links: Sequence[int]) -> Iterator[Sentence]:
        """Whole sentences of the first chunks that state these relations."""
        arrays, seen = self.joined.arrays, set[int]()
        for relation in self.joined.relations[links].tolist():
            begin, end = arrays.stating_begins[relation : relation + 2].tolist()
            for chunk in arrays.stating_chunks[begin : min(end, begin + _CHUNKS_OF_ONE)].tolist():
                if len(seen) == _LINKS:
                    return
                if chunk not in seen:
                    seen.add(chunk)
                    yield from self._chunk(chunk)

    def _read_chunk(self, chunk: int) -> tuple[Sentence, ...]:
        arrays, (low, high) = self.joined.arrays, _SENTENCE
        place = int(arrays.document_of(np.array([chunk]))[0])
        source = self._document(int(arrays.documents[place]))
        passage = source.passages[chunk - int(arrays.first_chunk[place])]
        spans = (source.text[s:e] for s, e in source.sentences if s >= passage.start and e <= passage.end)
        inside = (" ".join(text.split()) for text in spans)
        return tuple((text, source.number) for text in inside if low <= len(text) <= high and _is_whole(text))

    def _read_document(self, number: int) -> Source:
        return next(self.store.sources([number]))

    def documents_naming(self, place: int, description: str = "") -> set[int]:
        """The documents that an entity's name and description come from. One that many name is known without each of
        them, but its own article and those that the description is from.
        """
        arrays, entity = self.joined.arrays, int(self.joined.places[place])
        begin, end = arrays.naming_begins[entity : entity + 2].tolist()
        documents = arrays.document_of(arrays.naming_chunks[begin:end])
        every = np.unique(documents)
        few = every if len(every) <= _RARE else np.unique(documents[arrays.naming_own[begin:end]])
        found = set(arrays.documents[few].tolist())
        if description:
            rest = [number for number in arrays.documents[every].tolist() if number not in found]
            found |= {
                document
                for document, text in self.store.facts("descriptions", "document, text", rest)
                if text and text in description
            }
        return found

    def documents_stating(self, relations: Sequence[Triplet]) -> set[int]:
        chunks = self.graph.relation_chunks([relation.id for relation in relations])
        return {document_of(chunk) for some in chunks.values() for chunk in some[:_STATING]}

    @property
    def tokens_behind(self) -> Floats:
        """Tokens of the corpus that stand behind each entity: a chunk's are shared out among those it names."""
        arrays = self.joined.arrays
        rows = sorted(self.store.facts("chunks", "document, ordinal, tokens"))
        tokens = np.array([row[2] for row in rows], np.int64)
        shares = tokens * MILLION // np.maximum(np.diff(arrays.named_begins), 1)
        of_naming = shares[arrays.naming_chunks]
        sums = np.concatenate([[0], np.cumsum(of_naming)])[arrays.naming_begins]
        return (np.diff(sums) / MILLION)[self.joined.places]


_MOST = 10_000  # relations among the members that a report shows


def _first_of_each(owners: Ints, count: int) -> Ints:
    """Places of the first so many of each owner; owners rise."""
    begins = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])) if len(owners) else owners
    place = np.arange(len(owners)) - np.repeat(begins, np.diff(np.append(begins, len(owners))))
    return np.flatnonzero(place < count)


def _stretches(owners: Ints, count: int) -> Iterator[tuple[int, int]]:
    """From where to where each owner's rows stand."""
    return pairwise(np.searchsorted(owners, np.arange(count + 1)).tolist())


def _is_whole(sentence: str) -> bool:
    """Not a heading, nor a row of a table or of a box."""
    return sentence.rstrip("\"'”’»)").endswith((".", "!", "?", "。", "！", "？", "…")) and " | " not in sentence


# By rules


def report_by_rules(
    texts: ReportTexts,
    links: Sequence[int],
    rows: Mapping[int, GraphEntity],
    below: Sequence[StoredReport],
    size: int,
) -> StoredReport:
    """A report from the strongest members of a community and the sentences of documents that join them; `below` are
    reports of communities inside it, the best first.
    """
    central = list(rows)[:_CENTRAL]
    names = [_shown_name(rows[place]) for place in central]
    basis = ReportBasis(lines={int(texts.joined.ids[p]): _line_sum(n) for p, n in zip(central, names, strict=True)})
    for place in central:
        basis.documents |= texts.documents_naming(place)
    findings = _quoted(texts, central, links, rows, basis) or _stated(texts, rows, basis)
    if not findings:
        for stored in below:
            if len(findings) < _FINDINGS and stored.report.findings:
                findings += stored.report.findings[: _FINDINGS - len(findings)]
                basis.add(stored.basis)
    report = CommunityReport(
        title=", ".join(rows[place].name for place in central[:_TITLE]),
        # Not how many: with one member more, every community above it would get another text, and another vector.
        summary=f"{', '.join(names)} and others." if size > len(names) else f"{', '.join(names)}.",
        rating=rating_of_size(size),
        findings=findings,
    )
    return StoredReport("rules", report, basis)


def _shown_name(row: GraphEntity) -> str:
    return f"{row.name} ({row.type})" if row.type else row.name


def _line_sum(line: str) -> int:
    return crc32(line.encode("utf-8", "surrogatepass"))


def _quoted(
    texts: ReportTexts,
    central: Sequence[int],
    links: Sequence[int],
    rows: Mapping[int, GraphEntity],
    basis: ReportBasis,
) -> tuple[CommunityFinding, ...]:
    """Sentences, each time the one that names most of what no other names yet."""
    strengths = {place: int(texts.joined.strengths[place]) for place in central}
    total = sum(strengths.values()) or 1
    names = [
        (name.casefold(), place)
        for place in central
        for name in (rows[place].name, *rows[place].aliases[:_ALIASES])
        if len(name) > 1
    ]
    able: dict[str, tuple[tuple[int, ...], int]] = {}
    for sentence, document in texts.sentences(links):
        folded = sentence.casefold()
        if sentence not in able and (named := [place for name, place in names if name in folded]):
            able[sentence] = tuple(dict.fromkeys(named)), document
    spoken: Counter[int] = Counter()
    found: list[CommunityFinding] = []
    while able and len(found) < _FINDINGS:
        # What a sentence already names counts half, and again half: so the rest is named too.
        worth = {
            named: sum(strengths[p] / 2 ** spoken[p] for p in named) for named in {each[0] for each in able.values()}
        }
        _, best = max((worth[named], text) for text, (named, _) in able.items())
        those, document = able.pop(best)
        spoken.update(those)
        basis.documents.add(document)
        rating = round(10 * sum(strengths[place] for place in those) / total, 1)
        found.append(CommunityFinding(best, rating, tuple(rows[place].id for place in those)))
    return tuple(sorted(found, key=lambda finding: (-finding.rating, finding.text)))


def _stated(texts: ReportTexts, rows: Mapping[int, GraphEntity], basis: ReportBasis) -> tuple[CommunityFinding, ...]:
    """Where no sentence names them: what the graph itself has."""
    relations = texts.relations(rows)[:_FINDINGS]
    basis.documents |= texts.documents_stating(relations)
    found = [CommunityFinding(each.description or each.text, 1.0, (each.subject, each.object)) for each in relations]
    return tuple({finding.text: finding for finding in reversed(found)}.values())[::-1]


# What a model is shown

_ENTITY, _RELATION, _REPORT = 240, 320, 600  # characters of one line
_MINIMUM = 200  # tokens: below this a report would rest on nothing
_LINE = 12  # tokens; fewer does a line seldom have, so no more lines are looked at than could fit
_BELOW = 40  # reports of communities inside one that are looked at
_MANY = 1000  # members of a community that has enough text behind it in any case


class ReportInput(NamedTuple):
    """What a model is shown, and what that comes from."""

    shown: CommunityReportInput
    basis: ReportBasis


def report_input(
    texts: ReportTexts, node: int, below: Sequence[StoredReport], behind: float, tokens: int
) -> ReportInput:
    """In no more tokens than the text behind it has: so a level costs at most what the corpus does, and its prompts.

    A leaf is shown by its entities and relations, a community of communities by the reports below it first.
    """
    basis = ReportBasis()
    budget = round(min(tokens, max(_MINIMUM, behind)))
    reports, used_by_reports = _packed([_report_line(stored.report) for stored in below], 2 * budget // 3)
    for stored, _ in zip(below, reports, strict=False):
        basis.add(stored.basis)
    budget -= used_by_reports
    [core] = texts.cores([node], max(_LOOKED, budget // 3 // _LINE), 0)
    rows = texts.entities(core.members, described=True)
    entities, used = _packed([_entity_line(row) for row in rows.values()], budget // 3)
    for (place, row), line in zip(rows.items(), entities, strict=False):
        basis.lines[int(texts.joined.ids[place])] = _line_sum(line)
        basis.documents |= texts.documents_naming(place, row.description)
    lines = _relation_lines(texts.relations(rows))
    relations, _ = _packed([line for line, _ in lines], budget - used)
    basis.documents |= texts.documents_stating([relation for _, relation in lines[: len(relations)]])
    shown = CommunityReportInput("\n".join(entities), "\n".join(relations), "\n".join(reports))
    basis.input = content_hash(shown.entities, shown.relations, shown.reports)
    return ReportInput(shown, basis)


def _packed(lines: Sequence[str], tokens: int) -> tuple[list[str], int]:
    """The first lines that fit, and what they cost."""
    shown = lines[: max(1, tokens // _LINE)]
    fitting, used = [], 0
    for line, cost in zip(shown, count_each(shown), strict=True):
        if used + cost + 1 > tokens:
            break
        fitting.append(line)
        used += cost + 1  # and its line break
    return fitting, used


def _entity_line(row: GraphEntity) -> str:
    return _line(f"{_shown_name(row)}: {row.description}" if row.description else _shown_name(row), _ENTITY)


def _relation_lines(relations: Sequence[Triplet]) -> list[tuple[str, Triplet]]:
    """A sentence that states several relations is shown once; a relation that adds nothing to one is left out."""
    seen: set[str] = set()
    found = []
    for each in relations:
        date = f" ({each.date})" if each.date else ""
        if each.description in seen and each.predicate in UNSTATED:
            continue
        more = f": {each.description}" if each.description and each.description not in seen else ""
        seen.add(each.description)
        line = f"{each.subject_name} — {each.predicate.replace('_', ' ')} — {each.object_name}{date}{more}"
        found.append((_line(line, _RELATION), each))
    return found


def _report_line(report: CommunityReport) -> str:
    findings = " ".join(finding.text for finding in report.findings[:2])
    return _line(f"{report.title}: {report.summary} {findings}", _REPORT)


def _line(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


# All reports that are missing


def kind_of(model: ModelClient) -> str:
    """What reports are cached as: another prompt or model writes others."""
    if model.model is None:
        raise NoModel("reports of communities are to be written by a language model, and none is set", CURE_NO_MODEL)
    return f"report:model-{REPORT.text.hash[:8]}-{model.model.name}"


@dataclass
class ReportWriter:
    """Writes reports into a table. `kind` is what those of the model are cached as; empty where rules write all."""

    table: ReportTable
    texts: ReportTexts
    settings: CommunitySettings
    kind: str
    use: Use
    missing: int = 0
    """Reports that could not be written yet."""
    _inputs: dict[int, ReportInput] = field(default_factory=dict)
    _done: int = 0
    _stopped: BudgetExceeded | None = None

    async def write(self, nodes: Sequence[int]) -> None:
        """Write the reports of these communities, those inside others first. Where the budget ends, those that need the
        model are left for the next run.
        """
        levels: dict[int, list[int]] = defaultdict(list)
        for node in nodes:
            levels[int(self.texts.tree.nodes["level"][node])].append(node)
        behind = self.texts.tokens_behind if self.kind and nodes else None
        for level in sorted(levels, reverse=True):
            enough: dict[int, float] = {}
            if behind is not None:
                enough = {
                    node: tokens
                    for node in levels[level]
                    if (tokens := self._behind(node, behind)) >= self.settings.text
                }
            self._write_by_rules([node for node in levels[level] if node not in enough])
            await self._write_by_model(enough)
        if self._stopped is not None:
            self.use.fail(self._stopped.message, self.missing)
        elif self.missing and not (self.use.pays and self.use.last):
            self.use.fail("reports by a model wait for a run that has one", self.missing)

    async def _write_by_model(self, behind: Mapping[int, float]) -> None:
        """Write those of this level, first from the cache; before the last fold of a run, none."""
        if not self.use.last:
            self.missing += len(behind)
            return
        texts, tokens = self.texts, self.settings.tokens
        self._inputs = {node: report_input(texts, node, self._below(node), behind[node], tokens) for node in behind}
        cached = self.use.cache.results(self.kind, {given.basis.input for given in self._inputs.values()})
        for node in behind:
            if (text := cached.get(self._inputs[node].basis.input)) is not None:
                self._put(node, StoredReport("model", CommunityReport.from_json(text), self._inputs.pop(node).basis))
        if self.use.pays and self._stopped is None:
            try:  # one report a call, many calls at once: cached as they come
                await work_through(list(self._inputs), self._ask_for)
            except BudgetExceeded as stop:
                self._stopped = stop
        self.missing += len(self._inputs)

    def _behind(self, node: int, tokens: Floats) -> float:
        """Tokens of the corpus behind a community; of a large one there are enough."""
        tree = self.texts.tree
        return math.inf if tree.nodes["size"][node] > _MANY else float(tokens[tree.inside(node)].sum())

    def _write_by_rules(self, nodes: Sequence[int]) -> None:
        cores = self.texts.cores(nodes, _LOOKED, _LINKS) if nodes else []
        for at in range(0, len(nodes), _AT_ONCE):
            self.use.progress(Progress("reports by rules", at, len(nodes)))
            some = list(zip(nodes[at : at + _AT_ONCE], cores[at : at + _AT_ONCE], strict=True))
            rows = self.texts.entities([place for _, core in some for place in core.members])
            for node, core in some:
                inside = {place: rows[place] for place in core.members if place in rows}
                size = int(self.texts.tree.nodes["size"][node])
                self._put(node, report_by_rules(self.texts, core.links, inside, self._below(node), size))
        if nodes:
            self.use.progress(Progress("reports by rules", len(nodes), len(nodes)))

    def _below(self, node: int) -> list[StoredReport]:
        """Reports of communities inside one, the best first."""
        tree = self.texts.tree
        if tree.nodes["leaf"][node]:
            return []
        ids = [tree.ids[place] for place in np.flatnonzero(tree.nodes["parent"] == node).tolist()]
        found = sorted(self.table.written(ids).values(), key=lambda each: (-each.report.rating, each.report.title))
        return found[:_BELOW]

    def _put(self, node: int, stored: StoredReport) -> None:
        tree = self.texts.tree
        self.table.put(tree.ids[node], tree.entities(node), stored)

    # By a model

    async def _ask_for(self, node: int) -> Sequence[int]:
        with self.use.cache.costing(self.kind) as cost:
            try:
                outcome = await self.use.model.do(REPORT, self._inputs[node].shown)
            except UnusableReply as error:
                self._fail(node, error.message, error.reply)
            except ModelRefused as error:
                if not self._done:  # the very first was refused: the key or the name is wrong, and so are all to come
                    raise
                self._fail(node, error.message)
            except ModelError as error:
                self._fail(node, error.message)
            else:
                self._keep(node, outcome.value, cost)
        self._done += 1
        self.use.progress(Progress("reports", self._done))
        return ()

    def _keep(self, node: int, reply: WrittenReport, cost: Cost) -> None:
        [core] = self.texts.cores([node], _MANY, 0)
        members = self.texts.entities(core.members)
        names = {fold(row.name): row.id for row in reversed(list(members.values()))}
        findings = (
            CommunityFinding(
                f.text.strip(), f.rating, tuple(dict.fromkeys(names[n] for n in map(fold, f.entities) if n in names))
            )
            for f in reply.findings
            if f.text.strip()
        )
        best_first = tuple(sorted(findings, key=lambda finding: -finding.rating))
        report = CommunityReport(reply.title.strip(), reply.summary.strip(), reply.rating, best_first)
        basis = self._inputs.pop(node).basis
        self.use.cache.keep_results(self.kind, {basis.input: report.to_json()}, cost)
        self._put(node, StoredReport("model", report, basis))

    def _fail(self, node: int, error: str, reply: str = "") -> None:
        self.use.cache.keep_failure(self.kind, self._inputs[node].basis.input, error, reply[:4000])
        self.use.fail(error)
