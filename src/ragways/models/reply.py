"""What a model wrote, as a value: the JSON found in its text, mended where it is broken, and checked against a type.

Models write JSON in code fences, after prose, with single quotes, cut off at the end. Strict JSON is tried first. Only
when no strict object is found, the text is rewritten as JSON, once from left to right and bounded in length and depth,
and what was left open is closed. No value is ever invented, and an object that we had to close is reported as
incomplete: what should have followed is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from ragways.models.call import restored

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

LONGEST = 1 << 20
"""Characters that are mended; a longer reply must be right as it is."""
DEPTH = 64

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>[ \t]*", re.DOTALL)
_MAY_BREAK = re.compile(r"(?<=[<\[]) [^\s\]]{0,62}\Z")
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_FENCE = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_COLON = re.compile(r"\s*[:=]")
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_CLOSING = {'"': '"', "'": "'", "“": "”"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def without_thinking(text: str) -> str:
    """The reply without what a reasoning model thought aloud first. ValueError when nothing is left."""
    rest = _trimmed(_THINKING.sub("", text.lstrip("\ufeff"), count=1))
    if not rest:
        raise ValueError("it is empty")
    return rest


def _trimmed(text: str) -> str:
    """The text with one kind of line end, without empty lines at its ends. Its first line may be indented code. Marks
    of chat templates that were broken in the prompt are whole again.
    """
    return restored(_EMPTY_LINES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip())


def after_thinking(text: str) -> str:
    """The same of a reply that is still being written: empty until its thinking has ended. A blank at its end that may
    break a mark of a chat template waits for the rest of it.
    """
    rest = _MAY_BREAK.sub("", _trimmed(_THINKING.sub("", text.lstrip("\ufeff"), count=1)))
    opening = rest.lstrip()
    return "" if "<thinking>".startswith(opening[:10]) or opening.startswith(("<think>", "<thinking>")) else rest


def read_json(text: str) -> tuple[dict[str, object], bool]:
    """The object in a reply, and whether it is complete: its own brackets closed it. ValueError when there is none.

    Other quotes, commas and words than JSON's are put right and lose nothing.
    """
    text = without_thinking(text)
    if (found := _whole(text)) is not None:
        return _sound(found), True
    if len(text) > LONGEST:
        raise ValueError("it is not JSON, and too long to repair")
    parts = [*_FENCE.findall(text)[:8], text]
    for part in parts:
        if (found := _whole(part.strip()) or _first_object(part)) is not None:
            return _sound(found), True
    for part in dict.fromkeys((parts[0], text)):
        start = part.find("{")
        mended, complete = _mended(part, start) if start >= 0 else (None, False)
        if mended:
            return _sound(mended), complete
    raise ValueError("there is no JSON object in it")


def _whole(text: str) -> dict[str, object] | None:
    """The text as one object; None when it is no JSON."""
    try:
        found = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):  # or the first object inside a list would pass for the reply
        raise ValueError(f"it is a JSON {type(found).__name__}, not an object")
    return found


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _first_object(text: str) -> dict[str, object] | None:
    """The first whole object in a text; prose before may hold stray brackets, so a few starts are tried."""
    start = -1
    for _ in range(16):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            found, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            if _inside_value(text, start):
                return None
            continue
        if isinstance(found, dict) and found:
            return found
    return None


def _inside_value(text: str, start: int) -> bool:
    """Whether an object that does not parse opens here: then a smaller one inside it is not the reply."""
    return re.match(r"\{\s*[\"'“]", text[start : start + 64]) is not None


def _sound(found: dict[str, object]) -> dict[str, object]:
    """The same without halves of characters (`\\ud83d` alone), which no file and no database takes.

    ValueError where a number is too large to count with, such as 1e999.
    """
    text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    whole = whole_characters(text)
    return found if whole is text else cast(dict[str, object], json.loads(whole))


def whole_characters(text: str) -> str:
    """The text itself, or a copy in which each half of a character is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _mended(text: str, start: int) -> tuple[dict[str, object] | None, bool]:
    """The object that opens at `start`, closed where it was cut off, or None; and whether it closed itself."""
    from pydantic_core import from_json

    try:
        written, complete = _as_json(text, start)
        found = from_json(written, allow_partial="trailing-strings", allow_inf_nan=False)
    except ValueError:
        return None, False
    return (found, complete) if isinstance(found, dict) else (None, False)


