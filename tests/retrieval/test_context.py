"""What fits into a model's context: asked of its server, kept by packing, and reported where a prompt was cut."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragways.assemble import opened
from ragways.core.types import Answer
from ragways.models.call import Call, Message, ModelTraits, Tool
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.models.limits import count_call
from ragways.models.ollama import USUAL_CONTEXT, OllamaModel
from ragways.retrieval.ask import ask
from ragways.settings import ModelSettings, Settings
from ragways.testing.server import LoopbackServer

SCHEMA = {
    "type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"],
    "additionalProperties": False,
}  # fmt: skip


def answer_by(settings: Settings, server: LoopbackServer, **model: object) -> Answer:
    chosen = ModelSettings.model_validate({"base_url": server.base_url, "name": "loopback", **model})

    async def run() -> Answer:
        async with opened(settings.model_copy(update={"model": chosen})) as use:
            return (await ask(use, "What happened on the Lanner Sound in 1883?", "naive", {"k": 60})).answer

    return asyncio.run(run())


def read_by(server: LoopbackServer) -> int:
    body = server.requests[-1].body
    messages = body["messages"]
    assert isinstance(messages, list)
    return count_call(Call(tuple(Message(one["role"], one["content"]) for one in messages)))


@pytest.mark.parametrize("provider", ["", "vllm", "ollama"])
def test_a_prompt_and_its_reply_fit_into_the_context_that_the_server_names(demo_settings: Settings, provider: str):
    with LoopbackServer(context=6000) as server:
        shown = answer_by(demo_settings, server, provider=provider).evidence
        assert read_by(server) + 2048 <= 6000
    with LoopbackServer(context=32_000) as server:
        whole = answer_by(demo_settings, server, provider=provider).evidence
    assert 3 <= len(shown.items) < len(whole.items)
    assert whole.items[: len(shown.items)] == shown.items


def test_the_setting_decides_where_the_server_says_nothing(demo_settings: Settings):
    with LoopbackServer() as server:
        free = answer_by(demo_settings, server).evidence
        assert len(answer_by(demo_settings, server, context=5000).evidence.items) < len(free.items)


@pytest.mark.parametrize("streamed", [False, True])
def test_ollama_is_asked_by_its_own_api_for_a_context_schema_and_tools(streamed: bool):
    def reply(body: Mapping[str, object]) -> object:
        if body.get("tools"):
            function = {"name": "look_up", "arguments": {"country": "France"}}
            return {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        return '{"capital": "Paris"}' if body.get("format") else "Paris, of course, is the capital. " * 20

    async def run(server: LoopbackServer) -> None:
        model = OllamaModel(server.base_url, None, "loopback", traits=ModelTraits(context=9000))
        pieces: list[str] = []

        def on_text(text: str, *, restart: bool = False) -> None:
            pieces[:] = [text] if restart else [*pieces, text]

        async def say(call: Call):
            return await (model.stream(call, on_text) if streamed else model.send(call))

        question = (Message("user", "What is the capital of France?"),)
        plain = await say(Call(question, max_output=77, seed=3))
        assert plain.text.startswith("Paris, of course")
        assert "".join(pieces) == (plain.text if streamed else "")
        assert len(pieces) > 1 or not streamed
        assert (plain.usage.calls, plain.estimated, plain.finish) == (1, False, "stop")
        assert (await say(Call(question, schema=SCHEMA))).text == '{"capital": "Paris"}'
        tool = Tool("look_up", "Look a country up.", {"type": "object"})
        called = await say(Call(question, tools=(tool,)))
        assert [(one.name, one.arguments) for one in called.tool_calls] == [("look_up", '{"country": "France"}')]
        await model.aclose()

    with LoopbackServer(reply) as server:
        asyncio.run(run(server))
    show, first, *others = server.requests
    assert (show.path, first.path) == ("/api/show", "/api/chat")
    assert first.body["options"] == {"num_ctx": 9000, "num_predict": 77, "temperature": 0.0, "seed": 3}
    assert first.body["stream"] is streamed
    assert others[0].body["format"] == SCHEMA
    assert "tools" in others[1].body


@pytest.mark.parametrize(
    ("wanted", "most", "given"), [(None, 32_768, USUAL_CONTEXT), (None, 8192, 8192), (50_000, 32_768, 32_768)]
)
def test_ollama_is_never_asked_for_more_than_the_model_was_made_for(wanted: int | None, most: int, given: int):
    async def run(server: LoopbackServer) -> int:
        model = OllamaModel(server.base_url, None, "loopback", traits=ModelTraits(context=wanted))
        try:
            return await model.context()
        finally:
            await model.aclose()

    with LoopbackServer(context=most) as server:
        assert asyncio.run(run(server)) == given


@pytest.mark.parametrize("context", [2000, 32_000])
def test_a_prompt_that_was_cut_is_warned_of_once_with_the_cure(caplog: pytest.LogCaptureFixture, context: int):
    call = Call((Message("user", "These are words of a long prompt, one after the other. " * 400),))

    async def run(server: LoopbackServer) -> None:
        async with ModelClient(Endpoint(server.base_url, None, f"loopback-{context}")) as client:
            for sample in (1, 2):
                await client.complete(Call(call.messages, sample=sample))

    with LoopbackServer(context=context) as server, caplog.at_level(logging.WARNING, "ragways"):
        asyncio.run(run(server))
    cut = [record.getMessage() for record in caplog.records if "was cut" in record.getMessage()]
    assert len(cut) == (context == 2000)
    assert all("model.context" in message for message in cut)


def test_the_check_says_how_long_the_context_is(demo_settings: Settings, tmp_path: Path):
    from ragways.models.check import check_endpoint

    async def context(server: LoopbackServer, *, own: bool) -> tuple[bool | None, str]:
        made = OllamaModel if own else Endpoint
        model = made(server.base_url, None, "loopback")
        report = await check_endpoint(model)
        await model.aclose()
        return next((probe.works, probe.note) for probe in report.probes if probe.name == "context")

    with LoopbackServer(context=8192) as server:
        assert asyncio.run(context(server, own=False)) == (True, "8,192 tokens")
        assert asyncio.run(context(server, own=True)) == (True, "8,192 tokens")
    with LoopbackServer() as server:
        works, note = asyncio.run(context(server, own=False))
    assert works is False
    assert "model.context" in note
