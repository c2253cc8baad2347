"""Dates and quantities in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAMES = "January February March April May June July August September October November December"
_MONTHS = _NAMES.split()
_MONTH = "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS)
_DATE = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?P<m1>{_MONTH})\.?,? (?P<y1>\d{{3,4}})"
    rf"|(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\.?,? (?P<y3>\d{{4}})"
    r"|(?P<iso>\d{4}-\d{2}-\d{2})"
    r"|(?P<y4>1\d{3}|20\d{2}))\b(?![\d,]*\d| ?(?:%|km|m|kg|people))",
)
_DIGIT = re.compile(r"\d")
_UNITS = (
    "%|percent|per cent|km²|km2|km|kilomet(?:er|re)s?|metres?|meters?|m|cm|mm|miles?|feet|ft|inches|inch|acres?|"
    "hectares?|kg|kilograms?|grams?|tonn?es?|tons?|pounds?|lbs?|litres?|liters?|mph|km/h|knots?|°C|°F|degrees|"
    "million|billion|trillion|people|inhabitants|residents|passengers|seats|years?|days?|hours?|minutes?|seconds?|"
    "dollars|euros|watts?|MW|GW|kW|Hz|MHz|kHz|GHz"
)
_QUANTITY = re.compile(rf"(?<![\w.,])[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s?-?\s?(?:{_UNITS}))(?!\w)|[$€£¥]\d[\d,]*(?:\.\d+)?")


def dates(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Places of dates, each as far as it is known: `1883-02-11`, `1960-01`, `1963`."""
    if not _DIGIT.search(text, start, end):
        return
    for match in _DATE.finditer(text, start, end):
        found = match.groupdict()
        if found["iso"]:
            yield match.start(), match.end(), found["iso"]
            continue
        year = next(found[name] for name in ("y1", "y2", "y3", "y4") if found[name]).zfill(4)
        month = next((found[name] for name in ("m1", "m2", "m3") if found[name]), "")
        day = next((found[name] for name in ("d1", "d2") if found[name]), "")
        parts = [year]
        if month:
            parts.append(f"{1 + [m[:3] for m in _MONTHS].index(month[:3]):02d}")
        if day:
            parts.append(day.zfill(2))
        yield match.start(), match.end(), "-".join(parts)


def quantities(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of numbers with a unit."""
    if not _DIGIT.search(text, start, end):
        return
    for match in _QUANTITY.finditer(text, start, end):
        yield match.span()
