"""Questions generated on an index: why drafts were left out, and how well their evidence is found, by type.

    python benchmarks/questions.py --index FOLDER [--count N] [--seed N] [--paradigms fused,naive,words] [--show N]

Without a model. A type is plausible if it is as hard as its name says: the more documents a question takes, the fewer
of them are found. `any` is the share of answerable questions of which some gold evidence is among the first ten,
`all` of which all of it is. A set on which words alone find everything would tell a router nothing.

`--show 60` prints 60 of them with their evidence, to be read. A question is good if somebody who sees no document
understands it, it means one thing, its gold answer is right and whole, the quotes bear it out, and its English is
right; one without an answer, if it sounds as if it had one and the corpus holds none.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from ragways.core.runtime import limit_threads
from ragways.settings import read_settings

limit_threads()

from ragways.assemble import opened  # noqa: E402
from ragways.evaluation.gold import GoldIndex  # noqa: E402
from ragways.evaluation.question import Question  # noqa: E402
from ragways.evaluation.questions.generate import GeneratedSet, generate  # noqa: E402
from ragways.retrieval.ask import retrieve  # noqa: E402
from ragways.retrieval.resources import Resources  # noqa: E402

TOP = 10


async def found(use: Resources, questions: list[Question], paradigm: str) -> dict[str, dict[str, float]]:
    """Of each type, the share of questions of which some and of which all evidence was found."""
    gold = GoldIndex(use.index)
    ranks: dict[str, list[list[int | None]]] = defaultdict(list)
    for question in questions:
        hits = await retrieve(use, question.text, paradigm, {"k": TOP})
        ranks[question.type].append(gold.ranks(question, hits))
    return {
        type: {
            "n": len(of),
            "gold": round(sum(map(len, of)) / len(of), 2),
            "any": round(sum(any(r is not None and r <= TOP for r in one) for one in of) / len(of), 3),
            "all": round(sum(all(r is not None and r <= TOP for r in one) for one in of) / len(of), 3),
        }
        for type, of in ranks.items()
    }


def shown(made: GeneratedSet, paradigms: dict[str, Any], seconds: float, count: int) -> None:
    print(f"{len(made.questions)} questions in {seconds:.1f} CPU s")
    for kind, counts in made.counts.items():
        print(f"{kind:22} {json.dumps(counts)}")
    for note in made.notes:
        print(note)
    for name, by_type in paradigms.items():
        print(f"\n{name}, top {TOP}\n{'type':22} {'n':>5} {'gold':>6} {'any':>6} {'all':>6}")
        for type, figures in by_type.items():
            print(f"{type:22} {figures['n']:5} {figures['gold']:6.2f} {figures['any']:6.3f} {figures['all']:6.3f}")
    step = max(1, len(made.questions) // count) if count else 0
    for question in made.questions[::step][:count] if step else ():
        print(f"- [{question.provenance['kind']}] {question.text} => {' | '.join(question.answers)[:300]}")
        for gold in question.gold:
            print(f"    {gold.title[:40]}: {gold.quote[:300]}")


async def measured(chosen: argparse.Namespace) -> None:
    settings = read_settings(environment={}, index=chosen.index)
    async with opened(settings) as use:
        started = time.process_time()
        made = await generate(use, count=chosen.count, seed=chosen.seed, without_model=True)
        seconds = time.process_time() - started
        asked = [question for question in made.questions if question.gold]
        paradigms = {name: await found(use, asked, name) for name in chosen.paradigms.split(",")}
    shown(made, paradigms, seconds, chosen.show)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--paradigms", default="fused,naive,words")
    parser.add_argument("--show", type=int, default=0)
    asyncio.run(measured(parser.parse_args()))


if __name__ == "__main__":
    main()
