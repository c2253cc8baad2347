"""What `fused` has to choose from, for questions whose evidence is known: the rows on which order is learnt.

    python -m training.candidates --data DIR --indexes DIR --out DIR [SET …]

For each set of `training/fusion.py` a file `SET.json.xz`: its questions with their half, and for each the candidates
(a title and a text), what `fused` knows of each, which piece of the gold each shows, and the order of `hybrid-words`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
from importlib import resources
from pathlib import Path
from typing import Any

from ragways.assemble import opened
from ragways.evaluation.gold import GoldIndex
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import ask
from ragways.settings import read_settings
from training.data import half_of
from training.fusion import SETS, gather


async def rows(data: Path, index: Path, name: str) -> dict[str, Any]:
    """What the file of a set holds, from its data and an index of it, which is built where it is missing."""
    asked = await gather(data, index, name)
    texts: dict[str, int] = {}
    passages: list[list[str]] = []
    found = []
    async with opened(read_settings(index=index)) as use:
        gold = GoldIndex(use.index)
        for one in asked:
            for piece in one.pieces:
                if piece.id not in texts:
                    texts[piece.id] = len(passages)
                    passages.append([piece.title, piece.text])
            with retrieval_only():
                plain = (await ask(use, one.question.text, "hybrid-words")).answer.evidence.hits
            found.append(
                {
                    "id": one.question.id,
                    "half": half_of(one.question.id),
                    "question": one.question.text,
                    "answers": list(one.question.answers),
                    "candidates": [texts[piece.id] for piece in one.pieces],
                    "features": one.features.round(5).tolist(),
                    "linked": one.linked,
                    "gold": one.gold.astype(int).tolist(),
                    "hybrid-words": [rank or 0 for rank in gold.ranks(one.question, plain)],
                }
            )
    return {"set": name, "passages": passages, "questions": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[name for name in SETS if name != "2wiki"])
    for name in ("data", "indexes", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        with resources.as_file(resources.files("ragways") / "demo") as demo:
            folder = demo if name == "demo" else options.data / name.removesuffix("-summaries")
            found = asyncio.run(rows(folder, options.indexes / name, name))
        with lzma.open(options.out / f"{name}.json.xz", "wt", encoding="utf-8") as file:
            json.dump(found, file, ensure_ascii=False)
        print(f"{name}: {len(found['questions'])} questions, {len(found['passages'])} passages", flush=True)


if __name__ == "__main__":
    main()
