"""A run: questions × paradigms × repeats over one index, a record each. Stopped, it goes on where it was.

Paradigms are run one after the other, so that what the machine does meanwhile can be put down to one of them. The
questions of one are asked side by side where a model is waited for; without one there is nothing to wait for.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ragways
from ragways.core.errors import BudgetExceeded, RagwaysError, UsageError
from ragways.core.gather import in_turn
from ragways.core.progress import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, Span, current_meter, spending
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question
from ragways.evaluation.record import (
    AnswerUsage,
    EvidenceItem,
    Key,
    Provenance,
    Record,
    Records,
    RunInfo,
    TraceStep,
    locked,
)
from ragways.evaluation.resources.sampler import Sampler, samples_of
from ragways.models.client import trial
from ragways.retrieval.ask import Result, ask
from ragways.retrieval.resources import Resources

Ways = Mapping[str, tuple[str, Mapping[str, Any]]]
"""Paradigms with their settings, by the name they have in the records: one may run twice, with other settings."""
SPANS = 300
"""Steps of a trace that a record keeps."""


@dataclass(frozen=True)
class Asked:
    """One thing to ask: a record once it is answered."""

    question: Question
    paradigm: str
    repeat: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.question.id, self.paradigm, self.repeat


async def run(
    use: Resources,
    questions: Sequence[Question],
    ways: Ways,
    records: Records,
    about: RunInfo,
    *,
    repeats: int = 1,
    at_once: int = 1,
    budget: float | None = None,
    report: ProgressCallback = silent,
) -> int:
    """Ask what has not been asked yet; returns how many answers failed. A spent budget ends it, all records kept."""
    total = len(questions) * len(ways) * repeats
    runner = _Runner(use, records, about, ways, at_once, total, report)
    with locked(records.folder), spending(Budget(usd=budget)), Sampler(samples_of(records.folder)) as sampler:
        done = _answered_already(records, questions)
        for name in ways:
            work = [Asked(question, name, repeat) for repeat in range(repeats) for question in questions]
            left = [asked for asked in work if asked.key not in done]
            if left:
                sampler.label = name
            await runner.all(left, len(work))
    return runner.failed


def _answered_already(records: Records, questions: Sequence[Question]) -> set[Key]:
    """What need not be asked again. An id that means another question here would set unlike things side by side."""
    asked = {question.id: question for question in questions}
    done = set()
    for record in records.here():
        question = asked.get(record.question)
        if question is not None and (question.text, question.answers) != (record.text, record.gold):
            raise UsageError(
                f"question {record.question[:80]!r} of {records.folder} is another one there", "name another --out"
            )
        if not record.error:
            done.add(record.key)
    return done


class _Runner:
    def __init__(
        self,
        use: Resources,
        records: Records,
        about: RunInfo,
        ways: Ways,
        at_once: int,
        total: int,
        report: ProgressCallback,
    ) -> None:
        self._use, self._records, self._about, self._ways = use, records, about, ways
        self._gold = GoldIndex(use.index)
        self._at_once, self._total, self._report = at_once, total, report
        self._done = self.failed = 0

    async def all(self, work: Sequence[Asked], of: int) -> None:
        self._done += of - len(work)
        await in_turn(map(self._one, work), self._at_once)

    async def _one(self, asked: Asked) -> None:
        self._tell(asked.paradigm)
        if self._at_once == 1:
            self._use.forget()
        record = await self._record(asked)
        self._records.append(record)
        self.failed += bool(record.error)
        self._done += 1
        self._tell(asked.paradigm)

    def _tell(self, paradigm: str) -> None:
        note = f"{self._done:,} of {self._total:,}  {paradigm}  ${current_meter().spent.usd:.4f}"
        self._report(Progress("asking", self._done, self._total, note))

    async def _record(self, asked: Asked) -> Record:
        question, seed = asked.question, self._about.seed + asked.repeat
        said: dict[str, Any] = {
            "question": question.id,
            "text": question.text,
            "type": question.type,
            "gold": question.answers,
            "paradigm": asked.paradigm,
            "repeat": asked.repeat,
            "absent": sum(bool(one.key or one.title) and not self._gold.documents(one) for one in question.gold),
            "wanted": question.gold,
            "seed": seed,
        }
        started, cpu = time.perf_counter(), time.process_time()
        with spending() as meter:
            try:
                with trial(f"{self._about.id} {asked.repeat}", seed or None):
                    result = await ask(self._use, question.text, *self._ways[asked.paradigm])
            except BudgetExceeded:
                raise
            except RagwaysError as error:
                used = AnswerUsage.of(meter.spent, spent=meter.spent.usd)
                return Record(**said, error=str(error), usage=used, seconds=time.perf_counter() - started)
        spent = time.process_time() - cpu if self._at_once == 1 else None
        ranks = tuple(self._gold.ranks(question, result.answer.evidence.hits))
        return Record(**said, **_answered(result), ranks=ranks, cpu=spent, made=_made(self._use, result))


def _answered(result: Result) -> dict[str, Any]:
    answer, worth = result.answer, result.trace.worth
    return {
        "answer": answer.text,
        "abstained": answer.abstained,
        "way": answer.way,
        "evidence": tuple(
            EvidenceItem(
                hit.piece.id, hit.piece.kind, hit.piece.title, hit.piece.text, hit.piece.date, hit.score,
                tuple(found.by for found in hit.found),
            )
            for hit in answer.evidence.items
        ),
        "citations": answer.citations,
        "usage": AnswerUsage.of(worth, evidence=answer.evidence.tokens, spent=result.usage.usd),
        "steps": _steps(result.trace),
        "tools": dict(sorted(Counter(_tools(result.trace)).items())),
        "settings": dict(result.settings),
        "seconds": round(result.seconds, 4),
    }  # fmt: skip


def _tools(trace: Span) -> list[str]:
    return [step.name.removeprefix("tool ") for step in trace.walk() if step.name.startswith("tool ")]


def _steps(trace: Span) -> tuple[TraceStep, ...]:
    """The trace as rows, a depth each, in order: the first `SPANS` of them."""
    found: list[TraceStep] = []

    def walk(span: Span, depth: int) -> None:
        for child in span.children:
            if len(found) == SPANS:
                return
            seconds = round(child.seconds, 4)
            found.append(TraceStep(child.name, depth, child.way, seconds, child.worth, child.error))
            walk(child, depth + 1)

    walk(trace, 0)
    return tuple(found)


def _made(use: Resources, result: Result) -> Provenance:
    """By what: version, embedder, model and the hashes of the prompts that were used."""
    prompts = {span.name: str(span.details["prompt"]) for span in result.trace.walk() if "prompt" in span.details}
    model = use.model.model
    return Provenance(
        version=ragways.__version__,
        paradigm=result.paradigm,
        generation=use.index.generation,
        embedder=use.index.embedder,
        model=model.name if model is not None else "",
        preset=result.prompts,
        prompts=prompts,
    )
