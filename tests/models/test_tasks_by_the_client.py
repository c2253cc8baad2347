import asyncio
import json
from dataclasses import dataclass, replace
from typing import Literal

import pytest

from ragways.core.errors import ModelRefused, NoModel, UnusableReply
from ragways.core.trace import Usage, span
from ragways.models.call import Reply
from ragways.models.client import ModelClient
from ragways.models.reply import is_strict, schema_of
from ragways.models.task import Outcome
from ragways.testing.scripted import ScriptedModel
from tests.models.model_fakes import ABOUT, GOOD, NOTE, WORD, About, MemoryCache, Note, Word


def do(task, lines, cache=None, given=ABOUT):
    with ScriptedModel(lines) as model, span("root") as root:
        outcome = asyncio.run(ModelClient(model, cache=cache).do(task, given))
    here = root.children[0]
    assert (outcome.way, outcome.cut) == (here.way, here.details.get("cut", False))
    return outcome.value, model, here


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        Note("fine", (1, 2)),
        f"Here you are:\n```json\n{json.dumps(GOOD)}\n```",
        "{'text': 'fine', 'pages': [1, 2,]}",
        '{"text": "fine", "pages": ["1", 2]}',
        lambda call: GOOD,
    ],
)
def test_a_reply_becomes_its_type(line):
    found, model, here = do(NOTE, [line])
    assert found == Note("fine", (1, 2))
    assert here.way == "model scripted"
    assert here.prompt == NOTE.text.hash
    assert here.children[0].details["task"] == "note"
    assert model.calls[0].schema == schema_of(Note)


@pytest.mark.parametrize(
    "bad",
    [
        "I cannot.",
        {"pages": ["x", "y"]},
        [GOOD, GOOD],
        "",
        {"foo": "fine"},
        '{"text": "fine", "pages": [1, 2',
    ],
)
def test_a_wrong_reply_is_requested_again_with_the_complaint(bad):
    found, model, here = do(NOTE, [bad, GOOD])
    assert found.text == "fine"
    assert here.details["asked"] == 2
    first, second = model.calls
    assert second.messages[:2] == first.messages
    assert [message.role for message in second.messages[2:]] == ["assistant", "user"]
    assert "cannot be used" in second.messages[-1].content
    assert here.children[0].error.startswith(("InvalidReply", "TruncatedReply"))


def test_three_wrong_replies_are_an_error_that_keeps_the_last():
    with pytest.raises(UnusableReply, match="pages") as caught:
        do(NOTE, ["no", "no!", {"pages": "many"}])
    assert caught.value.reply == '{"pages": "many"}'
    assert caught.value.cure


def test_a_check_can_complain():
    def cited(note, given):
        return None if given.topic in note.text else "it does not name the topic"

    found, model, _ = do(replace(NOTE, check=cited), [GOOD, {"text": "tides!", "pages": []}])
    assert found.text == "tides!"
    assert "it does not name the topic" in model.calls[1].messages[-1].content


def test_the_next_run_finds_the_good_reply_at_once():
    cache = MemoryCache()
    do(NOTE, ["no", GOOD], cache)
    found, _, here = do(NOTE, [], cache)
    assert found.text == "fine"
    assert here.way == "model scripted (cached)"
    assert here.total.calls == 0


def test_a_bad_reply_is_not_cached():
    cache = MemoryCache()
    with pytest.raises(UnusableReply):
        do(NOTE, ["no", "no", "no"], cache)
    assert cache.replies == {}
    assert do(NOTE, [GOOD], cache)[0].text == "fine"


def test_a_cached_reply_that_is_no_longer_usable_is_replaced():
    cache = MemoryCache()
    do(NOTE, [GOOD], cache)
    stricter = replace(NOTE, check=lambda note, _: None if len(note.text) > 10 else "too short")
    do(stricter, [{"text": "long enough now", "pages": []}], cache)
    assert do(stricter, [], cache)[0].text == "long enough now"


