"""A calculator. Expressions are parsed and never evaluated by Python: only what is listed here is done, within bounds.

A number is a fraction as long as it can be, so that nothing is rounded on the way, and inexact only where a root or a
logarithm makes it so. Whatever would grow too large is refused before it is worked out.
"""

from __future__ import annotations

import ast
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


LONGEST = 2000
DEPTH = 40
ITEMS = 500
_DIGITS = 300

_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?|\.[0-9]+"
_TOKENS = re.compile(
    rf"(?: |{_NUMBER}|[A-Za-z_]+|\"[^\"\\]*\"|'[^'\\]*'|\*\*|//|<=|>=|==|!=|[-+*/%^()\[\],<>])*+", re.ASCII
)
"""What an expression is made of; its structure is that of Python."""
_LITERAL = re.compile(_NUMBER, re.ASCII)
_WRITTEN = re.compile(
    r"\"[^\"]*\"|'[^']*'|(?P<grouped>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?![0-9]))|(?P<number>[0-9.]+)"
    r"|(?P<call>[A-Za-z_]+ ?\()|(?P<open>[(\[])|(?P<close>[)\]])|.",
    re.ASCII,
)
_PERCENT = re.compile(r"%(?= *(?:$|[-+*/)\],<>=!]))")
_SPACES = re.compile(r"\s+")
_SUMS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-"}
_PRODUCTS: dict[type[ast.operator], str] = {ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="
}  # fmt: skip
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
    text = _SPACES.sub(" ", expression.translate(_SIGNS)).strip()
    if (end := _TOKENS.match(text).end()) < len(text):  # type: ignore[union-attr]  # it matches nothing, too
        raise ToolError(f"cannot read {text[end : end + 20]!r}", cure="numbers, + - * / % ** ( ) [ ] and functions")
    text = _as_python(text.replace("^", "**"))
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ToolError(f"did not expect {text[max(0, (error.offset or 1) - 1) :][:20]!r} there") from None
    except (MemoryError, RecursionError, ValueError):
        raise ToolError("nested too deep") from None
    try:
        value = _Reader(text).value(tree.body)
        return value if isinstance(value, str) else written(value)
    except (ArithmeticError, ValueError):  # an exact number too large to meet an inexact one
        raise ToolError("that has no finite result") from None


def _as_python(text: str) -> str:
    """Numbers as people write them: `1,234` is one number outside of lists and calls, and `5%` is 5/100 where nothing
    follows that it could be divided by.
    """
    written: list[str] = []
    separated: list[bool] = []  # of each open bracket, whether commas inside it separate values
    at = 0
    while at < len(text) and (part := _WRITTEN.match(text, at)):
        at, piece = part.end(), part[0]
        if part["call"] or part["open"]:
            separated.append(piece != "(")
        elif part["close"] and separated:
            separated.pop()
        elif part["grouped"] and not any(separated):
            piece = piece.replace(",", "")
        if (part["grouped"] or part["number"]) and (percent := _PERCENT.match(text, at)):
            at, before, piece = percent.end(), *_last_value(piece)
            written.append(before)
            piece = f"({piece}/100)"
        written.append(piece)
    return "".join(written)


def _last_value(piece: str) -> tuple[str, str]:
    """Inside a list `1,234%` is two values, and the percent sign is of the last."""
    before, comma, last = piece.rpartition(",")
    return before + comma, last


class _Reader:
    """The value of a tree. Each level is counted, so that none is too deep."""

    def __init__(self, text: str) -> None:
        self._source = text.encode()

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        if depth >= DEPTH:
            raise ToolError(f"nested deeper than {DEPTH}")
        match node:
            case ast.Constant():
                return _literal(self._text(node))
            case ast.List(elts=parts):
                return tuple(self._values(parts, depth))
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
                name = _SAME.get(name.lower(), name.lower())
                if name not in FUNCTIONS:
                    raise ToolError(f"there is no function {name[:40]!r}", cure=did_you_mean(name, FUNCTIONS))
                return _called(name, self._values(parts, depth))
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=part):
                value = self.value(part, depth + 1)
                return value if isinstance(sign, ast.UAdd) else -number(value)
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARISONS:
                return _compared(_COMPARISONS[type(sign)], self.value(left, depth + 1), self.value(right, depth + 1))
            case ast.BinOp():
                return self._chain(node, depth)
        raise ToolError(f"did not expect {self._text(node)[:20]!r} there")

    def _chain(self, node: ast.BinOp, depth: int) -> Value:
        """Sums and products from left to right: long ones are deep trees, and no deeper for who reads them."""
        if isinstance(node.op, ast.Pow):
            return bounded(power(number(self.value(node.left, depth + 1)), number(self.value(node.right, depth + 1))))
        steps: list[tuple[type[ast.operator], ast.expr]] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp) and (type(first.op) in _SUMS or type(first.op) in _PRODUCTS):
            steps.append((type(first.op), first.right))
            first = first.left
        if not steps:
            raise ToolError(f"did not expect {self._text(node)[:20]!r} there")
        value = self.value(first, depth + 1)
        for sign, part in reversed(steps):
            other = self.value(part, depth + 1)
            if sign in _SUMS:
                value = _added(_SUMS[sign], value, other)
            else:
                value = _multiplied(_PRODUCTS[sign], number(value), number(other))
        return value

    def _values(self, parts: Sequence[ast.expr], depth: int) -> list[Value]:
        if len(parts) > ITEMS:
            raise ToolError(f"a list holds at most {ITEMS} values")
        return [self.value(part, depth + 1) for part in parts]

    def _text(self, node: ast.expr) -> str:
        return self._source[node.col_offset : node.end_col_offset].decode()


def _literal(source: str) -> Value:
    """A number, exactly as it is written, or a text."""
    if source[:1] in "\"'" and source.count(source[0]) == 2:
        return source[1:-1]
    if not _LITERAL.fullmatch(source):
        raise ToolError(f"did not expect {source[:20]!r} there")
    if len(source) > _DIGITS:
        raise ToolError(f"a number has at most {_DIGITS} digits")
    return bounded(Fraction(source))


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
