"""What generators of sites add to Markdown (MkDocs, Docusaurus, GitHub, MyST), made into plain Markdown line by line.

Admonitions and tabs become their label and their text, marks that only a generator reads (includes, attributes, ids of
headings) go. The number of lines stays, so that places in the file stay true. Code is left as it is.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t]{0,40}(`{3,}|~{3,})")
_INDENTED = re.compile(r"([ \t]{0,40})(?:!!!|\?\?\?\+?|===[!+]?)[ \t]+(.{1,200})$")
"""`!!! note "Title"`, `??? tip`, `=== "Tab"`: what belongs to it is indented by four."""
_FENCED = re.compile(r"([ \t]{0,40})(?::{3,6}|/{3,6})[ \t]*\{?([A-Za-z][\w-]{0,40})(?![\w.])\}?[ \t]*(.{0,200})$")
"""`:::tip Title`, `:::{note}`, `/// warning | Title`: what belongs to it stands before a line of the same sign."""
_FENCED_END = re.compile(r"[ \t]{0,40}(?::{3,6}|/{3,6})[ \t]*$")
_ALERT = re.compile(r"([ \t]{0,40}>[ \t]?)\[!(\w{1,20})\][+-]?[ \t]*(.{0,200})$")
_UNREAD = re.compile(
    r"[ \t]{0,40}(?:\{\*.{0,300}\*\}|\{!.{0,300}!\}|\{%.{0,300}%\}|\{\{[<%].{0,300}[%>]\}\}|\{:.{0,300}\}"
    r"|-{1,4}8<-{1,4}.{0,300}|import [^'\"]{1,200} from ['\"].{1,200}['\"];?)[ \t]*$"
)
"""Includes, macros and attributes that stand alone on a line."""
_ATTRIBUTES = re.compile(r"(?<=[)\]])\{[ \t]{0,4}(?::|[.#][\w-]+|[\w-]+=)[^{}]{0,200}\}")
_ID = re.compile(r"[ \t]*\{:?[ \t]{0,4}[#.][^{}]{0,200}\}[ \t]*$")
_HANDLE = re.compile(r"[ \t]*\[(?:¶|#|§|🔗|)\]\(#[^()\s]{0,200}\)[ \t]*$")
_QUOTED = re.compile(r"(.{0,100}?)[ \t]*\"(.{0,200})\"[ \t]*$")
_BARE = frozenset(("tab", "details", "detail", "tabs", "tab-item", "html"))
"""Kinds that say nothing about their text."""


def plain_markdown(source: str) -> str:
    """The source with a generator's marks made plain; as many lines as before."""
    lines: list[str] = []
    indents: list[int] = []
    fence = ""
    for written in source.split("\n"):
        own = len(written) - len(written.lstrip(" "))
        while indents and not fence and written.strip() and own - 4 * (len(indents) - 1) < indents[-1] + 4:
            indents.pop()
        line = written[min(own, 4 * len(indents)) :]
        opened, indented = _FENCE.match(line), _INDENTED.match(line)
        if fence:
            ends = opened is not None and opened[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if ends else fence
        elif opened:
            fence = opened[1]
        elif indented:
            indents.append(len(indented[1]))
            line = _labelled(indented[1], *_kind_and_title(indented[2]))
        else:
            line = _plain_line(line)
        lines.append(line)
    return "\n".join(lines)


def plain_heading(content: str) -> str:
    """A heading without its id, classes and handle."""
    return _HANDLE.sub("", _ID.sub("", content))


def _plain_line(line: str) -> str:
    if _FENCED_END.match(line) or _UNREAD.match(line):
        return ""
    if fenced := _FENCED.match(line):
        return _labelled(fenced[1], fenced[2], fenced[3].strip().strip("|[]").strip())
    if alert := _ALERT.match(line):
        return _labelled(alert[1], alert[2].lower(), alert[3])
    if "{" not in line:
        return line
    return "`".join(part if i % 2 else _ATTRIBUTES.sub("", part) for i, part in enumerate(line.split("`")))


def _labelled(indent: str, kind: str, title: str) -> str:
    """A line of its own: two blanks at the end keep what follows off it."""
    kind = "" if kind.lower() in _BARE else kind.replace("-", " ").capitalize()
    label = ": ".join(filter(None, (kind, title))) if title.casefold() != kind.casefold() else kind
    return f"{indent}{label}  " if label else ""


def _kind_and_title(rest: str) -> tuple[str, str]:
    quoted = _QUOTED.match(rest)
    kinds, title = (quoted[1], quoted[2]) if quoted else (rest, "")
    return (kinds.split() or [""])[0], title
