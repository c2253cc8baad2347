"""Other libraries' own environments (`make clients`): a program runs there with ragways beside the real library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PRELUDE = """
import json, sys

def guard(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in ("127.0.0.1", "::1"):
        raise RuntimeError(f"a connection to {arguments[1]!r}")
    if event == "socket.getaddrinfo" and arguments[0] not in ("127.0.0.1", "::1", "localhost", None):
        raise RuntimeError(f"a look-up of {arguments[0]!r}")

sys.addaudithook(guard)
given = json.loads(sys.argv[1])
"""


def run_in(library: str, program: str, home: Path, **given: object) -> Any:
    """What a program prints as JSON in the environment of a library; it can reach this machine alone."""
    python = Path(sys.prefix) / library / "bin" / "python"
    if not (Path(sys.prefix) / library / "ready").exists():
        pytest.skip(f"{library} is not installed: run `make clients`")
    done = subprocess.run(
        [str(python), "-W", "error::ResourceWarning", "-c", PRELUDE + program, json.dumps(given)],
        capture_output=True, text=True, check=False, timeout=120, cwd=home,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "LANGSMITH_TRACING": "false"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
