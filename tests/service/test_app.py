"""The server as a whole: what it offers, what it never reports, and that two of them do not share a folder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import ragways
from ragways.core.errors import UsageError
from ragways.service.app import make_app
from ragways.service.config import config_of
from ragways.settings import read_settings
from tests.fakes import write
from tests.service.conftest import serving

ROUTES = (
    "/me", "/paradigms", "/collections", "/collections/{collection}", "/collections/{collection}/files/{path}",
    "/collections/{collection}/documents", "/collections/{collection}/documents/{id}",
    "/collections/{collection}/evidence/{id}", "/collections/{collection}/jobs", "/jobs/{id}", "/jobs/{id}/cancel",
    "/jobs/{id}/resume", "/jobs/{id}/events", "/collections/{collection}/ask", "/collections/{collection}/compare",
    "/collections/{collection}/retrieve", "/collections/{collection}/route", "/collections/{collection}/conversations",
    "/collections/{collection}/entities", "/collections/{collection}/paths", "/collections/{collection}/communities",
    "/collections/{collection}/runs", "/collections/{collection}/feedback",
)  # fmt: skip


def test_every_route_is_described(tmp_path: Path):
    app = make_app(config_of(read_settings(environment={}), data=tmp_path / "data"))
    described = app.openapi()["paths"]
    missing = [route for route in ROUTES if f"/api/v1{route}" not in described]
    assert not missing
    for path, methods in described.items():
        for method, operation in methods.items():
            assert operation.get("description"), f"{method} {path} says nothing of what it does"
    app.state.service.state.close()
    app.state.alone.close()


def test_the_framework_reports_to_nobody_whatever_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    app = make_app(config_of(read_settings(environment={}), data=tmp_path / "data"))
    assert not app._native_telemetry.enabled()
    assert app._telemetry["auto_configure"] is False
    app.state.service.state.close()
    app.state.alone.close()


def test_two_servers_do_not_work_on_one_folder(tmp_path: Path):
    config = config_of(read_settings(environment={}), data=tmp_path / "data")
    first = make_app(config)
    with pytest.raises(UsageError, match="another server is at work"):
        make_app(config)
    first.state.service.state.close()
    first.state.alone.close()


def test_a_server_lists_what_a_given_index_holds_after_others_wrote_it(tmp_path: Path):
    index, source = tmp_path / "given", write(tmp_path / "source", {"a.txt": "The tide rises twice a day."})
    with serving(tmp_path / "data", "--index", str(index), environment={"RAGWAYS_SERVE__WORKERS": "1"}) as server:

        def listed() -> dict[str, object]:
            return dict(server.client.get("/api/v1/collections").json()["collections"][0])

        assert listed()["trouble"]
        cure = f"build one there: ragways index PATH --index {index}"
        assert (
            f"ragways: --index {index}: there is no index in the folder that was given; {cure}\n"
            in server.log.read_text()
        )
        assert server.client.get("/v1/models").json()["data"] == []
        ragways.build(source, index, layers=["words"])
        end = time.monotonic() + 300
        while not listed()["generation"]:  # a look may come before the first batch
            assert time.monotonic() < end
            time.sleep(0.05)
        found = listed()
        assert (found["trouble"], found["generation"], found["documents"], found["layers"]) == ("", 1, 1, ["words"])
        assert "given/words" in {one["id"] for one in server.client.get("/v1/models").json()["data"]}
        assert server.client.get("/api/v1/collections/given/documents").json()["total"] == 1
