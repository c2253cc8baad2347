"""What a model wrote, as a value: the JSON found in its text, mended where it is broken, and made to fit a type.

Models write JSON in code fences, after prose, with single quotes, cut off at the end. Strict JSON is tried first. Only
when none is found, the text is rewritten as JSON, once from left to right and bounded in length and depth, and what was
left open is closed. No value is ever invented, and JSON that we had to close is reported as incomplete: what should
have followed is lost.

`fits` then takes what can be meant (see there): models write other keys, cases and shapes than a schema says, and a
reply is paid for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ragways.models.call import restored

T = TypeVar("T")
Json = dict[str, object] | list[object]
"""What a reply may be."""

LONGEST = 1 << 20
"""Characters that are mended; a longer reply must be right as it is."""
DEPTH = 64

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>[ \t]*", re.DOTALL)
_MAY_BREAK = re.compile(r"(?<=[<\[]) [^\s\]]{0,62}\Z")
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_FENCE = re.compile(r"^[ \t]*```[a-zA-Z0-9]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"\{|\[(?=\s*[{\"'“])")  # not `[1]`, the number of a passage
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_COLON = re.compile(r"\s*[:=]")
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_SAID = ("answer", "text", "response", "content")
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


def spoken(text: str) -> str:
    """The reply in words: without its thinking, and out of the JSON or the call of a tool that some models put it into.
    ValueError when nothing is left.
    """
    text = without_thinking(text)
    found = _whole(text) if text.startswith("{") else None
    given = found.get("arguments", found.get("parameters", found)) if isinstance(found, dict) else None
    if isinstance(given, dict) and (given is not found or len(given) == 1):
        said = next((given[key] for key in _SAID if isinstance(given.get(key), str)), "")
        return _trimmed(said) or text
    return text


def after_thinking(text: str) -> str:
    """The same of a reply that is still being written: empty until its thinking has ended. A blank at its end that may
    break a mark of a chat template waits for the rest of it.
    """
    rest = _MAY_BREAK.sub("", _trimmed(_THINKING.sub("", text.lstrip("\ufeff"), count=1)))
    opening = rest.lstrip()
    return "" if "<thinking>".startswith(opening[:10]) or opening.startswith(("<think>", "<thinking>")) else rest


def read_json(text: str) -> tuple[Json, bool]:
    """The object or list in a reply, and whether it is complete: its own brackets closed it. ValueError when there is
    none.

    Other quotes, commas and words than JSON's are put right and lose nothing.
    """
    text = without_thinking(text)
    if (found := _whole(text)) is not None:
        return _sound(found), True
    if len(text) > LONGEST:
        raise ValueError("it is not JSON, and too long to repair")
    parts = [*_FENCE.findall(text)[:8], text]
    for part in parts:
        if (found := _whole(part.strip()) or _first(part)) is not None:
            return _sound(found), True
    for part in dict.fromkeys((parts[0], text)):
        opening = _OPENING.search(part)
        mended, complete = _mended(part, opening.start()) if opening else (None, False)
        if mended:
            return _sound(mended), complete
    raise ValueError("there is no JSON object in it")


def _whole(text: str) -> Json | None:
    """The text as one object or list; None when it is no JSON."""
    try:
        found = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict | list):
        raise ValueError(f"it is a JSON {type(found).__name__}, not an object")
    return found


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, strict=False)  # a text may hold line breaks


def _first(text: str) -> Json | None:
    """The first whole object or list in a text; prose before may hold stray brackets, so a few starts are tried."""
    at = 0
    for _ in range(16):
        opening = _OPENING.search(text, at)
        if opening is None:
            return None
        at = opening.end()
        try:
            found, _ = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            if _inside_value(text, opening.start()):
                return None
            continue
        if found:
            return cast(Json, found)
    return None


def _inside_value(text: str, start: int) -> bool:
    """Whether JSON that does not parse opens here: then a smaller object inside it is not the reply."""
    return re.match(r"[{\[]\s*[{\"'“]", text[start : start + 64]) is not None


def _sound(found: Json) -> Json:
    """The same without halves of characters (`\\ud83d` alone), which no file and no database takes.

    ValueError where a number is too large to count with, such as 1e999.
    """
    text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    whole = whole_characters(text)
    return found if whole is text else cast(Json, json.loads(whole))


def whole_characters(text: str) -> str:
    """The text itself, or a copy in which each half of a character is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _mended(text: str, start: int) -> tuple[Json | None, bool]:
    """The object or list that opens at `start`, closed where it was cut off, or None; and whether it closed itself."""
    from pydantic_core import from_json

    try:
        written, complete = _as_json(text, start)
        found = from_json(written, allow_partial="trailing-strings", allow_inf_nan=False)
    except ValueError:
        return None, False
    return found, complete


