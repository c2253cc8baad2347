"""The form of requests that an endpoint wants, learnt from its refusals and from replies, and remembered."""

import asyncio
import json
from pathlib import Path

import pytest

from ragways.core.errors import ModelRefused, UnusableReply
from ragways.core.trace import Usage
from ragways.models.call import Call, Message
from ragways.models.client import ModelClient
from ragways.models.dialect import FILE, MOST_ENTRIES, Dialect, DialectMemory
from ragways.models.endpoint import Endpoint
from ragways.testing.replies import HttpResponse
from ragways.testing.server import LoopbackServer
from tests.models.model_fakes import ABOUT, GOOD, NOTE, About, Note

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


class Notes:
    """One endpoint asked for notes, again and again: `next` is the form of the request and its note, or None."""

    def __init__(self, server, memory=None):
        self.server = server
        self.endpoint = Endpoint(server.base_url, None, "m", memory=memory)
        self.client = ModelClient(self.endpoint, asks=1)
        self.topics = iter(range(100))

    async def next(self):
        before = len(self.server.requests)
        about = About(f"tides {next(self.topics)}", "The tide rises.")
        try:
            value = (await self.client.do(NOTE, about)).value
        except UnusableReply:
            value = None
        return *forms(self.server)[before:], value


def run_notes(server, work, memory=None):
    async def main():
        notes = Notes(server, memory)
        async with notes.client:
            return await work(notes)

    return asyncio.run(main())


FINE = Note("fine", (1, 2))


def test_a_form_that_is_not_obeyed_is_left_for_the_next_in_this_run_alone(tmp_path: Path, caplog):
    memory = DialectMemory(tmp_path)

    async def four(notes):
        return [await notes.next() for _ in range(4)]

    with obeys("json_object") as server:
        seen = run_notes(server, four, memory)
        assert seen == [("json_schema", None), ("tool", None), ("json_object", FINE), ("json_object", FINE)]
        assert run_notes(server, lambda notes: notes.next(), memory) == ("json_schema", None)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "ragways"]
    assert "json_schema" in line
    assert "json_object" in line
    assert not (tmp_path / FILE).exists()


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


def test_the_memory_is_bounded(tmp_path: Path):
    memory = DialectMemory(tmp_path)
    (tmp_path / FILE).write_text(json.dumps({f"u {n}": {} for n in range(MOST_ENTRIES)}))
    memory.put("u", "new", Dialect())
    assert len(json.loads((tmp_path / FILE).read_text())) == MOST_ENTRIES
    assert memory.get("u", "new") == Dialect()


def test_reasoning_that_stands_in_the_total_alone_is_output():
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    body = {"choices": [{"message": {"content": "hi"}}], "usage": usage}

    async def main():
        async with ModelClient(Endpoint(server.base_url, None, "m")) as client:
            return await client.complete(CALL)

    with LoopbackServer(lambda _: body) as server:
        reply = asyncio.run(main())
    assert reply.usage == Usage(calls=1, input=10, output=105, reasoning=100, unpriced=1)


TOO_LONG = "This model's maximum context length is 4096 tokens; your messages and max_tokens come to 5000."


@pytest.mark.parametrize(
    ("error", "said", "cure"),
    [
        ({"message": "Bad request"}, "refused the request", "ragways model check"),
        ({"message": TOO_LONG}, "longer than the context", "model.context"),
        ({"message": "Please shorten it.", "code": "context_length_exceeded"}, "longer than the context", "tokens"),
        ({"message": "The request exceeds the available context size, try increasing it"}, "longer than", "tokens"),
        ({"message": "The response was filtered", "code": "content_filter"}, "filter of content", "other words"),
        ({"message": "Blocked by the content management policy for JSON"}, "filter of content", "--where"),
    ],
)
def test_a_400_that_names_no_form_is_sent_once_and_changes_nothing(tmp_path: Path, error, said, cure):
    memory = DialectMemory(tmp_path)
    with (
        LoopbackServer(lambda _: HttpResponse.json({"error": error}, 400)) as server,
        pytest.raises(ModelRefused, match=said) as caught,
    ):
        note(server, memory)
    assert cure in caught.value.cure
    assert server.count == 1
    assert not (tmp_path / FILE).exists()
