"""What the calculator works with: exact numbers of bounded size, days of the calendar, lists, and how each is written.

A number is a fraction as long as it can be, so that nothing is rounded on the way, and inexact only where a root or a
logarithm makes it so. Whatever would grow too large is refused before it is worked out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction

from ragways.core import dates
from ragways.core.errors import ToolError

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


def rounded(value: Number, digits: Number) -> Number:
    if digits != int(digits) or not -100 <= digits <= 100:
        raise ToolError("round takes a whole number of digits")
    return Fraction(round(Fraction(value), int(digits)))


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
