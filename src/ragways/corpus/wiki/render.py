"""Write a tree of wikitext to a text builder."""

from __future__ import annotations

import html
import re

from ragways.corpus.builder import TextBuilder
from ragways.corpus.wiki.templates import TemplateCall, WikiSite, call_of, computes, pipe_trick, role, shown, text_of
from ragways.corpus.wiki.tree import Item, WikiNode, is_blank, own_text, split

_INLINE = re.compile(
    r"\x02(?P<raw>\d{1,9})\x03"
    r"|&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
    r"|</?(?P<tag>[A-Za-z][A-Za-z0-9]{0,20})(?:[\s/][^<>]{0,1000})?>"
    r"|\[(?:https?:|ftp:|mailto:|//)(?P<url>[^\s\]\x02]*)"
    r"|\]"
    r"|__[A-Z]{3,30}__"
)
_BLOCKS = frozenset(("p", "div", "blockquote", "center", "poem", "hr", "ul", "ol", "dl", "table", "h1", "h2", "h3",
                     "h4", "h5", "h6", "section", "caption"))  # fmt: skip
_LINES = frozenset(("br", "li", "dt", "dd", "tr"))
_SILENT = frozenset((
    "b", "i", "u", "s", "small", "big", "sub", "span", "font", "em", "strong", "tt", "code", "var", "cite", "abbr",
    "kbd", "q", "samp", "strike", "del", "ins", "mark", "noinclude", "onlyinclude", "includeonly", "ref", "references",
    "nowiki", "tbody", "thead", "bdi", "bdo", "ruby", "rt", "rp", "rb", "dfn", "wbr", "nobr", "tfoot", "col", "time",
    "data", "gallery", "math", "pre", "sup", "noscript", "translate", "languages", "section",
))  # fmt: skip
_TRAIL = re.compile("[a-zß-öø-ÿœšžа-яё]+")
_PICTURE = re.compile(
    r"[^|\n]{1,200}\.(?:jpe?g|png|svg|gif|tiff?|webp|ogg|ogv|webm|pdf)|\d{1,5}\s*(?:x\d{1,5})?px", re.I
)

_LOOKS = re.compile(r"(?:^|\s)(?:alt|upright)\d*$|^(?:image|map|logo|flag|photo|cover).*(?:size|width)$", re.I)


