"""Generate questions on an index: the table of kinds, and how a set of them is made.

Draft, verify, keep or count why not, until there are enough of each kind.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

from ragways.core import __version__
from ragways.core.errors import BudgetExceeded, UnusableReply, UsageError, did_you_mean
from ragways.core.plain import to_plain
from ragways.core.runtime import Progress, ProgressCallback, silent, together
from ragways.core.text import counted
from ragways.core.trace import Budget, current_meter, span, spending
from ragways.core.types import content_hash
from ragways.evaluation.datasets.reading import plain_row
from ragways.evaluation.question import Gold, Question, plain_words
from ragways.evaluation.questions import entries, verify, writer
from ragways.evaluation.questions import model_written as written
from ragways.evaluation.questions.draws import GROUPINGS
from ragways.evaluation.questions.model_written import Writer, quote
from ragways.evaluation.questions.source import (
    NULL,
    PASSED,
    REASONS,
    REPEATED,
    SHARES,
    UNREADABLE,
    NothingToAsk,
    QuestionDraft,
    QuestionSource,
    checked_shares,
    grouped,
)
from ragways.index.export import replacing
from ragways.layers.graph.names import STOP
from ragways.retrieval.resources import Resources

Way = Literal["rule", "model"]
Drafter = Callable[[QuestionSource, Random], QuestionDraft]


@dataclass(frozen=True)
class Kind:
    """`write` asks a model and needs the layers `needs`; `draft` does without one and needs `rule_needs`."""

    name: str
    summary: str
    write: Writer
    draft: Drafter
    needs: frozenset[str] = frozenset()
    rule_needs: frozenset[str] = frozenset()
    type: str = ""
    """As it stands with the questions; the kind's own name where it is empty."""
    documentation: bool = False
    """Whether it is always drafted by templates, from documentation, and left out where the corpus has none."""


_GRAPH, _WINDOWS, _VECTORS = frozenset({"graph"}), frozenset({"windows"}), frozenset({"vectors"})


def _grouping(name: str, summary: str, needs: frozenset[str] = _WINDOWS) -> Kind:
    return Kind(name, summary, written.grouped(GROUPINGS[name]), writer.in_context(GROUPINGS[name]), needs, needs)


def _null(name: str, summary: str, draft: Drafter) -> Kind:
    return Kind(name, summary, written.unanswerable(name), draft, type=NULL)


def _documentation(name: str, summary: str) -> Kind:
    draft = entries.drafter(name)
    return Kind(name, summary, written.by_template(draft), draft, documentation=True)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("factual", "one fact of a random chunk", written.factual, writer.factual),
        Kind("reasoning-2", "two documents joined by an entity", written.reasoning(2), writer.reasoning(2), _GRAPH),
        Kind("reasoning-3", "three documents joined by entities", written.reasoning(3), writer.reasoning(3), _GRAPH),
        Kind("comparison", "which came first", written.compared, writer.comparison, _VECTORS),
        Kind("summary", "what several documents say of an entity",
             written.summary, writer.summarised, _GRAPH, _GRAPH),
        Kind("node", "an entity of the graph", written.entity, writer.described, _GRAPH, _GRAPH),
        Kind("edge", "a relation of the graph", written.relation, writer.related, _GRAPH, _GRAPH),
        Kind("subgraph", "a random walk over the graph", written.stretch, writer.connected_by_walk, _GRAPH, _GRAPH),
        _grouping("intra_document", "windows of one document"),
        _grouping("theme_based", "windows of documents with like themes"),
        _grouping("sequential_multi_hop", "five sentences each of three documents"),
        _grouping("native", "random or sequential chunks", frozenset()),
        _null("swapped", "no answer: an entity swapped", writer.swapped),
        _null("removed", "no answer: a fact that stands nowhere", writer.removed),
        _null("moved", "no answer: a date moved", writer.moved),
        *(_documentation(name, summary) for name, summary in entries.KINDS.items()),
    )
}  # fmt: skip


