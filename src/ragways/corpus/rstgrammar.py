"""The grammar of reStructuredText's lines: what a line begins, which lines belong together, the directives that are
known, and the rows of tables.

Nothing here writes text: `rst.py` does, by what is told apart here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+$")
DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]+\| +)?([A-Za-z][\w:+.-]{0,60}?) ?::(?: +(.*))?$")
EXPLICIT = re.compile(r"\.\.(?: |$)")
NOTE = re.compile(r"\.\. +\[([^\]\n]{1,80})\] *(.*)$")
OPTION = re.compile(r":([A-Za-z][\w .-]{0,60}):(?: +(.*))?$")
FIELD = re.compile(r":((?! )[^:\n]{1,120}):(?: +(.*))?$")
ITEM = re.compile(r"(?:[*+\-•‣]|\(?(?:\d{1,4}|#|[A-Za-z]|[ivxIVX]{1,6})[.)])(?: +|$)")
RULE = re.compile(r"=+(?: +=+)+ *$")
GRID = re.compile(r"\+(?:[-=]+\+)+ *$")

SILENT = frozenset((
    "toctree", "contents", "sectnum", "index", "currentmodule", "py:currentmodule", "module", "py:module", "highlight",
    "default-role", "role", "include", "literalinclude", "raw", "meta", "image", "sectionauthor", "codeauthor",
    "program", "tabularcolumns", "rst-class", "default-domain", "header", "footer", "target-notes", "graphviz",
    "digraph", "title", "automodule", "autosummary", "plot", "bibliography", "spelling", "unicode", "date", "replace",
    "ifconfig",
))  # fmt: skip
CODE = frozenset((
    "code-block", "code", "sourcecode", "console", "parsed-literal", "doctest", "testcode", "testoutput", "testsetup",
    "productionlist", "prompt", "ipython", "math", "mermaid", "highlight-code", "command-output", "jupyter-execute",
))  # fmt: skip
LABELLED = {
    **{name: name.capitalize() for name in ("note", "warning", "tip", "important", "hint", "caution", "danger", "error",
                                            "attention", "todo")},
    "seealso": "See also", "versionadded": "Added in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "versionremoved": "Removed in version",
}  # fmt: skip
TITLED = frozenset(("admonition", "topic", "sidebar", "rubric", "centered", "tab", "tab-item", "dropdown", "card"))
OBJECTS = frozenset((
    "attribute", "method", "class", "function", "exception", "data", "classmethod", "staticmethod", "property",
    "decorator", "decoratormethod", "describe", "object", "setting", "fieldlookup", "templatetag", "templatefilter",
    "django-admin", "django-admin-option", "option", "cmdoption", "envvar", "confval", "type", "macro", "struct",
    "enum", "enumerator", "member", "var", "event", "directive", "autoclass", "autofunction", "automethod",
    "autoexception", "abstractmethod", "coroutinefunction", "coroutinemethod", "opcode", "pdbcommand", "constant",
    "trait", "union",
))  # fmt: skip
MARKERS = frozenset(("setting", "fieldlookup", "templatetag", "templatefilter", "django-admin", "envvar", "confval"))
"""Without a body they only mark the heading that follows."""
FACTS = {"author": "author", "authors": "author", "date": "date", "language": "language", "copyright": "copyright"}


def is_rst(source: str) -> bool:
    """Whether a plain text is written in reStructuredText: an underlined title, and a directive, target or role."""
    head = source[:20_000]
    lines = head.split("\n", 400)[:400]
    titled = any(
        len(under) >= 4 and ADORNMENT.match(under.rstrip()) and line.strip() and len(line.rstrip()) <= len(under) + 1
        for line, under in pairwise(lines)
    )
    return titled and bool(re.search(r"^\.\. (?:[a-z][\w:-]*::|_[^\n:]+:)|:[a-z]+:`[^`\n]+`", head, re.MULTILINE))


def is_under(line: str, title: str) -> bool:
    """An underline is as long as its title, or nearly: writers miscount."""
    return bool(ADORNMENT.match(line)) and (len(line) >= len(title) or len(line) >= max(4, len(title) * 2 // 3))


# Lines that belong together by their indent


def end_of_indent(lines: Sequence[str], start: int, *, blank: bool = True) -> int:
    """Where the indented lines from `start` on end; blank lines between them belong to them."""
    end = here = start
    while here < len(lines) and (lines[here].startswith(" ") or (blank and not lines[here])):
        here += 1
        if lines[here - 1]:
            end = here
    return end


def dedented(lines: Sequence[str]) -> list[str]:
    indent = min((_indent(text) for text in lines if text), default=0)
    return [text[indent:] for text in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# Tables


def closing_rules(lines: Sequence[str]) -> list[int]:
    """Where rules of `==== ====` stand with nothing below them: each ends a table."""
    return [
        number
        for number, text in enumerate(lines)
        if text.startswith("=") and not any(lines[number + 1 : number + 2]) and RULE.match(text)
    ]


def grid_rows(lines: Sequence[str]) -> Iterator[list[str]]:
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


def simple_rows(lines: Sequence[str]) -> Iterator[list[str]]:
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
