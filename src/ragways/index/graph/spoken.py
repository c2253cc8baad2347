"""The names that each document uses, gathered before it is decided which of them mean the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ragways.index.graph.facts import Facts
from ragways.index.graph.names import fold


@dataclass
class Use:
    """How a document, or the corpus, uses a name: how often, as what, and under which spellings."""

    count: int = 0
    types: Counter[str] = field(default_factory=Counter)
    spellings: Counter[str] = field(default_factory=Counter)
    aliases: set[str] = field(default_factory=set)

    def add(self, name: str, type: str, count: int, aliases: Iterable[str]) -> None:
        self.count += count
        self.spellings[name] += count
        if type:
            self.types[type] += count
        self.aliases.update(aliases)


@dataclass
class Spoken:
    """The names of one document by the form in which they are compared. `title` is the article's own."""

    title: str
    names: dict[str, Use] = field(default_factory=dict)

    def hear(self, facts: Facts) -> None:
        for entity in facts.entities:
            self._use(entity.name).add(entity.name, entity.type, entity.count, entity.aliases)
        for relation in facts.relations:
            for name in (relation.subject, relation.object):
                if fold(name) not in self.names:
                    self._use(name).add(name, "", 1, ())

    def _use(self, name: str) -> Use:
        key = fold(name)
        if key not in self.names:
            self.names[key] = Use()
        return self.names[key]
