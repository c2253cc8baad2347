"""An answer as Markdown: its citations, its blocks, and its tree for whoever shows it.

A model writes Markdown with the numbers of passages in brackets: `[2]`, `[1, 3]`, `[1-4]`, `[passage 5]`, `【2】`.
Such a mark is a citation in text, in lists and in tables, and never inside code. Nothing here changes an answer:
`Answer.text` stays what the model wrote, and programs that show it build nodes from the tree. HTML in an answer is
text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MOST_PASSAGES = 999
"""The largest number that is read as a citation."""
_RANGE = r"[1-9]\d{0,2}(?:\s*[-–]\s*[1-9]\d{0,2})?"
_INSIDE = rf"(?:[Pp]assages?\s+)?{_RANGE}(?:\s*[,;]\s*{_RANGE})*"
MARKS = rf"(?:\[{_INSIDE}\]|【{_INSIDE}】)"
"""A citation as a pattern; those in round brackets are none: `(1)` numbers a list."""
_MARK = re.compile(MARKS)
_LONGEST_MARK = 80
_WIDE_MARK = re.compile(f"【{_INSIDE}】")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?=\S)")
_ADDRESS_START = re.compile(r"(?<![a-zA-Z0-9])(?:(?:https?|ftp)://|www\.)(?=\w)", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s<>`|\"\\\[\]\x00]+")
_LOOSE_TAG = re.compile(
    r"<(?:img|script|iframe|object|embed|svg|link|style|form|video|audio|source|input|base|meta)\s[^<>]*=[^<>]*>?"
    r"|<a\s[^<>]*href\s*=[^<>]*>?",
    re.IGNORECASE,
)
_MATH = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]|\$\$.+?\$\$|\$(?=[^\s$])[^$\n]*?[^\s$]\$(?!\d)", re.DOTALL)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]*>")
_TRAILING = "?!.,:;*_~'\")]}"
_NESTING = 100
_LONGEST, _MOST_BRACKETS = 100_000, 2_000
_DEEPEST = 30
"""A longer text, one with more brackets or with deeper lists is shown as it stands: parsing it could take very long."""

Node = str | list[Any]
"""Text, or `[name, attributes, child, …]`. Names are those of HTML elements, and `cite` with the number `n`."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer and the numbers, from 1, of the passages that it cites."""

    text: str
    numbers: tuple[int, ...]


@dataclass(slots=True)
class AnswerBlock:
    """A paragraph, list item, table or code block: its first line, the line after its last, what it cites."""

    kind: str
    first: int
    end: int
    token: Token
    numbers: list[int] = field(default_factory=list)
    text: str = ""
    cited: bool = False
    inside: list[AnswerBlock] = field(default_factory=list)


# The parser


@cache
def parser(*, tags: bool = False, notes: bool = False) -> MarkdownIt:
    """CommonMark with tables and strikethrough. Tokens of links, images, addresses and citations have their place in
    the text of their block as `meta["at"]`. With `tags`, HTML tags are tokens and citations are text, as for other
    programs; else the other way round. With `notes`, footnotes (`[^1]: …`, and what is indented below) are text.
    """
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference
    from markdown_it.rules_inline import autolink, html_inline, image, link

    made = MarkdownIt("commonmark", {"html": tags, "maxNesting": _NESTING}).enable(["table", "strikethrough"])
    made.disable("html_block")
    made.validateLink = lambda _: True  # type: ignore[method-assign, assignment]  # whoever shows it decides; see core/outgoing.py
    if notes:
        made.disable("code")
        made.block.ruler.at("reference", _no_note(reference))
    for rule in (autolink, html_inline, image, link):
        made.inline.ruler.at(rule.__name__, _with_place(rule))
    made.inline.ruler.at("text", _text)
    made.inline.ruler.before("text", "address", _address)
    if tags:
        made.inline.ruler.after("html_inline", "loose tag", _with_place(_loose_tag))
    else:
        made.inline.ruler.before("link", "cite", _cite)
        made.inline.ruler.before("escape", "math", _math)
    return made


def tokens_of(text: str, shown: int = MOST_PASSAGES) -> list[Token]:
    """The tokens of an answer to which `shown` passages were given."""
    tokens = [] if too_long(text) else parser().parse(text, {"shown": shown})
    return tokens if tokens and not too_deep(tokens) else [_as_code(text)] if text.strip() else []


