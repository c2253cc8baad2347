"""What the service carries: requests a second, latencies and the first streamed word.

    python -m benchmarks.serve --index DIR --questions FILE [--seconds 20] [--clients 16]

Starts `ragways serve` on the index with its own data folder, and asks it by `wrk` (Debian's package of that name) from
this machine, so the load is part of what the cores do. FILE has a question a line, or JSON lines with `question`.
Questions are asked once before they are measured, so that their vectors are known: figures are apart from embedding.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from ragways.testing import LoopbackServer

LUA = """
local questions = {}
for line in io.lines(os.getenv("QUESTIONS_FILE")) do questions[#questions + 1] = line end
local at = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  at = at + 1
  return wrk.format(nil, nil, nil, questions[at % #questions + 1])
end
done = function(summary, latency, requests)
  io.write(string.format("FIGURES %d %d %d %.0f %.0f %.0f %.0f\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout,
    latency:percentile(50), latency:percentile(95), latency:percentile(99), latency.max))
end
"""


@contextmanager
def server(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> Iterator[tuple[str, int]]:
    """The address and process number of a server, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ragways", "serve", "--data", str(folder / "data"), "--port", "0", *arguments],
        stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "the server did not start"
            found = re.search(r"serving (http://\S+?)/ ", line)
        yield found[1], process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


def wrk(url: str, seconds: int, clients: int, bodies: list[str] | None, folder: Path) -> dict[str, float]:
    """Requests a second and latencies in ms, by wrk."""
    script, lines = folder / "load.lua", folder / "bodies"
    script.write_text(LUA if bodies else LUA[LUA.index("done =") :])
    lines.write_text("\n".join(bodies or []))
    done = subprocess.run(
        ["wrk", "-t", "1", "-c", str(clients), "-d", f"{seconds}s", "--timeout", "30s", "-s", str(script), url],
        capture_output=True, text=True, check=True, env={**os.environ, "QUESTIONS_FILE": str(lines)},
    )  # fmt: skip
    count, micros, errors, *latency = map(float, re.search(r"FIGURES (.*)", done.stdout)[1].split())  # type: ignore[index]
    p50, p95, p99, most = (value / 1000 for value in latency)
    return {"a_second": count / (micros / 1e6), "errors": errors, "p50": p50, "p95": p95, "p99": p99, "max": most}


def told(name: str, figures: dict[str, float]) -> None:
    print(
        f"{name:<44}{figures['a_second']:>9.1f}/s  p50 {figures['p50']:>7.1f}  p95 {figures['p95']:>7.1f}  "
        f"p99 {figures['p99']:>7.1f} ms (p99/p50 {figures['p99'] / max(figures['p50'], 1e-9):.1f})  "
        f"errors {figures['errors']:.0f}"
    )


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def cpu(pid: int) -> float:
    """CPU seconds of the server and its workers so far."""
    ticks = 0
    for each in [pid, *_children(pid)]:
        parts = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(parts[11]) + int(parts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def bodies_of(questions: list[str], paradigm: str, settings: dict[str, Any]) -> list[str]:
    return [json.dumps({"question": q, "paradigm": paradigm, "settings": settings}) for q in questions]


def throughput(url: str, pid: int, name: str, questions: list[str], options: argparse.Namespace, folder: Path) -> None:
    told("GET /api/v1/collections", wrk(f"{url}/api/v1/collections", options.seconds, options.clients, None, folder))
    retrieve = f"{url}/api/v1/collections/{name}/retrieve"
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("words", {}),
        ("naive", {}),
        ("fused", {"spend": 0}),
        ("fused", {}),
    )
    for paradigm, settings in ways:
        bodies = bodies_of(questions, paradigm, settings)
        asked = 0.0
        while asked < 8 * len(bodies):  # until every worker knows every vector
            asked += 3 * wrk(retrieve, 3, options.clients, bodies, folder)["a_second"]
        began = cpu(pid)
        figures = wrk(retrieve, options.seconds, options.clients, bodies, folder)
        spent = (cpu(pid) - began) / max(1.0, figures["a_second"] * options.seconds) * 1000
        shown = "".join(f"[{key}={value}]" for key, value in settings.items())
        told(f"retrieve {paradigm}{shown} ({spent:.1f} CPU ms each)", figures)


def first_word(index: Path, folder: Path) -> None:
    """How long after the model wrote its first word a client has it."""
    written: list[float] = []

    async def before_event(event: bytes) -> None:
        if b'"content"' in event and b"Anna" in event:
            written.append(time.monotonic())

    reply = "Anna built it, with her own hands. [1]"
    delays = []
    with LoopbackServer(lambda _: reply, before_event=before_event) as model:
        given = {"RAGWAYS_MODEL__NAME": "loopback", "RAGWAYS_MODEL__BASE_URL": model.base_url}
        with (
            server(folder / "streamed", "--index", str(index), environment=given) as (url, _),
            httpx2.Client(base_url=url, timeout=60) as client,
        ):
            name = client.get("/api/v1/collections").json()["collections"][0]["name"]
            for number in range(30):
                written.clear()
                body = {"question": f"Who built house number {number}?", "paradigm": "words", "stream": True}
                with client.stream("POST", f"/api/v1/collections/{name}/ask", json=body) as got:
                    event = ""
                    for line in got.iter_lines():
                        event = line[7:] if line.startswith("event: ") else event
                        if event == "text" and line.startswith("data: "):
                            delays.append((time.monotonic() - written[0]) * 1000)
                            break
    delays.sort()
    print(f"first streamed word after the model's own: p50 {median(delays):.1f} ms, most {delays[-1]:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=50, help="questions")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    assert shutil.which("wrk"), "wrk is missing: apt-get install wrk"
    lines = options.questions.read_text().splitlines()[: options.limit]
    questions = [json.loads(line)["question"] if line.startswith("{") else line for line in lines if line.strip()]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with server(folder, "--index", str(options.index)) as (url, pid):
            name = httpx2.get(f"{url}/api/v1/collections").json()["collections"][0]["name"]
            print(
                f"{len(questions)} questions, {options.clients} clients, {os.cpu_count()} cores, load by wrk included"
            )
            throughput(url, pid, name, questions, options, folder)
        first_word(options.index, folder)


if __name__ == "__main__":
    main()
