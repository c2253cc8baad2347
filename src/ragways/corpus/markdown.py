"""Markdown (.md, .markdown): front matter, headings, links between files, lists, tables and code."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragways.core.dates import iso_date
from ragways.core.text import clean
from ragways.core.types import Document
from ragways.corpus.builder import Mark, TextBuilder
from ragways.corpus.markdown_marks import plain_heading, plain_markdown
from ragways.corpus.source import LoadOptions, SourceFile, article_of, read_text
from ragways.corpus.text import write_plain

_LONG_INLINE = 100_000
"""A paragraph longer than this is taken as it stands: hostile marks cost up to 30 µs each."""
_LONG_SOURCE = 2_000_000
"""A file longer than this is read as plain text."""
_MANY_LINES = 20_000
"""A file of more lines, or twice as many cells of tables, is read as plain text, too: a line may cost 0.1 ms."""
_BADGE = re.compile(r"badge|shields\.io|badgen\.net|travis-ci|coveralls|codecov", re.IGNORECASE)
"""Addresses of pictures that show the state of a project and not what the text is about."""
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,1000}>")


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    yield markdown_document(source, file, options, metadata)


def markdown_document(source: str, file: SourceFile, options: LoadOptions, metadata: dict[str, str]) -> Document:
    """Markdown as a document; without a title it has the file's name."""
    facts, body = front_matter(source)
    writer = _Writer(TextBuilder(options.max_text), plain_heading(facts.pop("title", "")))
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
        self._lists = 0
        self._heading: Mark | None = None
        self._links: list[tuple[Mark, str]] = []
        self._tokens: list[Token] = []
        self._above = 0
        self._line = 0

    def write(self, source: str, above: int) -> None:
        """Write what stands below so many lines of front matter."""
        self._above = above
        if len(source) > _LONG_SOURCE or source.count("\n") + source.count("|") // 2 > _MANY_LINES:
            write_plain(self.builder, source, line=above + 1)
            return
        self._parser, self._tokens = _blocks(plain_markdown(source))
        for heading, content in pairwise(self._tokens):
            if heading.type == "heading_open":
                content.content = plain_heading(content.content)
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

    def _block(self, token: Token) -> None:
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
            self._break()
            self._lists += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._lists -= 1
            self._break()
        elif token.type in ("paragraph_open", "blockquote_open", "blockquote_close", "list_item_open"):
            self._break()
        elif token.type in ("fence", "code_block"):
            self.builder.preformatted(token.content, line=self._line + (token.type == "fence"))
        elif token.type == "html_block":
            self._break()
            if not token.content.lstrip().lower().startswith(("<style", "<script")):
                self.builder.text(_without_tags(token.content))

    def _at(self, line: int) -> None:
        self._line = line
        self.builder.at(line=line)

    def _break(self) -> None:
        if self._lists:
            self.builder.line()
        else:
            self.builder.paragraph()

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
        if token.type in ("text", "code_inline", "text_special", "image"):
            self.builder.text(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            self._at(self._line + 1)
            if token.type == "softbreak":
                self.builder.space()
            else:
                self.builder.line()
        elif token.type == "link_open":
            self._links.append((self.builder.mark(), article_of(str(token.attrGet("href") or ""))))
        elif token.type == "link_close" and self._links:
            mark, target = self._links.pop()
            self.builder.link(mark, clean(target))
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
    "table_open": TextBuilder.paragraph,
    "table_close": TextBuilder.paragraph,
    "hr": TextBuilder.paragraph,
    "tr_open": TextBuilder.row,
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
