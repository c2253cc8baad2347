"""CPU and memory over time: nothing is lost by drawing fewer points, and pauses are not time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.report.sections import PAUSE, POINTS, LabelLoad, timeline_of
from ragways.evaluation.resources.sampler import ResourceSample as Sample

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


@given(STEPS, st.integers(1, 40))
def test_seconds_and_peaks_are_kept(steps: list[tuple[float, str, float, int]], most: int):
    data = timeline_of(samples(steps), {"a": "A"}, limit=most)
    assert data is not None
    assert data.seconds == pytest.approx(sum(step[0] for step in steps), abs=0.02)
    assert data.points[-1][0] == pytest.approx(data.seconds, abs=0.02)
    ends = [point[0] for point in data.points]
    assert ends == sorted(ends)
    for row in data.by_paradigm:
        mine = [step for step in steps if {"a": "A"}.get(step[1], step[1]) == row.paradigm]
        assert row.cpu == pytest.approx(sum(step[2] for step in mine), abs=0.02)
        assert row.memory == max(step[3] for step in mine)
        drawn = [point for point in data.points if point[1] == row.paradigm]
        assert max(point[3] for point in drawn) == row.memory


def test_a_long_run_is_drawn_with_few_points():
    data = timeline_of(samples([(2.0, "ab"[n // 5000 % 2], 1.0, n) for n in range(20_000)]), {})
    assert data is not None
    assert len(data.points) <= POINTS + 4


def test_a_pause_and_another_process_are_not_drawn():
    found = [
        Sample(0, "a", 10, 1), Sample(2, "a", 12, 1),
        Sample(2 + PAUSE + 1, "a", 12.5, 1),  # stopped, and taken up later
        Sample(70, "a", 0.5, 1), Sample(72, "a", 2.5, 1),  # by another process, whose seconds begin anew
    ]  # fmt: skip
    data = timeline_of(found, {})
    assert data is not None
    assert data.seconds == 4
    assert data.by_paradigm == (LabelLoad("a", seconds=4, cpu=4, cores=1, memory=1),)


@pytest.mark.parametrize("found", [[], [Sample(1, "a", 1, 1)], [Sample(1, "a", 1, 1)] * 3])
def test_nothing_to_draw(found: list[Sample]):
    assert timeline_of(found, {}) is None
