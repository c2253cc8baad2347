"""Plain text (.txt, .text) and reStructuredText (.rst, .rest, and .txt that is written in it).

Sections, lists, tables, code and the directives and roles of Sphinx. Read line by line with an own parser: nothing is
inserted from other files, and a file costs what its size explains. What an object directive describes (`.. method::`)
is a section of its own, and lists of contents, index entries and comments leave no text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from ragways.core.dates import iso_date
from ragways.core.text import normal_lines
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import LoadOptions, SourceFile, article_of, read_text

_MAX_DEPTH = 24
"""Levels of indent that are distinguished; each costs another look at the lines below it."""


def load_text(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    text, metadata = read_text(file, options.max_bytes)
    if _is_rst(text):
        yield rst_document(text, file, options, metadata)
        return
    builder = TextBuilder(options.max_text)
    builder.plain_text(text, line=1)
    yield builder.document(file.key, file.stem, "text", metadata)


def load_rst(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    yield rst_document(source, file, options, metadata)


def rst_document(source: str, file: SourceFile, options: LoadOptions, metadata: dict[str, str]) -> Document:
    lines = [line.expandtabs(8).rstrip() for line in normal_lines(source.removeprefix("\ufeff"))]
    writer = _Writer(TextBuilder(options.max_text), _Inline(lines))
    writer.write(lines, 1, 0)
    facts = {**writer.facts, "date": iso_date(writer.facts.get("date", ""))}
    return writer.builder.document(file.key, writer.title or file.stem, "rst", {**facts, **metadata})


class _Writer:
    """Writes blocks of lines. `line` is always the number in the file of the first line of a block."""

    def __init__(self, builder: TextBuilder, inline: _Inline) -> None:
        self.builder = builder
        self.title = ""
        self.facts: dict[str, str] = {}
        self._inline = inline
        self._styles: list[str] = []
        self._level = 1
        self._objects: list[str] = []
        self._rules: list[int] = []

    def write(self, lines: Sequence[str], line: int, depth: int) -> None:
        """All blocks of some lines that stand at one indent."""
        if depth > _MAX_DEPTH:
            self._paragraph([text.strip() for text in lines if text], line)
            return
        outer, self._rules = self._rules, _closing_rules(lines)
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
        if text[0] == " " or _EXPLICIT.match(text):
            end = _end_of_indent(lines, here + 1)
            write = self._nested if text[0] == " " else self._explicit
            write(lines[here:end], line + here, depth)
            return end
        if not depth and (size := self._section(lines, here, line)):
            return here + size
        if _GRID.match(text) or (_RULE.match(text) and any(lines[here + 1 : here + 2])):
            return self._table(lines, here, line)
        if item := _ITEM.match(text):
            return self._item(lines, here, line, depth, item.end())
        if field := _FIELD.match(text):
            return self._field(lines, here, line, depth, field)
        return self._text(lines, here, line, depth)

    # --- sections ---------------------------------------------------------------------------------------------

    def _section(self, lines: Sequence[str], here: int, line: int) -> int:
        """Write the section title that stands here, and say how many lines it takes. 0 where there is none."""
        text = lines[here]
        after = [*lines[here + 1 : here + 3], "", ""]
        if _ADORNMENT.match(text) and after[0].strip() and after[1] == text and len(text) >= len(after[0].rstrip()):
            title, style, size = after[0].strip(), text[0] * 2, 3
        elif after[0] and not _ADORNMENT.match(text) and _is_under(after[0], text):
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
        match = _DIRECTIVE.match(lines[0])
        if match and not lines[0].startswith(".. |"):
            self._directive(match[1].lower(), match[2] or "", lines[1:], line, depth)
        elif note := _NOTE.match(lines[0]):
            self.builder.separate()
            self._nested([f"{note[1]}: {note[2]}", *_dedented(lines[1:])], line, depth)

    def _directive(self, name: str, argument: str, below: Sequence[str], line: int, depth: int) -> None:
        short = name.rpartition(":")[2]
        below = _dedented(below)
        arguments = [argument] if argument else []
        start = 0
        while start < len(below) and below[start] and not _OPTION.match(below[start]):
            if short in _CODE or short in _LABELLED or short == "csv-table":
                break  # what stands there is content already
            arguments.append(below[start])
            start += 1
        while start < len(below) and _OPTION.match(below[start]):
            start = _end_of_indent(below, start + 1, blank=False)
        body, line = below[start:], line + 1 + start
        if short in _SILENT or name in _SILENT:
            return
        if short in _CODE:
            self._code(body, line, argument if short in ("code-block", "code", "sourcecode") else "")
        elif short in _LABELLED:
            self._labelled(short, argument, body, line, depth)
        elif short in _TITLED:
            self._paragraph([argument], line)
            self._nested(body, line, depth)
        elif short in _OBJECTS:
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
        label = _LABELLED[name]
        if "version" in label:
            version, _, argument = argument.partition(" ")
            label = f"{label} {version}"
        start = next((n for n, text in enumerate(body) if text), len(body))
        first = body[start] if start < len(body) else ""
        if argument and not start:  # the sentence goes on in the next line
            body = [f"{label}: {argument}", *body]
        elif argument:
            body = [f"{label}: {argument}", "", *body]
        elif first and not (first[0] in " .+=>" or _ITEM.match(first) or _FIELD.match(first)):
            body = [*body[:start], f"{label}: {first}", *body[start + 1 :]]
        else:
            body = [f"{label}:", "", *body] if any(body) else [f"{label}."]
        self._nested(body, line, depth)

    def _object(self, name: str, arguments: list[str], body: Sequence[str], line: int, depth: int) -> None:
        """What is described is a section; a member is named with what it belongs to."""
        # A signature goes on in the next line where its line ends in a backslash.
        whole = re.sub(r"\\\n\s*", " ", "\n".join(text.rstrip() for text in arguments))
        signatures = [text.rstrip("\\").strip() for text in whole.split("\n") if text.strip()]
        if not signatures or (name in _MARKERS and not any(body)):
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
        self.builder.separate()
        self.write(_dedented(lines), line, depth + 1)
        self.builder.separate()

    def _code(self, lines: Sequence[str], line: int, language: str = "") -> None:
        self.builder.at(line=line + next((number for number, text in enumerate(lines) if text), 0))
        self.builder.preformatted("\n".join(lines), language=language)

    def _item(self, lines: Sequence[str], here: int, line: int, depth: int, width: int) -> int:
        end = _end_of_indent(lines, here + 1)
        below = lines[here + 1 : end]
        first = lines[here][width:]
        self.builder.line()
        self.builder.begin_list()
        sign = lines[here][:width].strip(" (")
        self.builder.item(f"{sign.rstrip(').')}." if sign[0].isalnum() else "1." if sign[0] == "#" else "-")
        self.write([first, *_dedented(below)], line + here, depth + 1)
        self.builder.end_list()
        return self._end_of_list(lines, end, _ITEM)

    def _end_of_list(self, lines: Sequence[str], end: int, entry: re.Pattern[str]) -> int:
        """Where the next block begins; unless it is another entry, the list ends here."""
        while end < len(lines) and not lines[end]:
            end += 1
        if end >= len(lines) or not entry.match(lines[end]):
            self.builder.separate()
        return end

    def _field(self, lines: Sequence[str], here: int, line: int, depth: int, match: re.Match[str]) -> int:
        end = _end_of_indent(lines, here + 1)
        name, value = match[1], match[2] or ""
        if not depth and not self.builder.length:
            if name.lower() in _FACTS:
                self.facts.setdefault(_FACTS[name.lower()], self._inline.plain(value))
            return end
        self.builder.line()
        body = [f"{name}: {value}".strip(), *_dedented(lines[here + 1 : end])]
        self.builder.begin_list()
        self.write(body, line + here, depth + 1)
        self.builder.end_list()
        return self._end_of_list(lines, end, _FIELD)

    def _text(self, lines: Sequence[str], here: int, line: int, depth: int) -> int:
        """A paragraph, or a term with its definition below; `::` at the end announces code."""
        end = here + 1
        while end < len(lines) and lines[end] and lines[end][0] != " ":
            end += 1
        block = list(lines[here:end])
        if block[0].startswith(">>> "):
            self._code(block, line + here)
            return end
        if len(block[0]) >= 4 and end == here + 1 and _ADORNMENT.match(block[0]):
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
            stop = _end_of_indent(lines, end)
            self.builder.separate()
            self.builder.begin_list()
            self._paragraph(block, line + here)
            self.write(_dedented(lines[end:stop]), line + end, depth + 1)
            self.builder.end_list()
            self.builder.separate()
            return stop
        self._paragraph(block, line + here)
        if announced:
            while end < len(lines) and not lines[end]:
                end += 1
            start, end = end, _end_of_indent(lines, end)
            self._code(lines[start:end], line + start)
        return end

    def _paragraph(self, lines: Sequence[str], line: int) -> None:
        text = " ".join(lines).strip()
        if text:
            self.builder.separate()
            self.builder.at(line=line)
            self._inline.write(self.builder, text)
            self.builder.separate()

    # --- tables -----------------------------------------------------------------------------------------------

    def _table(self, lines: Sequence[str], here: int, line: int) -> int:
        end = here
        if lines[here][0] == "+":
            while end < len(lines) and lines[end] and lines[end][0] in "+|":
                end += 1
            rows = _grid_rows(lines[here:end])
        else:
            closing = bisect_right(self._rules, here)
            end = (self._rules[closing] if closing < len(self._rules) else here) + 1
            rows = _simple_rows(lines[here:end])
        self.builder.at(line=line + here)
        self.builder.table(rows, partial(self._inline.write, self.builder))
        return end


# The grammar of lines: what a line begins, which lines belong together, known directives, rows of tables

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+$")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]+\| +)?([A-Za-z][\w:+.-]{0,60}?) ?::(?: +(.*))?$")
_EXPLICIT = re.compile(r"\.\.(?: |$)")
_NOTE = re.compile(r"\.\. +\[([^\]\n]{1,80})\] *(.*)$")
_OPTION = re.compile(r":([A-Za-z][\w .-]{0,60}):(?: +(.*))?$")
_FIELD = re.compile(r":((?! )[^:\n]{1,120}):(?: +(.*))?$")
_ITEM = re.compile(r"(?:[*+\-•‣]|\(?(?:\d{1,4}|#|[A-Za-z]|[ivxIVX]{1,6})[.)])(?: +|$)")
_RULE = re.compile(r"=+(?: +=+)+ *$")
_GRID = re.compile(r"\+(?:[-=]+\+)+ *$")

_SILENT = frozenset((
    "toctree", "contents", "sectnum", "index", "currentmodule", "py:currentmodule", "module", "py:module", "highlight",
    "default-role", "role", "include", "literalinclude", "raw", "meta", "image", "sectionauthor", "codeauthor",
    "program", "tabularcolumns", "rst-class", "default-domain", "header", "footer", "target-notes", "graphviz",
    "digraph", "title", "automodule", "autosummary", "plot", "bibliography", "spelling", "unicode", "date", "replace",
    "ifconfig",
))  # fmt: skip
_CODE = frozenset((
    "code-block", "code", "sourcecode", "console", "parsed-literal", "doctest", "testcode", "testoutput", "testsetup",
    "productionlist", "prompt", "ipython", "math", "mermaid", "highlight-code", "command-output", "jupyter-execute",
))  # fmt: skip
_LABELLED = {
    **{name: name.capitalize() for name in ("note", "warning", "tip", "important", "hint", "caution", "danger", "error",
                                            "attention", "todo")},
    "seealso": "See also", "versionadded": "Added in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "versionremoved": "Removed in version",
}  # fmt: skip
_TITLED = frozenset(("admonition", "topic", "sidebar", "rubric", "centered", "tab", "tab-item", "dropdown", "card"))
_OBJECTS = frozenset((
    "attribute", "method", "class", "function", "exception", "data", "classmethod", "staticmethod", "property",
    "decorator", "decoratormethod", "describe", "object", "setting", "fieldlookup", "templatetag", "templatefilter",
    "django-admin", "django-admin-option", "option", "cmdoption", "envvar", "confval", "type", "macro", "struct",
    "enum", "enumerator", "member", "var", "event", "directive", "autoclass", "autofunction", "automethod",
    "autoexception", "abstractmethod", "coroutinefunction", "coroutinemethod", "opcode", "pdbcommand", "constant",
    "trait", "union",
))  # fmt: skip
_MARKERS = frozenset(("setting", "fieldlookup", "templatetag", "templatefilter", "django-admin", "envvar", "confval"))
"""Without a body they only mark the heading that follows."""
_FACTS = {"author": "author", "authors": "author", "date": "date", "language": "language", "copyright": "copyright"}


def _is_rst(source: str) -> bool:
    """Whether a plain text is written in reStructuredText: an underlined title, and a directive, target or role."""
    head = source[:20_000]
    lines = head.split("\n", 400)[:400]
    titled = any(
        len(under) >= 4 and _ADORNMENT.match(under.rstrip()) and line.strip() and len(line.rstrip()) <= len(under) + 1
        for line, under in pairwise(lines)
    )
    return titled and bool(re.search(r"^\.\. (?:[a-z][\w:-]*::|_[^\n:]+:)|:[a-z]+:`[^`\n]+`", head, re.MULTILINE))


def _is_under(line: str, title: str) -> bool:
    """An underline is as long as its title, or nearly: writers miscount."""
    return bool(_ADORNMENT.match(line)) and (len(line) >= len(title) or len(line) >= max(4, len(title) * 2 // 3))


# Lines that belong together by their indent


def _end_of_indent(lines: Sequence[str], start: int, *, blank: bool = True) -> int:
    """Where the indented lines from `start` on end; blank lines between them belong to them."""
    end = here = start
    while here < len(lines) and (lines[here].startswith(" ") or (blank and not lines[here])):
        here += 1
        if lines[here - 1]:
            end = here
    return end


def _dedented(lines: Sequence[str]) -> list[str]:
    indent = min((_indent(text) for text in lines if text), default=0)
    return [text[indent:] for text in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# Tables


def _closing_rules(lines: Sequence[str]) -> list[int]:
    """Where rules of `==== ====` stand with nothing below them: each ends a table."""
    return [
        number
        for number, text in enumerate(lines)
        if text.startswith("=") and not any(lines[number + 1 : number + 2]) and _RULE.match(text)
    ]


def _grid_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Rows of a table drawn with +, - and |: what stands between two rules, column by column."""
    row: list[list[str]] = []
    for text in lines:
        if text[0] == "+":
            if row:
                yield [" ".join(filter(None, cell)) for cell in row]
            row = []
            continue
        for number, cell in enumerate(text.strip("|").split("|")):
            if number >= len(row):
                row.append([])
            row[number].append(cell.strip())
    if row:
        yield [" ".join(filter(None, cell)) for cell in row]


