"""Rows to learn from, from data that the user names. Nothing of it is in this repository (`training/README.md`).

A row is a question with passages that are read together, and what is right to say of them. What is not known of a row
is None and is not learnt from.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ragways.models.reader import Passage
from ragways.reading.windows import windows

Half = Literal["choose", "report"]
YES_NO = frozenset({"yes", "no"})
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'“(])")


@dataclass(frozen=True, slots=True)
class Row:
    """The answer is `start:end` of what is shown of the passage `at`; `at` is −1 where no passage holds it, None where
    it is not known. `evidence` tells of each passage whether it is evidence.
    """

    question: str
    passages: tuple[Passage, ...]
    at: int | None = None
    start: int = 0
    end: int = 0
    evidence: tuple[float | None, ...] = ()
    supports: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a set with the candidates that `fused` has for it: places in the set's passages, what it knows of
    them, and which show which piece of the gold.
    """

    id: str
    set: str
    half: Half
    question: str
    answers: tuple[str, ...]
    candidates: tuple[int, ...]
    features: tuple[tuple[float, ...], ...]
    linked: float
    gold: tuple[tuple[bool, ...], ...]
    plain: tuple[int, ...]
    """Ranks of the gold pieces in the list of `hybrid-words`, 0 where it lacks them."""

    @property
    def evidence(self) -> frozenset[int]:
        """Places of the candidates that show any gold."""
        return frozenset(at for n, at in enumerate(self.candidates) if any(piece[n] for piece in self.gold))


@dataclass(frozen=True, slots=True)
class AskedSet:
    """A set's questions, and its passages as (title, sentences)."""

    name: str
    passages: list[tuple[str, list[str]]]
    asked: list[Asked]


def half_of(id: str) -> Half:
    """Which half a question is in, by a hash of its id: `choose` to train and choose on, `report` for figures only."""
    return "choose" if _first_byte(id) % 2 == 0 else "report"


def held_out(text: str) -> bool:
    """Whether a text is kept from all training, for figures: one in twenty, by a hash of the text and nothing else, so
    that no seed, limit or part of the training moves it. The rows of claims are parted by the same rule
    (`training/support.py`).
    """
    return _first_byte(text) % 20 == 0


def _first_byte(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]


def sentences(text: str) -> list[str]:
    """A text in sentences, by a simple rule: training needs no more."""
    return [part for part in _SENTENCE.split(text) if part.strip()] or [text]