def too_long(text: str) -> bool:
    """Whether a text is shown as it stands, because parsing it could take very long."""
    return len(text) > _LONGEST or text.count("[") > _MOST_BRACKETS


def too_deep(tokens: Sequence[Token]) -> bool:
    """Whether lists and quotes lie so deep in each other that the parser may have left out the rest."""
    return max((token.level for token in tokens), default=0) > _DEEPEST


def _as_code(text: str) -> Token:
    from markdown_it.token import Token

    return Token("code_block", "code", 0, content=text, map=[0, text.count("\n") + 1])


def _no_note(rule: Callable[[StateBlock, int, int, bool], bool]) -> Callable[[StateBlock, int, int, bool], bool]:
    def referenced(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
            return False
        return rule(state, start, end, silent)

    return referenced


def _with_place(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def placed(state: StateInline, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        label = -1
        if state.src[start] in "[!":
            label = state.md.helpers.parseLinkLabel(state, start + (state.src[start] == "!"), state.src[start] == "[")
        if not rule(state, silent):
            return False
        for token in state.tokens[before:]:
            if token.type in ("link_open", "image", "html_inline"):
                token.meta |= {"at": (start, state.pos), "label_end": label}
                break
        return True

    return placed


def _loose_tag(state: StateInline, silent: bool) -> bool:
    """A tag that CommonMark takes for text and others may not, such as one with a sign too many in an attribute."""
    found = _LOOSE_TAG.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _text(state: StateInline, silent: bool) -> bool:
    """Plain text as far as the next sign, address or citation in wide brackets."""
    found = state.md.inline.terminator_re.search(state.src, state.pos)
    end = found.start() if found else state.posMax
    address = _ADDRESS_START.search(state.src, state.pos, end + 8)
    if address is not None and state.pos < address.start() < end:
        end = address.start()
    mark = _WIDE_MARK.search(state.src, state.pos, end + _LONGEST_MARK)
    end = min(end, mark.start()) if mark else end
    if end <= state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def _address(state: StateInline, silent: bool) -> bool:
    """An address as it stands in running text, as many programs make a link of it."""
    if state.linkLevel or not _ADDRESS_START.match(state.src, state.pos):
        return False
    address = address_in(state.src[: state.posMax], state.pos)
    if len(address) < 5:
        return False
    if not silent:
        token = state.push("address", "a", 0)
        token.content = address
        token.meta = {"at": (state.pos, state.pos + len(address))}
    state.pos += len(address)
    return True


def address_in(text: str, start: int) -> str:
    """The address that begins there, without the signs at its end that belong to the sentence."""
    found = _ADDRESS.match(text, start)
    address = found[0] if found else ""
    while address and address[-1] in _TRAILING:
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def _cite(state: StateInline, silent: bool) -> bool:
    """`[2]` or `[1, 3]`, unless a link is meant or no such passage was shown."""
    found = _MARK.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "[【" else None
    if found is None or state.linkLevel or state.src.startswith("(", found.end()):
        return False
    numbers = _numbers(found[0], state.env.get("shown", MOST_PASSAGES))
    if silent or not numbers:
        return False  # silent: where a link's text ends is looked for, and a citation in it is a part of that text
    token = state.push("cite", "cite", 0)
    token.content = found[0]
    token.meta = {"at": (state.pos, found.end()), "numbers": numbers}
    state.pos = found.end()
    return True


def _numbers(mark: str, shown: int) -> list[int]:
    """The numbers in a mark, a range in full; none where one of them was not shown, or a range runs backwards."""
    ends = [(int(first), int(last or first)) for first, last in re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", mark)]
    if not all(first <= last <= shown for first, last in ends):
        return []
    return list(dict.fromkeys(number for first, last in ends for number in range(first, last + 1)))


def _math(state: StateInline, silent: bool) -> bool:
    """A formula, as its signs stand: nothing in it is Markdown."""
    found = _MATH.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "\\$" else None
    if found is None:
        return False
    if not silent:
        state.append_pending(found[0])
    state.pos = found.end()
    return True


def places_in(source: str, token: Token, begin: int) -> list[int] | None:
    """For each character of an inline token's text its place in the source, which has the signs of quotes, lists and
    tables as well; and the place after the last. None where they do not fit. `begin` is where to look from.
    """
    places, at = [], begin
    for sign in token.content:
        if sign in " \t":
            places.append(at)
            at += source[at : at + 1] == sign
            continue
        at = source.find(sign, at)
        if at < 0:
            return None
        places.append(at)
        at += 1
    return [*places, at]


def line_starts(source: str) -> list[int]:
    """Where each line begins, and the end of the text."""
    starts = [0, *(match.end() for match in re.finditer("\r\n?|\n", source))]
    return [*starts, *[len(source)] * (2 if starts[-1] != len(source) else 1)]


def outermost(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The tokens of each outermost block, as ranges."""
    starts = [at for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    return list(zip(starts, [*starts[1:], len(tokens)], strict=False))


def block_starts(text: str, tokens: Sequence[Token]) -> list[int]:
    """Where the outermost blocks of a growing text begin, as offsets: those whose first line is whole.

    An unfinished line may still belong to the block above it. From the last of these places on, the text may be parsed
    alone: all blocks before it are final.
    """
    starts, whole = line_starts(text), text.count("\n")
    lines = [found[0] for first, _ in outermost(tokens) if (found := tokens[first].map)]
    return [starts[line] for line in lines if line < whole]


def inline_places(source: str, tokens: Sequence[Token]) -> Iterator[tuple[Token, list[int] | None]]:
    """Each inline token with the places of its text."""
    starts, at = line_starts(source), 0
    for token in tokens:
        if token.type == "inline" and token.map is not None:
            places = places_in(source, token, max(at, starts[token.map[0]]))
            at = places[-1] if places else at
            yield token, places


# Citations


def claims(text: str, shown: int = MOST_PASSAGES) -> list[Claim]:
    """What an answer states with a citation, in order: the sentence before each run of marks."""
    found: list[Claim] = []
    block, row = "", ""
    for token in tokens_of(text, shown):
        if token.type in ("fence", "code_block"):
            block = token.content.strip()
        elif token.type == "tr_open":
            row = ""
        elif token.type == "inline":
            own = _claims_of(token.children or [], row or block)
            found += own
            plain = plain_text(token.children or [])
            row, block = f"{row} {plain}".strip(), plain or block
        elif token.type in ("tr_close", "table_close"):
            block, row = row or block, ""
    return found


def _claims_of(children: Sequence[Token], above: str) -> list[Claim]:
    """The claims of one line of text: the sentence that a citation stands in, or right behind. Where a line begins with
    a citation, they stand before what they belong to; one that stands alone belongs to what is above.
    """
    whole, marks = "", list[tuple[int, list[int]]]()
    for child in children:
        if child.type == "cite":
            marks.append((len(whole), child.meta["numbers"]))
        else:
            whole += plain_text([child])
    borders = [0, *(match.end() for match in _SENTENCE_END.finditer(whole)), len(whole)]
    spans = [(start, end) for start, end in pairwise(borders) if _says_something(whole[start:end])]
    leading = bool(marks) and not _says_something(whole[: marks[0][0]])
    found: dict[tuple[int, int], list[int]] = {}
    for at, numbers in marks:
        if leading:
            chosen = next((span for span in spans if span[0] >= at), spans[-1] if spans else (0, 0))
        else:
            chosen = next((span for span in reversed(spans) if span[0] < at), (0, 0))
        found.setdefault(chosen, []).extend(numbers)
    return [
        Claim(_tidy(whole[start:end]) or above, tuple(dict.fromkeys(numbers)))
        for (start, end), numbers in sorted(found.items())
    ]


def _tidy(sentence: str) -> str:
    """Without the blanks that a citation left."""
    return re.sub(r" +(?=[.,;:!?])", "", " ".join(sentence.split()))


def _says_something(text: str) -> bool:
    return any(sign.isalnum() for sign in _TAGS.sub("", text))


def plain_text(children: Sequence[Token]) -> str:
    """The words of inline tokens, without signs and citations."""
    parts = []
    for child in children:
        if child.type in ("text", "code_inline", "address"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(plain_text(child.children or []))
    return "".join(parts).strip() if len(children) > 1 else "".join(parts)


def unmarked(text: str) -> str:
    """The text without its citations; what stands in code is no citation."""
    if not _MARK.search(text):
        return text
    if "`" not in text and "    " not in text and "\t" not in text and "~~~" not in text:
        return _MARK.sub(" ", text)
    found = [
        (places[child.meta["at"][0]], places[child.meta["at"][1] - 1] + 1)
        for token, places in inline_places(text, tokens_of(text))
        if places
        for child in token.children or []
        if child.type == "cite"
    ]
    for start, end in reversed(found):
        text = f"{text[:start]} {text[end:]}"
    return text


# Blocks


def blocks(tokens: Sequence[Token]) -> list[AnswerBlock]:
    """The blocks of an answer that can cite something, in order, and whether each is cited.

    Headings state nothing. A paragraph that ends in a colon and what it leads to are cited together, code is cited by
    the text before or after it, and an item of a list by the items below it.
    """
    found: list[AnswerBlock] = []
    open_blocks: list[AnswerBlock] = []
    for token in tokens:
        if token.type in ("list_item_open", "table_open") or (token.type == "paragraph_open" and not open_blocks):
            first, end = token.map or (0, 0)
            block = AnswerBlock(token.type.removesuffix("_open"), first, end, token)
            if open_blocks:
                open_blocks[-1].inside.append(block)
            open_blocks.append(block)
            found.append(block)
        elif token.type in ("fence", "code_block") and not open_blocks:
            first, end = token.map or (0, 0)
            found.append(AnswerBlock("code", first, end, token))
        elif token.type == "inline" and open_blocks:
            block = open_blocks[-1]
            block.text += plain_text(token.children or [])
            block.numbers += [
                n for child in token.children or [] if child.type == "cite" for n in child.meta["numbers"]
            ]
        elif (
            open_blocks and token.type == f"{open_blocks[-1].kind}_close" and token.level == open_blocks[-1].token.level
        ):
            open_blocks.pop()
    _pass_on(found)
    return [block for block in found if block.kind == "code" or block.numbers or _says_something(block.text)]


def _pass_on(found: list[AnswerBlock]) -> None:
    for block in found:
        block.cited = bool(block.numbers)
    for before, block in pairwise(found):
        before.cited = before.cited or (block.cited and not _says_something(block.text))  # marks in a line of their own
    for block in reversed(found):
        block.cited = block.cited or (bool(block.inside) and all(one.cited for one in block.inside))
    for block, after in pairwise(found):
        block.cited = block.cited or (block.kind == "code" and after.cited and after.kind == "paragraph")
    for number, block in enumerate(found):
        if not block.text.rstrip().endswith(":"):
            continue
        led: list[AnswerBlock] = []
        for after in found[number + 1 :]:
            if led and (led[0].kind != "list_item" or after.kind != "list_item"):
                break
            led.append(after)
        if block.cited and led:
            for after in led:
                after.cited = True
        block.cited = block.cited or any(after.cited for after in led)
    for before, block in pairwise(found):
        block.cited = block.cited or (block.kind == "code" and before.cited)


def uncited(text: str, shown: int) -> list[tuple[int, int]]:
    """The places of blocks that cite nothing; none where no passage was shown."""
    if not shown:
        return []
    starts = line_starts(text)
    return [
        (starts[block.first] + _indentation(text, starts[block.first]), len(text[: starts[block.end]].rstrip()))
        for block in blocks(tokens_of(text, shown))
        if not block.cited
    ]


def _indentation(text: str, start: int) -> int:
    line = text[start:].partition("\n")[0]
    return len(line) - len(line.lstrip())


# The tree

_NAMES = {
    "em": "em", "strong": "strong", "s": "s", "bullet_list": "ul", "ordered_list": "ol", "list_item": "li",
    "blockquote": "blockquote", "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th",
    "td": "td", "paragraph": "p",
}  # fmt: skip


def tree(text: str, shown: int = MOST_PASSAGES, *, mark_uncited: bool = False) -> list[Node]:
    """The answer as nodes of a fixed set of names, for a program that makes elements of them.

    Links have their address as `href`, images are their alternative text. With `mark_uncited`, a block that cites
    nothing has the attribute `uncited`.
    """
    tokens = tokens_of(text, shown)
    lacking = {id(block.token) for block in blocks(tokens) if not block.cited} if mark_uncited and shown else set()
    return _nodes(tokens, lacking)


def plain_tree(text: str, shown: int = MOST_PASSAGES) -> list[Node]:
    """The same for a text that is no Markdown, such as a sentence of a document: its lines and its citations."""
    made: list[Node] = []
    for part in filter(None, re.split(r"\n{2,}", text.strip())):
        children: list[Node] = []
        for piece in re.split(f"({MARKS})", part):
            numbers = _numbers(piece, shown) if _MARK.fullmatch(piece) else []
            if numbers:
                children += [["cite", {"n": number}] for number in numbers]
            elif piece:
                children.append(piece)
        made.append(["p", {}, *children])
    return made


def _nodes(tokens: Sequence[Token], lacking: set[int]) -> list[Node]:
    root: list[Any] = ["", {}]
    path = [root]
    for token in tokens:
        if token.hidden:
            continue
        if token.type == "inline":
            path[-1] += _nodes(token.children or [], lacking)
        elif token.nesting == 1:
            path[-1].append([_name(token), _attributes(token, lacking)])
            path.append(path[-1][-1])
        elif token.nesting == -1:
            path.pop()
        else:
            path[-1] += _leaf(token, lacking)
    return root[2:]


def _name(token: Token) -> str:
    if token.type == "link_open":
        return "a"
    if token.type == "heading_open":
        return f"h{min(6, int(token.tag[1]) + 2)}"
    return _NAMES[token.type.removesuffix("_open")]


def _attributes(token: Token, lacking: set[int]) -> dict[str, Any]:
    attributes: dict[str, Any] = {"uncited": True} if id(token) in lacking else {}
    if token.type == "link_open":
        attributes["href"] = str(token.attrs.get("href", ""))
    elif token.type == "ordered_list_open" and "start" in token.attrs:
        attributes["start"] = int(token.attrs["start"])
    elif token.tag in ("th", "td") and (style := str(token.attrs.get("style", ""))):
        attributes["align"] = style.rpartition(":")[2]
    return attributes


def _leaf(token: Token, lacking: set[int]) -> list[Node]:
    if token.type in ("fence", "code_block"):
        language = {"language": token.info.split()[0][:40]} if token.info.split() else {}
        return [["pre", {**language, **_attributes(token, lacking)}, token.content.removesuffix("\n")]]
    if token.type == "code_inline":
        return [["code", {}, token.content]]
    if token.type in ("hardbreak", "hr"):
        return [["br" if token.type == "hardbreak" else "hr", {}]]
    if token.type == "cite":
        return [["cite", {"n": number}] for number in token.meta["numbers"]]
    if token.type == "address":
        href = token.content if "://" in token.content else f"http://{token.content}"
        return [["a", {"href": href}, token.content]]
    text = plain_text(token.children or []) if token.type == "image" else token.content
    return ["\n" if token.type == "softbreak" else text]


# HTML


def html(nodes: Sequence[Node]) -> str:
    """The tree as HTML, everything in it escaped. A link shows its target and names no referrer."""
    return "".join(escape(node) if isinstance(node, str) else _element(node) for node in nodes)


def _element(node: list[Any]) -> str:
    name, attributes, children = node[0], node[1], node[2:]
    if name == "cite":
        return f"<sup>[{attributes['n']}]</sup>"
    if name in ("br", "hr"):
        return f"<{name}>"
    inside = html(children)
    if name == "pre":
        inside = f"<code>{inside}</code>"
    if name == "a":
        return _anchor(attributes["href"], inside)
    align = f' style="text-align:{escape(attributes["align"])}"' if attributes.get("align") else ""
    start = f' start="{int(attributes["start"])}"' if "start" in attributes else ""
    mark = ' class="uncited" title="This cites no passage."' if attributes.get("uncited") else ""
    return f"<{name}{mark}{align}{start}>{inside}</{name}>"


def _anchor(href: str, inside: str) -> str:
    if not re.match(r"(?:https?|mailto):", href, re.IGNORECASE):
        return f"{inside} ({escape(href)})"
    target = "" if escape(href).endswith(inside) else f" <small>({escape(href)})</small>"
    return f'<a href="{escape(href)}" rel="noreferrer noopener" target="_blank">{inside}</a>{target}'
