"""What the reader gains beside a model, and in paradigms that search in rounds without one.

    python benchmarks/reader_beside_model.py --data DIR --indexes DIR [--half report] [--limit 50]
    python benchmarks/reader_beside_model.py --data DIR --indexes DIR --rounds [--enough 1.0]

DIR of the data holds musique, hotpotqa and 2wiki-dev400 as published, DIR of the indexes an index of each with the
layers vectors, words and graph (`benchmarks/fusion.py` makes them). A question is in the half `choose`, on which things
were decided and the reader was trained, if the first byte of the SHA-256 of its id is even, else in `report`.

There is no model here, so a stand-in plays one: it reads the first two of the passages it is shown and no more, says
the right answer where that stands in them, and else the title of the first, as a model does that loses what is in the
middle. It shows what order and a check would do for such a model, not what they do for yours. A spared call is lost
where an answer stands in any of the passages, and right where the question is one of another corpus.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ragways.core.runtime import limit_threads

limit_threads()

from ragways.assemble import opened  # noqa: E402
from ragways.core.trace import Usage  # noqa: E402
from ragways.evaluation.datasets import load_questions  # noqa: E402
from ragways.evaluation.gold import GoldIndex  # noqa: E402
from ragways.evaluation.metrics import Cut  # noqa: E402
from ragways.evaluation.question import Question, plain_words, squad_normal  # noqa: E402
from ragways.models.call import Call, Reply  # noqa: E402
from ragways.models.client import ModelClient  # noqa: E402
from ragways.retrieval import reader  # noqa: E402
from ragways.retrieval.ask import Result, ask  # noqa: E402
from ragways.settings import read_settings  # noqa: E402

SETS = {"musique": "questions.json.gz", "hotpotqa": "questions.json.gz", "2wiki-dev400": "questions.jsonl.gz"}
SHOWN = 2
"""Passages that the stand-in reads."""
BOUNDS = (0.02, 0.05, 0.1, 0.2, 0.3)
CUTS = tuple(map(Cut.parse, ("recall@2", "recall@5")))


class FirstTwo:
    """The stand-in for a model. `answers` are those of the question that is asked next."""

    name, base_url = "first two", ""

    def __init__(self) -> None:
        self.answers: Sequence[str] = ()

    async def send(self, call: Call) -> Reply:
        passages = re.split(r"^\[\d+\] ", call.messages[-1].content, flags=re.MULTILINE)[1 : SHOWN + 1]
        read = plain_words(" ".join(passages))
        known = [answer for answer in self.answers if f" {plain_words(answer)} " in f" {read} "]
        said = known[0] if known else passages[0].splitlines()[0]
        reply = f"{said} [1]"
        return Reply(json.dumps(reply), usage=Usage(calls=1), model=self.name)

    async def aclose(self) -> None:
        pass


@dataclass(frozen=True)
class Asked:
    """Whether the stand-in was right, whether the answer stands in the evidence at all, the reader's chance, whether it
    agreed, whether it said otherwise and was right with that, and where evidence was found.
    """

    right: bool
    held: bool
    chance: float
    agreed: bool
    noted: bool
    note_right: bool
    ranks: Sequence[int | None]


def questions(data: Path, name: str, half: str, limit: int) -> list[Question]:
    found = load_questions("hipporag", data / name / SETS[name])
    return [one for one in found if (hashlib.sha256(one.id.encode()).digest()[0] % 2 == 0) == (half == "choose")][
        :limit
    ]


async def beside(data: Path, indexes: Path, name: str, paradigm: str, half: str, limit: int) -> dict[str, Any]:
    """Figures of one set: with and without an order, of the check, and of bounds below which nothing is asked."""
    other = next(each for each in SETS if each != name)
    model, found = FirstTwo(), dict[str, list[Asked]]()
    reader.SURE = 0.0  # type: ignore[misc]  # what is noted is counted by its chance below
    settings = read_settings(environment={}, index=indexes / name, answer={"check": True})
    async with opened(settings) as use:
        gold = GoldIndex(use.index)
        for kind, order, asked in (
            ("as found", False, questions(data, name, half, limit)),
            ("ordered", True, questions(data, name, half, limit)),
            ("foreign", False, questions(data, other, half, limit)),
        ):
            found[kind] = []
            for question in asked:
                model.answers = question.answers if kind != "foreign" else ()
                with_model = replace(use, model=ModelClient(model), order=order)
                result = await ask(with_model, question.text, paradigm)
                found[kind].append(_asked(question, result, gold.ranks(question, result.answer.evidence.hits)))
    usual, foreign = found["as found"], found["foreign"]
    wrong, right = [one for one in usual if not one.right], [one for one in usual if one.right]
    return {
        "questions": len(usual),
        **{
            kind: {
                **{str(cut): _mean([cut.score(one.ranks) or 0.0 for one in found[kind]]) for cut in CUTS},
                "right": _mean([one.right for one in found[kind]]),
            }
            for kind in ("as found", "ordered")
        },
        "noted from": {
            str(bar): {
                "of wrong": _share(wrong, bar),
                "of wrong, with the answer": _share([one for one in wrong if one.note_right], bar),
                "of right": _share(right, bar),
            }
            for bar in (0.5, 0.7, 0.8, 0.9)
        },
        "agreed": {"of wrong": sum(one.agreed for one in wrong), "of right": sum(one.agreed for one in right)},
        "spared below": {
            str(bound): {
                "answer in evidence": _mean([one.chance < bound for one in usual if one.held]),
                "not in evidence": _mean([one.chance < bound for one in usual if not one.held]),
                "of another corpus": _mean([one.chance < bound for one in foreign]),
            }
            for bound in BOUNDS
        },
    }


def _asked(question: Question, result: Result, ranks: Sequence[int | None]) -> Asked:
    said = squad_normal(result.answer.text)
    shown = plain_words(" ".join(hit.piece.text for hit in result.answer.evidence.items))
    chances = [step.details["chance"] for step in result.trace.walk() if "chance" in step.details]
    return Asked(
        any(said == squad_normal(answer) for answer in question.answers),
        any(f" {plain_words(answer)} " in f" {shown} " for answer in question.answers),
        float(str(chances[0])) if chances else 0.0,
        result.answer.chance is not None,
        bool(result.answer.note),
        any(f" {plain_words(answer)} " in f" {plain_words(result.answer.note)} " for answer in question.answers),
        ranks,
    )


def _share(rows: Sequence[Asked], bar: float) -> str:
    return f"{sum(one.noted and one.chance >= bar for one in rows)} of {len(rows)}"


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 3) if values else 0.0


async def rounds(data: Path, indexes: Path, name: str, half: str, limit: int, own: dict[str, Any]) -> dict[str, Any]:
    """Rounds, recall and F1 of the two paradigms that search in rounds, without a model."""
    figures: dict[str, Any] = {}
    async with opened(read_settings(environment={}, index=indexes / name)) as use:
        gold = GoldIndex(use.index)
        for paradigm in ("recursive", "iterative"):
            rows = []
            for question in questions(data, name, half, limit):
                result = await ask(use, question.text, paradigm, own)
                steps = [step.details["rounds"] for step in result.trace.walk() if "stopped" in step.details]
                ranks = gold.ranks(question, result.answer.evidence.hits)
                said = "" if result.answer.abstained else result.answer.text
                rows.append((int(str(steps[0])), CUTS[1].score(ranks) or 0.0, _f1(said, question.answers), bool(said)))
            columns = zip(("rounds", "recall@5", "F1", "answered"), zip(*rows, strict=True), strict=True)
            figures[paradigm] = {column: _mean(values) for column, values in columns}
    return figures


def _f1(said: str, answers: Sequence[str]) -> float:
    return max(_overlap(squad_normal(said).split(), squad_normal(answer).split()) for answer in answers)


def _overlap(said: list[str], gold: list[str]) -> float:
    shared = sum(min(said.count(word), gold.count(word)) for word in set(gold))
    return 2 * shared / (len(said) + len(gold)) if shared else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--indexes", type=Path, required=True)
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=["musique", "hotpotqa"], choices=SETS)
    parser.add_argument("--paradigm", default="hybrid-words")
    parser.add_argument("--rounds", action="store_true")
    parser.add_argument("--enough", type=float, help="of the paradigms in rounds; unset is their own")
    given = parser.parse_args()
    where, part = (given.data, given.indexes), (given.half, given.limit)
    own = {} if given.enough is None else {"enough": given.enough}
    for name in given.sets:
        if given.rounds:
            figures = asyncio.run(rounds(*where, name, *part, own))
        else:
            figures = asyncio.run(beside(*where, name, given.paradigm, *part))
        print(json.dumps({name: figures}, indent=1), flush=True)


if __name__ == "__main__":
    main()
