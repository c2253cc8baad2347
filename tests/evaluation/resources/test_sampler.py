"""Samples of a run: labelled, bounded, and read again after a kill."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragways.evaluation.resources.sampler import (
    ResourceSample,
    Sampler,
    cpu_seconds,
    peak_memory,
    process_usage,
    samples_of,
)

MB = 1 << 20


def test_what_a_process_uses_is_seen():
    before_cpu, before = process_usage()
    held = bytearray(64 * MB)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after_cpu, after = process_usage()
    assert after_cpu - before_cpu >= 0.09
    assert after - before > 48 * MB
    del held


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells of children that run")
def test_children_are_counted_while_they_run_and_after():
    program = (
        "import time, sys\nx = bytearray(80 << 20)\nx[::4096] = b'x' * len(x[::4096])\n"
        "end = time.process_time() + 0.2\nwhile time.process_time() < end: pass\nprint('ready', flush=True)\n"
        "sys.stdin.read()"
    )
    cpu, memory = process_usage()
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        during_cpu, during = process_usage()
        child.communicate()
    after_cpu, after = process_usage()
    assert during - memory > 70 * MB
    assert during_cpu - cpu >= 0.15
    assert after_cpu - cpu >= 0.15
    assert after < during - 70 * MB


def test_samples_come_from_a_thread_under_the_label_of_the_time(tmp_path: Path):
    figures = {"": (0.0, 10), "naive": (1.0, 50), "words": (3.0, 20)}
    sampler = Sampler(samples_of(tmp_path / "run"), every=0.01, look=lambda: figures[sampler.label])
    with sampler:
        sampler.label = "naive"
        time.sleep(0.15)
        sampler.label = "words"
        assert sampler.label == "words"
    kept = list(samples_of(tmp_path / "run"))
    assert len([sample for sample in kept if sample.label == "naive"]) > 3
    assert peak_memory(kept) == {"": 10, "naive": 50, "words": 20}
    assert [sample.at for sample in kept] == sorted(sample.at for sample in kept)
    time.sleep(0.05)
    assert list(samples_of(tmp_path / "run")) == kept, "it ends when it is left"


def test_a_disk_that_is_full_does_not_end_the_run(tmp_path: Path):
    (tmp_path / "file").write_text("a file where a folder should be")
    sampler = Sampler(samples_of(tmp_path / "file"), every=60)
    with sampler:
        sampler.label = "naive"
    assert sampler.error


def test_cpu_seconds_by_label_and_over_a_restart():
    rows = [("", 1.0), ("a", 3.0), ("a", 4.5), ("b", 5.0), ("", 0.5), ("b", 2.5)]
    found = cpu_seconds(ResourceSample(float(at), label, cpu, 0) for at, (label, cpu) in enumerate(rows))
    assert found == {"a": 3.5, "b": 2.5}
