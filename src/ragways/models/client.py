"""The one way to a language model. Its layers, from the outside in, and why in this order:

1. **count**: a span, and a reservation on every meter. Outermost, so that the trace shows every
   request. What a call can cost at most is reserved before it is sent and settled with what it did cost, so that
   calls side by side cannot pass a budget together. A try whose reply was lost is charged in full: it may be billed.
2. **cache**: a reply known already costs nothing, reserves nothing and waits for nobody. The same call made
   twice at once is sent once. Only a reply that could be read is stored, and none that repeats itself.
3. **retry**: outside the rate limit, because a second try is a request too and must wait its turn.
4. **rate limit**: so many requests and tokens a minute, one brake for all while the endpoint says "too many", and at
   most `concurrency` at once; a slot is taken only while sending, never while waiting.
5. **send**: one request of the endpoint: a stream where somebody listens, and for plain text always.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TypeVar, cast

from ragways.core.brief import brief
from ragways.core.errors import BudgetExceeded, ModelRefused, NoModel, SettingsError, UnusableReply
from ragways.core.stream import OnText
from ragways.core.trace import Span, Usage, current_meter, span
from ragways.core.types import content_hash
from ragways.models.call import Call, Model, Reply, ReplyCache, StreamingModel
from ragways.models.limits import Bound, MeteredTries, Traffic
from ragways.models.task import In, InvalidReply, Out, Outcome, Task, TruncatedReply, reader
from ragways.models.tokens import Prices

T = TypeVar("T")

CURE_NO_MODEL = "set a model and its endpoint in the settings"
RULE_INSTEAD = "rule, after an unusable reply"
"""The way of a task that the model could not do and the rule did instead."""
RULE_AFTER_FAILURE = "rule, after the model failed"
"""The same where the model gave no reply at all."""
RULE_OVER_BUDGET = "rule, after the budget was spent"
"""The same where the budget allows no further call."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One of several trials of the same calls: replies of another trial are not used."""

    name: str = ""
    seed: int | None = None


@contextmanager
def trial(name: str, seed: int | None = None) -> Iterator[None]:
    """Inside, replies are cached under this name, and calls have this seed where their task has none."""
    token = _TRIAL.set(Trial(name, seed))
    try:
        yield
    finally:
        _TRIAL.reset(token)


@contextmanager
def replies_of(tenant: str) -> Iterator[None]:
    """Inside, replies are cached for this tenant alone: those of others are not used, and cannot be noticed by the time
    that a reply takes. With an empty name all share one cache, as on a machine of one's own.
    """
    token = _TENANT.set(tenant)
    try:
        yield
    finally:
        _TENANT.reset(token)


_TENANT: ContextVar[str] = ContextVar("ragways_tenant", default="")
_NO_TRIAL = Trial()
_TRIAL: ContextVar[Trial] = ContextVar("ragways_trial", default=_NO_TRIAL)


