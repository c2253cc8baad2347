"""Which entity a name means. Decided for the whole corpus at once, so that no order of documents can show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ragways.index.graph.kinds import coarse
from ragways.index.graph.merges import EVERYWHERE, Merge, veto_hash
from ragways.index.graph.names import fold
from ragways.index.graph.spoken import Spoken

_STEPS = 8
"""Merges that lead on from one another, at most: a circle must end."""

Key = tuple[str, str]
"""A name as it is compared, and its kind where two kinds of thing have that name."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A merge as a person reads it: `name` was taken for `into`."""

    key: Key
    name: str
    into: str
    reason: str
    documents: int


class Resolver:
    """`key(document, name, type)` is the entity that a document means by a name."""

    def __init__(
        self,
        spoken: Mapping[int, Spoken],
        spelling: Mapping[str, str],
        merges: Iterable[Merge],
        forbidden: Collection[str],
    ) -> None:
        self._merges: dict[tuple[int, str], Merge] = {}
        for merge in merges:
            if not forbidden or veto_hash(merge.name, merge.into) not in forbidden:
                self._merges.setdefault((merge.document, merge.name), merge)
        self._own: set[str] = set()
        self.spelling = spelling
        if forbidden:
            self._split_spellings(spoken, forbidden)
        self._kinds: dict[str, set[str]] = defaultdict(set)
        self._known: dict[tuple[int, str], set[str]] = defaultdict(set)
        self.recorded: dict[tuple[Key, str, str], Counter[str]] = defaultdict(Counter)
        self._see_kinds(spoken)

    def _split_spellings(self, spoken: Mapping[int, Spoken], forbidden: Collection[str]) -> None:
        """Spellings that fold to one name and still were told apart."""
        for document in spoken.values():
            for name, use in document.names.items():
                for spelling in use.spellings:
                    main = self.spelling[name]
                    if spelling != main and veto_hash(spelling, main) in forbidden:
                        self._own.add(spelling)

    def _see_kinds(self, spoken: Mapping[int, Spoken]) -> None:
        for number, document in spoken.items():
            for use in document.names.values():
                kinds = {group(type) for type in use.types} - {""}
                if kinds:
                    final = self._final(number, next(iter(use.spellings)))
                    self._kinds[final] |= kinds
                    self._known[number, final] |= kinds

    def key(self, document: int, name: str, type: str = "") -> Key:
        final = self._final(document, name)
        kinds = self._kinds.get(final, set())
        if len(kinds) < 2:
            return final, ""
        kind = group(type)
        if kind in kinds:
            return final, kind
        here = self._known.get((document, final), set())
        return final, next(iter(here)) if len(here) == 1 else ""

    def _final(self, document: int, name: str) -> str:
        here = fold(name) if name not in self._own else f"{fold(name)}\x1f{name}"
        for _ in range(_STEPS):
            merge = self._merges.get((document, here)) or self._merges.get((EVERYWHERE, here))
            if merge is None:
                break
            here = merge.into
        return here

    def record(self, document: int, name: str, key: Key) -> None:
        """Note the merges that led from a name to its entity, for a person to see and undo."""
        main = self.spelling.get(key[0], name)
        if name in (main, ""):
            return
        here = fold(name)
        merge = self._merges.get((document, here)) or self._merges.get((EVERYWHERE, here))
        if merge is not None:
            self.recorded[key, name, self.spelling.get(merge.into, main)][merge.reason] += 1
        elif name.casefold() != main.casefold():
            self.recorded[key, name, main]["same name"] += 1

    def records(self) -> list[Recorded]:
        return sorted(
            (
                Recorded(key, name, into, reason, count)
                for (key, name, into), reasons in self.recorded.items()
                for reason, count in reasons.items()
            ),
            key=lambda r: (r.key, r.name, r.reason),
        )


def spellings(spoken: Mapping[int, Spoken], titles: Mapping[str, str]) -> dict[str, str]:
    """How each name is shown: as the article writes it, else as most of the corpus does."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for document in spoken.values():
        for name, use in document.names.items():
            counted[name].update(use.spellings)
    shown = {name: min(found.items(), key=lambda item: (-item[1], item[0]))[0] for name, found in counted.items()}
    return shown | {name: title for name, title in titles.items() if fold(title) == name}


def group(type: str) -> str:
    """Kinds that exclude each other. Places and organisations do not: a museum and a university are both."""
    kind = coarse(type)
    return "place" if kind == "organization" else kind
