"""The calls of a duel: the judge's control, then lengths, then N × M trials with the test of its taste among them.

Stopped, it continues where it was. `plan_duel` says beforehand how many calls are left and what they cost about.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ragways.core import __version__
from ragways.core.errors import ModelRefused, UnusableReply
from ragways.core.runtime import Progress, ProgressCallback, in_turn, silent
from ragways.core.trace import Budget, Usage, current_meter, span, spending
from ragways.evaluation.duel.entries import (
    TRIES,
    AlignedAnswers,
    AlignedLog,
    AnswerPair,
    DuelEntries,
    DuelRules,
    align,
    aligned_pairs,
    renewable,
)
from ragways.evaluation.duel.replies import (
    DuelJudge,
    DuelPrompt,
    DuelReplies,
    DuelReply,
    Points,
    ReplyCost,
    ReplyKey,
    duel_judge,
    duel_prompts,
    scored,
)
from ragways.evaluation.duel.taste import JudgeTest, control_prompts, judge_test, taste_prompts, too_few
from ragways.models.limits import count_call
from ragways.models.tokens import count_text
from ragways.tasks.duel import (
    ASPECTS,
    DUEL_DIFFERENCE,
    DUEL_DIFFERENTIAL,
    DUEL_SCORE,
    AspectPoints,
    BothPoints,
    Differences,
    DuelDifferentialInput,
    DuelInput,
)

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

SHOWN = 2000
"""Characters kept of a reply that could not be read, and of a judge's reason."""
UNREADABLE = "unreadable reply"
REFUSED = "the endpoint refused"
BATCH = 1000
"""Prompts begun together: a duel has tens of thousands, and each that waits takes memory."""
LOOKED_AT = 25
"""Prompts whose tokens are counted for the plan; the others are taken to be like them."""
NOTHING = BothPoints("", AspectPoints(*([0] * len(ASPECTS))), AspectPoints(*([0] * len(ASPECTS))))


# --- One prompt ---------------------------------------------------------------------------------------------------


async def ask_samples(
    client: ModelClient, prompt: DuelPrompt, samples: int, judge: DuelJudge, known: Mapping[ReplyKey, DuelReply]
) -> AsyncIterator[DuelReply]:
    """A reply for each sample that has no points yet, as soon as it is there: what was paid for must not be lost.

    `known` are the replies so far; one that could not be read is asked for again.
    """
    replies = {sample: known.get(prompt.key(judge, sample)) for sample in range(samples)}
    listed = next((reply.said for reply in replies.values() if reply is not None and reply.said), None)
    differences = _turned(Differences(*listed), prompt) if listed is not None else None
    for sample, reply in replies.items():
        if not scored(reply):
            made, differences = await _ask(client, prompt, sample, judge, differences)
            yield made


async def _ask(
    client: ModelClient, prompt: DuelPrompt, sample: int, judge: DuelJudge, differences: Differences | None
) -> tuple[DuelReply, Differences | None]:
    reply = prompt.blank_reply(judge, sample)
    with span("duel") as trace:
        try:
            if judge.mode == "differential":
                differences = differences or await _differences(client, prompt)
                both = await _differential_points(client, prompt, sample, differences)
            else:
                task = replace(DUEL_SCORE, sample=prompt.number(sample))
                both = (await client.do(task, DuelInput(prompt.text, *prompt.in_order))).value
            reply = replace(reply, points=_points(both, prompt), reason=both.why[:SHOWN])
        except UnusableReply as error:
            reply = replace(reply, why=UNREADABLE, reply=error.reply[:SHOWN])
        except ModelRefused as error:
            reply = replace(reply, why=REFUSED, reply=str(error)[:SHOWN])
    usage = trace.total
    made = ReplyCost(__version__, usage.calls, usage.tokens, usage.usd)
    if differences is None:
        return replace(reply, made=made), None
    of_a_and_b = _turned(differences, prompt)
    return replace(reply, made=made, said=(of_a_and_b.first, of_a_and_b.second)), differences


async def _differences(client: ModelClient, prompt: DuelPrompt) -> Differences:
    """What only one of the two says. Asked once a prompt: its samples judge the same lists."""
    task = replace(DUEL_DIFFERENCE, sample=prompt.number(0))
    found = (await client.do(task, DuelInput(prompt.text, *prompt.in_order))).value
    return Differences(_stripped(found.first), _stripped(found.second))


