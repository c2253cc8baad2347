"""Tables: CSV, TSV and spreadsheets (.xlsx). A row is a line with its headers (`Name: Ada; Born: 1815`), so that it can
be understood alone; rows stand together in paragraphs of some size. Wide and long tables are bounded.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from defusedxml.ElementTree import iterparse

from ragways.core.errors import LoadError
from ragways.core.text import one_line
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.files.office import RELATION, Archive, beside, local, tree
from ragways.corpus.source import LoadOptions, Skipped, SourceFile, read_all, read_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_COLUMNS = 200
_MAX_ROWS = 100_000
_MAX_CELL = 2_000
_GROUP = 1_000
"""Characters of rows in one paragraph."""
_NUMBER = re.compile(r"[-+(]?[\d.,\s]*\d[\d.,\s]*[%)€$£]?$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*$")

Row = tuple[int, list[str]]
"""Where it begins (its line or row, counted from 1), and its cells."""


def load_separated(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    builder = TextBuilder(options.max_text)
    _write(builder, _separated(source, file.path.suffix.lower()), file, options)
    yield builder.document(file.key, file.stem, "csv", metadata)


def _separated(source: str, suffix: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(source, newline=""), delimiter=_delimiter(source, suffix))
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:  # a cell of more than 131,072 characters, mostly
        raise LoadError(
            f"cannot be read from line {line} on ({error})", "is a quotation mark not closed there?"
        ) from error


def _delimiter(source: str, suffix: str) -> str:
    """The sign that cuts the first lines into the same number of cells, and into most of them."""
    lines = [re.sub(r'"[^"]*"', "", line[:10_000]) for line in source[:100_000].splitlines()[:20] if line.strip()]
    best = "\t" if suffix in (".tsv", ".tab") else ","
    most = 0.0
    for sign in (best, *(each for each in ",;\t|" if each != best)):
        counts = [line.count(sign) for line in lines]
        score = min(counts, default=0) + sum(counts) / (1000 * len(counts) or 1)
        if score > most:
            best, most = sign, score
    return best


def _write(builder: TextBuilder, rows: Iterable[Row], file: SourceFile, options: LoadOptions, sheet: str = "") -> None:
    filled = ((number, cells) for number, cells in rows if any(cell.strip() for cell in cells))
    first = next(filled, None)
    if first is None:
        return
    second = next(filled, None)
    headers = first[1] if second is not None and _is_header(first[1]) else []
    rest = [second] if headers and second else [first, *([second] if second else [])]
    size, cut = _GROUP, 0
    for count, (number, cells) in enumerate(chain(rest, _bounded(filled, file, options, sheet))):
        text = _line(headers, cells)
        cut += any(len(cell) > _MAX_CELL for cell in cells)
        if size + len(text) > _GROUP:
            builder.paragraph()
            size = 0
        builder.line()
        builder.at(line=number)
        builder.text(text)
        size += len(text)
        if count == 0 and len(cells) > _MAX_COLUMNS:
            options.notice(Skipped(file.key + sheet, f"columns after {_MAX_COLUMNS} are left out"))
    if cut:
        why = f"in {cut:,} rows cells are cut after {_MAX_CELL:,} characters: long texts are read whole from JSON lines"
        options.notice(Skipped(file.key + sheet, why))


def _bounded(rows: Iterator[Row], file: SourceFile, options: LoadOptions, sheet: str) -> Iterator[Row]:
    for count, row in enumerate(rows):
        if count >= _MAX_ROWS:
            options.notice(Skipped(file.key + sheet, f"rows after {_MAX_ROWS:,} are left out"))
            return
        yield row


def _is_header(cells: list[str]) -> bool:
    """Names for the columns: words, each only once."""
    named = [cell.strip() for cell in cells if cell.strip()]
    return (
        len(named) * 2 > len(cells)
        and len(set(named)) == len(named)
        and all(len(name) <= 100 and not _NUMBER.match(name) for name in named)
    )


def _line(headers: list[str], cells: list[str]) -> str:
    values = []
    for column, cell in enumerate(cells[:_MAX_COLUMNS]):
        value = one_line(cell, _MAX_CELL)
        header = one_line(headers[column], 100) if column < len(headers) else ""
        if value:
            values.append(f"{header}: {value}" if header else value)
    return "; ".join(values)


# Spreadsheets

_DAY = timedelta(days=1)
_DATE_STYLES = frozenset((*range(14, 23), 27, 28, 29, 30, 31, 34, 35, 36, *range(45, 48), *range(50, 59)))


def load_workbook(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    with Archive(read_all(file, options.max_bytes), "spreadsheet", ".xlsx") as archive:
        book = archive.part("xl/workbook.xml")
        if book is None:
            raise LoadError("is no spreadsheet", "save it as .xlsx")
        facts = archive.facts()
        targets = archive.targets("xl/_rels/workbook.xml.rels")
        strings = ["".join(_texts(item)) for item in tree(archive.part("xl/sharedStrings.xml"))]
        dates = _date_styles(archive.part("xl/styles.xml"))
        builder = TextBuilder(options.max_text)
        began = datetime(1899, 12, 30)
        for element in (inner for outer in tree(book) for inner in (outer, *outer)):
            if local(element) == "workbookPr" and element.get("date1904") in ("1", "true"):
                began = datetime(1904, 1, 1)
            data = None
            if local(element) == "sheet":
                data = archive.part(beside("xl/workbook.xml", targets.get(element.get(RELATION, ""), "")))
            if data is not None:
                builder.titled(element.get("name", ""), 2)
                _write(builder, _sheet_rows(data, strings, dates, began), file, options, f"#{element.get('name', '')}")
    yield builder.document(file.key, facts.pop("title", "") or file.stem, "xlsx", facts)


def _texts(element: Element) -> Iterator[str]:
    """What is written in a cell, without the readings of Japanese words."""
    for child in element:
        if local(child) == "t":
            yield child.text or ""
        elif local(child) == "r":
            yield from _texts(child)


def _date_styles(data: bytes | None) -> set[str]:
    """The numbers of those cell styles that show a number as a date."""
    own: set[int] = set()
    found: set[str] = set()
    for group in tree(data):
        if local(group) == "numFmts":
            for form in group:
                code = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", form.get("formatCode", ""))
                if re.search(r"[ymdhs]", code, re.IGNORECASE):
                    own.add(int(form.get("numFmtId", "0")))
        elif local(group) == "cellXfs":
            styles = (int(style.get("numFmtId", "0")) for style in group)
            found = {str(number) for number, form in enumerate(styles) if form in own or form in _DATE_STYLES}
    return found


def _sheet_rows(data: bytes, strings: list[str], dates: set[str], began: datetime) -> Iterator[Row]:
    number = 0
    for _, element in iterparse(io.BytesIO(data), ("end",), forbid_dtd=True):
        if local(element) != "row":
            continue
        number = int(element.get("r") or number + 1)
        cells: list[str] = []
        for cell in element:
            column = _column(cell.get("r", "")) or len(cells) + 1
            if column <= _MAX_COLUMNS + 1:
                cells.extend("" for _ in range(len(cells), column - 1))
                cells.append(_value(cell, strings, dates, began))
        element.clear()
        yield number, cells


def _column(reference: str) -> int:
    """`AB12` → 28."""
    column = 0
    for letter in reference[:3]:
        if letter.isalpha() and letter.isascii():
            column = column * 26 + ord(letter.upper()) - 64
    return column


def _value(cell: Element, strings: list[str], dates: set[str], began: datetime) -> str:
    parts = {local(child): child for child in cell}
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_texts(parts["is"])) if "is" in parts else ""
    text = (parts["v"].text or "") if "v" in parts else ""
    if kind == "s":
        return strings[int(text)] if text.isdigit() and int(text) < len(strings) else ""
    if kind == "b":
        return "yes" if text == "1" else "no"
    return _number(text, cell.get("s", "0") in dates, began) if kind == "n" else text


def _number(text: str, is_date: bool, began: datetime) -> str:
    """A number as it was typed (0.1, not 0.10000000000000001), or the day and time that it stands for."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not is_date or not 0 <= number < 2_900_000:
        return f"{number:.15g}"
    moment = began + number * _DAY + timedelta(milliseconds=500)
    return moment.strftime("%H:%M" if number < 1 else "%Y-%m-%d" if number == int(number) else "%Y-%m-%d %H:%M")
