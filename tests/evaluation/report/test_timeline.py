"""CPU and memory over time: nothing is lost by drawing fewer points, and pauses are not time."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.evaluation.record import Record, Records
from ragways.evaluation.report import PAUSE, POINTS
from ragways.evaluation.resources.sampler import ResourceSample as Sample
from ragways.evaluation.resources.sampler import samples_of
from tests.evaluation.report.made import made_report, rows_of

STEPS = st.lists(
    st.tuples(st.floats(0.01, 50), st.sampled_from("abc"), st.floats(0, 20), st.integers(0, 10**9)),
    min_size=1,
    max_size=60,
)


def samples(steps: list[tuple[float, str, float, int]]) -> list[Sample]:
    at, cpu = 100.0, 0.0
    found = [Sample(at, "", cpu, 0)]
    for wall, label, used, memory in steps:
        at, cpu = at + wall, cpu + used
        found.append(Sample(at, label, cpu, memory))
    return found


def drawn(found: list[Sample]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The points, and the load by paradigm."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        Records(folder).append(Record("q", "?", "", ("x",), "naive", 0, answer="x"))
        samples_of(folder).path.write_text("")
        log = samples_of(folder)
        for one in found:
            log.append(one)
        data = made_report([folder])
    return rows_of(data, "timeline"), rows_of(data, "load")


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_seconds_and_peaks_are_kept(steps: list[tuple[float, str, float, int]]):
    points, load = drawn(samples(steps))
    seconds = sum(step[0] for step in steps)
    assert points[-1]["seconds"] == pytest.approx(seconds, abs=0.02)
    ends = [point["seconds"] for point in points]
    assert ends == sorted(ends)
    for row in load:
        mine = [step for step in steps if step[1] == row["paradigm"]]
        assert row["cpu"] == pytest.approx(sum(step[2] for step in mine), abs=0.02)
        assert row["memory"] == max(step[3] for step in mine)
        assert max(one["memory"] for one in points if one["paradigm"] == row["paradigm"]) == row["memory"]


def test_a_long_run_is_drawn_with_few_points():
    points, _ = drawn(samples([(2.0, "ab"[n // 500 % 2], 1.0, n) for n in range(2000)]))
    assert len(points) <= POINTS + 4


def test_a_pause_and_another_process_are_not_drawn():
    found = [
        Sample(0, "a", 10, 1), Sample(2, "a", 12, 1),
        Sample(2 + PAUSE + 1, "a", 12.5, 1),  # stopped, and taken up later
        Sample(70, "a", 0.5, 1), Sample(72, "a", 2.5, 1),  # by another process, whose seconds begin anew
    ]  # fmt: skip
    points, load = drawn(found)
    assert points[-1]["seconds"] == 4
    assert load == [{"run": "run", "paradigm": "a", "seconds": 4, "cpu": 4, "cores": 1, "memory": 1}]


@pytest.mark.parametrize("found", [[], [Sample(1, "a", 1, 1)], [Sample(1, "a", 1, 1)] * 3])
def test_nothing_to_draw(found: list[Sample]):
    assert drawn(found) == ([], [])