def _as_json(text: str, at: int) -> tuple[str, bool]:
    """What opens at `at` in strict JSON as far as it goes: quotes, commas, brackets and words put right.

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
            if not open_brackets or {"]": "[", "}": "{"}[sign] != open_brackets.pop():
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


_schemas: dict[object, Mapping[str, object]] = {}
_types: dict[object, Mapping[str, Any]] = {}


def schema_of(kind: type[object]) -> Mapping[str, object]:
    """The schema to send: every field required, no others allowed, which is what strict endpoints demand.

    Types inside go by their title, which is the name of the class unless `__pydantic_config__` gives another: so a
    class can be renamed and the keys of cached replies stay.
    """
    if kind not in _schemas:
        from pydantic import TypeAdapter

        schema = TypeAdapter(kind).json_schema()
        titles = {name: part.get("title", name) for name, part in schema.get("$defs", {}).items()}
        if titles:
            schema["$defs"] = {titles[name]: part for name, part in schema["$defs"].items()}
        _schemas[kind] = cast(Mapping[str, object], _strict(schema, titles))
    return _schemas[kind]


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


# A value as its type

_NUMBER_IN_TEXT = re.compile(r"[^\d-]*(-?\d+(?:\.\d+)?)")
_TRUTHS = {"true": True, "yes": True, "y": True, "1": True, "false": False, "no": False, "n": False, "0": False}


def fits(kind: type[T], value: object) -> T:
    """The value as a dataclass, read as liberally as its meaning allows; else ValueError, a complaint for the model.

    Unknown keys are dropped, keys and choices are known in any case, numbers and truth values may be texts. A text or a
    list that is null or not there is empty, a field with a default takes that. A list may stand for the object that has
    one list, an item for a list of one, a text for an object with a text, a call of a tool for what it was given. A bad
    item of a list is dropped. At least one key must be known, and something must be left where something was dropped:
    else an object of another shape would pass for one that says nothing.
    """
    dropped: list[str] = []
    try:
        found = _record(kind, _unwrapped(kind, value), "reply", dropped)
    except RecursionError:
        raise ValueError("it is too deep") from None
    if dropped and not any(getattr(found, name) for name in _hints(kind)):
        raise ValueError("; ".join(dropped[:5]))
    return found


def _unwrapped(kind: type[object], value: object) -> object:
    """The object that is wanted, out of what was written around it or with what is missing around it."""
    lists = [name for name, part in _hints(kind).items() if get_origin(part) is tuple]
    item = get_args(_hints(kind)[lists[0]])[0] if len(lists) == 1 else None
    if isinstance(value, list):
        if len(value) == 1 and _known(kind, inner := _unwrapped(kind, value[0])):
            return inner
        return {lists[0]: value} if item is not None else value
    if isinstance(value, dict) and not _known(kind, value):
        for part in value.values():
            # Arguments of a call stand in a text, as a rule.
            inner = _whole(part) if isinstance(part, str) and part.lstrip().startswith("{") else part
            if _known(kind, inner):
                return inner
        if is_dataclass(item) and _known(cast(type[object], item), value):
            return {lists[0]: [value]}
    return value


def _known(kind: type[object], value: object) -> bool:
    names = {_folded(name) for name in _hints(kind)}
    return isinstance(value, dict) and not names.isdisjoint(map(_folded, value))


def _hints(kind: type[object]) -> Mapping[str, Any]:
    """The types of a dataclass's fields by their names."""
    if kind not in _types:
        hints = get_type_hints(kind)
        _types[kind] = {field.name: hints[field.name] for field in fields(cast(Any, kind))}
    return _types[kind]


