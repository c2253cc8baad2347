"""Our reader of wikitext beside mwparserfromhell: speed on a dump, and time on markup that is never closed.

    python benchmarks/wikitext.py --dump pages.xml.bz2

Ours reads a page into a whole document (text, headings, links, infoboxes, each at its place); the library parses it and
strips the markup, which gives text without places. Without mwparserfromhell installed, only ours is measured.
"""

from __future__ import annotations

import argparse
import bz2
import importlib
import json
import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

from ragways.corpus.source import LoadOptions
from ragways.corpus.wiki.pages import page

UNCLOSED = (500, 1000, 2000)


def texts_of(dump: Path) -> list[str]:
    """The wikitext of every page."""
    data = bz2.decompress(dump.read_bytes()) if dump.suffix == ".bz2" else dump.read_bytes()
    return [unescape(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", data.decode(), re.DOTALL)]


def seconds(read: Callable[[str], object], texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        read(text)
    return time.process_time() - began


def measure(read: Callable[[str], object], texts: list[str]) -> dict[str, object]:
    size = sum(map(len, texts)) / 1e6
    return {
        "million_characters_a_cpu_second": round(size / seconds(read, texts), 2),
        "cpu_s_on_unclosed_templates": {n: round(seconds(read, ["{{a|" * n]), 3) for n in UNCLOSED},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", type=Path, required=True)
    texts, options = texts_of(parser.parse_args().dump), LoadOptions()
    result: dict[str, object] = {
        "pages": len(texts),
        "ours": measure(lambda text: page(text, "k", "T", options), texts),
    }
    try:
        library: Any = importlib.import_module("mwparserfromhell")
    except ImportError:
        library = None
    if library is not None:
        result["mwparserfromhell"] = measure(lambda text: library.parse(text).strip_code(), texts)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