async def _differential_points(
    client: ModelClient, prompt: DuelPrompt, sample: int, differences: Differences
) -> BothPoints:
    """Where neither says anything of its own there is nothing to judge: a tie, without a call."""
    if not differences.first and not differences.second:
        return NOTHING
    task = replace(DUEL_DIFFERENTIAL, sample=prompt.number(sample))
    given = DuelDifferentialInput(prompt.text, differences.first, differences.second)
    return (await client.do(task, given)).value


def _stripped(statements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(statement.strip() for statement in statements if statement.strip())


def _points(both: BothPoints, prompt: DuelPrompt) -> tuple[Points, Points]:
    first, second = cast(Points, both.first.values()), cast(Points, both.second.values())
    return (first, second) if prompt.order == "ab" else (second, first)


def _turned(differences: Differences, prompt: DuelPrompt) -> Differences:
    """Between "a and b", as it is kept, and "first and second", as it is shown: the same step both ways."""
    return differences if prompt.order == "ab" else Differences(differences.second, differences.first)


# --- All of them --------------------------------------------------------------------------------------------------


class Trials:
    """A judge's client, the folder of a run where every reply is kept, and how many calls may be under way at once.

    `generator` writes answers again that are too short; None leaves such pairs out.
    """

    def __init__(
        self,
        judge: ModelClient,
        generator: ModelClient | None,
        folder: Path,
        rules: DuelRules,
        *,
        at_once: int = 16,
        progress: ProgressCallback = silent,
    ) -> None:
        self._client = judge
        self._generator = generator
        self._folder = folder
        self._rules = rules
        self._at_once = at_once
        self._progress = progress
        self._judge = duel_judge(judge.model.name if judge.model is not None else "", rules.mode)

    async def run(self, entries: DuelEntries, *, budget: float | None = None) -> None:
        """Ask all that is not known yet. Unless the rules say so, nothing is asked where no reply could make a verdict,
        and a judge that fails its control is not asked on.
        """
        if too_few(entries) and not self._rules.go_on:
            return
        with spending(Budget(usd=budget)):
            if not (await self._test_judge(entries)).passed and not self._rules.go_on:
                return
            await self._align([pair for pairs in entries.pairs.values() for pair in pairs])
            aligned = aligned_pairs(entries, self._folder)
            if too_few(entries, aligned) and not self._rules.go_on:
                return
            await self._ask_all("duel", prompts_in_order(aligned.values(), entries.texts, self._rules))

    async def _test_judge(self, entries: DuelEntries) -> JudgeTest:
        prompts = control_prompts(entries.records)
        await self._ask_all("testing the judge", prompts)
        return judge_test(prompts, self._judge, DuelReplies(self._folder).latest())

    async def _align(self, pairs: Sequence[AnswerPair]) -> None:
        log = AlignedLog(self._folder)
        done = log.latest()
        missing = [
            pair
            for pair in pairs
            if (known := done.get(pair.key)) is None
            or (not known.usable and not known.again and renewable(self._generator, pair))
        ]
        count = 0

        async def one(pair: AnswerPair) -> None:
            nonlocal count
            log.append(await align(self._generator, pair))
            count += 1
            self._progress(Progress("aligning lengths", count, len(missing), _spent()))

        await in_turn(map(one, missing), self._at_once)

    async def _ask_all(self, stage: str, prompts: Sequence[DuelPrompt]) -> None:
        log = DuelReplies(self._folder)
        known = log.latest()
        missing = [prompt for prompt in prompts if _missing(prompt, self._rules, self._judge, known)]
        count = 0

        async def one(prompt: DuelPrompt) -> None:
            nonlocal count
            samples = samples_of(prompt, self._rules)
            async for reply in ask_samples(self._client, prompt, samples, self._judge, known):
                log.append(reply)
            count += 1
            self._progress(Progress(stage, count, len(missing), _spent()))

        for at in range(0, len(missing), BATCH):
            await in_turn(map(one, missing[at : at + BATCH]), self._at_once)


def prompts_in_order(
    aligned: Iterable[Sequence[AlignedAnswers]], texts: dict[str, str], rules: DuelRules
) -> list[DuelPrompt]:
    """The prompts of all pairs, trial by trial, so that a stop leaves fewer trials and not fewer pairs. The test of the
    judge's taste is spread evenly over each trial.
    """
    placed: list[tuple[float, DuelPrompt]] = []
    for some in aligned:
        for prompts in (list(duel_prompts(some, texts, rules.trials)), taste_prompts(some, texts, rules.trials)):
            each = len(prompts) / rules.trials
            placed += [((at + 0.5) / each, prompt) for at, prompt in enumerate(prompts)]
    return [prompt for _, prompt in sorted(placed, key=lambda one: one[0])]


def samples_of(prompt: DuelPrompt, rules: DuelRules) -> int:
    """How often a prompt is asked."""
    return rules.samples if prompt.kind == "duel" else 1


def _spent() -> str:
    return f"${current_meter().spent.usd:.4f}"


# --- Beforehand ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuelPlan:
    """Calls that are left; `known` replies are in the folder already. `usage` estimates the judge's, without reasoning,
    and `usd` its price, None where that is not known.

    `calls` = `selftest` + `duel`. `lengths` is the most that the generator may be asked, three times for each answer of
    an unequal pair, and is not in `usage`. `too_few` says why nothing is asked; empty where something is.
    """

    selftest: int
    lengths: int
    duel: int
    known: int
    usage: Usage
    calls: int
    usd: float | None = None
    too_few: str = ""


def plan_duel(
    entries: DuelEntries, folder: Path, judge: DuelJudge, rules: DuelRules, *, generator: bool = True
) -> DuelPlan:
    """Lengths that are not aligned yet are taken as if they were: what will be left out is not known."""
    replies, done = DuelReplies(folder).latest(), AlignedLog(folder).latest()
    lengths, why = 0, "" if rules.go_on else too_few(entries)
    every: list[list[AlignedAnswers]] = []
    for pairs in () if why else entries.pairs.values():
        aligned = [done.get(pair.key) or AlignedAnswers(*pair.key, answers=pair.answers) for pair in pairs]
        unequal = [one for one in aligned if not one.usable and not one.again]
        lengths += 2 * TRIES * len(unequal) * generator
        every.append([replace(one, answers=_levelled(one.answers)) if one in unequal else one for one in aligned])
    controls = [] if why else control_prompts(entries.records)
    prompts = [*controls, *prompts_in_order(every, entries.texts, rules)]
    missing = [_missing(prompt, rules, judge, replies) for prompt in prompts]
    dueling = sum(count for prompt, count in zip(prompts, missing, strict=True) if prompt.kind == "duel")
    return DuelPlan(
        selftest=sum(missing) - dueling,
        lengths=lengths,
        duel=dueling,
        known=sum(scored(one) for one in replies.values() if (one.judge, one.mode) == (judge.name, judge.mode)),
        usage=_usage([one for one, count in zip(prompts, missing, strict=True) if count], sum(missing), judge),
        calls=sum(missing),
        too_few=why,
    )


def _levelled(answers: tuple[str, str]) -> tuple[str, str]:
    """The longer one twice, with one word more: so no pair is taken for one that is left out, or ties."""
    longer = max(answers, key=len)
    return longer, f"{longer} …"


def _missing(prompt: DuelPrompt, rules: DuelRules, judge: DuelJudge, replies: Mapping[ReplyKey, DuelReply]) -> int:
    samples = range(samples_of(prompt, rules))
    missing = sum(not scored(replies.get(prompt.key(judge, sample))) for sample in samples)
    return missing + (judge.mode == "differential" and missing > 0)


def _usage(left: Sequence[DuelPrompt], calls: int, judge: DuelJudge) -> Usage:
    if not left:
        return Usage()
    looked = left[:: -(-len(left) // LOOKED_AT)]
    task = DUEL_SCORE if judge.mode == "whole" else DUEL_DIFFERENCE
    sizes = [count_call(task.call(DuelInput(prompt.text, *prompt.in_order))) for prompt in looked]
    reply = count_text(json.dumps(asdict(NOTHING)))
    return Usage(calls=calls, input=calls * sum(sizes) // len(sizes), output=calls * reply)
