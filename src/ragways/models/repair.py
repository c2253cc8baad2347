"""JSON out of what models really write: in code fences, after prose, with single quotes, cut off at the end.

`read_json` tries strict JSON first. Only when no strict object is found, a tolerant reader takes the text once from
left to right: bounded in length and depth, and it closes what was left open. It never invents a value.
"""

from __future__ import annotations

import json
import re

MOST = 1 << 20
"""Characters that are repaired; a longer reply must be right as it is."""
DEPTH = 64

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_CLOSING = {'"': '"', "'": "'", "“": "”"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def spoken(text: str) -> str:
    """The reply without what a reasoning model thought aloud first. ValueError when nothing is left."""
    said = _THINKING.sub("", text.lstrip("\ufeff"), count=1).strip()
    if not said:
        raise ValueError("it is empty")
    return said


def read_json(text: str) -> tuple[dict[str, object], bool]:
    """The object in a reply, and whether it had to be repaired. ValueError when there is none."""
    text = spoken(text)
    if (found := _whole(text)) is not None:
        return _sound(found), False
    if len(text) > MOST:
        raise ValueError("it is not JSON, and too long to repair")
    parts = [*_FENCE.findall(text)[:8], text]
    for part in parts:
        if (found := _whole(part.strip()) or _first_object(part)) is not None:
            return _sound(found), False
    for part in dict.fromkeys((parts[0], text)):
        start = part.find("{")
        if start >= 0 and (mended := _Tolerant(part, start).read()):
            return _sound(mended), True
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
    """The same without halves of characters (`\\ud83d` alone), which no file and no database takes."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        text = json.dumps(found, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        sound: dict[str, object] = json.loads(text)
        return sound
    return found


class _Cut(Exception):
    """The text ended inside a value; what is complete is kept."""


class _Tolerant:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def read(self) -> dict[str, object] | None:
        try:
            found = self._object(0)
        except ValueError:
            return None
        return found

    def _peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n\u00a0":
            self.at += 1
        return self.text[self.at] if self.at < len(self.text) else ""

    def _object(self, depth: int) -> dict[str, object]:
        self.at += 1
        found: dict[str, object] = {}
        while (sign := self._peek()) not in ("}", ""):
            if sign == ",":
                self.at += 1
                continue
            try:
                key = self._key(sign)
                if self._peek() not in (":", "="):
                    if self._peek() == "":
                        break
                    raise ValueError("a key without a value")
                self.at += 1
                found[key] = self._value(depth)
            except _Cut:
                break
        self.at += 1
        return found

    def _key(self, sign: str) -> str:
        if sign in _CLOSING:
            return self._string(sign)
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise ValueError("no key")
        self.at = word.end()
        return word[0]

    def _array(self, depth: int) -> list[object]:
        self.at += 1
        found: list[object] = []
        while (sign := self._peek()) not in ("]", ""):
            if sign == ",":
                self.at += 1
                continue
            if sign == "}":  # the bracket was forgotten; the brace belongs to the object around
                return found
            try:
                found.append(self._value(depth))
            except _Cut:
                break
        self.at += 1
        return found

    def _value(self, depth: int) -> object:
        sign = self._peek()
        if depth >= DEPTH:
            raise ValueError("too deep")
        if sign == "{":
            return self._object(depth + 1)
        if sign == "[":
            return self._array(depth + 1)
        if sign in _CLOSING:
            return self._string(sign)
        return self._plain(sign)

    def _plain(self, sign: str) -> object:
        number = _NUMBER.match(self.text, self.at)
        word = number or _WORD.match(self.text, self.at)
        if sign == "" or (word is not None and word.end() == len(self.text)):
            self.at = len(self.text)
            raise _Cut  # `12` may be the start of 123, `tr` of true
        if word is None or (number is None and word[0] not in _WORDS):
            raise ValueError("no value")
        self.at = word.end()
        if number is None:
            return _WORDS[word[0]]
        value: object = json.loads(re.sub(r"^(-?)0+(?=\d)", r"\1", number[0]))
        return value

    def _string(self, sign: str) -> str:
        closing, parts, start = _CLOSING[sign], [], self.at + 1
        at = start
        while at < len(self.text):
            here = self.text[at]
            if here == "\\" and at + 1 < len(self.text):
                parts.append(self.text[start:at])
                escaped, at = self._escape(at)
                parts.append(escaped)
                start = at
            elif here == closing and self._closes(at):
                self.at = at + 1
                return "".join(parts) + self.text[start:at]
            else:
                at += 1
        self.at = at
        return "".join(parts) + self.text[start:at]

    def _closes(self, at: int) -> bool:
        """Whether the quote at `at` ends its string: an apostrophe inside 'it's so' does not."""
        after = self.text[at + 1 : at + 32].lstrip()
        return not after or after[0] in ",:}]=" or self.text[at] == '"'

    def _escape(self, at: int) -> tuple[str, int]:
        sign = self.text[at + 1]
        if sign == "u":
            digits = self.text[at + 2 : at + 6]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                return chr(int(digits, 16)), at + 6
        return _ESCAPES.get(sign, sign), at + 2
