import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.models.reply import fits, read_json, without_thinking
from tests.models.model_fakes import Note

WANTED = {"a": "it's", "b": [1, 2.5, True, None], "c": {"d": "x"}}
STRICT = json.dumps(WANTED)


@pytest.mark.parametrize(
    "text",
    [
        STRICT,
        f"\ufeff  {STRICT}\n",
        f"```json\n{STRICT}\n```",
        f"```\n{STRICT}```\nI hope this helps {{really}}!",
        f"Sure! As in [1] and {{that}}, here it is:\n\n{STRICT}\n\nAnything else?",
        f"<think>Is it {{}}? No: {{'a': 1}}</think>\n{STRICT}",
    ],
)
def test_json_is_read_wherever_it_stands(text):
    assert read_json(text) == (WANTED, True)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "it\'s", "b": [1, 2.5, true, null,], "c": {"d": "x",},}',
        "{'a': 'it's', 'b': [1, 2.5, True, None], 'c': {'d': 'x'}}",
        '{a: "it\'s", b: [1, 2.5, true, null], c: {d: "x"}}',
        '{"a": "it\'s" "b": [1 2.5 true null] "c": {"d": "x"}}',
        'Here: {“a”: “it\'s”, “b”: [1, 2.5, true, null], “c”: {“d”: “x”}}',
    ],
)  # fmt: skip
def test_other_notation_than_json_loses_nothing(text):
    assert read_json(text) == (WANTED, True)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "it\'s", "b": [1, 2.5, true, null], "c": {"d": "x"',
        '{"a": "it\'s", "b": [1, 2.5, true, null], "c": {"d": "x',
        '```json\n{"c": {"d": "x"}, "a": "it\'s", "b": [1, 2.5, true, null}\n```',
    ],
)
def test_what_had_to_be_closed_is_not_complete(text):
    assert read_json(text) == (WANTED, False)


def test_a_list_of_objects_is_not_its_first():
    for text in (f"[{STRICT}, {STRICT}]", f"```json\n[{STRICT}, {STRICT}]\n```", f"As in [1]: [{STRICT}, {STRICT},]"):
        assert read_json(text) == ([WANTED, WANTED], True)


def test_a_cut_value_is_left_out_rather_than_guessed():
    assert read_json('{"a": 1, "b": 12') == ({"a": 1}, False)
    assert read_json('{"a": 1, "b": tr') == ({"a": 1}, False)
    assert read_json('{"a": 1, "b":') == ({"a": 1}, False)
    assert read_json('{"a": [{"x": 1}, {"x"') == ({"a": [{"x": 1}, {}]}, False)
    assert read_json('{"a": "line\nbreak \\u00e9 \\n \\q"') == ({"a": "line\nbreak é \n q"}, False)


@pytest.mark.parametrize("text", ["", "no", "42", '"text"', "{", "{{{{", "{]", "{'a' 'b'}", "{a: b}"])
def test_no_object_is_an_error(text):
    with pytest.raises(ValueError):  # noqa: PT011
        read_json(text)


@pytest.mark.parametrize(
    "text",
    ["[" * 99_000, '{"a":' * 99_000, "{" * 99_000, '{"a": "' + "\\" * 200_000, "{'" * 50_000, "``` \n{" * 30_000],
)
def test_nasty_text_neither_hangs_nor_crashes(text):
    began = time.process_time()
    with contextlib.suppress(ValueError):
        read_json(text)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("depth", [50, 900, 5000])
def test_a_reply_however_deep_is_read_or_refused(depth: int):
    for text in (f'{{"text": {"[" * depth}"x"{"]" * depth}}}', f'{"[" * depth}{{"text": "x"}}{"]" * depth}'):
        try:
            found = fits(Note, read_json(text)[0])
        except ValueError:
            continue
        assert found == Note("x")


def test_half_a_character_is_replaced():
    found, _ = read_json('{"a": "\\ud83d x"}')
    assert str(found).encode()


def test_thinking_is_not_speech():
    assert without_thinking("<think>hm</think> yes ") == "yes"
    with pytest.raises(ValueError, match="empty"):
        without_thinking("<think>hm</think>")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.sampled_from([None, 2]))
def test_what_json_wrote_is_read(value, indent):
    assert read_json(json.dumps(value, indent=indent)) == (value, True)


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=4), st.floats(0, 1))
def test_a_cut_reply_never_has_more_than_the_whole(value, share):
    text = json.dumps(value)
    try:
        found, _ = read_json(text[: int(len(text) * share)])
    except ValueError:
        return
    assert isinstance(found, dict)
    assert found.keys() <= value.keys()


@given(st.text(alphabet="{}[]\"':,\\ntru1e \n`<>", max_size=80))
def test_any_text_is_read_or_refused(text):
    try:
        found, _ = read_json(text)
    except ValueError:
        return
    assert isinstance(found, dict | list)
