"""The titles of a corpus: which article a name means, which titles stand in a text, and which are most like a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ragways.core.errors import ToolError
from ragways.core.types import title_name
from ragways.layers.graph.names import STOP, TOKEN, plain_name
from ragways.layers.protocols import ArticleLookup
from ragways.store.titles import LONGEST, letters, likeness

_HOPS = 10
_REDIRECTS = 200
"""Redirects to an article that are followed back."""
_CANDIDATES = 2000
"""Titles that are compared with a name, letter by letter."""
_WORDS = 12
"""Words of a title that are looked for in texts."""
_BEGINNING = 8
"""Names with one beginning that are read: those with brackets behind it stand first."""
_MEANINGS = 5
"""A title in a text that could mean more articles than this means none."""
_INITIALS = 6
"""Letters of a name that a text may write with full stops."""
_CACHED = 50_000
_ID = re.compile(r"article:([0-9]{1,18})(:.*)?", re.ASCII | re.DOTALL)


class Mention(NamedTuple):
    """Where a title stands in a text, and the articles that it may mean."""

    start: int
    end: int
    articles: tuple[int, ...]


class Catalogue:
    """Titles, looked up in the store. Articles are numbers; `article:` is put before them for showing."""

    def __init__(self, articles: ArticleLookup) -> None:
        self._lookup = articles
        self._beginnings: dict[str, list[str]] = {}
        self._ends: dict[str, int | None] = {}

    def title(self, number: int) -> str | None:
        """What an article is called; None where there is no article of this number."""
        return self._lookup.title(number)

    def by_name(self, name: str) -> int | None:
        """The article of a name as names are compared, redirects resolved: the first article that is called so, or else
        where the last redirect of the name leads. One that leads nowhere, or in a circle, means none.
        """
        return self.by_names([name]).get(name)

    def by_names(self, names: Iterable[str]) -> dict[str, int]:
        """The same of many names: those that mean an article."""
        wanted = set(names)
        if len(self._ends) > _CACHED:
            self._ends.clear()
        if new := [name for name in wanted if name not in self._ends]:
            self._ends.update(dict.fromkeys(new) | self._articles(new))
        return {name: number for name in wanted if (number := self._ends[name]) is not None}

    def _articles(self, names: Iterable[str]) -> dict[str, int]:
        left = {name: name for name in names}
        found: dict[str, int] = {}
        for _ in range(_HOPS + 1):
            if not left:
                break
            known = self._lookup.articles_named(set(left.values()))
            found.update((name, known[here]) for name, here in left.items() if here in known)
            left = {name: here for name, here in left.items() if here not in known}
            leads = self._lookup.redirects_named(set(left.values())) if left else {}
            left = {name: leads[here] for name, here in left.items() if here in leads}
        return found

    def names(self, number: int) -> dict[str, str]:
        """The names by which an article can be linked to, its own and those of its redirects, with the titles."""
        title = self.title(number) or ""
        found = {title_name(title): title}
        nearest = list(found)
        for _ in range(_HOPS):
            leading = [row for name in nearest for row in self._lookup.leading(name, _REDIRECTS)]
            new = {name: title for name, title in leading if name not in found}
            nearest = list(new)[: max(0, _REDIRECTS - len(found))]
            found |= {name: new[name] for name in nearest}
        meant = self.by_names(found)
        return {name: title for name, title in found.items() if meant.get(name) == number}

    def find(self, text: str) -> int:
        """The article that an id, the id of one of its parts, or a title means."""
        text = _readable(text.strip())
        match = _ID.fullmatch(text)
        if match is not None:
            number = int(match[1])
            if self.title(number) is not None:
                return number
            near = [_label(*each) for each in self._lookup.around(number)]
            raise ToolError(f"there is no article with the id {shown(text)}", near)
        found = self.by_name(title_name(text))
        if found is None:
            near = [_label(number, self.title(number) or "") for number, _ in self.nearest(text, 5)]
            raise ToolError(f"there is no article called {shown(text)}", near)
        return found

    def nearest(self, text: str, k: int) -> list[tuple[int, float]]:
        """The k articles with the titles most like a text, by the letters they share; 1.0 is the same title."""
        text = _readable(text)
        own = letters(text)
        # A redirect and its article are one, and few shared letters may be many of a short title: look at more.
        rows = dict(self._lookup.like(text, min(4 * k + 20, _CANDIDATES)))
        scores = {name: round(likeness(own, known), 4) for name, known in rows.items()}
        exact = title_name(text)
        articles = self.by_names([exact, *scores])
        scores[exact] = 1.0
        found: dict[int, float] = {}
        for name in sorted(articles, key=lambda name: (name != exact, -scores[name], name)):
            found.setdefault(articles[name], scores[name])
        return list(found.items())[:k]

    def titles_in(self, text: str) -> Iterator[Mention]:
        """Titles that stand in a text, from left to right: the longest from each place on, none inside another."""
        at = 0
        while match := TOKEN.search(text, at):
            found = self.title_at(text, match.start())
            at = match.end() if found is None else found.end
            if found is not None and found.articles:
                yield found

    def title_at(self, text: str, start: int) -> Mention | None:
        """The longest title that begins at a place of a text. One in small letters (`place of birth`) is no name."""
        if text[start].islower():
            return None
        end, called = start, list[str]()
        articles = ["", "the "]
        for count, word in enumerate(islice(TOKEN.finditer(text, start), _WORDS), start=1):
            names = _written(text[start : word.end()], text[word.end() : word.end() + 1])
            sure = count > 1 or not (word[0].casefold() in STOP or word[0].isdecimal() or len(word[0]) == 1)
            longer = []
            for article in articles:
                forms = [article + name for name in names]
                known = [each for form in forms for each in self._beginning(form)]
                if sure and end < word.end() and (found := _called(known, forms)):
                    end, called = word.end(), found
                if len(known) >= _BEGINNING or any(len(each) > len(forms[0]) for each in known):
                    longer.append(article)
            if not (articles := longer):
                break
        meant = sorted(set(self.by_names(called).values()))
        return Mention(start, end, tuple(meant) if len(meant) <= _MEANINGS else ()) if called else None

    def _beginning(self, name: str) -> list[str]:
        if name not in self._beginnings:
            if len(self._beginnings) >= _CACHED:
                self._beginnings.clear()
            self._beginnings[name] = self._lookup.beginning(name, _BEGINNING)
        return self._beginnings[name]

    def places(self, text: str, article: int, pattern: re.Pattern[str]) -> list[int]:
        """Where in a text an article's title stands; `pattern` is of its names (`pattern_of`)."""
        found = (self.title_at(text, match.start()) for match in pattern.finditer(text))
        return [each.start for each in found if each is not None and article in each.articles]


