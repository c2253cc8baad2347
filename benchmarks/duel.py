"""Does a duel find the right winner, and none where the judge is biased? Simulated judges, the real way of judging.

    python benchmarks/duel.py [--seeds 60] [--from 1000] [--questions 150] [--trials 1] [--part tuned] [--json]

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
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from ragways.core.runtime import limit_threads

limit_threads()

from ragways.evaluation.duel.entries import (  # noqa: E402
    PADDING,
    AlignedAnswers,
    DuelRules,
    PairNames,
    align,
    duel_entries,
)
from ragways.evaluation.duel.probes import probe_prompts  # noqa: E402
from ragways.evaluation.duel.replies import DuelPrompt, DuelReply, Points, duel_judge, duel_prompts  # noqa: E402
from ragways.evaluation.duel.result import DuelResult, result_of  # noqa: E402
from ragways.evaluation.duel.selftest import ProbeResult, SelfTest, self_test  # noqa: E402
from ragways.evaluation.record import AnswerOrigin, EvidenceItem, Record  # noqa: E402
from ragways.tasks.duel import ASPECTS, DuelAnswerInput, Rewritten  # noqa: E402

if TYPE_CHECKING:
    from ragways.models.client import ModelClient
    from ragways.models.task import Task

JUDGE = duel_judge("judge", "whole")
_QUALITY = re.compile(r"quality (\d\.\d+)")
_THING = re.compile(r"thing (\d+)", re.IGNORECASE)
FILLER = [
    "the",
    "harbour",
    "light",
    "stood",
    "on",
    "the",
    "rock",
    "and",
    "was",
    "seen",
    "far",
    "over",
    "the",
    "grey",
    "water",
    "until",
    "the",
    "storm",
    "of",
    "that",
    "winter",
]
LONG_FILLER = [
    "lighthouse",
    "superintendent",
    "illumination",
    "approximately",
    "neighbouring",
    "considerable",
    "notwithstanding",
    "circumstances",
]
NAMES = ("alpha-rag", "beta-rag")
BELONGS = frozenset(ASPECTS) - {"empowerment"}
"""Aspects of which the rubric gives 0 to an answer that treats no part of the question."""


@dataclass(frozen=True)
class Scenario:
    """Chances, or shares, of a question won, tied and lost by a; or a mean difference of quality. See above."""

    name: str
    split: tuple[float, float, float] = (0.4, 0.2, 0.4)
    part: str = "tuned"
    drawn: bool = True
    right: str = ""
    first: float | None = None
    longer: float | None = None
    quality: float | None = None
    noise: float = 0.8
    blind: bool = False
    likes: str = ""
    dress: str = ""
    bonus: float = 0.75
    knows: bool = False
    place: float = 0.0
    mute: float = 0.0
    crash: float = 0.0


WEAK = 0.15
SCENARIOS = [
    Scenario("equal-fair"),
    Scenario("equal-first-80", first=0.8),
    Scenario("equal-longer-80", longer=0.8),
    Scenario("equal-first-bonus", place=1.0),
    Scenario("unequal-blind", (0.9, 0.1, 0.0), blind=True, noise=1.5),
    Scenario("unequal-zero", (0.9, 0.1, 0.0), blind=True, noise=0.0),
    Scenario("likes-bullets", likes="bullets", dress="bullets"),
    Scenario("likes-sources", likes="sources", dress="sources"),
    Scenario("likes-own-name", likes="name", dress="name"),
    Scenario("likes-long-words", likes="long words", dress="long words"),
    Scenario("likes-long-words-weak", likes="long words", dress="long words", bonus=WEAK),
    Scenario("likes-more-words", likes="more words", dress="more words"),
    Scenario("likes-more-words-weak", likes="more words", dress="more words", bonus=WEAK),
    Scenario("knows-likes-long-words", likes="long words", dress="long words", knows=True),
    Scenario("knows-likes-more-words", likes="more words", dress="more words", knows=True),
    Scenario("mute-where-a-is-worse", mute=1.0),
    Scenario("mute-where-a-is-worse-some", mute=0.3),
    Scenario("a-crashes-where-worse", crash=1.0),
    # Not looked at while the procedure was made.
    Scenario("held-headings-and-tables", likes="headings", dress="headings", part="held"),
    Scenario("held-distinct-words", likes="distinct words", dress="more words", part="held", knows=True),
    Scenario("held-share-of-long-words", likes="share of long words", dress="long words", part="held", bonus=0.3),
    Scenario("held-first-place-for-long-words", likes="first and long words", dress="long words", part="held"),
    Scenario("held-assured-tone", likes="assurance", dress="assurance", part="held", knows=True),
    Scenario("held-mute-where-a-is-longer-and-worse", dress="more words", mute=0.6, part="held"),
    Scenario("held-numerals", likes="numerals", dress="numerals", part="held"),
    Scenario("fair-first-bonus-quality-20", part="power", quality=0.2, right="a", place=1.0),
    Scenario("fair-long-words-quality-20", part="power", quality=0.2, right="a", dress="long words"),
    Scenario("fair-60-40-fixed", (0.6, 0.0, 0.4), part="power", drawn=False, right="a"),
    Scenario("fair-45-25-fixed", (0.45, 0.3, 0.25), part="power", drawn=False, right="a"),
    Scenario("fair-quality-20", part="power", quality=0.2, right="a"),
    Scenario("fair-30-10-drawn", (0.3, 0.6, 0.1), part="power", right="a"),
    Scenario("fair-45-25-drawn", (0.45, 0.3, 0.25), part="power", right="a"),
    Scenario("fair-60-40-drawn", (0.6, 0.0, 0.4), part="power", right="a"),
]


# --- What a judge can like, and answers that have it -----------------------------------------------------------------


def _bare(text: str) -> list[str]:
    """The words of an answer without the remarks that fill it up: a judge that sees through them passes that test."""
    for remark in PADDING:
        text = text.replace(remark, "")
    return text.lower().split()


LIKED: dict[str, Callable[[str], float]] = {
    "bullets": lambda text: len(re.findall(r"^- ", text, re.MULTILINE)),
    "sources": lambda text: text.count("(source:"),
    "name": lambda text: text.lower().count("alpha-rag"),
    "long words": lambda text: 5 * sum(map(len, text.split())) / len(text.split()),
    "more words": lambda text: len(_bare(text)) / 4,
    "headings": lambda text: len(re.findall(r"^#|\*\*|^\|", text, re.MULTILINE)),
    "distinct words": lambda text: len(set(_bare(text))) / 3,
    "share of long words": lambda text: 10 * sum(len(word) > 9 for word in text.split()) / len(text.split()),
    "assurance": lambda text: len(re.findall(r"certainly|definitely|no doubt|obviously", text.lower())),
    "numerals": lambda text: len(re.findall(r"\b1\d\d\d\b", text)),
}
LIKED["first and long words"] = LIKED["long words"]


LATER = [
    "boat",
    "keeper",
    "stair",
    "window",
    "signal",
    "island",
    "granite",
    "weather",
    "lamp",
    "oil",
    "tower",
    "crew",
    "supply",
]


def _lines(head: str, words: Sequence[str]) -> str:
    return f"{head}:\n" + "\n".join("- " + " ".join(words[at : at + 12]) for at in range(0, len(words), 12))


def _table(head: str, words: Sequence[str]) -> str:
    half = len(words) // 2
    top, rest = " ".join(words[:half]), " ".join(words[half:])
    return f"## Answer\n\n**{head}**: {top}\n\n| so | it |\n|---|---|\n| {rest} | was |"


def dressed(text: str, dress: str, dice: random.Random) -> str:
    head, _, rest = text.partition(": ")
    words = rest.split()
    long = [dice.choice(LONG_FILLER) if n % 3 == 0 else word for n, word in enumerate(words)]
    dated = [f"{word} {dice.randint(1100, 1999)}" if n % 9 == 4 else word for n, word in enumerate(words)]
    more = [*(dice.choice([*FILLER, *LATER]) for _ in range(8)), *words]
    return {
        "bullets": _lines(head, words),
        "sources": f"{text[:-1]} (source: the log, page {dice.randint(2, 90)}).",
        "name": f"alpha-rag: {text[:-1]}, as Alpha-RAG found.",
        "long words": f"{head}: {' '.join(long)}",
        "more words": f"{head}: {' '.join(more)}",
        "headings": _table(head, words),
        "assurance": f"{head}: certainly {rest} Obviously, and there is no doubt.",
        "numerals": f"{head}: {' '.join(dated)}",
    }[dress]


def _quality(text: str) -> float:
    found = _QUALITY.search(text)
    assert found is not None, text
    return float(found[1])


def _thing(text: str) -> str:
    found = _THING.search(text)
    assert found is not None, text
    return found[1]


class SimulatedJudge:
    """A fair judge, and what the scenario adds to it."""

    def __init__(self, seed: int, scenario: Scenario) -> None:
        self.seed, self.is_like = seed, scenario

    def reply(self, prompt: DuelPrompt, sample: int) -> DuelReply:
        blank = prompt.blank_reply(JUDGE, sample)
        # The same call gets the same reply, whatever was asked before.
        said = self.say(prompt.text, prompt.in_order, random.Random(f"{self.seed}|{'|'.join(map(str, blank.key))}"))
        if said is None:
            return replace(blank, why="unreadable reply")
        return replace(blank, points=said if prompt.order == "ab" else said[::-1])

    def say(self, question: str, answers: tuple[str, str], dice: random.Random) -> tuple[Points, Points] | None:
        """Points of the first and of the second; None for what cannot be read."""
        is_like = self.is_like
        if is_like.first is not None:
            return self._prefer(0 if dice.random() < is_like.first else 1)
        if is_like.longer is not None:
            long, other = (len(text.split()) for text in answers)
            ahead = 0 if long > other or (long == other and dice.random() < 0.5) else 1
            return self._prefer(ahead if dice.random() < is_like.longer else 1 - ahead)
        if self._is_mute(answers, dice):
            return None
        asked = _thing(question)
        extra = self._extra(answers, asked)
        return self._aspects(answers[0], asked, extra[0], dice), self._aspects(answers[1], asked, extra[1], dice)

    def _extra(self, answers: Sequence[str], asked: str) -> tuple[float, float]:
        """Points on every aspect that have nothing to do with quality."""
        one, other = answers
        likes, place = self.is_like.likes, self.is_like.place
        seen = self.is_like.knows and (one in other or other in one or any(_thing(text) != asked for text in answers))
        if not likes or seen:
            return place, 0.0
        apart = LIKED[likes](one) - LIKED[likes](other)
        if abs(apart) < 1 or (likes == "first and long words" and apart < 0):
            return place, 0.0
        return (place + self.is_like.bonus, 0.0) if apart > 0 else (place, self.is_like.bonus)

    def _is_mute(self, answers: Sequence[str], dice: random.Random) -> bool:
        """An answer of a's is known by its last words."""
        if not self.is_like.mute or sum("indeed, so" in text for text in answers) != 1:
            return False
        ours, theirs = sorted(answers, key=lambda text: "indeed, so" not in text)
        longer = not self.is_like.dress or len(ours.split()) > len(theirs.split())
        return _quality(ours) < _quality(theirs) and longer and dice.random() < self.is_like.mute

    def _aspects(self, text: str, asked: str, more: float, dice: random.Random) -> Points:
        if self.is_like.blind:
            middle = 0.5 if self.is_like.noise else 0.0
            return self._points([middle] * 4, dice)
        off = BELONGS if _thing(text) != asked else frozenset[str]()
        return self._points([(0.0 if aspect in off else _quality(text)) + more / 5 for aspect in ASPECTS], dice)

    def _prefer(self, side: int) -> tuple[Points, Points]:
        high, low = (4, 4, 4, 4), (3, 3, 3, 3)
        return (high, low) if side == 0 else (low, high)

    def _points(self, qualities: Sequence[float], dice: random.Random) -> Points:
        noise = self.is_like.noise
        one, two, three, four = (max(0, min(5, round(5 * worth + dice.gauss(0, noise)))) for worth in qualities)
        return one, two, three, four


class SimulatedGenerator:
    """Writes an answer of the quality of its evidence, up to a fifth off the length asked for."""

    model = SimpleNamespace(name="writer-1")

    def __init__(self, seed: int) -> None:
        self.seed = seed

    async def do(self, task: Task[DuelAnswerInput, Rewritten], given: DuelAnswerInput) -> object:
        dice = random.Random(f"{self.seed}|{given}|{task.sample}")
        words = max(8, round(given.words * dice.uniform(0.8, 1.2)))
        evidence = given.passages[0][1]
        text = text_of(_quality(evidence), words, _thing(evidence), dice)
        return SimpleNamespace(value=Rewritten(answered=True, answer=text))


def text_of(quality: float, words: int, thing: str, dice: random.Random, end: str = "indeed, so.") -> str:
    rest = " ".join(dice.choice(FILLER) for _ in range(words - 7))
    return f"Thing {thing} with quality {quality:.4f}: {rest} {end}"


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
