"""The calls of a duel: the judge's test first, then lengths, then N × M trials. Stopped, it goes on where it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.core.gather import in_turn
from ragways.core.progress import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, current_meter, spending
from ragways.evaluation.duel.contest import Contest
from ragways.evaluation.duel.lengths import Aligned, Lengths, align, key_of, worth_another
from ragways.evaluation.duel.line import Lines
from ragways.evaluation.duel.pair import Pair
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.score import settled, sit
from ragways.evaluation.duel.selftest import SelfTest, selftest, selftest_sittings
from ragways.evaluation.duel.sitting import Sitting, judged_by, sittings

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

BATCH = 1000
"""Sittings begun together: a duel has tens of thousands, and each that waits takes memory."""


class Trials:
    """A judge's client, the folder of a run where every reply is kept, and how many calls may be under way at once."""

    def __init__(
        self,
        judge: ModelClient,
        generator: ModelClient | None,
        folder: Path,
        rules: Rules,
        *,
        at_once: int = 16,
        report: ProgressCallback = silent,
    ) -> None:
        self._client = judge
        self._generator = generator
        self._folder = folder
        self._rules = rules
        self._at_once = at_once
        self._report = report
        self._by = judged_by(judge.model.name if judge.model is not None else "", rules.mode)

    async def run(self, contest: Contest, *, budget: float | None = None) -> None:
        """Ask all that is not known yet. A judge that fails its test is not asked on, unless the rules say so."""
        with spending(Budget(usd=budget)):
            tested = await self._tested(contest)
            if not (tested.passed or self._rules.go_on):
                return
            await self._aligned([pair for pairs in contest.pairs.values() for pair in pairs])
            aligned = aligned_pairs(contest, self._folder)
            work = [
                sitting
                for trials in _by_trial(
                    [sittings(some, contest.texts, self._rules.trials) for some in aligned.values()]
                )
                for sitting in trials
            ]
            await self._sat("duel", work, self._rules.samples)

    async def _tested(self, contest: Contest) -> SelfTest:
        wanted = selftest_sittings(contest.records, contest.names, self._rules)
        await self._sat("testing the judge", wanted, 1)
        return selftest(wanted, self._by, Lines(self._folder).latest())

    async def _aligned(self, pairs: Sequence[Pair]) -> None:
        lengths = Lengths(self._folder)
        done = lengths.latest()
        missing = [
            pair
            for pair in pairs
            if (known := done.get(key_of(pair))) is None or worth_another(self._generator, pair, known)
        ]
        count = 0

        async def one(pair: Pair) -> None:
            nonlocal count
            lengths.append(await align(self._generator, pair))
            count += 1
            self._report(Progress("aligning lengths", count, len(missing), _spent()))

        await in_turn(map(one, missing), self._at_once)

    async def _sat(self, stage: str, wanted: Sequence[Sitting], samples: int) -> None:
        lines = Lines(self._folder)
        known = lines.latest()
        missing = [
            sitting
            for sitting in wanted
            if not all(settled(known.get(sitting.key(self._by, sample))) for sample in range(samples))
        ]
        count = 0

        async def one(sitting: Sitting) -> None:
            nonlocal count
            async for line in sit(self._client, sitting, samples, self._by, known):
                lines.append(line)
            count += 1
            self._report(Progress(stage, count, len(missing), _spent()))

        for at in range(0, len(missing), BATCH):
            await in_turn(map(one, missing[at : at + BATCH]), self._at_once)


def aligned_pairs(contest: Contest, folder: Path) -> dict[tuple[str, str], list[Aligned]]:
    """What was aligned already, pair by pair."""
    done = Lengths(folder).latest()
    return {two: [done[key] for pair in pairs if (key := key_of(pair)) in done] for two, pairs in contest.pairs.items()}


def _by_trial(works: Sequence[Iterable[Sitting]]) -> list[list[Sitting]]:
    """All pairs' first trials, then their second, so that a stop leaves fewer trials and not fewer pairs."""
    found: dict[int, list[Sitting]] = {}
    for work in works:
        for sitting in work:
            found.setdefault(sitting.trial, []).append(sitting)
    return [found[trial] for trial in sorted(found)]


def _spent() -> str:
    return f"${current_meter().spent.usd:.4f}"
