"""Words of a large corpus: what building, asking, adding and removing take.

    python benchmarks/words.py --chunks 131072 [--times 8] [--questions 200]

Chunks are those of benchmarks/corpus_maker.py, one a document. `--times` links each segment so often, so that asking is
measured at a size that need not be built: words are then as common as they are in the corpus, and every answer is
there so often. A question is eight words in a row of a document, as many after stop words as 2wiki's have, and its
share is that of the chunks that hold each of its words, added up. All times are of the processor.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from corpus_maker import documents
from numpy.typing import NDArray

from ragways.index.postings import take_postings, write_postings
from ragways.index.segments import SEGMENT_CHUNKS, SegmentDocuments, segments
from ragways.index.words import Words, all_terms, terms


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, default=131_072)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place) / "words"
        report: dict[str, float] = {"chunks": options.chunks, **_build(folder, options.chunks)}
        report |= _change(folder, Path(place))
        for path in segments(folder):
            for n in range(1, options.times):
                _link(path, folder / f"{n}{path.name:>04}")
        report |= _ask(folder, list(_questions(options.chunks, options.questions)))
    print(json.dumps({name: round(value, 4) for name, value in report.items()}, indent=1))


def _build(folder: Path, chunks: int) -> dict[str, float]:
    spent, size = 0.0, 0
    texts = ((number, f"{made.title}\n{made.text}") for number, made in enumerate(documents(chunks)))
    for name in range(1, 1 + -(-chunks // SEGMENT_CHUNKS)):
        some = list(islice(texts, SEGMENT_CHUNKS))
        segment = folder / str(name)
        segment.mkdir(parents=True)
        began = time.process_time()
        SegmentDocuments.of((number, 1) for number, _ in some).save(segment)
        write_postings(segment, (("s0:p0:c0", all_terms(text)) for _, text in some))
        spent += time.process_time() - began
        size += sum(file.stat().st_size for file in segment.iterdir())
    return {"build ms a chunk": 1000 * spent / chunks, "bytes a chunk": size / chunks}


def _change(folder: Path, place: Path) -> dict[str, float]:
    """The most that one document can take: a full segment is written without it, or joined from small ones."""
    first, *_ = segments(folder)
    rows = np.arange(SegmentDocuments.load(first).size)
    numbers = SegmentDocuments.load_numbers(first)
    fewer = np.delete(rows, len(rows) // 2)
    quarters = [_empty(place / f"quarter{n}", numbers[n::4]) for n in range(4)]
    for n, quarter in enumerate(quarters):
        take_postings(quarter, [first], rows[n::4])
    without, joined = _empty(place / "without", numbers[fewer]), _empty(place / "joined", numbers)
    began = time.process_time()
    take_postings(without, [first], fewer)
    between = time.process_time()
    take_postings(joined, quarters, np.concatenate([rows[n::4] for n in range(4)]).argsort())
    return {"remove from a full segment s": between - began, "join a full segment s": time.process_time() - between}


def _empty(segment: Path, numbers: NDArray[np.int64]) -> Path:
    """A segment that has nothing yet but documents of a chunk each."""
    segment.mkdir()
    SegmentDocuments(numbers, np.arange(1, 1 + len(numbers))).save(segment)
    return segment


def _link(source: Path, target: Path) -> None:
    target.mkdir()
    for file in source.iterdir():
        (target / file.name).hardlink_to(file)


def _questions(chunks: int, count: int) -> Iterator[str]:
    chance = random.Random(7)
    for _ in range(count):
        [made] = documents(1, first=chance.randrange(chunks))
        words = terms(made.text)
        at = chance.randrange(max(1, len(words) - 8))
        yield " ".join(words[at : at + 8])


def _ask(folder: Path, questions: list[str]) -> dict[str, float]:
    began = time.process_time()
    words = Words(folder)
    words.search(questions[0], 10)
    first = time.process_time() - began
    spent, shares = [], []
    for question in questions:
        began = time.process_time()
        words.search(question, 10)
        spent.append(1000 * (time.process_time() - began))
        known = words.statistics(terms(question))
        shares.append(sum(known.frequencies.values()) / known.chunks)
    ordered = sorted(spent)
    return {
        "chunks asked": len(words),
        "open and first question s": first,
        "p50 ms": statistics.median(spent),
        "p95 ms": ordered[int(0.95 * len(ordered))],
        "share p50": statistics.median(shares),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main()