def test_a_reply_that_was_cut_off_gets_more_room():
    cut = Reply('{"text": "fi', finish="length")
    found, model, _ = do(NOTE, [cut, GOOD])
    assert found == Note("fine", (1, 2))
    assert [call.max_output for call in model.calls] == [1024, 2048]
    assert model.calls[0].messages == model.calls[1].messages
    found, model, here = do(NOTE, [cut, cut, cut])  # at last, what there is
    assert found == Note("fi")
    assert here.details["cut"]
    found, model, here = do(NOTE, [cut, ModelRefused("400: max_tokens is too large")])
    assert found == Note("fi")
    assert here.details["cut"]
    found, model, _ = do(NOTE, [Reply(json.dumps(GOOD), finish="length")])  # it was whole after all
    assert found == Note("fine", (1, 2))


def test_an_endpoint_that_cuts_below_the_limit_gets_a_complaint_and_not_more_room():
    cut = Reply('{"text": "fi', Usage(calls=1, input=9, output=96), finish="length")
    found, model, _ = do(NOTE, [cut, GOOD])
    assert found == Note("fine", (1, 2))
    assert [call.max_output for call in model.calls] == [1024, 1024]
    assert model.calls[1].messages[-1].content.endswith("cut off at 96 tokens. Reply again, with the whole JSON object "
                                                        "and nothing else. Be shorter.")  # fmt: skip
    whole = replace(cut, usage=Usage(calls=1, input=9, output=1024))
    assert [call.max_output for call in do(NOTE, [whole, GOOD])[1].calls] == [1024, 2048]
    estimated = replace(cut, estimated=True)  # our own count proves nothing
    assert [call.max_output for call in do(NOTE, [estimated, GOOD])[1].calls] == [1024, 2048]


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_json_that_had_to_be_closed_is_requested_again_and_never_cached(finish):
    cut, cache = Reply('{"text": "fine", "pages": [1, 2', finish=finish), MemoryCache()
    found, model, here = do(NOTE, [cut, cut, cut], cache)
    assert found == Note("fine", (1,)), "it is read as far as it goes"
    assert here.details["cut"]
    assert not cache.replies
    if finish == "stop":
        assert "its JSON ends before its last bracket" in model.calls[1].messages[-1].content


def test_free_text():
    found, model, _ = do(WORD, ["", "<think>hm</think> yes\n"], given=Word("yes"))
    assert found == "yes"
    assert model.calls[0].schema is None


def test_without_a_model_the_rule_does_it():
    async def rule(given):
        return Note(f"{given.topic}: {given.source}")

    with span("root") as root:
        outcome = asyncio.run(ModelClient().do(replace(NOTE, without=rule), ABOUT))
    assert outcome == Outcome(Note("tides: The tide rises."), "rule")
    assert outcome.by_rule
    assert root.children[0].output == "text tides: The tide rises."
    assert root.children[0].way == "rule"
    assert root.total.calls == 0


def test_without_a_model_and_a_rule():
    with pytest.raises(NoModel, match="note") as caught:
        asyncio.run(ModelClient().do(NOTE, ABOUT))
    assert caught.value.cure


def test_the_trace_holds_no_text_of_documents():
    _, _, here = do(NOTE, ["no", GOOD], given=About("secret-topic", "secret-source"))
    assert "secret" not in repr(here)


@dataclass(frozen=True)
class Inner:
    title: str
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Outer:
    default: Inner
    many: tuple[Inner, ...]
    maybe: int | None = None


@dataclass(frozen=True)
class Loose:
    names: dict[str, int]


def test_schemas_are_what_strict_endpoints_take():
    schema = schema_of(Outer)
    assert schema["required"] == ["default", "many", "maybe"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Inner"]["required"] == ["title", "kind"]  # type: ignore[index]
    assert "title" not in schema
    assert is_strict(schema)
    assert not is_strict(schema_of(Loose))
    assert schema_of(Outer) is schema
