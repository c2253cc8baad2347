"""Judging a run: every judge over every record, what was judged already left as it is. Stopped, it goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ragways
from ragways.core.errors import BudgetExceeded, NoModel, RagwaysError, UnusableReply
from ragways.core.gather import in_turn
from ragways.core.progress import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, Span, current_meter, span, spending
from ragways.evaluation.judgement import Judgement, Judgements, Key, standing
from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import mark
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.record import Record

SHOWN = 2000
"""Characters kept of a reply that could not be read."""

NO_JUDGE = "no judge"
"""Why a metric that needs a model is unscored where none is set."""

Made = Mapping[str, Any]


@dataclass
class Tally:
    """How many values came out, and why others did not; `errors` is what was said first of each reason, `again` how
    many are to be tried again.
    """

    scored: Counter[str] = field(default_factory=Counter)
    unscored: dict[str, Counter[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    again: int = 0

    @classmethod
    def of(cls, records: Iterable[Record], latest: Mapping[Key, Judgement], metrics: Sequence[Metric]) -> Tally:
        """All that is known of the records; one that failed has nothing to judge and is counted as such."""
        tally = cls()
        for record in records:
            found = standing(latest, record, [metric.name for metric in metrics])
            for metric in metrics:
                tally.add(metric.name, found[metric.name].score if metric.name in found else metric.score(record))
        return tally

    def add(self, metric: str, score: Score) -> None:
        if score.value is not None:
            self.scored[metric] += 1
            return
        self.unscored.setdefault(metric, Counter())[score.why] += 1
        self.again += bool(score.details.get("again"))
        if said := score.details.get("error") or score.details.get("reply"):
            self.errors.setdefault(score.why, str(said))


async def judge(
    resources: JudgeResources,
    records: Sequence[Record],
    judges: Sequence[Judge],
    judgements: Judgements,
    *,
    at_once: int = 1,
    budget: float | None = None,
    report: ProgressCallback = silent,
) -> Tally:
    """Ask what has not been judged yet. An unreadable reply is unscored and kept; a spent budget ends it, all kept.

    A record that failed is passed over: nothing that lasts can be said of an answer that is still to come.
    """
    done, tally = judgements.latest(), Tally()
    # By question: records of one question share evidence, whose vectors and verdicts are then at hand.
    ordered = sorted((record for record in records if not record.error), key=lambda record: record.question)
    names = [metric.name for by in judges for metric in by.metrics]
    known = [(record, standing(done, record, names)) for record in ordered]
    with spending(Budget(usd=budget)):
        for by in judges:
            work = [(record, left) for record, found in known if (left := _left(resources, by, found))]
            count = len(ordered) - len(work)

            async def one(record: Record, left: Sequence[Metric], by: Judge = by) -> None:
                nonlocal count
                for metric, score, made in await _scores(resources, record, by, left):
                    tally.add(metric.name, score)
                    new = _judgement(record, by, metric, score, made)
                    if not _same(done.get(new.key), new):
                        judgements.append(new)
                count += 1
                report(Progress(f"judging {by.name}", count, len(ordered), f"${current_meter().spent.usd:.4f}"))

            await in_turn((one(record, left) for record, left in work), at_once)
    return tally


def _left(resources: JudgeResources, by: Judge, found: Mapping[str, Judgement]) -> list[Metric]:
    """Metrics of the judge that are not settled by what was found."""
    return [metric for metric in by.metrics if not _settled(resources, by, found.get(metric.name))]


def _settled(resources: JudgeResources, by: Judge, judgement: Judgement | None) -> bool:
    """Judged, with a value or a lasting reason why there is none, and known to be of this answer. What failed is tried
    again, and so is what another model, embedder or prompt judged: one mean must not hold the verdicts of two.
    """
    if judgement is None:
        return False
    # Without a model nothing could be judged again, and what a model said before is kept.
    unjudged = by.by == "model" and resources.model.model is None and judgement.why != NO_JUDGE
    if unjudged:
        return True
    known = "of" in judgement.made and judgement.made.get("by") in (None, _name(resources, by))
    return known and not judgement.details.get("again", False) and _same_prompts(by, judgement)


def _same_prompts(by: Judge, judgement: Judgement) -> bool:
    """What was asked is what would be asked now; what a rule settled was never asked."""
    asked = judgement.made.get("prompts", {})
    return all(asked.get(task.name, task.text.hash) == task.text.hash for task in by.tasks)


def _same(before: Judgement | None, now: Judgement) -> bool:
    """Unscored as before: nothing to write down again."""
    return before is not None and now.value is None and _unscored(before) == _unscored(now)


def _unscored(one: Judgement) -> tuple[object, ...]:
    return one.value, one.why, one.details, *(one.made.get(name) for name in ("of", "by", "prompts"))


async def _scores(
    resources: JudgeResources, record: Record, by: Judge, asked: Sequence[Metric]
) -> list[tuple[Metric, Score, Made]]:
    missing = {metric.name: metric.missing(record) for metric in asked}
    found: Mapping[str, Score] = {}
    made: Made = {}
    if any(not why for why in missing.values()):
        with span(by.name) as trace:
            found = await _asked(resources, record, by)
        made = _made(resources, by, trace)
    return [
        (metric, Score(None, why), {}) if (why := missing[metric.name]) else (metric, found[metric.name], made)
        for metric in asked
    ]


async def _asked(resources: JudgeResources, record: Record, by: Judge) -> Mapping[str, Score]:
    try:
        # Even where a rule would do (an abstention): a mean of those alone would be that of no judge at all.
        if by.by == "model" and resources.model.model is None:
            raise NoModel("no model is set to judge", "set one under [judge] or [model] in the settings")
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


def _judgement(record: Record, by: Judge, metric: Metric, score: Score, made: Made) -> Judgement:
    question, paradigm, repeat = record.key
    details = _as_written(score.details)
    known = {**made, "of": mark(record)}
    return Judgement(question, paradigm, repeat, by.name, metric.name, score.value, score.why, details, known)


def _as_written(details: Mapping[str, Any]) -> dict[str, Any]:
    """As they will be read from the file again; half a character, which models do send, cannot be written."""
    text = json.dumps(details, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _name(resources: JudgeResources, by: Judge) -> str:
    """Who judges: a model, or the embedder."""
    if by.by == "embedder":
        return resources.embedder.name
    return resources.model.model.name if resources.model.model is not None else ""


def _made(resources: JudgeResources, by: Judge, trace: Span) -> Made:
    prompts = {step.name: step.details["prompt"] for step in trace.walk() if "prompt" in step.details}
    usage = trace.total
    return {
        "version": ragways.__version__,
        "by": _name(resources, by),
        **({"prompts": prompts} if prompts else {}),
        **({"tokens": usage.tokens, "usd": usage.usd} if usage.calls else {}),
    }
