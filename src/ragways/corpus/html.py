"""Web pages (.html, .htm): the text of their content (`page_content.py`) with headings, tables and links to files."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import one_line
from ragways.core.types import Document
from ragways.corpus.builder import Mark, TextBuilder
from ragways.corpus.page_content import PageContent
from ragways.corpus.source import LoadOptions, SourceFile, article_of, decode, read_all

_BLOCKS = frozenset((
    "p", "div", "section", "article", "main", "header", "footer", "aside", "blockquote", "figure", "figcaption", "ul",
    "ol", "dl", "form", "fieldset", "address", "details", "summary", "hr", "center", "body", "table", "caption",
))  # fmt: skip
_LINES = frozenset(("li", "dt", "dd", "br"))
_LISTS = frozenset(("ul", "ol", "dl"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:\-]{1,40})", re.IGNORECASE)
_NESTING = re.compile(
    r"<(/?)(?!(?:p|li|t[drh]|d[td]|br|hr|img|input|meta|link|wbr|col|area|base|option|source|embed|param|tbody|thead|"
    r"tfoot|colgroup|rt|rp|optgroup|track|font)\b)([a-z]{1,20})",
    re.IGNORECASE,
)
_MAX_DEPTH = 10_000
_MAX_ATTRIBUTES = 250
_ATTRIBUTE = r"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+))?+"
_ATTRIBUTES = re.compile(rf"<[a-zA-Z][^\s/>]*+(?:{_ATTRIBUTE}){{0,{_MAX_ATTRIBUTES}}}+({_ATTRIBUTE})?")
_FACTS = {
    "author": "author", "article:author": "author", "dc.creator": "author", "date": "date", "dc.date": "date",
    "dcterms.date": "date", "dcterms.created": "date", "datepublished": "date", "article:published_time": "date",
    "article:modified_time": "modified", "last-modified": "modified", "docbuild:last-update": "modified",
    "og:site_name": "source", "article:section": "category", "keywords": "category", "og:url": "url",
}  # fmt: skip
_SEPARATORS = re.compile(r"\s+[|\-–—·•:»«/]+\s+|:\s+")


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    yield html_document(read_all(file, options.max_bytes), file, options)


def html_document(data: bytes, file: SourceFile, options: LoadOptions) -> Document:
    """A page as a document; without a title it has the file's name."""
    source, metadata = _decoded(data)
    _check_depth(source)
    _check_attributes(source)
    tree = LexborHTMLParser(source)
    builder, facts, title = TextBuilder(options.max_text), _facts(tree), ""
    if tree.body is not None:
        content = PageContent(tree, tree.body)
        facts = {"date": _date_in(content), **facts}
        writer = _Writer(builder, content)
        title = writer.take_title(tree, facts.get("source", ""))
        writer.write(content.root)
    return builder.document(file.key, title or file.stem, "html", {**facts, **metadata})


def _check_depth(source: str) -> None:
    """The parser is quadratic in the depth of nesting. Tags that end by themselves do not nest."""
    open_tags: Counter[str] = Counter()
    depth = 0
    for match in _NESTING.finditer(source):
        name = match[2].lower()
        step = 1 if not match[1] else -min(1, open_tags[name])
        open_tags[name] += step
        depth += step
        if depth > _MAX_DEPTH:
            raise LoadError("is nested too deep")


def _check_attributes(source: str) -> None:
    """The parser is quadratic in the attributes of one tag."""
    if any(match[1] for match in _ATTRIBUTES.finditer(source)):
        raise LoadError(f"has a tag with more than {_MAX_ATTRIBUTES} attributes")


def _decoded(data: bytes) -> tuple[str, dict[str, str]]:
    """By byte order mark, then by what the page declares, then as any text."""
    declared = _CHARSET.search(data[:4096])
    if declared and not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = declared[1].decode("ascii").lower()
        try:
            if name not in ("utf-8", "utf8", "utf-16", "utf-7") and b"\0" not in data:
                return data.decode(codecs.lookup(name).name, "strict"), {"encoding": name}
        except (LookupError, ValueError, TypeError):
            pass  # a wrong declaration is common; the bytes decide
    return decode(data)


