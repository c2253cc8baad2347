"""The duels of a run, from their lines alone: one result for each judge, mode and prompt that was used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragways.evaluation.duel.contest import contest
from ragways.evaluation.duel.lengths import Lengths
from ragways.evaluation.duel.line import Line, Lines
from ragways.evaluation.duel.result import result
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.sitting import Judged
from ragways.evaluation.report.runs import Run


def duels_data(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [{"run": run.name, **_named(data, run)} for run in runs for data in _results(run)]


def _results(run: Run) -> Iterator[dict[str, Any]]:
    by: dict[Judged, list[Line]] = {}
    for line in Lines(run.folder):
        by.setdefault(Judged(line.judge, line.prompt, line.mode), []).append(line)
    known = {record.paradigm for record in run.records}
    for judged, lines in by.items():
        fought = [line for line in lines if line.kind == "duel"]
        names = sorted({name for line in fought or lines for name in (line.a, line.b)} & known)
        if len(names) < 2:
            continue
        # As often as it was fought so far: the files do not say how often it was meant to be.
        trials = max((line.trial for line in fought), default=0) + 1
        samples = max((line.sample for line in fought), default=0) + 1
        rules = Rules(trials, samples, judged.mode)
        entries = contest(run.records, rules, names, limit=_limit(run, fought))
        yield result(entries, run.folder, judged, rules).data()


def _limit(run: Run, fought: Sequence[Line]) -> int | None:
    """A duel over the first questions alone is not an unfinished one over all."""
    if not fought:
        return None
    asked = {line.question for line in fought} | {one.question for one in Lengths(run.folder).latest().values()}
    order = list(dict.fromkeys(record.question for record in run.records))
    return max((place for place, question in enumerate(order, start=1) if question in asked), default=None)


def _named(data: dict[str, Any], run: Run) -> dict[str, Any]:
    """As the paradigms are called in the report."""
    name = run.paradigms
    for pair in data["pairs"]:
        verdict = pair["verdict"]
        pair |= {"a": name[pair["a"]], "b": name[pair["b"]]}
        pair["verdict"] = verdict | {"winner": name.get(verdict["winner"], "")}
    data["map"]["names"] = [name[one] for one in data["map"]["names"]]
    return data
