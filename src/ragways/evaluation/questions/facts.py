"""Facts that questions are made of: what documents are about, and what their boxes and sentences state of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragways.core import dates
from ragways.core.types import title_name
from ragways.evaluation.questions.source import CorpusText, QuestionSource, grouped
from ragways.evaluation.questions.templates import RELATIONS, Wording, date_of, of_field
from ragways.layers.graph.names import COARSE, coarse, fold, split_title, type_of_sentence

LONGEST = 60
"""Characters of an answer: what is longer is a description, not a value."""
MAX_CHAINS = 200_000
_HEADLINE = re.compile(
    r"\b(?:is|was|are|were|to|ends|in the|list of|history of|timeline|(?:economy|geography|politics) of|part \d+)\b",
    re.IGNORECASE,
)
_LIST = re.compile(r"\n|;|•|<br|, (?=[^\W\d_])")
_WORD = r"(?:[^\W\d_a-z][\w'’.&+-]*\w|[^\W\d_a-z]\.?)"
_NAME = re.compile(rf"{_WORD}(?: (?:(?:of|the|de|von|van|der|la|&) ){{0,2}}{_WORD})*")
_MORE = re.compile(r"[\w+&]|['’]|,? (?:and|&) [^\W\d_a-z]|\s?[–—/-]\s?\d")
"""What may not follow a value: the rest of a word, the next of a list, the end of a period."""
_ADJECTIVE = re.compile(r"[^\s,.;]+ (?!(?:and|in|on|for|with|from|who|as|at|to|of|is|was)\b)[a-z]")
"""`by American rapper Big Boi`: where somebody is from, not who."""
_BEFORE = re.compile(
    r"(?: \([^()]*\))?(?:,? (?:is|was|are|were|has been) |,? | \()"
    r"(?:(?!and |or |of |by |that |which |who |on |for |from |first |will |be |to |not )[\w'’-]+ ){0,12}?"
)
"""What may stand between a subject and the phrase of a relation: `is a 1954 drama film (directed by)`."""
_AFTER = re.compile(r" (?:(?:the |an? )?(?:[A-Z]\w+(?:an|ish|ese|ch|ic) )?(?:[a-z-]+ ){1,3})?")
"""What may stand between the phrase and somebody: `by the English rock band`."""
_PLACED = re.compile(r"(?: \([^()]*\))? (?:is|was) an? (?:(?!in |of |on |by )[\w'’-]+ )+in(?= )")
_LIFE = re.compile(r" \((?=\d)")
_MARKS = "\"“”'‘’` "


@dataclass(frozen=True, slots=True)
class Subject:
    """What a document is about: `name` as questions write it, `bare` as texts do.

    `type` is a word such as `town`, `kind` a coarser one such as `place`. Subjects of one `group` can be compared:
    those whose boxes are alike, else those of one type. `lead` is the place of the first sentence.
    """

    text: CorpusText
    name: str
    bare: str
    type: str
    kind: str
    group: str
    lead: tuple[int, int]

    @property
    def id(self) -> str:
        return self.text.id


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that chunk `chunk` states of a subject, in the words `quote`; `leads_to` is the document about it."""

    subject: Subject
    relation: Wording
    value: str
    quote: str
    chunk: str
    leads_to: str = ""

    @property
    def id(self) -> str:
        return f"{self.subject.id} {self.relation.name}: {self.value}"

    @property
    def document(self) -> str:
        """The document that states it, which may be another than the one about its subject."""
        return ":".join(self.chunk.split(":")[:2])

    @property
    def answers(self) -> tuple[str, ...]:
        """The value in every form that would be right; of a place, its own name alone will do."""
        first = self.value.split(",")[0]
        short = (first,) if self.relation.sort == "place" and first != self.value else ()
        return (*written_forms(self.value), *short)


Chain = tuple[Fact, ...]


def written_forms(value: str) -> tuple[str, ...]:
    """A value and the other ways to write it: a date with its day first or its month first."""
    date = date_of(value)
    return tuple(dict.fromkeys((value, *(date.forms if date is not None and date.day else ()))))


