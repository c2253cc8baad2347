"""Judges with a known bias, and answers that carry their true quality: what `duel.py` tries a duel on.

A scenario says which judge it is and whose answers wear what. The judge reads the quality of an answer from its text,
and adds what the scenario has it like. The duel knows none of the styles.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal

from ragways.evaluation.duel.replies import DuelPrompt, DuelReply, Points, duel_judge
from ragways.tasks.duel import ASPECTS, DuelAnswerInput, Rewritten

if TYPE_CHECKING:
    from ragways.models.task import Task

JUDGE = duel_judge("judge", "whole")
_QUALITY = re.compile(r"[Tt]hing (\d+) with quality (\d\.\d+)")
_THING = re.compile(r"thing (\d+)")
_FILLER = (
    "the harbour light stood on the rock and was seen far over the grey water until the storm of that winter when a "
    "boat with oil for the lamp came to the island where the keeper had a stair a window and a granite tower built by "
    "the crew with some supply of weather glass"
)
FILLER = _FILLER.split()
BELONGS = frozenset(ASPECTS) - {"empowerment"}
"""Aspects of which the rubric gives 0 to an answer that treats no part of the question."""
PLAIN = ("in the tower", "by the sea", "with the crew", "of that winter", "near the rock", "on the island")
"""What the other side says where one side wears a style."""
STYLES: dict[str, tuple[str, ...]] = {
    # Looked at while the procedure was made.
    "hedging": ("perhaps", "it seems", "possibly", "it may be that", "arguably"),
    "quotations": ('"the light"', '"a storm"', '"on the rock"', '"far over"'),
    "years": ("in 1871", "from 1902", "until 1954", "since 1788", "by 1834"),
    "politeness": ("thank you", "please note", "kindly", "you are welcome", "happy to help"),
    "semicolons": ("the lamp; the oil", "a boat; a crew", "the rock; the sea", "a stair; a window"),
    "first person": ("I think", "we found", "my view", "I believe", "as we saw"),
    "superlatives": ("the greatest of all", "the very best", "most important", "the largest ever"),
    "percentages": ("40 % of it", "about 12 %", "some 75 %", "90 % of them"),
    "long words": ("notwithstanding circumstances", "considerable illumination", "the superintendent approximately"),
    "exclamation": ("what a light!", "how far!", "indeed!", "a storm!"),
    # Not looked at.
    "parentheses": ("(the keeper)", "(on the rock)", "(as it was)", "(far over)"),
    "connectives": ("therefore", "moreover", "consequently", "furthermore", "hence"),
    "rhetorical questions": ("but why?", "and how?", "what of it?", "who saw it?"),
    "abbreviations": ("e.g. the lamp", "i.e. the light", "cf. the log", "viz. oil"),
    "dashes": ("the light — so far", "a boat — at sea", "the tower — of granite"),
    "capitals": ("IMPORTANT", "NOTE this", "the KEY point", "a MAJOR storm"),
    "second person": ("you see", "as you know", "your harbour", "you will find"),
    "assurance": ("certainly", "without doubt", "definitely", "of course", "clearly"),
    "enumeration": ("firstly the lamp", "secondly the oil", "thirdly a boat", "finally the crew"),
    "units": ("40 metres", "12 km", "75 kg", "9 tonnes", "30 miles"),
}
"""Twenty styles of words and marks, the first ten chosen by, the others held out."""
How = Literal["more", "weak", "each", "any"]
HOWS: tuple[How, ...] = ("more", "weak", "each", "any")
"""A bonus of 3 points of 20 for who has more, of .6 for that, of .8 for each of up to five, of 3 for who has any."""


@dataclass(frozen=True)
class Scenario:
    """Chances, or shares, of a question won, tied and lost by a; or a mean difference of quality. See `duel.py`."""

    name: str
    split: tuple[float, float, float] = (0.4, 0.2, 0.4)
    part: str = "tuned"
    drawn: bool = True
    first: float | None = None
    longer: float | None = None
    quality: float | None = None
    noise: float = 0.8
    blind: bool = False
    likes: str = ""
    dress: str = ""
    how: How = "more"
    knows: bool = False
    fair_for: int = 0
    place: float = 0.0
    mute: float = 0.0
    crash: float = 0.0
    better_writer: bool = False
    luck: float = 0.0


def _tastes() -> list[Scenario]:
    names = list(STYLES)
    parts = {name: "tastes" if at < len(names) // 2 else "held-tastes" for at, name in enumerate(names)}
    return [Scenario(f"{name}, {how}", part=parts[name], likes=name, dress=name, how=how)
            for name in names for how in HOWS]  # fmt: skip


def _fair() -> list[Scenario]:
    """Fair judges of answers that wear a style: of equal systems, and of one that is better."""
    return [
        Scenario(f"fair, {name}" + (", b better" if quality else ""), part="fair", dress=name, quality=quality)
        for name in STYLES
        for quality in (None, -0.2)
    ]


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
    Scenario("likes-more-words", likes="more words", dress="more words"),
    Scenario("likes-distinct-words", likes="distinct words", dress="distinct words"),
    Scenario("likes-headings-and-tables", likes="headings", dress="headings"),
    Scenario("knows-likes-long-words", likes="long words", dress="long words", knows=True),
    Scenario("fair-in-210-calls", likes="hedging", dress="hedging", fair_for=210),
    Scenario("fair-in-400-calls", likes="years", dress="years", fair_for=400),
    Scenario("fair-in-1050-calls", likes="hedging", dress="hedging", fair_for=1050),
    Scenario("mute-where-a-is-worse", mute=1.0),
    Scenario("mute-where-a-is-worse-some", mute=0.3),
    Scenario("mute-at-random", mute=-0.05, quality=0.1),
    Scenario("b-is-rewritten-by-a-better-writer", better_writer=True),
    Scenario("luck-by-document", luck=0.6),
    *_tastes(),
    *_fair(),
    Scenario("fair-first-bonus-quality-20", part="power", quality=0.2, place=1.0),
    Scenario("fair-60-40-fixed", (0.6, 0.0, 0.4), part="power", drawn=False),
    Scenario("fair-45-25-fixed", (0.45, 0.3, 0.25), part="power", drawn=False),
    Scenario("fair-quality-20", part="power", quality=0.2),
    Scenario("fair-quality-10", part="power", quality=0.1),
    Scenario("fair-30-10-drawn", (0.3, 0.6, 0.1), part="power"),
    Scenario("fair-60-40-drawn", (0.6, 0.0, 0.4), part="power"),
]


# --- What a judge can like, and answers that have it -----------------------------------------------------------------


def _style(name: str) -> Callable[[str], float]:
    pattern = re.compile("|".join(re.escape(phrase) for phrase in STYLES[name]))
    return lambda text: float(len(pattern.findall(text)))


LIKED: dict[str, Callable[[str], float]] = {
    **{name: _style(name) for name in STYLES},
    "bullets": lambda text: len(re.findall(r"^- ", text, re.MULTILINE)),
    "sources": lambda text: text.count("(source:"),
    "name": lambda text: text.lower().count("alpha-rag"),
    "more words": lambda text: len(text.split()) / 4,
    "headings": lambda text: len(re.findall(r"^#|\*\*|^\|", text, re.MULTILINE)),
    "distinct words": lambda text: len(set(text.lower().split())) / 3,
}


def dressed(text: str, dress: str, dice: random.Random, plain: bool = False) -> str:
    """The answer in a style, or with as many other words (`plain`)."""
    head, _, rest = text.partition(": ")
    words = rest.split()
    if dress in STYLES or dress == "distinct words":
        phrases = PLAIN if plain or dress not in STYLES else STYLES[dress]
        for _ in range(dice.randint(0, 1) if dress == "distinct words" else dice.choice((2, 3, 3, 4, 5))):
            words.insert(dice.randrange(len(words)), dice.choice(phrases))
        if dress == "distinct words" and not plain:
            words = [f"{word}{dice.choice(('like', 'wise', 'ward', 'ish'))}" if n % 4 == 1 else word
                     for n, word in enumerate(words)]  # fmt: skip
        return f"{head}: {' '.join(words)}"
    if plain:
        return text
    half = len(words) // 2
    return {
        "bullets": f"{head}:\n" + "\n".join("- " + " ".join(words[at : at + 12]) for at in range(0, len(words), 12)),
        "sources": f"{text[:-1]} (source: the log, page {dice.randint(2, 90)}).",
        "name": f"alpha-rag: {text[:-1]}, as Alpha-RAG found.",
        "more words": f"{head}: {' '.join([*(dice.choice(FILLER) for _ in range(8)), *words])}",
        "headings": f"## Answer\n\n**{head}**: {' '.join(words[:half])}\n\n| so | it |\n|---|---|\n| "
        f"{' '.join(words[half:])} | was |",
    }[dress]


def quality_of(text: str, asked: str) -> tuple[float, bool]:
    """The quality of an answer, and whether it is about the thing that was asked."""
    found = {thing: float(quality) for thing, quality in reversed(_QUALITY.findall(text))}
    return (found[asked], True) if asked in found else (max(found.values(), default=0.0), False)


# --- Who judges, and who writes an answer again ---------------------------------------------------------------------


class SimulatedJudge:
    """A fair judge, and what the scenario adds to it."""

    def __init__(self, seed: int, scenario: Scenario) -> None:
        self.seed, self.is_like, self.calls = seed, scenario, 0

    def reply(self, prompt: DuelPrompt, sample: int) -> DuelReply:
        self.calls += 1
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
        asked = _THING.findall(question)[0]
        if self._is_mute(answers, asked, dice):
            return None
        extra = self._extra(answers)
        return self._aspects(answers[0], asked, extra[0], dice), self._aspects(answers[1], asked, extra[1], dice)

    def _extra(self, answers: Sequence[str]) -> tuple[float, float]:
        """Points on every aspect that have nothing to do with quality."""
        one, other = answers
        likes, place = self.is_like.likes, self.is_like.place
        seen = self.is_like.knows and (one in other or other in one)
        if not likes or seen or self.calls <= self.is_like.fair_for:
            return place, 0.0
        first, second = LIKED[likes](one), LIKED[likes](other)
        if self.is_like.how == "each":
            return place + 0.2 * min(5.0, first), 0.2 * min(5.0, second)
        if self.is_like.how == "any":
            return place + 0.75 * (first >= 1), 0.75 * (second >= 1)
        bonus = 0.15 if self.is_like.how == "weak" else 0.75
        return place + bonus * (first - second >= 1), bonus * (second - first >= 1)

    def _is_mute(self, answers: Sequence[str], asked: str, dice: random.Random) -> bool:
        """An answer of a's is known by its last words. Below 0: at random."""
        if self.is_like.mute < 0:
            return dice.random() < -self.is_like.mute
        if not self.is_like.mute or sum("indeed, so" in text for text in answers) != 1:
            return False
        ours, theirs = sorted(answers, key=lambda text: "indeed, so" not in text)
        return quality_of(ours, asked)[0] < quality_of(theirs, asked)[0] and dice.random() < self.is_like.mute

    def _aspects(self, text: str, asked: str, more: float, dice: random.Random) -> Points:
        if self.is_like.blind:
            return self._points([0.5 if self.is_like.noise else 0.0] * 4, dice)
        quality, on_topic = quality_of(text, asked)
        off = frozenset[str]() if on_topic else BELONGS
        return self._points([(0.0 if aspect in off else quality) + more / 5 for aspect in ASPECTS], dice)

    def _prefer(self, side: int) -> tuple[Points, Points]:
        high, low = (4, 4, 4, 4), (3, 3, 3, 3)
        return (high, low) if side == 0 else (low, high)

    def _points(self, qualities: Sequence[float], dice: random.Random) -> Points:
        noise = self.is_like.noise
        one, two, three, four = (max(0, min(5, round(5 * worth + dice.gauss(0, noise)))) for worth in qualities)
        return one, two, three, four


class SimulatedGenerator:
    """Writes an answer of the quality of its evidence, up to a fifth off the length asked for; a better writer makes
    more of it.
    """

    model = SimpleNamespace(name="writer-1")

    def __init__(self, seed: int, gain: float = 0.0) -> None:
        self.seed, self.gain = seed, gain

    async def do(self, task: Task[DuelAnswerInput, Rewritten], given: DuelAnswerInput) -> object:
        dice = random.Random(f"{self.seed}|{given}|{task.sample}")
        words = max(8, round(given.words * dice.uniform(0.8, 1.2)))
        ((thing, quality),) = _QUALITY.findall(given.passages[0][1])
        text = text_of(min(1.0, float(quality) + self.gain), words, thing, dice)
        return SimpleNamespace(value=Rewritten(answered=True, answer=text))


def text_of(quality: float, words: int, thing: str, dice: random.Random, end: str = "indeed, so.") -> str:
    """An answer about a thing that says its own quality."""
    rest = " ".join(dice.choice(FILLER) for _ in range(words - 7))
    return f"Thing {thing} with quality {quality:.4f}: {rest} {end}"
