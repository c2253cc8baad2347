"""A hub costs a question and a picture little more when it has four times the relations."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from tests.faults.hubs import asked_paradigms, first_question, hub_index, picture

if TYPE_CHECKING:
    from _typeshed import TraceFunction

FEW, MANY = 5_000, 20_000
UNNOTICED = 0.25
"""CPU seconds that say nothing. With an index of all words of names, a first question took 0.45 to 0.55."""


@pytest.fixture(scope="module")
def hubs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    first, second = (hub_index(tmp_path_factory.mktemp("hub"), edges, documents=40) for edges in (FEW, MANY))
    picture(first)
    first_question(first, "kg")  # what is imported once is not of the hub
    return first, second


def steps(folder: Path) -> int:
    """Lines that Python runs to draw the hub's picture, those of a loop each time: the same on any machine."""
    counted = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> TraceFunction:
        nonlocal counted
        counted += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        picture(folder)
    finally:
        sys.settrace(before)
    return counted


def test_a_picture_of_a_hub_is_quick(hubs: tuple[Path, Path]):
    few, many = (steps(folder) for folder in hubs)
    assert many - few < (MANY - FEW) / 10, "what it shows is as much of either"


@pytest.mark.parametrize("paradigm", asked_paradigms())
def test_a_first_question_about_a_hub_is_quick(hubs: tuple[Path, Path], paradigm: str):
    for _ in range(5):  # noise makes one of them slow, a hub that weighs makes all of them slow
        few, many = (first_question(folder, paradigm) for folder in hubs)
        if many <= max(2 * few, UNNOTICED):
            return
    pytest.fail(f"{many:.2f} CPU s with {MANY:,} relations, {few:.2f} with {FEW:,}")
