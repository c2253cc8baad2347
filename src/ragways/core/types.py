"""The nouns of ragways, all frozen. Each keeps the one before it, so `answer.evidence.hits.query` is the provenance.

    Document ─▶ Structure              what was read, and its parts
    Query ─▶ Hits ─▶ Evidence ─▶ Answer   a question, what retrieval found, what fits, the answer

Order everywhere: best first, equal scores by id. Scores are comparable within one list only; lists are
joined by rank. Offsets are characters of `Document.text`, start included and end not.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from ragways.core.language import refusal
from ragways.core.markdown import Node, html, plain_tree, tree, uncited
from ragways.core.outgoing import outgoing
from ragways.core.text import shortened

Kind = Literal["article", "section", "paragraph", "chunk", "sentence", "triplet", "report"]

ABSTENTION = "Insufficient information"
"""The answer of every paradigm when the evidence does not hold one."""


def content_hash(*parts: str) -> str:
    """A name for a text: equal texts get equal names, on every machine."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]


def title_name(title: str) -> str:
    """A title as titles are compared: `Old_Harbour`, `old harbour` and `Old  Harbour` are one."""
    return " ".join(unicodedata.normalize("NFC", title.replace("_", " ").casefold()).split())


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line of a document. Level 1 is the title, 2 a section, 3 a subsection."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Link:
    """`text[start:end]` links to the article called `target`."""

    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True)
class Infobox:
    """A box of named facts. `text[start:end]` is its plain rendering, a line `key: value` a fact."""

    start: int
    end: int
    kind: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """From this character of the text on, page and line of the file that it was read from. 0: not known."""

    start: int
    page: int = 0
    line: int = 0


MarkupKind = Literal["heading", "code", "gap", "inline", "item", "table", "link"]


@dataclass(frozen=True, slots=True)
class Markup:
    """What `text[start:end]` was before it was made plain (`corpus/markup.py`).

    - `heading`: its value is the number signs of its level; `item` begins at `start`, its value is its sign (`-`, `2.`)
    - `code`: a block, its value is the language; `gap`: so many blank lines stood before `start` in a block of code
    - `inline`: code within a line; `link`: its value is the address
    - `table`: a row a line, the first of which names the columns
    """

    start: int
    end: int
    kind: MarkupKind
    value: str = ""