def _simple_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Rows of a table whose columns stand under `=====`; a line with nothing in the first column goes on."""
    starts = [match.start() for match in re.finditer("=+", lines[0])]
    ends = [*starts[1:], None]
    row: list[str] = []
    for text in lines:
        if not text.strip("=- "):
            continue
        cells = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        if cells[0] or not row:
            if row:
                yield row
            row = cells
        else:
            row = [f"{above} {cell}".strip() for above, cell in zip(row, cells, strict=True)]
    if row:
        yield row


# Marks inside a line: roles, links, emphasis, literals, substitutions and escapes

_INLINE_MARKS = re.compile(
    r"``(?P<literal>[^\n]{1,1000}?)``(?![`\w])"
    r"|(?::(?P<role>[A-Za-z][\w:+.-]{0,40}):)?`(?P<quoted>[^`\n]{1,1000})`"
    r"(?:(?P<reference>__?)|:(?P<after>[A-Za-z][\w:+.-]{0,40}):)?"
    r"|(?<![\w*])\*\*(?P<strong>[^\s*][^*\n]{0,1000}?)(?<!\s)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*][^*\n]{0,1000}?)(?<!\s)\*(?![\w*])"
    r"|\|(?P<substitution>[^\s|][^|\n]{0,80})\|_{0,2}"
    r"|(?P<note>\[(?:\d{1,4}|[#*][\w-]{0,40})\]_)|\[(?P<citation>[A-Za-z][\w.-]{0,60})\]_"
    r"|(?<![\w.-])(?P<word>[A-Za-z0-9][\w.-]{0,80})__?(?![\w`])"
    r"|\\(?P<escaped>.)"
)
_LONG = 100_000
"""A paragraph longer than this is taken as it stands."""
_LABEL = re.compile(r"\.\. _([^:\n]{1,120}):(?: +(\S.*))?$")
_DEFINED = re.compile(r"\.\. \|([^|\n]{1,80})\| +(?:replace|unicode):: +(.*)$")
_PREFIXES = {"pep": "PEP ", "rfc": "RFC ", "ticket": "#", "issue": "#", "gh": "#", "cve": "CVE-", "commit": "commit "}
_PLAIN_ROLES = frozenset(("ref", "doc", "term", "numref", "any", "abbr", "sup", "sub", "emphasis", "strong", "std:ref"))


class _Inline:
    """Writes the text of a file's paragraphs. It knows the file's labels, link targets and substitutions."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._titles: dict[str, str] = {}
        self._targets: dict[str, str] = {}
        self._values: dict[str, str] = {}
        for number, line in enumerate(lines):
            text = line.lstrip()
            if match := _LABEL.match(text):
                name = _name(match[1])
                self._targets[name] = match[2] or ""
                if not match[2]:
                    self._titles[name] = next((each for each in lines[number + 1 : number + 8] if _is_title(each)), "")
            elif value := _DEFINED.match(text):
                self._values[value[1]] = value[2]

    def plain(self, text: str) -> str:
        """The text of one line without its marks."""
        builder = TextBuilder(1_000_000, flat=True)
        self.write(builder, text)
        return builder.plain()

    def write(self, builder: TextBuilder, text: str) -> None:
        if len(text) > _LONG:
            builder.text(text)
            return
        here = 0
        for match in _INLINE_MARKS.finditer(text):
            kind = match.lastgroup
            if kind == "word" and _name(match["word"]) not in self._targets:
                continue
            builder.text(text[here : match.start()])
            here = match.end()
            if match["quoted"] is not None:
                self._quoted(builder, match["role"] or match["after"] or "", match["quoted"])
            elif match["substitution"] is not None:
                builder.text(self._values.get(match["substitution"], match["substitution"]))
            elif match["escaped"] is not None:
                builder.text(match["escaped"].strip())
            elif kind == "word":
                self._link(builder, match["word"], self._targets[_name(match["word"])])
            elif kind == "literal":
                builder.code(match["literal"])
            elif kind and kind != "note":
                builder.text(match[kind])
        builder.text(text[here:])

    def _quoted(self, builder: TextBuilder, role: str, text: str) -> None:
        """What stands in backticks: `shown <target>`, a name with a role, or the name of a target."""
        text = text.replace("\\ ", "").replace("\\", "")
        shown, _, target = text.rpartition("<")
        short = role.rpartition(":")[2]
        if shown.strip() and text.endswith(">") and role not in ("code", "math", "samp", "file", "kbd"):
            self._link(builder, shown.strip(), target[:-1] if not role or short == "doc" else "")
        elif short == "doc":
            self._link(builder, text.strip("/").rpartition("/")[2].replace("-", " "), text)
        elif short in ("ref", "numref", "any"):
            builder.text(self.plain(self._titles.get(_name(text), "")) or text.replace("-", " "))
        elif short in _PREFIXES:
            builder.text(_PREFIXES[short] + text)
        elif not role:
            self._link(builder, text, self._targets.get(_name(text), ""))
        elif short in _PLAIN_ROLES:
            builder.text(text)
        else:  # names of code, as nearly all roles
            builder.code(text[1:].rpartition(".")[2] if text.startswith("~") else text.lstrip("!~.@"))

    def _link(self, builder: TextBuilder, text: str, target: str) -> None:
        mark = builder.mark()
        builder.text(text)
        builder.link(mark, article_of(target.strip("`").removesuffix("_")) if target else "", target)


def _name(text: str) -> str:
    return " ".join(text.strip("`").lower().split())


def _is_title(line: str) -> bool:
    return bool(line) and not line.startswith((" ", "..")) and not re.match(r"(\W)\1*$", line)
