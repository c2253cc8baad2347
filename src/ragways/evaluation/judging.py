"""Judge a run: every judge over every record; what was judged before stays. A stopped run of judges continues.

A judgement is the score that a judge gave one record. It is stored beside the record, so that figures need no second
call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragways.core import __version__
from ragways.core.errors import BudgetExceeded, NoModel, RagwaysError, UnusableReply
from ragways.core.log import Log
from ragways.core.runtime import Progress, ProgressCallback, in_turn, silent
from ragways.core.trace import Budget, Span, current_meter, span, spending
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.judges.judge import Judge, JudgeResources, fingerprint, same_family
from ragways.evaluation.metric import ABSTAINED, AS_TEXT, Metric, refused
from ragways.evaluation.record import Record, Score
from ragways.reading.support import support_method

FILE = "judgements.jsonl"
SHOWN = 2000
"""Characters kept of a reply that could not be read."""
NO_JUDGE = "no judge"
"""Why a metric that needs a model is unscored where none is set."""

_REFUSALS = {metric.name: metric.refusal for judge in JUDGES.values() for metric in judge.metrics}

JudgementKey = tuple[str, str, int, str]
"""Question, paradigm, repeat, metric."""


@dataclass(frozen=True, slots=True)
class JudgementOrigin:
    """How a judgement was made: by which version of ragways, by which model, embedder or reader, with which prompts
    (the hash of each by its task's name), and at what cost. `of` is the fingerprint of the record as it was then.

    `by` is None where nothing was asked; `of` is None in lines of older versions.
    """

    version: str = ""
    by: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 0
    usd: float = 0.0
    of: str | None = None


@dataclass(frozen=True)
class Judgement:
    """The value of one metric for one record. `why` is the reason a value is missing; `details` hold claims and
    verdicts, or a reply that could not be read.
    """

    question: str
    paradigm: str
    repeat: int
    judge: str
    metric: str
    value: float | None
    why: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    made: JudgementOrigin = JudgementOrigin()

    @property
    def key(self) -> JudgementKey:
        return self.question, self.paradigm, self.repeat, self.metric

    @property
    def score(self) -> Score:
        return Score(self.value, self.why, self.details)

    def is_of(self, fingerprint: str) -> bool:
        """Whether it is of the record with this fingerprint. A line without one, as older versions wrote, counts as
        such, unless its reason is that there was no answer.
        """
        return self.made.of == fingerprint if self.made.of is not None else self.why != "failed"


class Judgements(Log[Judgement]):
    """The judgements of a run, in its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, Judgement)

    def latest(self) -> dict[JudgementKey, Judgement]:
        """By key; a later judgement of the same record and metric takes the place of an earlier one."""
        return {judgement.key: judgement for judgement in self}


def current_judgements(
    latest: Mapping[JudgementKey, Judgement], record: Record, metrics: Iterable[str]
) -> dict[str, Judgement]:
    """The judgements of a record by metric: those of its present answer, not of one that has been replaced."""
    known = {name: one for name in metrics if (one := latest.get((*record.key, name))) is not None}
    if not known or record.error:
        return {}
    now = fingerprint(record)
    return {name: one for name, one in known.items() if one.is_of(now) and not _outdated(one)}


def _outdated(one: Judgement) -> bool:
    """A refusal that older versions left out, of a metric that counts it."""
    return one.why == ABSTAINED and _REFUSALS.get(one.metric, "left out") != "left out"


@dataclass
class MetricCounts:
    """How many records have a value, and how many have none, by reason."""

    scored: int = 0
    unscored: Counter[str] = field(default_factory=Counter)


