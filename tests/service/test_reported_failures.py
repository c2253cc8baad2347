"""What readers of a server see when the model, the reader or the disk fails: never an address or a path."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragways.assemble import recipe_of
from ragways.asynchronous import AsyncCorpus
from ragways.core.errors import RagwaysError, StoreFailed
from ragways.index.build import build
from ragways.retrieval.tools.toolbox import Toolbox
from ragways.service.errors import from_ragways
from ragways.service.work.mcp import ProtocolAnswers, answer_request
from ragways.service.work.operations import OPERATIONS, Work, hide_addresses
from ragways.settings import Settings, read_settings
from tests.fakes import write

SECRETS = ("127.0.0.1", "/v1", "http:", "nobody listens", "/srv")
QUESTION = "Who built the harbour light?"
WORDS = "the language model gave no usable answer"


@pytest.fixture
def deserted(tmp_path: Path, cache_folder: Path) -> Settings:
    """An index, and a model at an address where nobody listens."""
    settings = read_settings(
        environment={},
        index=tmp_path / "index",
        cache=cache_folder,
        model={"name": "m", "base_url": "http://127.0.0.1:1/v1"},
    )
    files = write(tmp_path / "files", {"light.txt": "The harbour light was built by Anna Brack."})
    asyncio.run(build(settings.index, [files], recipe_of(settings, frozenset({"words"}))))
    return settings


def told(settings: Settings, operation: Any, **arguments: Any) -> tuple[Any, str]:
    """What an operation gives, and all that a client hears of it."""
    events: list[object] = []

    async def run() -> Any:
        async with await AsyncCorpus(settings, None, None).open() as corpus:
            return await operation(Work(corpus, arguments, lambda *event: events.append(event), "t", None))

    value = asyncio.run(run())
    return value, json.dumps([value, events])


@pytest.mark.parametrize("paradigm", ["words", "llm-only", "agent"])
def test_an_answer_without_its_model_does_not_name_the_endpoint(deserted: Settings, paradigm: str):
    try:
        value, heard = told(deserted, OPERATIONS["ask"], question=QUESTION, paradigm=paradigm)
    except RagwaysError as error:  # nothing to answer from: the routes tell it
        value, heard = {"error": from_ragways(error).message}, str(from_ragways(error).body("1"))
    assert paradigm != "words" or value["answer"]
    assert not [secret for secret in SECRETS if secret in heard]


def test_ways_side_by_side_do_not_name_the_endpoint(deserted: Settings):
    value, heard = told(deserted, OPERATIONS["compare"], question=QUESTION, paradigms=["llm-only", "words"])
    assert [answer["error"] for answer in value["answers"]] == [WORDS, WORDS]
    assert not [secret for secret in SECRETS if secret in heard]


def test_tools_do_not_name_the_endpoint_or_the_disk(deserted: Settings, monkeypatch: pytest.MonkeyPatch):
    call = {"name": "ask", "arguments": {"question": QUESTION, "paradigm": "words"}}
    value, heard = told(deserted, answer_request, method="tools/call", params=call)
    assert json.loads(value["content"][0]["text"])["error"] == WORDS
    assert not [secret for secret in SECRETS if secret in heard]

    async def broken(*_: object, **__: object) -> object:
        raise StoreFailed("cannot read /srv/data/index.sqlite", "look at /srv/data")

    monkeypatch.setattr(Toolbox, "calculator", broken)
    call = {"name": "calculator", "arguments": {"expression": "1 + 1"}}
    value, heard = told(deserted, answer_request, method="tools/call", params=call)
    assert value["isError"]
    assert "/srv" not in heard

    async def trusted(work: Work) -> Any:  # `ragways mcp`, for whoever started it
        return await ProtocolAnswers(work.corpus.snapshot, deserted).answer("tools/call", call)

    assert "/srv/data/index.sqlite" in told(deserted, trusted)[1]


def test_steps_keep_what_happened_and_lose_where():
    address = "nobody listens at http://127.0.0.1:1/v1"
    inner = {"details": {"said": f'{{"error": "{address}"}}', "not read": "cannot read /srv/a b/x.bin: look"}}
    outer: dict[str, Any] = {
        "error": f"ModelUnavailable: {address}",
        "details": {"stopped": f"model: {address}", "reader": "the reader cannot be opened: /srv/a b/x.bin"},
        "steps": [inner],
    }
    kept: dict[str, Any] = {"error": "MissingLayer: it has no layer vectors", "details": {"stopped": "nothing new"}}
    foreign: dict[str, Any] = {"error": f"ConnectError: {address}", "details": {}}
    hide_addresses(steps := [outer, kept, foreign])
    assert not [
        secret
        for secret in SECRETS
        if secret in json.dumps(steps, ensure_ascii=False).replace("nobody listens at …", "")
    ]
    assert outer["error"] == f"ModelUnavailable: {WORDS}"
    assert outer["details"] == {"stopped": f"model: {WORDS}", "reader": "the reader cannot be opened"}
    assert (kept["error"], kept["details"]["stopped"]) == ("MissingLayer: it has no layer vectors", "nothing new")