class Renderer:
    """Holds what a page gives besides its text: its categories."""

    def __init__(self, builder: TextBuilder, site: WikiSite, raw: list[str]) -> None:
        self.builder = builder
        self.categories: dict[str, None] = {}
        self._site = site
        self._raw = raw
        self._outside = 0  # open [http://… brackets
        self._commas = False
        self._dropped = False

    # --- blocks -----------------------------------------------------------------------------------------------

    def page(self, items: list[Item]) -> None:
        listing = False
        for line in split(items, "\n"):
            first = line[0] if isinstance(line[0], str) else ""
            self._outside = 0
            if is_blank(line):
                self.builder.paragraph()
                listing = False
            elif first.startswith("=") and self._heading(line):
                listing = False
            elif first[:1] in ("*", "#", ":", ";"):
                self._list_item(line, first, listing)
                listing = True
            else:
                if listing or first.startswith("----"):
                    self.builder.paragraph()
                listing = False
                self._line(line, first)

    def _line(self, line: list[Item], first: str) -> None:
        before = self.builder.length
        if first.startswith((" ", "\t")):
            self.builder.line()
        else:
            self.builder.space()
        self.inline([first.lstrip("-"), *line[1:]] if first.startswith("----") else line)
        if self.builder.length == before:
            self.builder.paragraph()

    def _list_item(self, line: list[Item], first: str, listing: bool) -> None:
        if listing:
            self.builder.line()
        else:
            self.builder.paragraph()
        if first[0] in "*#":
            sign = first[: len(first) - len(first.lstrip("*#:;"))]
            self.builder.item("  " * (len(sign) - 1) + ("1." if sign[-1] == "#" else "-"))
        self.inline([first.lstrip("*#:; \t"), *line[1:]])

    def _heading(self, line: list[Item]) -> bool:
        first, last = line[0], line[-1]
        if not isinstance(first, str) or not isinstance(last, str):
            return False
        tail = last.rstrip()
        level = min(len(first) - len(first.lstrip("=")), len(tail) - len(tail.rstrip("=")), 6)
        if not level or (len(line) == 1 and len(tail) <= 2 * level):
            return False
        inner: list[Item] = [tail[level:-level]]
        if len(line) > 1:
            inner = [first[level:], *line[1:-1], tail[:-level]]
        mark = self.builder.block()
        self.builder.flat()
        self.inline(inner)
        self.builder.unflat()
        self.builder.heading(mark, level)
        return True

    # --- inline -----------------------------------------------------------------------------------------------

    def inline(self, items: list[Item]) -> None:
        trailed = 0
        for index, item in enumerate(items):
            if isinstance(item, str):
                self._text(item[trailed:])
                trailed = 0
            elif item.kind == "link":
                after = items[index + 1] if index + 1 < len(items) else ""
                trailed = self._link(item, after if isinstance(after, str) else "")
            elif item.kind == "template":
                self._template(call_of(item))
            else:
                self._table(item)

    def plain(self, items: list[Item]) -> str:
        """The items as a string of its own, for templates that compute with it."""
        if all(isinstance(item, str) for item in items) and _INLINE.search(own_text(items)) is None:
            return " ".join(own_text(items).split())
        outer, self.builder = self.builder, TextBuilder(1_000_000, flat=True)
        self.inline(items)
        text = self.builder.plain()
        self.builder = outer
        return text

    def _text(self, text: str) -> None:
        if self._dropped and text.lstrip()[:1] in (",", ".", ")"):
            self.builder.unspace()  # `ASCII {{pronounced}}, or` reads `ASCII, or`
            text = text.lstrip()
        self._dropped = self._dropped and not text.strip()
        position = 0
        for match in _INLINE.finditer(text):
            if match.start() > position:
                self.builder.text(text[position : match.start()])
            position = match.end()
            self._special(match, text[position : position + 1])
        if position < len(text):
            self.builder.text(text[position:] if position else text)

    def _special(self, match: re.Match[str], following: str) -> None:
        mark = match.group()
        if match["raw"] is not None:
            self.builder.text(html.unescape(self._raw[int(match["raw"])]))
        elif mark[0] == "&":
            self.builder.text(html.unescape(mark))
        elif match["tag"] is not None:
            self._tag(mark, match["tag"].lower(), following)
        elif match["url"] is not None:
            self._outside += 1
        elif mark == "]":
            if self._outside:
                self._outside -= 1
            else:
                self.builder.text(mark)

    def _tag(self, token: str, name: str, following: str) -> None:
        if name == "sup" and token[1] != "/" and following and (following.isdecimal() or following in "-−"):
            self.builder.text("^")  # 10<sup>6</sup> must not read as 106
        elif name in _LINES:
            if self._commas:
                self.builder.comma()
            else:
                self.builder.line()
        elif name in _BLOCKS:
            self.builder.paragraph()
        elif name in ("td", "th"):
            if token[1] != "/":
                self.builder.cell()
        elif name not in _SILENT:
            self.builder.text(token)

    def _link(self, node: WikiNode, after: str) -> int:
        """Write a link; returns how many letters after it belong to its anchor ([[bus]]es)."""
        target_items, *rest = split(node.items, "|", 1)
        raw = own_text(target_items)
        kind, target = role(raw, self._site, piped=bool(rest))
        if kind == "category" and target:
            self.categories[target] = None
        if kind not in ("article", "text"):
            return 0
        trail = _TRAIL.match(after)
        mark = self.builder.mark()
        if rest and not is_blank(rest[0]):
            self.inline(rest[0])
        elif rest:
            self.builder.text(pipe_trick(target or raw.strip(": ")))
        else:
            self.inline([target_items[0].lstrip(": "), *target_items[1:]] if isinstance(target_items[0], str) else [])
        if trail:
            self.builder.text(trail.group())
        self.builder.link(mark, target)
        return trail.end() if trail else 0

    def _table(self, table: WikiNode) -> None:
        """A row a line, cells joined by a bar, the caption first."""
        self.builder.table(_rows(table), self.listed)

    # --- templates --------------------------------------------------------------------------------------------

    def _template(self, call: TemplateCall) -> None:
        if call.is_infobox:
            if not self.builder.is_flat:
                self._infobox(call)
            return
        index = shown(call.name)
        if index is not None:
            self._dressed(call, index)
        elif computes(call.name):
            values = [self.plain(items) for items in call.positional[:30]]
            named = {key: self.plain(items) for key, items in call.named.items() if key in ("m", "cm", "ft", "in")}
            self.builder.text(text_of(call.name, values, named))
        else:
            self._dropped = True

    def _dressed(self, call: TemplateCall, index: int) -> None:
        quote = "quot" in call.name
        if quote:
            self.builder.paragraph()
        if index < len(call.positional):
            self.listed(call.positional[index])
        elif "text" in call.named or "quote" in call.named:
            self.listed(call.named.get("text") or call.named["quote"])
        if quote:
            self.builder.paragraph()

    def listed(self, items: list[Item]) -> None:
        """Inline items that may hold a list: its entries are separated by commas where a line is not allowed."""
        for number, line in enumerate(split(items, "\n")):
            first = line[0] if isinstance(line[0], str) else ""
            entry = first[:1] in ("*", "#") and number > 0
            if entry and (self._commas or self.builder.is_flat):
                self.builder.comma()
            elif entry:
                self.builder.line()
            elif number:
                self.builder.space()
            self.inline([first.lstrip("*#:; "), *line[1:]] if entry else line)

    def _infobox(self, call: TemplateCall) -> None:
        mark = self.builder.block()
        fields: list[tuple[str, str]] = []
        self._commas = True
        self._fields(call, fields)
        self._commas = False
        kind = re.sub(r"^infobox\s*|\s*infobox$", "", call.name).strip(" -:") or call.name
        self.builder.infobox(mark, kind[:100], fields)

    def _fields(self, call: TemplateCall, fields: list[tuple[str, str]]) -> None:
        """A line `key: value` a fact. A box inside a value gives its facts to the box it stands in."""
        for key, items in list(call.named.items())[:500]:
            name = " ".join(key.replace("_", " ").split())[:100]
            if not name or _LOOKS.search(name) or _PICTURE.fullmatch(own_text(items).strip()):
                continue
            self.builder.line()
            self.builder.label(f"{name}: ")
            before = self.builder.length
            self.builder.flat()
            self.listed(items)
            self.builder.unflat()
            if self.builder.length > before:
                fields.append((name, self.builder.since(before).lstrip("\n").removeprefix(f"{name}: ")))
            inner = [item for item in items if isinstance(item, WikiNode) and item.kind == "template"]
            for box in (call_of(node) for node in inner):
                if box.is_infobox:
                    self._fields(box, fields)