def document_number(key: str) -> int:
    """The number of the document with this key."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:12], 16)


@dataclass(frozen=True, slots=True)
class Document:
    """One article as plain text, with where its parts stand in it.

    `key` says where it came from (`notes/tides.md`, `dump.xml#Title`) and is unique in an index. A redirect is a
    document without text that names the title it leads to. `places` say where in the file its text stood, in order;
    `markup` what it was before it was made plain.
    """

    key: str
    title: str
    text: str
    format: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    infoboxes: tuple[Infobox, ...] = ()
    redirect: str | None = None
    places: tuple[Place, ...] = ()
    markup: tuple[Markup, ...] = ()

    @property
    def id(self) -> str:
        """`article:` and a number made from the key, so that no order of adding changes it."""
        return f"article:{document_number(self.key)}"


@dataclass(frozen=True, slots=True)
class Part:
    """A section, paragraph, chunk or sentence: `id` holds its parents' ids, `article:12:s8:p2:c0`."""

    id: str
    start: int
    end: int
    title: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Structure:
    """A document taken apart. Every part lies inside the document's text and in reading order."""

    document: Document
    sections: tuple[Part, ...]
    paragraphs: tuple[Part, ...]
    chunks: tuple[Part, ...]
    sentences: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question. `searches` are further texts to search by that a rewriting step added."""

    text: str
    searches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that can be evidence, with the place in its document that shows it."""

    id: str
    kind: Kind
    text: str
    document: str
    title: str
    start: int
    end: int
    tokens: int
    date: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Why a piece is here: which retriever found it, at which rank (from 1), with which score of its own."""

    by: str
    rank: int
    score: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    piece: Piece
    score: float
    found: tuple[Found, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a passage is from: what a reader needs to find it again.

    `key` is its document's (`docs/api.md`, `dump.xml#Title`), `url` its address where the document names one, `section`
    the titles of the headings above it, outermost first. Pages and lines are those of the file, from the first to the
    last; 0 where they are not known. What stands in no document, as a community's report, has none of it.
    """

    key: str = ""
    url: str = ""
    section: tuple[str, ...] = ()
    page: int = 0
    last_page: int = 0
    line: int = 0
    last_line: int = 0

    def heading(self, title: str) -> str:
        """Return the title of a document with the headings above the passage: `Third Party Packages › Hishel`."""
        return " › ".join(filter(None, (title, *self.section)))

    def __str__(self) -> str:
        """`docs/api.md › Errors, lines 120–134`, `paper.pdf, p. 7`, or with the address in place of the key."""
        parts = [" › ".join(filter(None, (self.url or self.key, *self.section)))]
        if self.page:
            parts.append(f"pp. {self.page}–{self.last_page}" if self.last_page > self.page else f"p. {self.page}")
        if self.line:
            parts.append(f"lines {self.line}–{self.last_line}" if self.last_line > self.line else f"line {self.line}")
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Hits:
    """A ranked list: best first, equal scores by id, no piece twice.

    `sources` say where each of them is from, in a list that is given to a user; between steps there are none. `note` is
    what is to be known of how they were found.
    """

    query: Query
    items: tuple[Hit, ...] = ()
    sources: tuple[Origin, ...] = ()
    note: str = ""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return True  # a list without hits is still an answer of a retriever

    def __repr__(self) -> str:
        return hits_text("Hits", self.query.text, self.items, self.sources)

    def _repr_html_(self) -> str:
        return hits_html(self.query.text, self.items, self.sources)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The hits that fit the budget, in order, and the tokens they cost.

    `sources` say where each item is from, `near_duplicates` how many pieces that say nearly the same were found for
    each; `shown` is each as Markdown, with its code, lists, tables and links, as models and people are shown it.
    """

    hits: Hits
    items: tuple[Hit, ...]
    tokens: int
    sources: tuple[Origin, ...] = ()
    near_duplicates: tuple[int, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What was shown of documents: the text of each piece, its title, and where it is from."""
        described = (
            text
            for hit, origin, _ in self.described()
            for text in (hit.piece.text, hit.piece.title, origin.key, origin.url)
        )
        return (*described, *self.shown)

    def described(self) -> Iterator[tuple[Hit, Origin, int]]:
        """Each item with its source and the number of its near-duplicates; none is known of evidence made by hand."""
        sources = self.sources or (Origin(),) * len(self.items)
        return zip(self.items, sources, self.near_duplicates or (0,) * len(self.items), strict=True)

    def __repr__(self) -> str:
        return hits_text("Evidence", self.hits.query.text, self.items, self.sources)

    def _repr_html_(self) -> str:
        return hits_html(self.hits.query.text, self.items, self.sources)


@dataclass(frozen=True, slots=True)
class Citation:
    """Sentence number `sentence` of the answer rests on `document[start:end]`, a sentence of `piece`; `source` says
    where that stands.
    """

    sentence: int
    piece: str
    document: str
    start: int
    end: int
    quote: str
    source: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and the evidence for it. `way` says whether a model or a rule wrote it.

    `text` is what the model wrote, Markdown with the numbers of passages in square brackets. It is made harmless where
    it is shown: `core/outgoing.py` has the rule for what other programs render.

    `explanation` is how the answer follows, where that is separate from the answer itself. `error` is why a model gave
    no answer, where a rule's stands in its place; else it is empty. `chance` is the chance of being
    right (of an abstention: that which the best answer found would have had), None where nothing measured it. `note` is
    what is to be known of how it was made, such as that the reader does not know the question's language.
    """

    evidence: Evidence
    text: str
    citations: tuple[Citation, ...] = ()
    abstained: bool = False
    support: tuple[float, ...] = ()
    """On request, an estimated chance for each citation that it supports its sentence: a weak signal."""
    way: str = ""
    explanation: str = ""
    error: str = ""
    chance: float | None = None
    note: str = ""
    from_memory: bool = False
    """Whether no document was shown to the model that wrote it."""

    @property
    def shown_evidence(self) -> Evidence | None:
        """What the model was shown; None where it answered from memory."""
        return None if self.from_memory else self.evidence

    @property
    def by_rule(self) -> bool:
        """Whether no model wrote the text: then it is plain text, in the words of documents."""
        return self.way.startswith("rule")

    @property
    def uncited(self) -> list[tuple[int, int]]:
        """Where in `text` the blocks stand that cite no passage; none of an answer by rule, whose sentences all do."""
        return [] if self.by_rule or self.abstained else uncited(self.text, len(self.evidence.items))

    @property
    def shown(self) -> str:
        """The text as a person is shown it: an abstention, whose text is one for all programs, in the question's
        language.
        """
        return refusal(self.evidence.hits.query.text) or self.text if self.abstained else self.text

    @property
    def full_text(self) -> str:
        """The answer and, below it, its explanation: what a person is shown."""
        return f"{self.shown}\n\n{self.explanation}" if self.explanation else self.shown

    def __repr__(self) -> str:
        return answer_text(self.full_text, self.citations, len(self.evidence.items), self.way)

    def _repr_html_(self) -> str:
        return answer_html(self)


def ranked(query: Query, hits: Iterable[Hit]) -> Hits:
    """Hits in the one order that every list keeps; a piece found twice keeps its best score."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.piece.id)
        if known is None or hit.score > known.score:
            best[hit.piece.id] = hit
    return Hits(query, tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.piece.id))))


