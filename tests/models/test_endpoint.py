"""The endpoint through the real HTTP stack, against the loopback server and all its faults."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ragways.core.errors import ModelError, ModelRefused, ModelUnavailable, SettingsError
from ragways.core.trace import Usage, span, spending
from ragways.models import transport
from ragways.models.call import Call, Message, Tool, ToolCall
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.models.limits import Time, Traffic, TryAgain
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer
from tests.models.model_fakes import ABOUT, GOOD, NOTE, About, Note

CALL = Call((Message("user", "hello"),))
KEY = "sk-very-secret-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


async def soon(seconds):
    await asyncio.sleep(min(seconds, 0.01))


def complete(server, call=CALL, *, key=None, timeout=5.0, tries=8, model="loopback"):
    async def main():
        client = ModelClient(
            Endpoint(server.base_url, key, model, timeout=timeout),
            traffic=Traffic(tries=tries, time=replace(Time(), sleep=soon)),
        )
        async with client:
            return await client.complete(call)

    return asyncio.run(main())


def whole(message, **more):
    return lambda body: {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def test_a_call_and_its_reply():
    call = replace(CALL, seed=7, temperature=0.5, max_output=50)
    with LoopbackServer() as server:
        reply = complete(server, call)
    assert reply.text == "You said: hello"
    assert (reply.model, reply.finish, reply.cached, reply.estimated) == ("loopback", "stop", False, False)
    assert reply.usage.calls == 1
    assert reply.usage.tokens > 0
    assert reply.seconds > 0
    (seen,) = server.requests
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "loopback", "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 50, "temperature": 0.5, "seed": 7, "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


def test_tools_go_out_and_calls_of_tools_come_back():
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}]
    talk = (
        *CALL.messages,
        Message("assistant", "", tool_calls=(ToolCall("c0", "look", "{}"),)),
        Message("tool", "nothing there", tool_call_id="c0"),
    )
    call = replace(CALL, messages=talk, tools=(Tool("look", "looks", {"type": "object"}),))
    with LoopbackServer(lambda body: {"role": "assistant", "content": None, "tool_calls": calls}) as server:
        reply = complete(server, call)
    assert reply.tool_calls == (ToolCall("c1", "look", '{"at": 1}'),)
    assert (reply.text, reply.finish) == ("", "tool_calls")
    body = server.requests[0].body
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "look"  # type: ignore[index]
    assert body["messages"][2] == {"role": "tool", "content": "nothing there", "tool_call_id": "c0"}  # type: ignore[index]
    assert body["tools"][0]["function"]["name"] == "look"  # type: ignore[index]


def test_usage_with_cached_and_reasoning_tokens():
    usage = {
        "prompt_tokens": 100, "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 30},
    }  # fmt: skip
    with LoopbackServer(whole({"content": "x"}, usage=usage)) as server:
        assert complete(server).usage == Usage(1, 100, 50, 64, 30, unpriced=1)


GIVEN = {"prompt_tokens": 7, "completion_tokens": 3}
NO_USAGE = [None, {}, {"prompt_tokens": None}, "many", {"prompt_tokens": 0}]
IMPOSSIBLE = [GIVEN | {field: count} for field in GIVEN for count in (-5, 10**400, 1e300, True, "12", None)]


@pytest.mark.parametrize("usage", [*NO_USAGE, *IMPOSSIBLE], ids=lambda usage: repr(usage)[:60])
def test_usage_that_is_missing_or_impossible_is_estimated_and_marked(usage):
    with LoopbackServer(whole({"content": "four words at all"}, usage=usage)) as server, span("root") as root:
        reply = complete(server)
    assert reply.estimated
    assert reply.usage.output == 4
    assert reply.usage.input > 0
    assert root.children[0].details["usage"] == "estimated"


def test_odd_contents():
    with LoopbackServer(whole({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})) as server:
        assert complete(server).text == "ab"
    with LoopbackServer(whole({"content": "half \ud83d"})) as server:
        assert complete(server).text.encode()


@pytest.mark.parametrize(
    ("forms", "asked"),
    [
        (("json_schema", "json_object"), ["json_schema", "json_schema"]),
        (("tool",), ["json_schema", "tool", "tool"]),
        (("json_object",), ["json_schema", "tool", "json_object", "json_object"]),
        ((), ["json_schema", "tool", "json_object", None, None]),
    ],
)
def test_the_form_a_server_understands_is_learnt_once(forms, asked):
    async def main():
        async with ModelClient(Endpoint(server.base_url, None, "loopback")) as client:
            assert (await client.do(NOTE, ABOUT)).value == Note("fine", (1, 2))
            assert (await client.do(NOTE, About("again", ""))).value == Note("fine", (1, 2))

    with LoopbackServer(
        lambda body: json.dumps(GOOD), forms=forms, refuses=() if "tool" in forms else ("tools",)
    ) as server:
        asyncio.run(main())
    bodies = [seen.body for seen in server.requests]
    assert [form_of(body) for body in bodies] == asked
    in_prompt = ["JSON schema" in body["messages"][0]["content"] for body in bodies]  # type: ignore[index]
    assert in_prompt == [form in ("json_object", None) for form in asked]


def form_of(body):
    return "tool" if "tool_choice" in body else body.get("response_format", {}).get("type")


@pytest.mark.parametrize("refused", ["max_tokens", "temperature", "seed"])
def test_a_parameter_a_server_refuses_is_left_out_from_then_on(refused):
    async def main():
        async with ModelClient(Endpoint(server.base_url, None, "loopback")) as client:
            for sample in range(2):
                await client.complete(replace(CALL, seed=1, schema=SCHEMA, sample=sample))

    with LoopbackServer(refuses=[refused]) as server:
        asyncio.run(main())
    assert [refused in seen.body for seen in server.requests] == [True, False, False]
    assert "response_format" in server.requests[-1].body
    if refused == "max_tokens":
        assert server.requests[-1].body["max_completion_tokens"] == CALL.max_output


def test_a_request_that_is_wrong_is_refused_with_the_complaint():
    with LoopbackServer(refuses=["messages"]) as server, pytest.raises(ModelRefused, match="'messages'") as caught:
        complete(server, replace(CALL, schema=SCHEMA))
    assert "model" in caught.value.cure
    assert len(server.requests) == 1, "it names no form that could be left out"


LOST = {"closed", "cut", "garbled", "empty"}
FAULTS_THAT_PASS = ["limited", "down", "closed", "cut", "garbled", "error", "empty"]


@pytest.mark.parametrize("kind", FAULTS_THAT_PASS)
def test_a_fault_that_passes_is_survived(kind):
    with LoopbackServer(faults=[Fault(kind, requests=2)]) as server, span("root") as root:
        assert complete(server).text == "You said: hello"
    assert server.count == root.children[0].details["tries"] == 3


@pytest.mark.parametrize("kind", FAULTS_THAT_PASS)
def test_a_fault_that_stays_is_an_error_with_its_cure(kind):
    with LoopbackServer(faults=[Fault(kind)]) as server, spending() as meter, pytest.raises(ModelUnavailable) as caught:
        complete(server, tries=3)
    assert caught.value.cure
    assert meter.reserved == Usage()
    assert meter.spent.calls == (3 if kind in LOST else 0), "a reply that was made and lost may be billed"
    assert server.count == 3


@contextmanager
def answering(status: int, headers: dict[str, str], body: object = None) -> Iterator[Endpoint]:
    """An endpoint that answers every request with this."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", None, "m")
        server.shutdown()


