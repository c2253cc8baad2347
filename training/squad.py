"""Measures the reader in the tree on SQuAD 2.0: the figures of the model card (`training/READER.md`).

    python -m training.squad --squad dev-v2.0.json --data DIR [--questions 800] [--seed 0]

Articles of which any paragraph is in the training data of DIR are left out: sets that are made from SQuAD (Disfl-QA,
XQuAD) share paragraphs with it. A question is asked of its own paragraph, and those with an answer also of another
paragraph of the same article. Takes some three CPU minutes, and no torch.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.models.reader import Passage, Reader, Reading
from training.data import single_rows
from training.scores import auc, f1, kept, normal

SAME = 150
"""Letters at the beginning, without spaces, by which paragraphs are taken to be the same."""


@dataclass(frozen=True, slots=True)
class Question:
    """With the paragraph it is about, its accepted answers (none where it cannot be answered), and other paragraphs."""

    text: str
    paragraph: str
    answers: tuple[str, ...]
    others: tuple[str, ...]


def beginning(text: str) -> str:
    return "".join(text.lower().split())[:SAME]


def unseen(articles: Sequence[dict[str, Any]], seen: frozenset[str]) -> list[Question]:
    """Questions of the articles that share no paragraph with what was seen (`beginning` of its texts)."""
    found = []
    for article in articles:
        texts = [paragraph["context"] for paragraph in article["paragraphs"]]
        if len(texts) < 2 or any(beginning(text) in seen for text in texts):
            continue
        for paragraph in article["paragraphs"]:
            others = tuple(text for text in texts if text != paragraph["context"])
            for asked in paragraph["qas"]:
                answers = () if asked["is_impossible"] else tuple(answer["text"] for answer in asked["answers"])
                found.append(Question(asked["question"], paragraph["context"], answers, others))
    return found


async def figures(questions: Sequence[Question], most: int, seed: int) -> dict[str, float]:
    """Exact match and F1 where there is an answer; how well "it is here" tells right from wrong paragraphs, and
    questions with an answer from those without.
    """
    dice = random.Random(seed)
    some, none = ([one for one in questions if bool(one.answers) == held] for held in (True, False))
    some, none = (dice.sample(each, min(most, len(each))) for each in (some, none))
    reader = Reader()
    try:
        right = await _read(reader, [(one.text, one.paragraph) for one in some])
        wrong = await _read(reader, [(one.text, dice.choice(one.others)) for one in some])
        tricks = await _read(reader, [(one.text, one.paragraph) for one in none])
    finally:
        await reader.aclose()
    said = [
        one.paragraph[reading.spans[0].start : reading.spans[0].end] if reading.spans else ""
        for one, reading in zip(some, right, strict=True)
    ]
    here, elsewhere, trick = (np.array([reading.answers for reading in each]) for each in (right, wrong, tricks))
    pairs = list(zip(said, some, strict=True))
    return {
        "questions with an answer": len(some),
        "questions without": len(none),
        "exact match": float(
            np.mean([any(normal(text) == normal(gold) for gold in one.answers) for text, one in pairs])
        ),
        "f1": float(np.mean([f1(text, one.answers) for text, one in pairs])),
        "auc, right against wrong paragraph": _told_apart(here, elsewhere),
        "kept when 95 % of wrong paragraphs are refused": kept(here, elsewhere),
        "auc, questions with against without an answer": _told_apart(here, trick),
    }


async def _read(reader: Reader, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
    return [(await reader.read(question, [[Passage("", text)]], most=1))[0] for question, text in pairs]


def _told_apart(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> float:
    return auc(np.concatenate([right, wrong]), np.arange(len(right) + len(wrong)) < len(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squad", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=800)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seen = frozenset(beginning(row.passages[0].text) for row, _ in single_rows(options.data))
    questions = unseen(json.loads(options.squad.read_text())["data"], seen)
    print(json.dumps(asyncio.run(figures(questions, options.questions, options.seed)), indent=1))


if __name__ == "__main__":
    main()