class ModelClient:
    """Ask a model, or do a task without one. One event loop at a time may use it; close it in that loop."""

    def __init__(
        self,
        model: Model | None = None,
        *,
        cache: ReplyCache | None = None,
        prices: Prices | None = None,
        traffic: Traffic | None = None,
        asks: int = 3,
        temperature: float = 0.0,
        headroom: int = 0,
        variant: str = "",
    ) -> None:
        self.model = model
        self._headroom = headroom  # tokens for reasoning, on top of what a reply may take
        self._variant = variant  # what else shapes replies, in words; part of the cache key
        self.temperature = temperature
        """Of calls that have none of their own; part of the cache key."""
        self._cache = cache
        self._prices = prices or Prices()
        self._asks = asks
        self._bound = Bound()
        self._flights: dict[str, asyncio.Future[Reply]] = {}
        self._traffic = traffic or Traffic()

    async def complete(self, call: Call) -> Reply:
        """The model's reply to one call, as it is."""
        reply, _ = await self._through(self._tempered(call), lambda reply: reply)
        return reply

    async def do(
        self, task: Task[In, Out], given: In, *, rule_if_unusable: bool = False, on_text: OnText | None = None
    ) -> Outcome[Out]:
        """Do a task: with the model if there is one, else the honest way without.

        `rule_if_unusable`: where the model gives no usable reply, the rule does it instead, and the outcome says so.
        That is for helper tasks, whose loss must not cost a whole answer. The answer itself is replaced by the step
        that writes it, which tells of the failure: nobody may take a rule's word for the model's.

        `on_text` gets the text of the reply as it is written; see `OnText`.
        """
        if self.model is None:
            return await self.by_rule(task, given, "rule")
        try:
            with span(task.name) as here:
                here.prompt = task.text.hash
                outcome = await self._ask(task, given, here, on_text)
                here.output = brief(outcome.value)
                return outcome
        except UnusableReply:
            if not rule_if_unusable or task.without is None:
                raise
        return await self.by_rule(task, given, RULE_INSTEAD)

    async def by_rule(self, task: Task[In, Out], given: In, way: str) -> Outcome[Out]:
        """Do a task the honest way without a model, whether or not there is one; `way` says why."""
        if task.without is None:
            raise NoModel(f"{task.name} cannot be done without a language model", CURE_NO_MODEL)
        with span(task.name) as here:
            here.way = way
            value = await task.without(given)
            here.output = brief(value)
            return Outcome(value, way)

    def way(self, reply: Reply) -> str:
        """In words, who gave a reply: "model NAME", or "model NAME (cached)"."""
        return f"{self._name} (cached)" if reply.cached else self._name

    def price(self, usage: Usage) -> float | None:
        """USD of so many tokens; None without a model, and where nobody knows its price."""
        return None if self.model is None else self._prices.of(usage, self.model.name, self.model.base_url)

    async def aclose(self) -> None:
        if self.model is not None:
            await self.model.aclose()

    async def __aenter__(self) -> ModelClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask(self, task: Task[In, Out], given: In, here: Span, on_text: OnText | None) -> Outcome[Out]:
        """Ask, and ask again with the complaint, until a reply can be used."""
        first = call = self._tempered(task.call(given))
        if call.seed is None:
            first = call = replace(call, seed=_TRIAL.get().seed)
        cut: TruncatedReply | None = None
        for tried in range(1, self._asks + 1):
            last = tried == self._asks
            here.details["asked"] = tried
            try:
                reply, value = await self._through(
                    call, reader(task, given), cache_as=first, on_text=on_text, task=task
                )
            except ModelRefused:
                if cut is None or not task.partial:  # else more room than it gives: the earlier reply must do
                    raise
                here.details["cut"] = True
                return Outcome(cast(Out, cut.value), here.way, cut=True)
            except InvalidReply as complaint:
                cut = complaint if isinstance(complaint, TruncatedReply) else cut
                reply = complaint.reply or Reply("")
                here.way = self.way(reply)
                # What could be read is better than nothing, and who repeats itself would do so again.
                if (last or reply.repeats) and cut is not None and task.partial:
                    here.details["cut"] = True
                    return Outcome(cast(Out, cut.value), here.way, cut=True, repeats=reply.repeats)
                if last:
                    raise UnusableReply(
                        f"{task.name}: {self._name} gave no usable reply in {tried} tries ({complaint})",
                        "use a stronger model for this task, or a larger context",
                        reply=reply.text,
                    ) from None
                call = task.retry_call(call, reply, str(complaint))
            else:
                here.way = self.way(reply)
                if reply.cut:
                    here.details["cut"] = True
                return Outcome(value, here.way, cut=reply.cut, repeats=reply.repeats)
        raise AssertionError("a task must be tried at least once")

    async def _through(
        self,
        call: Call,
        read: Callable[[Reply], T],
        *,
        cache_as: Call | None = None,
        task: Task[In, T] | None = None,
        on_text: OnText | None = None,
    ) -> tuple[Reply, T]:
        """One call through all layers. `read` makes its value and raises `InvalidReply` if it cannot.

        `cache_as`: the call under which the reply is cached. A reply to a repeated request answers the first call, so
        the next run finds it at once.
        """
        with span("model call", **({"task": task.name} if task else {})) as here:
            key = self._key(call)
            if (cached := self._cached(key)) is not None:
                try:
                    value = read(cached)
                except InvalidReply:
                    here.details["cache"] = "unusable reply, sent again"
                else:
                    here.way, here.spared = self.way(cached), cached.spared
                    if on_text is not None:
                        on_text(cached.text, restart=True)
                    return cached, value
            reply = await self._once(key, call, here, on_text)
            here.way, here.spared = self.way(reply), reply.spared
            if reply.repeats:
                here.details["repeats"] = True
            value = read(reply)
            if self._cache is not None and not reply.cached and not reply.repeats:
                self._cache.put(self._key(cache_as or call), reply.to_json())
            return reply, value

    def _cached(self, key: str) -> Reply | None:
        text = self._cache.get(key) if self._cache is not None else None
        try:
            return Reply.from_json(text).again() if text is not None else None
        except ValueError:  # a damaged entry is no entry; the reply to come replaces it
            return None

    async def _once(self, key: str, call: Call, here: Span, on_text: OnText | None) -> Reply:
        """Send, unless the same call is under way already: then share its reply."""
        while (flight := self._flights.get(key)) is not None:
            try:
                shared = (await asyncio.shield(flight)).again()
                if on_text is not None:
                    on_text(shared.text, restart=True)
                return shared
            except (BudgetExceeded, SettingsError):
                continue  # that was the other caller's budget, not ours
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flight.cancelled() or (task is not None and task.cancelling()):
                    raise
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        flight.add_done_callback(_seen)
        try:
            reply = await self._send(call, here, on_text)
        except asyncio.CancelledError:
            flight.cancel()
            raise
        except BaseException as error:
            flight.set_exception(error)
            raise
        else:
            flight.set_result(reply)
            return reply
        finally:
            del self._flights[key]

    async def _send(self, call: Call, here: Span, on_text: OnText | None) -> Reply:
        """Reserve, send, settle."""

        async def one_try() -> Reply:
            # Plain text is streamed for nobody as well: a slow reply that flows is then no silence.
            as_stream = on_text is not None or (call.schema is None and not call.tools)
            if as_stream and isinstance(model, StreamingModel):
                return await model.stream(call, on_text or _nobody)
            reply = await model.send(call)
            if on_text is not None:
                on_text(reply.text, restart=True)
            return reply

        model = self._model
        bound = self._prices.to_reserve(self._bound.of_call(call), model.name, model.base_url, current_meter())
        tries = MeteredTries(bound)
        await tries.reserve()
        usage = Usage()
        try:
            reply, here.details["tries"] = await self._traffic.send(
                self._name,
                lambda: tries.send(one_try),
                tokens=bound.tokens,
                used=lambda reply: reply.usage.tokens,
            )
            self._bound.learn(bound, reply.usage)
            usage = self._prices.priced(reply.usage, model.name, model.base_url)
            reply = replace(reply, usage=usage)
            here.details |= _facts(reply)
            if reply.repeats:
                logging.getLogger("ragways").warning("ragways: %s says the same again and again: stopped", self._name)
            return reply
        finally:
            tries.settle(usage)
            here.usage = usage + tries.lost
            if tries.lost.calls:
                here.details["lost"] = tries.lost.calls

    def _tempered(self, call: Call) -> Call:
        output = call.max_output + self._headroom
        return replace(call, temperature=call.temperature or self.temperature, max_output=output)

    def _key(self, call: Call) -> str:
        key, trial = call.key(self._model.name, self._model.base_url), _TRIAL.get().name
        key = content_hash(key, "variant", self._variant) if self._variant else key
        key = content_hash(key, "tenant", tenant) if (tenant := _TENANT.get()) else key
        return content_hash(key, trial) if trial else key

    @property
    def _model(self) -> Model:
        if self.model is None:
            raise NoModel("no language model is set", CURE_NO_MODEL)
        return self.model

    @property
    def _name(self) -> str:
        return f"model {self._model.name}"


def _facts(reply: Reply) -> dict[str, object]:
    facts: dict[str, object] = {"seconds": round(reply.seconds, 4), "finish": reply.finish}
    if reply.usage.unpriced:
        facts["price"] = "unknown"
    if reply.estimated:
        facts["usage"] = "estimated"
    return facts


def _nobody(text: str, *, restart: bool = False) -> None:
    """Listens to a stream for nobody."""


def _seen(flight: asyncio.Future[Reply]) -> None:
    """Look at the exception, or asyncio warns when nobody else shared the flight."""
    if not flight.cancelled():
        flight.exception()
