"""How an endpoint wants to be asked: learnt from its refusals and from replies that do not obey, and remembered."""

import asyncio
import json
from pathlib import Path

import pytest

from ragways.core.errors import UnusableReply
from ragways.core.trace import Usage
from ragways.models.call import Call, Message
from ragways.models.client import ModelClient
from ragways.models.dialect import FILE, MOST_KEPT, Dialect, DialectMemory
from ragways.models.endpoint import Endpoint
from ragways.testing.server import LoopbackServer
from tests.models.model_fakes import ABOUT, GOOD, NOTE, Note

CALL = Call((Message("user", "hello"),))


def note(server, memory=None, asks=3, on_text=None):
    async def main():
        endpoint = Endpoint(server.base_url, None, "m", memory=memory)
        async with ModelClient(endpoint, asks=asks) as client:
            value = (await client.do(NOTE, ABOUT, on_text=on_text)).value
        return value, endpoint.dialect

    return asyncio.run(main())


def forms(server):
    return [
        "tool" if "tool_choice" in seen.body else seen.body.get("response_format", {}).get("type", "plain")
        for seen in server.requests
    ]


def obeys(form):
    """A server that ignores every way to hold it to a schema but one."""

    def reply(body):
        asked = "tool" if "tool_choice" in body else body.get("response_format", {}).get("type", "plain")
        return json.dumps(GOOD) if asked == form else "Well, the tide rises."

    return LoopbackServer(reply)


def test_a_form_that_is_not_obeyed_is_left_for_the_next(tmp_path: Path):
    memory = DialectMemory(tmp_path)
    with obeys("tool") as server:
        assert note(server, memory) == (Note("fine", (1, 2)), Dialect(form="tool"))
        assert note(server, memory)[0] == Note("fine", (1, 2))
    assert forms(server) == ["json_schema", "tool", "tool"], "what was learnt is remembered by the next process"


def test_broken_json_is_the_models_fault_and_not_the_forms():
    with LoopbackServer(lambda body: '{"text": <<broken') as server, pytest.raises(UnusableReply):
        note(server)
    assert forms(server) == ["json_schema"] * 3


def test_a_tools_arguments_are_the_reply_and_are_streamed():
    pieces: list[str] = []
    with LoopbackServer(lambda body: json.dumps(GOOD), forms=()) as server:
        value, dialect = note(server, on_text=lambda text, restart=False: pieces.append(text))
    assert (value, dialect.form) == (Note("fine", (1, 2)), "tool")
    assert "".join(pieces) == json.dumps(GOOD)


def test_what_was_learnt_can_be_forgotten(tmp_path: Path):
    memory, learnt = DialectMemory(tmp_path), Dialect(form="plain", limit="max_completion_tokens")
    memory.put("http://a/v1", "m", learnt)
    memory.put("http://b/v1", "m", Dialect(temperature=False))
    assert DialectMemory(tmp_path).get("http://a/v1", "m") == learnt
    assert memory.forget("http://a/v1", "m")
    assert not memory.forget("http://a/v1", "m")
    assert memory.get("http://a/v1", "m") is None
    assert memory.get("http://b/v1", "m") == Dialect(temperature=False)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"http://a/v1 m": 3}', '{"http://a/v1 m": {"form": "song"}}', '{"http://a/v1 m": {}}']
)
def test_a_file_of_nonsense_is_no_memory(tmp_path: Path, text: str):
    (tmp_path / FILE).write_text(text)
    memory = DialectMemory(tmp_path)
    assert memory.get("http://a/v1", "m") is None
    memory.put("http://a/v1", "m", Dialect())
    assert memory.get("http://a/v1", "m") == Dialect()


def test_a_value_that_no_dialect_has_is_not_believed(tmp_path: Path):
    memory = DialectMemory(tmp_path)
    memory.put("u", "m", Dialect())
    kept = json.loads((tmp_path / FILE).read_text())
    kept["u m"]["limit"] = "messages"
    (tmp_path / FILE).write_text(json.dumps(kept))
    assert memory.get("u", "m") is None


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path):
    (tmp_path / "file").write_text("")
    memory = DialectMemory(tmp_path / "file")
    memory.put("u", "m", Dialect(form="plain"))
    assert memory.get("u", "m") is None


def test_the_memory_is_bounded(tmp_path: Path):
    memory = DialectMemory(tmp_path)
    (tmp_path / FILE).write_text(json.dumps({f"u {n}": {} for n in range(MOST_KEPT)}))
    memory.put("u", "new", Dialect())
    assert len(json.loads((tmp_path / FILE).read_text())) == MOST_KEPT
    assert memory.get("u", "new") == Dialect()


def test_reasoning_that_stands_in_the_total_alone_is_output():
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    body = {"choices": [{"message": {"content": "hi"}}], "usage": usage}

    async def main():
        async with ModelClient(Endpoint(server.base_url, None, "m")) as client:
            return await client.complete(CALL)

    with LoopbackServer(lambda _: body) as server:
        reply = asyncio.run(main())
    assert reply.usage == Usage(calls=1, input=10, output=105, reasoning=100)