def sent(endpoint: Endpoint) -> Exception:
    """How one try fails."""

    async def main():
        try:
            await endpoint.send(CALL)
        finally:
            await endpoint.aclose()

    with pytest.raises((TryAgain, ModelRefused)) as caught:
        asyncio.run(main())
    return caught.value


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "300", "retry-after": "9"}, 0.3),
        ({"retry-after": "Wed, 21 Oct 2065 07:28:00 GMT"}, 60),
        ({"retry-after": "1e9"}, 60),
        ({"retry-after": "inf"}, 60),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "soon"}, 0),
        ({}, 0),
    ],
)
def test_forms_of_retry_after(headers, seconds):
    with answering(429, headers) as endpoint:
        error = sent(endpoint)
    assert isinstance(error, TryAgain)
    assert error.after == seconds


def test_no_credit_is_no_reason_to_wait():
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with answering(429, {}, body) as endpoint:
        assert isinstance(sent(endpoint), ModelRefused)


def test_an_endpoint_that_answered_and_is_gone_is_waited_for():
    async def main():
        traffic = Traffic(time=replace(Time(), sleep=sleep))
        client = ModelClient(Endpoint(server.base_url, None, "loopback"), traffic=traffic)
        async with client:
            await client.complete(replace(CALL, sample=1))
            await asyncio.to_thread(server.pause)
            assert (await client.complete(CALL)).text == "You said: hello"

    async def sleep(seconds):
        if not slept:
            await asyncio.to_thread(server.resume)
        slept.append(seconds)

    slept: list[float] = []
    with LoopbackServer() as server:
        asyncio.run(main())
    assert slept


