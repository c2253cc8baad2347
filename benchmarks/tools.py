"""CPU milliseconds of each tool on an index, and of a call over MCP stdio.

    export OPENBLAS_NUM_THREADS=1                       # one core, as the figures are given for
    python benchmarks/tools.py --index DIR              # an index with vectors and words
    python benchmarks/tools.py --index DIR --json
    python benchmarks/tools.py --index DIR --descriptions   # how well title_search finds what is described, not named

Embedding a query is not counted: it is the embedder's own figure. What the first search and the first links take, which
open the layers, is reported apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from ragways.assemble import opened
from ragways.layers.vectors import StoredVectors
from ragways.retrieval.resources import Resources
from ragways.retrieval.tools.toolbox import Toolbox
from ragways.settings import Settings, read_settings
from ragways.store.store import number_of

Figures = dict[str, Any]


def summary(times: list[float]) -> Figures:
    ordered = sorted(times)
    return {
        "p50_ms": round(statistics.median(ordered), 3),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)], 3),
        "max_ms": round(ordered[-1], 3),
        "calls": len(ordered),
    }


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.process_time()
    await work()
    return (time.process_time() - began) * 1000


async def tools(use: Resources, calls: int) -> Figures:
    """Each tool on random articles, as a model calls it: arguments checked, result as text."""
    box, chance = Toolbox(use), random.Random(7)
    loading = {"first_search_ms": await timed(lambda: box.title_search("warm")), "first_links_ms": 0.0}
    loading["first_links_ms"] = await timed(lambda: box.call("backlinks", {"article": use.index.documents()[0][0]}))
    articles = [(id, title) for id, _, title in use.index.documents()]
    queries = [title for _, title in chance.sample(articles, min(100, len(articles)))]
    await use.embed([*queries, *(query[:-1] for query in queries)])
    figures: Figures = {name: round(value, 1) for name, value in loading.items()}
    for name in box.names:
        arguments = [_arguments(name, chance, articles, queries) for _ in range(calls)]
        figures[name] = summary([await timed(partial(box.call, name, given)) for given in arguments])
    return figures


def _arguments(name: str, chance: random.Random, articles: list[tuple[str, str]], queries: list[str]) -> Figures:
    (id, title), (other, _) = chance.choice(articles), chance.choice(articles)
    given: dict[str, Figures] = {
        "title_search": {"title": chance.choice(queries)[:-1]},
        "chunk_search": {"query": chance.choice(queries)},
        "article_neighbourhood": {"article": id, "distance": 3},
        "article_text": {"article": title},
        "section_titles_and_infoboxes": {"article": id},
        "sections": {"ids": [f"{id}:s0", f"{other}:s0"]},
        "paragraph_window": {"id": f"{id}:s0:p0"},
        "section_window": {"id": f"{id}:s0"},
        "backlinks": {"article": id},
        "shortest_path": {"start": id, "end": other},
        "calculator": {"expression": f'mean([{chance.random()}, 2, 3]) * years_between("1901-02-03", "1950")'},
    }
    return given[name]


async def descriptions(use: Resources, calls: int) -> Figures:
    """Share of articles that are among the first five for what their first sentence says they are, their own words for
    it without the title: by letters, by a vector of each title, by that of each opening, and by `title_search`.
    """
    box, chance = Toolbox(use), random.Random(0)
    view = box._view
    began = time.process_time()
    articles = {number_of(id): title for id, _, title in use.index.documents() if view.catalogue.title(number_of(id))}
    titles = StoredVectors([str(n) for n in articles], await use.embed(list(articles.values())))
    figures: Figures = {"titles_ms_each": round((time.process_time() - began) * 1000 / len(titles), 2)}
    right: dict[str, list[bool]] = {
        "letters": [],
        "vectors of titles": [],
        "vectors of openings": [],
        "title_search": [],
    }
    for number in chance.sample(list(articles), min(calls, len(articles))):
        said = description(view.index.article(number)[1], articles[number])
        if not said:
            continue
        vector = await use.embed_question(said)
        found = await box.title_search(said)
        near = (
            [n for n, _ in view.catalogue.nearest(said, 5)],
            [int(n) for n, _ in titles.search(vector, 5)],
            [n for n, _ in view.opening_like(vector, 5)],
            [int(item.id.removeprefix("article:")) for item in found.articles],
        )
        for way, best in zip(right, near, strict=True):
            right[way].append(number in best)
    shares = {way: round(statistics.mean(own), 3) for way, own in right.items()}
    return {**figures, **shares, "articles": len(right["letters"])}


def description(text: str, title: str) -> str:
    """Up to nine words after the first `is` or `was`, none of them of the title; nothing where that is short."""
    said = re.split(r" (?:is|was) ", text.strip().split(". ")[0], maxsplit=1)[-1].split()[:9]
    kept = [word for word in said if word.lower().strip(",.()") not in title.lower().split()]
    return " ".join(kept) if len(kept) > 3 else ""


async def round_trips(settings: Settings, calls: int) -> Figures:
    """Wall milliseconds of a call over stdio, and of the same call in this process."""
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragways.apps.cli", "mcp", "--index", str(settings.index)],
        env={"OPENBLAS_NUM_THREADS": "1", "RAGWAYS_CACHE": str(settings.cache)},
    )
    given = {"expression": "1 + 1"}
    async with Client(server) as client, opened(settings) as use:
        box = Toolbox(use)
        await client.call_tool("calculator", given)
        over = [await walled(lambda: client.call_tool("calculator", given)) for _ in range(calls)]
        here = [await walled(lambda: box.call("calculator", given)) for _ in range(calls)]
    return {"over_stdio": summary(over), "here": summary(here)}


async def walled(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


async def described(settings: Settings, calls: int) -> Figures:
    async with opened(settings) as use:
        return {"found by a description": await descriptions(use, calls)}


async def measured(settings: Settings, calls: int) -> Figures:
    async with opened(settings) as use:
        found = await tools(use, calls)
    return {"tools": found, "mcp": await round_trips(settings, calls)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--descriptions", action="store_true")
    asked = parser.parse_args()
    work = described if asked.descriptions else measured
    figures = asyncio.run(work(read_settings(index=asked.index), asked.calls))
    if asked.json:
        print(json.dumps(figures, indent=2))
        return
    for part, rows in figures.items():
        print(part)
        for name, value in rows.items():
            print(f"  {name:30}", value)


if __name__ == "__main__":
    main()
