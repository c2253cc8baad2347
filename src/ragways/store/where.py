"""Filters of documents, as `date>2020 and path~"api/"`: a small grammar, read by hand, matched field by field.

    filter     = both ("or" both)*
    both       = one ("and" one)*
    one        = "not" one | "(" filter ")" | "has" name | name test
    test       = ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") value | ["not"] "in" "(" value ("," value)* ")"
    name, value = a word, or any text in quotes

`path`, `title` and `format` are known of every document; every other name is one of its metadata. A test of a field
that a document lacks does not hold; `!=` is `not =`, and `not in` is `not … in`, so these do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from ragways.core.dates import iso_date
from ragways.core.errors import UsageError

LONGEST = 2000
"""Characters of a filter."""
DEEPEST = 40
"""Parentheses and `not` inside each other."""
OWN_FIELDS = ("path", "title", "format")
"""What every document has, beside its metadata."""

Matches = Callable[[Mapping[str, str]], bool]
Decide = Callable[[str], bool]

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[(),]|[<>]=?|!=|==?|~)|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<word>[^\s()<>=!~,"']+))""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d([T ].*)?)?)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})", re.ASCII)
_AROUND = 60  # characters of a filter that an error shows on either side of the place
_EXAMPLE = 'write it as date>2020 and path~"api/": see docs/filters.md'


@dataclass(frozen=True)
class DocumentFilter:
    """A filter that was read: its text, the fields it names with their places there, and whether a document's fields
    match it.
    """

    text: str
    fields: Mapping[str, int]
    matches: Matches

    def fail(self, place: int, problem: str, cure: str) -> NoReturn:
        """Raise an error that shows where in the filter the problem is."""
        _fail(self.text, place, problem, cure)


def read_filter(text: str) -> DocumentFilter:
    """The filter that a text writes, or a UsageError that names the place and the cure."""
    text = text.strip()
    if not text:
        raise UsageError("the filter is empty", f"leave it out, or {_EXAMPLE}")
    if len(text) > LONGEST:
        raise UsageError(f"the filter has {len(text):,} characters", f"write it in at most {LONGEST:,}")
    parser = _Parser(text)
    matches = parser.either(0)
    if parser.kind:
        parser.wrong("`and` or `or` should stand between two tests")
    return DocumentFilter(text, parser.fields, matches)


class _Parser:
    """Reads from left to right. `kind` (mark, text, word; empty at the end) and `value` are of the next token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.fields: dict[str, int] = {}
        self._end = 0
        self.step()

    def step(self) -> None:
        self.start = len(self.text) - len(self.text[self._end :].lstrip())
        match = _TOKEN.match(self.text, self._end)
        if match is None:
            self.kind = self.value = ""
            if self.start < len(self.text):
                _fail(self.text, self.start, "this begins nothing, or a quote that does not end", _EXAMPLE)
            return
        self._end = match.end()
        if match["mark"] is not None:
            self.kind, self.value = "mark", match["mark"]
        elif match["word"] is not None:
            self.kind, self.value = "word", match["word"]
        else:
            quoted = match["double"] if match["double"] is not None else match["single"]
            self.kind, self.value = "text", _ESCAPED.sub(r"\1", quoted)

    def wrong(self, problem: str, cure: str = _EXAMPLE) -> NoReturn:
        _fail(self.text, self.start, problem, cure)

    def keyword(self, word: str) -> bool:
        """Step over a keyword, if it is next."""
        if self.kind != "word" or self.value.casefold() != word:
            return False
        self.step()
        return True

    def mark(self, mark: str) -> bool:
        if (self.kind, self.value) != ("mark", mark):
            return False
        self.step()
        return True

    def either(self, depth: int) -> Matches:
        parts = [self.both(depth)]
        while self.keyword("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else lambda fields: any(part(fields) for part in parts)

    def both(self, depth: int) -> Matches:
        parts = [self.one(depth)]
        while self.keyword("and"):
            parts.append(self.one(depth))
        return parts[0] if len(parts) == 1 else lambda fields: all(part(fields) for part in parts)

    def one(self, depth: int) -> Matches:
        if depth > DEEPEST:
            self.wrong(f"more than {DEEPEST} parentheses or `not` stand inside each other", "write it flatter")
        if self.keyword("not"):
            inner = self.one(depth + 1)
            return lambda fields: not inner(fields)
        if self.mark("("):
            inside = self.either(depth + 1)
            if not self.mark(")"):
                self.wrong("a parenthesis should end here", "write )")
            return inside
        if self.keyword("has"):
            wanted = self.name()
            return lambda fields: bool(fields.get(wanted))
        return self.test(self.name())

    def name(self) -> str:
        if self.kind not in ("word", "text") or not self.value:
            self.wrong("the name of a field should stand here")
        name = self.value
        self.fields.setdefault(name, self.start)
        self.step()
        return name

    def test(self, name: str) -> Matches:
        negative = self.keyword("not")
        if self.keyword("in"):
            holds = _any(name, self.values(name))
        elif negative:
            self.wrong("`in` should follow `not` here", f"write {name} not in (…), or not {name} = …")
        else:
            sign = self.value
            if self.kind != "mark" or sign in "(),":
                self.wrong(
                    "a test should follow the name", f"write {name} and one of = != < <= > >= ~ in, or has {name}"
                )
            self.step()
            negative = sign == "!="
            place = self.start
            holds = _test(name, sign, self.operand())
            if name == "date" and sign in ("<", "<=", ">", ">=") and not _DATE.fullmatch(self._last):
                _fail(self.text, place, "this is no date", "write it as 2020, 2020-05 or 2020-05-31")

        def matches(fields: Mapping[str, str]) -> bool:
            value = fields.get(name)
            return (value is not None and holds(value)) != negative

        return matches

    def values(self, name: str) -> list[str]:
        if not self.mark("("):
            self.wrong("a list should stand here", f"write {name} in (one, two)")
        values = [self.operand()]
        while self.mark(","):
            values.append(self.operand())
        if not self.mark(")"):
            self.wrong("the list should end here", "write ) or a comma")
        return values

    def operand(self) -> str:
        if self.kind not in ("word", "text"):
            self.wrong("a value should stand here", "write a word, or any text in quotes")
        self._last = self.value
        self.step()
        return self._last


def _test(name: str, sign: str, wanted: str) -> Decide:
    if sign == "~":
        folded = wanted.casefold()
        return lambda value: folded in value.casefold()
    orders = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}.get(sign, (0,))
    return lambda value: _order(name, value, wanted) in orders


