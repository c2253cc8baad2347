"""A missing browser is reported at the end of a newcomer's tests, and is an error where all tests must run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = "tests/apps/test_report_browser.py"


def without_a_browser(nowhere: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unused = ("-p", "no:cacheprovider", "-p", "no:schemathesis")  # the latter takes a second to import
    command = [sys.executable, "-m", "pytest", *unused, *options, PAGE]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TEST_"))}
    variables = {**plain, "PATH": str(nowhere), **environment}
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120, check=False)


def test_skipped_tests_are_reported_in_one_line_with_the_cure(tmp_path: Path):
    done = without_a_browser(tmp_path, "-n", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    reported = [line for line in done.stdout.splitlines() if "tests skipped: " in line]
    assert len(reported) == 1
    assert "apt-get install chromium" in reported[0]


def test_a_browser_that_is_required_is_not_skipped(tmp_path: Path):
    done = without_a_browser(tmp_path, TEST_BROWSER="required")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "apt-get install chromium" in done.stderr


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(("user", "there", "asked"), [(0, False, 2), (0, True, 0), (1000, False, 0)])
def test_the_continuous_checks_get_a_browser_and_require_it(tmp_path: Path, user: int, there: bool, asked: int):
    log = tmp_path / "log"
    for name in ("bash", "sh", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    program(tmp_path, "id", f"echo {user}")
    program(tmp_path, "apt-get", f'echo "apt-get $*" >> {log}')
    program(tmp_path, "make", f'echo "make $* $TEST_BROWSER" >> {log}')
    if there:
        program(tmp_path, "google-chrome", "")
    run = [str(shutil.which("bash")), str(ROOT / ".ci" / "run")]
    subprocess.run(run, env={"PATH": str(tmp_path)}, check=True, timeout=20)
    *installed, made = log.read_text().splitlines()
    assert made == "make test required"
    assert installed == [*["apt-get update", "apt-get install -y chromium"][:asked], "make -j2 clients "]
