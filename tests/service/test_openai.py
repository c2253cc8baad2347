"""OpenAI's own client against the real server: models, chat (whole and streamed), embeddings, errors in its shapes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest

from ragways.models.minilm import MiniLM
from ragways.service.keys import Keys
from ragways.service.state import FILE, State
from ragways.testing.server import LoopbackServer
from tests.service.conftest import RunningServer, serving

QUESTION = "Who designed the Pell Rock Lighthouse?"
CHAT: list[Any] = [
    {"role": "system", "content": "You are a pirate."},
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "Jorun Askeby."},
    {"role": "user", "content": [{"type": "text", "text": "Where was she born?"}]},
]
WHOLE = "Where was Jorun Askeby born?"


def client_of(server: RunningServer, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


@pytest.fixture(scope="module")
def client(demo_server: RunningServer) -> Iterator[openai.OpenAI]:
    with client_of(demo_server) as client:
        yield client


def test_a_paradigm_of_a_collection_is_a_model(client: openai.OpenAI, demo_name: str):
    listed = {model.id: model for model in client.models.list()}
    assert {f"{demo_name}/{name}" for name in ("auto", "fused", "naive", "embedder")} <= listed.keys()
    assert f"{demo_name}/llm-only" not in listed, "there is no model to ask"
    assert client.models.retrieve(f"{demo_name}/fused") == listed[f"{demo_name}/fused"]
    for wrong in (f"{demo_name}/nothing", "other/fused", "fused"):
        with pytest.raises(openai.NotFoundError) as error:
            client.models.retrieve(wrong)
        assert (error.value.code, error.value.param) == ("model_not_found", "model")


def test_a_chat_is_answered_from_the_documents_with_citations(client: openai.OpenAI, demo_name: str):
    done = client.chat.completions.create(model=f"{demo_name}/fused", messages=CHAT)
    [choice] = done.choices
    assert choice.finish_reason == "stop"
    assert "Skelwick" in (choice.message.content or "")
    known = (choice.message.model_extra or {})["ragways"]
    assert known["rewritten"] == {"question": WHOLE, "way": "rule"}
    assert any(known["citations"][0]["quote"] in row["text"] for row in known["evidence"])
    assert known["evidence"][0]["title"] == "Jorun Askeby"
    assert done.usage is not None
    assert done.usage.total_tokens == 0, "no model was asked"


def test_a_stream_has_the_same_answer_and_ends_with_its_usage(client: openai.OpenAI, demo_name: str):
    asked: dict[str, Any] = {"model": f"{demo_name}/fused", "messages": CHAT}
    whole = client.chat.completions.create(**asked).choices[0].message.content
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == whole
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert (chunks[-2].model_extra or {})["ragways"]["rewritten"]["question"] == WHOLE

    async def later() -> str:
        async with openai.AsyncOpenAI(base_url=str(client.base_url), api_key="none") as other:
            stream = await other.chat.completions.create(**asked, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(later()) == whole


@pytest.mark.parametrize(
    "wish",
    [
        {"n": 2},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
        {"logprobs": True},
        {"stop": "x"},
        {"response_format": {"type": "json_object"}},
        {"messages": [{"role": "assistant", "content": "Hello."}]},
        {"messages": [{"role": "user", "content": "  "}]},
        {"messages": [{"role": "user", "content": "x" * 8001}]},
        {"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}, CHAT[1]]},
    ],
    ids=lambda wish: next(iter(wish)),
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_cannot_be_done_is_refused_in_words(
    client: openai.OpenAI, demo_name: str, wish: Mapping[str, Any], stream: bool
):
    asked: dict[str, Any] = {"model": f"{demo_name}/words", "messages": [CHAT[1]], "stream": stream, **wish}
    with pytest.raises(openai.BadRequestError) as error:
        client.chat.completions.create(**asked)
    assert error.value.param == next(iter(wish))
    assert error.value.type == "invalid_request_error"


def test_errors_of_a_question_have_their_status_also_where_a_stream_was_asked_for(
    client: openai.OpenAI, demo_name: str
):
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError, match="filter"):
            client.chat.completions.create(
                model=f"{demo_name}/words", messages=[CHAT[1]], stream=stream, extra_body={"ragways": {"where": "((("}}
            )
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model=f"{demo_name}/words", messages=[])


def test_embeddings_are_those_of_the_index(client: openai.OpenAI, demo_name: str):
    texts = ["a lighthouse", "bread"]
    found = client.embeddings.create(model=f"{demo_name}/embedder", input=texts)
    plain = client.embeddings.create(model=f"{demo_name}/embedder", input=texts, encoding_format="float")
    own = asyncio.run(MiniLM().embed(texts))
    assert np.allclose([row.embedding for row in found.data], own, atol=1e-6), (
        "sent as base64, which the client asks for"
    )
    assert np.allclose([row.embedding for row in plain.data], own, atol=1e-6)
    assert [row.index for row in found.data] == [0, 1]
    assert found.usage.prompt_tokens == 4
    one = client.embeddings.create(model=f"{demo_name}/embedder", input="bread").data
    assert len(one) == 1
    tokens = [[64, 326, 59009], [48616]]  # as tiktoken writes the two texts
    sent = client.embeddings.create(model=f"{demo_name}/embedder", input=tokens)
    assert np.allclose([row.embedding for row in sent.data], own, atol=1e-6)
    assert (
        client.embeddings.create(model=f"{demo_name}/embedder", input=tokens[1]).data[0].embedding == one[0].embedding
    )
    wrongs: list[Any] = ["", [], ["x", ""], [[]], [10**9], [[1], [-1]]]
    for wrong in wrongs:
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model=f"{demo_name}/embedder", input=wrong)
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model=f"{demo_name}/embedder", input="x", dimensions=5)
    for many in (["x"] * 513, ["x" * 200_001]):
        with pytest.raises(openai.APIStatusError) as error:
            client.embeddings.create(model=f"{demo_name}/embedder", input=many)
        assert error.value.status_code == 413


def reply(body: Mapping[str, Any]) -> str:
    if "response_format" not in body:
        return "In Skelwick, of course. [1]"
    return json.dumps({"question": WHOLE})


def test_a_model_streams_and_its_tokens_are_counted_and_keys_see_their_own(lights: Path, tmp_path: Path):
    data = tmp_path / "data"
    keys = Keys(state := State(data / FILE))
    mine, other = keys.add("mine")[1], keys.add("other", tenant="other")[1]
    state.close()
    with LoopbackServer(reply) as model:
        environment = {
            "RAGWAYS_SERVE__WORKERS": "1", "RAGWAYS_MODEL__BASE_URL": model.base_url,
            "RAGWAYS_MODEL__NAME": "loopback", "RAGWAYS_MODEL__KEY": "k",
        }  # fmt: skip
        with serving(data, "--index", str(lights), environment=environment) as server:
            name = lights.name
            with client_of(server, mine) as client:
                assert f"{name}/llm-only" in {each.id for each in client.models.list()}
                stream = client.chat.completions.create(
                    model=f"{name}/words", messages=CHAT, stream=True, stream_options={"include_usage": True}
                )
                chunks = list(stream)
            pieces = [
                chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content
            ]
            assert len(pieces) > 1, "it came as it was written"
            assert "".join(pieces).startswith("In Skelwick, of course.")
            usage = chunks[-1].usage
            assert usage is not None
            assert usage.prompt_tokens > 100
            assert usage.completion_tokens > 10
            asked = [request.body for request in model.requests]
            assert len(asked) == 2, "once to make the question whole, once to answer"
            assert "pirate" not in json.dumps(asked)
            with client_of(server, other) as stranger:
                assert list(stranger.models.list()) == []
                with pytest.raises(openai.NotFoundError) as error:
                    stranger.chat.completions.create(model=f"{name}/words", messages=[CHAT[1]])
                assert error.value.code == "model_not_found"
            with client_of(server, "wrong") as nobody, pytest.raises(openai.AuthenticationError):
                nobody.models.list()
