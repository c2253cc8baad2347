"""A report of a community, as it is kept and read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

_EMBEDDED = 800  # characters: embedders read a few hundred tokens


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that holds in a community: how much it matters, from 0 to 10, and the ids of entities it rests on."""

    text: str
    rating: float
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """`rating`, from 0 to 10, is how much the community matters; findings are sorted by theirs."""

    title: str
    summary: str
    rating: float
    findings: tuple[Finding, ...] = ()

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
    def from_json(cls, text: str) -> Report:
        data = json.loads(text)
        findings = tuple(Finding(f["text"], f["rating"], tuple(f["entities"])) for f in data.pop("findings"))
        return cls(findings=findings, **data)
