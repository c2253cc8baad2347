"""An agent's answer with citations: for each article it names, the sentence there that says most of it."""

from __future__ import annotations

from ragways.core.trace import current_span
from ragways.core.types import ABSTENTION, Answer, Citation, Evidence, Piece
from ragways.index.words import terms
from ragways.modules.agent_text import defused
from ragways.modules.resources import Resources
from ragways.tasks.answers import AgentAnswer


def said(use: Resources, evidence: Evidence, final: AgentAnswer, way: str) -> Answer:
    """The answer on its first line, with the numbers of the evidence it names; then how it follows."""
    if not final.known:
        return Answer(evidence, ABSTENTION, abstained=True, way=way)
    wanted = set(terms(f"{' '.join(final.known)} {final.explanation}"))
    numbers: list[int] = []
    citations: list[Citation] = []
    for reference in final.articles:
        quoted = [
            (_likeness(wanted, quote), -number, start, end, quote)
            for number, hit in enumerate(evidence.items, start=1)
            if hit.piece.document == reference
            for start, end, quote in _sentences(use, hit.piece)
        ]
        if quoted:
            _, number, start, end, quote = max(quoted)
            piece = evidence.items[-number - 1].piece
            numbers.append(-number)
            citations.append(Citation(0, piece.id, piece.document, start, end, quote))
    known = {hit.piece.document for hit in evidence.hits.items}
    current_span().details["references"] = [one for one in final.articles if one in known]
    current_span().details["references_not_seen"] = sum(one not in known for one in final.articles)
    marks = "".join(f"[{number}]" for number in numbers)
    lines = [f"{'; '.join(final.known)} {marks}".strip(), final.explanation.strip()]
    return Answer(evidence, defused("\n\n".join(filter(None, lines))), tuple(citations), way=way)


def _sentences(use: Resources, piece: Piece) -> list[tuple[int, int, str]]:
    spans = use.index.sentences(piece) or [(piece.start, piece.end)]
    return [(start, end, use.index.text(piece.document, start, end)) for start, end in spans]


def _likeness(wanted: set[str], sentence: str) -> float:
    held = set(terms(sentence))
    return len(wanted & held) / (len(held) + 5)
