"""Figures for Prometheus, at `/metrics`: requests, questions, tokens, money, workers, jobs, lag of the event loop.

Labels are names of ours alone (routes as templates, paradigms, states): never a tenant, a collection, a key or a text,
so that their number is bounded and no tenant learns of another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ragways import __version__
from ragways.retrieval.ask import PARADIGMS

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
LOOK_EVERY: Final = 0.25
"""Seconds between looks at how late the event loop is."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_LAGS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class Metrics:
    """The figures of one server, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "ragways_requests", "Requests that were answered.", ["route", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "ragways_request_seconds", "From a request to the end of its reply.", ["route"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._questions = Counter(
            "ragways_questions",
            "Questions, by paradigm and what came of them.",
            ["paradigm", "outcome"],
            registry=registry,
        )
        self._tokens = Counter(
            "ragways_model_tokens", "Tokens of the language model.", ["direction"], registry=registry
        )
        self._usd = Counter(
            "ragways_model_usd", "USD spent on the language model, where its price is known.", registry=registry
        )
        self._lag = Histogram(
            "ragways_event_loop_lag_seconds", "How late the event loop came back.", buckets=_LAGS, registry=registry
        )
        Gauge("ragways_build_info", "Always 1.", ["version"], registry=registry).labels(__version__).set(1)

    def watch(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A figure that is read with every request for the metrics."""
        Gauge(name, about, registry=self.registry).set_function(value)

    def watch_states(self, name: str, about: str, states: Iterable[str], count: Callable[[str], float]) -> None:
        """Figures by state, read with every request for the metrics."""
        gauge = Gauge(name, about, ["state"], registry=self.registry)
        for state in states:
            gauge.labels(state).set_function(partial(count, state))

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered; `route` is its template, empty where there is no such page."""
        self._requests.labels(route or "none", method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route or "none").observe(seconds)

    def worked(self, operation: str, value: Any) -> None:  # noqa: ANN401 - what a worker gave, or the error
        """A worker has ended a call."""
        if operation == "ask":
            self._answered(value)
        elif operation == "compare" and isinstance(value, dict):
            for answer in value["answers"]:
                self._answered(answer)
        elif operation == "rewrite" and isinstance(value, dict):
            self._used(value["usage"])

    def _answered(self, answer: Any) -> None:  # noqa: ANN401 - JSON, or the error
        if not isinstance(answer, dict) or answer.get("failed"):
            self._questions.labels("", "failed").inc()
            return
        name = answer["paradigm"] if answer["paradigm"] in PARADIGMS else "other"
        self._questions.labels(name, "abstained" if answer["abstained"] else "answered").inc()
        self._used(answer["usage"])

    def _used(self, usage: Mapping[str, float]) -> None:
        self._tokens.labels("input").inc(usage["input"])
        self._tokens.labels("output").inc(usage["output"])
        self._usd.inc(usage["usd"] or 0.0)

    def text(self) -> bytes:
        """All figures as Prometheus reads them."""
        return generate_latest(self.registry)

    @asynccontextmanager
    async def watching_loop(self) -> AsyncIterator[None]:
        """As long as this lasts, look how late the event loop is."""

        async def look() -> None:
            loop = asyncio.get_running_loop()
            while True:
                due = loop.time() + LOOK_EVERY
                await asyncio.sleep(LOOK_EVERY)
                self._lag.observe(max(0.0, loop.time() - due))

        task = asyncio.create_task(look())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
