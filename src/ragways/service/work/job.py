"""The work of jobs, each in a child process of its own: indexing, planning, making questions, evaluating.

A job that is begun again goes on where it was: the index keeps what was worked or paid for, and a run its answers.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from ragways.core.errors import RagwaysError, UsageError
from ragways.core.plain import to_plain
from ragways.core.runtime import Progress, ProgressCallback
from ragways.settings import Settings

ROOT = "files"
"""The name that an index remembers its files by: they may lie elsewhere after a restore."""
MOST_NAMED = 1000
"""Files that could not be read and are named in a result; all are counted."""
_SECONDS = 0.1  # between two lines about one stage
_NICE = 10


@dataclass(frozen=True, slots=True)
class JobWork:
    """A job: the settings (with the collection's index), its folders, its arguments, and where to report progress."""

    settings: Settings
    folder: Path
    state: Path
    files: Path | None
    arguments: dict[str, Any]
    id: str
    progress: ProgressCallback

    @property
    def index(self) -> Path:
        return self.settings.index


# The kinds of jobs


async def _index(work: JobWork) -> dict[str, Any]:
    """Bring the index up to date with the files; show that what was removed is gone."""
    from ragways.assemble import recipe_of
    from ragways.index.build import build
    from ragways.retrieval.as_plain import usage_data
    from ragways.service.work.erasure import UNERASED, erase, leaving

    files, rebuild = _uploaded(work), bool(work.arguments.get("rebuild"))
    recipe = recipe_of(work.settings, work.arguments["layers"])
    before = leaving(work.folder, work.index, files)
    erasing = (work.folder / UNERASED).exists()
    run = partial(build, work.index, [files], recipe, progress=work.progress, root=ROOT)
    summary = await run(rebuild=rebuild, erase=erasing and not rebuild)
    if rebuild and erasing:  # not before the new rows are whole: until then questions are answered from the old ones
        again = await run(erase=True)
        summary.erasure, summary.usage = again.erasure, summary.usage + again.usage
    seconds = {stage: round(s, 3) for stage, s in summary.seconds.items()}
    result = {**to_plain(summary), "usage": usage_data(summary.usage), "seconds": seconds}
    del result["erasure"]
    if summary.erasure is not None:
        work.progress(Progress("erasure", 0))
        report = await erase(work.folder, work.index, before, work.state, summary.erasure)
        result["erasure"] = {"erased": report.erased, **to_plain(report)}
    return result | _named(summary.failed, "failed") | _named(summary.skipped, "skipped")


async def _plan(work: JobWork) -> dict[str, Any]:
    """What an index job would do and cost."""
    from ragways.assemble import recipe_of
    from ragways.index.plan import plan

    recipe = recipe_of(work.settings, work.arguments["layers"])
    planned = await plan(work.index, [_uploaded(work)], recipe, progress=work.progress, root=ROOT)
    result = {"documents": planned.documents, **to_plain(planned)}
    return result | _named(planned.failed, "failed") | _named(planned.skipped, "skipped")


async def _questions(work: JobWork) -> dict[str, Any]:
    """Make a set of questions from the corpus."""
    from ragways.assemble import opened
    from ragways.evaluation.questions.generate import generate, write

    wanted = work.arguments
    async with opened(work.settings) as use:
        made = await generate(
            use,
            kinds=wanted.get("kinds") or None,
            count=wanted["count"],
            seed=wanted["seed"],
            without_model=bool(wanted.get("without_model")),
            progress=work.progress,
        )
    write(made, work.folder / "questions" / f"{wanted['name']}.jsonl")
    return {"name": wanted["name"], "questions": len(made.questions), **made.about}


async def _evaluate(work: JobWork) -> dict[str, Any]:
    """Ask a set of questions of some paradigms, score the answers, and write the report."""
    from ragways.asynchronous import AsyncCorpus
    from ragways.evaluation.datasets import load_questions
    from ragways.evaluation.score import nested
    from ragways.experiment import aevaluate
    from ragways.service.feedback import FEEDBACK, Feedback
    from ragways.service.state import State

    wanted = work.arguments
    if wanted["questions"] == FEEDBACK:
        with closing(State(work.state)) as state, NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(Feedback(state).lines(work.folder.name))
            file.flush()
            questions = load_questions("plain", Path(file.name))
    else:
        questions = load_questions("plain", work.folder / "questions" / f"{wanted['questions']}.jsonl")
    questions = questions[: wanted.get("limit")]
    folder = work.folder / "runs" / work.id
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    metrics = {"metrics": wanted["metrics"]} if wanted.get("metrics") else {}
    async with await AsyncCorpus(work.settings, None, None).open() as corpus:
        evaluation = await aevaluate(
            corpus,
            questions,
            wanted["paradigms"],
            out=folder,
            repeats=wanted["repeats"],
            seed=wanted["seed"],
            progress=work.progress,
            **metrics,
        )
    work.progress(Progress("report", 0))
    routing, why = _report(folder)
    figures = {
        "run": work.id,
        "questions": wanted["questions"],
        "asked": len(questions),
        "metrics": list(evaluation.metrics),
        "paradigms": to_plain(nested(evaluation.tables)),
        "routing": routing,
        "no_routing": why,
    }
    draft = folder / "figures.json.draft"
    draft.write_text(json.dumps(figures, ensure_ascii=False), encoding="utf-8")
    draft.replace(folder / "figures.json")  # last: a run with figures is whole
    return figures


def _report(folder: Path) -> tuple[dict[str, Any] | None, str]:
    """Write the report of a run. Returns how a router compares with the paradigms, or why that is not known."""
    from ragways.evaluation.answers import report_data
    from ragways.evaluation.record import Run
    from ragways.evaluation.report import read_runs, report
    from ragways.evaluation.routing.evaluate import routing_tables
    from ragways.pictures.report import report_page
    from ragways.pictures.shell import write_page

    runs, why, routed = read_runs([Run(folder)]), "", None
    try:
        _, routed = routing_tables([folder])
    except UsageError as error:
        why = error.message
    data = report_data(report(runs), runs, routed)
    write_page(folder / "report.html", report_page(data))
    return data.get("routing"), why


KINDS: dict[str, Callable[[JobWork], Awaitable[dict[str, Any]]]] = {
    "index": _index,
    "plan": _plan,
    "questions": _questions,
    "evaluate": _evaluate,
}


def _uploaded(work: JobWork) -> Path:
    if work.files is None:
        raise RagwaysError("this collection is only read", "index its folder where it was made")
    return work.files


def _named(entries: list[Any], name: str) -> dict[str, Any]:
    """Files by the names they were uploaded under, each with its reason."""
    named = [{"path": entry.key.removeprefix(f"{ROOT}/"), "reason": entry.reason} for entry in entries[:MOST_NAMED]]
    return {name: named, f"{name}_count": len(entries)}


# Running one


class Reporter:
    """Sends progress: of each stage at most ten reports a second, and always the first and the last."""

    def __init__(self, emit: Callable[[str, Any], None]) -> None:
        self._emit = emit
        self._sent = 0.0
        self._last = Progress("", 0)
        self._waiting = False

    def progress(self, progress: Progress) -> None:
        """Send how far it is, now or with the next."""
        now = time.monotonic()
        if self._waiting and progress.stage != self._last.stage:
            self._send(self._last)
        self._waiting = progress.stage == self._last.stage and now - self._sent < _SECONDS
        self._last = progress
        if not self._waiting:
            self._sent = now
            self._send(progress)

    def _send(self, progress: Progress) -> None:
        self._emit("progress", {**to_plain(progress), "note": progress.note.removeprefix(f"{ROOT}/")[:200]})


async def run_job(settings: Settings, given: dict[str, Any], emit: Callable[[str, Any], None]) -> dict[str, Any]:
    """Do a job, as `Jobs` describes it."""
    with suppress(OSError):
        os.nice(_NICE)  # questions go first
    work = JobWork(
        settings.model_copy(update={"index": Path(given["index"])}),
        Path(given["folder"]),
        Path(given["state"]),
        None if given["files"] is None else Path(given["files"]),
        given["arguments"],
        given["id"],
        Reporter(emit).progress,
    )
    return await KINDS[given["kind"]](work)
