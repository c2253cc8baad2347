"""Answers in plain text are answers, and a model that gives none does not cost what was found."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragways.core.errors import ModelRefused, UnusableReply
from ragways.models.call import MemoryCache
from ragways.models.client import ModelClient
from ragways.models.task import Outcome
from ragways.tasks.answers import (
    ANSWER,
    TEXT_WISH,
    AnswerInput,
    AnswerReply,
    AnswerSentence,
    AnswerWishes,
    Extractor,
    from_plain_text,
)
from ragways.tasks.extract import AnswerPassage
from ragways.testing.scripted import ScriptedModel

PASSAGES = tuple(AnswerPassage(f"T{n}", "", f"Text {n}.", (f"Text {n}.",)) for n in range(1, 4))
GIVEN = AnswerInput("Who built it?", PASSAGES, Extractor(None, str.split, 0.5, 3))


def asked(*script: Any, cache: MemoryCache | None = None) -> Outcome[AnswerReply]:
    async def main() -> Outcome[AnswerReply]:
        with ScriptedModel(script) as model:
            return await ModelClient(model, cache=cache).do(ANSWER, GIVEN)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Ness built it. [1]", [("Ness built it.", (1,))]),
        ("Ness built it [1].", [("Ness built it.", (1,))]),
        ("Ness built it [1][3]. It burnt [2, 3].", [("Ness built it.", (1, 3)), ("It burnt.", (2, 3))]),
        ("It is old. Ness built it [1]. So.", [("It is old.", ()), ("Ness built it.", (1,)), ("So.", ())]),
        ("**Answer:** Ness [2]", [("Ness", (2,))]),
        ("- Ness built it [1]\n- It burnt [2]\n", [("Ness built it", (1,)), ("It burnt", (2,))]),
        ("Ness 建造了它。[1] 它烧毁了。[2]", [("Ness 建造了它。", (1,)), ("它烧毁了。", (2,))]),
        ("<think>[9] hm</think>Ness [1]", [("Ness", (1,))]),
    ],
)
def test_plain_text_with_marks_is_an_answer_at_once(text: str, sentences: list[tuple[str, tuple[int, ...]]]):
    outcome = asked(text)
    assert outcome.value == AnswerReply(True, tuple(AnswerSentence(*each) for each in sentences))
    assert (outcome.way, outcome.asked) == ("model scripted", 1)


def test_a_refusal_in_plain_text_is_an_abstention():
    assert asked("The passages do not mention who built it.").value == AnswerReply(False, ())


def test_after_two_replies_without_json_plain_text_is_asked_for():
    seen: list[Any] = []

    def last(call: Any) -> str:
        seen.append(call)
        return "Ness built it."

    outcome = asked("Well.", '{"reply": "no"}', last)
    assert outcome.value == AnswerReply(True, (AnswerSentence("Ness built it.", ()),))
    assert outcome.asked == 3
    (call,) = seen
    assert call.schema is None
    assert [message.role for message in call.messages] == ["system", "user"]
    assert call.messages[-1].content.endswith(TEXT_WISH)


def test_an_answer_in_plain_text_is_kept_and_found_at_once():
    cache = MemoryCache()
    first = asked("Well.", "Well.", "Ness built it.", cache=cache)
    assert asked(cache=cache).value == first.value


@pytest.mark.parametrize("last", ["Ness [7].", '{"answered": ', ""])
def test_what_is_no_answer_stays_none_and_is_not_kept(last: str):
    cache = MemoryCache()
    with pytest.raises(UnusableReply):
        asked("Well.", "Well.", last, cache=cache)
    assert cache.replies == {}


def test_talk_is_no_answer_unless_it_was_asked_for():
    with pytest.raises(ValueError, match="no JSON"):
        from_plain_text("Let me think about it.", GIVEN, False)


def test_a_refused_request_is_not_asked_in_other_words():
    with pytest.raises(ModelRefused):
        asked(ModelRefused("no", "set a key"))


def test_wishes_are_said_with_our_own_words_and_are_no_variables():
    wishes = AnswerWishes("Call the reader {{question}}.", "German", 64)
    plain, wished = ANSWER.call(GIVEN), wishes.applied(ANSWER).call(GIVEN)
    assert wished.messages[0].content.startswith(plain.messages[0].content)
    assert wished.messages[0].content.endswith("Call the reader { {question}}.\n\nAnswer in this language: German.")
    assert (plain.max_output, wished.max_output) == (1024, 64)
    assert wishes.applied(ANSWER).text.hash != ANSWER.text.hash
    assert AnswerWishes().applied(ANSWER) == ANSWER
