"""What the first use of a tool for agents costs on an index, and the second: CPU seconds and memory.

    python benchmarks/first_use.py --index DIR [--only title_search agent-graph] [--json]

Each tool is called in a process of its own, so that nothing is there that another has read. Opening the index is
reported apart; `peak_mb` is the most that the process had, `held_mb` what the first use has added. Arguments are
articles that are drawn by a seed. A question by `agent-graph` is retrieval alone. The embedder is that of
`stand_in.py`, so the index is one of `scale.py --keep`, or has words and no vectors.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import limit_threads

limit_threads()  # before numpy is there

import argparse
import asyncio
import gc
import json
import random
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from stand_in import StandIn

from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.retrieval.ask import PARADIGMS, retrieve
from ragways.retrieval.resources import Resources
from ragways.retrieval.tools.toolbox import Toolbox

STEPS = ("article_text", "title_search", "backlinks", "article_neighbourhood", "shortest_path", "agent-graph")
FURTHER = 10


def titles(folder: Path, count: int) -> list[str]:
    """Titles of some articles, the same whenever they are drawn."""
    with closing(sqlite3.connect(f"file:{folder / 'index.sqlite'}?mode=ro", uri=True)) as db:
        places = [random.Random(n).randrange(1 << 48) for n in range(count)]
        query = "SELECT title FROM documents WHERE number >= ? AND redirect IS NULL ORDER BY number LIMIT 1"
        return [str(db.execute(query, (place,)).fetchone()[0]) for place in places]


async def asked(use: Resources, step: str, one: str, other: str) -> object:
    given = {
        "title_search": {"title": one[:-1]},
        "shortest_path": {"start": one, "end": other},
    }
    if step in PARADIGMS:
        return await retrieve(use, f"When did {one} meet {other}?", step)
    found = await Toolbox(use).run(step, given.get(step, {"article": one}))
    if found.failed:
        raise SystemExit(found.text)
    return found


def measured(folder: Path, step: str) -> dict[str, Any]:
    names = titles(folder, 2 * (FURTHER + 1))
    began = time.process_time()
    use = Resources(Index.open(folder), StandIn(), ModelClient(None))
    row: dict[str, Any] = {"step": step, "open_cpu_s": time.process_time() - began}
    before, took = resident("VmRSS"), []
    for one, other in zip(names[::2], names[1::2], strict=True):
        began = time.process_time()
        asyncio.run(asked(use, step, one, other))
        took.append(time.process_time() - began)
        if len(took) == 1:
            row |= {"peak_mb": resident("VmHWM"), "first_cpu_s": took[0]}
            gc.collect()
            row["held_mb"] = resident("VmRSS") - before
    row |= {"further_ms": 1000 * sum(took[1:]) / FURTHER, "slowest_ms": 1000 * max(took[1:])}
    use.index.close()
    return row


def resident(field: str) -> float:
    return int(re.findall(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked_for = parser.parse_args()
    if asked_for.child:
        print(json.dumps(measured(asked_for.index, asked_for.child)))
        return
    index = Index.open(asked_for.index)
    able = [step for step in asked_for.only if step not in PARADIGMS or PARADIGMS[step].needs <= index.layers]
    index.close()
    for step in able:
        command = [sys.executable, __file__, "--index", str(asked_for.index), "--child", step]
        row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        row = {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}
        print(json.dumps(row) if asked_for.json else "  ".join(f"{k} {v}" for k, v in row.items()), flush=True)


if __name__ == "__main__":
    main()
