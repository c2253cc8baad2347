"""What of a web page is its content: the rest (navigation, banners, lists of this page's headings) is left out.

The content is the page's `main` or only `article`. A page that marks neither is judged part by part: by tags, roles and
class names, and by how much of a part's text is links. Parts are left out, never cut up; where little would be left,
the page is taken with its lists of links, and where nothing would be, whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

NEVER = frozenset(("script", "style", "noscript", "template", "head", "svg", "iframe", "object", "canvas", "audio",
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
_BLOCKS = frozenset(("ul", "ol", "dl", "div", "section", "table", "tr", "td", "p", "center", "font"))
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


class PageContent:
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
        return node.mem_id in self._dropped or node.tag in NEVER

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
        found = (
            node for node in self.root.css("h1, h2") if not self._is_inside_other(node) and self.text(node).strip()
        )
        return next(found, None)

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
        kept: set[int] = set()
        for node in root.css("h1")[:50]:
            above = node.parent
            while above is not None and above.mem_id not in kept:
                kept.add(above.mem_id)
                above = above.parent
        return kept

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
            elif node.tag and node.tag[0] not in "-!" and node.tag not in NEVER:
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
        return size.links > 2 and node.tag in _BLOCKS and _is_dense(size) and (dense or size.inner == size.links)


def _is_marked_other(node: LexborNode, names: str, size: _Size, *, marked: bool) -> bool:
    """Whether a part's tag or role says that it is about the site and not of the page's text."""
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
