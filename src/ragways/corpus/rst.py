"""reStructuredText (.rst, .rest, and .txt that is written in it, as some projects' documentation is).

Sections, lists, tables, code and the directives and roles of Sphinx. Read line by line with an own parser: nothing is
inserted from other files, and a file costs what its size explains. What an object directive describes (`.. method::`)
is a section of its own, and lists of contents, index entries and comments leave no text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ragways.core.dates import iso_date
from ragways.core.text import normal_lines
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.rstgrammar import (
    ADORNMENT,
    CODE,
    DIRECTIVE,
    EXPLICIT,
    FACTS,
    FIELD,
    GRID,
    ITEM,
    LABELLED,
    MARKERS,
    NOTE,
    OBJECTS,
    OPTION,
    RULE,
    SILENT,
    TITLED,
    closing_rules,
    dedented,
    end_of_indent,
    grid_rows,
    is_under,
    simple_rows,
)
from ragways.corpus.rsttext import Inline
from ragways.corpus.source import LoadOptions, SourceFile, read_text

_MAX_DEPTH = 24
"""Levels of indent that are told apart; each costs another look at the lines below it."""


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    yield rst_document(source, file, options, metadata)


def rst_document(source: str, file: SourceFile, options: LoadOptions, metadata: dict[str, str]) -> Document:
    lines = [line.expandtabs(8).rstrip() for line in normal_lines(source.removeprefix("\ufeff"))]
    writer = _Writer(TextBuilder(options.max_text), Inline(lines))
    writer.write(lines, 1, 0)
    facts = {**writer.facts, "date": iso_date(writer.facts.get("date", ""))}
    return writer.builder.document(file.key, writer.title or file.stem, "rst", {**facts, **metadata})


class _Writer:
    """Writes blocks of lines. `line` is always the number in the file of the first line of a block."""

    def __init__(self, builder: TextBuilder, inline: Inline) -> None:
        self.builder = builder
        self.title = ""
        self.facts: dict[str, str] = {}
        self._inline = inline
        self._styles: list[str] = []
        self._level = 1
        self._lists = 0
        self._objects: list[str] = []
        self._rules: list[int] = []

    def write(self, lines: Sequence[str], line: int, depth: int) -> None:
        """All blocks of some lines that stand at one indent."""
        if depth > _MAX_DEPTH:
            self._paragraph([text.strip() for text in lines if text], line)
            return
        outer, self._rules = self._rules, closing_rules(lines)
        here = 0
        while here < len(lines):
            if not lines[here]:
                here += 1
            else:
                here = self._block(lines, here, line, depth)
        self._rules = outer

    def _block(self, lines: Sequence[str], here: int, line: int, depth: int) -> int:
        """Write the block that begins at `here`, and say where the next may begin."""
        text = lines[here]
        if text[0] == " " or EXPLICIT.match(text):
            end = end_of_indent(lines, here + 1)
            write = self._nested if text[0] == " " else self._explicit
            write(lines[here:end], line + here, depth)
            return end
        if not depth and (size := self._section(lines, here, line)):
            return here + size
        if GRID.match(text) or (RULE.match(text) and any(lines[here + 1 : here + 2])):
            return self._table(lines, here, line)
        if item := ITEM.match(text):
            return self._item(lines, here, line, depth, item.end())
        if field := FIELD.match(text):
            return self._field(lines, here, line, depth, field)
        return self._text(lines, here, line, depth)

    # --- sections ---------------------------------------------------------------------------------------------

    def _section(self, lines: Sequence[str], here: int, line: int) -> int:
        """Write the section title that stands here, and say how many lines it takes. 0 where there is none."""
        text = lines[here]
        after = [*lines[here + 1 : here + 3], "", ""]
        if ADORNMENT.match(text) and after[0].strip() and after[1] == text and len(text) >= len(after[0].rstrip()):
            title, style, size = after[0].strip(), text[0] * 2, 3
        elif after[0] and not ADORNMENT.match(text) and is_under(after[0], text):
            title, style, size = text, after[0][0], 2
        else:
            return 0
        if style not in self._styles:
            self._styles.append(style)
        self._level = min(self._styles.index(style) + 1, 6)
        self._objects.clear()
        if self._level == 1 and not self.title and not self.builder.length:
            self.title = self._inline.plain(title)
        else:
            self._heading(title, self._level, line + here)
        return size

    def _heading(self, title: str, level: int, line: int) -> None:
        mark = self.builder.block()
        self.builder.at(line=line)
        self.builder.flat()
        self._inline.write(self.builder, title)
        self.builder.unflat()
        self.builder.heading(mark, min(level, 6))

    # --- directives and other explicit markup -----------------------------------------------------------------

    def _explicit(self, lines: Sequence[str], line: int, depth: int) -> None:
        found = DIRECTIVE.match(lines[0])
        if found and not lines[0].startswith(".. |"):
            self._directive(found[1].lower(), found[2] or "", lines[1:], line, depth)
        elif note := NOTE.match(lines[0]):
            self._break()
            self._nested([f"{note[1]}: {note[2]}", *dedented(lines[1:])], line, depth)

    def _directive(self, name: str, argument: str, below: Sequence[str], line: int, depth: int) -> None:
        short = name.rpartition(":")[2]
        below = dedented(below)
        arguments = [argument] if argument else []
        start = 0
        while start < len(below) and below[start] and not OPTION.match(below[start]):
            if short in CODE or short in LABELLED or short == "csv-table":
                break  # what stands there is content already
            arguments.append(below[start])
            start += 1
        while start < len(below) and OPTION.match(below[start]):
            start = end_of_indent(below, start + 1, blank=False)
        body, line = below[start:], line + 1 + start
        if short in SILENT or name in SILENT:
            return
        if short in CODE:
            self._code(body, line)
        elif short in LABELLED:
            self._labelled(short, argument, body, line, depth)
        elif short in TITLED:
            self._paragraph([argument], line)
            self._nested(body, line, depth)
        elif short in OBJECTS:
            self._object(short, arguments, body, line, depth)
        elif short in ("csv-table", "list-table"):
            self._paragraph([argument], line)
            self._nested([text.replace('"', "") for text in body] if short == "csv-table" else body, line, depth)
        else:
            if short not in ("figure", "glossary", "container", "only", "hlist", "highlights", "table", "tabs"):
                self._paragraph(arguments, line)
            self._nested(body, line, depth)

    def _labelled(self, name: str, argument: str, body: Sequence[str], line: int, depth: int) -> None:
        """A note with its kind before its first words, so that they are read as one."""
        label = LABELLED[name]
        if "version" in label:
            version, _, argument = argument.partition(" ")
            label = f"{label} {version}"
        start = next((n for n, text in enumerate(body) if text), len(body))
        first = body[start] if start < len(body) else ""
        if argument and not start:  # the sentence goes on in the next line
            body = [f"{label}: {argument}", *body]
        elif argument:
            body = [f"{label}: {argument}", "", *body]
        elif first and not (first[0] in " .+=>" or ITEM.match(first) or FIELD.match(first)):
            body = [*body[:start], f"{label}: {first}", *body[start + 1 :]]
        else:
            body = [f"{label}:", "", *body]
        self._nested(body, line, depth)

    def _object(self, name: str, arguments: list[str], body: Sequence[str], line: int, depth: int) -> None:
        """What is described is a section; a member is named with what it belongs to."""
        signatures = [text.rstrip("\\").strip() for text in arguments if text.strip()]
        if not signatures or (name in MARKERS and not any(body)):
            return
        signature = signatures[0]
        own = re.split(r"[\s(]", signature, maxsplit=1)[0]
        if self._objects and "." not in own and name not in ("class", "describe", "option"):
            signature = f"{self._objects[-1]}.{signature}"
        if not any(body):
            self._paragraph(signatures, line)
            return
        self._heading(signature if len(signature) <= 160 else own, self._level + 1 + len(self._objects), line)
        self._paragraph(signatures[1:] if len(signature) <= 160 else signatures, line)
        self._objects.append(own)
        self._nested(body, line, depth)
        if self._objects:
            self._objects.pop()

    # --- blocks -----------------------------------------------------------------------------------------------

    def _nested(self, lines: Sequence[str], line: int, depth: int) -> None:
        self._break()
        self.write(dedented(lines), line, depth + 1)
        self._break()

    def _code(self, lines: Sequence[str], line: int) -> None:
        self.builder.at(line=line + next((number for number, text in enumerate(lines) if text), 0))
        self.builder.preformatted("\n".join(dedented(lines)))

    def _item(self, lines: Sequence[str], here: int, line: int, depth: int, width: int) -> int:
        end = end_of_indent(lines, here + 1)
        below = lines[here + 1 : end]
        first = lines[here][width:]
        self.builder.line()
        self._lists += 1
        self.write([first, *dedented(below)], line + here, depth + 1)
        self._lists -= 1
        return self._end_of_list(lines, end, ITEM)

    def _end_of_list(self, lines: Sequence[str], end: int, entry: re.Pattern[str]) -> int:
        """Where the next block begins; unless it is another entry, the list ends here."""
        while end < len(lines) and not lines[end]:
            end += 1
        if end >= len(lines) or not entry.match(lines[end]):
            self._break()
        return end

    def _field(self, lines: Sequence[str], here: int, line: int, depth: int, found: re.Match[str]) -> int:
        end = end_of_indent(lines, here + 1)
        name, value = found[1], found[2] or ""
        if not depth and not self.builder.length:
            if name.lower() in FACTS:
                self.facts.setdefault(FACTS[name.lower()], self._inline.plain(value))
            return end
        self.builder.line()
        body = [f"{name}: {value}".strip(), *dedented(lines[here + 1 : end])]
        self._lists += 1
        self.write(body, line + here, depth + 1)
        self._lists -= 1
        return self._end_of_list(lines, end, FIELD)

    def _text(self, lines: Sequence[str], here: int, line: int, depth: int) -> int:
        """A paragraph, or a term with what is said of it below; `::` at the end announces code."""
        end = here + 1
        while end < len(lines) and lines[end] and lines[end][0] != " ":
            end += 1
        block = list(lines[here:end])
        if block[0].startswith(">>> "):
            self._code(block, line + here)
            return end
        if len(block[0]) >= 4 and end == here + 1 and ADORNMENT.match(block[0]):
            return end  # a line across the page
        if block[0].startswith("| "):
            self.builder.at(line=line + here)
            for text in block:
                self.builder.line()
                self._inline.write(self.builder, text.removeprefix("|").strip())
            return end
        announced = block[-1].endswith("::")
        if announced:
            block[-1] = block[-1][: -2 if block[-1] == "::" or block[-1].endswith(" ::") else -1].rstrip()
        if not announced and end == here + 1 and any(lines[end : end + 1]):
            stop = end_of_indent(lines, end)
            self._break()
            self._lists += 1
            self._paragraph(block, line + here)
            self.write(dedented(lines[end:stop]), line + end, depth + 1)
            self._lists -= 1
            self._break()
            return stop
        self._paragraph(block, line + here)
        if announced:
            while end < len(lines) and not lines[end]:
                end += 1
            start, end = end, end_of_indent(lines, end)
            self._code(lines[start:end], line + start)
        return end

    def _paragraph(self, lines: Sequence[str], line: int) -> None:
        text = " ".join(lines).strip()
        if text:
            self._break()
            self.builder.at(line=line)
            self._inline.write(self.builder, text)
            self._break()

    def _break(self) -> None:
        if self._lists:
            self.builder.line()
        else:
            self.builder.paragraph()

    # --- tables -----------------------------------------------------------------------------------------------

    def _table(self, lines: Sequence[str], here: int, line: int) -> int:
        end = here
        if lines[here][0] == "+":
            while end < len(lines) and lines[end] and lines[end][0] in "+|":
                end += 1
            rows = grid_rows(lines[here:end])
        else:
            closing = bisect_right(self._rules, here)
            end = (self._rules[closing] if closing < len(self._rules) else here) + 1
            rows = simple_rows(lines[here:end])
        self.builder.paragraph()
        self.builder.at(line=line + here)
        for row in rows:
            self.builder.row()
            for cell in row:
                self.builder.cell()
                self.builder.flat()
                self._inline.write(self.builder, cell)
                self.builder.unflat()
        self.builder.paragraph()
        return end
