"""How often a follow-up question finds its document: as it was asked, made whole by a rule, and by hand.

    python -m benchmarks.follow_ups

`follow_ups.jsonl` holds short conversations over the bundled corpus, written by hand before the rule was. The rule was
made on the half `choose`; what is said of it is of the half `report`. `gold` is the title of the document that answers;
a question without one can be understood alone, and must stay as it is. Takes about half a minute.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import ragways
from ragways.tasks.follow_up import Turn, whole_by_rule

PARADIGMS = ("words", "naive", "fused")
DEPTHS = (1, 3)


def rows() -> list[dict[str, Any]]:
    file = Path(__file__).with_suffix(".jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def ranks(corpus: ragways.AsyncCorpus, questions: list[str], gold: list[str], paradigm: str) -> list[int]:
    """Of each question the place of its document among those found, from 1; 0 where it is not found."""
    found = []
    for question, title in zip(questions, gold, strict=True):
        hits = await corpus.retrieve(question, paradigm)
        titles = list(dict.fromkeys(hit.piece.title for hit in hits))
        found.append(titles.index(title) + 1 if title in titles else 0)
    return found


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with resources.as_file(resources.files("ragways") / "demo" / "corpus") as files:
            await ragways.abuild(files, folder, layers=("vectors", "words", "graph"))
        async with ragways.aopen(folder) as corpus:
            for half in ("choose", "report"):
                here = [row for row in rows() if row["half"] == half]
                alone = [row for row in here if row["gold"] is None]
                same = sum(rewritten(row) == row["question"] for row in alone)
                print(
                    f"\n{half}: {len(here) - len(alone)} follow-ups; {same} of {len(alone)} whole questions unchanged"
                )
                await table(corpus, [row for row in here if row["gold"] is not None])


async def table(corpus: ragways.AsyncCorpus, here: list[dict[str, Any]]) -> None:
    ways = {
        "as asked": [row["question"] for row in here],
        "by the rule": [rewritten(row) for row in here],
        "by hand": [row["whole"] for row in here],
    }
    print(f"| question | {' | '.join(f'{name}, first {depth}' for name in PARADIGMS for depth in DEPTHS)} |")
    print("|---|" + "---|" * (len(PARADIGMS) * len(DEPTHS)))
    for way, questions in ways.items():
        cells = []
        for paradigm in PARADIGMS:
            places = await ranks(corpus, questions, [row["gold"] for row in here], paradigm)
            cells += [f"{sum(0 < place <= depth for place in places)} of {len(places)}" for depth in DEPTHS]
        print(f"| {way} | {' | '.join(cells)} |")


def rewritten(row: dict[str, Any]) -> str:
    return whole_by_rule(row["question"], [Turn(*turn) for turn in row["turns"]])


if __name__ == "__main__":
    asyncio.run(main())