def names_of(titles: Iterable[str]) -> set[str]:
    """What texts may call an article: `X (ship)` is `X` too, and `UK` is `U.K.`."""
    names = {" ".join(name.split()) for title in titles for name in (title, plain_name(title)) if name.strip()}
    return names | {f"{'.'.join(name)}." for name in names if 1 < len(name) <= _INITIALS and name.isupper()}


def pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Where one of these names may stand in a text; what it begins with may be left out: `The`."""
    forms = sorted(re.escape(name.removeprefix("The ")).replace(r"\ ", r"\s+") for name in names)
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})", re.IGNORECASE) if forms else re.compile(r"(?!)")


def _written(text: str, following: str) -> list[str]:
    """The names that words of a text may be, as names are compared."""
    name = title_name(text)
    forms = [name.removesuffix("'s").removesuffix("’s")]
    if name.endswith(".") and " " not in name:  # `U.K.` is `UK` too
        forms.append(name.replace(".", ""))
    return [*forms, name + following] if following in ("!", "?", ".", ")") else forms


def _called(known: Collection[str], names: Collection[str]) -> list[str]:
    """Of the known names those that words may be, or else those with something in brackets behind it."""
    exact = [name for name in names if name in known]
    return exact or sorted({each for each in known for name in names if each.startswith(f"{name} (")})


def _readable(text: str) -> str:
    """A text without lone surrogates, which a store cannot take."""
    return text.encode("utf-8", "replace").decode()


def _label(number: int, title: str) -> str:
    return f"article:{number} ({title[:LONGEST]})"


def shown(text: str) -> str:
    """An argument in short, on one line, for an error."""
    short = text if len(text) <= 80 else text[:79] + "…"
    return repr(short.encode("utf-8", "replace").decode())
