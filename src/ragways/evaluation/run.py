"""A run: questions × paradigms × repeats over one index, a record each. Stopped, it goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import ragways
from ragways.core.errors import BudgetExceeded, RagwaysError
from ragways.core.progress import Progress, Report, silent
from ragways.core.trace import Budget, Span, current_meter, spending
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question
from ragways.evaluation.record import Record, Records
from ragways.modules.resources import Resources
from ragways.paradigms.ask import Result, ask

Answered = Mapping[str, Mapping[str, Any]]
"""Paradigms by name, with their settings."""


async def run(
    use: Resources,
    questions: Sequence[Question],
    paradigms: Answered,
    records: Records,
    *,
    repeats: int = 1,
    budget: float | None = None,
    report: Report = silent,
) -> int:
    """Ask what has not been asked yet; returns how many answers failed. A spent budget ends it, all records kept."""
    done = records.mend()
    gold = GoldIndex(use.index)
    work = [(q, name, n) for n in range(repeats) for q in questions for name in paradigms]
    failed = 0
    with spending(Budget(usd=budget)):
        for at, (question, name, repeat) in enumerate(work):
            report(Progress("asking", at, len(work), f"{name}  ${current_meter().spent.usd:.4f}"))
            if (question.id, name, repeat) in done:
                continue
            record = await _answer(use, question, name, paradigms[name], repeat, gold)
            records.append(record)
            failed += bool(record.error)
    return failed


async def _answer(
    use: Resources, question: Question, name: str, settings: Mapping[str, Any], repeat: int, gold: GoldIndex
) -> Record:
    asked = {
        "question": question.id,
        "text": question.text,
        "type": question.type,
        "gold": question.answers,
        "paradigm": name,
        "repeat": repeat,
    }
    use.forget()
    started, cpu = time.perf_counter(), time.process_time()
    try:
        result = await ask(use, question.text, name, settings)
    except BudgetExceeded:
        raise
    except RagwaysError as error:
        return Record(**asked, error=str(error), seconds=time.perf_counter() - started)  # type: ignore[arg-type]
    answer = result.answer
    return Record(
        **asked,  # type: ignore[arg-type]
        answer=answer.text,
        abstained=answer.abstained,
        way=answer.way,
        ranks=tuple(gold.ranks(question, answer.evidence.hits)),
        evidence=tuple(
            {"id": hit.piece.id, "title": hit.piece.title, "text": hit.piece.text, "score": hit.score}
            for hit in answer.evidence.items
        ),
        citations=tuple(asdict(citation) for citation in answer.citations),
        usage={**asdict(result.usage), "evidence": answer.evidence.tokens},
        steps=tuple(_step(step) for step in result.trace.children),
        settings=dict(result.settings),
        seconds=round(result.seconds, 4),
        cpu=round(time.process_time() - cpu, 4),
        made=_made(use, result),
    )


def _step(step: Span) -> dict[str, Any]:
    return {"name": step.name, "way": step.way, "seconds": round(step.seconds, 4), "usage": asdict(step.total)}


def _made(use: Resources, result: Result) -> dict[str, Any]:
    """By what: version, embedder, model and the hashes of the prompts that were used."""
    prompts = {span.name: span.details["prompt"] for span in result.trace.walk() if "prompt" in span.details}
    model = use.model.model
    return {
        "version": ragways.__version__,
        "generation": use.index.generation,
        "embedder": use.index.embedder,
        "model": model.name if model is not None else "",
        "prompts": prompts,
    }
