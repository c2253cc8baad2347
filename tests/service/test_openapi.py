"""The OpenAPI document is kept to: made-up requests get no server error, only replies that it describes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ragways.service.app import make_app
from ragways.service.config import Limits, ServiceConfig
from ragways.settings import read_settings
from tests.service.gated import served
from tests.service.test_canary import OURS, indexed

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[schemathesis.BaseSchema]:
    """A server with a collection `shared`, and its document. Jobs wait for ever: what they do has its own tests."""
    folder = tmp_path_factory.mktemp("openapi")
    config = ServiceConfig(
        folder / "data", read_settings(environment={}, cache=cache_folder), workers=1, jobs=0, limits=Limits(seconds=60)
    )
    app = make_app(config)
    asyncio.run(indexed(app.state.service, "main", "shared", OURS, {"words", "graph"}))
    with served(app, config.limits) as port:
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/api/v1/openapi.json")


def can_be_wrong(operation: Any) -> bool:
    """Whether a request can break the document: a parameter that is any text cannot."""
    bounded = {"pattern", "minimum", "maximum", "maxLength"}
    return ("requestBody" in operation and "application/json" in operation["requestBody"]["content"]) or any(
        bounded & set(parameter["schema"]) for parameter in operation.get("parameters", ())
    )


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
def test_made_up_requests_get_replies_that_the_document_describes(
    described: schemathesis.BaseSchema, mode: GenerationMode
):
    """By the document, and against it."""
    found: list[str] = []
    asked, most = 0, 4
    for result in described.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if mode is GenerationMode.NEGATIVE and not can_be_wrong(operation.definition.raw):
            continue

        @settings(
            max_examples=most, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case[Any]) -> None:
            nonlocal asked
            whole = case.method == "DELETE" and case.path.endswith("{collection}")
            if "collection" in case.path_parameters and not whole:
                case.path_parameters["collection"] = "shared"  # else nearly all would be 404
            asked += 1
            case.call_and_validate(checks=list(CHECKS), timeout=60)

        try:
            check()
        except FailureGroup as group:
            found += [f"{operation.label}: {failure}" for failure in group.exceptions]
    assert found == []
    assert asked > 60
