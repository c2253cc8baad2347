"""Judges with a known bias, and answers that carry their true quality: what `duel.py` tries a duel on.

A scenario says which judge it is and whose answers wear what. The judge reads the quality of an answer from its text,
and adds what the scenario has it like.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ragways.evaluation.duel.entries import PADDING
from ragways.evaluation.duel.replies import DuelPrompt, DuelReply, Points, duel_judge
from ragways.tasks.duel import ASPECTS, DuelAnswerInput, Rewritten

if TYPE_CHECKING:
    from ragways.models.task import Task

JUDGE = duel_judge("judge", "whole")
_QUALITY = re.compile(r"quality (\d\.\d+)")
_THING = re.compile(r"thing (\d+)", re.IGNORECASE)
FILLER = [
    "the", "harbour", "light", "stood", "on", "the", "rock", "and", "was", "seen", "far", "over", "the", "grey",
    "water", "until", "the", "storm", "of", "that", "winter",
]  # fmt: skip
LONG_FILLER = [
    "lighthouse", "superintendent", "illumination", "approximately", "neighbouring", "considerable",
    "notwithstanding", "circumstances",
]  # fmt: skip
LATER = [
    "boat", "keeper", "stair", "window", "signal", "island", "granite", "weather", "lamp", "oil", "tower", "crew",
    "supply",
]  # fmt: skip
BELONGS = frozenset(ASPECTS) - {"empowerment"}
"""Aspects of which the rubric gives 0 to an answer that treats no part of the question."""


@dataclass(frozen=True)
class Scenario:
    """Chances, or shares, of a question won, tied and lost by a; or a mean difference of quality. See `duel.py`."""

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


# --- Who judges, and who writes an answer again ---------------------------------------------------------------------


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
