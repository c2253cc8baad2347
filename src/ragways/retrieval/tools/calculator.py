"""A calculator with a grammar of its own. Nothing is evaluated but what stands here, and all of it is bounded.

comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
sum        = product {("+" | "-") product}
product    = unary {("*" | "/" | "//" | "%") unary}
unary      = ("+" | "-") unary | power
power      = atom [("**" | "^") unary]
atom       = number | "text" | name "(" list ")" | "(" comparison ")" | "[" list "]"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction

from ragways.core.errors import ToolError, did_you_mean
from ragways.retrieval.tools.arithmetic import (
    Number,
    Value,
    bounded,
    deviation,
    difference,
    flat,
    logarithm,
    median,
    number,
    numbers,
    plus_days,
    power,
    product,
    root,
    rounded,
    to_date,
    whole_months,
    written,
)

LONGEST = 2000
DEPTH = 40
ITEMS = 500
_DIGITS = 300

_TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?|\.[0-9]+)|([A-Za-z_]+)|(\"[^\"]*\"|'[^']*')"
    r"|(\*\*|//|<=|>=|==|!=|[-+*/%^()\[\],<>]))",
    re.ASCII,
)
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "≤": "<=", "≥": ">=", "“": '"', "”": '"'})

_LISTS: dict[str, Callable[[Sequence[Number]], Number]] = {
    "sum": lambda some: bounded(sum(some, Fraction(0))),
    "mean": lambda some: bounded(sum(some, Fraction(0)) / len(some)),
    "median": median,
    "product": product,
    "stdev": deviation,
}
_NUMBERS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "sqrt": root,
    "floor": lambda x: Fraction(math.floor(x)),
    "ceil": lambda x: Fraction(math.ceil(x)),
    "log": logarithm,
    "round": lambda x, digits=Fraction(0): rounded(x, digits),
}
_DATES: dict[str, Callable[..., Value]] = {
    "date": lambda day: day,
    "year": lambda day: Fraction(day.year),
    "month": lambda day: Fraction(day.month),
    "day": lambda day: Fraction(day.day),
    "weekday": lambda day: day.strftime("%A"),
    "days_between": lambda one, other: Fraction(abs((other - one).days)),
    "months_between": lambda one, other: Fraction(whole_months(one, other)),
    "years_between": lambda one, other: Fraction(whole_months(one, other) // 12),
    "difference": difference,
}
_OTHERS = ("min", "max", "count", "sorted")
_SAME = {"avg": "mean", "average": "mean", "len": "count", "prod": "product", "age": "years_between"}
FUNCTIONS = (*_LISTS, *_NUMBERS, *_DATES, *_OTHERS)


def calculate(expression: str) -> str:
    """The value of an expression, as text."""
    if len(expression) > LONGEST:
        raise ToolError(f"the expression has {len(expression):,} characters; {LONGEST:,} are allowed")
    try:
        value = _Parser(_tokens(expression.translate(_SIGNS))).value()
        return value if isinstance(value, str) else written(value)
    except (ArithmeticError, ValueError):  # an exact number too large to meet an inexact one
        raise ToolError("that has no finite result") from None


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ToolError(f"cannot read {text[at : at + 20]!r}", cure="numbers, + - * / % ** ( ) [ ] and functions")
        tokens.append(match[0].strip())
        at = match.end()
    return tokens


class _Parser:
    """Works out a value while reading; each level of nesting is counted, so none is too deep."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def value(self) -> Value:
        value = self._comparison()
        if self._at < len(self._tokens):
            raise ToolError(f"did not expect {self._tokens[self._at][:20]!r} there")
        return value

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if token not in wanted or not token:
            return ""
        self._at += 1
        return token

    def _comparison(self) -> Value:
        self._depth += 1
        if self._depth > DEPTH:
            raise ToolError(f"nested deeper than {DEPTH}")
        left = self._sum()
        if sign := self._take("<", "<=", ">", ">=", "==", "!="):
            left = _compared(sign, left, self._sum())
        self._depth -= 1
        return left

    def _sum(self) -> Value:
        left = self._product()
        while sign := self._take("+", "-"):
            left = _added(sign, left, self._product())
        return left

    def _product(self) -> Value:
        left = self._unary()
        while sign := self._take("*", "/", "//", "%"):
            left = _multiplied(sign, number(left), number(self._unary()))
        return left

    def _unary(self) -> Value:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
            if self._next() == "":
                break
        value = self._power()
        return -number(value) if negative else value

    def _power(self) -> Value:
        base = self._atom()
        if self._take("**", "^"):
            self._depth += 1
            if self._depth > DEPTH:
                raise ToolError(f"nested deeper than {DEPTH}")
            base = bounded(power(number(base), number(self._unary())))
            self._depth -= 1
        return base

    def _atom(self) -> Value:
        word = self._next()
        self._at += 1
        if word[:1] in "0123456789." and word:
            return _literal(word)
        if word[:1] in "\"'" and word:
            return word[1:-1]
        if word == "(":
            value = self._comparison()
            self._close(")")
            return value
        if word == "[":
            return tuple(self._list("]"))
        if word.isidentifier():
            return self._call(word.lower())
        raise ToolError(f"did not expect {word[:20]!r} there" if word else "the expression ends too early")

    def _call(self, name: str) -> Value:
        name = _SAME.get(name, name)
        if name not in FUNCTIONS:
            raise ToolError(f"there is no function {name[:40]!r}", cure=did_you_mean(name, FUNCTIONS))
        self._close("(")
        return _called(name, self._list(")"))

    def _list(self, end: str) -> list[Value]:
        values: list[Value] = []
        while not self._take(end):
            if values:
                self._close(",")
            values.append(self._comparison())
            if len(values) > ITEMS:
                raise ToolError(f"a list holds at most {ITEMS} values")
        return values

    def _close(self, sign: str) -> None:
        if not self._take(sign):
            raise ToolError(f"expected {sign!r} before {self._next()[:20]!r}")