def _as_json(text: str, at: int) -> tuple[str, bool]:
    """The object that opens at `at` in strict JSON as far as it goes: quotes, commas, brackets and words put right.

    And whether every bracket in it was closed where it should be.
    """
    out: list[str] = []
    open_brackets: list[str] = []
    after_value = guessed = False
    while at < len(text):
        sign = text[at]
        if sign in "]}":
            if sign == "}" and open_brackets[-1] == "[":  # the bracket was forgotten; the brace is that of the object
                out.append("]")
                open_brackets.pop()
                guessed = True
            if {"]": "[", "}": "{"}[sign] != open_brackets.pop():
                raise ValueError("a bracket too many")
            out.append(sign)
            after_value = True
            if not open_brackets:
                break
            at += 1
        elif sign in ":=":
            out.append(":")
            after_value, at = False, at + 1
        elif sign in " \t\r\n\u00a0,":
            at += 1
        else:
            out.append("," if after_value else "")
            after_value = sign not in "{["
            if not after_value:
                open_brackets.append(sign)
                if len(open_brackets) > DEPTH:
                    raise ValueError("too deep")
            written, at = (sign, at + 1) if sign in "{[" else _scalar(text, at)
            out.append(written)
    return "".join(out), not (open_brackets or guessed)


def _scalar(text: str, at: int) -> tuple[str, int]:
    """The string, number or word at `at` as JSON, and where it ends."""
    if text[at] in _CLOSING:
        return _string(text, at)
    number = _NUMBER.match(text, at)
    word = number or _WORD.match(text, at)
    if word is None:
        raise ValueError("no value")
    end = word.end()
    if end == len(text):
        return "", end  # `12` may be the start of 123, `tr` of true
    if number is not None:
        return re.sub(r"^(-?)0+(?=\d)", r"\1", number[0]), end
    if _COLON.match(text, end):
        return json.dumps(word[0]), end
    if word[0] not in _WORDS:
        raise ValueError("no value")
    return _WORDS[word[0]], end


def _string(text: str, start: int) -> tuple[str, int]:
    """The string that opens at `start` as JSON, left open where the text ends inside it."""
    closing, parts, at = _CLOSING[text[start]], [], start + 1
    begin, ended = at, False
    while at < len(text) and not ended:
        if text[at] == "\\" and at + 1 < len(text):
            parts.append(text[begin:at])
            escaped, at = _escape(text, at)
            parts.append(escaped)
            begin = at
        elif text[at] == closing and _closes(text, at):
            ended = True
        else:
            at += 1
    value = json.dumps(whole_characters("".join(parts) + text[begin:at]), ensure_ascii=False)
    return (value, at + 1) if ended else (value[:-1], at)


def _closes(text: str, at: int) -> bool:
    """Whether the quote at `at` ends its string: an apostrophe inside 'it's so' does not."""
    after = text[at + 1 : at + 32].lstrip()
    return not after or after[0] in ",:}]=" or text[at] == '"'


def _escape(text: str, at: int) -> tuple[str, int]:
    sign = text[at + 1]
    if sign == "u":
        digits = text[at + 2 : at + 6]
        if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            return chr(int(digits, 16)), at + 6
    return _ESCAPES.get(sign, sign), at + 2


_adapters: dict[object, TypeAdapter[object]] = {}
_schemas: dict[object, Mapping[str, object]] = {}


def _adapter(kind: type[object]) -> TypeAdapter[object]:
    if kind not in _adapters:
        from pydantic import TypeAdapter

        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def schema_of(kind: type[object]) -> Mapping[str, object]:
    """The schema to send: every field required, no others allowed, which is what strict endpoints demand.

    Types inside go by their title, which is the name of the class unless `__pydantic_config__` gives another: so a
    class can be renamed and the keys of cached replies stay.
    """
    if kind not in _schemas:
        schema = _adapter(kind).json_schema()
        titles = {name: part.get("title", name) for name, part in schema.get("$defs", {}).items()}
        if titles:
            schema["$defs"] = {titles[name]: part for name, part in schema["$defs"].items()}
        _schemas[kind] = cast(Mapping[str, object], _strict(schema, titles))
    return _schemas[kind]


def fits(kind: type[T], value: object) -> T:
    """The value as its type; ValueError with a complaint that a model can act on.

    Fields without a default must be there, and no other: else an object of another shape would pass
    for one that says nothing.
    """
    from pydantic import ValidationError

    try:
        return cast(T, _adapter(kind).validate_python(value, extra="forbid"))
    except ValidationError as error:
        raise ValueError(_complaint(error)) from None


def _complaint(error: ValidationError) -> str:
    lines = [
        f"{'.'.join(str(part) for part in each['loc']) or 'reply'}: {each['msg']}"
        for each in error.errors(include_url=False, include_context=False, include_input=False)[:5]
    ]
    more = error.error_count() - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _strict(schema: object, titles: Mapping[str, str]) -> object:
    if isinstance(schema, list):
        return [_strict(part, titles) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _strict(part, titles) for key, part in schema.items() if key not in ("title", "default")}
    if isinstance(schema.get("$ref"), str):
        path, _, name = schema["$ref"].rpartition("/")
        out["$ref"] = f"{path}/{titles.get(name, name)}"
    properties = schema.get("properties")
    if isinstance(properties, dict):
        out["properties"] = {name: _strict(part, titles) for name, part in properties.items()}
        out["required"] = list(properties)
        out["additionalProperties"] = False
    return out


def is_strict(schema: object) -> bool:
    """Whether no object in it takes names of its own choice, which strict mode does not allow."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    return all(is_strict(part) for part in schema.values())