# Tables


def _rows(table: WikiNode) -> list[list[list[Item]]]:
    """Rows of cells. The first line holds the table's attributes and is no row."""
    rows: list[list[list[Item]]] = [[]]
    for line in split(table.items, "\n")[1:]:
        first = line[0].lstrip() if isinstance(line[0], str) else ""
        if first.startswith("|-"):
            rows.append([])
        elif first.startswith("|+"):
            rows.append([_without_attributes([first[2:], *line[1:]])])
            rows.append([])
        elif first.startswith(("|", "!")):
            rows[-1].extend(_cells([first[1:], *line[1:]], header=first[0] == "!"))
        elif rows[-1]:
            rows[-1][-1] += [f"\n{line[0]}", *line[1:]] if isinstance(line[0], str) else ["\n", *line]
        elif not is_blank(line):
            rows[-1].append(line)  # text outside of any cell: a browser shows it as well
    return [row for row in rows if row]


def _cells(items: list[Item], *, header: bool) -> list[list[Item]]:
    parts = split(items, "||")
    if header:
        parts = [cell for part in parts for cell in split(part, "!!")]
    return [_without_attributes(part) for part in parts]


def _without_attributes(cell: list[Item]) -> list[Item]:
    """`style="…" | text` → `text`. A bar after a link or a template belongs to the text."""
    if cell and isinstance(cell[0], str) and "|" in cell[0]:
        return [cell[0].split("|", 1)[1], *cell[1:]]
    parts = split(cell, "|", 1)
    attributes = len(parts) == 2 and all(not isinstance(item, WikiNode) or item.kind == "template" for item in parts[0])
    return parts[1] if attributes else cell
