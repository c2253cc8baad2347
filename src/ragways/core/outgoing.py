"""The one rule for an answer that leaves ragways for another program, which may render it as Markdown.

A document can hold an instruction, and a model may obey it: write an address that carries the question to a stranger.
So outside of code an image with a remote address becomes its alternative text, and a link is one only where its address
stands in the evidence that was shown. A bare address that does not stand there is set as code: it can be read, and no
program makes a link of it. HTML that loads or runs something is text. All else is untouched. Where no document was
shown, nothing can have come from one, and links stay.

Parsers differ. So links, images and HTML are edited where ours sees them, and then addresses are looked for by their
letters alone: one that the evidence does not name stands where every parser sees code, else its block is fenced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ragways.core.markdown import (
    MARKS,
    address_in,
    block_starts,
    inline_places,
    line_starts,
    parser,
    too_deep,
    too_long,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ODD = re.compile("[\0\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Signs that only some parsers take for the end of a line, or replace: blanks are put for them."""
_ROUNDS = 12
"""Times that a text is parsed again after a change. One that still is not safe is shown as code."""
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.\-]*):")
_ELSEWHERE = re.compile(r"[\x00-\x20]*[\\/][\x00-\x20]*[\\/]")
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);", re.IGNORECASE)
_LINKED = frozenset({"http", "https", "ftp", "mailto"})
_MAY_ACT = re.compile(r"\]\s*[(:\[]|<[a-zA-Z/!?]|[/\\]/|&[#a-z]|@\w|(?:mailto|xmpp):|www\.|!\[", re.IGNORECASE)
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
    text = _ODD.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    shown = "\n".join(evidence or ())

    @cache
    def allowed(address: str) -> bool:
        return evidence is None or stands_in(address, shown)

    for _ in range(_ROUNDS):
        edits = _edits(text, allowed)
        if not edits:
            break
        text = _edited(text, edits)
    if _edits(text, allowed) or _followed(text, allowed):
        return _fenced(text)
    return text if evidence is None else _with_addresses_as_code(text, allowed)


def _fenced(text: str) -> str:
    """All of it as one block of code; what came out of here so is not put into another."""
    marks = "`" * (3 + max((len(run) for run in re.findall("`+", text)), default=0))
    first, last = text.partition("\n")[0], text.rpartition("\n")[2]
    if len(first) >= 3 and first == last == "`" * len(first) and f"\n{first}" not in text[len(first) : -len(last) - 1]:
        return text
    return f"{marks}\n{text}\n{marks}"


def _followed(text: str, allowed: Callable[[str], bool]) -> bool:
    """Whether a plain parser, which knows no citations and no bare addresses, still sees a link or an image."""
    kinds = [(html, tables) for html in (False, True) for tables in ((True, False) if "|" in text else (True,))]
    for token in (token for html, tables in kinds for token in _plain(html=html, tables=tables).parse(text)):
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
def _plain(*, html: bool = False, tables: bool = True) -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": html}).enable(["strikethrough", *(["table"] if tables else [])])
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
            label = source[start + 1 : end - 1 if child.markup == "autolink" else label_end]
            edits.append((start, end, label))
        elif child.type == "html_inline" and acts(child.content):
            closed = linked and child.content.lower().startswith("</a")
            linked = not closed and (linked or "href" in child.content.lower())
            edits.append((start, end, "" if closed else _as_text(child.content)))
    return edits


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


# What is code for every parser

