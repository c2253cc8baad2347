"""Dates as people, files and calendars write them: the one reader of dates.

`parse` reads a text that is a date and nothing else, `find` the dates in running text, `iso_date` what the metadata of
files say. A date is known as far as it is written: a year, a month of it, or a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from ragways.core.text import lazy_regex

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}

_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
_IN_TEXT = lazy_regex(
    r"(?=[\dADFJMNOS])"  # with what a date begins: other places are passed over at once
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?P<m1>{_MONTH})\.?,? (?P<y1>\d{{3,4}})"
    rf"|(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\.?,? (?P<y3>\d{{4}})"
    r"|(?P<y5>\d{4})-(?P<m5>\d{2})-(?P<d5>\d{2})"
    r"|(?P<y4>1\d{3}|20\d{2}))\b(?![\d,]*\d| ?(?:%|(?:km|m|kg|people)\b))",
)
_ISO = lazy_regex(r"(?P<y>[0-9]{1,4})(?:-(?P<m>[0-9]{1,2})(?:-(?P<d>[0-9]{1,2}))?)?", re.ASCII)
_DAY_FIRST = lazy_regex(
    r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?\.?\s+(?P<m>[a-z]{3,9})\.?,?\s+(?P<y>[0-9]{1,4})", re.ASCII | re.IGNORECASE
)
_MONTH_FIRST = lazy_regex(
    r"(?P<m>[a-z]{3,9})\.?,?\s+(?:(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?,?\s+)?(?P<y>[0-9]{1,4})", re.ASCII | re.IGNORECASE
)
_PDF = lazy_regex(r"D:(?P<y>\d{4})(?P<m>\d\d)?(?P<d>\d\d)?")
_TIME = lazy_regex(r":|\dT")
_DIGIT = lazy_regex(r"\d")


@dataclass(frozen=True, slots=True, order=True)
class PartialDate:
    """A year, and its month and day where they are known, else 0."""

    year: int
    month: int = 0
    day: int = 0

    @property
    def iso(self) -> str:
        """`1883-02-11`, `1960-01` or `1963`."""
        parts = [f"{self.year:04}"] + [f"{part:02}" for part in (self.month, self.day) if part]
        return "-".join(parts)

    @property
    def forms(self) -> tuple[str, ...]:
        """The date as texts write it, day first and month first."""
        if not self.month:
            return (str(self.year),)
        month = MONTHS[self.month - 1]
        if not self.day:
            return (f"{month} {self.year}",)
        return f"{self.day} {month} {self.year}", f"{month} {self.day}, {self.year}"

    def within(self, other: PartialDate) -> bool:
        """Whether this may be the same date as the other, which says less or as much: a day of its year."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(own == its or not its for own, its in pairs)


def parse(text: str) -> PartialDate | None:
    """`1990-05-04`, `4 May 1990`, `May 4th, 1990`, `May 1990`, `1990` or `D:19900504`; None where it is no date.

    Months by their first three letters. That a month has so many days is not looked at.
    """
    text = " ".join(text.split())
    match = _ISO.fullmatch(text) or _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text) or _PDF.match(text)
    return None if match is None else _date(match["y"], match["m"], match["d"])


def find(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, PartialDate]]:
    """The dates in a stretch of running text, each with its place; `5 km` and `1,850` are none."""
    end = len(text) if end is None else end
    if not _DIGIT.search(text, start, end):
        return
    for match in _IN_TEXT.finditer(text, start, end):
        d1, m1, y1, m2, d2, y2, m3, y3, y5, m5, d5, y4 = match.groups()  # as they stand in the expression
        year, month, day = y1 or y2 or y3 or y4 or y5, m1 or m2 or m3 or m5, d1 or d2 or d5
        if (date := _date(year, month, day)) is not None:
            yield match.start(), match.end(), date


def iso_date(text: str) -> str:
    """The date of a file's metadata in ISO form, with its time where it has one; a text that is no date as it is."""
    text = text.strip()[:100]
    if re.fullmatch(r"1?\d{9}(\d{3})?", text):
        seconds = int(text) / (1000 if len(text) > 10 else 1)
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    date = parse(text)
    if date is not None and date.year >= 1000 and date.day <= 31:
        return date.iso
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment.isoformat() if _TIME.search(text) else moment.date().isoformat()
    return text


def _date(year: str, month: str | None, day: str | None) -> PartialDate | None:
    number = int(month) if month and month.isdecimal() else _NUMBERS.get((month or "")[:3].lower(), 0)
    known = number <= 12 and (number > 0) == bool(month)
    return PartialDate(int(year), number, int(day or 0)) if known else None
