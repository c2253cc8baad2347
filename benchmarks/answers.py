"""Whether a change of the code changed any answer: all paradigms on one index, written down and compared.

    python benchmarks/answers.py --index DIR --questions FILE --format NAME --out new.json [--against old.json]

Answers' texts, and ids and scores of their evidence, must be equal to the last bit. Paradigms whose layers the index
lacks are left out. Without a model, so that nothing but the code can make a difference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from ragways.assemble import opened
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.question import Question
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.settings import read_settings


async def answers(index: Path, questions: list[Question]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    async with opened(read_settings(index=index, model={"name": "", "base_url": ""})) as use:
        for name, paradigm in PARADIGMS.items():
            for question in questions if paradigm.needs <= use.index.layers else ():
                answer = (await ask(use, question.text, name)).answer
                evidence = [[hit.piece.id, hit.score] for hit in answer.evidence.items]
                found[f"{name} {question.id}"] = [answer.text, evidence]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--format", default="plain")
    parser.add_argument("--limit", type=int, default=25)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    found = asyncio.run(answers(given.index, load_questions(given.format, given.questions)[: given.limit]))
    given.out.write_text(json.dumps(found), encoding="utf-8")
    print(f"{len(found)} answers of {len({key.split()[0] for key in found})} paradigms")
    if given.against is not None:
        before = json.loads(given.against.read_text(encoding="utf-8"))
        differ = [key for key in before if json.loads(json.dumps(found.get(key))) != before[key]]
        print(f"{len(before) - len(differ)} of {len(before)} equal" + "".join(f"\n  {key}" for key in differ[:20]))


if __name__ == "__main__":
    main()
