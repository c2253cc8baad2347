"""What is said of a community."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import asdict, dataclass

from ragways.core.plain import from_plain

_EMBEDDED = 800  # characters: embedders read a few hundred tokens


@dataclass(frozen=True, slots=True)
class CommunityFinding:
    """Something that holds in a community: how much it matters, from 0 to 10, and the ids of entities it rests on."""

    text: str
    rating: float
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """`rating`, from 0 to 10, is how much the community matters; findings are sorted by theirs."""

    title: str
    summary: str
    rating: float
    findings: tuple[CommunityFinding, ...] = ()

    @property
    def text(self) -> str:
        """What is read of it as evidence: a line for the summary and for each finding."""
        return "\n".join(line for line in (self.summary, *(finding.text for finding in self.findings)) if line)

    @property
    def embedded(self) -> str:
        """What is embedded of it."""
        return f"{self.title}: {' '.join(self.text.splitlines())}"[:_EMBEDDED]

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> CommunityReport:
        return from_plain(cls, json.loads(text))

    @property
    def packed_findings(self) -> bytes:
        """Its findings as a row of the store has them."""
        rows = [(finding.text, finding.rating, finding.entities) for finding in self.findings]
        return zlib.compress(
            json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        )

    @classmethod
    def of_row(cls, title: str, summary: str, rank: float, findings: bytes | str) -> CommunityReport:
        """As a row of the store has it; findings are a text where an earlier version wrote it."""
        if isinstance(findings, bytes):
            findings = zlib.decompress(findings).decode("utf-8", "surrogatepass")
        found = (CommunityFinding(text, rating, tuple(ids)) for text, rating, ids in json.loads(findings))
        return cls(title, summary, rank, tuple(found))


def rating_of_size(size: int) -> float:
    """How much a community of so many members matters, where no model tells."""
    return round(min(10.0, 2 * math.log(size)), 1)
