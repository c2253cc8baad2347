"""Does the graph by rules get better when the tagger of `training/names.py` finds its names?

    PYTHONPATH=benchmarks python -m training.names_graph --data DATA --weights names.npz [--sets musique,hotpotqa]
    PYTHONPATH=benchmarks python -m training.names_graph --weights names.npz --read CORPUS [--sample 38]

The first prints, for each set of DATA (`benchmarks/graph_quality.py` says what they hold), recall and bridges of four
graphs: `rules` as the product makes it; `types`, the same names with the tagger's types; `joined`, the tagger's names
and those of the rules where it has none; `tagger`, its names in place of those that rules find by capitals. Titles,
links, quotations, dates and quantities are found by rules in all of them. The second prints entities of `rules` and of
`tagger` mixed, to be marked by a reader who does not know which is which, and at the end which they were.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch
from graph_quality import Passages, bridges, fused, graph_by, passages, read_questions, scores, write_index
from graph_reading import Reader

from ragways.layers.graph import rules
from ragways.layers.graph.names import WordCounts, kind_around
from ragways.layers.graph.sentences import capital_names
from ragways.store.store import Store
from training.names import Document, Name, Tagger, load, tagged

RULES = {"method": "rules"}
WAYS = ("rules", "types", "joined", "tagger")
KINDS = {"PER": "person", "LOC": "place", "ORG": "organization"}
Tagged = Mapping[str, list[Name]]
"""Names by the text they stand in."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default="musique,hotpotqa")
    parser.add_argument("--read", type=Path)
    parser.add_argument("--sample", type=int, default=38)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tagger = load(options.weights)
    if options.read:
        read(options.read, tagger, options.sample)
    else:
        for name in options.sets.split(","):
            walk(options.data / name, tagger)


def walk(data: Path, tagger: Tagger) -> None:
    questions = list(read_questions(data))
    with tempfile.TemporaryDirectory() as folder:
        words, corpus = Path(folder) / "words", next(data.glob("corpus.json*"))
        write_index(words, corpus)
        names = tagged_texts(words, tagger)
        for way in WAYS:
            with names_by(way, names), graph_by(words, corpus, RULES) as (index, _):
                graph, known = index.graph, Passages(index)
                alone, both = (scores(way, questions, known) for way in (partial(passages, graph), fused(index)))
                with_words = {f"with bm25 {name}": score for name, score in both.items()}
                print(data.name, way, alone | with_words | bridges(graph, questions, known), graph.counts(), flush=True)


def read(corpus: Path, tagger: Tagger, sample: int) -> None:
    shown: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words"
        write_index(words, corpus)
        names = tagged_texts(words, tagger)
        for seed, way in enumerate(("rules", "tagger")):
            with names_by(way, names), graph_by(words, corpus, RULES) as (index, _):
                shown += ((entity, way) for entity in Reader(index, sample, 77 + seed).entities())
    random.Random(5).shuffle(shown)
    for number, (entity, _) in enumerate(shown, start=1):
        print(f"{number}. {entity}")
    print("\n" + " ".join(f"{number}:{way}" for number, (_, way) in enumerate(shown, start=1)))


def tagged_texts(index: Path, tagger: Tagger) -> Tagged:
    """The names that the tagger finds in every document of an index."""
    with closing(Store.open(index)) as store:
        documents = [Document(source.title, source.text, source.sentences) for source in store.sources()]
    started = time.process_time()
    found = {document.text: tagged(tagger, document) for document in documents}
    print(f"{len(documents)} documents tagged in {time.process_time() - started:.0f} CPU s (fp32)", flush=True)
    return found


@contextmanager
def names_by(way: str, found: Tagged) -> Iterator[None]:
    """Let the rules of the graph find names and kinds this way."""
    if way == "rules":
        yield
        return
    spans = {text: {_without_article(text, start, end): type for start, end, type in names}
             for text, names in found.items()}  # fmt: skip

    def names(text: str, start: int, end: int, words: WordCounts) -> Iterator[tuple[int, int]]:
        mine = [
            (low, high)
            for (low, high), type in spans[text].items()
            if start <= low and high <= end and type not in ("TIME", "NUM") and text[low:high].lower() != text[low:high]
        ]
        yield from mine
        if way == "joined":
            for low, high in capital_names(text, start, end, words):
                if not any(low < behind and first < high for first, behind in mine):
                    yield low, high

    def kind(text: str, start: int, end: int) -> str:
        return KINDS.get(spans[text].get((start, end), ""), "") or kind_around(text, start, end)

    with (
        patch.object(rules, "kind_around", kind),
        patch.object(rules, "capital_names", capital_names if way == "types" else names),
    ):
        yield


def _without_article(text: str, start: int, end: int) -> tuple[int, int]:
    return (start + 4 if text[start : start + 4] in ("the ", "The ") else start), end


if __name__ == "__main__":
    main()
