"""Markdown (.md, .markdown), with front matter and the marks of site generators, and notebooks (.ipynb) of it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import clean, normal_lines
from ragways.core.types import Document
from ragways.corpus.builder import UNTITLED, Mark, TextBuilder
from ragways.corpus.source import LoadOptions, SourceFile, article_of, read_text

_LONG_INLINE = 100_000
"""A paragraph longer than this is taken as it stands: hostile marks cost up to 30 µs each."""
_LONG_SOURCE = 2_000_000
"""A file longer than this is read as plain text."""
_MANY_LINES = 20_000
"""A file of more lines, or twice as many cells of tables, is read as plain text, too: a line may cost 0.1 ms."""
_BADGE = re.compile(r"badge|shields\.io|badgen\.net|travis-ci|coveralls|codecov", re.IGNORECASE)
"""Addresses of pictures that show the state of a project and not what the text is about."""
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,1000}>")


def load_markdown(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    yield markdown_document(source, file, options, metadata)


def markdown_document(source: str, file: SourceFile, options: LoadOptions, metadata: dict[str, str]) -> Document:
    """Markdown as a document; without a title it has the file's name."""
    facts, body = front_matter(source)
    writer = _Writer(TextBuilder(options.max_text), _plain_heading(facts.pop("title", "")))
    writer.write(body, source.count("\n", 0, len(source) - len(body)))
    return writer.builder.document(file.key, writer.title or file.stem, "markdown", {**facts, **metadata})


def _blocks(source: str) -> tuple[MarkdownIt, list[Token]]:
    """Only the blocks: inline content is parsed piece by piece, where its length allows it."""
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser, parser.parse(source)