class Subjects:
    """What documents are about, by document, and which document a name means: none where several could be meant."""

    def __init__(self, source: QuestionSource) -> None:
        self._source = source
        texts = source.texts.values()
        self._titles = {title: {text.id for text in of} for title, of in
                        grouped(texts, lambda text: title_name(text.title)).items()}  # fmt: skip
        self._names: dict[str, set[str]] = {}
        for text in texts:
            self._names.setdefault(fold(split_title(text.title)[0]), set()).add(text.id)
        for title, target in source.redirects:
            ids = self._titles.get(title_name(target), set())
            self._names.setdefault(fold(split_title(title)[0]), set()).update(ids)
        found = (self._subject(text) for text in texts)
        self.all = {subject.id: subject for subject in found if subject is not None}

    def named(self, name: str) -> Subject | None:
        """The subject of the one document that is called so."""
        ids = self._titles.get(title_name(name)) or self._names.get(fold(name), set())
        if len(ids) != 1 or (title_name(name) not in self._titles and self.rivals(name) > 1):
            return None
        return self.all.get(next(iter(ids)))

    def rivals(self, name: str) -> int:
        """How many documents could be meant by a name."""
        return len(self._names.get(fold(split_title(name)[0]), ()))

    def _subject(self, text: CorpusText) -> Subject | None:
        base, ending = split_title(text.title)
        if len(self._titles[title_name(text.title)]) > 1 or not base[:1].isupper() or _HEADLINE.search(base):
            return None
        boxes, whole = text.document.infoboxes, text.document.text
        lead = next(
            (
                (start, end)
                for piece in text.chunks[:2]
                for start, end in self._source.index.sentences(piece)
                if not any(box.start <= start < box.end for box in boxes)
                and title_name(whole[start:end].strip(" #")) != title_name(text.title)
            ),
            None,
        )
        if lead is None or ending.casefold() == "disambiguation":
            return None
        words = whole[slice(*lead)]
        opening = fold(words[: 3 * len(base) + 80]).split()
        called = fold(base).split(",")[0].split()
        if not boxes and not (called and (called[0] in opening or called[-1] in opening)):
            return None
        box = next((box.kind.casefold() for box in boxes), "")
        type = (type_of_sentence(re.sub(r"\s*\([^()]*\)", "", words)) or ending.rpartition(" ")[2] or box).casefold()
        kind = "person" if re.search(r"\(\s*born\b", words) else coarse(type) or coarse(box)
        return Subject(text, self._shown(text, base, ending), base, type, kind, box or type, lead)

    def _shown(self, text: CorpusText, base: str, ending: str) -> str:
        """`the 1926 film Sparrows`, `the Ness Light`: a title with an ending names several things in the world."""
        if re.fullmatch(r"(?:\d{4} )?(?:[A-Z]{2,4} )?[a-z ]+", ending) and ending.rpartition(" ")[2] in COARSE:
            return f"the {ending} {base}"
        if (ending and self.rivals(base) > 1) or base.startswith(("The ", "A ", "An ")):
            return text.title
        every = len(re.findall(rf"(?<!\w){re.escape(base)}(?!\w)", text.document.text))
        definite = len(re.findall(rf"\b[Tt]he {re.escape(base)}(?!\w| [^\W\d_a-z])", text.document.text))
        return f"the {base}" if definite and 2 * definite >= every else base


class FactIndex:
    """All facts: `every`, `by_id`, by subject (`about`), by chunk (`in_chunk`), by relation (`stating`).

    `sure` are the ids of facts with one value alone, whatever states it.
    """

    def __init__(self, source: QuestionSource) -> None:
        self._source = source
        self.subjects = Subjects(source)
        stated = [*self._of_boxes(), *self._of_sentences()]
        values = grouped(stated, lambda fact: (fact.subject.id, fact.relation.name)).values()
        # The fullest value: a year and a day in it, a town and its country.
        best = [max(facts, key=lambda fact: (len(fact.value), fact.id)) for facts in values]
        self.sure = {one.id for one, facts in zip(best, values, strict=True) if all(_agrees(f, one) for f in facts)}
        self.every = sorted(best, key=lambda fact: fact.id)
        self.by_id = {fact.id: fact for fact in self.every}
        self.about = grouped(self.every, lambda fact: fact.subject.id)
        self.in_chunk = grouped(self.every, lambda fact: fact.chunk)
        self.stating = grouped(self.every, lambda fact: fact.relation.name)
        self._chains: dict[int, dict[tuple[str, ...], list[Chain]]] = {}

    def chains(self, hops: int) -> dict[tuple[str, ...], list[Chain]]:
        """Facts in a row, each about what the one before leads to and of another document; by their relations."""
        if hops not in self._chains:
            chains: list[Chain] = [(fact,) for fact in self.every if fact.leads_to]
            for hop in range(1, hops):
                chains = [
                    (*chain, fact)
                    for chain in chains
                    for fact in self.about.get(chain[-1].leads_to, ())
                    if (hop == hops - 1 or fact.leads_to) and _goes_on(chain, fact)
                ][:MAX_CHAINS]
            by_relation = grouped(chains, lambda chain: tuple(fact.relation.name for fact in chain))
            self._chains[hops] = dict(sorted(by_relation.items()))
        return self._chains[hops]

    def _fact(self, subject: Subject, relation: Wording, value: str, quote: str, chunk: str) -> Fact | None:
        """A fact, unless its value is too long, or the subject's own name."""
        value = value.strip(" ,.")
        if not value or value.endswith(("'s", "’s")) or len(value) > LONGEST or fold(value) == fold(subject.bare):
            return None
        led = next(filter(None, map(self.subjects.named, (value, value.split(",")[0]))), None)
        kinds = {"person": ("person", "organization", ""), "place": ("place", "")}.get(relation.sort)
        # `kingdom: Animalia` does not mean `Animalia (book)`, and what has no other name must not be guessed.
        leads = led is not None and relation.describe and led.id != subject.id and (
            led.kind in kinds if kinds else not split_title(led.text.title)[1]
        )  # fmt: skip
        return Fact(subject, relation, value, quote, chunk, led.id if leads and led is not None else "")

    def _of_boxes(self) -> Iterator[Fact]:
        """A fact a field, quoted as the text writes it: `designer: Ada Holm`."""
        for subject in self.subjects.all.values():
            document = subject.text.document
            for box in document.infoboxes:
                for key, written in box.fields:
                    line = f"{key}: {written}"
                    start = document.text.find(line, box.start, box.end)
                    led = self.subjects.named(written.strip())
                    relation = of_field(key, written.strip(), led.kind if led is not None else "")
                    if relation is None or start < 0 or "(" in written:
                        continue
                    if relation.name == "location" and subject.kind == "event":
                        relation = RELATIONS["event place"]
                    piece = subject.text.chunk_at(start, start + len(line))
                    if piece is None or (_LIST.search(written.strip()) and relation.sort != "place"):
                        continue
                    fact = self._fact(subject, relation, written, " ".join(line.split()), piece.id)
                    if fact is not None and fact.value in piece.text:
                        yield fact

    def _of_sentences(self) -> Iterator[Fact]:
        """A fact a sentence that begins with the name of what its document is about."""
        for subject in self.subjects.all.values():
            opens = re.compile(
                rf"[{re.escape(_MARKS)}]*(?:[Tt]he )?{re.escape(subject.bare)}[{re.escape(_MARKS)}]*?(?!\w|-\w)"
            )
            for piece in subject.text.chunks:
                for sentence in self._source.sentences(piece.id):
                    if opened := opens.match(sentence):
                        for relation, value in _stated(sentence, opened.end(), subject.kind):
                            if fact := self._fact(subject, relation, value, sentence, piece.id):
                                yield fact


