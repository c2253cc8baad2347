"""Does a duel find the right winner, and none where the judge is biased? Simulated judges, the real way of judging.

    python -m benchmarks.duel [--seeds 10] [--from 1000] [--questions 150] [--trials 1] [--part tastes] [--json]
    python -m benchmarks.duel --part held-tastes --labels 45     (people label so many pairs)

Every run goes through the normal form, alignment of lengths, the judge's test, all prompts in both orders and in the
order in which they are asked, and statistics. Only the models are made up, and what lies between them and the replies
(texts of prompts, JSON, lines on disk) is left out, as it takes most of the time. An answer carries its true quality as
a number between 0 and 1 in its text ("quality 0.70"), which the judge reads. A fair judge gives each aspect 5 × quality
points and normal noise of 0.8, rounded, from 0 to 5. An answer also says which thing it is about; where that is not the
question's, a fair judge takes its comprehensiveness, relevance and directness to be 0, as the rubric says. N = 2 as by
default; M is `--trials`.

Biased judges are fair ones with something added for the answer that has more of what the judge likes (`likes`), in one
of four ways (`HOWS`); a's answers wear it (`dress`), b's do not. Both systems are equally good. `knows`: fair wherever
an answer meets itself with something before or after it. `fair_for`: fair in its first so many calls. `mute`: how often
a reply is unreadable where a's answer is the worse one. `luck`: systems alike, but each is lucky with some documents.

Parts: `tuned` are biases of other kinds, `tastes` ten styles by which thresholds were chosen, `held-tastes` ten that
were not looked at, `fair` fair judges of answers in those styles, and `power` fair judges of unequal systems.
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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ragways.core.runtime import limit_threads

limit_threads()

from benchmarks.simulated_judges import (  # noqa: E402
    JUDGE,
    SCENARIOS,
    Scenario,
    SimulatedGenerator,
    SimulatedJudge,
    dressed,
    quality_of,
    text_of,
)
from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules, PairNames, align, duel_entries  # noqa: E402
from ragways.evaluation.duel.result import DuelResult, result_of  # noqa: E402
from ragways.evaluation.duel.taste import control_prompts, judge_test  # noqa: E402
from ragways.evaluation.duel.trials import prompts_in_order, samples_of  # noqa: E402
from ragways.evaluation.labels import BETTER, Label, pair_hash  # noqa: E402
from ragways.evaluation.question import Gold  # noqa: E402
from ragways.evaluation.record import AnswerOrigin, EvidenceItem, Record  # noqa: E402

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

NAMES = ("alpha-rag", "beta-rag")
DOCUMENTS = 15
"""Documents of a run with luck by document."""


def _luck(most: float, dice: random.Random) -> float:
    return min(1.0, max(0.0, dice.gauss(0.5, most / 2)))


def qualities(scenario: Scenario, questions: int, dice: random.Random) -> list[tuple[float, float]]:
    """Of a's and b's answer to each question."""
    if scenario.luck:
        known = [(_luck(scenario.luck, dice), _luck(scenario.luck, dice)) for _ in range(DOCUMENTS)]
        return [known[at % DOCUMENTS] for at in range(questions)]
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
        wanted = (Gold(key=f"d{at % DOCUMENTS}"),) if scenario.luck else ()
        for name, quality, end in zip(NAMES, pair, ("indeed, so.", "in truth."), strict=True):
            evidence = (EvidenceItem("e", title="Log", text=f"thing {at} with quality {quality:.4f}", score=1.0),)
            text = text_of(quality, dice.randint(58, 60) if scenario.dress else length(scenario, name, dice), str(at),
                           dice, end)  # fmt: skip
            if scenario.dress:
                text = dressed(text, scenario.dress, dice, plain=name != NAMES[0])
            error = "down" if lost and name == NAMES[0] else ""
            found.append(Record(f"q{at}", f"What of thing {at}?", "", (), name, 0, "" if error else text, error=error,
                                evidence=evidence, made=AnswerOrigin(model="writer-1"), wanted=wanted))  # fmt: skip
    return found


def length(scenario: Scenario, name: str, dice: random.Random) -> int:
    """Words of an answer; where b is to be written again, it is always the shorter one."""
    if scenario.better_writer:
        return dice.randint(70, 90) if name == NAMES[0] else dice.randint(30, 40)
    return dice.randint(30, 90)


@dataclass(frozen=True)
class Fought:
    """A duel's result, and how many calls tested the judge."""

    result: DuelResult
    probes: int