class _Writer:
    def __init__(self, builder: TextBuilder, title: str) -> None:
        self.builder = builder
        self.title = title
        self._heading: Mark | None = None
        self._links: list[tuple[Mark, str]] = []
        self._tokens: list[Token] = []
        self._table = Mark(), 0
        self._named = False
        self._above = 0
        self._line = 0

    def write(self, source: str, above: int) -> None:
        """Write what stands below so many lines of front matter."""
        self._above = above
        if len(source) > _LONG_SOURCE or source.count("\n") + source.count("|") // 2 > _MANY_LINES:
            self.builder.plain_text(source, line=above + 1)
            return
        self._parser, self._tokens = _blocks(_plain_markdown(source))
        for heading, content in pairwise(self._tokens):
            if heading.type == "heading_open":
                content.content = _plain_heading(content.content)
        self._take_title()
        for token in self._tokens:
            self._block(token)

    def _take_title(self) -> None:
        """The first level-1 heading is the title if it comes first or is the only one."""
        places = [i for i, token in enumerate(self._tokens) if token.type == "heading_open" and token.tag == "h1"]
        if not places or (places[0] != 0 and len(places) > 1):
            return
        heading = " ".join(self._plain(self._tokens[places[0] + 1].content).split())
        if not self.title or self.title.casefold() == heading.casefold():
            self.title = self.title or heading
            del self._tokens[places[0] : places[0] + 3]

    def _plain(self, content: str) -> str:
        builder = TextBuilder(1_000_000, flat=True)
        outer, self.builder = self.builder, builder
        self._content(content)
        self.builder = outer
        return builder.plain()

    def _block(self, token: Token) -> None:  # noqa: PLR0912 - a kind of token a branch
        if token.map and token.nesting >= 0:
            self._at(self._above + token.map[0] + 1)
        simple = _BLOCKS.get(token.type)
        if simple is not None:
            simple(self.builder)
        elif token.type == "inline":
            self._content(token.content)
        elif token.type == "heading_open":
            self._heading = self.builder.block()
            self.builder.flat()
        elif token.type == "heading_close" and self._heading:
            self.builder.unflat()
            self.builder.heading(self._heading, int(token.tag[1]))
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            self.builder.separate()
            self.builder.begin_list()
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self.builder.end_list()
            self.builder.separate()
        elif token.type in ("paragraph_open", "blockquote_open", "blockquote_close"):
            self.builder.separate()
        elif token.type == "list_item_open":
            self.builder.separate()
            self.builder.item(f"{token.info}{token.markup}" if token.info else "-")
        elif token.type in ("fence", "code_block"):
            first = self._line + (token.type == "fence")
            self.builder.preformatted(token.content, line=first, language=token.info.partition(" ")[0])
        elif token.type in ("table_open", "thead_close", "table_close"):
            self._table_border(token.type)
        elif token.type == "html_block":
            self.builder.separate()
            if not token.content.lstrip().lower().startswith(("<style", "<script")):
                self.builder.text(_without_tags(token.content))

    def _table_border(self, border: str) -> None:
        if border == "table_open":
            self._table = self.builder.begin_table(), self.builder.length
        elif border == "thead_close":
            self._named = self.builder.length > self._table[1]
        else:
            self.builder.end_table(self._table[0], header=self._named)

    def _at(self, line: int) -> None:
        self._line = line
        self.builder.at(line=line)

    def _content(self, content: str) -> None:
        if len(content) > _LONG_INLINE:
            self.builder.text(content)
            return
        children: list[Token] = []
        self._parser.inline.parse(content, self._parser, {}, children)
        for token in children:
            self._inline(token)
        self._links.clear()

    def _inline(self, token: Token) -> None:
        if token.type == "image" and _BADGE.search(str(token.attrGet("src") or "")):
            return
        if token.type in ("text", "text_special", "image"):
            self.builder.text(token.content)
        elif token.type == "code_inline":
            self.builder.code(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            self._at(self._line + 1)
            if token.type == "softbreak":
                self.builder.space()
            else:
                self.builder.line()
        elif token.type == "link_open":
            self._links.append((self.builder.mark(), clean(str(token.attrGet("href") or ""))))
        elif token.type == "link_close" and self._links:
            mark, address = self._links.pop()
            self.builder.link(mark, clean(article_of(address)), address)
        elif token.type == "html_inline" and token.content.lower().startswith("<br"):
            self.builder.line()


def _without_tags(source: str) -> str:
    """HTML inside Markdown as its text. Comments go by cutting, not by a pattern: that stays linear."""
    first, *others = source.split("<!--")
    visible = first + "".join(part.partition("-->")[2] for part in others)
    return html.unescape(_TAG.sub(" ", visible))


def _cell(builder: TextBuilder) -> None:
    builder.cell()
    builder.flat()


_BLOCKS: dict[str, Callable[[TextBuilder], None]] = {
    "hr": TextBuilder.paragraph,
    "tr_open": TextBuilder.line,
    "td_open": _cell,
    "th_open": _cell,
    "td_close": TextBuilder.unflat,
    "th_close": TextBuilder.unflat,
}


# Front matter: the `key: value` lines between two `---` at the top, read by hand and bounded

_MAX_LINES = 200
_MAX_KEYS = 40
_NAMES = {"authors": "author", "lang": "language", "tags": "category", "categories": "category", "link": "url",
          "published": "date", "publisher": "source", "pubdate": "date", "published_at": "date"}  # fmt: skip


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The facts and the text that follows them. Without a closing line there is no front matter."""
    text = text.removeprefix("\ufeff")
    if not text.startswith(("---\n", "---\r\n")):
        return {}, text
    lines = text[:40_000].split("\n", _MAX_LINES)[:_MAX_LINES]
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return {}, text
    rest = text[sum(len(line) + 1 for line in lines[: end + 1]) :]
    return _facts(lines[1:end]), rest


def _facts(lines: list[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    last = ""
    for line in lines:
        entry = line.strip()
        if entry.startswith("- ") and last:
            facts[last] = "; ".join(filter(None, (facts[last], _plain(entry[2:]))))
        elif ":" in entry and not line[:1].isspace() and not entry.startswith("#") and len(facts) < _MAX_KEYS:
            key, _, value = entry.partition(":")
            last = _NAMES.get(key.strip().lower(), key.strip().lower())
            facts.setdefault(last, _plain(value))
    if "date" in facts:
        facts["date"] = iso_date(facts["date"])
    return facts


def _plain(value: str) -> str:
    """A scalar without its quotes, or a list in brackets with its entries joined."""
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return "; ".join(filter(None, (_plain(part) for part in value[1:-1].split(",")[:50])))
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return "" if value in ("|", ">", "null", "~") else value


# Marks that site generators (MkDocs, Docusaurus, GitHub, MyST) add to Markdown, made plain line by line
#
# Admonitions and tabs become their label and their text; includes, attributes and ids of headings are removed. The
# number of lines stays, so that line numbers stay true. Code is left as it is.

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
_TITLE_IN_QUOTES = re.compile(r"(.{0,100}?)[ \t]*\"(.{0,200})\"[ \t]*$")
_BARE = frozenset(("tab", "details", "detail", "tabs", "tab-item", "html"))
"""Kinds that say nothing about their text."""


def _plain_markdown(source: str) -> str:
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


def _plain_heading(content: str) -> str:
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
    quoted = _TITLE_IN_QUOTES.match(rest)
    kinds, title = (quoted[1], quoted[2]) if quoted else (rest, "")
    return (kinds.split() or [""])[0], title


# Notebooks: cells in order, Markdown as prose, code as it stands, and the first lines of its output

_MAX_OUTPUT = 10
"""Lines of an output that are read."""


def load_notebook(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    """Cells in order; the number of a cell, counted from 1, is its page."""
    source, metadata = read_text(file, options.max_bytes)
    try:
        book = json.loads(source)
    except ValueError as error:
        raise LoadError("is no notebook: not valid JSON", "check that it is whole") from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise LoadError("is no notebook", "save it in format 4 of Jupyter")
    builder = TextBuilder(options.max_text)
    title, language = "", _language_of(book)
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        builder.at(page=number)
        text = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            prose = markdown_document(text, SourceFile(Path(UNTITLED), file.key), options, {})
            if not title and not builder.length and prose.title != UNTITLED:
                title, prose = prose.title, replace(prose, title=UNTITLED)
            builder.append(prose)
        elif cell.get("cell_type") == "code":
            builder.preformatted(text, language=language)
            _outputs(builder, cell.get("outputs"))
    yield builder.document(file.key, title or file.stem, "notebook", metadata)


def _language_of(book: dict[str, Any]) -> str:
    """The language that a notebook's kernel runs."""
    about = book.get("metadata")
    kernel = about.get("kernelspec") if isinstance(about, dict) else None
    return str(kernel.get("language") or "") if isinstance(kernel, dict) else ""


def _outputs(builder: TextBuilder, outputs: object) -> None:
    for output in outputs[:20] if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        text = _joined(output.get("text") or (data.get("text/plain") if isinstance(data, dict) else ""))
        lines = [line[:500] for line in normal_lines(text) if line.strip()]
        if lines:
            builder.preformatted("\n".join(["Output:", *lines[:_MAX_OUTPUT], *(["…"] if lines[_MAX_OUTPUT:] else [])]))


def _joined(value: object) -> str:
    """A text, or the list of its lines as notebooks keep it."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
