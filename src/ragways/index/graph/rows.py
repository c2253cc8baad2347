"""What the graph's tables hold, as readers get it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphEntity:
    """An entity as stored; `chunks` is how many name it."""

    id: str
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    chunks: int
    way: str


@dataclass(frozen=True, slots=True)
class Triplet:
    """A relation with the names of its ends."""

    id: str
    subject: str
    subject_name: str
    predicate: str
    object: str
    object_name: str
    description: str
    weight: float
    date: str
    way: str

    @property
    def text(self) -> str:
        dated = f" ({self.date})" if self.date else ""
        return f"{self.subject_name} {self.predicate.replace('_', ' ')} {self.object_name}{dated}"


@dataclass(frozen=True, slots=True)
class Named:
    """A name found in a text, and the entities that are called so, own names before aliases."""

    start: int
    end: int
    entities: tuple[str, ...]
