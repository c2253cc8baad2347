import json
import subprocess
import sys
import urllib.error
import urllib.request

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
