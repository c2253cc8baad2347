"""An answer by a model is what it wrote, in one call; words that decline are an abstention."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragways.core.errors import ModelRefused, UnusableReply
from ragways.models.call import Reply
from ragways.models.client import ModelClient
from ragways.models.task import Outcome
from ragways.tasks.answers import ANSWER, STYLES, AnswerInput, AnswerReply, AnswerWishes, Extractor, answer_so_far
from ragways.tasks.extract import AnswerPassage
from ragways.tasks.refusal import refuses
from ragways.testing.scripted import ScriptedModel
from tests.models.model_fakes import MemoryCache

PASSAGES = tuple(AnswerPassage(f"T{n}", "", f"Text {n}.", (f"Text {n}.",)) for n in range(1, 4))
GIVEN = AnswerInput("How do I set a timeout?", PASSAGES, Extractor(None, str.split, 0.5, 3))
CODE = """Set `timeout` [1]:

```python
requests.get("https://api.example.com/v1?a=1&b=2", timeout={"connect": 5})  # List<Item>
```

- Data: 5 rows [2]
- items[0] (y) and [a link](https://docs.example.com)
"""


def outcome_of(*script: Any, cache: MemoryCache | None = None) -> Outcome[AnswerReply]:
    async def main() -> Outcome[AnswerReply]:
        with ScriptedModel(script) as model:
            return await ModelClient(model, cache=cache).do(ANSWER, GIVEN)

    return asyncio.run(main())


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        "Write { and }.",
        'The body is {"answered": true, "sentences": []}.',
        '{"answered": true, "sentences": [{"text": "Set it.", "passages": [1]}]}',
        "Plain words that cite nothing.",
        "Ness built it [7].",
        "**Answer:** Ness [2]",
    ],
)
def test_whatever_a_model_writes_is_its_answer_after_one_call(text: str):
    outcome = outcome_of(text)
    assert outcome.value == AnswerReply(True, text.strip())
    assert outcome.way == "model scripted"


def test_no_json_is_requested():
    assert ANSWER.call(GIVEN).schema is None
    assert "JSON" not in ANSWER.call(GIVEN).messages[0].content


@pytest.mark.parametrize(
    "text",
    ["Insufficient information", "**Insufficient information.**", "Informations insuffisantes", "信息不足。"],
)
def test_words_that_decline_are_an_abstention(text: str):
    assert outcome_of(text).value == AnswerReply(False, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Insufficient information. They name Ness [1], but no year.", "They name Ness [1], but no year."),
        ("**Insufficient information**\n\nThey speak of the dam [1].\n\n- However, no year.",
         "They speak of the dam [1].\n\n- However, no year."),
        ("Insufficient information to say when [1]. However, Ness built it.",
         "Insufficient information to say when [1]. However, Ness built it."),
        ("The passages do not mention who built it.", "The passages do not mention who built it."),
    ],
)  # fmt: skip
def test_an_abstention_keeps_its_reason_however_long(text: str, reason: str):
    assert outcome_of(text).value == AnswerReply(False, reason)
    assert refuses(text)
    assert answer_so_far(text) in ("", text)


def test_part_of_an_answer_is_an_answer():
    for text in (
        "Ness built it [1]. Insufficient information on when.",
        "Insufficient information systems burnt it [1].",
    ):
        assert outcome_of(text).value == AnswerReply(True, text)
    assert "only a part of the answer" in ANSWER.call(GIVEN).messages[0].content


def test_a_text_that_cites_something_is_an_answer_though_it_begins_as_a_refusal():
    text = "The passages do not mention the year, but the builder was Ness [1]."
    assert outcome_of(text).value == AnswerReply(True, text)


@pytest.mark.parametrize(
    "text",
    [
        "There is no information about Windows.\n\nOn Linux, run:\n\n- `make`",
        "I do not know. " + "But there is more. " * 30,
    ],
)
def test_a_refusal_that_goes_on_to_tell_something_is_an_answer(text: str):
    assert outcome_of(text).value == AnswerReply(True, text.strip())


@pytest.mark.parametrize(
    ("wrote", "text"),
    [("\n\n    def f():\n        pass\n\n", "    def f():\n        pass"), ("a [1].\r\n\r\nb\r", "a [1].\n\nb")],
)
def test_line_ends_are_of_one_kind_and_the_first_line_keeps_its_indentation(wrote: str, text: str):
    assert outcome_of(wrote).value.text == text
    assert answer_so_far(wrote) == text


def test_thinking_is_no_part_of_the_answer():
    assert outcome_of("<think>[9] hm {</think>Ness [1]").value == AnswerReply(True, "Ness [1]")


def test_a_reply_that_was_cut_off_is_taken_as_far_as_it_goes():
    outcome = outcome_of(Reply("Ness built it [1]. It is", finish="length"))
    assert (outcome.value.text, outcome.cut) == ("Ness built it [1]. It is", True)


def test_an_answer_is_cached_and_an_empty_reply_is_not():
    cache = MemoryCache()
    first = outcome_of(CODE, cache=cache)
    assert outcome_of(cache=cache).value == first.value
    empty = MemoryCache()
    with pytest.raises(UnusableReply):
        outcome_of("", " ", "<think>x</think>", cache=empty)
    assert empty.replies == {}


def test_a_refused_request_is_not_sent_in_other_words():
    with pytest.raises(ModelRefused):
        outcome_of(ModelRefused("no", "set a key"))


@pytest.mark.parametrize(
    ("reply", "shown"),
    [("", ""), ("Insuff", ""), ("Insufficient information", ""), ("Insufficient funds", "Insufficient funds"),
     ("Insufficient information. They", ""), ("<thi", ""), ("<think>{", ""),
     ("<think>{</think>Set", "Set"), ("Set {", "Set {")],
)  # fmt: skip
def test_an_answer_is_shown_as_it_grows(reply: str, shown: str):
    assert answer_so_far(reply) == shown


def test_wishes_stand_after_our_own_words_and_are_no_variables():
    wishes = AnswerWishes("full", "Call the reader {{question}}.", "German", 64)
    plain, wished = ANSWER.call(GIVEN), wishes.applied(ANSWER).call(GIVEN)
    assert wished.messages[0].content.startswith(plain.messages[0].content)
    assert wished.messages[0].content.endswith(
        f"{STYLES['full']}\n\nCall the reader {{ {{question}}}}.\n\nAnswer in this language: German."
    )
    assert (plain.max_output, wished.max_output) == (2048, 64)
    assert wishes.applied(ANSWER).text.hash != ANSWER.text.hash
    assert AnswerWishes().applied(ANSWER) == ANSWER


def test_a_style_of_ones_own_stands_as_it_is():
    assert "Answer as a pirate." in AnswerWishes("Answer as a pirate.").applied(ANSWER).call(GIVEN).messages[0].content
