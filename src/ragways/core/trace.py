"""What happened and what it cost.

A *span* is one named stretch of work; spans nest and make the trace of an answer. A *meter* holds spending under a
budget; meters nest too, and a call must be reserved on every meter above it before it is sent, so that calls
running side by side cannot pass the budget together.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields

from ragways.core.errors import BudgetExceeded
from ragways.core.text import counted

_LOG = logging.getLogger("ragways.trace")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money. `cached` and `reasoning` are parts of `input` and `output`, as endpoints count them. Nobody
    knows the price of `unpriced` of the calls: `usd` is that of the others.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    usd: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    @property
    def tokens(self) -> int:
        return self.input + self.output

    @property
    def cost(self) -> float | None:
        """USD; None where the price of a call is unknown."""
        return None if self.unpriced else self.usd


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def passed_by(self, usage: Usage) -> str | None:
        """In words, the first limit that this usage would pass."""
        if self.usd is not None and usage.usd > self.usd + 1e-12:
            return "$" + f"{self.usd:.8f}".rstrip("0").removesuffix(".")
        if self.tokens is not None and usage.tokens > self.tokens:
            return counted(self.tokens, "token")
        if self.calls is not None and usage.calls > self.calls:
            return counted(self.calls, "call")
        return None


class Meter:
    """Counts spending under a budget, its own and that of every meter above it."""

    def __init__(self, budget: Budget | None = None, parent: Meter | None = None) -> None:
        self.budget = budget or Budget()
        self.parent = parent
        self.spent = Usage()
        self.reserved = Usage()
        self._waiting: list[asyncio.Future[None]] = []

    def chain(self) -> Iterator[Meter]:
        meter: Meter | None = self
        while meter is not None:
            yield meter
            meter = meter.parent

    def reserve(self, most: Usage) -> Reservation:
        """Set aside the most that a call can cost, or raise without having changed anything."""
        for meter in self.chain():
            limit = meter.budget.passed_by(meter.spent + meter.reserved + most)
            if limit is not None:
                raise BudgetExceeded(
                    f"the next call may cost up to ${most.usd:.6f} and {counted(most.tokens, 'token')}, and could pass "
                    f"the budget of {limit} (spent ${meter.spent.usd:.4f}, {counted(meter.spent.tokens, 'token')}, "
                    f"{counted(meter.spent.calls, 'call')})",
                    "finished work is stored; raise the budget and run again",
                )
        for meter in self.chain():
            meter.reserved += most
        return Reservation(self, most)

    async def reserve_in_turn(self, most: Usage) -> Reservation:
        """As `reserve`, but where only calls under way stand in the way, wait for them: they cost less as a rule."""
        while True:
            full = [each for each in self.chain() if each.budget.passed_by(each.spent + each.reserved + most)]
            if not full or any(each.budget.passed_by(each.spent + most) for each in full):
                return self.reserve(most)
            waiting = asyncio.get_running_loop().create_future()
            full[0]._waiting.append(waiting)
            await waiting

    def wake(self) -> None:
        """Let those look again who wait for money that was set aside."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.get_loop().call_soon_threadsafe(_wake, each)


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


class Reservation:
    """Money set aside for one call. Settled once, with what the call did cost.

    That is nothing where the endpoint refused it, and all that was set aside where its reply was lost: it may have been
    made, and then it is billed.
    """

    def __init__(self, meter: Meter, most: Usage) -> None:
        self.meter = meter
        self.most = most
        self.open = True

    def settle(self, actual: Usage) -> None:
        if not self.open:
            return
        self.open = False
        for meter in self.meter.chain():
            meter.reserved -= self.most
            meter.spent += actual
            meter.wake()


@dataclass
class Span:
    """One stretch of work. `usage` is its own spending; `total` adds that of the spans inside it.

    `spared` is what cached replies had cost when they were first requested. `input` and `output` say in a
    few words what went in and what came out. `prompt` is the hash of the prompt that was sent to the model.
    `attachments` are typed values that a step leaves for whoever shows the trace, such as the windows of a walk.
    """

    name: str
    details: dict[str, object] = field(default_factory=dict)
    attachments: list[object] = field(default_factory=list)
    input: str = ""
    output: str = ""
    prompt: str = ""
    children: list[Span] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    spared: Usage = field(default_factory=Usage)
    way: str = ""
    began: float = 0.0
    """Seconds on a clock of the process; only differences between spans mean something."""
    seconds: float = 0.0
    error: str = ""

    @property
    def total(self) -> Usage:
        return sum((child.total for child in self.children), self.usage)

    @property
    def worth(self) -> Usage:
        """What this would have cost had no reply been known already."""
        return sum((child.worth for child in self.children), self.usage + self.spared)

    @property
    def prompts(self) -> dict[str, str]:
        """The hash of the prompt of each task that was given to a model."""
        return {span.name: span.prompt for span in self.walk() if span.prompt}

    def walk(self) -> Iterator[Span]:
        yield self
        for child in self.children:
            yield from child.walk()


_span: ContextVar[Span | None] = ContextVar("ragways_span", default=None)
_meter: ContextVar[Meter | None] = ContextVar("ragways_meter", default=None)
SpanListener = Callable[[Span, int, bool], None]
"""Called with a span, how deep it lies, and whether it has ended."""
_listener: ContextVar[tuple[SpanListener, int] | None] = ContextVar("ragways_listener", default=None)


@contextmanager
def watching(listener: SpanListener) -> Iterator[None]:
    """Tell the listener of every span inside, when it begins and when it ends, also of tasks started inside."""
    token = _listener.set((listener, 0))
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def span(name: str, **details: object) -> Iterator[Span]:
    """Work under a name. Spans opened inside become its children, in tasks started inside as well."""
    parent = _span.get()
    here = Span(name, details)
    if parent is not None:
        parent.children.append(here)
    token = _span.set(here)
    watched = _listener.get()
    if watched is not None:
        tell, depth = watched
        deeper = _listener.set((tell, depth + 1))
        tell(here, depth, False)
    here.began = time.perf_counter()
    try:
        yield here
    except BaseException as error:
        here.error = f"{type(error).__name__}: {error}"
        raise
    finally:
        here.seconds = time.perf_counter() - here.began
        _span.reset(token)
        if watched is not None:
            _listener.reset(deeper)
            tell(here, depth, True)
        if _LOG.isEnabledFor(logging.INFO):
            _log(here)


def _log(here: Span) -> None:
    """What was done, without any text: a call of a model to whoever wants to know, every other step to the curious."""
    fields = {"seconds": round(here.seconds, 4), **({"error": here.error.split(":")[0]} if here.error else {})}
    if here.usage.calls:
        fields |= {"input": here.usage.input, "output": here.usage.output}
        fields |= {"usd": round(here.usage.usd, 6)} if here.usage.usd else {}  # 0 is also what has no known price
    level = logging.INFO if here.usage.calls or here.error else logging.DEBUG
    _LOG.log(level, "%s", here.name, extra={"fields": fields})


def current_span() -> Span:
    """The span we are in, or a loose one that nobody keeps."""
    return _span.get() or Span("loose")


@contextmanager
def spending(budget: Budget | None = None) -> Iterator[Meter]:
    """Meter what is spent inside, under a budget of its own and under all those around it."""
    meter = Meter(budget, parent=_meter.get())
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def current_meter() -> Meter:
    """The innermost meter, or a loose one without a limit."""
    return _meter.get() or Meter()