_CONTAINER = r"(?:[ \t>]|[-*+:][ \t]|\d{1,9}[.)][ \t]|\[\^[^\]\n]*\]:)*"
_FENCE_LINE = re.compile(rf"(?P<before>{_CONTAINER})(?P<marks>`{{3,}}(?!.*`)|~{{3,}})")
_MAY_BE_HTML = re.compile(rf"^{_CONTAINER}<[a-zA-Z/!?]|(?<=\S)\\<[a-zA-Z/!?]", re.MULTILINE)
"""A tag that begins a line, or one behind a backslash that may belong to an address instead."""
_LONG_HTML = re.compile(rf"{_CONTAINER}<(?:pre|script|style|textarea|\?|!(?!--[^<>]*-->$))", re.IGNORECASE)
_ITEM = re.compile(r"[ \t>]*(?:(?:[-*+:]|\d{1,9}[.)]|!!!|\?\?\?\+?)(?:[ \t]|$)|\[\^)")
"""What may begin a list or a note, where lines far in are no code."""
_SPAN = re.compile(r"(?<!`)(`{1,9})(?!`)[^|\n]+?(?<!`)\1(?!`)")
_HOLDS_ON = re.compile(rf"^{_CONTAINER}(?:\[[^\]\n]*\]:|</?[a-zA-Z])", re.MULTILINE)
"""The beginning of a definition or of HTML, which may go on in the lines after it."""
_UNCLEAR = re.compile(
    rf"`|\\\x00|\]\((?![^\s()<>\"'\x00]*\))|<(?=[a-zA-Z/!?])(?![^<>\"'\x00\n]*>)|{_HOLDS_ON.pattern}", re.MULTILINE
)
"""Signs by which one parser may see code where another sees none: stray backticks, and links or tags that have some."""
_PLAIN_LINK = re.compile(r"(?<![\\!])(?:(\[[^\[\]\\|\n]*)\]\(([^\s()<>|]*)\)|<([^\s<>]+)>)")
_ADDRESS = re.compile(
    r"""
      [a-z][a-z0-9+.-]{0,30}://[^\x20\t\n<]+
    | (?<![:/\w])//[^\x20\t\n</]*\.[^\x20\t\n<]+
    | (?<![a-z0-9])www\.[^\x20\t\n<]+
    | (?:mailto|xmpp):[^\x20\t\n<]+
    | [\w.+-]{1,64}@\w[\w.-]{0,250}\.\w[^\x20\t\n<]*
    | \][(:]\s*<?(?:[/\\]\s*){2}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What a program may take for an address, to its farthest end."""
_AFTER_ADDRESS = "?!.,:;*_~'\")]}>|\\\xa0\u202f"


def _with_addresses_as_code(text: str, allowed: Callable[[str], bool]) -> str:
    """Set addresses that may not leave as code, where every parser will see it as such; else fence their block."""
    parts = _parts(text)
    if parts is None:
        return _fenced(text) if _strange(text, allowed) else text
    for number, (part, code) in enumerate(parts):
        if not code and _strange(_outside_code(part), allowed):
            edited = _addresses_set_as_code(part, allowed)
            parts[number] = (_fenced(part) if _strange(_outside_code(edited), allowed) else edited, True)
    return "\n".join(part for part, _ in parts)


def _parts(text: str) -> list[tuple[str, bool]] | None:
    """Cut a text into blocks, at empty lines and at fences, each with whether it is code. None where parsers may differ
    on which lines are code: a fence in a quote, one whose lines are not as far in as itself, or HTML that does not end
    at an empty line.
    """
    parts: list[tuple[str, bool]] = []
    block: list[str] = []
    marks, indent, listed = "", 0, False

    def end(*, code: bool = False) -> None:
        if block:
            far_in = not listed and all(line.startswith(("    ", "\t")) for line in block)
            parts.append(("\n".join(block), code or far_in))
            block.clear()

    for line in text.split("\n"):
        bare, fence = line.strip(" \t"), _FENCE_LINE.match(line)
        if marks:
            block.append(line)
            closing = bare.startswith(marks) and not bare.strip("`~")
            if bare and (not line.startswith(" " * indent) or (closing and line.rstrip() != " " * indent + bare)):
                return None
            if closing and bare.strip(marks[0]):
                return None
            if closing:
                end(code=True)
                marks = ""
        elif fence is not None:
            marks, indent = fence["marks"], len(fence["before"])
            above = "\n".join(block)
            if fence["before"].strip(" ") or (block and indent > 3) or _HOLDS_ON.search(above):
                return None
            end()
            block.append(line)
        elif not bare:
            end()
            parts.append((line, True))
        elif _LONG_HTML.match(line):
            return None
        else:
            listed = listed or _ITEM.match(line) is not None
            block.append(line)
    end(code=bool(marks))
    return parts


def _outside_code(block: str) -> str:
    """The block with its code blanked out, or all of it where parsers may differ on what is code."""
    blanked = _SPAN.sub(lambda span: "\0" * len(span[0]), block)
    return block if _UNCLEAR.search(blanked) else blanked


def _strange(text: str, allowed: Callable[[str], bool]) -> bool:
    """Whether a text has an address that may not leave as a link, as it stands or with its escapes undone, or may be a
    block of HTML that acts.
    """
    if _MAY_BE_HTML.search(text) and acts(text):
        return True
    return any(True for form in {text, unescape(text).replace("\\", "")} for _ in _strange_places(form, allowed))


def _strange_places(text: str, allowed: Callable[[str], bool]) -> Iterator[int]:
    def blanked(link: re.Match[str]) -> str:
        label, size = link[1] or "", len(link[0])
        return label.ljust(size) if allowed(unescape(link[2] or link[3] or "")) else link[0]

    for found in _ADDRESS.finditer(_PLAIN_LINK.sub(blanked, text)):
        if not allowed(unescape(found[0]).rstrip(_AFTER_ADDRESS)):
            yield found.start()


def _addresses_set_as_code(block: str, allowed: Callable[[str], bool]) -> str:
    for start in reversed([*_strange_places(_outside_code(block), allowed)]):
        if address := address_in(block, start):
            before, after = block[:start].rstrip("\\"), block[start + len(address) :]
            block = f"{before}{' ' * before.endswith('`')}`{address}`{' ' * after.startswith('`')}{after}"
    return block


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
    """Where the last block after an empty line begins, for our parser and for a program that renders HTML. What is
    before it need not be read again. 0 where there is none, where parsers may differ on what is code before it, and
    where an address may be defined (`[x]: …`), as it concerns links everywhere. An indented block does not count: it
    may belong to a footnote above it.
    """
    if too_long(text) or "]:" in text:
        return 0
    ours, others = parser(tags=True).parse(text), _plain(html=True).parse(text)
    common = set(block_starts(text, ours)).intersection(block_starts(text, others))
    start = max((at for at in common if text[at - 2 : at] == "\n\n" and not text[at].isspace()), default=0)
    return start if _parts(text[:start]) is not None else 0


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
