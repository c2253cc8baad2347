"""What documents are about: the name by which a question may call it, and its type."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragways.core.types import title_name
from ragways.evaluation.questions.texts import Text, Texts
from ragways.index.graph.names import coarse, fold, split_title, type_of_sentence

_DAY = r"(?:\d{1,2} [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2},) \d{4}"
_BORN = re.compile(rf"\(\s*born\b|\bwas born\b|\(\s*{_DAY}\s*[–-]\s*{_DAY}\s*\)")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_HEADLINE = re.compile(r"\b(?:is|was|are|were|to|ends|in the|list of|history of|timeline)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` as questions write it, `bare` as texts do; `lead` is the offsets of the first sentence."""

    text: Text
    name: str
    bare: str
    type: str
    kind: str
    group: str
    """What it is compared with: subjects whose boxes are alike, else those of its type."""
    lead: tuple[int, int]
    sentences: tuple[tuple[int, int], ...]

    @property
    def id(self) -> str:
        return self.text.id


class Subjects:
    """Subjects by document, and which document a name means: none where several could be meant."""

    def __init__(self, texts: Texts) -> None:
        self.all: dict[str, Subject] = {}
        bases: dict[str, set[str]] = {}
        titles: dict[str, set[str]] = {}
        for text in texts.all:
            base, _ = split_title(text.title)
            bases.setdefault(fold(base), set()).add(text.id)
            titles.setdefault(title_name(text.title), set()).add(text.id)
        self._bases, self._titles = bases, titles
        for title, target in texts.redirects:
            bases.setdefault(fold(split_title(title)[0]), set()).update(titles.get(title_name(target), ()))
        for text in texts.all:
            subject = self._subject(text, texts)
            if subject is not None:
                self.all[text.id] = subject

    def named(self, name: str) -> Subject | None:
        """The one document that is called so."""
        ids = self._titles.get(title_name(name)) or self._bases.get(fold(name), set())
        if len(ids) != 1 or (
            len(self._bases.get(fold(split_title(name)[0]), ())) > 1 and title_name(name) not in self._titles
        ):
            return None
        return self.all.get(next(iter(ids)))

    def rivals(self, name: str) -> int:
        """How many documents could be meant by a name."""
        return len(self._bases.get(fold(split_title(name)[0]), ()))

    def _subject(self, text: Text, texts: Texts) -> Subject | None:
        base, ending = split_title(text.title)
        if (
            ending.casefold() == "disambiguation"
            or not _LETTERS.search(base)
            or len(self._titles[title_name(text.title)]) > 1
            or not base[0].isupper()
        ):
            return None
        boxes = [(box.start, box.end) for box in text.document.infoboxes]
        sentences = tuple(
            (start, end)
            for start, end in texts.sentences(text)
            if not any(low <= start < high for low, high in boxes)
            and title_name(text.document.text[start:end].strip(" #")) != title_name(text.title)
        )
        if not sentences:
            return None
        lead = sentences[0]
        words = text.document.text[slice(*lead)]
        known = type_of_sentence(_without_brackets(words))
        type = known or (ending.split()[-1] if ending else "") or next((b.kind for b in text.document.infoboxes), "")
        if not boxes and not _about(words, base):
            return None
        alone = len(self._bases[fold(base)]) == 1
        box = next((box.kind.casefold() for box in text.document.infoboxes), "")
        type = type.casefold()
        kind = coarse(type) or coarse(box) or ("person" if _BORN.search(words) else "")
        name = _shown(text, base, ending, alone)
        return Subject(text, name, base, type, kind, box or type, lead, sentences)


def _without_brackets(words: str) -> str:
    return re.sub(r"\s*\([^()]*\)", "", words)


def _about(lead: str, base: str) -> bool:
    """Whether a text begins with its title's name, so that the title names a thing and is no headline."""
    begin = fold(lead[: 3 * len(base) + 80])
    words = fold(base).split(",")[0].split()
    return bool(words) and (words[-1] in begin.split() or words[0] in begin.split()) and not _HEADLINE.search(base)


def _shown(text: Text, base: str, ending: str, alone: bool) -> str:
    if ending and not alone:
        plain = not re.search(r"[,\d]", ending) or re.fullmatch(r"\d{4} [\w ]+", ending)
        return f"the {ending} {base}" if plain else text.title
    if base.startswith(("The ", "A ", "An ")):
        return base
    written = text.document.text
    every = len(re.findall(rf"(?<!\w){re.escape(base)}(?!\w)", written))
    definite = len(re.findall(rf"\b[Tt]he {re.escape(base)}(?!\w| [^\W\d_a-z])", written))
    return f"the {base}" if definite and 2 * definite >= every else base
