"""Questions on what documentation says, by rule: what a setting does and what its default is, what a term means, what
something is done with, when it came, what it is limited to, and what a heading asks.

Documents are read line by line, each with the entry (a section or a term of a list) that it stands under, and every
rule is tried on it. What two sentences answer otherwise is ambiguous, and so is the name of several entries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.corpus import CorpusText
from ragways.evaluation.questions.documentation_rules import MOST_WORDS, NAME, RULES, Line, code_name, needs_context
from ragways.evaluation.questions.draft import AMBIGUOUS, NothingToAsk, QuestionDraft
from ragways.evaluation.questions.source import QuestionSource, grouped
from ragways.evaluation.questions.symbols import CodeBlock, code_statements
from ragways.layers.graph.names import STOP

KINDS: dict[str, str] = {
    "setting": "documentation: what a setting, option or attribute does, or its default",
    "definition": "documentation: what a term is, or stands for",
    "purpose": "documentation: what something is done with",
    "limit": "documentation: a maximum, minimum or other limit",
    "version": "documentation: when something was added, deprecated or removed",
    "faq": "documentation: a heading that is a question",
    "symbol": "source code: what a function does, returns, raises or takes",
}
_TERM = re.compile(rf"({NAME})(?: \(([a-z][a-z ]{{2,20}})\)|\(.*\))?")
"""The line of a definition list that names something, with its type or its arguments."""
_ITEM = re.compile(rf"({NAME})(?: [-–—]+|:) (?=[A-Z])")
"""A point of a list that begins with what it is about: `allow_origins - A list of origins`."""
_PLAIN = re.compile(r"(What (?:is an?|are) [a-z]+)\?")
"""A common word alone, which means another thing elsewhere."""
_LONGEST_QUOTE, _LONGEST_TITLE = 500, 70
_COMMON = 5, 0.15
"""What more documents name, and a larger share of them, is the product itself: nobody asks what can be used for it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one sentence says, as a question and its answer. `sort` is the rule, `about` the entry that is asked of."""

    kind: str
    sort: str
    question: str
    answer: str
    text: CorpusText
    start: int
    end: int
    about: str = ""

    @property
    def id(self) -> tuple[str, str, str]:
        return self.text.document.key, str(self.start), self.question


def drafter(kind: str) -> Callable[[QuestionSource, Random], QuestionDraft]:
    """A drafter of questions of one kind: any statement of it, the same chance for every sort."""

    def draft(source: QuestionSource, random: Random) -> QuestionDraft:
        documentation = of(source)
        sorts = documentation.statements.get(kind)
        if not sorts:
            raise NothingToAsk
        return documentation.draft(source, random.choice(sorts[random.choice(list(sorts))]))

    return draft


def of(source: QuestionSource) -> Documentation:
    """What the documents of an index state by these rules, read once."""
    return source.once("documentation", lambda: Documentation(source))


class Documentation:
    """`statements` by kind and sort, in reading order."""

    def __init__(self, source: QuestionSource) -> None:
        self._entries: Counter[tuple[str, str]] = Counter()
        # An encyclopedia's articles are about what they are called, and have kinds for it.
        texts = (text for text in source.texts.all if text.document.format != "wikitext")
        every = [said for text in texts for said in self._of(source, text)]
        self.statements = {
            kind: dict(sorted(grouped(said, lambda one: one.sort).items()))
            for kind, said in grouped(every, lambda one: one.kind).items()
        }
        answers: dict[tuple[str, ...], set[str]] = {}
        for said in every:
            answers.setdefault(_key(said), set()).add(plain_words(said.answer))
        self._unclear = {key for key, said in answers.items() if len(said) > 1}

    def draft(self, source: QuestionSource, said: Statement) -> QuestionDraft:
        """The question that a statement answers; `NothingToAsk` where another answer could be as right."""
        if (
            _key(said) in self._unclear
            or self._entries[_place(said.about, said.text)] > 1
            or self._product(source, said)
        ):
            raise NothingToAsk(AMBIGUOUS)
        piece = source.texts.piece(said.text, said.start, said.end)
        if piece is None:
            raise NothingToAsk
        quote = " ".join(said.text.document.text[said.start : said.end].split())
        support = (source.support(piece, quote),)
        return QuestionDraft(said.question, (said.answer,), support, path=said.id, note=said.sort)

    def _product(self, source: QuestionSource, said: Statement) -> bool:
        if said.kind not in ("purpose", "setting"):
            return False
        named = said.answer if said.kind == "purpose" else said.about
        documents = len(source.texts.holding(named)) if named else 0
        return documents > max(_COMMON[0], _COMMON[1] * len(source.texts.all))

    def _of(self, source: QuestionSource, text: CorpusText) -> Iterator[Statement]:
        pieces = source.texts.pieces(text)
        origins = source.index.origins([(text.id, piece.start, piece.end) for piece in pieces])
        titles = [origin.section[-1] if origin.section else "" for origin in origins]
        if text.document.format == "code":
            blocks = [CodeBlock(title, p.text, p.start) for title, p in zip(titles, pieces, strict=True)]
            for one in code_statements(text.title, blocks):
                yield Statement("symbol", one.sort, one.question, one.answer, text, one.start, one.end)
            return
        spans = _spans(source, text)
        before: tuple[str, ...] = ("",)
        for title, origin, piece in zip(titles, origins, pieces, strict=True):
            inside = [(start, end) for start, end in spans if piece.start <= start and end <= piece.end]
            for line in self._lines(text, inside, title, origin.section != before):
                said = _said(text, line)
                if said is not None:
                    yield said
            before = origin.section

    def _lines(self, text: CorpusText, spans: list[tuple[int, int]], title: str, opens: bool) -> Iterator[Line]:
        """The sentences of a chunk, each with the entry that it stands under: its section's, or a term of a list."""
        whole, entry = text.document.text, self._entry(title, opens, text)
        at, first, heading = -1, opens, title if opens else ""
        for number, (start, end) in enumerate(spans):
            words = " ".join(whole[start:end].split())
            follows = spans[number + 1][0] if number + 1 < len(spans) else -1
            term = _TERM.fullmatch(words)
            if term and whole[end:follows] == "\n":
                entry, at, first, heading = self._entry(term[1], True, text), start, True, ""
                continue
            item = _ITEM.match(words)
            if item and start and whole[start - 1] == "\n" and code_name(item[1]):
                entry, at, first, heading = self._entry(item[1], True, text), start, True, ""
                words = words[item.end() :]
            elif at >= 0 and whole[at] != "\n" and _ITEM.match(whole, at) and "\n" in whole[at:start]:
                entry, at = "", -1  # a point of a list ends with its line
            yield Line(words, start, end, entry, at, first, heading)
            if not words.startswith(("Default:", "Added in version", "Type:")):
                first, heading = False, ""

    def _entry(self, name: str, opens: bool, text: CorpusText) -> str:
        """A name that heads an entry, counted where it opens one; nothing where it is no name of code."""
        if not code_name(name):
            return ""
        self._entries[_place(name, text)] += opens
        return name