def _folded(name: object) -> str:
    return re.sub(r"[\W_]+", "", str(name).casefold())


def _as(kind: Any, value: object, place: str, dropped: list[str]) -> Any:  # noqa: ANN401 - of the type `kind`
    """The value as a part of a reply: a choice, a text, a number, a truth value, a list or an object of these."""
    if is_dataclass(kind):
        return _record(cast(type[object], kind), value, place, dropped)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _several(parts[0], value, place, dropped)
    if origin in (Union, UnionType):
        return _as(next(part for part in parts if part is not NoneType), value, place, dropped)
    if isinstance(value, list) and len(value) == 1 and kind is not str:
        value = value[0]
    if origin is Literal:
        known: dict[str, object] = {_folded(choice): choice for choice in parts}
    else:
        known = cast(dict[str, object], _TRUTHS) if kind is bool else {}
    if known:
        if _folded(value) not in known:
            raise ValueError(f"{place}: {str(value)[:80]!r} is none of {', '.join(map(str, parts)) or 'true, false'}")
        return known[_folded(value)]
    if kind is str:
        return _text(value, place)
    number = _NUMBER_IN_TEXT.match(value) if isinstance(value, str) else None
    value = float(number[1]) if number else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{place}: {str(value)[:80]!r} is no number")
    return float(value) if kind is float else round(value)


def _text(value: object, place: str) -> str:
    """A text, or what stands for one: a number, the texts of a list, the first text of an object."""
    if isinstance(value, dict):
        value = next((part for part in value.values() if isinstance(part, str)), None)
        if value is None:
            raise ValueError(f"{place}: it is an object, not a text")
    if isinstance(value, list):
        return " ".join(_text(part, place) for part in value)
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _several(kind: object, value: object, place: str, dropped: list[str]) -> tuple[object, ...]:
    """The items that can be used of a list."""
    found = []
    for number, item in enumerate(value if isinstance(value, list) else [] if value == "" else [value], start=1):
        try:
            part = _as(kind, item, f"{place} {number}", dropped)
            if part == "":
                raise ValueError(f"{place} {number}: it is empty")
            found.append(part)
        except ValueError as error:
            dropped.append(str(error))
    return tuple(found)


def _record(kind: type[T], value: object, place: str, dropped: list[str]) -> T:
    """An object of this type; a text is one whose first text it is."""
    hints = _hints(kind)
    if isinstance(value, str):
        value = {next((name for name, part in hints.items() if part is str), ""): value}
    if not isinstance(value, dict) or not _known(kind, value):
        raise ValueError(f"{place}: it is no object with {', '.join(hints)}")
    given = {_folded(key): part for key, part in reversed(value.items()) if part is not None}
    found: dict[str, object] = {}
    for field in fields(cast(Any, kind)):
        name, part = field.name, hints[field.name]
        if _folded(name) in given:
            try:
                found[name] = _as(part, given[_folded(name)], name if place == "reply" else f"{place} {name}", dropped)
            except ValueError:
                if field.default is MISSING:
                    raise
        elif field.default is MISSING:
            if part is not str and get_origin(part) is not tuple:
                raise ValueError(f"{place}: {name} is missing")
            found[name] = "" if part is str else ()
    return kind(**found)
