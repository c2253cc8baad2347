"""Commands open no connection and leave no file outside index and cache, neither in Python nor in native libraries.

They run under a filter of the kernel's (seccomp) that ends a process which so much as makes an internet socket: a hook
in Python would not see what a compiled library does.
"""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # its name in the kernel, its number of socket()
NO_FILTER = 77
GUARD = """
import ctypes, os, struct, sys

machine, call = int(sys.argv[1]), int(sys.argv[2])
LOAD, EQUALS, RETURN, ALLOW, KILL = 0x20, 0x15, 0x06, 0x7FFF0000, 0x80000000
rules = [
    (LOAD, 0, 0, 4), (EQUALS, 0, 6, machine),  # another machine's call: allowed
    (LOAD, 0, 0, 0), (EQUALS, 0, 4, call),  # not socket(): allowed
    (LOAD, 0, 0, 16), (EQUALS, 1, 0, 2), (EQUALS, 0, 1, 10),  # of family INET or INET6: killed
    (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HP", len(rules), ctypes.addressof(code)))
prctl = ctypes.CDLL(None).prctl
prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
no_new_privileges, seccomp, by_filter = 38, 22, 2
if prctl(no_new_privileges, 1, 0, 0, 0) or prctl(seccomp, by_filter, ctypes.addressof(program), 0, 0):
    sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
"""
UPLOAD = 12.0
"""Seconds after which onnxruntime 1.31 would have looked up its vendor's host; it does so after 9."""


def guarded(*arguments: str) -> list[str]:
    return [sys.executable, "-c", GUARD, *map(str, MACHINES[platform.machine()]), *arguments]


def can_filter() -> bool:
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return False
    return subprocess.run(guarded("-c", ""), check=False).returncode != NO_FILTER


pytestmark = pytest.mark.skipif(not can_filter(), reason="needs Linux with seccomp, on x86-64 or ARM")


class Place:
    """A home of its own, and a folder in it where commands run."""

    def __init__(self, root: Path) -> None:
        self.root, self.work = root, root / "work"
        for folder in ("home", "tmp", "work/corpus"):
            (root / folder).mkdir(parents=True)
        (self.work / "corpus" / "light.txt").write_text("The harbour light was built by Anna Brack in 1801.")
        plain = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XDG_", "RAGWAYS_", "PYTEST_", "ORT_"))
        }
        self.environment = {
            **plain, "HOME": str(root / "home"), "TMPDIR": str(root / "tmp"), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            guarded("-c", "from ragways.apps.cli import main; main()", *arguments),
            cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode != -signal.SIGSYS, f"ragways {arguments[0]} made an internet socket"
        assert done.returncode == 0, done.stderr
        return done.stdout

    def left(self) -> list[str]:
        """Files that are neither corpus nor index nor cache."""
        own = (self.work / "corpus", self.work / ".ragways", self.root / "home" / ".cache" / "ragways")
        files = (path for path in self.root.rglob("*") if not path.is_dir())
        return [str(path.relative_to(self.root)) for path in files if not any(map(path.is_relative_to, own))]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("place"))
    made.run("index", "corpus")
    return made


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_the_filter_ends_whoever_makes_an_internet_socket(family: str):
    done = subprocess.run(guarded("-c", f"import socket; socket.socket(socket.{family})"), check=False)
    assert done.returncode == -signal.SIGSYS
    assert subprocess.run(guarded("-c", "import socket; socket.socketpair()"), check=False).returncode == 0


def test_index_and_ask(place: Place):
    assert "Anna Brack" in place.run("ask", "Who built the harbour light?")
    assert not (place.root / "home" / ".cache").exists(), "nothing had to be made first"
    assert place.left() == []


def test_a_server_that_stays(place: Place):
    """Long enough for a library that reports in the background to begin."""
    pytest.importorskip("mcp")
    from mcp import Client, StdioServerParameters

    command, *arguments = guarded("-c", "from ragways.apps.cli import main; main()", "mcp")
    server = StdioServerParameters(command=command, args=arguments, env=place.environment, cwd=place.work)

    async def work() -> None:
        async with Client(server) as client:
            for _ in range(2):
                asked = {"question": "Who built the harbour light?", "paradigm": "naive"}
                answer = await asyncio.wait_for(client.call_tool("ask", asked), 60)
                assert "Anna Brack" in str(answer.content)
                await asyncio.sleep(UPLOAD / 2)
            await asyncio.wait_for(client.list_tools(), 10)

    asyncio.run(work())
    assert place.left() == []


def test_only_the_encoder_imports_onnxruntime():
    """It begins to report when it is imported, so whoever imports it must switch that off first."""
    import re

    root = Path(__file__).parent.parent
    files = (path for folder in ("src", "benchmarks", "release") for path in (root / folder).rglob("*.py"))
    importing = [path for path in files if re.search(r"^\s*(import|from) onnxruntime", path.read_text(), re.MULTILINE)]
    assert importing == [root / "src" / "ragways" / "models" / "encoder.py"]