def find_kinds(names: Iterable[str]) -> list[Kind]:
    """Kinds by name, in the order of the table; an unknown name is an error that says what was meant."""
    wanted = set(names)
    for name in sorted(wanted):
        if name not in KINDS:
            raise UsageError(f"there is no kind of question {name!r}", did_you_mean(name, KINDS))
    return [kind for name, kind in KINDS.items() if name in wanted]


# Making a set of them

MOST = 100_000
"""Questions of a kind."""
TRIES = {"model": 5, "rule": 60}
"""Drafts for each question that is wanted, at most. Those of templates cost nothing."""
DRY = 300
"""Drafts in a row by templates without a new question, after which the corpus has no more."""
AT_ONCE = 8
NEAR = 0.75
"""Share of words that two questions with one answer have in common, from which on they are nearly the same."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class GeneratedSet:
    """Questions, and where they come from: by whom, how and on which index they were made, and what was not checked.

    `counts`: of each kind, how many drafts passed and how many failed for which reason; `notes`: what is short;
    `stopped`: why it ended early, which is the budget.
    """

    made_by: str
    way: Way
    model: str
    seed: int
    count: int
    kinds: tuple[str, ...]
    evolutions: dict[str, float]
    index: dict[str, Any]
    prompts: dict[str, str]
    usd: float
    not_checked: tuple[str, ...]
    questions: tuple[Question, ...]
    counts: dict[str, dict[str, int]]
    notes: tuple[str, ...] = ()
    stopped: str = ""

    @property
    def about(self) -> dict[str, Any]:
        """The file beside the questions: all but these, of which it has the number."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "questions"}
        return {**to_plain(fields), "questions": len(self.questions)}


async def generate(
    use: Resources,
    *,
    kinds: Iterable[str] | None = None,
    count: int = 10,
    seed: int = 0,
    budget: float | None = None,
    without_model: bool = False,
    evolutions: Mapping[str, float] | None = None,
    verified: bool = True,
    progress: ProgressCallback = silent,
) -> GeneratedSet:
    """Up to `count` verified questions of each kind; the same index, seed and settings give the same set.

    Without `kinds`, all that the layers of the index allow; those of documentation where there is no model, and the
    corpus has some to offer. A spent budget ends it, with what there is. `evolutions`
    are the ways to make questions on a context harder, each with its share; the usual ones where none are given.
    Unless `verified`, what a model writes is taken as it is, without a check by the text or with the book closed.
    """
    if not 0 < count <= MOST:
        raise UsageError(f"a count of {count} makes no sense", f"give one from 1 to {MOST:,}")
    model = None if without_model else use.model.model
    way: Way = "rule" if model is None else "model"
    wanted, notes = _possible(use, kinds, way)
    shares = checked_shares(SHARES if evolutions is None else evolutions)
    source, stopped = QuestionSource(use, shares), ""
    if kinds is None:
        stated = entries.statements(source) if way == "rule" else {}
        wanted = [kind for kind in wanted if not kind.documentation or kind.name in stated]
    making = _Making(source, way, count, seed, progress, verified=verified)
    with spending(Budget(usd=budget)):
        try:
            for kind in wanted:
                await making.fill(kind)
        except BudgetExceeded as error:
            stopped = str(error)
        spent = current_meter().spent
    notes += making.shortfalls(wanted) if not stopped else []
    size = use.index.counts()
    return GeneratedSet(
        made_by=f"ragways {__version__}",
        way=way,
        model=model.name if model is not None else "",
        seed=seed,
        count=count,
        kinds=tuple(kind.name for kind in wanted),
        evolutions=dict(shares),
        index={
            "generation": use.index.generation,
            "documents": size["documents"],
            "chunks": size["chunks"],
            "layers": sorted(use.index.layers),
            "embedder": use.index.embedder,
        },
        prompts=dict(sorted(making.prompts.items())),
        usd=spent.usd,
        not_checked=_not_checked(model is not None, verified),
        questions=tuple(making.questions),
        counts=making.ordered_counts(),
        notes=tuple(notes),
        stopped=stopped,
    )


