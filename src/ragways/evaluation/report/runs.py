"""The runs of a report, read as one: a name that two of them use for different things gets the run's name before it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError
from ragways.evaluation.metric import Metric
from ragways.evaluation.record import AnswerOrigin, Record, RunInfo
from ragways.evaluation.score import Scored, scored


@dataclass(frozen=True)
class ReportedRun:
    """A folder, the name it goes by in the report, its records as they were made, and `rows`: as they are called there.

    `paradigms` and `questions` lead from the names in its files to those in the report.
    """

    name: str
    folder: Path
    records: tuple[Record, ...]
    rows: tuple[Scored, ...]
    paradigms: dict[str, str]
    questions: dict[str, str]

    @property
    def info(self) -> RunInfo | None:
        return RunInfo.read(self.folder)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run is. `made`: by which versions, models and embedders; more than one of a kind is worth seeing.

    `date` is the day on which it began; empty where that is not known.
    """

    name: str
    records: int
    failed: int
    questions: int
    paradigms: tuple[str, ...]
    made: Mapping[str, list[str]]
    date: str = ""
    seed: int = 0
    data: Mapping[str, Any] | None = None


def run_summary(run: ReportedRun) -> RunSummary:
    """What a reader must know of a run as a whole."""
    info = run.info
    return RunSummary(
        name=run.name,
        records=len(run.rows),
        failed=sum(bool(row.record.error) for row in run.rows),
        questions=len(run.questions),
        paradigms=tuple(run.paradigms.values()),
        made=_made(row.record.made for row in run.rows),
        date=info.date if info is not None else "",
        seed=info.seed if info is not None else 0,
        data=info.data if info is not None else None,
    )


def _made(origins: Iterable[AnswerOrigin]) -> dict[str, list[str]]:
    values: dict[str, dict[str, None]] = {"version": {}, "model": {}, "embedder": {}, "preset": {}}
    for origin in origins:
        for name, known in values.items():
            if value := getattr(origin, name):
                known[value] = None
    return {name: list(known) for name, known in values.items() if known}


def read_runs(folders: Sequence[Path], *more: Metric) -> list[ReportedRun]:
    """The runs in these folders, one named twice only once; `more` are metrics beside the usual ones (`recall@20`)."""
    places = list({folder.resolve(): folder for folder in folders}.values())
    if not places:
        raise UsageError("no run was named", "name the folder of one: ragways eval report RUN")
    read = [(name, folder, list(scored(folder, *more))) for name, folder in zip(_names(places), places, strict=True)]
    for _, folder, rows in read:
        if not rows:
            raise UsageError(f"{folder} holds no record", "make some with: ragways eval run")
    twice = _twice({row.record.paradigm for row in rows} for _, _, rows in read)
    texts: dict[str, set[str]] = defaultdict(set)
    for _, _, rows in read:
        for row in rows:
            texts[row.record.question].add(row.record.text)
    # The same id with the same text is the same question, in whichever run it was asked.
    differ = {id for id, said in texts.items() if len(said) > 1}
    return [_run(name, folder, rows, twice, differ) for name, folder, rows in read]


def _run(name: str, folder: Path, rows: Sequence[Scored], twice: set[str], differ: set[str]) -> ReportedRun:
    paradigms = {row.record.paradigm: _told(row.record.paradigm, name, twice) for row in rows}
    questions = {row.record.question: _told(row.record.question, name, differ) for row in rows}
    renamed = tuple(_renamed(row, paradigms[row.record.paradigm], questions[row.record.question]) for row in rows)
    return ReportedRun(name, folder, tuple(row.record for row in rows), renamed, paradigms, questions)


def _renamed(row: Scored, paradigm: str, question: str) -> Scored:
    if (row.record.paradigm, row.record.question) == (paradigm, question):
        return row
    return replace(row, record=replace(row.record, paradigm=paradigm, question=question))


def _told(one: str, run: str, unclear: set[str]) -> str:
    return f"{run}/{one}" if one in unclear else one


def _twice(sets: Iterable[set[str]]) -> set[str]:
    return {one for one, count in Counter(one for found in sets for one in found).items() if count > 1}


def _names(folders: Sequence[Path]) -> list[str]:
    """The last parts of the paths: as many as it takes to tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-length:]) for one in parts]
        if len(set(names)) == len(names):
            break
    return names