def _literal(token: str) -> Number:
    if len(token) > _DIGITS:
        raise ToolError(f"a number has at most {_DIGITS} digits")
    return bounded(Fraction(token))


def _added(sign: str, left: Value, right: Value) -> Value:
    """Numbers; or a date and days; or the days between two dates."""
    if isinstance(left, date) and isinstance(right, date) and sign == "-":
        return Fraction((left - right).days)
    if isinstance(left, date):
        return plus_days(left, number(right) if sign == "+" else -number(right))
    one, other = number(left), number(right)
    return bounded(one + other if sign == "+" else one - other)


def _multiplied(sign: str, left: Number, right: Number) -> Number:
    if sign == "*":
        return bounded(left * right)
    if right == 0:
        raise ToolError("division by zero")
    if sign == "/":
        return bounded(left / right)
    return bounded(Fraction(left // right) if sign == "//" else left % right)


def _compared(sign: str, left: Value, right: Value) -> bool:
    if isinstance(left, date) or isinstance(right, date):
        return _ordered(sign, to_date(left).toordinal(), to_date(right).toordinal())
    return _ordered(sign, number(left), number(right))


def _ordered(sign: str, one: Number | int, other: Number | int) -> bool:
    return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other, "==": one == other,
            "!=": one != other}[sign]  # fmt: skip


def _called(name: str, values: list[Value]) -> Value:
    try:
        if name in _LISTS:
            return _LISTS[name](numbers(values))
        if name in _NUMBERS:
            return bounded(_NUMBERS[name](*map(number, values)))
        if name in _DATES:
            return _DATES[name](*map(to_date, values))
    except TypeError:
        raise ToolError(f"{name} does not take {len(values)} values") from None
    except (OverflowError, ValueError):
        raise ToolError(f"{name} of that has no finite result") from None
    return _of_any(name, flat(values))


def _of_any(name: str, values: list[Value]) -> Value:
    """What numbers and dates have in common."""
    if name == "count":
        return Fraction(len(values))
    if not values:
        raise ToolError("the list is empty")
    dates = any(isinstance(value, date | str) for value in values)
    order: list[Value] = sorted(map(to_date, values)) if dates else [*sorted(map(number, values))]
    if name == "sorted":
        return tuple(order)
    return order[0] if name == "min" else order[-1]
