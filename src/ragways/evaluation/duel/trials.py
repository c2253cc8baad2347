"""The calls of a duel: the judge's test first, then lengths, then N × M trials. Stopped, it goes on where it was.

`plan_duel` says beforehand how many calls are left and what they cost about.
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
    TOLERANCE,
    TRIES,
    AlignedAnswers,
    AlignedLog,
    AnswerPair,
    DuelEntries,
    DuelRules,
    align,
    aligned_pairs,
    apart,
    words,
    worth_another,
)
from ragways.evaluation.duel.probes import probe_prompts
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
)
from ragways.evaluation.duel.selftest import SelfTest, SelfTestRuns, self_test, with_earlier
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
"""Characters kept of a reply that could not be read."""
UNREADABLE = "unreadable reply"
REFUSED = "the endpoint refused"
BATCH = 1000
"""Prompts begun together: a duel has tens of thousands, and each that waits takes memory."""
LOOKED_AT = 25
"""Prompts whose tokens are counted for the plan; the others are taken to be like them."""
NOTHING = BothPoints(AspectPoints(*([0] * len(ASPECTS))), AspectPoints(*([0] * len(ASPECTS))))


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
        if not _scored(reply):
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
            reply = replace(reply, points=_points(both, prompt))
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


def _scored(reply: DuelReply | None) -> bool:
    return reply is not None and reply.points is not None


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
        """Ask all that is not known yet. A judge that fails its test is not asked on, unless the rules say so."""
        with spending(Budget(usd=budget)):
            tested = await self._test_judge(entries)
            if not (tested.passed or self._rules.go_on):
                return
            await self._align([pair for pairs in entries.pairs.values() for pair in pairs])
            aligned = aligned_pairs(entries, self._folder)
            prompts = [duel_prompts(some, entries.texts, self._rules.trials) for some in aligned.values()]
            await self._ask_all("duel", _by_trial(prompts), self._rules.samples)

    async def _test_judge(self, entries: DuelEntries) -> SelfTest:
        prompts = probe_prompts(entries.records, entries.names, self._rules)
        await self._ask_all("testing the judge", prompts, 1)
        tested = self_test(prompts, self._judge, DuelReplies(self._folder).latest())
        runs = SelfTestRuns(self._folder)
        runs.keep(tested, self._judge, entries.names, self._rules)
        return with_earlier(tested, runs.of(self._judge))

    async def _align(self, pairs: Sequence[AnswerPair]) -> None:
        log = AlignedLog(self._folder)
        done = log.latest()
        missing = [
            pair
            for pair in pairs
            if (known := done.get(pair.key)) is None or worth_another(self._generator, pair, known)
        ]
        count = 0

        async def one(pair: AnswerPair) -> None:
            nonlocal count
            log.append(await align(self._generator, pair))
            count += 1
            self._progress(Progress("aligning lengths", count, len(missing), _spent()))

        await in_turn(map(one, missing), self._at_once)

    async def _ask_all(self, stage: str, prompts: Sequence[DuelPrompt], samples: int) -> None:
        log = DuelReplies(self._folder)
        known = log.latest()
        missing = [
            prompt
            for prompt in prompts
            if not all(_scored(known.get(prompt.key(self._judge, sample))) for sample in range(samples))
        ]
        count = 0

        async def one(prompt: DuelPrompt) -> None:
            nonlocal count
            async for reply in ask_samples(self._client, prompt, samples, self._judge, known):
                log.append(reply)
            count += 1
            self._progress(Progress(stage, count, len(missing), _spent()))

        for at in range(0, len(missing), BATCH):
            await in_turn(map(one, missing[at : at + BATCH]), self._at_once)


def _by_trial(prompts: Iterable[Iterable[DuelPrompt]]) -> list[DuelPrompt]:
    """All pairs' first trials, then their second, so that a stop leaves fewer trials and not fewer pairs."""
    return sorted((prompt for some in prompts for prompt in some), key=lambda prompt: prompt.trial)


def _spent() -> str:
    return f"${current_meter().spent.usd:.4f}"


# --- Beforehand ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuelPlan:
    """Calls that are left; `known` replies are in the folder already. `usage` estimates the judge's, without reasoning,
    and `usd` its price, None where that is not known.

    `calls` = `selftest` + `duel`. `lengths` is the most that the generator may be asked, three times for each unequal
    pair, and is not in `usage`.
    """

    selftest: int
    lengths: int
    duel: int
    known: int
    usage: Usage
    calls: int
    usd: float | None = None


def plan_duel(
    entries: DuelEntries, folder: Path, judge: DuelJudge, rules: DuelRules, *, generator: bool = True
) -> DuelPlan:
    """Lengths that are not aligned yet are taken as if they were: what will be left out is not known."""
    replies, done = DuelReplies(folder).latest(), AlignedLog(folder).latest()
    probes = probe_prompts(entries.records, entries.names, rules)
    prompts: list[DuelPrompt] = []
    lengths = 0
    for pairs in entries.pairs.values():
        aligned = []
        for pair in pairs:
            known = done.get(pair.key)
            if known is None:
                lengths += TRIES * (generator and apart(pair.answers) > TOLERANCE)
                known = AlignedAnswers(*pair.key, answers=_levelled(pair.answers))
            aligned.append(known)
        prompts += duel_prompts(aligned, entries.texts, rules.trials)
    testing = [_missing(prompt, 1, judge, replies) for prompt in probes]
    dueling = [_missing(prompt, rules.samples, judge, replies) for prompt in prompts]
    left = [prompt for prompt, calls in zip((*probes, *prompts), (*testing, *dueling), strict=True) if calls]
    calls = sum(testing) + sum(dueling)
    return DuelPlan(
        selftest=sum(testing),
        lengths=lengths,
        duel=sum(dueling),
        known=sum(_scored(one) for one in replies.values() if (one.judge, one.mode) == (judge.name, judge.mode)),
        usage=_usage(left, calls, judge),
        calls=calls,
    )


def _levelled(answers: tuple[str, str]) -> tuple[str, str]:
    """Both at the longer one's length, so that no pair is taken for one that is left out."""
    longest = max(map(words, answers))
    first, second = (text + " …" * (longest - words(text)) for text in answers)
    return first, second


def _missing(prompt: DuelPrompt, samples: int, judge: DuelJudge, replies: Mapping[ReplyKey, DuelReply]) -> int:
    missing = sum(not _scored(replies.get(prompt.key(judge, sample))) for sample in range(samples))
    return missing + (judge.mode == "differential" and missing > 0)


def _usage(left: Sequence[DuelPrompt], calls: int, judge: DuelJudge) -> Usage:
    if not left:
        return Usage()
    looked = left[:: -(-len(left) // LOOKED_AT)]
    task = DUEL_SCORE if judge.mode == "whole" else DUEL_DIFFERENCE
    sizes = [count_call(task.call(DuelInput(prompt.text, *prompt.in_order))) for prompt in looked]
    reply = count_text(json.dumps(asdict(NOTHING)))
    return Usage(calls=calls, input=calls * sum(sizes) // len(sizes), output=calls * reply)
