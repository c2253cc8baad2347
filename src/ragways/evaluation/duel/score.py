"""Ask the judge: the samples of one sitting that are not known yet, a line each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ragways
from ragways.core.errors import ModelRefused, UnusableReply
from ragways.core.trace import span
from ragways.evaluation.duel.differential import differences, points
from ragways.evaluation.duel.line import Key, Line
from ragways.evaluation.duel.sitting import Judged, Sitting
from ragways.tasks.duel import DUEL_SCORE, BothPoints, Differences, DuelInput

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

SHOWN = 2000
"""Characters kept of a reply that could not be read."""
UNREADABLE = "unreadable reply"
REFUSED = "the endpoint refused"


def settled(line: Line | None) -> bool:
    """Whether there are points; what could not be read is asked for again the next time."""
    return line is not None and line.points is not None


async def sit(
    client: ModelClient, sitting: Sitting, samples: int, by: Judged, known: Mapping[Key, Line]
) -> AsyncIterator[Line]:
    """A line for each sample that has no points yet, as soon as it is there: what was paid for must not be lost."""
    lines = {sample: known.get(sitting.key(by, sample)) for sample in range(samples)}
    asked = [sample for sample, line in lines.items() if not settled(line)]
    said = next((_turned(line.said, sitting) for line in lines.values() if line is not None and line.said), None)
    for sample in asked:
        line, said = await _asked(client, sitting, sample, by, said)
        yield line


async def _asked(
    client: ModelClient, sitting: Sitting, sample: int, by: Judged, said: Differences | None
) -> tuple[Line, Differences | None]:
    line = sitting.line(by, sample)
    with span("duel") as trace:
        try:
            if by.mode == "differential":
                said = said or await differences(client, sitting)
                reply = await points(client, sitting, sample, said)
            else:
                first, second = sitting.in_order
                task = replace(DUEL_SCORE, sample=sitting.number(sample))
                reply = (await client.do(task, DuelInput(sitting.text, first, second))).value
            line = replace(line, points=_of_a_and_b(reply, sitting))
        except UnusableReply as error:
            line = replace(line, why=UNREADABLE, reply=error.reply[:SHOWN])
        except ModelRefused as error:
            line = replace(line, why=REFUSED, reply=str(error)[:SHOWN])
    usage = trace.total
    made: dict[str, Any] = {"version": ragways.__version__}
    if usage.calls:
        made |= {"calls": usage.calls, "tokens": usage.tokens, "usd": usage.usd}
    kept = None if said is None else _turned((said.first, said.second), sitting)
    return replace(line, made=made, said=None if kept is None else (kept.first, kept.second)), said


def _of_a_and_b(reply: BothPoints, sitting: Sitting) -> tuple[tuple[int, ...], tuple[int, ...]]:
    first, second = reply.first.values(), reply.second.values()
    return (first, second) if sitting.order == "ab" else (second, first)


def _turned(said: tuple[tuple[str, ...], tuple[str, ...]] | None, sitting: Sitting) -> Differences | None:
    """Between "a and b", as it is kept, and "first and second", as it is shown: the same step both ways."""
    if said is None:
        return None
    return Differences(*said) if sitting.order == "ab" else Differences(said[1], said[0])
