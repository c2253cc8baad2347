"""Make a run: questions × variants × repeats over one index, a record for each. A stopped run continues.

Variants run one after the other, each as if it ran alone, so that the load of the machine can be put down to one of
them. Questions of one variant run concurrently where a model is waited for.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragways.core import __version__
from ragways.core.errors import BudgetExceeded, RagwaysError, UsageError
from ragways.core.runtime import Progress, ProgressCallback, in_turn, silent
from ragways.core.trace import Budget, Span, current_meter, spending
from ragways.core.types import Hit, Origin
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question
from ragways.evaluation.record import (
    AnswerOrigin,
    AnswerUsage,
    EvidenceItem,
    Key,
    QuestionFeatures,
    Record,
    Records,
    Run,
    RunInfo,
    TraceStep,
    begin,
    locked,
    question_features,
    questions_hash,
)
from ragways.evaluation.resources.alone import alone
from ragways.evaluation.resources.sampler import Sampler, samples_of
from ragways.index.status import layer_status
from ragways.models.client import ModelClient, trial
from ragways.retrieval.ask import PARADIGMS, Result, ask, check_question
from ragways.retrieval.paradigm import Paradigm, Strategy, parse_variant
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.features import all_features

_BETWEEN = re.compile(r",(?![^\[]*\])")
"""A comma outside of brackets."""
FAILURES = 3
"""Questions whose features could not be taken after which no more are tried."""
DIGITS = 6
"""Decimals of a feature that are stored."""
STEPS = 300
"""Steps of a trace that a record has at most."""


@dataclass(frozen=True)
class Variant:
    """A paradigm with settings, under the name that it has in the records: one paradigm may run twice with others."""

    name: str
    paradigm: str | Paradigm
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paradigm_name(self) -> str:
        return self.paradigm if isinstance(self.paradigm, str) else self.paradigm.name

    def strategy(self, use: Resources) -> Strategy:
        """Its steps; raises UsageError where a setting is wrong, MissingLayer where the index lacks a layer."""
        paradigm = PARADIGMS.find(self.paradigm) if isinstance(self.paradigm, str) else self.paradigm
        return paradigm.strategy(use, self.settings)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How often each question is asked, so many `at_once`, with the `seed` of the model and a `budget` in USD.

    `features`: store features of each question, by which a router can be fitted. `shared`: make a call that two
    variants have in common once. Where it is made for each, all answers have seconds.
    """

    repeats: int = 1
    seed: int = 0
    at_once: int = 1
    budget: float | None = None
    features: bool = True
    shared: bool = True


USUAL = RunOptions()


def parse_variants(text: str, defaults: Mapping[str, Mapping[str, Any]] | None = None) -> list[Variant]:
    """Variants as they are written, joined by commas: `naive,naive[k=20;tokens=4000]`; `all` is every paradigm.

    `defaults` are settings by paradigm, as the settings file has them; those written here take precedence.
    """
    usual = defaults or {}
    for name in usual:
        PARADIGMS.find(name)  # settings of an unknown paradigm are an error
    variants: dict[str, Variant] = {}
    for part in filter(str.strip, _BETWEEN.split(text)):
        name, values = parse_variant(part)
        for paradigm in PARADIGMS.values() if name == "all" else [PARADIGMS.find(name)]:
            own = f"[{';'.join(f'{key}={value}' for key, value in values.items())}]" if values else ""
            label = f"{paradigm.name}{own}"
            settings = paradigm.check({**usual.get(paradigm.name, {}), **values})
            variants[label] = Variant(label, paradigm.name, settings)
    if not variants:
        raise UsageError("no paradigm is named", "see: ragways paradigms")
    return list(variants.values())


