"""The one rule for an answer that leaves ragways for another program, which may render it as Markdown.

A document can hold an instruction, and a model may obey it: write an address that carries the question to a stranger.
So outside of code an image with a remote address becomes its alternative text, and a link is one only where its address
stands in the evidence that was shown. A bare address that does not stand there is set as code: it can be read, and no
program makes a link of it. HTML that loads or runs something is text. All else is untouched. Where no document was
shown, nothing can have come from one, and links stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ragways.core.markdown import MARKS, block_starts, inline_places, line_starts, parser, too_deep, too_long

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ROUNDS = 12
"""Times that a text is parsed again after a change. One that still is not safe is shown as code."""
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.\-]*):")
_ELSEWHERE = re.compile(r"[\x00-\x20]*[\\/][\x00-\x20]*[\\/]")
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);", re.IGNORECASE)
_LINKED = frozenset({"http", "https", "ftp", "mailto"})
_MAY_ACT = re.compile(r"\]\s*[(:\[]|<[a-zA-Z/!?]|://|\bwww\.|!\[", re.IGNORECASE)
_TAG_NAME = re.compile(r"</?([a-zA-Z][\w-]*)")
_ATTRIBUTE = re.compile(r"[\s\"'/]([a-zA-Z_:@][\w:.@-]*)\s*=")
_ALT = re.compile(r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_HARMLESS = re.compile(r"align|alt|class|colspan|dir|height|id|lang|open|reversed|rowspan|start|title|type|width")
_ACTIVE = re.compile(
    r"applet|area|audio|base|body|button|embed|form|frame|frameset|head|html|iframe|img|input|link|math|"
    r"meta|object|picture|portal|script|select|source|style|svg|template|textarea|title|track|video|a"
)
"""Elements that load or run something, or lead somewhere."""
_CODE_OR_TAG = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^\n]*\n(?s:.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<marks>`++)(?s:.+?)(?<!`)(?P=marks)(?!`))|<(?=[a-zA-Z/!?])",
    re.MULTILINE,
)
_IN_ADDRESS = r"[\w%#?&=/~+$@\-]"

_NOTE = re.compile(r"^[ \t>]*\[\^[^\]\n]+\]:", re.MULTILINE)
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?")

Edit = tuple[int, int, str]


def outgoing(text: str, evidence: Sequence[str] | None = None) -> str:
    """The answer as it may be handed to a program that renders Markdown. `evidence`: the texts that were shown with the
    question, addresses of their documents included; None where the model answered from memory.
    """
    if not _MAY_ACT.search(text):
        return text
    if too_long(text) or too_deep(parser(tags=True).parse(text)):
        return _fenced(text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = "\n".join(evidence or ())

    def allowed(address: str) -> bool:
        return evidence is None or stands_in(address, shown)

    for _ in range(_ROUNDS):
        edits = _edits(text, allowed)
        if not edits:
            break
        text = _edited(text, edits)
    if not _edits(text, allowed) and not _followed(text, allowed):
        return text
    return _fenced(text)


def _fenced(text: str) -> str:
    """All of it as one block of code; what came out of here so is not put into another."""
    marks = "`" * (3 + max((len(run) for run in re.findall("`+", text)), default=0))
    first, last = text.partition("\n")[0], text.rpartition("\n")[2]
    if len(first) >= 3 and first == last == "`" * len(first) and f"\n{first}" not in text[len(first) : -len(last) - 1]:
        return text
    return f"{marks}\n{text}\n{marks}"


def _followed(text: str, allowed: Callable[[str], bool]) -> bool:
    """Whether a plain parser, which knows no citations and no bare addresses, still sees a link or an image."""
    for token in (*_plain().parse(text), *_plain(html=True).parse(text)):
        if token.type == "html_block" and acts(token.content):
            return True
        for child in token.children or []:
            if child.type == "image" and not _PICTURE.match(str(child.attrs["src"])):
                return True
            if child.type == "link_open" and not _known(unescape(str(child.attrs["href"])), allowed):
                return True
            if child.type == "html_inline" and acts(child.content):
                return True
    return False


def stands_in(address: str, shown: str) -> bool:
    """Whether an address stands in a text as a whole, not as the beginning of a longer one."""
    for form in {address, unquote(address), address.removeprefix("http://"), address.removeprefix("mailto:")}:
        whole = re.escape(form.rstrip("/"))
        if whole and re.search(rf"(?<!{_IN_ADDRESS}){whole}/?(?:[.,;:!?]*(?:[^\w%#?&=/~+$@.,;:!?-]|$))", shown):
            return True
    return False


def leaves(address: str) -> bool:
    """Whether an address leads to another place: it has a scheme or a host."""
    return any(_SCHEME.match(form) or _ELSEWHERE.match(form) for form in (address, unquote(address)))


def _known(address: str, allowed: Callable[[str], bool]) -> bool:
    """Whether a link may have this address."""
    if not leaves(address):
        return True
    scheme = _SCHEME.match(address)
    return scheme is not None and scheme[1].lower() in _LINKED and allowed(address)


# What has to change


@cache
def _plain(*, html: bool = False) -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])
    made.validateLink = lambda _: True  # type: ignore[method-assign, assignment]
    return made


def _edits(text: str, allowed: Callable[[str], bool]) -> list[Edit]:
    env: dict[str, object] = {}
    tokens = parser(tags=True, notes=_NOTE.search(text) is not None).parse(text, env)
    starts = line_starts(text)
    if definitions := _definitions(text, env, starts, allowed):
        return definitions
    edits = _html_blocks(text, starts)
    for token, places in inline_places(text, tokens):
        found = _inline(token, allowed)
        if found and places is None:
            first, end = token.map or (0, 0)
            edits.append((starts[first], starts[end], re.sub(r"(?=[\[<])", r"\\", text[starts[first] : starts[end]])))
        elif places is not None:
            edits += [(places[start], places[end - 1] + 1, new) for start, end, new in found]
    return edits


def _edited(text: str, edits: list[Edit]) -> str:
    """The text with its edits; one inside another waits for the next round."""
    end = len(text) + 1
    for start, stop, new in sorted(edits, key=lambda edit: (-edit[0], edit[1])):
        if stop <= end:
            text, end = f"{text[:start]}{new}{text[stop:]}", start
    return text


def _inline(token: Token, allowed: Callable[[str], bool]) -> list[Edit]:
    """Edits of one line of text, in places of its own text."""
    edits: list[Edit] = []
    linked = False  # inside `<a href=…>`
    for child in token.children or []:
        start, end = child.meta.get("at", (0, 0))
        label_end = child.meta.get("label_end", -1)
        source = token.content
        if child.type == "image" and not _PICTURE.match(str(child.attrs["src"])):
            edits.append((start, end, source[start + 2 : label_end]))
        elif child.type == "link_open" and not _known(unescape(str(child.attrs["href"])), allowed):
            auto = child.markup == "autolink"
            new = _as_code(source[start + 1 : end - 1], token) if auto else source[start + 1 : label_end]
            edits.append((start, end, new))
        elif child.type == "address" and not _known(_with_scheme(child.content), allowed):
            edits.append((start, end, _as_code(child.content, token)))
        elif child.type == "html_inline" and acts(child.content):
            closed = linked and child.content.lower().startswith("</a")
            linked = not closed and (linked or "href" in child.content.lower())
            edits.append((start, end, "" if closed else _as_text(child.content)))
    return edits


def _as_code(address: str, line: Token) -> str:
    """The address as code; where a stray backtick stands in the line, with marks that it cannot pair with."""
    if not any("`" in child.content for child in line.children or [] if child.type in ("text", "address")):
        return f"`{address}`"
    marks = "`" * (1 + max(len(run) for run in re.findall("`+", line.content)))
    return f" {marks}{address}{marks} "


def _with_scheme(address: str) -> str:
    return address if "://" in address else f"http://{address}"


def _definitions(text: str, env: dict[str, object], starts: list[int], allowed: Callable[[str], bool]) -> list[Edit]:
    """Definitions of addresses, `[name]: address`, that no link may have: they are set as code."""
    references = env.get("references")
    every = [*references.values()] if isinstance(references, dict) else []
    again = env.get("duplicate_refs")
    every += again if isinstance(again, list) else []
    return [
        (start := starts[one["map"][0]], end := starts[one["map"][1]], _line_as_code(text[start:end]))
        for one in every
        if not _known(unescape(str(one["href"])), allowed)
    ]


def _line_as_code(line: str) -> str:
    prefix = (_LINE_PREFIX.match(line) or [""])[0]
    marks = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    words = " ".join(line[len(prefix) :].split())
    return f"{prefix}{marks}{words}{marks}" + ("\n" if line.endswith("\n") else "")


def _html_blocks(text: str, starts: list[int]) -> list[Edit]:
    """Blocks that a program which renders HTML takes for HTML are shown as text where they act. Code in them stays: it
    is code as soon as the tag before it is text.
    """
    if "<" not in text:
        return []
    edits: list[Edit] = []
    for token in _plain(html=True).parse(text):
        if token.type == "html_block" and token.map and acts(token.content):
            start, end = starts[token.map[0]], starts[token.map[1]]
            edits.append((start, end, _CODE_OR_TAG.sub(lambda found: found["code"] or "&lt;", text[start:end])))
    return edits


def acts(html: str) -> bool:
    """Whether a piece of HTML loads or runs something, or leads somewhere: any tag but a plain one."""
    for match in _TAG_NAME.finditer(html):
        name = match[1].lower()
        rest = html[match.end() :]
        inside = rest[: rest.find(">")] if ">" in rest else rest
        quoted = inside.count('"') % 2 or inside.count("'") % 2
        names = _ATTRIBUTE.findall(inside.lower())
        plain = not ("=" in inside and not names) and not (names and quoted) and all(map(_HARMLESS.fullmatch, names))
        if _ACTIVE.fullmatch(name) or not plain:
            return True
    return False


def _as_text(tag: str) -> str:
    """A tag that acts: an image is its alternative text, a link its text, anything else is shown as it is."""
    name = (_TAG_NAME.match(tag) or ["", ""])[1].lower()
    if "=" not in tag:
        return f"&lt;{tag[1:]}"
    if name == "img":
        alt = _ALT.search(tag)
        return next(filter(None, alt.groups()), "") if alt else ""
    return "" if name == "a" else f"&lt;{tag[1:]}"


# Streams

_SETTLED = re.compile(
    rf"""
      {MARKS}(?=[^(\[:])                                    # a citation
    | {MARKS}(?={MARKS})
    | `[^`|\n<]+`(?=[^`])                                     # code in a line
    | \[[^\[\]`<>|\\!\n]*\]\([^()\s<>`|\\]+\)(?=.)            # a link that is whole
    | (?:(?!://|www\.)[^\s`\[\]<>|\\!])+(?=\s)                # a word
    | [a-zA-Z]+://[^\s`\[\]<>|\\!]+(?=\s)                     # an address
    | \\[^\s`\[\]<>|\\!](?=.)
    | !(?=[^\[])
    | [\ \t]+(?=\S)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_TABLE_LINE = re.compile(r"^[ \t]*\|?[ \t:|-]*-[ \t:|-]*$")
_IN_FENCE = re.compile(r"^(?:[ \t>]|[-*+][ \t]|\d{1,3}[.)][ \t])*(`{3,}(?!.*`)|~{3,})")


def settled(text: str) -> int:
    """How much of a text that is still being written can be handed on: nothing to come changes what it means.

    Whole lines are settled, but for one with cells until the line after it tells whether they are a table. Of the line
    being written, words are settled up to a sign that may open a link, code or HTML.
    """
    line = text.rfind("\n") + 1
    if _open_fence(text[:line]):
        return len(text) if text[line:].strip(" \t`~>") else line
    last = text.rfind("\n", 0, max(0, line - 1)) + 1
    if "|" in text[last:line] and not _table_before(text[:last]):
        text, line = text[: line - 1], last
    at = line
    while (match := _SETTLED.match(text, at)) is not None:
        at = match.end()
    return at


def finished(text: str) -> int:
    """Where the last block begins, for our parser and for a program that renders HTML. What is before it need not be
    read again. 0 where there is none, and where an address may be defined (`[x]: …`), as it concerns links everywhere.
    An indented block does not count: it may belong to a footnote above it.
    """
    if too_long(text) or "]:" in text:
        return 0
    ours, others = parser(tags=True).parse(text), _plain(html=True).parse(text)
    common = {start for start in block_starts(text, ours) if not text[start].isspace()}
    return max(common.intersection(block_starts(text, others)), default=0)


def _open_fence(text: str) -> bool:
    fence = ""
    for line in text.splitlines():
        found = _IN_FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip(" \t>`~"):
            fence = ""
    return bool(fence)


def _table_before(text: str) -> bool:
    """Whether the line before belongs to a table whose second line has come."""
    for line in reversed(text.splitlines()):
        if "|" not in line:
            return False
        if _TABLE_LINE.match(line):
            return True
    return False
