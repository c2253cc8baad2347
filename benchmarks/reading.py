"""Answers without a model: F1, evidence found and CPU spent, on the half of the questions on which nothing was chosen.

    python -m benchmarks.reading --data DIR [--indexes DIR] [--half report] [--most N] [--sets a,b] [--ways …] [--json]

Sets are those of `training/candidates.py`. A way is a paradigm with settings: `fused`, `fused:spend=500`,
`naive:reader=extract`. F1 and exact match (SQuAD's normal form, the best of the accepted answers; an abstention is
wrong) are of the questions that have an answer of at most ten words. Retrieval and answering are timed apart, in CPU
milliseconds of all threads; every question is retrieved once before, so that neither counts its vector.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import limit_threads

limit_threads()  # before numpy is there

import argparse
import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ragways.assemble import opened, recipe_of
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.metrics import token_f1
from ragways.evaluation.question import Question, normal
from ragways.index.build import build
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import ask
from ragways.retrieval.resources import Resources
from ragways.settings import read_settings
from training.candidates import SETS
from training.data import half_of

WAYS = "naive,hybrid-words,fused:spend=0,fused:spend=50,fused,fused:spend=500,fused:spend=10000,fused:reader=extract"
USUAL = "hotpotqa,musique,2wiki-dev400,multihop-rag-summaries,demo,windows,graphrag-bench"
SHORT = 10
"""Words of an answer that can be compared word by word."""


def parsed(way: str) -> tuple[str, dict[str, Any]]:
    """Paradigm and settings of a way."""
    name, *settings = way.split(":")
    pairs = dict(one.split("=", 1) for one in settings)
    return name, {key: int(value) if value.isdigit() else value for key, value in pairs.items()}


async def one_way(use: Resources, gold: GoldIndex, questions: Sequence[Question], way: str) -> dict[str, float]:
    """Means over the questions."""
    name, settings = parsed(way)
    found = defaultdict[str, list[float]](list)
    for question in questions:
        with retrieval_only():
            await ask(use, question.text, name, settings)
            began = time.process_time()
            hits = (await ask(use, question.text, name, settings)).answer.evidence.hits
            middle = time.process_time()
        answer = (await ask(use, question.text, name, settings)).answer
        whole = time.process_time() - middle
        found["retrieval ms"].append(1000 * (middle - began))
        found["answering ms"].append(1000 * (whole - (middle - began)))
        if question.gold:
            ranks = [rank is not None and rank <= 5 for rank in gold.ranks(question, hits)]
            found["recall@5"].append(float(np.mean(ranks)))
            found["all evidence@5"].append(float(all(ranks)))
        short = [each for each in question.answers if len(each.split()) <= SHORT]
        if short:
            said = "" if answer.abstained else answer.text
            found["f1"].append(token_f1(said, short))
            found["em"].append(float(normal(said) in map(normal, short)))
            found["abstained"].append(float(answer.abstained))
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


async def one_set(data: Path, index: Path, name: str, options: argparse.Namespace) -> dict[str, Any]:
    format, corpus, file, _ = SETS[name]
    settings = read_settings(index=index, model={"name": "", "base_url": ""}, answer={"threshold": options.threshold})
    await build(index, [data / corpus], recipe_of(settings, frozenset({"vectors", "words", "graph"})))
    chosen = [one for one in load_questions(format, data / file) if half_of(one.id) == options.half]
    chosen = chosen[:: -(-len(chosen) // options.most)]
    told: dict[str, Any] = {"questions": len(chosen)}
    async with opened(settings) as use:
        gold = GoldIndex(use.index)
        for way in options.ways.split(","):
            told[way] = await one_way(use, gold, chosen, way)
            print(
                f"{name:24} {way:24} " + "  ".join(f"{key} {value:g}" for key, value in told[way].items()), flush=True
            )
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--indexes", type=Path, help="where indexes are kept (default: the user's cache)")
    parser.add_argument("--half", default="report", choices=("choose", "report"))
    parser.add_argument("--most", type=int, default=200, help="questions of a set, evenly spaced")
    parser.add_argument("--sets", default=USUAL)
    parser.add_argument("--ways", default=WAYS)
    parser.add_argument("--threshold", type=float, default=0.0, help="least chance of being right; 0 always answers")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    indexes = options.indexes or read_settings().cache / "fusion"
    told = {}
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        for name in options.sets.split(","):
            folder = demo if name == "demo" else options.data / name.removesuffix("-summaries")
            told[name] = asyncio.run(one_set(folder, indexes / name, name, options))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
