"""A megabyte of anything, with every layer: how much CPU time and memory does indexing it take?

    python -m benchmarks.hostile_texts [--size 1000000] [--only PATTERN] [--large] [--embedding]

Each text is indexed in a process of its own with vectors, words, windows, a graph by rules and communities. Vectors
come from a stand-in as wide as the real embedder, whose CPU time is taken off, as is what starting takes: what is
measured is parsing, splitting, rules and files. `--embedding` tells what the real embedder takes for a megabyte of
ordinary text. Exits with 1 where a text goes beyond 5 CPU seconds or 300 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.corpus.structure import PRESETS, cut, sentence_spans
from ragways.index.build import build
from ragways.layers.table import LAYERS
from tests.fakes import WordHashes, recipe

CPU, MEGABYTES = 5.0, 300.0
DIMENSION = 384
PATIENCE = 20
"""CPU seconds after which a text is given up."""


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: unit * max(1, size // len(unit.encode()))


def one_tag(size: int) -> str:
    """A tag with as many attributes as fit."""
    return "<p " + " ".join(f"a{n}=1" for n in range(size // 9)) + ">text</p>"


def names(size: int) -> str:
    """Sentences of names that occur once each: the most entities that a text can have."""
    draw = random.Random(1)
    syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"]
    words = ("".join(draw.choices(syllables, k=3)).capitalize() for _ in range(size // 7))
    return "".join(f"{word}. " if n % 12 == 11 else f"{word} " for n, word in enumerate(words))


def words(size: int) -> str:
    """Words in random order, in sentences: ordinary text as far as size goes."""
    draw = random.Random(2)
    some = [f"{a}{b}{c}" for a in ("ta", "re", "mi", "so") for b in ("ndo", "lka", "shi") for c in ("r", "n", "st")]
    return "".join(f"The {' '.join(draw.choices(some, k=14))}. " for _ in range(size // 107))


TEXTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "ordinary words": (".txt", words),
    "names": (".txt", names),
    "!?": (".txt", repeated("!?")),
    "! ": (".txt", repeated("! ")),
    "A. ": (".txt", repeated("A. ")),
    "A.": (".txt", repeated("A.")),
    "Ab. ": (".txt", repeated("Ab. ")),
    "one letter": (".txt", repeated("x")),
    "one capital": (".txt", repeated("A")),
    "capitals": (".txt", repeated("Ab ")),
    "acronyms": (".txt", repeated("(ABCDEFGHIJ) ")),
    "quotes": (".txt", repeated('"Ab" ')),
    "open quotes": (".txt", repeated('"A ')),
    "dates": (".txt", repeated("4 May 1990 ")),
    "years": (".txt", repeated("1990 ")),
    "digits": (".txt", repeated("1")),
    "digits and commas": (".txt", repeated("1,")),
    "quantities": (".txt", repeated("5 km ")),
    "brackets": (".txt", repeated("(")),
    "hyphens": (".txt", repeated("A-")),
    "apostrophes": (".txt", repeated("A'")),
    "particles": (".txt", repeated("Ab of the ")),
    "initials": (".txt", repeated("A.B ")),
    "lines": (".txt", repeated("a\n")),
    "paragraphs": (".txt", repeated("a\n\n")),
    "sentences in lines": (".txt", repeated("Ab.\n")),
    "Chinese": (".txt", repeated("\u4e2d")),
    "Chinese sentences": (".txt", repeated("\u4e2d\u3002")),
    "combining marks": (".txt", repeated("\u0301")),
    "emoji": (".txt", repeated("\U0001f600")),
    "is a": (".txt", repeated("is a ")),
    "headings": (".md", repeated("# A\n")),
    "headings with text": (".md", repeated("# A\nb\n")),
    "underlined headings": (".md", repeated("A\n=\n")),
    "table": (".md", lambda size: "|a|b|\n|-|-|\n" + "|A|B|\n" * (size // 6)),
    "wide table": (".md", lambda size: f"{'|a' * (size // 6)}|\n{'|-' * (size // 6)}|\n{'|B' * (size // 6)}|\n"),
    "links": (".md", repeated("[a](b.md) ")),
    "list": (".md", repeated("- a\n")),
    "deep list": (".md", lambda size: "".join(f"{' ' * (n % 40)}- a\n" for n in range(size // 24))),
    "stars": (".md", repeated("*a ")),
    "backticks": (".md", repeated("`a ")),
    "references": (".md", lambda size: "".join(f"[a{n}]: b\n" for n in range(size // 12))),
    "attributes": (".html", one_tag),
    "cells": (".html", lambda size: "<table><tr>" + "<td>a" * (size // 5)),
    "rows": (".html", lambda size: "<table>" + "<tr><td>A<td>B" * (size // 14)),
    "page headings": (".html", repeated("<h2>A</h2>")),
    "anchors": (".html", repeated('<a href="b.html">A</a> ')),
    "empty anchors": (".html", repeated("<a href=b.html></a>")),
    "open anchors": (".html", repeated("<a href=b>")),
    "paragraph tags": (".html", repeated("<p>a")),
    "formatting tags": (".html", repeated("<b>a<i>b</b>c</i>")),
    "wiki links": (".wiki", repeated("[[A]] ")),
    "wiki headings": (".wiki", repeated("== A ==\n")),
    "wiki tables": (".wiki", repeated("{|\n|a\n|}\n")),
    "wiki rows": (".wiki", lambda size: "{|\n" + "|-\n|A||B\n" * (size // 9) + "|}"),
    "templates": (".wiki", repeated("{{a|b}}")),
    "infoboxes": (".wiki", repeated("{{Infobox x|a=B}}\n")),
    "records": (".jsonl", repeated('{"text": "Ab cd."}\n')),
}  # fmt: skip


class Stand(WordHashes):
    """Vectors as long as the real ones, the same for the same text; the CPU time that they take is known."""

    def __init__(self) -> None:
        super().__init__()
        self.dimension, self.cpu, self.count_of_texts, self.characters = DIMENSION, 0.0, 0, 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.process_time()
        rows = np.stack([np.random.default_rng(abs(hash(text))).standard_normal(DIMENSION) for text in texts])
        self.count_of_texts += len(texts)
        self.characters += sum(map(len, texts))
        vectors: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        self.cpu += time.process_time() - started
        return vectors


def child(path: Path) -> None:
    """Index one file and print what it took. Memory that the parts take before any text is read is counted, too."""
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    embedder, began = Stand(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        summary = asyncio.run(build(Path(folder) / "index", [path], recipe(embedder, layers=frozenset(LAYERS.keys()))))
    own, parser = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = max(own.ru_maxrss, parser.ru_maxrss) / (1024 if sys.platform == "linux" else 1024 * 1024)
    stages = {name: round(seconds, 2) for name, seconds in summary.seconds.items() if seconds >= 0.05}
    said = summary.failed[0].reason if summary.failed else ""
    print(
        json.dumps(
            {
                "cpu": time.process_time() - began - embedder.cpu + parser.ru_utime + parser.ru_stime,
                "peak": peak,
                "texts": embedder.count_of_texts,
                "characters": embedder.characters,
                "stages": stages,
                "said": said,
            }
        )
    )


def measure(name: str, size: int) -> bool:
    suffix, make = TEXTS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"hostile{suffix}"
        path.write_text(make(size), encoding="utf-8")
        length = path.stat().st_size
        command = [sys.executable, "-m", "benchmarks.hostile_texts", "--child", str(path)]
        one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # as the command has it
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    if done.returncode:
        print(f"{name:22} {length:>10,} given up: {(done.stderr.strip().splitlines() or ['CPU'])[-1][:90]}", flush=True)
        return False
    took = json.loads(done.stdout)
    bound = size <= 1_000_000
    good = not bound or (took["cpu"] <= CPU and took["peak"] <= MEGABYTES)
    print(
        f"{name:22} {length:>10,} bytes {took['cpu']:6.1f} CPU s {took['peak']:6.0f} MB {took['texts']:>8,} texts"
        f"{'' if good else '  TOO MUCH'}  {took['stages'] if not good else ''} {took['said']}",
        flush=True,
    )
    return good


def embedding(size: int) -> None:
    """What the embedder that comes with ragways takes for the chunks, windows and sentences of ordinary text."""
    from ragways.models.minilm import MiniLM

    text = words(size)
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    windows = [" ".join(sentences[at : at + 3]) for at in range(len(sentences) - 2)]
    chunks = [text[start:end] for start, end in cut(text, 0, len(text), PRESETS["section"])]
    embedder = MiniLM()
    asyncio.run(embedder.embed(["opens its files"]))
    share = max(1, len(sentences) // 300)
    for name, texts in (("chunks", chunks), ("windows", windows), ("sentences", sentences)):
        some = texts[::share]
        started = time.process_time()
        asyncio.run(embedder.embed(some))
        took = (time.process_time() - started) * len(texts) / len(some)
        print(f"{name:10} {len(texts):>7,} texts of {len(text):,} characters: {took:.0f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--large", action="store_true", help="ten megabytes without a space, too")
    parser.add_argument("--embedding", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    if options.embedding:
        embedding(options.size)
        return
    chosen = [name for name in TEXTS if options.only in name]
    good = [measure(name, options.size) for name in chosen]
    if options.large:
        good.append(measure("one letter", 10_000_000))
    print(f"{sum(good)} of {len(good)} within {CPU:.0f} CPU s and {MEGABYTES:.0f} MB")
    raise SystemExit(not all(good))


if __name__ == "__main__":
    main()
