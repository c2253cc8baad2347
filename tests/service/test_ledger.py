"""Budgets: no interleaving of requests passes one, and neither a restart nor a kill forgets what was held."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import BudgetHeld, ModelUnavailable, UsageError
from ragways.service.errors import Full, OverBudget, from_ragways
from ragways.service.keys import LOCAL, Caller, Keys
from ragways.service.ledger import Ledger
from ragways.service.state import State


def opened(path: Path, budget: float | None = 1.0) -> tuple[Ledger, Caller]:
    state = State(path / "service.sqlite")
    keys = Keys(state)
    _, text = keys.add(f"key{len(keys.all())}", budget=budget)
    caller = keys.caller(text)
    assert caller is not None
    return Ledger(state), caller


def test_a_request_that_names_no_budget_gets_a_small_one_where_its_key_has_one(tmp_path: Path):
    ledger, caller = opened(tmp_path, budget=0.15)
    with ledger.hold(caller.key) as held:
        assert held.usd == 0.1
        with ledger.hold(caller.key) as rest:
            assert rest.usd == 0.05
            with pytest.raises(BudgetHeld) as caught, ledger.hold(caller.key):
                pass
    shown = from_ragways(caught.value)
    assert (shown.status, shown.headers) == (429, {"Retry-After": "1"})
    assert ledger.account(caller.key).left == 0  # nobody said what they cost
    with pytest.raises(OverBudget) as spent, ledger.hold(caller.key):
        pass
    assert spent.value.status == 402


def test_a_growing_hold_has_what_its_calls_need_and_no_more(tmp_path: Path):
    ledger, caller = opened(tmp_path, budget=0.3)
    with ExitStack() as stack:
        many = [stack.enter_context(ledger.hold(caller.key, growing=True)) for _ in range(64)]
        assert ledger.account(caller.key).held == 0
        assert [held.grow and held.grow(0.004) for held in many] == [0.004] * 64
        first, second, third, *others = many
        assert first.grow is not None
        assert second.grow is not None
        assert third.grow is not None
        for held in others:
            held.settle(0.001)
        with pytest.raises(BudgetHeld):
            first.grow(0.06)
        assert first.grow(0.02) == 0.02
        assert ledger.account(caller.key).held == pytest.approx(0.02 + 63 * 0.004)
    with ledger.hold(caller.key, growing=True) as held:
        assert held.grow is not None
        assert held.grow(0.5) == 0.1, "what a request may spend"
    with ledger.hold(caller.key, 1.0, growing=True) as held:
        assert held.grow is not None
        assert held.grow(0.5) == pytest.approx(held.usd), "what is left"


def test_without_a_budget_nothing_is_held_but_costs_are_counted(tmp_path: Path):
    ledger, caller = opened(tmp_path, budget=None)
    for who in (caller, LOCAL):
        with ledger.hold(who.key) as held:
            assert held.usd is None
            assert ledger.account(who.key).held == 0
            held.settle(0.02)
        with ledger.hold(who.key, 0.5) as held:
            assert held.usd == 0.5
            held.settle(0.01)
        assert ledger.account(who.key).spent == 0.03


class Known(ModelUnavailable):
    usd = 0.07


@pytest.mark.parametrize(
    ("error", "cost"),
    [(UsageError("no"), 0.0), (Full(), 0.0), (ModelUnavailable("no"), 0.4), (KeyboardInterrupt(), 0.4),
     (Known("no"), 0.07)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_request_that_fails_costs_what_it_may_have_cost(tmp_path: Path, error: BaseException, cost: float):
    ledger, caller = opened(tmp_path)
    with pytest.raises(type(error)), ledger.hold(caller.key, 0.4):
        raise error
    assert ledger.account(caller.key).spent == cost


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
def test_an_absurd_budget_of_a_request_is_refused(tmp_path: Path, usd: float):
    ledger, caller = opened(tmp_path)
    with pytest.raises(UsageError), ledger.hold(caller.key, usd):
        pass


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["open", "grow"]), st.floats(0, 2, allow_nan=False)),
        st.tuples(st.just("settle"), st.floats(0, 1)),
        st.tuples(st.just("fail"), st.just(0.0)),
        st.tuples(st.just("restart"), st.just(0.0)),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(budget=st.floats(0, 3), steps=steps)
def test_no_order_of_holds_settlements_failures_and_restarts_passes_a_budget(
    tmp_path_factory: pytest.TempPathFactory, budget: float, steps: list[tuple[str, float]]
):
    ledger, caller = opened(tmp_path_factory.mktemp("ledger"), budget)
    running: list[tuple[ExitStack, float]] = []
    truth = 0.0  # what all requests together cost at most
    for step, number in steps:
        if step in ("open", "grow"):
            stack = ExitStack()
            try:
                held = stack.enter_context(ledger.hold(caller.key, number, growing=step == "grow"))
                assert held.grow is not None
                most = held.usd if step == "open" else held.grow(number / 2)
            except (OverBudget, BudgetHeld):
                stack.close()
                continue
            assert most is not None
            running.append((stack, most))
            stack.held = held  # type: ignore[attr-defined]
        elif running and step in ("settle", "fail"):
            stack, most = running.pop(0)
            if step == "settle":
                stack.held.settle(most * number)  # type: ignore[attr-defined]
            truth += most * number if step == "settle" else most
            stack.close()
        elif step == "restart":
            truth += sum(most for _, most in running)
            running.clear()
            ledger.recover()
        account = ledger.account(caller.key)
        assert account.spent + account.held <= budget + 1e-9
        assert truth <= account.spent + 1e-9


def test_many_threads_and_processes_at_once_cannot_pass_a_budget(tmp_path: Path):
    ledger, caller = opened(tmp_path)
    ledgers = [ledger, *(Ledger(State(tmp_path / "service.sqlite")) for _ in range(3))]
    got: list[float] = []
    start = threading.Barrier(8)

    def spend(ledger: Ledger) -> None:
        start.wait()
        while True:
            try:
                with ledger.hold(caller.key, 0.03) as held:
                    got.append(held.usd or 0.0)
            except BudgetHeld:
                continue
            except OverBudget:
                return

    threads = [threading.Thread(target=spend, args=(ledgers[number % 4],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(got) == pytest.approx(1.0)
    assert ledger.account(caller.key).left == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from ragways.service.keys import Caller
from ragways.service.ledger import Ledger
from ragways.service.state import State
ledger = Ledger(State(Path(sys.argv[1])))
with ledger.hold(sys.argv[2], 0.6):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_server_held_is_spent(tmp_path: Path):
    ledger, caller = opened(tmp_path)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "service.sqlite"), caller.key]
    assert subprocess.run(command, check=False).returncode == -9
    assert ledger.account(caller.key).left == pytest.approx(0.4)
    ledger.recover()
    account = ledger.account(caller.key)
    assert (account.spent, account.held) == (0.6, 0.0)
    with ledger.hold(caller.key, 1.0) as held:
        assert held.usd == pytest.approx(0.4)
