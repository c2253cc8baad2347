"""Wikitext before it is parsed: notes and comments go, what must not be parsed is set aside."""

from __future__ import annotations

import re

_DROP = ("ref", "gallery", "references", "timeline", "imagemap", "score", "graph", "templatestyles", "mapframe",
         "includeonly", "indicator", "section", "maplink", "categorytree", "inputbox", "hiero")  # fmt: skip
_KEEP = ("nowiki", "math", "pre", "source", "syntaxhighlight", "chem", "ce")
_OPEN = re.compile(r"<!--|<(" + "|".join(_DROP + _KEEP) + r")\b([^<>]*)>", re.IGNORECASE)
_QUOTES = re.compile(r"'{2,}")
_SOUND = re.compile(
    r"(\([ ]?)?(?:\{\{(?:ipa|pron|respell|audio|listen)[^{}]{0,300}\}\}[;,]?[ ]?)+(?(1)(\))?|)", re.IGNORECASE
)
_TAG = re.compile(r"<(?:td|th|tr|table|div|span|font|p)\s[^<>]{0,500}>", re.IGNORECASE)
_FENCE = re.compile("[\x00-\x08\x0b-\x1f]")


def prepare(source: str) -> tuple[str, list[str]]:
    """The text to parse, and the parts set aside: `\\x02N\\x03` stands for part N."""
    source = _FENCE.sub("", source.replace("\r\n", "\n").replace("\r", "\n"))
    kept: list[str] = []
    text = _set_aside(source, kept)
    text = _SOUND.sub(lambda match: "" if match[2] or not match[1] else "(", text)
    text = _TAG.sub(lambda match: match.group().replace("\n", " "), text)
    return ("\n".join(map(_unquote, text.split("\n"))) if "''" in text else text), kept


def _set_aside(source: str, kept: list[str]) -> str:
    out: list[str] = []
    position = 0
    unclosed: set[str] = set()  # a tag that has no end further on is searched for only once
    while match := _OPEN.search(source, position):
        tag = (match[1] or "").lower()
        if not tag:
            out.append(source[position : match.start()])
            position = _after_comment(source, match.start(), out)
            continue
        start, end = _body(source, match, tag, unclosed)
        out.append(source[position : match.start()])
        if tag in _KEEP:
            kept.append(source[match.end() : start])
            out.append(f"\x02{len(kept) - 1}\x03")
        position = end
    out.append(source[position:])
    return "".join(out)


def _body(source: str, match: re.Match[str], tag: str, unclosed: set[str]) -> tuple[int, int]:
    """Where the tag's content ends and where the text goes on. Without an end only the tag itself goes."""
    if match[2].endswith("/") or tag in unclosed:
        return match.end(), match.end()
    close = re.compile(rf"</{tag}\s*>", re.IGNORECASE).search(source, match.end())
    if close is None:
        unclosed.add(tag)
        return match.end(), match.end()
    return close.start(), close.end()


def _after_comment(source: str, start: int, out: list[str]) -> int:
    """Past a comment. One that has lines to itself takes them along, so that it ends no paragraph."""
    end = source.find("-->", start)
    if end < 0:
        return len(source)
    end += 3
    before = out[-1].rstrip(" \t") if out else ""
    after = end
    while after < len(source) and source[after] in " \t":
        after += 1
    if ((not before and start == 0) or before.endswith("\n")) and source[after : after + 1] == "\n":
        out[-1] = before
        return after + 1
    return end


def _unquote(line: str) -> str:
    """Remove bold and italic marks; an apostrophe that belongs to the text stays."""
    if "''" not in line:
        return line
    marks = [len(match.group()) for match in _QUOTES.finditer(line)]
    bold = sum(mark in (3, 4) or mark >= 5 for mark in marks)
    italic = sum(mark == 2 or mark >= 5 for mark in marks)
    uneven = bold % 2 == 1 and italic % 2 == 1
    spare = _apostrophe(line) if uneven else -1

    def remove(match: re.Match[str]) -> str:
        size = len(match.group())
        extra = 1 if size == 4 or match.start() == spare else max(0, size - 5)
        return "'" * extra

    return _QUOTES.sub(remove, line)


def _apostrophe(line: str) -> int:
    """Where `'''` is an apostrophe and italics: after a one-letter word, else after a word, else after a space."""
    places = [match.start() for match in _QUOTES.finditer(line) if len(match.group()) == 3]
    for place in places:
        if place >= 2 and line[place - 1] != " " and line[place - 2] == " ":
            return place
    for place in places:
        if place and line[place - 1] != " ":
            return place
    return places[0] if places else -1
