"""An index built by a model that fails on purpose: is it complete, or is every loss listed and in the exit code?

    python -m benchmarks.faults [--documents 100] [--malformed 0.05] [--wrong 0] [--halved 0] [--limited 0.1]
                                [--outage 60]

A loopback server answers as model and as embedder: so many replies are malformed, of another shape, or end in their
middle; so many requests get HTTP 429, and for the first seconds all of them do. The command `ragways index` runs
against it with every layer, and against another without faults. Complete means: the two indexes are equal in every
row and vector.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer
from tests.apps.test_plan import LAYERS, reply, settings
from tests.faults.killing import corpus
from tests.index.builds import contents, unlike

PARTLY = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--malformed", type=float, default=0.05)
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--halved", type=float, default=0.0)
    parser.add_argument("--limited", type=float, default=0.1)
    parser.add_argument("--outage", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        corpus(home / "docs", options.documents)
        well = index(home, "well", [], 0)
        faults = [
            Fault("limited", until=options.outage),
            Fault("malformed", share=options.malformed),
            Fault("halved", share=options.halved),
            Fault("limited", share=options.limited),
        ]
        ill = index(home, "ill", faults, options.wrong)
        different = unlike(contents(home / "well"), contents(home / "ill"))
        lost, listed = missing(home), failures(home / "ill")
    print(f"without faults: {well['requests']} requests, {well['seconds']} s, exit code {well['code']}")
    print(f"with faults:    {ill['requests']} requests, {ill['seconds']} s, exit code {ill['code']}")
    print(f"not done: {ill['undone']}, listed: {len(listed)}, lost: {len(lost)}")
    complete = not different and ill["code"] == 0
    owned_up = ill["code"] == PARTLY and lost <= listed and len(listed) == ill["undone"]
    print("complete, and equal to the one without faults" if complete else "", end="")
    print("every loss is listed" if owned_up else "", end="")
    if not (complete or owned_up):
        print(f"something is missing and not reported: {different[:5]}")
        raise SystemExit(1)
    print()


def index(home: Path, name: str, faults: list[Fault], wrong: float) -> dict[str, Any]:
    dice = random.Random(0)

    def answer(body: Mapping[str, Any]) -> object:
        return '{"unexpected": [1, 2, 3]}' if dice.random() < wrong else reply(body)

    with LoopbackServer(answer, faults=faults) as server:
        file = home / f"{name}.toml"
        small = settings(server).replace("method = 'model'", "method = 'model'\npassage_tokens = 300")
        file.write_text(small.replace("patience = 5", "patience = 180"))
        command = [sys.executable, "-m", "ragways.apps.cli", "index", str(home / "docs"), "--with", LAYERS, "--json"]
        began = time.perf_counter()
        done = subprocess.run(
            [*command, "--settings", str(file), "--index", str(home / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        if not done.stdout:
            raise SystemExit(done.stderr)
        seconds = round(time.perf_counter() - began, 1)
        undone = json.loads(done.stdout)["undone"]
        return {"code": done.returncode, "undone": undone, "requests": server.count, "seconds": seconds}


def missing(home: Path) -> set[tuple[str, str]]:
    """Facts and themes that the index without faults has, and the other has not."""
    query = "SELECT kind, hash FROM results WHERE kind = 'themes' OR kind LIKE 'facts:%'"
    return rows(home / "well", query) - rows(home / "ill", query)


def failures(folder: Path) -> set[tuple[str, str]]:
    return rows(folder, "SELECT kind, hash FROM failures")


def rows(folder: Path, query: str) -> set[tuple[str, str]]:
    db = sqlite3.connect(folder / "work_cache.sqlite")
    try:
        return set(db.execute(query))
    finally:
        db.close()


if __name__ == "__main__":
    main()
