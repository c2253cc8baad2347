"""The server as a whole: what it offers, what it never reports, and that two of them do not share a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.service.app import make_app
from ragways.service.config import config_of
from ragways.settings import read_settings

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