def single_rows(folder: Path) -> list[tuple[Row, int]]:
    """Questions over one text, each with the line of its text among all."""
    with lzma.open(folder / "contexts.jsonl.xz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line) for line in lines]
    rows = []
    with lzma.open(folder / "questions.jsonl.xz", "rt", encoding="utf-8") as lines:
        for said in map(json.loads, lines):
            found = said["s"] is not None
            evidence = (1.0,) if found else (None,)  # a text that does not answer may still be about the question
            passages, span = (Passage("", texts[said["c"]]),), (said["s"] or 0, said["e"] or 0)
            row = Row(said["q"], passages, 0 if found else -1, *span, evidence, source=said["from"])
            rows.append((row, said["c"]))
    return rows


def support_rows(file: Path, part: Literal["train", "test"]) -> list[Row]:
    """Claims with a text that supports them or does not."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        said = [json.loads(line) for line in lines]
    return [
        Row(
            one["claim"], (Passage("", one["text"]),), supports=float(one["supported"]), source=f"support {one['from']}"
        )
        for one in said
        if one["part"] == part
    ]


def asked_sets(folder: Path) -> dict[str, AskedSet]:
    """What `training.candidates` wrote, by the name of the set."""
    found = {}
    for file in sorted(folder.glob("*.json.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            said = json.load(stream)
        passages = [(title, sentences(text)) for title, text in said["passages"]]
        found[said["set"]] = AskedSet(said["set"], passages, [_asked(said["set"], one) for one in said["questions"]])
    return found


def _asked(name: str, one: dict[str, Any]) -> Asked:
    gold = tuple(tuple(map(bool, piece)) for piece in one["gold"])
    return Asked(
        one["id"], name, one["half"], one["question"], tuple(one["answers"]), tuple(one["candidates"]),
        tuple(map(tuple, one["features"])), one["linked"], gold, tuple(one["hybrid-words"]),
    )  # fmt: skip


def span_of(answers: Sequence[str], passage: Passage) -> tuple[int, int] | None:
    """Where the first of the answers stands in what is shown: whole words, in the text rather than the title."""
    for answer in answers:
        if answer.strip().lower() in YES_NO or not answer.strip():
            continue
        found = list(re.finditer(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", passage.shown, re.IGNORECASE))
        if found:
            best = next((each for each in found if each.start() >= passage.begin), found[0])
            return best.start(), best.end()
    return None


SPANS = frozenset({"musique", "hotpotqa", "2wiki-dev400", "windows", "demo"})
"""Sets whose answers stand in the text; of the others only the evidence is learnt from."""


def grouped(asked: Asked, passages: Sequence[tuple[str, list[str]]], group: Sequence[int], size: int) -> Row:
    """The row of a question with these passages, each cut to a window of `size` characters."""
    shown = [window.shown for window in windows(asked.question, [passages[at] for at in group], size)]
    gold = asked.evidence
    evidence = tuple(float(at in gold) for at in group)
    row = Row(asked.question, tuple(shown), None, evidence=evidence, source=asked.set)
    if asked.set not in SPANS or not asked.answers or asked.answers[0].strip().lower() in YES_NO:
        return row
    for number in reversed(range(len(group))):
        found = span_of(asked.answers, shown[number])
        if found is not None and group[number] in gold:
            return replace(row, at=number, start=found[0], end=found[1])
    # The window may have lost the answer, and a passage that is no evidence may hold it by chance: both are unknown.
    held = any(span_of(asked.answers, Passage(passages[at][0], " ".join(passages[at][1]))) for at in group)
    return replace(row, at=None if held else -1)


SIZES = (220, 340, 340, 480, 700)
"""Characters of a window, drawn for each row."""
GROUPS = (1, 1, 2, 2, 3, 4, 5, 6)
"""Passages that are read together, drawn for each row."""
ROOM = 1700
"""Characters of all windows of a row."""


def hop_rows(asked: Asked, passages: Sequence[tuple[str, list[str]]], dice: random.Random, times: int) -> list[Row]:
    """Rows of one question: its evidence alone, in pairs, and among what else was found for it."""
    rows = []
    gold = sorted(asked.evidence)
    others = [at for at in asked.candidates if at not in asked.evidence]
    if not gold or not others:
        return []
    for _ in range(times):
        count = dice.choice(GROUPS)
        size = min(dice.choice(SIZES), ROOM // count)
        right = dice.sample(gold, min(len(gold), count, dice.choice((0, 1, 1, 2, 2, 3, 4))))
        # Mostly from the head of the list, where order matters.
        pool = others[: dice.choice((6, 12, 40))]
        wrong = dice.sample(pool, min(len(pool), count - len(right)))
        group = [*right, *wrong]
        dice.shuffle(group)
        if group:
            rows.append(grouped(asked, passages, group, size))
    return rows


def crowd_rows(rows: Sequence[tuple[Row, int]], dice: random.Random) -> list[Row]:
    """Questions over one text, with one to four neighbours of that text in its article: those in which the
    answer does not stand, so that they are no evidence.
    """
    texts = {line: row.passages[0] for row, line in rows}
    found = []
    for row, line in rows:
        near = [texts[at] for at in range(line - 4, line + 5) if at != line and at in texts]
        answer = row.passages[0].shown[row.start : row.end]
        near = [one for one in near if not answer or answer.lower() not in one.shown.lower()]
        count = min(len(near), dice.choice((1, 1, 2, 3, 4)))
        if not count:
            continue
        group = dice.sample(near, count)
        place = dice.randint(0, count)
        group.insert(place, row.passages[0])
        size = min(dice.choice(SIZES), ROOM // len(group))
        shown = [w.shown for w in windows(row.question, [("", sentences(one.text)) for one in group], size)]
        evidence = tuple(row.evidence[0] if n == place else 0.0 for n in range(len(group)))
        span = span_of((answer,), shown[place]) if row.at == 0 else None
        at = -1 if row.at == -1 else None if span is None else place
        found.append(Row(row.question, tuple(shown), at, *(span or (0, 0)), evidence, None, f"{row.source} in a crowd"))
    return found
