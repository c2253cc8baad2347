from dataclasses import replace

import pytest

from ragways.core.trace import Usage
from ragways.models.call import Call, Message, Reply, Tool, ToolCall

CALL = Call((Message("user", "hello"),))


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, messages=(Message("system", "hello"),)),
        replace(CALL, messages=(Message("user", "hello!"),)),
        replace(CALL, messages=(Message("user", "hello", tool_calls=(ToolCall("1", "look", "{}"),)),)),
        replace(CALL, messages=(Message("user", "hello", tool_call_id="1"),)),
        replace(CALL, messages=(Message("user", "hel"), Message("user", "lo"))),
        replace(CALL, schema={}),
        replace(CALL, schema_name="x"),
        replace(CALL, temperature=0.1),
        replace(CALL, max_output=1),
        replace(CALL, seed=0),
        replace(CALL, tools=(Tool("look", "looks", {}),)),
        replace(CALL, sample=1),
    ],
)
def test_everything_that_shapes_a_call_is_in_its_key(other):
    assert other.key("m", "u") != CALL.key("m", "u")


def test_a_key_names_the_model_and_its_endpoint_and_nothing_else():
    assert CALL.key("m", "u") == replace(CALL).key("m", "u")
    assert len({CALL.key("m", "u"), CALL.key("n", "u"), CALL.key("m", "v"), CALL.key("mu", "")}) == 4
    assert replace(CALL, schema={"a": 1, "b": 2}).key("m") == replace(CALL, schema={"b": 2, "a": 1}).key("m")


def test_a_reply_survives_its_json():
    reply = Reply("naïve 🦔", Usage(1, 2, 3, 1, 1, 0.5), "m", 1.5, tool_calls=(ToolCall("1", "look", "{}"),))
    assert Reply.from_json(reply.to_json()) == reply
    assert reply.again().usage == Usage()
    assert reply.again().cached


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"text": 1}', "null", '{"usage": 3}'])
def test_what_is_no_reply_is_not_read_as_one(text):
    with pytest.raises(ValueError):  # noqa: PT011
        Reply.from_json(text)
