"""Questions on documentation, without a model: on entries, terms and headings.

An entry is a named thing with a description: a row of a table, an option in a help text, a point of a list, a section
whose heading is a name of code. Documents are read line by line. What two places answer otherwise is ambiguous.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.facts import facts_of
from ragways.evaluation.questions.source import (
    AMBIGUOUS,
    CorpusText,
    NothingToAsk,
    QuestionDraft,
    QuestionSource,
    grouped,
)
from ragways.evaluation.questions.templates import ENTRIES
from ragways.evaluation.questions.writer import definition, kind_of
from ragways.layers.graph.names import STOP

KINDS: dict[str, str] = {
    "entry": "documentation: what a setting, option or other named entry is",
    "setting": "documentation: the default, the type or the version of a named entry",
    "definition": "documentation: what a term is, or stands for",
    "heading": "documentation: a heading that is a question, or what a short section says",
}
_CODE = re.compile(
    r"(?=.{3,60}$)(?!@?(?:foo|bar|spam|my_|my[A-Z]|My[A-Z_]|example))(?:--[a-z][\w-]+|@?(?:\w+\.)*\w+(?:\(\))?)"
)
_CODE_MARK = re.compile(r"[A-Za-z]_\w|[a-z][A-Z]\w|\w\.[A-Za-z_]|^--|\(\)$|^@")
_BARE = re.compile(r"[a-z]+(?:_[a-z0-9]+)+|--[a-z][\w-]+|[\w@+-]+")
_OPTION = re.compile(r"\s*(?:-\w, )?(?P<name>--[a-z][\w-]+)(?: <[^>]*>)?\s{2,}(?P<says>\S.*)")
_ITEM = re.compile(r"(?:[-*•] )?(?P<name>(?:--?)?[\w.]+(?:\(\))?)(?: [-–—]+|:) (?P<says>[A-Z].*)")
_ROW_NAME = re.compile(r"[a-z][\w.@+-]{2,40}(?:\(\))?")
_COLUMNS = {
    "default": "default", "default value": "default", "defaults to": "default", "type": "type",
    **dict.fromkeys(("what", "what it does", "what it is", "description", "meaning", "summary", "purpose", "does",
                     "holds", "what it holds", "explanation"), "described"),
}  # fmt: skip
_LINES = (
    ("default", re.compile(r"(?:Default(?: value)?: |(?:The )?[Dd]efault(?: value)? is |(?:It )?[Dd]efaults to )"
                           r"(?P<says>(?:[^\s.,;(]|[.,(](?=\S))+(?: \w+)?)[.]?")),
    ("added", re.compile(r"(?:Added|New) (?:in|since) version (?P<says>\d[\w.]*?)[.:]?")),
    ("deprecated", re.compile(r"Deprecated (?:in|since) version (?P<says>\d[\w.]*?)[.:]?")),
    ("removed", re.compile(r"Removed (?:in|since) version (?P<says>\d[\w.]*?)[.:]?")),
)  # fmt: skip
"""Lines that state something of the entry that they stand under."""
_POINTS = re.compile(r"\b(?:this|these|those|above|below|following|see|same|here|such)\b|[“”\"]", re.IGNORECASE)
_VERSION = re.compile(r"(?:Added|New|Changed|Deprecated|Removed) (?:in|since) version\b")
_NO_ANSWER = re.compile(r"(?:There|The (?:question|answer)|See|Read|If|For|When|This|That|These|Let|Here|Note|Now)\b")
_LETTERS = re.compile(r"(?<![\w-])([a-z][\w-]*(?: [a-z][\w-]*){1,5}|[A-Z][\w-]*(?: [A-Z][\w-]*){1,5}) \(([A-Z]{2,6})\)")
_SENTENCES = re.compile(r"[^\W\d_a-z](?:[^.]|\.(?! )){8,500}?\.(?= |$)")
_FEWEST, _MOST = 3, 40
"""Words of a description."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A question that a stretch of a document answers; `sort` is the template, or the part of a kind."""

    kind: str
    sort: str
    question: str
    answer: str
    text: CorpusText
    start: int
    end: int

    @property
    def key(self) -> tuple[str, ...]:
        """What the question says, whatever the order of its words."""
        return (self.kind, *sorted(set(plain_words(self.question).split()) - STOP))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document, with the headings that it stands under."""

    words: str
    start: int
    end: int
    section: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.section[-1] if self.section else ""


def drafter(kind: str) -> Callable[[QuestionSource, Random], QuestionDraft]:
    """A drafter of questions of one kind: any statement of it, the same chance for every sort. The documents that state
    the same all are evidence.
    """

    def draft(source: QuestionSource, random: Random) -> QuestionDraft:
        sorts = statements(source).get(kind)
        if not sorts:
            raise NothingToAsk
        drawn = random.choice(sorts[random.choice(list(sorts))])
        alike = source.once("alike", dict[tuple[str, ...], list[Statement]])[drawn.key]
        support = {}
        for one in (drawn, *alike):
            piece = one.text.chunk_at(one.start, one.end)
            if piece is None and one is drawn:
                raise NothingToAsk
            if plain_words(one.answer) != plain_words(drawn.answer):
                raise NothingToAsk(AMBIGUOUS)
            if piece is not None and one.text.id not in support:
                quote = " ".join(one.text.document.text[one.start : one.end].split())
                support[one.text.id] = source.support(piece, quote)
        path, whole = (drawn.text.document.key, str(drawn.start), drawn.question), drawn.sort == "about"
        return QuestionDraft(
            drawn.question, (drawn.answer,), tuple(support.values()), path=path, parts=whole, note=drawn.sort
        )

    return draft


def statements(source: QuestionSource) -> dict[str, dict[str, list[Statement]]]:
    """What documents state, by kind and sort, read once."""

    def read() -> dict[str, dict[str, list[Statement]]]:
        # An encyclopedia's articles are about what they are called, and have kinds for it.
        texts = [text for text in source.texts.values() if text.document.format not in ("wikitext", "code")]
        every = [one for text in texts for one in _read(source, text)]
        source.once("alike", lambda: grouped(every, lambda one: one.key))
        kinds = grouped(every, lambda one: one.kind)
        return {kind: dict(sorted(grouped(of, lambda one: one.sort).items())) for kind, of in kinds.items()}

    return source.once("statements", read)


def _read(source: QuestionSource, text: CorpusText) -> Iterator[Statement]:
    lines = _lines(source, text)
    yield from _entries(text, lines)
    yield from _headings(source, text, lines)
    for line in lines:
        for sentence in _SENTENCES.finditer(line.words):
            yield from _terms(source, text, line, line.start + sentence.start(), line.start + sentence.end())


def _lines(source: QuestionSource, text: CorpusText) -> list[Line]:
    whole = text.document.text
    rows = [found for found in re.finditer(r"[^\n]+", whole) if found[0].strip()]
    spans = [(row.start(), row.start() + len(row[0].rstrip())) for row in rows]
    if text.document.format == "pdf":  # its lines were broken by the width of the page
        spans = [span for piece in text.chunks for span in source.index.sentences(piece)]
    origins = source.index.origins([(text.id, start, end) for start, end in spans])
    return [Line(whole[a:b], a, b, origin.section) for (a, b), origin in zip(spans, origins, strict=True)]


def code_name(name: str) -> bool:
    """Whether a name can only be one of code: `max_connections`, `HttpRequest.path`, `--reload`; none of examples."""
    return _CODE.fullmatch(name) is not None and _CODE_MARK.search(name) is not None


def _named(name: str, line: Line, text: CorpusText) -> str:
    """A name with its place, where it could mean another thing elsewhere: `--where (ragways ask)`."""
    if not _BARE.fullmatch(name) or (code_name(name) and not re.match(r"--|[a-z_]+$", name)):
        return name
    page = re.sub(r"^(?:(?:Chapter|Appendix) )?\d+(?:\.\d+)*\.?\s+", "", " ".join(text.title.split()))
    place = next((heading for heading in reversed(line.section) if heading != name), page)
    return f"{name} ({place})"


def _entry(text: CorpusText, line: Line, name: str, sort: str, says: str, start: int, end: int) -> Iterator[Statement]:
    says = says.strip(" .")
    words = says.split()
    if sort == "described":
        if (
            not _FEWEST <= len(words) <= _MOST
            or _POINTS.search(says)
            or _VERSION.match(says)
            or says.count("(") != says.count(")")
        ):
            return
        if re.search(rf"\b{re.escape(name.strip('-()'))}\b", says) or says.endswith("…"):
            return
        sort = "is" if re.match(r"(?:An?|The|an?|the) ", says) else sort
    if words and len(words) <= _MOST and says not in ("-", "–", "none"):
        kind = "entry" if sort in ("is", "described") else "setting"
        yield Statement(kind, sort, ENTRIES[sort].format(x=_named(name, line, text)), says, text, start, end)


def _entries(text: CorpusText, lines: Sequence[Line]) -> Iterator[Statement]:
    """Rows, options, points of lists, and what stands under a heading that is a name of code."""
    header: list[str] = []
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else None
        cells = [cell.strip() for cell in line.words.split(" | ")]
        if len(cells) > 1:
            header = header if before is not None and header and before.end + 1 == line.start else cells
            if header is cells or len(cells) != len(header) or not _ROW_NAME.fullmatch(cells[0]):
                continue
            for column, cell in zip(header[1:], cells[1:], strict=True):
                if (sort := _COLUMNS.get(column.casefold())) is not None:
                    yield from _entry(text, line, cells[0], sort, cell, line.start, line.end)
            continue
        header = []
        option = _OPTION.fullmatch(line.words)
        item = option or _ITEM.fullmatch(line.words.strip())
        if item is not None and code_name(item["name"]):
            says, end, indent = item["says"], line.end, " " * (item.start("says") - 2)
            for more in lines[number + 1 : number + 8] if option is not None else ():
                if not more.words.startswith(indent) or _OPTION.fullmatch(more.words):
                    break
                says, end = f"{says}{'' if says.endswith('-') else ' '}{more.words.strip()}", more.end
            default = re.search(r"\[default: \(?([^\]();]+)", says)
            yield from _entry(text, line, item["name"], "described", says.partition(" [")[0], line.start, end)
            if default is not None:
                yield from _entry(text, line, item["name"], "default", default[1], line.start, end)
            continue
        name = line.title
        if line.words.strip() == name or not (code_name(name) or (name.isupper() and len(name) > 2)):
            continue
        stated = next(((sort, m) for sort, pattern in _LINES if (m := pattern.fullmatch(line.words.strip()))), None)
        # The quote begins where the section does: a default alone could be that of anything.
        near = [one.start for one in lines[max(0, number - 5) : number] if one.title == name != one.words.strip()]
        at = near[0] if near and text.chunk_at(near[0], line.end) is not None else line.start
        if stated is not None:
            yield from _entry(text, line, name, stated[0], stated[1]["says"], at, line.end)
        elif before is not None and before.words.strip() == name and (first := _first_sentence(line)):
            yield from _entry(text, line, name, "described", first, line.start, line.start + len(first))


def _first_sentence(line: Line) -> str:
    match = re.match(r"[^\W\d_a-z].+?[\w)]\.(?= |$)", line.words)
    return match[0] if match else ""


def _headings(source: QuestionSource, text: CorpusText, lines: Sequence[Line]) -> Iterator[Statement]:
    """A heading that asks is answered by the first sentence below it, any other by its section, if that is short."""
    counts = source.once("headings", lambda: Counter(
        title for one in source.texts.values() for title in {line.title for line in _lines(source, one)}
    ))  # fmt: skip
    for title, of in groupby((line for line in lines if line.words.strip() != line.title), lambda line: line.title):
        section = list(of)
        first, start = _first_sentence(section[0]), section[0].start
        if title.endswith("?"):
            if len(title.split()) > 3 and len(first.split()) > 5 and _answers(title, first):
                yield Statement("heading", "asks", title, first, text, start, start + len(first))
            continue
        says = " ".join(line.words for line in section)
        words = [word[:5] for word in plain_words(title).split() if word not in STOP]
        prose = first and len(section) < 3 and 12 <= len(says.split()) <= 70 and says.endswith(".")
        if not prose or counts[title] > 1 or not 2 <= len(title.split()) <= 8 or re.search(r"\d|[|“”\"<>:]", title):
            continue
        if all(f" {word}" in f" {plain_words(says)}" for word in words) and not _POINTS.search(first):
            question = ENTRIES["about"].format(x=title, page=text.title)
            yield Statement("heading", "about", question, says, text, start, section[-1].end)


def _answers(question: str, says: str) -> bool:
    """Whether a sentence can answer a heading: it takes up its words, gives a reason, or says yes or no."""
    first = question.split(maxsplit=1)[0]
    if _NO_ANSWER.match(says) or _POINTS.search(question):
        return False
    if first == "Why":
        return re.search(r"\b(?:because|since|so that|due to|in order to|reason)\b", says) is not None
    if first not in ("What", "Which", "Who", "When", "Where", "How"):
        return re.match(r"(?:Yes|No|Not)\b", says) is not None
    words = [word[:5] for word in plain_words(question).split()[1:] if word not in STOP and len(word) > 2]
    return bool(words) and all(any(word.startswith(stem) for word in plain_words(says).split()) for stem in words)


def _terms(source: QuestionSource, text: CorpusText, line: Line, start: int, end: int) -> Iterator[Statement]:
    """What a sentence says that a term is, or that letters stand for."""
    sentence = " ".join(text.document.text[start:end].split())
    parts = definition(sentence)
    if parts is not None:
        term, name, verb, what = parts
        article, words = term[: len(term) - len(name)], name.split()
        proper = len(words) > 1 and all(word[0].isupper() for word in words)
        code = all(map(code_name, words))
        headed = {word.rstrip("s") for heading in (text.title, *line.section) for word in plain_words(heading).split()}
        plain = article in ("A ", "An ") and len(words) < 4 and words[-1].rstrip("s") in headed
        known = (
            text.title.startswith(f"{name},")
            or facts_of(source).subjects.named(name) is not None
            or kind_of(source, name, sentence) == "person"
        )
        if (
            (code or proper or plain)
            and not known
            and len(what.split()) > 5
            and not set(plain_words(name).split()) & STOP
        ):
            named = _named(name, Line("", 0, 0, ()), text) if len(words) == 1 else name
            question = ENTRIES["is"].replace("is", verb, 1).format(x=f"{article.lower()}{named}")
            yield Statement("definition", "is", question, what, text, start, end)
    for match in _LETTERS.finditer(sentence):
        parts_of = [part for part in re.split(r"[ -]", match[1]) if part]
        for tail in (parts_of[at:] for at in range(len(parts_of))):
            initials = "".join(part[0].upper() for part in tail if part not in STOP)
            long = match[1][-len(" ".join(tail)) :]
            if initials == match[2] and tail[0] not in STOP and long.split(" ")[0].startswith(tail[0]):
                yield Statement("definition", "letters", ENTRIES["letters"].format(x=match[2]), long, text, start, end)