async def never_slept(seconds):
    raise AssertionError(f"waited {seconds} s for what does not pass")


def at_once(base_url):
    """What the first call says where it must not be tried again."""

    async def main():
        traffic = Traffic(time=replace(Time(), sleep=never_slept))
        async with ModelClient(Endpoint(base_url, None, "m"), traffic=traffic) as client:
            await client.complete(CALL)

    with pytest.raises(ModelError) as caught:
        asyncio.run(main())
    return caught.value


def test_an_endpoint_that_is_not_there_is_an_error_at_once():
    with LoopbackServer() as server:
        server.pause()
        error = at_once(server.base_url)
    assert isinstance(error, ModelUnavailable)
    assert server.base_url in error.message
    assert "is the server running?" in error.cure
    assert "/v1" in error.cure


def test_a_web_page_is_an_error_at_once():
    with LoopbackServer(faults=[Fault("page")]) as server:
        error = at_once(server.base_url)
    assert isinstance(error, ModelRefused)
    assert "web page" in error.message
    assert "/v1" in error.cure
    assert server.count == 1


def test_statuses_that_another_try_would_not_change():
    with LoopbackServer(key=KEY) as server:
        for key in (None, "wrong"):
            with pytest.raises(ModelRefused, match="401") as caught:
                complete(server, key=key)
            assert "`model.key`" in caught.value.cure
        assert complete(server, key=f" {KEY}\n").text
        assert server.count == 3


def test_a_wrong_address_names_its_setting():
    async def main():
        async with ModelClient(Endpoint(server.base_url.replace("/v1", "/v2"), None, "loopback")) as client:
            await client.complete(CALL)

    with LoopbackServer() as server, pytest.raises(ModelRefused, match="404") as caught:
        asyncio.run(main())
    assert "base_url" in caught.value.cure


def test_a_reply_without_end_is_cut_short(monkeypatch):
    monkeypatch.setattr(transport, "LONGEST_REPLY", 50_000)
    with (
        LoopbackServer(lambda body: " ".join(map(str, range(20_000)))) as server,
        pytest.raises(ModelUnavailable, match="more than"),
    ):
        complete(server, tries=2)


@pytest.mark.parametrize(
    "base_url", ["", "localhost", "ftp://x/v1", "http://", "http://u:p@x/v1", "http://x:y/v1", "http://x/v1?k=1"]
)
def test_an_address_that_is_none(base_url):
    with pytest.raises(SettingsError, match="base_url"):
        Endpoint(base_url, None, "m")


@pytest.mark.parametrize("key", ["a b", "a\nb", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_showing_it(key):
    with pytest.raises(SettingsError) as caught:
        Endpoint("http://x/v1", key, "m")
    assert key not in str(caught.value)


def test_the_key_never_leaks(caplog):
    caplog.set_level(logging.DEBUG)
    seen = []

    def echo(body):
        return {"error": {"message": f"bad key {KEY}"}, "choices": []}

    with span("root") as root:
        with LoopbackServer(key=KEY + "x") as server, pytest.raises(ModelRefused) as refused:
            complete(server, key=KEY)
        with LoopbackServer(echo, streams=False) as server, pytest.raises(ModelUnavailable) as failed:
            complete(server, key=KEY, tries=2)
        assert server.requests[0].authorized
        with LoopbackServer() as server:
            seen.append(complete(server, key=KEY))
            endpoint = Endpoint(server.base_url, KEY, "loopback")
    for error in (refused.value, failed.value):
        chain = [error, error.__cause__, error.__context__]
        seen += [str(one) for one in chain] + [repr(one) for one in chain] + [repr(vars(one)) for one in chain if one]
    seen += [
        root,
        list(root.walk()),
        endpoint,
        *vars(endpoint).values(),
        server.requests,
        CALL.key("m", endpoint.base_url),
    ]
    assert "***" in str(failed.value)
    assert KEY not in "".join(map(repr, seen))
    # httpx2 may tell a log of headers, but not of this one.
    assert KEY not in caplog.text