async def simulate(scenario: Scenario, questions: int, rules: DuelRules, seed: int, labels: int = 0) -> Fought:
    """One duel."""
    entries = duel_entries(records_of(scenario, questions, seed), rules)
    judge = SimulatedJudge(seed, scenario)
    generator = cast("ModelClient", SimulatedGenerator(seed, 0.2 if scenario.better_writer else 0.0))
    control = control_prompts(entries.records)
    replies = [judge.reply(prompt, 0) for prompt in control]
    aligned: dict[PairNames, list[AlignedAnswers]] = {names: [] for names in entries.pairs}
    if rules.go_on or judge_test(control, JUDGE, {reply.key: reply for reply in replies}).passed:
        for names, pairs in entries.pairs.items():
            aligned[names] = [await align(generator, pair) for pair in pairs]
        prompts = prompts_in_order(aligned.values(), entries.texts, rules)
        replies += [judge.reply(prompt, sample) for prompt in prompts for sample in range(samples_of(prompt, rules))]
    some = [label for pairs in aligned.values() for label in labelled(pairs, entries.texts, labels, seed)]
    result = result_of(entries, JUDGE, rules, replies, aligned, some)
    return Fought(result, sum(reply.kind != "duel" for reply in replies))


def labelled(pairs: Sequence[AlignedAnswers], texts: dict[str, str], count: int, seed: int) -> list[Label]:
    """Pairs drawn at random, labelled by someone who sees the true quality, less than a tenth of it apart as even, and
    errs once in ten.
    """
    dice = random.Random(f"labels|{seed}")
    found = []
    for one in dice.sample([one for one in pairs if one.judged], min(count, sum(one.judged for one in pairs))):
        asked = one.question.removeprefix("q")
        apart = quality_of(one.answers[0], asked)[0] - quality_of(one.answers[1], asked)[0]
        value = "first" if apart > 0.1 else "second" if apart < -0.1 else "even"
        value = dice.choice(("first", "even", "second")) if dice.random() < 0.1 else value
        found.append(Label(one.question, one.a, one.repeat, BETTER.name, value, "p", "", pair_hash(one, texts), one.b))  # type: ignore[arg-type]
    return found


def measure(
    scenario: Scenario, seeds: Sequence[int], questions: int, rules: DuelRules, labels: int = 0
) -> dict[str, Any]:
    """The outcomes of one scenario over these seeds."""
    outcomes: Counter[str] = Counter()
    passed = shown = probes = 0
    points = 0.0
    started = time.process_time()
    for seed in seeds:
        fought = asyncio.run(simulate(scenario, questions, rules, seed, labels))
        pair = fought.result.pairs[0]
        outcomes[pair.winner or pair.outcome] += 1
        passed += fought.result.test.passed
        shown += pair.taste.shown
        points += pair.taste.points / len(seeds)
        probes += fought.probes
    return {
        "scenario": scenario.name,
        "part": scenario.part,
        "runs": len(seeds),
        "a wins": outcomes[NAMES[0]],
        "b wins": outcomes[NAMES[1]],
        "tie": outcomes["tie"],
        "no verdict": outcomes["no verdict"],
        "control passed": passed,
        "taste shown": shown,
        "points for taste": round(points, 2),
        "probe calls": probes // len(seeds),
        "cpu_s": round(time.process_time() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--from", type=int, default=1000, dest="begin", help="the first seed")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--labels", type=int, default=0, help="pairs that people label")
    parser.add_argument("--part", choices=sorted({one.part for one in SCENARIOS}), default=None)
    parser.add_argument("--go-on", action="store_true", help="duel with a judge that failed its test, too")
    parser.add_argument("--scenarios", default="", help="by name, joined by a bar")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rules = DuelRules(trials=given.trials, go_on=given.go_on)
    wanted = [name for name in given.scenarios.split("|") if name]
    rows = []
    for scenario in SCENARIOS:
        if (not wanted or scenario.name in wanted) and given.part in (None, scenario.part):
            seeds = range(given.begin, given.begin + given.seeds)
            rows.append(measure(scenario, seeds, given.questions, rules, given.labels))
            if not given.json:
                print("  ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
    if given.json:
        json.dump(rows, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
