"""Questions on source code, by rule: what its symbols do, return, raise, take and inherit from, and what constants are.

What stands in a chunk is read as text, a signature with the docstring or comment beside it; nothing of it is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_DEF = re.compile(r"^(?:async )?def (\w+)\((.*?)\)(?: -> ([^\n]+?))?:\s*(?:#[^\n]*)?$", re.MULTILINE | re.DOTALL)
_CLASS = re.compile(r"^class (\w+)(?:\(([^()]*)\))?:", re.MULTILINE)
_DOC = re.compile(r"\s*[rbuf]?(?:\"\"\"|''')(.+?)(?:\"\"\"|''')", re.DOTALL)
_RAISE = re.compile(r"^[ ]+raise (\w[\w.]*)\b", re.MULTILINE)
_RAISE_ANY = re.compile(r"^[ ]+raise\b", re.MULTILINE)
_COMMENT = re.compile(r"(?:/\*\*?(.+?)\*/|((?:^[ \t]*///? ?[^\n]*\n)+))", re.DOTALL | re.MULTILINE)
_CONSTANT = re.compile(
    r"^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:: [\w\[\], ]+)? = (-?\d[\d_.]*|\"[^\"\n]{1,60}\")$", re.MULTILINE
)
_DEFAULT = re.compile(
    r"(?:^|,)\s*(\w+)(?:: ([^=,]+?))? ?= ?(-?\d[\d_.]*|\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|True|False)\s*(?=,|$)"
)
_SENTENCE = re.compile(r"(.+?[a-z0-9)`'\"])\.(?:\s|$)", re.DOTALL)
_VERB_WORDS = """
add apply assign begin bind build call check choose clean clear close collect compare compute convert copy count
create decide decode decorate define delete derive describe detect determine disable display divide draw drop dump
echo emit enable encode ensure escape evaluate execute expand extract fetch fill filter find fold format forward
gather generate get give handle hash hold import indicate initialize insert invoke join keep list load look make map
mark match measure merge move normalize open order parse pick plan prepare print process prompt provide put raise rank
read record register release remove rename render replace report represent reset resolve restore retrieve return run
save score search select send serialize set show sort split start stop store strip take tell test translate truncate
turn unpack update validate verify wait walk wrap write yield
"""
_VERBS = frozenset(_VERB_WORDS.split())
_POINTS = re.compile(r"\b(?:this|these|those|above|below|following|see|same)\b", re.IGNORECASE)
_FEWEST, _MOST = 4, 40
"""Words of a description that says something."""
_LONGEST_QUOTE = 600
_USUAL_BASES = frozenset(("object", "Exception", "Protocol", "t.Protocol", "Enum"))
_PLAIN_TYPES = frozenset(("None", "Self", "t.Any", "Any", "T", "object", "NoReturn", "t.NoReturn"))


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A chunk of a source file: the qualified name of the symbol it belongs to (none of the module's own lines)."""

    symbol: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class CodeStatement:
    """A question on a symbol, its answer, and where the code for it stands; `sort` is what of it is asked."""

    sort: str
    question: str
    answer: str
    start: int
    end: int


def code_statements(file: str, blocks: Sequence[CodeBlock]) -> Iterator[CodeStatement]:
    """What can be asked of the symbols of a file; private names and special methods are left out."""
    for number, block in enumerate(blocks):
        if not block.symbol:
            yield from _constants(file, block)
            continue
        if number and blocks[number - 1].symbol == block.symbol:
            continue  # the rest of a long one, without its signature
        if any(part.startswith("_") for part in block.symbol.split(".")) or "test" in file.rsplit("/", 1)[-1]:
            continue
        whole = number + 1 == len(blocks) or blocks[number + 1].symbol != block.symbol
        yield from _symbol(file, block, whole)


def _constants(file: str, block: CodeBlock) -> Iterator[CodeStatement]:
    for match in _CONSTANT.finditer(block.text):
        at = block.start + match.start()
        asked, value = f"What is the value of {match[1]} in {file}?", match[2].strip('"')
        yield CodeStatement("constant", asked, value, at, block.start + match.end())