def _not_checked(by_model: bool, verified: bool) -> tuple[str, ...]:
    if not by_model:
        return ("known by heart: only a model can tell",)
    return () if verified else ("all of it: the questions are as the model wrote them",)


def _possible(use: Resources, names: Iterable[str] | None, way: Way) -> tuple[list[Kind], list[str]]:
    """The kinds to make. One that was asked for by name and lacks a layer is an error; else it is left out."""
    possible, notes = [], list[str]()
    for kind in find_kinds(KINDS if names is None else names):
        needs = kind.rule_needs if way == "rule" else kind.needs
        if names is not None:
            use.index.require(needs)
        missing = sorted(needs - use.index.layers)
        if missing:
            notes.append(f"{kind.name} is left out: the index has no {' and no '.join(missing)}")
        else:
            possible.append(kind)
    return possible, notes


@dataclass
class _Making:
    """A set that is being made: what it is made from and how, and what there is of it so far."""

    source: QuestionSource
    way: Way
    wanted: int
    seed: int
    progress: ProgressCallback
    verified: bool = True
    questions: list[Question] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _same_answer: dict[str, list[frozenset[str]]] = field(default_factory=dict)
    _faults: dict[str, str] = field(default_factory=dict)

    def passed(self, kind: Kind) -> int:
        return self.counts.get(kind.name, {}).get(PASSED, 0)

    def ordered_counts(self) -> dict[str, dict[str, int]]:
        """The counts with their reasons in one order."""
        return {kind: {name: of[name] for name in REASONS if name in of} for kind, of in self.counts.items()}

    async def fill(self, kind: Kind) -> None:
        """Draft until there are enough. Each draft draws by itself, so that none depends on what became of another."""
        limit, number, last = self.wanted * TRIES[self.way], 0, 0
        by_model = self.way == "model"
        while (missing := self.wanted - self.passed(kind)) > 0 and number < limit and (by_model or number - last < DRY):
            batch = range(number, min(limit, number + (min(missing, AT_ONCE) if by_model else 1)))
            done = self.wanted - missing
            self.progress(Progress(f"asking {kind.name}", done, self.wanted, f"${current_meter().spent.usd:.4f}"))
            results = await together(self._attempt(kind, f"{self.seed}/{kind.name}/{n}") for n in batch)
            number = batch.stop
            for attempt, (draft, reason) in zip(batch, results, strict=True):
                last = number if self._keep(draft, reason, kind, attempt) else last

    async def _attempt(self, kind: Kind, seed: str) -> tuple[QuestionDraft | None, str]:
        """A draft, and why it is left out, or that it passed."""
        random = Random(seed)  # noqa: S311 - to draw a sample, not a secret
        with span("question") as here:
            try:
                if self.way == "rule":
                    draft = kind.draft(self.source, random)
                    if draft.text not in self._faults:  # rules draw the same again and again
                        self._faults[draft.text] = verify.rule_fault(draft, self.source)
                    reason = self._faults[draft.text]
                else:
                    draft = await kind.write(self.source, random)
                    reason = await verify.model_fault(draft, self.source) if self.verified else ""
            except NothingToAsk as nothing:
                return None, nothing.reason
            except UnusableReply:
                return None, UNREADABLE
            finally:
                self.prompts |= here.prompts
        return draft, reason or PASSED

    def _keep(self, draft: QuestionDraft | None, reason: str, kind: Kind, attempt: int) -> bool:
        """Count a draft, and add it to the questions if it passed and is new; whether it was added."""
        new = False
        if draft is not None and reason == PASSED:
            new = not self._repeats(draft, kind)
            if new:
                typed = replace(draft, type=kind.type or kind.name)
                self.questions.append(_question(typed, kind, self.way, self.seed, attempt))
            else:
                reason = REPEATED
        counts = self.counts.setdefault(kind.name, {})
        counts[reason] = counts.get(reason, 0) + 1
        return new

    def _repeats(self, draft: QuestionDraft, kind: Kind) -> bool:
        """Whether the set has the same question, or nearly the same, of any kind; the draft is remembered."""
        answer = plain_words(draft.answers[0])
        words = plain_words(draft.text)
        same = {words, f"{_NUMBER.sub('#', words)} → {answer}"}
        if self.way == "rule":
            # What rules make twice of the same things differs in its phrase at most; of what has no answer, in a date.
            made_of = draft.path[:1] if kind.name == "moved" else sorted(draft.checked or (kind.name, *draft.path))
            same.add(f"{list(made_of)} → {answer if draft.checked else ''}")
            same |= {f"{kind.name} → {answer}"} if draft.parts else set()
        content = frozenset(word for word in words.split() if word not in STOP)
        near = not draft.unanswerable and any(
            len(content & other) >= NEAR * len(content | other) for other in self._same_answer.get(answer, ())
        )
        repeats = near or bool(same & self._known)
        self._known |= same
        self._same_answer.setdefault(answer, []).append(content)
        return repeats

    def shortfalls(self, kinds: list[Kind]) -> list[str]:
        """Which kinds are short, those with equally many in one line; and what to do where rules found little."""
        short = grouped((k for k in kinds if self.passed(k) < self.wanted), self.passed)
        notes = [
            f"{', '.join(kind.name for kind in of)}: {had} of {self.wanted}; the corpus gave no more"
            for had, of in sorted(short.items(), reverse=True)
        ]
        wanted = self.wanted * len(kinds)
        if self.way != "rule" or 2 * len(self.questions) >= wanted:
            return notes
        formats = Counter(text.document.format for text in self.source.texts.values())
        files = " and ".join(counted(number, f"{format} document") for format, number in formats.most_common(3))
        made = f"{len(self.questions):,} of {counted(wanted, 'question')}" if self.questions else "no questions"
        cure = "set a model (docs/models.md) to have more written, or write your own (docs/evaluation.md)"
        return [*notes, f"{made}: without a model, the rules find no more that is stated plainly in {files}; {cure}"]