@dataclass
class JudgingSummary:
    """What was judged, by metric, or the state of a whole run.

    `judge` is the model's name, empty where none judged; `same_family` are the models that answered and are of its
    family; `errors` is the first message for each reason; `again` values are to be tried again.
    """

    judge: str = ""
    embedder: str = ""
    same_family: tuple[str, ...] = ()
    usd: float = 0.0
    metrics: dict[str, MetricCounts] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    again: int = 0

    @classmethod
    def of(
        cls, records: Iterable[Record], latest: Mapping[JudgementKey, Judgement], metrics: Sequence[Metric]
    ) -> JudgingSummary:
        """The counts of all judgements of the records; a record that failed is counted as such."""
        summary = cls(metrics={metric.name: MetricCounts() for metric in metrics})
        for record in records:
            found = current_judgements(latest, record, [metric.name for metric in metrics])
            for metric in metrics:
                summary.add(metric.name, found[metric.name].score if metric.name in found else metric.score(record))
        return summary

    def add(self, metric: str, score: Score) -> None:
        """Count one value."""
        counts = self.metrics.setdefault(metric, MetricCounts())
        if score.value is not None:
            counts.scored += 1
            return
        counts.unscored[score.why] += 1
        self.again += bool(score.details.get("again"))
        if reply := score.details.get("error") or score.details.get("reply"):
            self.errors.setdefault(score.why, str(reply))


async def judge(
    resources: JudgeResources,
    records: Sequence[Record],
    judges: Sequence[Judge],
    judgements: Judgements,
    *,
    at_once: int = 1,
    budget: float | None = None,
    progress: ProgressCallback = silent,
) -> JudgingSummary:
    """Judge what has not been judged yet. An unreadable reply is unscored and stored; a spent budget ends it, and what
    was judged stays. Records that failed are left out: their answers are still to come.
    """
    done, summary = judgements.latest(), JudgingSummary()
    # By question: records of one question share evidence, whose vectors and verdicts are then at hand.
    ordered = sorted((record for record in records if not record.error), key=lambda record: record.question)
    names = [metric.name for by in judges for metric in by.metrics]
    known = [(record, current_judgements(done, record, names)) for record in ordered]
    with spending(Budget(usd=budget)):
        for by in judges:
            work = [(record, left) for record, found in known if (left := _left(resources, by, found))]
            count = len(ordered) - len(work)

            async def one(record: Record, left: Sequence[Metric], by: Judge = by) -> None:
                nonlocal count
                for metric, score, made in await _scores(resources, record, by, left):
                    summary.add(metric.name, score)
                    new = _judgement(record, by, metric, score, made)
                    if not _same(done.get(new.key), new):
                        judgements.append(new)
                count += 1
                progress(Progress(f"judging {by.name}", count, len(ordered), f"${current_meter().spent.usd:.4f}"))

            await in_turn((one(record, left) for record, left in work), at_once)
    return summary


def usable_judges(resources: JudgeResources) -> tuple[Judge, ...]:
    """All that need no model, and the others where there is one."""
    return tuple(judge for judge in JUDGES.values() if judge.by != "model" or resources.model.model is not None)


async def judge_run(
    resources: JudgeResources,
    folder: Path,
    records: Sequence[Record],
    judges: Sequence[Judge],
    *,
    at_once: int = 1,
    budget: float | None = None,
    progress: ProgressCallback = silent,
) -> JudgingSummary:
    """Judge a run in its folder; returns its state then, with what was judged before."""
    judgements, model = Judgements(folder), resources.model.model
    with spending() as meter:
        await judge(resources, records, judges, judgements, at_once=at_once, budget=budget, progress=progress)
    metrics = [metric for by in judges for metric in by.metrics]
    name = model.name if model is not None and any(by.by == "model" for by in judges) else ""
    return replace(
        JudgingSummary.of(records, judgements.latest(), metrics),
        judge=name,
        embedder=resources.embedder.name,
        same_family=tuple(other for other in dict.fromkeys(r.made.model for r in records) if same_family(name, other)),
        usd=meter.spent.usd,
    )


def _left(resources: JudgeResources, by: Judge, found: Mapping[str, Judgement]) -> list[Metric]:
    """Metrics of the judge that these judgements do not settle."""
    return [metric for metric in by.metrics if not _settled(resources, by, found.get(metric.name))]


