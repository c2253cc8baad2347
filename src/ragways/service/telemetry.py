"""OpenTelemetry spans of requests and of how answers came about, by the GenAI semantic conventions (extra `otel`).

Only where the setting `serve.otlp` names a collector is anything recorded or sent. A request is a span of the server's;
below it an answer is `invoke_agent`, and the steps of its trace are `chat`, `execute_tool`, `embeddings`, `retrieval`,
or carry their own name. Spans hold names, counts and times; questions, answers and titles only with `serve.otlp_texts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from ragways import __version__
from ragways.core.errors import MissingPart
from ragways.service.work.workers import FinishedCall

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as OpenSpan

    from ragways.settings import Settings

Attributes = dict[str, str | int | float | bool]
DEEPEST: Final = 30
_NANO: Final = 1_000_000_000
_FOUND = re.compile(r"[\d,]+ pieces?\b")
"""How the output of a step that retrieves begins."""
_EMBED = frozenset({"embed", "embedding call"})


def telemetry_of(settings: Settings) -> Telemetry | None:
    """The telemetry that the settings name; None, and nothing is loaded, where they name no collector."""
    if not settings.serve.otlp:
        return None
    if find_spec("opentelemetry.exporter") is None or find_spec("opentelemetry.sdk") is None:
        raise MissingPart("serve.otlp is set, and OpenTelemetry is not installed", "pip install 'ragways[otel]'")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    place = settings.serve.otlp.rstrip("/")
    exporter = OTLPSpanExporter(endpoint=place if place.endswith("/v1/traces") else f"{place}/v1/traces")
    return Telemetry(exporter, settings)


class Telemetry:
    """Makes spans and has them exported in the background."""

    def __init__(self, exporter: SpanExporter, settings: Settings) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        # Of its own: what other libraries in the process trace is not ours to send.
        resource = Resource({"service.name": "ragways", "service.version": __version__})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("ragways", __version__)
        self._texts = settings.serve.otlp_texts
        self._model = settings.model.name or ""
        self._provider_name = str(settings.model.provider or "openai")

    @contextmanager
    def request(self, method: str, headers: Sequence[tuple[bytes, bytes]]) -> Iterator[OpenSpan]:
        """The span of a request; it continues the trace that the client's headers name."""
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carried = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers if name[:5] == b"trace"}
        context = TraceContextTextMapPropagator().extract(carried)
        with self._tracer.start_as_current_span(
            method, context, SpanKind.SERVER, {"http.request.method": method}, record_exception=False
        ) as span:
            yield span

    def answered(self, span: OpenSpan, method: str, route: str, status: int, request: str) -> None:
        """How a request ended."""
        from opentelemetry.trace import StatusCode

        span.update_name(f"{method} {route}".strip())
        span.set_attributes({"http.route": route, "http.response.status_code": status, "ragways.request.id": request})
        if status >= 500 or status == 0:
            span.set_status(StatusCode.ERROR)

    def worked(self, call: FinishedCall) -> None:
        """The spans of a call that a worker has ended, below the request's."""
        if call.operation == "ask":
            self._answer(call.value, call, str(call.arguments.get("paradigm", "")))
        elif call.operation == "compare" and isinstance(call.value, dict):
            for answer in call.value["answers"]:
                self._answer(answer, call, answer["paradigm"])
        elif call.operation == "retrieve":
            self._leaf("retrieval", {"gen_ai.operation.name": "retrieval"}, call)
        elif call.operation == "embed":
            self._leaf("embeddings", {"gen_ai.operation.name": "embeddings"}, call)
        elif call.operation == "rewrite":
            self._leaf("rewrite", self._usage(call.value["usage"]) if isinstance(call.value, dict) else {}, call)
        elif call.operation == "mcp" and call.arguments["method"] == "tools/call":
            tool = str(call.arguments["params"]["name"])[:100]
            self._leaf(
                f"execute_tool {tool}", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}, call
            )

    def _leaf(self, name: str, attributes: Attributes, call: FinishedCall) -> None:
        self._span(name, attributes, None, call.began, call.seconds, type(call.error).__name__ if call.error else "")

    def _answer(self, result: Any, call: FinishedCall, paradigm: str) -> None:  # noqa: ANN401 - JSON, or None
        attributes: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": paradigm[:100]}
        if not isinstance(result, dict) or result.get("failed"):
            error = type(call.error).__name__ if call.error else "failed"
            self._span(f"invoke_agent {paradigm[:100]}", attributes, None, call.began, call.seconds, error)
            return
        attributes |= self._usage(result["usage"]) | {"ragways.abstained": bool(result["abstained"])}
        if self._texts:
            attributes |= {"gen_ai.input.messages": result["question"], "gen_ai.output.messages": result["answer"]}
        within = self._span(f"invoke_agent {paradigm}", attributes, None, call.began, float(result["seconds"]))
        for step in result["steps"]:
            self._step(step, within, call.began, 0)

    def _step(self, step: Mapping[str, Any], parent: Context, began: float, depth: int) -> None:
        """A step of the trace, and those inside it."""
        name, attributes = self._named(step)
        if self._texts:
            attributes |= {f"ragways.{key}": step[key] for key in ("input", "output") if step.get(key)}
        error = str(step.get("error", "")).partition(":")[0]
        within = self._span(name, attributes, parent, began + step["began"], step["seconds"], error)
        for child in step.get("steps", ()) if depth < DEEPEST else ():
            self._step(child, within, began, depth + 1)

    def _named(self, step: Mapping[str, Any]) -> tuple[str, Attributes]:
        name = str(step["name"])
        if name == "model call":
            chat: Attributes = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": self._provider_name}
            chat |= {"gen_ai.request.model": self._model, "ragways.cached": step.get("way", "").endswith("(cached)")}
            return f"chat {self._model}", chat | self._usage(step["usage"])
        if name.startswith("tool "):
            tool = name.removeprefix("tool ")
            return f"execute_tool {tool}", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        if name in _EMBED:
            return "embeddings", {"gen_ai.operation.name": "embeddings"}
        if _FOUND.match(str(step.get("output", ""))):
            return f"retrieval {name}", {"gen_ai.operation.name": "retrieval"}
        return name, {}

    def _usage(self, usage: Mapping[str, Any]) -> Attributes:
        if not usage["calls"]:
            return {}
        return {
            "gen_ai.usage.input_tokens": usage["input"],
            "gen_ai.usage.output_tokens": usage["output"],
            "gen_ai.usage.cache_read.input_tokens": usage["cached"],
            **({} if usage["usd"] is None else {"ragways.usd": usage["usd"]}),
        }

    def _span(
        self, name: str, attributes: Attributes, parent: Context | None, began: float, seconds: float, error: str = ""
    ) -> Context:
        """A span that is over; gives the context of those inside it."""
        from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context

        kind = SpanKind.CLIENT if name.startswith("chat ") else SpanKind.INTERNAL
        span = self._tracer.start_span(name, parent, kind, attributes, start_time=int(began * _NANO))
        if error:
            span.set_attribute("error.type", error)
            span.set_status(StatusCode.ERROR)
        span.end(int((began + seconds) * _NANO))
        return set_span_in_context(span)

    def close(self) -> None:
        """Send what is left, and stop."""
        self._provider.shutdown()
