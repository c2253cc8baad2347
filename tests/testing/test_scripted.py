import asyncio

import pytest

from ragways.models.call import Call, Message
from ragways.testing.scripted import ScriptedModel, ScriptExhausted, ScriptUnfinished
from tests.models.model_fakes import Note

CALL = Call((Message("user", "hello"),))


def test_lines_are_replied_in_order():
    async def main():
        lines = ["a", {"b": 1}, Note("c"), lambda call: call.messages[0].content, KeyError("d")]
        with ScriptedModel(lines) as model:
            said = [(await model.send(CALL)).text for _ in range(4)]
            with pytest.raises(KeyError):
                await model.send(CALL)
        assert said == ["a", '{"b": 1}', '{"text": "c", "pages": []}', "hello"]
        assert model.calls == [CALL] * 5

    asyncio.run(main())


def test_too_many_calls_fail():
    with ScriptedModel([]) as model, pytest.raises(ScriptExhausted, match="hello"):
        asyncio.run(model.send(CALL))


def test_too_few_calls_fail():
    with pytest.raises(ScriptUnfinished, match="2 of the 2"), ScriptedModel(["a", "b"]):
        pass
    with pytest.raises(ScriptUnfinished):
        ScriptedModel(["a"]).close()


def test_an_error_is_not_hidden_by_the_lines_left_over():
    with pytest.raises(ZeroDivisionError), ScriptedModel(["a"]):
        raise ZeroDivisionError
