"""How soon the page is seen, and how much is fetched for it: a real browser on a real server, on this machine.

    python -m benchmarks.page [--times 5] [--json]

Each time the browser starts with an empty cache, and once more with a full one. `first_paint_ms` is the browser's own
`first-contentful-paint`, counted from the beginning of the navigation; `ready_ms` is when a question can be typed.
`bytes` and `requests` are those of the page, its files and its first calls of the API.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.apps.browser import Browser
from tests.service.conftest import STARTED

VIEWS = ("ask", "compare", "library")
SEEN = """(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    first_paint_ms: Math.round(paint.startTime), ready_ms: Math.round(performance.now()),
    requests: all.length, bytes: all.reduce((sum, one) => sum + one.decodedBodySize, 0),
    sent: all.reduce((sum, one) => sum + one.transferSize, 0),
  };
})()"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with server() as url:
        rows = [measured(url, view, options.times) for view in VIEWS]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


@contextmanager
def server() -> Iterator[str]:
    """`ragways serve --demo` with a data folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("w") as out:
            command = [sys.executable, "-m", "ragways", "serve", "--demo", "--port", "0", "--data", f"{folder}/data"]
            process = subprocess.Popen(command, stderr=out, cwd=folder)
        try:
            while (match := STARTED.search(log.read_text())) is None:
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.1)
            yield match[1]
        finally:
            process.terminate()
            process.wait(timeout=60)


def measured(url: str, view: str, times: int) -> dict[str, object]:
    """Medians of a view, opened in a new browser each time: first with an empty cache, then again."""
    first: list[dict[str, float]] = []
    again: list[dict[str, float]] = []
    for _ in range(times):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
            for kept in (first, again):
                browser.open(f"{url}/#/{view}")
                browser.wait("performance.getEntriesByName('first-contentful-paint').length")
                kept.append(browser.ask(SEEN))
    return {
        "view": view,
        **{
            name: statistics.median(one[name] for one in first)
            for name in ("first_paint_ms", "ready_ms", "requests", "bytes")
        },
        "worst_first_paint_ms": max(one["first_paint_ms"] for one in first),
        "again_first_paint_ms": statistics.median(one["first_paint_ms"] for one in again),
        "again_sent": statistics.median(one["sent"] for one in again),
    }


if __name__ == "__main__":
    main()