def _facts(tree: LexborHTMLParser) -> dict[str, str]:
    facts: dict[str, str] = {}
    for node in tree.css("meta")[:200]:
        given = (node.attributes.get(kind) for kind in ("name", "property", "itemprop", "http-equiv"))
        name = next(filter(None, given), "").lower()
        if name in _FACTS:
            facts.setdefault(_FACTS[name], node.attributes.get("content") or "")
    root, canonical = tree.css_first("html"), tree.css_first("link[rel=canonical]")
    if root is not None:
        facts["language"] = root.attributes.get("lang") or ""
    if canonical is not None:
        facts["url"] = canonical.attributes.get("href") or facts.get("url", "")
    for name in facts.keys() & {"date", "modified"}:
        facts[name] = iso_date(facts[name])
    return {name: value for name, value in facts.items() if value}


def _date_in(content: PageContent) -> str:
    """The first time that the content marks as one, which is where articles say when they were written."""
    node = content.root.css_first("time[datetime]")
    return iso_date(node.attributes.get("datetime") or "") if node is not None else ""


class _Writer:
    """Walks the tree with a stack of its own, so that no depth of nesting can exhaust Python's."""

    def __init__(self, builder: TextBuilder, content: PageContent) -> None:
        self.builder = builder
        self._content = content
        self._lists = 0
        self._title_heading = -1
        self._marks: dict[int, tuple[Mark, str]] = {}

    def take_title(self, tree: LexborHTMLParser, site: str) -> str:
        """The page's title; a first heading that it repeats is the better form of it, and leaves the text.

        Without such a heading, the site's name goes from its end where the page says what that is.
        """
        title_node, heading_node = tree.css_first("head > title, title"), self._content.heading()
        title = one_line(title_node.text(deep=True), 300) if title_node is not None else ""
        first, *others = _SEPARATORS.split(title)
        if heading_node is not None:
            heading = one_line(self._content.text(heading_node), 300)
            known, plain = title.casefold(), heading.casefold()
            agrees = plain in known if heading_node.tag == "h1" else plain in (known, first.casefold())
            if not title or agrees or plain.endswith(f" {known}"):
                self._title_heading = heading_node.mem_id
                return heading
        return first if len(others) == 1 and others[0].casefold() == site.casefold() else title

    def write(self, body: LexborNode) -> None:
        pending: list[tuple[LexborNode, bool]] = [(body, False)]
        while pending:
            node, leaving = pending.pop()
            if leaving:
                self._leave(node, node.tag or "")
                continue
            tag = node.tag or ""
            if tag == "-text":
                self.builder.text(node.text_content or "")
            elif tag and tag[0] not in "-!" and not self._left_out(node):
                pending.append((node, True))
                if tag == "pre":
                    self.builder.preformatted(self._content.text(node))
                    continue
                self._enter(node, tag)
                children = []
                child = node.child
                while child is not None:
                    children.append((child, False))
                    child = child.next
                pending.extend(reversed(children))

    def _left_out(self, node: LexborNode) -> bool:
        return node.mem_id == self._title_heading or self._content.leaves_out(node)

    def _break(self) -> None:
        if self._lists:
            self.builder.line()
        else:
            self.builder.paragraph()

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag in _HEADINGS:
            self._marks[node.mem_id] = (self.builder.block(), "")
            self.builder.flat()
        elif tag in _LINES:
            self.builder.line()
        elif tag == "tr":
            self.builder.row()
        elif tag in ("td", "th"):
            self._cell(node)
        elif tag == "a":
            self._marks[node.mem_id] = (self.builder.mark(), article_of(node.attributes.get("href") or ""))
        elif tag in _BLOCKS:
            self._break()
            self._lists += tag in _LISTS
        elif tag == "img":
            self.builder.text(f" {node.attributes.get('alt') or ''} ")

    def _cell(self, node: LexborNode) -> None:
        """Cells that hold headings or tables lay out a page; only the others are cells of a table."""
        if not self.builder.is_flat and node.css_first("table, pre, h1, h2, h3, h4, p + p") is not None:
            self.builder.paragraph()
            return
        self.builder.cell()
        self.builder.flat()
        self._marks[node.mem_id] = (Mark(), "cell")

    def _leave(self, node: LexborNode, tag: str) -> None:
        if tag in _HEADINGS:
            mark, _ = self._marks.pop(node.mem_id)
            self.builder.unflat()
            self.builder.heading(mark, int(tag[1]))
        elif tag in ("td", "th"):
            if self._marks.pop(node.mem_id, None):
                self.builder.unflat()
        elif tag == "a":
            mark, target = self._marks.pop(node.mem_id)
            self.builder.link(mark, target)
        elif tag in _BLOCKS:
            self._lists -= tag in _LISTS
            self._break()
        elif tag in _LINES and tag != "br":
            self.builder.line()
