"""Does a duel find the right winner, and none where the judge is biased? Simulated judges, the real way of judging.

    python benchmarks/duel.py [--seeds 100] [--questions 150] [--trials 3] [--scenarios equal-fair,...] [--json]

Every run goes through prompts, replies, alignment of lengths, the judge's test on itself, lines on disk and statistics.
Only the models are made up: an answer carries its true quality as a number between 0 and 1 in its text ("quality
0.70"), which the judge reads. A fair judge gives each aspect 5 × quality points and normal noise of 0.8, rounded and
kept in 0..5. An answer also says which thing it is about; where that is not the question's, a fair judge takes its
comprehensiveness, relevance and directness to be 0, as the rubric says. A biased one prefers a side 4 times of 5
whatever the quality; a blind one gives points by chance, or none to anybody. N = 2 as by default; M is `--trials`, 3
unless told otherwise: more trials cost more and leave less noise.

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
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragways.core.runtime import limit_threads

limit_threads()

from ragways.core.trace import Usage  # noqa: E402
from ragways.evaluation.duel.entries import DuelRules, Mode, duel_entries  # noqa: E402
from ragways.evaluation.duel.replies import duel_judge  # noqa: E402
from ragways.evaluation.duel.result import DuelResult, duel_result  # noqa: E402
from ragways.evaluation.duel.trials import Trials  # noqa: E402
from ragways.evaluation.record import AnswerOrigin, EvidenceItem, Record, Records  # noqa: E402
from ragways.models.call import Call, Reply  # noqa: E402
from ragways.models.client import ModelClient  # noqa: E402
from ragways.models.tokens import Price, Prices  # noqa: E402

_FENCED = re.compile(r"<<<data (\w+)\n(.*?)\ndata \1>>>", re.DOTALL)
_QUALITY = re.compile(r"quality (\d\.\d+)")
_THING = re.compile(r"thing (\d+)", re.IGNORECASE)
_WANTED = re.compile(r"Words: (\d+)")
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
ASPECTS = ("comprehensiveness", "relevance", "empowerment", "directness")
BELONGS = frozenset(ASPECTS) - {"empowerment"}
"""Aspects of which the rubric gives 0 to an answer that treats no part of the question."""


@dataclass(frozen=True)
class Scenario:
    """Chances, or shares, of a question won, tied and lost by a; or a mean difference of quality."""

    name: str
    split: tuple[float, float, float]
    drawn: bool = True
    right: str = ""
    first: float | None = None
    longer: float | None = None
    quality: float | None = None
    noise: float = 0.8
    blind: bool = False


SCENARIOS = [
    Scenario("equal-first-80", (0.4, 0.2, 0.4), first=0.8),
    Scenario("equal-longer-80", (0.4, 0.2, 0.4), longer=0.8),
    Scenario("equal-fair", (0.4, 0.2, 0.4)),
    Scenario("unequal-blind", (0.9, 0.1, 0.0), blind=True, noise=1.5),
    Scenario("unequal-zero", (0.9, 0.1, 0.0), blind=True, noise=0.0),
    Scenario("fair-60-40-fixed", (0.6, 0.0, 0.4), drawn=False, right="a"),
    Scenario("fair-45-25-fixed", (0.45, 0.3, 0.25), drawn=False, right="a"),
    Scenario("fair-quality-20", (0, 0, 0), quality=0.2, right="a"),
    Scenario("fair-30-10-drawn", (0.3, 0.6, 0.1), right="a"),
    Scenario("fair-45-25-drawn", (0.45, 0.3, 0.25), right="a"),
    Scenario("fair-60-40-drawn", (0.6, 0.0, 0.4), right="a"),
]


def read_fences(call: Call) -> list[str]:
    return [text for _, text in _FENCED.findall(call.messages[-1].content)]


def _quality(text: str) -> float:
    found = _QUALITY.search(text)
    assert found is not None, text
    return float(found[1])


def _thing(text: str) -> str:
    found = _THING.search(text)
    assert found is not None, text
    return found[1]


class _Simulated:
    base_url = ""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.seed = seed
        self.calls = 0

    async def send(self, call: Call) -> Reply:
        self.calls += 1
        # The same call gets the same reply, whatever was asked before: a stopped run goes on as if it had not been.
        said = json.dumps(self.say(call, random.Random(f"{self.seed}|{call.messages[-1].content}|{call.sample}")))
        return Reply(said, usage=Usage(calls=1, input=800, output=80), model=self.name)

    async def aclose(self) -> None:
        pass

    def say(self, call: Call, dice: random.Random) -> dict[str, object]:
        raise NotImplementedError


class SimulatedJudge(_Simulated):
    """`first` and `longer` are how often it prefers that side, whatever the quality; else quality and noise decide."""

    def __init__(
        self,
        seed: int,
        *,
        first: float | None = None,
        longer: float | None = None,
        noise: float = 0.8,
        blind: bool = False,
        name: str = "judge",
    ) -> None:
        super().__init__(name, seed)
        self.first, self.longer, self.noise, self.blind = first, longer, noise, blind

    def say(self, call: Call, dice: random.Random) -> dict[str, object]:
        answers = read_fences(call)
        if call.schema_name == "duel_difference":
            return self._apart(answers)
        if self.first is not None:
            return self._prefer(0 if dice.random() < self.first else 1)
        if self.longer is not None:
            long, other = (len(text.split()) for text in answers)
            ahead = 0 if long > other or (long == other and dice.random() < 0.5) else 1
            return self._prefer(ahead if dice.random() < self.longer else 1 - ahead)
        asked = _thing(call.messages[-1].content)  # the question stands before the answers
        first, second = (self._aspects(text, asked, dice) for text in answers)
        return {"first": first, "second": second}

    def _aspects(self, text: str, asked: str, dice: random.Random) -> dict[str, int]:
        if self.blind:
            middle = 0.5 if self.noise else 0.0
            return {aspect: self._points(middle, dice) for aspect in ASPECTS}
        off = BELONGS if _thing(text) != asked else frozenset[str]()
        return {aspect: self._points(0.0 if aspect in off else _quality(text), dice) for aspect in ASPECTS}

    def _apart(self, answers: Sequence[str]) -> dict[str, object]:
        """A fair one sees that equal answers do not differ; a biased one always finds something."""
        first, second = map(_quality, answers)
        if (first, _thing(answers[0])) == (second, _thing(answers[1])) and self.first is None and self.longer is None:
            return {"first": [], "second": []}
        sides = zip(("first", "second"), (first, second), answers, strict=True)
        return {
            name: [f"quality {quality:.4f} of thing {_thing(text)} {'word ' * len(text.split())}"]
            for name, quality, text in sides
        }

    def _prefer(self, side: int) -> dict[str, object]:
        return {name: dict.fromkeys(ASPECTS, 4 if at == side else 3) for at, name in enumerate(("first", "second"))}

    def _points(self, quality: float, dice: random.Random) -> int:
        return max(0, min(5, round(5 * quality + dice.gauss(0, self.noise))))


class SimulatedGenerator(_Simulated):
    """Writes an answer of the quality of its evidence, up to a fifth off the length asked for."""

    def say(self, call: Call, dice: random.Random) -> dict[str, object]:
        content = call.messages[-1].content
        wanted = _WANTED.search(content)
        assert wanted is not None
        words = max(8, round(int(wanted[1]) * dice.uniform(0.8, 1.2)))
        evidence = read_fences(call)[0]
        return {"answered": True, "answer": text_of(_quality(evidence), words, _thing(evidence), dice)}


def text_of(quality: float, words: int, thing: str, dice: random.Random) -> str:
    rest = " ".join(dice.choice(FILLER) for _ in range(words - 7))
    return f"Thing {thing} with quality {quality:.4f}: {rest} indeed, so."


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
    dice = random.Random(f"{scenario.name}|{seed}")
    found = []
    for at, pair in enumerate(qualities(scenario, questions, dice)):
        for name, quality in zip("ab", pair, strict=True):
            evidence = (EvidenceItem("e", title="Log", text=f"quality {quality:.4f} of thing {at}", score=1.0),)
            text = text_of(quality, dice.randint(30, 90), str(at), dice)
            found.append(Record(f"q{at}", f"What of thing {at}?", "", (), name, 0, text, evidence=evidence,
                                made=AnswerOrigin(model="writer-1")))  # fmt: skip
    return found


async def simulate(
    scenario: Scenario, questions: int, rules: DuelRules, seed: int, folder: Path
) -> tuple[DuelResult, int]:
    records = Records(folder)
    for record in records_of(scenario, questions, seed):
        records.append(record)
    prices = Prices({"judge": Price(1.0, 2.0), "writer-1": Price(1.0, 2.0)})
    judge = SimulatedJudge(
        seed, first=scenario.first, longer=scenario.longer, noise=scenario.noise, blind=scenario.blind
    )
    generator = SimulatedGenerator("writer-1", seed)
    entries = duel_entries(records, rules)
    trials = Trials(ModelClient(judge, prices=prices), ModelClient(generator, prices=prices), folder, rules)
    await trials.run(entries)
    return duel_result(entries, folder, duel_judge("judge", rules.mode), rules), judge.calls + generator.calls


def measure(scenario: Scenario, seeds: Sequence[int], questions: int, rules: DuelRules) -> dict[str, object]:
    outcomes: Counter[str] = Counter()
    passed = calls = left_out = 0
    biases = []
    started = time.process_time()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            found, asked = asyncio.run(simulate(scenario, questions, rules, seed, Path(folder)))
        pair = found.pairs[0]
        outcomes[pair.verdict.winner or pair.verdict.outcome] += 1
        passed += found.selftest.passed
        left_out += sum(pair.left_out.values())
        calls += asked
        tested = found.selftest
        biases.append((tested.position.bias or 0.0, tested.length.bias or 0.0, tested.control.bias or 0.0))
    seconds = time.process_time() - started
    return {
        "scenario": scenario.name,
        "runs": len(seeds),
        "a wins": outcomes["a"],
        "b wins": outcomes["b"],
        "tie": outcomes["tie"],
        "no verdict": outcomes["no verdict"],
        "self-test passed": passed,
        "position bias": round(sum(one for one, _, _ in biases) / len(biases), 3),
        "length bias": round(sum(one for _, one, _ in biases) / len(biases), 3),
        "right preferred": round(sum(one for _, _, one in biases) / len(biases), 3),
        "pairs left out": left_out,
        "calls": calls,
        "cpu_s": round(seconds, 1),
        "cpu_ms_a_call": round(1000 * seconds / calls, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--mode", choices=("whole", "differential"), default="whole")
    parser.add_argument("--go-on", action="store_true", help="duel with a judge that failed its test, too")
    parser.add_argument("--scenarios", default=",".join(one.name for one in SCENARIOS))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    mode: Mode = given.mode
    rules = DuelRules(trials=given.trials, mode=mode, go_on=given.go_on)
    wanted = given.scenarios.split(",")
    rows = []
    for scenario in SCENARIOS:
        if scenario.name in wanted:
            rows.append(measure(scenario, range(given.seeds), given.questions, rules))
            if not given.json:
                print("  ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
    if given.json:
        json.dump(rows, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