def _place(name: str, text: CorpusText) -> tuple[str, str]:
    """Where a name has to mean one thing: on its page if that is told with it, else in the whole corpus."""
    return name, text.id if needs_context(name) and _page(text) else ""


def _page(text: CorpusText) -> str:
    """The title of a document as questions name it, without the number of its chapter; nothing where it is too long."""
    title = re.sub(
        r"^(?:(?:Chapter|Appendix) )?(?:\d+|[A-Z])(?:\.\d+)*\.\s*| \([^()]*\)$", "", " ".join(text.title.split())
    )
    return title if len(title) <= _LONGEST_TITLE else ""


def _with_page(question: str, text: CorpusText) -> str:
    """`What is file_name (COPY)?`: a question on what means another thing on another page, with the page."""
    page = _page(text)
    name = next((name for name in re.findall(r"[\w-]+(?=[ ?])", question) if needs_context(name)), "")
    if name:
        named = rf"(?<![\w-]){re.escape(name)}(?: (?:option|setting|parameter|argument|attribute|property))?(?![\w-])"
        return re.sub(named, lambda found: f"{found[0]} ({page})", question, count=1) if page else ""
    plain = _PLAIN.fullmatch(question)
    if plain is None:
        return question
    return f"{plain[1]} ({page})?" if page else ""


def _said(text: CorpusText, line: Line) -> Statement | None:
    """What the first rule that fits a line makes of it."""
    for kind, sort, rule in RULES:
        made = rule(line)
        if made is not None and made.answer and len(made.answer.split()) <= MOST_WORDS:
            about = line.entry if line.entry and line.entry in made.question else ""
            near = about and line.entry_at >= 0 and line.end - line.entry_at <= _LONGEST_QUOTE
            start = line.entry_at if near else line.start  # the quote names what it is about, if it stands near
            whole = kind in ("faq", "purpose") or (kind == "version" and " of " in made.question)
            asked = made.question if whole else _with_page(made.question, text)
            if not asked:
                return None
            question = f"{asked[0].upper()}{asked[1:]}"
            return Statement(kind, sort, question, made.answer, text, start, line.end, about)
    return None


def _spans(source: QuestionSource, text: CorpusText) -> list[tuple[int, int]]:
    """Places of sentences, one line each. Lines of a PDF were broken by its width."""
    whole, found = text.document.text, list[tuple[int, int]]()
    for start, end in source.texts.sentences(text):
        if text.document.format == "pdf":
            found.append((start, end))
            continue
        found += [(start + line.start(), start + line.end()) for line in re.finditer(r"[^\n]+", whole[start:end])]
    return found


def _key(said: Statement) -> tuple[str, ...]:
    """What a question says, whatever the order of its words."""
    return (said.kind, *sorted(set(plain_words(said.question).split()) - STOP))
