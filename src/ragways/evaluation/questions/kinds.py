"""The one table of kinds of questions: what each is, what it needs, and how it is drafted with and without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.questions import about, asked, comparisons, evolution, templates, unanswerable
from ragways.evaluation.questions.asked import Writer
from ragways.evaluation.questions.draft import NULL, Draft
from ragways.evaluation.questions.groupings import GROUPINGS
from ragways.evaluation.questions.material import Material

Drafter = Callable[[Material, Random], Draft]


@dataclass(frozen=True)
class Kind:
    """`write` asks a model and needs the layers `needs`; `draft` does without one and needs `rule_needs`."""

    name: str
    summary: str
    write: Writer
    draft: Drafter
    needs: frozenset[str] = frozenset()
    rule_needs: frozenset[str] = frozenset()
    type: str = ""
    """As it stands with the questions; the kind's own name unless said otherwise."""


_GRAPH, _WINDOWS, _VECTORS = frozenset({"graph"}), frozenset({"windows"}), frozenset({"vectors"})


def _grouping(name: str, summary: str, needs: frozenset[str] = _WINDOWS) -> Kind:
    return Kind(name, summary, asked.grouped(GROUPINGS[name]), evolution.grouped(GROUPINGS[name]), needs, needs)


def _null(name: str, summary: str, draft: Drafter) -> Kind:
    return Kind(name, summary, asked.unanswerable(name), draft, type=NULL)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("factual", "one fact of a random chunk", asked.factual, templates.factual),
        Kind("reasoning-2", "two documents joined by an entity", asked.reasoning(2), templates.reasoning(2), _GRAPH),
        Kind("reasoning-3", "three documents joined by entities", asked.reasoning(3), templates.reasoning(3), _GRAPH),
        Kind("comparison", "which came first", asked.compared, comparisons.comparison, _VECTORS),
        Kind("summary", "what several documents say of an entity", asked.summary, about.summary, _GRAPH, _GRAPH),
        Kind("node", "an entity of the graph", asked.entity, about.node, _GRAPH, _GRAPH),
        Kind("edge", "a relation of the graph", asked.relation, about.relation, _GRAPH, _GRAPH),
        Kind("subgraph", "a random walk over the graph", asked.stretch, about.stretch, _GRAPH, _GRAPH),
        _grouping("intra_document", "windows of one document"),
        _grouping("theme_based", "windows of documents with like themes"),
        _grouping("sequential_multi_hop", "five sentences each of three documents"),
        _grouping("native", "random or sequential chunks", frozenset()),
        _null("swapped", "no answer: an entity swapped", unanswerable.swapped),
        _null("removed", "no answer: a fact that stands nowhere", unanswerable.removed),
        _null("moved", "no answer: a date moved", unanswerable.moved),
    )
}  # fmt: skip


def find_kinds(names: Iterable[str]) -> list[Kind]:
    """Kinds by name, in the order of the table; an unknown name is an error that says what was meant."""
    wanted = set(names)
    for name in sorted(wanted):
        if name not in KINDS:
            raise UsageError(f"there is no kind of question {name!r}", did_you_mean(name, KINDS))
    return [kind for name, kind in KINDS.items() if name in wanted]
