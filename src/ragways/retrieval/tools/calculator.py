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
from datetime import date, timedelta
from fractions import Fraction

from ragways.core import dates
from ragways.core.errors import ToolError, did_you_mean

BITS = 4096
"""Of a numerator or a denominator; about 1,200 digits."""
EXPONENT = 1000

Number = Fraction | float
Value = Fraction | float | date | str | bool | tuple["Value", ...]


def bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ToolError("the result is not a finite number")
    elif max(abs(value.numerator).bit_length(), value.denominator.bit_length()) > BITS:
        raise ToolError(f"the result has more than {BITS} bits")
    return value


def number(value: Value) -> Number:
    if isinstance(value, bool) or not isinstance(value, Fraction | float):
        raise ToolError(f"{written(value)} is not a number")
    return value


def power(base: Number, exponent: Number) -> Number:
    """Refused before it is worked out when it would be too large."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        times = abs(exponent.numerator)
        size = max(abs(base.numerator), base.denominator).bit_length()
        if times > EXPONENT or size * times > BITS:
            raise ToolError("that power is too large")
        if base == 0 and exponent < 0:
            raise ToolError("division by zero")
        return Fraction(base**exponent.numerator)
    return _float(lambda: float(base) ** float(exponent))


def _float(work: Callable[[], object]) -> float:
    try:
        value = work()
    except (OverflowError, ValueError, ZeroDivisionError):
        value = None
    if not isinstance(value, float) or not math.isfinite(value):
        raise ToolError("that has no finite real result")
    return value


def root(value: Number) -> Number:
    if value < 0:
        raise ToolError("a negative number has no real root")
    if isinstance(value, Fraction):
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above * above == value.numerator and below * below == value.denominator:
            return Fraction(above, below)
    return _float(lambda: math.sqrt(value))


def logarithm(value: Number, base: Number = math.e) -> Number:
    return _float(lambda: math.log(value) / math.log(base))


def to_date(value: Value) -> date:
    """`1990-05-04`, `4 May 1990`, `May 4, 1990`, `May 1990` or `1990`; what is left out is the first."""
    if isinstance(value, date):
        return value
    known = dates.parse(value if isinstance(value, str) else written(value))
    if known is None:
        raise ToolError(f"{written(value)} is not a date", cure='write it as "1990-05-04"')
    try:
        return date(known.year, known.month or 1, known.day or 1)
    except ValueError:
        raise ToolError(f"there is no day {written(value)}") from None


def plus_days(day: date, days: Number) -> date:
    try:
        return day + timedelta(days=int(days))
    except OverflowError:
        raise ToolError("dates go from the year 1 to the year 9999") from None


def whole_months(one: date, other: date) -> int:
    """Months gone by from the earlier to the later, as ages are counted."""
    first, last = sorted((one, other))
    return (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)


def difference(one: date, other: date) -> str:
    first, last = sorted((one, other))
    months = whole_months(first, last)
    at = first.year * 12 + first.month - 1 + months
    year, month = divmod(at, 12)
    day = first.day
    while True:
        try:
            mark = date(year, month + 1, day)
            break
        except ValueError:
            day -= 1
    days = (last - mark).days
    return f"{months // 12} years, {months % 12} months, {days} days"


def flat(values: Sequence[Value]) -> list[Value]:
    """`sum(1, 2)` and `sum([1, 2])` are one."""
    if len(values) == 1 and isinstance(values[0], tuple):
        return list(values[0])
    return list(values)


def numbers(values: Sequence[Value]) -> list[Number]:
    found = [number(value) for value in flat(values)]
    if not found:
        raise ToolError("the list is empty")
    return found


def product(values: Sequence[Number]) -> Number:
    total: Number = Fraction(1)
    for value in values:
        total = bounded(total * value)
    return total


def median(values: Sequence[Number]) -> Number:
    order = sorted(values)
    middle = len(order) // 2
    return order[middle] if len(order) % 2 else bounded((order[middle - 1] + order[middle]) / 2)


def deviation(values: Sequence[Number]) -> Number:
    """Of a whole population."""
    mean = sum(values) / len(values)
    return root(bounded(sum((value - mean) ** 2 for value in values) / len(values)))


def written(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return f"[{', '.join(map(written, value))}]"[:4000]
    if isinstance(value, str):
        return repr(value[:80])
    if isinstance(value, Fraction) and value.denominator == 1:
        return str(value.numerator)
    return _decimal(value)


def _decimal(value: Number) -> str:
    """Fifteen significant digits; a fraction too large for a float is written by its size."""
    try:
        return f"{float(value):.15g}"
    except OverflowError:
        digits = str(int(value))
        return f"{digits[0]}.{digits[1:15]}e+{len(digits) - 1 - (value < 0)}"


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
    "round": lambda x, digits=Fraction(0): _rounded(x, digits),
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


def _rounded(value: Number, digits: Number) -> Number:
    if digits != int(digits) or not -100 <= digits <= 100:
        raise ToolError("round takes a whole number of digits")
    return Fraction(round(Fraction(value), int(digits)))
