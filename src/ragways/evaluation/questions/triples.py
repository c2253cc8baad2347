"""Facts that stand in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from ragways.evaluation.questions.fact import LONGEST, Fact, leads_to
from ragways.evaluation.questions.names import DATE
from ragways.evaluation.questions.relations import Wording
from ragways.evaluation.questions.subjects import Subjects
from ragways.evaluation.questions.wordings import field, predicate
from ragways.index.reader import Index


def graph_facts(index: Index, subjects: Subjects) -> Iterator[Fact]:
    """Relations that a model or an import stated, and rows of tables; those of rules over sentences are read above."""
    graph = index.graph
    count = graph.counts()["relations"]
    for at in range(0, count, 1000):
        relations = graph.relations_at(range(at, min(count, at + 1000)))
        wanted = [t for _, t in sorted(relations.items()) if "table" in t.way or not t.way.startswith("rules")]
        chunks = graph.relation_chunks([t.id for t in wanted])
        for triplet in wanted:
            dated = bool(DATE.fullmatch(triplet.object_name))
            table = "table" in triplet.way
            found = _of_column(triplet.predicate, dated) if table else predicate(triplet.predicate, dated)
            if found is None or not chunks.get(triplet.id):
                continue
            about, value = (
                (triplet.object_name, triplet.subject_name) if found[1] else (triplet.subject_name, triplet.object_name)
            )
            subject = subjects.named(about)
            piece = index.pieces(chunks[triplet.id][:1]).get(chunks[triplet.id][0])
            if (
                subject is None
                or piece is None
                or value not in piece.text
                or subject.bare not in f"{piece.title} {piece.text}"
            ):
                continue
            quote = _line(piece.text, value, subject.bare) if table else value
            if quote and len(value) <= LONGEST:
                leads = leads_to(value, found[0], subjects, subject.id)
                yield Fact(subject, found[0], value, quote, piece.id, "", leads, "table" if table else "relation")


def _of_column(key: str, dated: bool) -> tuple[Wording, bool] | None:
    """Other columns are left out: `term` and `remark` say nothing without the table around them."""
    found = field(key, "", dated)
    return (found, False) if found is not None and found.sort in ("person", "date") else None


def _line(text: str, value: str, name: str) -> str:
    """The row of a table that holds both."""
    return next((" ".join(line.split()) for line in text.split("\n") if value in line and name in line), "")
