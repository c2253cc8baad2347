"""CPU and memory over the time of a run, few enough points to draw, each under the paradigm that was at work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragways.evaluation.resources.sampler import ResourceSample

MOST = 800
PAUSE = 60.0
"""Seconds without a sample after which the run was stopped and went on later: that time is not drawn."""


@dataclass
class _Stretch:
    """What lies between two samples, or several such together, under one label."""

    label: str
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def add(self, wall: float, cpu: float, memory: int) -> None:
        self.wall += wall
        self.cpu += cpu
        self.memory = max(self.memory, memory)


def timeline_data(
    samples: Sequence[ResourceSample], names: Mapping[str, str], *, most: int = MOST
) -> dict[str, Any] | None:
    """`at`: seconds of the run at the end of each point; `cores`: CPU seconds a second; `memory`: bytes at most."""
    steps = list(_steps(samples))
    total = sum(wall for _, wall, _, _ in steps)
    if not total:
        return None
    stretches: list[_Stretch] = []
    for label, wall, cpu, memory in steps:
        if not stretches or stretches[-1].label != label or stretches[-1].wall >= total / most:
            stretches.append(_Stretch(label))
        stretches[-1].add(wall, cpu, memory)
    at, points = 0.0, []
    for one in stretches:
        at += one.wall
        cores = one.cpu / one.wall if one.wall else 0.0
        points.append([round(at, 2), names.get(one.label, one.label), round(cores, 3), one.memory])
    return {"seconds": round(total, 2), "points": points, "by_paradigm": _by_label(stretches, names)}


def _steps(samples: Sequence[ResourceSample]) -> Iterator[tuple[str, float, float, int]]:
    """Label, seconds, CPU seconds and memory between each two samples of one process."""
    for before, after in pairwise(samples):
        wall, cpu = after.at - before.at, after.cpu - before.cpu
        if 0 < wall <= PAUSE and cpu >= 0:
            yield after.label, wall, cpu, after.memory


def _by_label(stretches: Sequence[_Stretch], names: Mapping[str, str]) -> list[dict[str, Any]]:
    found: dict[str, _Stretch] = {}
    for one in stretches:
        found.setdefault(one.label, _Stretch(one.label)).add(one.wall, one.cpu, one.memory)
    return [
        {"paradigm": names.get(label, label), "seconds": round(one.wall, 2), "cpu": round(one.cpu, 2),
         "cores": round(one.cpu / one.wall, 3) if one.wall else 0.0, "memory": one.memory}
        for label, one in found.items()
    ]  # fmt: skip
