"""A report without a model: the most central entities, and the sentences that name most of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ragways.index.communities.landscape import CENTRAL, Landscape
from ragways.index.communities.partition import Group
from ragways.index.communities.report import Finding, Report
from ragways.index.graph.draft import Edge, Node
from ragways.index.store import Store, number_of, path_of

TITLE = 3
FINDINGS = 6
_CHUNKS = 24  # looked at for sentences
_SENTENCE = (20, 400)  # characters of one that can stand alone


class RuleReporter:
    """Writes reports from a landscape and the sentences of its documents."""

    def __init__(self, land: Landscape, store: Store) -> None:
        self._land = land
        self._db = store.db
        self._document = lru_cache(64)(self._read_document)
        self._chunk = lru_cache(4096)(self._read_chunk)

    def write(self, group: Group) -> Report:
        ranked = self._land.ranked(group)
        strength = {node.id: weight for node, weight in ranked}
        central = [node for node, _ in ranked[:CENTRAL]]
        relations = self._land.relations(group, strength)
        findings = self._findings(central, strength, relations) or _said(relations, self._land)
        return Report(
            title=", ".join(node.name for node in central[:TITLE]),
            summary=_summary(central, len(group.members)),
            rating=round(min(10.0, 2 * math.log(len(group.members))), 1),
            findings=findings,
        )

    def _findings(
        self, central: Sequence[Node], strength: dict[str, float], relations: Sequence[Edge]
    ) -> tuple[Finding, ...]:
        """Sentences, each time the one that names most of what is not yet spoken of."""
        total = sum(strength[node.id] for node in central) or 1.0
        names = [(node.id, [n.casefold() for n in (node.name, *node.aliases[:3]) if len(n) > 1]) for node in central]
        sentences: dict[str, tuple[str, ...]] = {}
        for sentence in dict.fromkeys(self._sentences(relations)):
            folded = sentence.casefold()
            held = tuple(id for id, called in names if any(name in folded for name in called))
            if held:
                sentences[sentence] = held
        spoken: Counter[str] = Counter()
        found: list[Finding] = []
        while sentences and len(found) < FINDINGS:
            # What was said already counts half, and again half: so the rest comes to be spoken of.
            best = max(sentences, key=lambda s: (sum(strength[id] / 2 ** spoken[id] for id in sentences[s]), s))
            held = sentences.pop(best)
            spoken.update(held)
            rating = round(10 * sum(strength[id] for id in held) / total, 1)
            found.append(Finding(best, rating, held))
        return tuple(sorted(found, key=lambda finding: (-finding.rating, finding.text)))

    def _sentences(self, relations: Sequence[Edge]) -> Iterator[str]:
        chunks = dict.fromkeys(chunk for edge in relations[:_CHUNKS] for chunk in edge.chunks[:2])
        for chunk in list(chunks)[:_CHUNKS]:
            yield from self._chunk(chunk)

    def _read_chunk(self, id: str) -> tuple[str, ...]:
        number = number_of(id)
        row = self._db.execute(
            "SELECT start, end FROM chunks WHERE document = ? AND path = ?", (number, path_of(id))
        ).fetchone()
        if row is None:
            return ()
        text, places = self._document(number)
        low, high = _SENTENCE
        inside = (" ".join(text[s:e].split()) for s, e in places if s >= row[0] and e <= row[1])
        return tuple(sentence for sentence in inside if low <= len(sentence) <= high and _whole(sentence))

    def _read_document(self, number: int) -> tuple[str, list[tuple[int, int]]]:
        text = self._db.execute("SELECT text FROM documents WHERE number = ?", (number,)).fetchone()[0]
        query = "SELECT start, end FROM sentences WHERE document = ? ORDER BY ordinal"
        return text, self._db.execute(query, (number,)).fetchall()


def _whole(sentence: str) -> bool:
    """Not a heading, nor a row of a table or of a box."""
    return sentence.rstrip("\"'”’»)").endswith((".", "!", "?", "。", "！", "？", "…")) and " | " not in sentence


def _summary(central: Sequence[Node], size: int) -> str:
    names = [f"{node.name} ({node.type})" if node.type else node.name for node in central]
    rest = size - len(names)
    return f"{', '.join(names)} and {rest} more." if rest > 0 else f"{', '.join(names)}."


def _said(relations: Sequence[Edge], land: Landscape) -> tuple[Finding, ...]:
    """Where no sentence names them: what the graph itself says."""
    entities, places = land.draft.entities, land.places
    found = []
    for edge in relations[:FINDINGS]:
        ends = (entities[places[edge.subject]], entities[places[edge.object]])
        text = edge.description or f"{ends[0].name} {edge.predicate.replace('_', ' ')} {ends[1].name}"
        found.append(Finding(text, 1.0, (edge.subject, edge.object)))
    return tuple({finding.text: finding for finding in reversed(found)}.values())[::-1]