# How they look in a terminal and in a notebook. All text of documents is escaped.


def hits_text(name: str, query: str, hits: Sequence[Hit], sources: Sequence[Origin] = ()) -> str:
    """`<Hits of 'Who…': 12>` and a line for each of the first five, with its source where it is given."""
    lines = [f"<{name} of {shortened(query)!r}: {len(hits)}>"]
    for rank, hit in enumerate(hits[:5], start=1):
        piece = hit.piece
        where = shortened(str(sources[rank - 1]), 60) if sources else piece.id
        lines.append(f"  {rank}. {hit.score:.4f}  {shortened(piece.title, 40)}  {where}  {shortened(piece.text)}")
    return "\n".join([*lines, *(["  …"] if len(hits) > 5 else [])])


def hits_html(query: str, hits: Sequence[Hit], sources: Sequence[Origin] = ()) -> str:
    """A table of hits: rank, score, title, source where it is given, text and who found each."""
    rows = "".join(
        f"<tr><td>{rank}</td><td>{hit.score:.4f}</td><td>{escape(hit.piece.title)}</td>"
        + (f"<td>{escape(str(sources[rank - 1]))}</td>" if sources else "")
        + f"<td style='text-align:left'>{escape(shortened(hit.piece.text, 240))}</td>"
        f"<td>{escape(', '.join(dict.fromkeys(found.by for found in hit.found)))}</td></tr>"
        for rank, hit in enumerate(hits, start=1)
    )
    heads = "".join(
        f"<th>{head}</th>" for head in ("", "score", "title", *(["source"] if sources else []), "text", "found by")
    )
    return f"<p>{escape(query)}</p><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def answer_text(text: str, citations: Sequence[Citation], evidence: int, way: str) -> str:
    """The answer itself, and a line of what it rests on."""
    return f"<Answer: {text}\n  {len(citations)} citations, {evidence} pieces of evidence, by {way or 'nobody'}>"


def answer_html(answer: Answer) -> str:
    """The answer, and below it each sentence that it cites with the title it stands under and where it is from."""
    titles = {hit.piece.id: hit.piece.title for hit in answer.evidence.items}
    sources = "".join(
        f"<li><b>{escape(titles.get(citation.piece, citation.document))}</b> ({escape(str(citation.source))}): "
        f"{escape(shortened(citation.quote, 300))}</li>"
        for citation in answer.citations
    )
    return html(answer_tree(answer)) + (f"<ul>{sources}</ul>" if sources else "")


def answer_tree(answer: Answer) -> list[Node]:
    """The answer and its explanation as nodes (`core/markdown.py`), after the rule for what leaves."""
    shown = len(answer.evidence.items)
    if answer.by_rule or answer.abstained:
        return plain_tree(outgoing_text(answer, answer.full_text), shown)
    text, explanation = outgoing_text(answer, answer.text), outgoing_text(answer, answer.explanation)
    return tree(text, shown, mark_uncited=True) + tree(explanation, shown)


def outgoing_text(answer: Answer, text: str) -> str:
    """A text of an answer as it may leave (`core/outgoing.py`)."""
    return outgoing(text, None if answer.from_memory else answer.evidence.texts)
