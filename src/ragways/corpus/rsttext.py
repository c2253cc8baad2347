"""The marks inside a line of reStructuredText: roles, links, emphasis, literals, substitutions and escapes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import article_of

_MARKS = re.compile(
    r"``(?P<literal>[^\n]{1,1000}?)``(?![`\w])"
    r"|(?::(?P<role>[A-Za-z][\w:+.-]{0,40}):)?`(?P<quoted>[^`\n]{1,1000})`"
    r"(?:(?P<reference>__?)|:(?P<after>[A-Za-z][\w:+.-]{0,40}):)?"
    r"|(?<![\w*])\*\*(?P<strong>[^\s*][^*\n]{0,1000}?)(?<!\s)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*][^*\n]{0,1000}?)(?<!\s)\*(?![\w*])"
    r"|\|(?P<substitution>[^\s|][^|\n]{0,80})\|_{0,2}"
    r"|(?P<note>\[(?:\d{1,4}|[#*][\w-]{0,40})\]_)|\[(?P<citation>[A-Za-z][\w.-]{0,60})\]_"
    r"|(?<![\w.-])(?P<word>[A-Za-z0-9][\w.-]{0,80})__?(?![\w`])"
    r"|\\(?P<escaped>.)"
)
_LONG = 100_000
"""A paragraph longer than this is taken as it stands."""
_LABEL = re.compile(r"\.\. _([^:\n]{1,120}):(?: +(\S.*))?$")
_DEFINED = re.compile(r"\.\. \|([^|\n]{1,80})\| +(?:replace|unicode):: +(.*)$")
_PREFIXES = {"pep": "PEP ", "rfc": "RFC ", "ticket": "#", "issue": "#", "gh": "#", "cve": "CVE-", "commit": "commit "}
_PLAIN_ROLES = frozenset(("ref", "doc", "term", "numref", "any", "abbr", "sup", "sub", "emphasis", "strong", "std:ref"))


class Inline:
    """Writes the text of a file's paragraphs. It knows the file's labels, link targets and substitutions."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._titles: dict[str, str] = {}
        self._targets: dict[str, str] = {}
        self._values: dict[str, str] = {}
        for number, line in enumerate(lines):
            text = line.lstrip()
            if found := _LABEL.match(text):
                name = _name(found[1])
                self._targets[name] = found[2] or ""
                if not found[2]:
                    self._titles[name] = next((each for each in lines[number + 1 : number + 8] if _is_title(each)), "")
            elif value := _DEFINED.match(text):
                self._values[value[1]] = value[2]

    def plain(self, text: str) -> str:
        """The text of one line without its marks."""
        builder = TextBuilder(1_000_000, flat=True)
        self.write(builder, text)
        return builder.plain()

    def write(self, builder: TextBuilder, text: str) -> None:
        if len(text) > _LONG:
            builder.text(text)
            return
        here = 0
        for found in _MARKS.finditer(text):
            kind = found.lastgroup
            if kind == "word" and _name(found["word"]) not in self._targets:
                continue
            builder.text(text[here : found.start()])
            here = found.end()
            if found["quoted"] is not None:
                self._quoted(builder, found["role"] or found["after"] or "", found["quoted"])
            elif found["substitution"] is not None:
                builder.text(self._values.get(found["substitution"], found["substitution"]))
            elif found["escaped"] is not None:
                builder.text(found["escaped"].strip())
            elif kind == "word":
                self._link(builder, found["word"], self._targets[_name(found["word"])])
            elif kind and kind != "note":
                builder.text(found[kind])
        builder.text(text[here:])

    def _quoted(self, builder: TextBuilder, role: str, text: str) -> None:
        """What stands in backticks: `shown <target>`, a name with a role, or the name of a target."""
        text = text.replace("\\ ", "").replace("\\", "")
        shown, _, target = text.rpartition("<")
        short = role.rpartition(":")[2]
        if shown.strip() and text.endswith(">") and role not in ("code", "math", "samp", "file", "kbd"):
            self._link(builder, shown.strip(), target[:-1] if not role or short == "doc" else "")
        elif short == "doc":
            self._link(builder, text.strip("/").rpartition("/")[2].replace("-", " "), text)
        elif short in ("ref", "numref", "any"):
            builder.text(self.plain(self._titles.get(_name(text), "")) or text.replace("-", " "))
        elif short in _PREFIXES:
            builder.text(_PREFIXES[short] + text)
        elif not role:
            self._link(builder, text, self._targets.get(_name(text), ""))
        elif text.startswith("~"):
            builder.text(text[1:].rpartition(".")[2])
        else:
            builder.text(text if short in _PLAIN_ROLES else text.lstrip("!~.@"))

    def _link(self, builder: TextBuilder, text: str, target: str) -> None:
        mark = builder.mark()
        builder.text(text)
        builder.link(mark, article_of(target.strip("`").removesuffix("_")) if target else "")


def _name(text: str) -> str:
    return " ".join(text.strip("`").lower().split())


def _is_title(line: str) -> bool:
    return bool(line) and not line.startswith((" ", "..")) and not re.match(r"(\W)\1*$", line)
