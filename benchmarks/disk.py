"""What an index weighs on disk: bytes a chunk by layer and file, and what packing its vectors changes.

    python -m benchmarks.disk --index DIR [--files] [--corpus FILE --questions FILE]

Everything in the folder counts but pages fetched by `--url`. The work cache is shown apart: an index answers without
it, but would have to be embedded again to be changed. With a corpus and questions in the layout of HippoRAG's files
(`corpus.json.gz`, `questions.json.gz`), chunks are searched by vectors of four bytes a number and by packed ones.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import sqlite3
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from ragways.index.layers import LAYERS
from ragways.index.packed import PackedRows
from ragways.index.place import PAGES
from ragways.index.status import bytes_on_disk
from ragways.models.minilm import MiniLM


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--files", action="store_true", help="list every file and table, too")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--questions", type=Path)
    given = parser.parse_args()
    if given.index is not None:
        weigh(given.index, files=given.files)
    if given.corpus is not None:
        asyncio.run(compare(_read(given.corpus), _read(given.questions)))


def layer_bytes(index: Path) -> Counter[str]:
    """Bytes of an index by what they belong to: its documents, the work cache, each layer."""
    found: Counter[str] = Counter()
    for path in index.rglob("*"):
        if path.is_file() and path.relative_to(index).parts[0] != PAGES:
            found[_owner(path.relative_to(index))] += bytes_on_disk([path])
    return found


def _owner(path: Path) -> str:
    if path.parts[0] != "derived":
        return "work cache" if path.name.startswith("work_cache") else "documents"
    inside = Path(*path.parts[2:])
    for layer in LAYERS.values():
        if any(fnmatch(str(inside), p) or fnmatch(str(inside), f"{p}/*") for p in layer.patterns):
            return layer.name
    return "checksums"


def weigh(index: Path, *, files: bool) -> None:
    chunks = _rows(index / "index.sqlite", "SELECT count(*) FROM chunks")[0][0]
    found = layer_bytes(index)
    for name, size in found.most_common():
        print(f"{size / chunks:8,.0f} bytes a chunk  {name}")
    total = found.total()
    print(f"{total / chunks:8,.0f} in all, {(total - found['work cache']) / chunks:,.0f} without the work cache")
    print(f"{chunks:,} chunks")
    for path in sorted(index.rglob("*")) if files else ():
        if path.is_file():
            print(f"{bytes_on_disk([path]) / chunks:8,.0f}  {path.relative_to(index)}")
            if path.suffix == ".sqlite":
                for name, size in _rows(path, "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC"):
                    print(f"{size / chunks:16,.0f}  {name}")


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(path)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


async def compare(corpus: list[dict[str, Any]], questions: list[dict[str, Any]]) -> None:
    embedder = MiniLM()
    vectors = await embedder.embed([f"{passage['title']}\n{passage['text']}" for passage in corpus])
    asked = await embedder.embed([question["question"] for question in questions])
    place = {(passage["title"], passage["text"]): n for n, passage in enumerate(corpus)}
    gold = [
        {place[p["title"], p["paragraph_text"]] for p in question["paragraphs"] if p["is_supporting"]}
        for question in questions
    ]
    exact, packed = vectors @ asked.T, PackedRows.of(vectors) @ asked.T
    ranked = {name: np.argsort(-s, axis=0, kind="stable") for name, s in (("float32", exact), ("packed", packed))}
    for name, order in ranked.items():
        recalls = [
            np.mean([len(held & set(order[:k, n].tolist())) / len(held) for n, held in enumerate(gold)])
            for k in (5, 10, 20)
        ]
        print(f"{name}: recall at 5, 10 and 20 " + ", ".join(f"{recall:.4f}" for recall in recalls))
    off = np.abs(exact - packed)
    print(f"cosines differ by {off.mean():.5f} on average, {off.max():.5f} at most")
    same = [set(ranked["float32"][:10, n]) == set(ranked["packed"][:10, n]) for n in range(len(questions))]
    print(f"the same first ten for {sum(same)} of {len(same)} questions")


def _read(path: Path) -> Any:
    return json.loads(gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes())


if __name__ == "__main__":
    main()
