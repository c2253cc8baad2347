import contextlib
import gc
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import warnings
from typing import Any

import pytest

from ragways.core.errors import UsageError
from ragways.testing.replies import Fault, default_reply, vector
from ragways.testing.server import LoopbackServer

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 10},
        "kind": {"enum": ["a", "b"]},
        "one": {"const": 1},
        "many": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/Part"}},
        "none": {"type": "array", "items": {"type": "string"}},
        "maybe": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
        "pair": {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "number"}]},
    },
    "$defs": {"Part": {"type": "object", "properties": {"at": {"type": "integer"}}}},
}


def get(url, data=None):
    request = urllib.request.Request(url, None if data is None else json.dumps(data).encode())
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)


def test_what_fits_a_schema():
    body = {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}
    found = json.loads(default_reply(body))
    assert found == {
        "name": "text fille", "kind": "a", "one": 1, "many": [{"at": 0}, {"at": 0}],
        "none": [], "maybe": 3, "pair": [False, 0],
    }  # fmt: skip
    assert default_reply(body) == default_reply(body)
    assert 500 <= len(default_reply(body, 500)) < 800


def test_vectors_are_made_of_the_text():
    assert vector("a", 16) == vector("a", 16) != vector("b", 16)
    assert all(-1 <= one <= 1 for one in vector("a", 1000))


def test_models_and_unknown_paths():
    with LoopbackServer() as server:
        assert get(f"{server.base_url}/models")["data"][0]["id"] == "loopback"
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            get(f"{server.base_url}/nothing")
        caught.value.close()


def test_a_share_of_requests():
    hit = [Fault("down", share=0.25).strikes(number, 0) for number in range(1, 101)]
    assert sum(hit) == 25
    assert not Fault("down", until=2).strikes(1, 2.5)
    assert Fault("down", until=2).strikes(1, 1.5)


def test_faults_in_words():
    assert Fault.parse("limited:share=0.2,seconds=1") == Fault("limited", share=0.2, seconds=1)
    assert Fault.parse("down:requests=3,until=9") == Fault("down", requests=3, until=9)
    for text in ("unheard", "down:often=1", "down:share=x"):
        with pytest.raises(ValueError):  # noqa: PT011
            Fault.parse(text)


def test_outside_its_block_it_is_not_there():
    with pytest.raises(UsageError):
        LoopbackServer().pause()


@contextlib.contextmanager
def nothing_left_open():
    """The warnings of Python about what was collected before it was closed."""
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        yield
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def wait_for(ready):
    until = time.monotonic() + 60
    while not (found := ready()):
        assert time.monotonic() < until
        time.sleep(0.001)
    return found


def asking():
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize("leave", [LoopbackServer.pause, LoopbackServer._end])
def test_a_caller_who_comes_as_it_hangs_up_is_hung_up_on(leave, caplog):
    def busy(body):
        is_busy.set()
        assert go_on.wait(10)
        return "x"

    is_busy, go_on = threading.Event(), threading.Event()
    with nothing_left_open(), socket.socket() as first, socket.socket() as late:
        with LoopbackServer(busy) as server:
            first.connect(("127.0.0.1", server._port))
            first.sendall(asking())
            assert is_busy.wait(10)
            # The busy server will find both in the same turn: that it is to hang up, and the late caller.
            loop: Any = server._loop
            hanging_up = threading.Thread(target=leave, args=(server,))
            hanging_up.start()
            wait_for(lambda: loop._ready)
            late.connect(("127.0.0.1", server._port))
            go_on.set()
            hanging_up.join()
        for caller in (first, late):
            caller.settimeout(10)
            with contextlib.suppress(ConnectionError):
                while caller.recv(1 << 16):
                    pass
    assert caplog.text == ""


def test_a_reply_that_nobody_reads_does_not_keep_its_connection():
    with nothing_left_open(), socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        with LoopbackServer(lambda body: "x" * 5_000) as server:
            caller.connect(("127.0.0.1", server._port))
            ask_until_no_more_can_be_sent(server, caller)


def ask_until_no_more_can_be_sent(server, caller):
    (writer,) = wait_for(lambda: list(server._open))
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    while not writer.transport.get_write_buffer_size():
        count = server.count
        caller.sendall(asking())
        wait_for(lambda count=count: server.count > count)
    caller.shutdown(socket.SHUT_WR)  # the server has nothing left to do but send
    wait_for(writer.is_closing)
    assert writer.transport.get_write_buffer_size()


def test_a_caller_who_left_before_the_end():
    with nothing_left_open():
        for seconds in (0.0, 0.001, 0.003):
            with LoopbackServer(faults=[Fault("slow", seconds=0.002), Fault("cut", share=0.5)]) as server:
                for at in range(20):
                    with socket.create_connection(("127.0.0.1", server._port)) as caller:
                        if at % 3:
                            caller.sendall(asking()[: 20 * at])
                        time.sleep(seconds)


def test_in_a_process_of_its_own():
    command = [sys.executable, "-m", "ragways.testing.loopback", "--size", "100", "--fault", "down:requests=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with pytest.raises(urllib.error.HTTPError, match="503") as caught:
                get(f"{url}/models")
            caught.value.close()
            said = get(f"{url}/chat/completions", {"messages": [{"role": "user", "content": "hi"}]})
            assert len(said["choices"][0]["message"]["content"]) == 100
        finally:
            process.terminate()
