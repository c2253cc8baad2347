"""Does a duel find the right winner, and none where the judge is biased? Simulated judges, the real way of judging.

    python -m benchmarks.duel [--seeds 60] [--from 1000] [--questions 150] [--trials 1] [--part tuned] [--json]

Every run goes through the normal form, alignment of lengths, the judge's test on itself, all prompts in both orders,
and statistics. Only the models are made up, and what lies between them and the replies (texts of prompts, JSON, lines
on disk) is left out, as it takes most of the time. An answer carries its true quality as a number between 0 and 1 in
its text ("quality 0.70"), which the judge reads. A fair judge gives each aspect 5 × quality points and normal noise of
0.8, rounded and kept in 0..5. An answer also says which thing it is about; where that is not the question's, a fair
judge takes its comprehensiveness, relevance and directness to be 0, as the rubric says. N = 2 as by default; M is
`--trials`.

Biased judges are fair ones with something added, `bonus` points on every aspect for the answer that wears more of what
the judge likes (`likes`), if it does so clearly; a's answers wear it (`dress`), b's do not. `strong` is a bonus of 0.75
(3 points of 20), `weak` of 0.15 (0.6 of 20). `knows`: fair wherever an answer meets itself, its copy with something
before or after it, or an answer to another question, so that a test made of such pairs finds nothing. `place`: points
for the first place. `mute`: how often a reply is unreadable where a's answer is the worse one. `crash`: how often a's
answer is missing there. Others prefer a side 4 times of 5 whatever the quality (`first`, `longer`), or are blind.

Scenarios of the part `tuned` were looked at while the procedure was made (seeds below 1,000), those of `held` were
not; figures are reported on seeds from 1,000 on. `power` are fair judges of unequal systems.

What "20 points" means is said by each scenario. `fixed`: of the 150 questions exactly so many are truly won and lost
(60 and 40 %: 90 and 60), and only the judge is uncertain. `drawn`: each question's outcome is drawn with that chance,
so that some draws of 150 questions show less, or the opposite. `quality-20`: the mean quality differs by 20 points of
100, with a deviation of 25 from question to question; that is one point of 5 on each aspect.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ragways.core.runtime import limit_threads

limit_threads()

from benchmarks.simulated_judges import (  # noqa: E402
    JUDGE,
    SCENARIOS,
    Scenario,
    SimulatedGenerator,
    SimulatedJudge,
    dressed,
    text_of,
)
from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules, PairNames, align, duel_entries  # noqa: E402
from ragways.evaluation.duel.probes import probe_prompts  # noqa: E402
from ragways.evaluation.duel.replies import duel_prompts  # noqa: E402
from ragways.evaluation.duel.result import DuelResult, result_of  # noqa: E402
from ragways.evaluation.duel.selftest import ProbeResult, SelfTest, self_test  # noqa: E402
from ragways.evaluation.record import AnswerOrigin, EvidenceItem, Record  # noqa: E402

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

NAMES = ("alpha-rag", "beta-rag")


def qualities(scenario: Scenario, questions: int, dice: random.Random) -> list[tuple[float, float]]:
    if scenario.quality is not None:
        apart = [dice.gauss(scenario.quality, 0.25) for _ in range(questions)]
        return [(min(1.0, max(0.0, 0.5 + d / 2)), min(1.0, max(0.0, 0.5 - d / 2))) for d in apart]
    kinds = [(0.7, 0.5), (0.6, 0.6), (0.5, 0.7)]
    if scenario.drawn:
        return dice.choices(kinds, weights=scenario.split, k=questions)
    counts = [round(share * questions) for share in scenario.split]
    return [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]


def records_of(scenario: Scenario, questions: int, seed: int) -> list[Record]:
    """Answers of like length where a wears a style: written again, they would lose it."""
    dice = random.Random(f"{scenario.name}|{seed}")
    found = []
    for at, pair in enumerate(qualities(scenario, questions, dice)):
        lost = pair[0] < pair[1] and dice.random() < scenario.crash
        for name, quality, end in zip(NAMES, pair, ("indeed, so.", "in truth."), strict=True):
            evidence = (EvidenceItem("e", title="Log", text=f"quality {quality:.4f} of thing {at}", score=1.0),)
            text = text_of(
                quality, dice.randint(58, 60) if scenario.dress else dice.randint(30, 90), str(at), dice, end
            )
            if scenario.dress and name == NAMES[0]:
                text = dressed(text, scenario.dress, dice)
            error = "down" if lost and name == NAMES[0] else ""
            found.append(Record(f"q{at}", f"What of thing {at}?", "", (), name, 0, "" if error else text, error=error,
                                evidence=evidence, made=AnswerOrigin(model="writer-1")))  # fmt: skip
    return found


async def simulate(scenario: Scenario, questions: int, rules: DuelRules, seed: int) -> DuelResult:
    entries = duel_entries(records_of(scenario, questions, seed), rules)
    judge, generator = SimulatedJudge(seed, scenario), cast("ModelClient", SimulatedGenerator(seed))
    probes = probe_prompts(entries.records, entries.names, rules)
    replies = [judge.reply(prompt, 0) for prompt in probes]
    tested = self_test(probes, JUDGE, {reply.key: reply for reply in replies})
    aligned: dict[PairNames, list[AlignedAnswers]] = {names: [] for names in entries.pairs}
    if tested.passed or rules.go_on:
        for names, pairs in entries.pairs.items():
            aligned[names] = [await align(generator, pair) for pair in pairs]
            prompts = duel_prompts(aligned[names], entries.texts, rules.trials)
            replies += [judge.reply(prompt, sample) for prompt in prompts for sample in range(rules.samples)]
    return result_of(entries, JUDGE, rules, replies, aligned, tested)


def _probes(tested: SelfTest) -> tuple[ProbeResult, ...]:
    return tested.position, tested.length, tested.control, *tested.styles


def measure(scenario: Scenario, seeds: Sequence[int], questions: int, rules: DuelRules) -> dict[str, object]:
    outcomes: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    passed = left_out = 0
    biases = []
    started = time.process_time()
    for seed in seeds:
        found = asyncio.run(simulate(scenario, questions, rules, seed))
        pair = found.pairs[0]
        outcomes[pair.verdict.winner or pair.verdict.outcome] += 1
        failed.update(probe.name for probe in _probes(found.selftest) if probe.fails)
        passed += found.selftest.passed
        left_out += sum(pair.left_out.values())
        tested = found.selftest
        biases.append((tested.position.bias or 0.0, tested.length.bias or 0.0, tested.control.bias or 0.0))
    seconds = time.process_time() - started
    return {
        "scenario": scenario.name,
        "runs": len(seeds),
        "a wins": outcomes[NAMES[0]],
        "b wins": outcomes[NAMES[1]],
        "tie": outcomes["tie"],
        "no verdict": outcomes["no verdict"],
        "self-test passed": passed,
        "failed for": dict(failed),
        "position bias": round(sum(one for one, _, _ in biases) / len(biases), 3),
        "length bias": round(sum(one for _, one, _ in biases) / len(biases), 3),
        "right preferred": round(sum(one for _, _, one in biases) / len(biases), 3),
        "pairs left out": left_out,
        "cpu_s": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--from", type=int, default=1000, dest="begin", help="the first seed")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--part", choices=("tuned", "held", "power"), help="of the scenarios", default=None)
    parser.add_argument("--go-on", action="store_true", help="duel with a judge that failed its test, too")
    parser.add_argument("--scenarios", default=",".join(one.name for one in SCENARIOS))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rules = DuelRules(trials=given.trials, go_on=given.go_on)
    wanted = given.scenarios.split(",")
    rows = []
    for scenario in SCENARIOS:
        if scenario.name in wanted and given.part in (None, scenario.part):
            seeds = range(given.begin, given.begin + given.seeds)
            rows.append(measure(scenario, seeds, given.questions, rules))
            if not given.json:
                print("  ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
    if given.json:
        json.dump(rows, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
