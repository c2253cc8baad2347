"""Figures of the foundation: install size, start-up and cold answers on the bundled corpus.

    python -m benchmarks.foundation [--install] [--json]

CPU seconds, because machines are shared.
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


def measure(install: bool) -> dict[str, Any]:
    ragways = [sys.executable, "-m", "ragways.apps.cli"]
    figures: dict[str, Any] = {
        "python start": cpu_of([sys.executable, "-c", "pass"]),
        "import ragways": cpu_of([sys.executable, "-c", "import ragways"]),
        "ragways --help": cpu_of([*ragways, "--help"]),
    }
    if install:
        figures["install"] = install_size()
    with tempfile.TemporaryDirectory() as folder:
        index = ["--index", f"{folder}/index"]
        corpus = str(ROOT / "src" / "ragways" / "demo" / "corpus")
        subprocess.run([*ragways, "index", corpus, *index], check=True, stdout=subprocess.DEVNULL)
        for paradigm in ("words", "naive", "auto"):
            figures[f"cold ask, {paradigm}"] = cpu_of([*ragways, "ask", QUESTION, "-p", paradigm, *index, "--json"])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="set up a fresh environment and weigh it")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.install)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    for name, values in figures.items():
        print(
            f"{name}: " + ", ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items())
        )


if __name__ == "__main__":
    main()
