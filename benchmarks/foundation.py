"""Figures of the foundation: install size, start-up, index time by stage, bytes written, cold answers.

    python benchmarks/foundation.py --corpus FILE [--install] [--json]

CPU seconds, because machines are shared. `--corpus` takes any file that `ragways index` reads.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
QUESTION = "When did Lothair II's mother die?"

# Run in a process of its own, so that what it writes can be read off the process.
BUILD = """
import asyncio, json, sys, time
from pathlib import Path
from ragways.core.runtime import limit_threads
from ragways.settings import read_settings
limit_threads()
from ragways.assemble import recipe_of
from ragways.index.build import build
from ragways.layers.table import USUAL
settings = read_settings(index=Path(sys.argv[1]))
started, cpu = time.perf_counter(), time.process_time()
summary = asyncio.run(build(settings.index, [Path(sys.argv[2])], recipe_of(settings, USUAL)))
written = int([line for line in open("/proc/self/io") if line.startswith("write_bytes")][0].split()[1])
print(json.dumps({"wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - cpu, "written": written,
                  "stages": summary.seconds, "documents": summary.added, "chunks": summary.chunks}))
"""


def cpu_of(command: list[str], times: int = 5) -> dict[str, float]:
    """Median CPU and wall seconds of a command, after one run to warm the disk."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    cpu, wall = [], []
    for _ in range(times + 1):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        wall.append(time.perf_counter() - started)
    return {"cpu_s": statistics.median(cpu[1:]), "wall_s": statistics.median(wall[1:])}


def install_size() -> dict[str, float]:
    """Megabytes of site-packages after `make` set up the base in a fresh environment."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
        context = next((python.parent.parent / "lib").glob("python*/site-packages"))
        size = sum(file.stat().st_size for file in context.rglob("*") if file.is_file() and not file.is_symlink())
        return {"megabytes": size / 1e6, "wall_s": time.perf_counter() - started}


def index_figures(corpus: Path, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder), str(corpus)], check=True, capture_output=True, text=True
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    figures["bytes"] = size
    figures["written_over_size"] = figures.pop("written") / size
    figures["embedding_share"] = figures["stages"]["embedding"] / figures["wall_s"]
    return figures


def measure(corpus: Path | None, install: bool) -> dict[str, Any]:
    ragways = [sys.executable, "-m", "ragways.apps.cli"]
    figures: dict[str, Any] = {
        "python start": cpu_of([sys.executable, "-c", "pass"]),
        "import ragways": cpu_of([sys.executable, "-c", "import ragways"]),
        "ragways --help": cpu_of([*ragways, "--help"]),
    }
    if install:
        figures["install"] = install_size()
    if corpus is not None:
        with tempfile.TemporaryDirectory() as folder:
            index = Path(folder) / "index"
            figures["index"] = index_figures(corpus, index)
            for paradigm in ("words", "naive", "hybrid-words"):
                ask = [*ragways, "ask", QUESTION, "-p", paradigm, "--index", str(index), "--json"]
                figures[f"cold ask, {paradigm}"] = cpu_of(ask)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--install", action="store_true", help="set up a fresh environment and weigh it")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.corpus, arguments.install)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    for name, values in figures.items():
        print(
            f"{name}: " + ", ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items())
        )


if __name__ == "__main__":
    main()
