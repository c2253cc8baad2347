"""Spans of a real server as a collector receives them, and of every kind of step; none, and no texts, unless set."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ragways.core.errors import MissingPart, NoModel
from ragways.core.trace import Usage, span
from ragways.retrieval.as_plain import step_data, usage_data
from ragways.service.telemetry import Telemetry, telemetry_of
from ragways.service.work.workers import FinishedCall
from ragways.settings import read_settings
from ragways.testing.server import LoopbackServer
from tests.service.conftest import serving

QUESTION = "Who designed the Pell Rock Lighthouse?"
TRACE = "0af7651916cd43dd8448eb211c80319c"


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A place that takes OTLP over HTTP."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            received.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply(_: Mapping[str, Any]) -> str:
    return "Jorun Askeby. [1]"


def test_a_collector_gets_the_spans_of_an_answer_below_its_request(lights: Path, tmp_path: Path):
    with collector() as (place, received), LoopbackServer(reply) as model:
        environment = {
            "RAGWAYS_SERVE__OTLP": place, "RAGWAYS_SERVE__WORKERS": "1", "RAGWAYS_MODEL__BASE_URL": model.base_url,
            "RAGWAYS_MODEL__NAME": "loopback", "RAGWAYS_MODEL__KEY": "k",
        }  # fmt: skip
        with serving(tmp_path / "data", "--index", str(lights), environment=environment) as server:
            done = server.client.post(
                f"/api/v1/collections/{lights.name}/ask",
                json={"question": QUESTION, "paradigm": "words"},
                headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"},
            )
            assert done.status_code == 200
        # It has stopped, so everything was sent.
    raw = b"".join(received)
    spans = {
        each.name: each
        for body in received
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for each in scope.spans
        if each.trace_id.hex() == TRACE
    }
    request = spans["POST /api/v1/collections/{collection}/ask"]
    answer, chat = spans["invoke_agent words"], spans["chat loopback"]
    found = next(each for name, each in spans.items() if name.startswith("retrieval "))
    assert request.parent_span_id.hex() == "b7ad6b7169203331"
    assert answer.parent_span_id == request.span_id
    assert found.parent_span_id == answer.span_id
    said = attributes(chat)
    assert said["gen_ai.operation.name"] == "chat"
    assert said["gen_ai.request.model"] == "loopback"
    assert said["gen_ai.usage.input_tokens"] == attributes(answer)["gen_ai.usage.input_tokens"] > 100
    assert said["gen_ai.usage.output_tokens"] > 0
    assert "ragways.usd" not in said, "nobody knows the price of this model"
    assert attributes(request)["http.response.status_code"] == 200
    assert attributes(request)["ragways.request.id"] == done.headers["x-request-id"]
    assert request.start_time_unix_nano <= answer.start_time_unix_nano <= chat.start_time_unix_nano
    assert chat.end_time_unix_nano - chat.start_time_unix_nano > 0
    for text in ("Pell Rock", "Askeby", "lighthouse"):
        assert text.encode() not in raw


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def finished(call: Mapping[str, Any]) -> FinishedCall:
    return FinishedCall("ask", {"paradigm": "agent-vector"}, time.time(), 1.0, **call)


def result() -> dict[str, Any]:
    with span("agent") as trace:
        with span("dense", k=3) as found:
            found.input, found.output = "the secret question", "3 pieces: Secret Title"
        with span("round"), span("tool title_search") as tool:
            tool.error = "ToolError: no secret"
            with span("embed"):
                pass
        with span("model call") as call:
            call.usage, call.way = Usage(calls=1, input=7, output=2), "model m (cached)"
    return {
        "question": "secret?", "answer": "secret!", "abstained": False, "seconds": trace.seconds,
        "paradigm": "agent-vector",
        "usage": usage_data(trace.total), "steps": [step_data(step, trace.began) for step in trace.children],
    }  # fmt: skip


@pytest.mark.parametrize("texts", [False, True])
def test_every_kind_of_step_has_its_name_and_texts_only_where_set(texts: bool):
    settings = read_settings(environment={"RAGWAYS_SERVE__OTLP_TEXTS": str(texts), "RAGWAYS_MODEL__NAME": "m"})
    exporter = InMemorySpanExporter()
    telemetry = Telemetry(exporter, settings)
    telemetry.worked(finished({"value": result()}))
    telemetry.worked(finished({"error": NoModel("secret")}))
    telemetry.close()
    spans = {each.name: each for each in exporter.get_finished_spans()}
    assert list(spans) == [
        "invoke_agent agent-vector", "retrieval dense", "round", "execute_tool title_search", "embeddings", "chat m",
    ]  # fmt: skip
    parents = {name: each.parent.span_id if each.parent else None for name, each in spans.items()}
    assert parents["embeddings"] == spans["execute_tool title_search"].context.span_id
    assert spans["execute_tool title_search"].attributes == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "title_search", "error.type": "ToolError",
    }  # fmt: skip
    assert (spans["chat m"].attributes or {})["ragways.cached"] is True
    assert ("secret" in "".join(each.to_json() for each in exporter.get_finished_spans()).casefold()) is texts
    failed = exporter.get_finished_spans()[-1]
    assert (failed.attributes or {})["error.type"] == "NoModel"


def test_nothing_is_made_unless_a_place_is_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert telemetry_of(read_settings(environment={})) is None
    monkeypatch.setattr("ragways.service.telemetry.find_spec", lambda _: None)
    with pytest.raises(MissingPart, match=r"ragways\[otel\]"):
        telemetry_of(read_settings(environment={"RAGWAYS_SERVE__OTLP": "http://127.0.0.1:9"}))
