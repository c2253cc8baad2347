"""Dates as files write them → ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PDF = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})$")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$")


def iso_date(text: str) -> str:
    """The date in ISO form where it can be read, else the text as it is."""
    text = text.strip()[:100]
    if re.fullmatch(r"\d{4}(-\d\d)?", text):
        return text
    if re.fullmatch(r"1?\d{9}(\d{3})?", text):
        seconds = int(text) / (1000 if len(text) > 10 else 1)
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    try:
        return _with_time(datetime.fromisoformat(text), text)
    except ValueError:
        return _written(text)


def _with_time(moment: datetime, text: str) -> str:
    return moment.isoformat() if ":" in text or "T" in text else moment.date().isoformat()


def _written(text: str) -> str:
    if match := _PDF.match(text):
        return "-".join(part for part in match.groups() if part)
    if match := _DAY_FIRST.match(text):
        return _joined(match[3], match[2], match[1]) or text
    if match := _MONTH_FIRST.match(text):
        return _joined(match[3], match[1], match[2]) or text
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return text


def _joined(year: str, month: str, day: str) -> str:
    name = month[:3].lower()
    return f"{year}-{_MONTHS.index(name) + 1:02}-{int(day):02}" if name in _MONTHS and int(day) <= 31 else ""
