"""Web pages (.html, .htm): the text of their content with headings, tables and links to files.

The content is the page's `main` or only `article`. A page that marks neither is judged part by part: by tags, roles and
class names, and by how much of a part's text is links. Parts are left out, never cut up; where little would be left,
the page is read with its lists of links, and where nothing would be, whole.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import one_line
from ragways.core.types import Document
from ragways.corpus.builder import Mark, TextBuilder
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


def load_html(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    yield html_document(read_all(file, options.max_bytes), file, options)


def html_document(data: bytes, file: SourceFile, options: LoadOptions) -> Document:
    """A page as a document; without a title it has the file's name."""
    source, metadata = _decoded(data)
    _check_depth(source)
    _check_attributes(source)
    tree = LexborHTMLParser(source)
    builder, facts, title = TextBuilder(options.max_text), _facts(tree), ""
    if tree.body is not None:
        content = _PageContent(tree, tree.body)
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


def _date_in(content: _PageContent) -> str:
    """The first time that the content marks as one, which is where articles say when they were written."""
    node = content.root.css_first("time[datetime]")
    return iso_date(node.attributes.get("datetime") or "") if node is not None else ""


_LAYOUT = "table table, pre, h1, h2, h3, h4, p + p"
"""What is in tables, or in cells of tables, that lay out a page."""
_CODE_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight(?:-source)?|brush:)-?\s?([A-Za-z0-9+#]{1,20})(?=\s|$)")


def _language(node: LexborNode) -> str:
    """The language of a block of code, by the classes of the block, of what is in it and of what is around it."""
    for each in (node, node.css_first("code"), node.parent, node.parent and node.parent.parent):
        if each is not None and (found := _CODE_LANGUAGE.search(each.attributes.get("class") or "")):
            return "" if found[1] in ("default", "none", "text") else found[1]
    return ""


class _Writer:
    """Walks the tree with a stack of its own, so that no depth of nesting can exhaust Python's."""

    def __init__(self, builder: TextBuilder, content: _PageContent) -> None:
        self.builder = builder
        self._content = content
        self._title_heading = -1
        self._marks: dict[int, tuple[Mark, str]] = {}

    def take_title(self, tree: LexborHTMLParser, site: str) -> str:
        """The page's title; a first heading that it repeats is the better form of it, and leaves the text.

        Without such a heading, the site's name is removed from its end where the page names its site.
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
                    self.builder.preformatted(self._content.text(node), language=_language(node))
                    continue
                self._enter(node, tag)
                pending.extend((child, False) for child in _children(node))

    def _left_out(self, node: LexborNode) -> bool:
        return node.mem_id == self._title_heading or self._content.leaves_out(node)

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag in _HEADINGS:
            self._marks[node.mem_id] = (self.builder.block(), "")
            self.builder.flat()
        elif tag in _LINES or tag == "tr":
            self.builder.line()
            if tag == "li":
                self.builder.item("1." if node.parent is not None and node.parent.tag == "ol" else "-")
        elif tag == "code":
            self._marks[node.mem_id] = (self.builder.mark(), "code")
        elif tag == "table" and node.css_first(_LAYOUT) is None:
            self._marks[node.mem_id] = (self.builder.begin_table(), "table")
        elif tag in ("td", "th"):
            self._cell(node)
        elif tag == "a":
            self._marks[node.mem_id] = (self.builder.mark(), node.attributes.get("href") or "")
        elif tag in _BLOCKS:
            self.builder.separate()
            if tag in _LISTS:
                self.builder.begin_list()
        elif tag == "img":
            self.builder.text(f" {node.attributes.get('alt') or ''} ")

    def _cell(self, node: LexborNode) -> None:
        """Cells that hold headings or tables lay out a page; only the others are cells of a table."""
        if not self.builder.is_flat and node.css_first(_LAYOUT) is not None:
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
            mark, address = self._marks.pop(node.mem_id)
            self.builder.link(mark, article_of(address), address)
        elif tag == "code":
            self.builder.end_code(self._marks.pop(node.mem_id)[0])
        elif tag == "table" and node.mem_id in self._marks:
            first = node.css_first("tr")
            named = first is not None and first.css_first("th") is not None and first.css_first("td") is None
            self.builder.end_table(self._marks.pop(node.mem_id)[0], header=named)
        elif tag in _BLOCKS:
            if tag in _LISTS:
                self.builder.end_list()
            self.builder.separate()
        elif tag in _LINES and tag != "br":
            self.builder.line()


# What of a page is its content: navigation, banners and lists of this page's headings are left out

_NEVER = frozenset(("script", "style", "noscript", "template", "head", "svg", "iframe", "object", "canvas", "audio",
                   "video", "select", "button", "textarea", "input", "dialog"))  # fmt: skip
"""Tags without text of the page's own."""
_ROLES = frozenset(("navigation", "search", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "menu",
                    "menubar", "toolbar", "tablist"))  # fmt: skip
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:breadcrumbs?|navbar|navheader|navfooter|nav|navigation|menu|sidebar|sphinxsidebar|sphinxsidebarwrapper|"
    r"toc|tocbot|localtoc|on-this-page|table-of-contents|contents[\s_-]topic|pagination|pager|prev-next|prevnext|related|"
    r"cookies?|cookie-banner|cookieconsent|gdpr|consent|skip-?link|skip-to-content|sharing|share-buttons|social|"
    r"edit-this-page|edit-page|newsletter|advertisement|footer|copyright)(?:$|[\s_-])",
    re.IGNORECASE,
)
_NEVER_NAMED = re.compile(r"(?:^|\s)(?:linenos|linenodiv|lineno|headerlink|viewcode-link)(?:$|\s)")
"""Numbers of lines of code, and handles of headings."""
_OTHER_ASIDES = re.compile(r"footnote|citation|admonition|note|callout|aside|tip|warning", re.IGNORECASE)
_HANDLES = frozenset(("¶", "#", "§", "🔗", "link", "permalink", "anchor", "⚓"))
_LINKED_BLOCKS = frozenset(("ul", "ol", "dl", "div", "section", "table", "tr", "td", "p", "center", "font"))
_SHORT = 200
"""Characters; a page of which less is left has lost more than its navigation."""
_HANDLE = 80
"""Characters of a link that may be the handle of a heading."""


@dataclass(slots=True)
class _Size:
    """Characters of a part other than blanks, those of them inside links, and how many links there are."""

    text: int = 0
    linked: int = 0
    links: int = 0
    inner: int = 0
    """Links to places in this page."""

    def add(self, other: _Size) -> None:
        self.text += other.text
        self.linked += other.linked
        self.links += other.links
        self.inner += other.inner


class _PageContent:
    """The part of a page that is written, `root`, and whether a node in it is left out."""

    def __init__(self, tree: LexborHTMLParser, body: LexborNode) -> None:
        self._sizes: dict[int, _Size] = {}
        self._dropped: set[int] = set()
        self._measure(body)
        marked = self._marked(tree)
        self.root = marked or body
        self._titles = self._above_title(self.root)
        self._dropped, left = self._left_out(dense=marked is None, marked=marked is not None)
        if left < _SHORT:
            self._dropped, left = self._left_out(dense=False, marked=marked is not None)
        if not left:
            self._dropped = set()

    def leaves_out(self, node: LexborNode) -> bool:
        """Whether this node, with all that is in it, is no content."""
        return node.mem_id in self._dropped or node.tag in _NEVER

    def text(self, node: LexborNode) -> str:
        """The text of a node without what is left out, line breaks as they are."""
        parts, pending = [], [node]
        while pending:
            each = pending.pop()
            if each.tag == "-text":
                parts.append(each.text_content or "")
            elif not self.leaves_out(each):
                pending.extend(_children(each))
        return "".join(parts)

    def heading(self) -> LexborNode | None:
        """The first heading of the content, of the two highest levels: it may be the page's title."""
        headings = (node for node in self.root.css("h1, h2") if not self._is_inside_other(node))
        return next((node for node in headings if self.text(node).strip()), None)

    def _is_inside_other(self, node: LexborNode) -> bool:
        above: LexborNode | None = node
        while above is not None and above.mem_id != self.root.mem_id:
            if self.leaves_out(above):
                return True
            above = above.parent
        return False

    def _marked(self, tree: LexborHTMLParser) -> LexborNode | None:
        """The main part that the page names itself, if it has any text; of it, the only article that is most of it."""
        mains = [node for node in tree.css("main, [role=main]") if self._sizes.get(node.mem_id, _Size()).text]
        main = max(mains, key=lambda node: self._sizes[node.mem_id].text, default=None)
        articles = (main or tree).css("article")
        if len(articles) == 1 and articles[0].mem_id in self._sizes:
            size = self._sizes[articles[0].mem_id].text
            if size and (main is None or 2 * size >= self._sizes[main.mem_id].text):
                return articles[0]
        return main

    def _above_title(self, root: LexborNode) -> set[int]:
        """Parts that hold a title, or the marked main part: whatever they are called, they are not left out."""
        above_title: set[int] = set()
        for node in root.css("h1")[:50]:
            above = node.parent
            while above is not None and above.mem_id not in above_title:
                above_title.add(above.mem_id)
                above = above.parent
        return above_title

    def _measure(self, body: LexborNode) -> None:
        pending: list[tuple[LexborNode, _Size | None, bool]] = [(body, None, False)]
        while pending:
            node, above, leaving = pending.pop()
            if leaving:
                size = self._sizes[node.mem_id]
                if node.tag == "a":
                    size.linked, size.links = size.text, 1
                    size.inner = (node.attributes.get("href") or "").startswith("#")
                if above is not None:
                    above.add(size)
                continue
            if node.tag == "-text" and above is not None:
                above.text += len("".join((node.text_content or "").split()))
            elif node.tag and node.tag[0] not in "-!" and node.tag not in _NEVER:
                size = self._sizes[node.mem_id] = _Size()
                pending.append((node, above, True))
                pending.extend((child, size, False) for child in _children(node))

    def _left_out(self, *, dense: bool, marked: bool) -> tuple[set[int], int]:
        """What of the root is no content, and how many characters that leaves."""
        dropped: set[int] = set()
        whole = left = self._sizes[self.root.mem_id].text
        pending = [self.root]
        while pending:
            node = pending.pop()
            size = self._sizes.get(node.mem_id)
            if size is None:
                continue
            if node.mem_id != self.root.mem_id and self._is_other(node, size, whole, dense=dense, marked=marked):
                dropped.add(node.mem_id)
                left -= size.text
                continue
            pending.extend(_children(node))
        return dropped, left

    def _is_other(self, node: LexborNode, size: _Size, whole: int, *, dense: bool, marked: bool) -> bool:
        """Whether a part is no content: by its name, by what it is marked as, or by its links."""
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}".strip()
        if _NEVER_NAMED.search(names):
            return True
        if node.tag == "a":
            return size.text <= _HANDLE and _is_handle(node)
        if node.mem_id in self._titles:
            return False
        if _is_marked_other(node, names, size, marked=marked):
            return True
        if size.text * 2 < whole and (_NAMES.search(names) or (node.tag == "form" and size.text * 4 < whole)):
            return True
        # A list of the headings of this page; on a page that marks no main part, any list of links.
        return size.links > 2 and node.tag in _LINKED_BLOCKS and _is_dense(size) and (dense or size.inner == size.links)


def _is_marked_other(node: LexborNode, names: str, size: _Size, *, marked: bool) -> bool:
    """Whether a part's tag or role marks it as navigation or another part of the site."""
    tag, attributes = node.tag or "", node.attributes
    if tag == "nav" or "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if tag == "footer":
        return node.parent is None or node.parent.tag != "blockquote"
    if tag == "header":
        return not marked
    if tag == "aside":
        return not _OTHER_ASIDES.search(names) and (not marked or _is_dense(size))
    return (attributes.get("role") or "").lower() in _ROLES


def _is_dense(size: _Size) -> bool:
    return size.linked * 10 >= size.text * 8


def _is_handle(node: LexborNode) -> bool:
    """Whether a link is only the handle of a heading, which people copy."""
    text = " ".join(node.text(deep=True).split()).casefold()
    named = text in _HANDLES or text.startswith(("permalink to", "direct link to", "link to this"))
    return named and "#" in (node.attributes.get("href") or "")


def _children(node: LexborNode) -> list[LexborNode]:
    """From the last to the first: whoever takes them from a stack sees them in order."""
    children = []
    child = node.child
    while child is not None:
        children.append(child)
        child = child.next
    children.reverse()
    return children