async def evaluate(
    use: Resources,
    questions: Sequence[Question],
    variants: Sequence[Variant],
    folder: Path,
    *,
    options: RunOptions = USUAL,
    data: Mapping[str, Any] | None = None,
    progress: ProgressCallback = silent,
) -> Run:
    """Ask every question of every variant and record the answers in a folder; returns the run.

    A run that exists is continued: recorded answers are not repeated, failures are. `data` says where the questions
    come from. Raises UsageError, before any question, where the folder has another run, or a variant needs a layer that
    the index lacks; BudgetExceeded where the budget is spent: records stay.
    """
    repeats, at_once = options.repeats, options.at_once
    use = replace(use, fallback=False)  # a rule's answer is not the model's: here a failure is one
    if len({variant.name for variant in variants}) < len(variants):
        raise UsageError("two variants have one name", "name each otherwise")
    for variant in variants:
        variant.strategy(use)
    records, gold = Records(folder), GoldIndex(use.index)
    total, done, failed = len(questions) * len(variants) * repeats, 0, 0

    def report(variant: Variant) -> None:
        note = f"{done:,} of {total:,}  {variant.name}  ${current_meter().spent.usd:.4f}"
        progress(Progress("asking", done, total, note))

    async def one(own: Resources, question: Question, variant: Variant, repeat: int) -> None:
        nonlocal done, failed
        report(variant)
        if at_once == 1:
            own.forget()
        own_calls = "" if options.shared else f" {variant.name}"
        with trial(f"{info.id} {repeat}{own_calls}", info.seed + repeat or None):
            record = await _record(own, question, variant, gold, alone=at_once == 1)
        records.append(replace(record, repeat=repeat, seed=info.seed + repeat))
        failed += bool(record.error)
        done += 1
        report(variant)

    with locked(folder):
        answered = _answered_already(records, questions)
        info = begin(
            folder,
            RunInfo(
                seed=options.seed,
                prompts=use.prompts,
                temperature=use.model.temperature,
                guard=use.guard.model_dump(),
                model=use.model.model.name if use.model.model is not None else "",
                index=use.index.identity,
                variants={variant.name: dict(variant.settings) for variant in variants},
                data=data or {},
                construction={layer.name: layer.spent for layer in layer_status(use.index.folder) if layer.built},
                questions=questions_hash([*records.here(), *questions]),
            ),
        )
        with spending(Budget(usd=options.budget)), Sampler(samples_of(folder)) as sampler:
            for variant in variants:
                work = [(question, repeat) for repeat in range(repeats) for question in questions]
                left = [each for each in work if (each[0].id, variant.name, each[1]) not in answered]
                done += len(work) - len(left)
                if not left:
                    continue
                sampler.label = ""
                async with alone(use, variant.paradigm, variant.settings, left[0][0].text) as own:
                    sampler.label = variant.name
                    await in_turn((one(own, question, variant, repeat) for question, repeat in left), at_once)
        if options.features:
            await take_features(use, {question.id: question.text for question in questions}, folder, progress=progress)
    return Run(folder, failed)


async def take_features(
    use: Resources, questions: Mapping[str, str], folder: Path, *, progress: ProgressCallback = silent
) -> None:
    """Store the features of questions (texts by id) beside the records of a run, unless they are stored.

    It is done after all answers, so that no answer takes longer: a question takes as long as a retrieval by
    `fused`. No model is called. A question whose features cannot be computed has none, and a warning says why.
    """
    stored = question_features(folder)
    known = {row.question for row in stored}
    missing = {id: text for id, text in questions.items() if id not in known}
    own = replace(use.over(use.index), model=ModelClient(None))
    failures: list[Exception] = []
    for done, (id, text) in enumerate(missing.items()):
        progress(Progress("taking features", done, len(missing)))
        try:
            found = await all_features(own, check_question(text))
        except UsageError:
            continue  # what cannot be asked has no features
        except Exception as error:
            failures.append(error)
            if len(failures) == FAILURES:
                break
        else:
            stored.append(QuestionFeatures(id, {name: round(value, DIGITS) for name, value in found.items()}))
    if failures:
        logging.getLogger("ragways").warning("ragways: features could not be taken: %s", failures[-1])