def _stated(sentence: str, begin: int, kind: str) -> Iterator[tuple[Wording, str]]:
    """Relations and values that the words after a subject state, by the phrases of the templates."""
    joined = [(relation, end) for relation in RELATIONS.values() for phrase in relation.phrases
              if (end := _after_phrase(sentence, begin, phrase))]  # fmt: skip
    if kind == "place" and (placed := _PLACED.match(sentence, begin)):
        joined.append((RELATIONS["location"], placed.end()))
    if kind == "person" and (life := _LIFE.match(sentence, begin)):
        joined.append((RELATIONS["birth date"], life.end() - 1))
    for relation, end in joined:
        if relation.sort == "date":
            found = next(((low, high) for low, high, _ in dates.find(sentence, end) if low <= end + 1), None)
        else:
            after = _AFTER.match(sentence, end) if relation.sort == "person" else re.compile(" ").match(sentence, end)
            name = _NAME.match(sentence, after.end()) if after is not None else None
            found = name.span() if name is not None else None
        if found is None or (_MORE.match(sentence, found[1]) and relation.name != "birth date"):
            continue
        if relation.sort != "person" or not _ADJECTIVE.match(sentence, found[0]):
            yield relation, sentence[slice(*found)]


def _after_phrase(sentence: str, begin: int, phrase: str) -> int:
    """Where a phrase ends that may follow a subject, 0 where none does. `born 3 May 1770 in` is `born in`, too."""
    words = phrase.split()
    between = r"(?: [\w ,]*\d{4})?" if words[0] in ("born", "died") and len(words) > 1 else ""
    pattern = rf"{_BEFORE.pattern}{words[0]}{between}{''.join(f' {word}' for word in words[1:])}(?= )"
    match = re.compile(pattern).match(sentence, begin)
    return match.end() if match is not None else 0


def facts_of(source: QuestionSource) -> FactIndex:
    """The facts of the corpus, read once."""
    return source.once("facts", lambda: FactIndex(source))


def _agrees(fact: Fact, best: Fact) -> bool:
    if fact.relation.sort == "date":
        date, fullest = date_of(fact.value), date_of(best.value)
        return date is not None and fullest is not None and fullest.within(date)
    return f" {fold(fact.value)} " in f" {fold(best.value)} "


def _goes_on(chain: Chain, fact: Fact) -> bool:
    """No document twice, no way back, and nothing asked for as `Where is the place where`."""
    seen = {one.subject.id for one in chain} | {one.document for one in chain}
    if fact.document in seen or fact.subject.id in {one.subject.id for one in chain} or fact.leads_to in seen:
        return False
    return not (fact.relation.name == "location" and chain[-1].relation.sort in ("place", "person"))