def _settled(resources: JudgeResources, by: Judge, judgement: Judgement | None) -> bool:
    """Whether a judgement has a value or a lasting reason, and is of this answer. Failures are tried again, and so is
    what another model, embedder or prompt judged: one mean must not mix the verdicts of two.
    """
    if judgement is None:
        return False
    # Without a model nothing could be judged again, and what a model said before is kept.
    unjudged = by.by == "model" and resources.model.model is None and judgement.why != NO_JUDGE
    if unjudged:
        return True
    known = judgement.made.of is not None and judgement.made.by in (None, _name(resources, by))
    return known and not judgement.details.get("again", False) and _same_prompts(by, judgement)


def _same_prompts(by: Judge, judgement: Judgement) -> bool:
    """Whether the prompts of the judgement are those of today; a rule uses none."""
    prompts = judgement.made.prompts
    return all(prompts.get(task.name, task.text.hash) == task.text.hash for task in by.tasks)


def _same(before: Judgement | None, now: Judgement) -> bool:
    """Whether the new judgement is unscored as the one before, and need not be written."""
    return before is not None and now.value is None and _unscored(before) == _unscored(now)


def _unscored(one: Judgement) -> tuple[object, ...]:
    return one.value, one.why, one.details, one.made.of, one.made.by, one.made.prompts


async def _scores(
    resources: JudgeResources, record: Record, by: Judge, asked: Sequence[Metric]
) -> list[tuple[Metric, Score, JudgementOrigin]]:
    missing = {metric.name: metric.missing(record) for metric in asked}
    found: Mapping[str, Score] = {}
    made = JudgementOrigin()
    if any(not why for why in missing.values()):
        with span(by.name) as trace:
            found = await _asked(resources, record, by)
        made = _made(resources, by, trace)
    return [
        (metric, Score(None, why), JudgementOrigin())
        if (why := missing[metric.name])
        else (metric, _left_out(metric, record, found[metric.name]), made)
        for metric in asked
    ]


def _left_out(metric: Metric, record: Record, score: Score) -> Score:
    """A refusal that is left out of the mean keeps the value that it has as text, for whoever counts it."""
    if metric.refusal != "left out" or not refused(record) or score.value is None:
        return score
    return Score(None, ABSTAINED, {**score.details, AS_TEXT: score.value})


async def _asked(resources: JudgeResources, record: Record, by: Judge) -> Mapping[str, Score]:
    try:
        # Even where a rule would do (an abstention): a mean of those alone would be that of no judge at all.
        if by.by == "model" and resources.model.model is None:
            raise NoModel("no model is set to judge", "set one under [judge] or [model] in the settings")
        if refused(record) and all(metric.refusal == "zero" for metric in by.metrics):
            return {metric.name: Score(0.0, details={"refused": True}) for metric in by.metrics}
        return await by.score(resources, record)
    except BudgetExceeded:
        raise
    except NoModel:
        score = Score(None, NO_JUDGE, {"again": True})
    except UnusableReply as error:
        score = Score(None, "unreadable reply", {"reply": error.reply[:SHOWN], "again": True})
    except RagwaysError as error:
        score = Score(None, "the judge failed", {"error": str(error)[:SHOWN], "again": True})
    return {metric.name: score for metric in by.metrics}


def _judgement(record: Record, by: Judge, metric: Metric, score: Score, made: JudgementOrigin) -> Judgement:
    question, paradigm, repeat = record.key
    details = _as_written(score.details)
    made = replace(made, of=fingerprint(record))
    return Judgement(question, paradigm, repeat, by.name, metric.name, score.value, score.why, details, made)


def _as_written(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as they will be read from the file; half a character, which models do send, cannot be written."""
    text = json.dumps(details, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _name(resources: JudgeResources, by: Judge) -> str:
    """The name of the judging model, embedder or reader."""
    if by.by == "embedder":
        return resources.embedder.name
    if by.by == "reader":
        return support_method(resources.reader)
    return resources.model.model.name if resources.model.model is not None else ""


def _made(resources: JudgeResources, by: Judge, trace: Span) -> JudgementOrigin:
    usage = trace.total
    return JudgementOrigin(__version__, _name(resources, by), trace.prompts, usage.tokens, usage.usd)
