"""What only one of two answers says, and points for that alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragways.evaluation.duel.aspects import ASPECTS
from ragways.evaluation.duel.sitting import Sitting
from ragways.tasks.duel import (
    DUEL_DIFFERENCE,
    DUEL_DIFFERENTIAL,
    AspectPoints,
    BothPoints,
    Differences,
    DuelDifferentialInput,
    DuelInput,
)

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

NOTHING = BothPoints(AspectPoints(*([0] * len(ASPECTS))), AspectPoints(*([0] * len(ASPECTS))))


async def differences(client: ModelClient, sitting: Sitting) -> Differences:
    """Once a sitting: its samples judge the same lists."""
    first, second = sitting.in_order
    task = replace(DUEL_DIFFERENCE, sample=sitting.number(0))
    said = (await client.do(task, DuelInput(sitting.text, first, second))).value
    return Differences(_said(said.first), _said(said.second))


async def points(client: ModelClient, sitting: Sitting, sample: int, said: Differences) -> BothPoints:
    """Where neither says anything of its own there is nothing to judge: a tie, without a call."""
    if not said.first and not said.second:
        return NOTHING
    task = replace(DUEL_DIFFERENTIAL, sample=sitting.number(sample))
    return (await client.do(task, DuelDifferentialInput(sitting.text, said.first, said.second))).value


def _said(statements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(statement.strip() for statement in statements if statement.strip())
