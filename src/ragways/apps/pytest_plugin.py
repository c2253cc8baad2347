"""A fixture for pytest: a test that reads a gate. It is there wherever ragways and pytest are installed.

    def test_answers_are_as_good_as_last_week(ragways_gate):
        ragways_gate("runs/today", no_worse_than="runs/last-week", metrics={"accuracy": 0.05}, require=["tokens<=3000"])

Nothing of ragways is imported before a test asks for it. `-p no:ragways` leaves the plug-in out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ragways.evaluation.gate import GateResult


@pytest.fixture
def ragways_gate() -> Callable[..., GateResult]:
    """A function that takes the folder of a run and the options of `ragways.evaluation.gate.gate`.

    It fails the test, with a line for each miss, where the run does not pass, and gives the result where it does.
    """

    def check(
        run: str | Path,
        *,
        require: Sequence[str] = (),
        no_worse_than: str | Path | None = None,
        metrics: Mapping[str, float] | None = None,
        margin: float = 0.0,
        least: int | None = None,
        strict: bool = False,
    ) -> GateResult:
        __tracebackhide__ = True
        from ragways.evaluation.gate import LEAST, gate

        result = gate(
            Path(run),
            require=require,
            no_worse_than=Path(no_worse_than) if no_worse_than is not None else None,
            metrics=metrics,
            margin=margin,
            least=LEAST if least is None else least,
            strict=strict,
        )
        if not result.passed:
            pytest.fail("\n".join(f"{one.paradigm}: {one.words}" for one in result.misses), pytrace=False)
        return result

    return check
