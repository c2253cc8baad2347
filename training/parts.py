"""What each part of the reader's training learns from, and what is held out from both.

Figures on single texts are of texts that `held_out` names, on claims of the part `test` of their rows, on questions
over several passages of the halves `report`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragways.models.reader import Passage
from training.data import AskedSet, Row, crowd_rows, held_out, hop_rows, single_rows, support_rows
from training.generated import generated_rows

KINDS = {"2wiki-dev400": "2wiki", "multihop-rag-summaries": "multihop-rag"}
"""Of sets whose kind is not their name."""
ARTICLES = ("musique", "hotpotqa", "2wiki")
"""Kinds whose passages are beginnings of encyclopedia articles, from which questions are generated."""
EACH, LEAST, MOST = 4500, 16, 120
"""Rows of a set in the second part, and rows of one question at least and at most."""


def kind_of(name: str) -> str:
    """Sets of one kind are left out together."""
    return KINDS.get(name, name)


def first_rows(data: Path, support: Path, sets: Mapping[str, AskedSet], seed: int, limit: int) -> list[Row]:
    """What is learnt first: single texts that are not held out, those in a crowd, claims and generated questions."""
    dice = random.Random(seed)
    single = [(row, line) for row, line in single_rows(data) if not held_out(row.passages[0].text)]
    kept = dice.sample(single, min(limit or len(single), len(single)))
    rows = [row for row, _ in kept] + crowd_rows(kept, dice) + support_rows(support, "train")
    for one in sets.values():
        if kind_of(one.name) in ARTICLES:
            skip = frozenset(at for asked in one.asked if asked.half == "report" for at in asked.evidence)
            corpus = [Passage(title, " ".join(said)[:900]) for title, said in one.passages]
            rows += generated_rows(corpus, skip, dice)
    return rows


def held_rows(data: Path) -> list[Row]:
    """Questions over single texts that are held out from both parts."""
    return [row for row, _ in single_rows(data) if held_out(row.passages[0].text)]


def second_rows(sets: Mapping[str, AskedSet], first: Sequence[Row], without: Sequence[str], seed: int) -> list[Row]:
    """Questions over several passages, and as many rows of what was learnt first."""
    dice = random.Random(seed)
    rows: list[Row] = []
    for one in sets.values():
        if kind_of(one.name) not in without:
            chosen = [asked for asked in one.asked if asked.half == "choose"]
            times = min(max(LEAST, EACH // max(len(chosen), 1)), MOST)
            rows += [row for asked in chosen for row in hop_rows(asked, one.passages, dice, times)]
    return rows + dice.sample(list(first), min(len(first), len(rows)))
