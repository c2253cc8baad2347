"""The duels of a run, from the judge's replies alone: one result for each judge, mode and prompt that was used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragways.core.plain import to_plain
from ragways.evaluation.duel.entries import AlignedLog, DuelRules, duel_entries
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies, DuelReply, times_asked
from ragways.evaluation.duel.result import DuelResult, duel_result
from ragways.evaluation.report.runs import Run


def duels_data(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [{"run": run.name, **to_plain(_named(result, run))} for run in runs for result in _results(run)]


def _results(run: Run) -> Iterator[DuelResult]:
    by: dict[DuelJudge, list[DuelReply]] = {}
    for reply in DuelReplies(run.folder):
        by.setdefault(DuelJudge(reply.judge, reply.prompt, reply.mode), []).append(reply)
    known = {record.paradigm for record in run.records}
    for judge, replies in by.items():
        fought = [reply for reply in replies if reply.kind == "duel"]
        names = sorted({name for reply in fought or replies for name in (reply.a, reply.b)} & known)
        if len(names) < 2:
            continue
        rules = DuelRules(*times_asked(replies), judge.mode)
        entries = duel_entries(run.records, rules, names, limit=_limit(run, fought))
        yield duel_result(entries, run.folder, judge, rules)


def _limit(run: Run, fought: Sequence[DuelReply]) -> int | None:
    """A duel over the first questions alone is not an unfinished one over all."""
    if not fought:
        return None
    asked = {reply.question for reply in fought} | {aligned.question for aligned in AlignedLog(run.folder)}
    order = list(dict.fromkeys(record.question for record in run.records))
    return max((place for place, question in enumerate(order, start=1) if question in asked), default=None)


def _named(result: DuelResult, run: Run) -> DuelResult:
    """As the paradigms are called in the report."""
    name = run.paradigms
    pairs = tuple(
        replace(
            pair,
            a=name[pair.a],
            b=name[pair.b],
            verdict=replace(pair.verdict, winner=name.get(pair.verdict.winner, "")),
        )
        for pair in result.pairs
    )
    return replace(result, pairs=pairs, map=replace(result.map, names=tuple(name[one] for one in result.map.names)))