def _answered_already(records: Records, questions: Sequence[Question]) -> set[Key]:
    """The keys of the answers that are recorded. UsageError where an id is that of another question in the run."""
    by_id = {question.id: question for question in questions}
    answered = set()
    for record in records.here():
        question = by_id.get(record.question)
        if question is not None and (question.text, question.answers) != (record.text, record.gold):
            raise UsageError(
                f"question {record.question[:80]!r} of {records.folder} is another one there", "name another --out"
            )
        if not record.error:
            answered.add(record.key)
    return answered


async def _record(use: Resources, question: Question, variant: Variant, gold: GoldIndex, *, alone: bool) -> Record:
    """The record of one answer. `alone`: nothing else runs meanwhile, so that its CPU seconds are known."""
    unanswered = Record(
        question=question.id,
        text=question.text,
        type=question.type,
        gold=question.answers,
        paradigm=variant.name,
        repeat=0,
        absent=sum(bool(one.key or one.title) and not gold.documents(one) for one in question.gold),
        wanted=question.gold,
    )
    started, cpu = time.perf_counter(), time.process_time()
    with spending() as meter:
        try:
            result = await ask(use, question.text, variant.paradigm, variant.settings)
        except BudgetExceeded:
            raise
        except RagwaysError as error:
            used = AnswerUsage.of(meter.spent, spent=meter.spent.cost)
            return replace(unanswered, error=str(error), usage=used, seconds=time.perf_counter() - started)
    cpu, answer = time.process_time() - cpu, result.answer
    tools = (step.name.removeprefix("tool ") for step in result.trace.walk() if step.name.startswith("tool "))
    return replace(
        unanswered,
        answer=answer.text,
        explanation=answer.explanation,
        chance=answer.chance,
        abstained=answer.abstained,
        way=answer.way,
        ranks=tuple(gold.ranks(question, answer.evidence.hits)),
        shown=tuple(gold.places(question, answer.evidence.items)),
        evidence=tuple(_evidence_item(hit, origin) for hit, origin, _ in answer.evidence.described()),
        citations=answer.citations,
        usage=AnswerUsage.of(result.trace.worth, evidence=answer.evidence.tokens, spent=result.usage.cost),
        steps=_steps(result.trace),
        tools=dict(sorted(Counter(tools).items())),
        settings=dict(result.settings),
        seconds=round(result.seconds, 4),
        cpu=cpu if alone else None,
        replies_known=sum(step.spared.calls for step in result.trace.walk()),
        made=_origin(use, result),
        arm=result.route.arm if result.route else "",
    )


def _evidence_item(hit: Hit, origin: Origin) -> EvidenceItem:
    piece, by = hit.piece, tuple(found.by for found in hit.found)
    heading = origin.heading(piece.title) if origin.section else ""
    return EvidenceItem(piece.id, piece.kind, piece.title, piece.text, piece.date, hit.score, by, heading)


def _steps(trace: Span) -> tuple[TraceStep, ...]:
    """The trace as rows, a depth each, in order: the first `STEPS` of them."""
    found: list[TraceStep] = []

    def walk(span: Span, depth: int) -> None:
        for child in span.children:
            if len(found) == STEPS:
                return
            seconds = round(child.seconds, 4)
            found.append(TraceStep(child.name, depth, child.way, seconds, child.worth, child.error))
            walk(child, depth + 1)

    walk(trace, 0)
    return tuple(found)


def _origin(use: Resources, result: Result) -> AnswerOrigin:
    """By what: version, embedder, model and the hashes of the prompts that were used."""
    model = use.model.model
    return AnswerOrigin(
        version=__version__,
        paradigm=result.paradigm,
        generation=use.index.generation,
        embedder=use.index.embedder,
        model=model.name if model is not None else "",
        preset=result.prompts,
        temperature=use.model.temperature,
        prompts=result.trace.prompts,
    )
