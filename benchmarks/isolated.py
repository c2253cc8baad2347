"""What it costs that PDF, Word and web pages are read in a child process, by file and beside a whole index run.

    python -m benchmarks.isolated [--files 300]

Folders of small web pages and small PDFs are read in a child and in the process itself, in turn; then the folder is
indexed with the embedder that comes with ragways. CPU time is that of both processes, the child's start included.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ragways.assemble import recipe_of
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.load import load
from ragways.corpus.source import LoadOptions, SourceFile
from ragways.index.build import build
from ragways.layers.table import USUAL
from ragways.settings import read_settings
from tests.corpus import samples

WORDS = "The tide was read twice a day at the old harbour, and a clerk wrote both into a book with a green cover. "
KINDS: dict[str, Callable[[int], bytes]] = {
    ".html": lambda n: f"<title>Page {n}</title><h2>Part</h2><p>{n} {WORDS * 8}</p>".encode(),
    ".pdf": lambda n: samples.pdf(tuple(f"{n} {WORDS[:80]}" for _ in range(10))),
}


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def read(files: list[SourceFile], *, apart: bool) -> float:
    """CPU seconds of reading these files."""
    before = cpu()
    with closing(IsolatedReader()) as reader:
        for file in files:
            list(reader.load(file, LoadOptions()) if apart else load(file))
    return cpu() - before


def indexed(docs: Path) -> float:
    """CPU seconds of indexing a folder from nothing."""
    with tempfile.TemporaryDirectory() as home:
        settings = read_settings(index=Path(home) / "index")
        before = cpu()
        asyncio.run(build(settings.index, [docs], recipe_of(settings, USUAL)))
        return cpu() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=300)
    count = parser.parse_args().files
    for suffix, make in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            files = [SourceFile(Path(folder) / f"{n}{suffix}", f"{n}{suffix}") for n in range(count)]
            for number, file in enumerate(files):
                file.path.write_bytes(make(number))
            read(files[:1], apart=False)
            inside, apart = (min(read(files, apart=way) for _ in range(3)) for way in (False, True))
            whole = indexed(Path(folder))
            print(f"{count} files {suffix}: read in the process {inside:.2f} CPU s, in a child {apart:.2f}", end="; ")
            print(
                f"{1000 * (apart - inside) / count:.1f} ms a file more, {(apart - inside) / whole:.1%} of a run",
                flush=True,
            )


if __name__ == "__main__":
    main()