def _any(name: str, wanted: list[str]) -> Decide:
    tests = [_test(name, "=", each) for each in wanted]
    return lambda value: any(test(value) for test in tests)


def _order(name: str, value: str, wanted: str) -> int | None:
    """-1, 0 or 1: a value before, equal to or after the wanted one; None where a date says too little to tell.

    Dates count as far as the wanted one is written, so that every day of 2020 equals 2020. Numbers are compared as
    numbers, all else letter by letter.
    """
    own = iso_date(value) if name == "date" and not _DATE.fullmatch(value) else value
    if _DATE.fullmatch(wanted) and _DATE.fullmatch(own) and (name == "date" or "-" in own):
        if len(own) < len(wanted) and wanted.startswith(own):
            return None
        own = own[: len(wanted)]
    elif _NUMBER.fullmatch(wanted) and _NUMBER.fullmatch(own):
        return (float(own) > float(wanted)) - (float(own) < float(wanted))
    return (own > wanted) - (own < wanted)


def _fail(text: str, place: int, problem: str, cure: str) -> NoReturn:
    before, after = text[max(0, place - _AROUND) : place], text[place : place + _AROUND]
    shown = f"{'…' if place > _AROUND else ''}{before}^{after}{'…' if len(text) > place + _AROUND else ''}"
    raise UsageError(f"filter, at the ^ in `{shown}`: {problem}", cure)