def _symbol(file: str, block: CodeBlock, whole: bool) -> Iterator[CodeStatement]:
    short = block.symbol.rsplit(".", 1)[-1]
    signature = next((m for m in _DEF.finditer(block.text) if m[1] == short), None)
    based = next((m for m in _CLASS.finditer(block.text) if m[1] == short), None)
    start = block.start
    end = start + (signature or based).end() if (signature or based) else start  # type: ignore[union-attr]
    called = signature and not re.search(r"^@(?:\w+\.)*(?:cached_)?property\b", block.text, re.MULTILINE)
    named = f"{block.symbol}{'()' if called else ''} in {file}"
    if based and re.fullmatch(r"[\w.]+", based[2] or "") and based[2] not in _USUAL_BASES:
        yield CodeStatement("base", f"Which class does {named} inherit from?", based[2], start + based.start(), end)
    doc = _description(block.text, signature or based, short)
    if doc is not None:
        said, upto = doc
        yield from _described(named, said, start, start + upto, based is None)
    if signature is None:
        return
    at = start + signature.start()
    if signature[3] and signature[3].strip("\"'") not in _PLAIN_TYPES and len(signature[3]) < 60:
        asked = f"What type does {named} return?" if called else f"Of what type is {named}?"
        yield CodeStatement("type", asked, signature[3].strip("\"'"), at, end)
    arguments = " ".join(signature[2].split())
    for parameter in _DEFAULT.finditer(arguments):
        asked = f"What is the default value of the parameter {parameter[1]} of {named}?"
        yield CodeStatement("default", asked, parameter[3].strip("\"'"), at, end)
    raised = {match[1] for match in _RAISE.finditer(block.text)}
    if whole and len(raised) == 1 and len(_RAISE_ANY.findall(block.text)) == len(_RAISE.findall(block.text)):
        (name,), stated = raised, next(_RAISE.finditer(block.text))
        if name[0].isupper():
            begin = signature.start() if stated.end() - signature.start() <= _LONGEST_QUOTE else stated.start()
            asked = f"Which exception does {named} raise?"
            yield CodeStatement("raises", asked, name, start + begin, start + stated.end())


def _description(text: str, signature: re.Match[str] | None, name: str) -> tuple[str, int] | None:
    """The first sentence of the docstring after a signature, or of the comment before one, and where it ends."""
    match = _DOC.match(text, signature.end()) if signature else None
    body, offset = (match[1], match.start(1)) if match else ("", 0)
    if match is None and signature is None:
        comment = _COMMENT.match(text)
        if comment is None:
            return None
        body, offset = comment[1] or comment[2], comment.start(1 if comment[1] else 2)
        body = re.sub(r"(?m)^[ \t]*(?:\*|///?)[ \t]?", lambda mark: " " * len(mark[0]), body)
    sentence = _SENTENCE.match(body.lstrip())
    if sentence is None or "::" in sentence[1] or "\n\n" in sentence[1]:
        return None
    said = " ".join(sentence[1].split())
    return said.removeprefix(f"{name} "), offset + len(body) - len(body.lstrip()) + sentence.end(1)


def _described(named: str, said: str, start: int, end: int, function: bool) -> Iterator[CodeStatement]:
    words = said.split()
    if not _FEWEST <= len(words) <= _MOST or _POINTS.search(said) or re.search(r":\w+:`|``", said):
        return
    first, rest = words[0].casefold(), " ".join(words[1:])
    verb = next((verb for verb in _bases(first) if verb in _VERBS), "")
    noun = said.startswith(("A ", "An ", "The "))
    if noun and not named.split(maxsplit=1)[0].endswith("()"):
        yield CodeStatement("is", f"What is {named}?", said, start, end)
    elif function and (noun or said.startswith("Whether ")):
        yield CodeStatement("returns", f"What does {named} return?", said, start, end)
    elif function and verb in ("return", "give", "get", "yield"):
        asked = "yield" if verb == "yield" else "return"
        yield CodeStatement("returns", f"What does {named} {asked}?", rest, start, end)
    elif function and verb:
        yield CodeStatement("does", f"What does {named} do?", said, start, end)


def _bases(word: str) -> tuple[str, ...]:
    """What a verb at the start of a description may be a form of: `copies`, `matches` and `returns`."""
    return word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y"