def _question(draft: QuestionDraft, kind: Kind, way: Way, seed: int, attempt: int) -> Question:
    quoted = (one.quote if way == "rule" else quote(one, draft) for one in draft.support)
    gold = [Gold(s.title, key=s.key, quote=q, id=s.chunk) for s, q in zip(draft.support, quoted, strict=True)]
    provenance: dict[str, object] = {"kind": kind.name, "way": way, "seed": seed, "attempt": attempt}
    provenance |= {"path": list(draft.path)} | ({"note": draft.note} if draft.note else {})
    return Question(
        content_hash(draft.text, *draft.answers)[:16],
        draft.text,
        draft.answers,
        draft.type,
        () if draft.unanswerable else tuple(gold),
        provenance,
    )


def about_file(file: Path) -> Path:
    """`questions.jsonl` → `questions.about.json`."""
    return file.with_name(f"{file.name.removesuffix('.jsonl')}.about.json")


def write(generated: GeneratedSet, file: Path) -> None:
    """A set as two files: the questions, a line each, and beside them where they come from.

    Both are whole, or an error: a draft takes the place of what was there before only when it is finished.
    """
    lines = "".join(json.dumps(plain_row(q), ensure_ascii=False) + "\n" for q in generated.questions)
    about = json.dumps(generated.about, ensure_ascii=False, indent=1) + "\n"
    with replacing(file) as questions, replacing(about_file(file)) as beside:
        questions.write_text(lines, encoding="utf-8")
        beside.write_text(about, encoding="utf-8")
