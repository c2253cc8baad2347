"""The metrics, and the one table of them.

Those with `of` are computed from a record alone and are defined here: exact ones of the answer, MultiHop-RAG's own
scorer, whether citations are real, and those of a ranking. The others come from judgements and are defined with their
judge. A package adds its own by an entry point in the group `ragways.metrics`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.markdown import unmarked
from ragways.core.registry import Registry
from ragways.core.types import ABSTENTION, Citation
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.metric import Metric, accepted, unanswerable
from ragways.evaluation.question import compared, composed, normal, squad_normal
from ragways.evaluation.record import EvidenceItem, Record

# --- The answer against the accepted ones, after normalising ------------------------------------------------------


def _accuracy(record: Record) -> float:
    """Whether an accepted answer stands in the answer, whole words in a row, which suits answers in sentences.

    A short accepted answer stands in many: "no" is found in "there is no doubt: yes".
    """
    if unanswerable(record):
        return float(record.abstained)
    pairs = _compared(record.answer, record)
    return float(not record.abstained and any(f" {gold} " in f" {answer} " for answer, gold in pairs))


def _stated_accuracy(record: Record) -> float:
    if unanswerable(record):
        return float(record.abstained)
    return float(not record.abstained and any(states(record.answer, gold) for gold in accepted(record)))


def _exact_match(record: Record) -> float:
    return float(any(answer == gold for answer, gold in _compared(record.answer, record, squad_normal)))


def _token_f1(record: Record) -> float:
    return token_f1(record.answer, accepted(record))


def token_f1(answer: str, accepted: Iterable[str]) -> float:
    """The words that an answer shares with the best of the accepted ones, as SQuAD's own scorer compares them."""
    return max(_f1(*map(str.split, compared(answer, gold, squad_normal))) for gold in accepted)


def _f1(answer: list[str], gold: list[str]) -> float:
    shared = sum((Counter(answer) & Counter(gold)).values())
    return 2 * shared / (len(answer) + len(gold)) if shared else 0.0


def _compared(answer: str, record: Record, form: Callable[[str], str] = normal) -> list[tuple[str, str]]:
    """The answer and each accepted one, as they are compared."""
    return [compared(answer, gold, form) for gold in accepted(record)]


_EXACT = (
    Metric("accuracy", "exact",
           "an accepted answer stands in the answer (a short one, yes or no, soon does); on a null question: abstained",
           ("gold", "short"), of=_accuracy, refusal="wrong"),
    Metric("accuracy-stated", "exact",
           "an accepted answer is stated: neither denied nor one of several offered; yes or no comes first",
           ("gold", "short"), of=_stated_accuracy, refusal="wrong"),
    Metric("em", "exact", "the answer is an accepted one, word for word (as SQuAD compares)",
           ("gold", "short", "answer"),
           of=_exact_match, refusal="zero"),
    Metric("f1", "exact", "words shared with the best accepted answer (as SQuAD compares)", ("gold", "answer"),
           of=_token_f1, refusal="zero"),
    Metric("abstained", "exact", "questions with an answer that were not answered", ("gold", "answer"),
           less_is_better=True, of=lambda record: float(record.abstained)),
    Metric("hallucinated", "exact", "questions without an answer that were answered all the same", ("gold", "null"),
           less_is_better=True, of=lambda record: float(not record.abstained)),
)  # fmt: skip


# --- Whether an answer states something, or only has the words for it ---------------------------------------------
#
# "Not Paris but Lyon" has Paris and states Lyon. A rule over words, for English: it looks at the clause in which an
# accepted answer stands. What is denied there, or offered as one of several, is not stated. A yes or no is stated where
# the answer begins with it or a clause is nothing else.

_POLAR = frozenset({"yes", "no", "true", "false"})
_NO_BUT = frozenset({"doubt", "question", "one", "matter", "wonder", "longer"})
"""Words after which a leading "no" is no answer: "no doubt it was"."""
_BORDER = frozenset({"but", "and", "while", "whereas", "although", "though", "because", "since"})
_DENIAL = frozenset({"not", "t", "never", "neither", "nor", "no", "without", "unlike", "except", "cannot", "hardly"})
"""A "t" is what is left of "isn't"."""
_AUXILIARY = frozenset({"is", "are", "was", "were", "did", "does", "do", "has", "have", "had", "can", "could", "would"})
_OFFER = frozenset({"or", "either", "maybe", "perhaps", "possibly"})
_RATHER = re.compile(r"\b(?:rather than|instead of|as opposed to|other than)\b", re.IGNORECASE)
_NOT_ONLY = re.compile(r"\bnot (?:only|just|merely)\b", re.IGNORECASE)
_INSIDE = frozenset("-–'’\"“”")
"""Signs that end no clause."""
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def states(answer: str, gold: str) -> bool:
    """Whether the answer states this accepted answer; marks of citations do not count."""
    wanted = normal(gold).split()
    if not wanted:
        stated, sign = compared(answer, gold)
        return f" {sign} " in f" {stated} "
    clauses = list(_clauses(answer))
    if len(wanted) == 1 and wanted[0] in _POLAR:
        return _polar(clauses, wanted[0])
    words = [(word, place) for place, clause in enumerate(clauses) for word in clause]
    starts = (
        at for at in range(len(words) - len(wanted) + 1) if [w for w, _ in words[at : at + len(wanted)]] == wanted
    )
    return any(not _undone(words, at, at + len(wanted)) for at in starts)


def _clauses(answer: str) -> Iterator[list[str]]:
    """The words of each clause in turn, as answers are compared. A sign ends one, or a word that begins another."""
    text = _RATHER.sub(". not ", _NOT_ONLY.sub(" ", " ".join(unmarked(composed(answer)).split())))
    clause: list[str] = []
    for token in _TOKEN.findall(text):
        words = normal(token)
        if words in _BORDER or (not words and not token.isalnum() and token not in _INSIDE):
            yield clause
            clause = []
        clause += words.split()
    yield clause


def _polar(clauses: Sequence[Sequence[str]], wanted: str) -> bool:
    first = next(filter(None, clauses), ())
    leads = list(first[:1]) == [wanted] and not (wanted == "no" and set(first[1:2]) & _NO_BUT)
    return leads or any(list(clause) == [wanted] for clause in clauses)


def _undone(words: Sequence[tuple[str, int]], start: int, end: int) -> bool:
    """Whether the clause denies what stands from start to end, or offers something else beside it."""
    before = [word for word, place in words[:start] if place == words[start][1]]
    after = [word for word, place in words[end:] if place == words[end - 1][1]]
    denied = _DENIAL.intersection(before) or after[:1] == ["nor"]
    denied_after = any(other in _DENIAL and (one in _AUXILIARY or other == "t") for one, other in pairwise(after[:2]))
    return bool(denied or denied_after or _OFFER.intersection(before) or "or" in after)


# --- MultiHop-RAG's own scorer, and a strict one beside it --------------------------------------------------------

_STATED = re.compile(r'the answer to the question is:?\s*["“](.*?)["”]', re.IGNORECASE | re.DOTALL)


def _stated(record: Record) -> str:
    """The answer, or the part of it that states the answer in the words the benchmark's prompt asks for."""
    if record.abstained:
        return ABSTENTION
    stated = _STATED.search(record.answer)
    return stated[1] if stated else record.answer


def _official(record: Record) -> float:
    """Right when it shares any word with the gold answer, so that "Yes, the second" is right where "No, the first" was
    asked for. It is here to stand beside published figures; the strict one says how much of them that makes up.
    """
    words = set(_stated(record).lower().split())
    return float(any(words & set(gold.lower().split()) for gold in accepted(record)))


def _strict(record: Record) -> float:
    if unanswerable(record):
        return float(record.abstained)
    pairs = _compared(_stated(record), record)
    return float(not record.abstained and any(answer == gold for answer, gold in pairs))


_MULTIHOP_RAG = (
    Metric("accuracy-official", "exact", "MultiHop-RAG's own scorer: any word shared with the gold answer",
           ("gold", "short"),
           of=_official, refusal="as text"),
    Metric("accuracy-strict", "exact", "the whole answer is the gold answer; on a null question: abstained",
           ("gold", "short"),
           of=_strict, refusal="wrong"),
)  # fmt: skip


# --- Whether citations are real -----------------------------------------------------------------------------------

_VERBATIM = ("chunk", "sentence", "paragraph", "section", "article")


def _valid_citations(record: Record) -> float | None:
    """The share of quotes that stand, word for word, in the piece of evidence that they cite.

    A triplet or a report is our own wording, and what it rests on is not in the record: citations of those are left
    out.
    """
    pieces = {piece.id: piece for piece in record.evidence}
    verdicts = [_is_valid(citation, pieces.get(citation.piece)) for citation in record.citations]
    known = [verdict for verdict in verdicts if verdict is not None]
    return sum(known) / len(known) if known else None


def _is_valid(citation: Citation, piece: EvidenceItem | None) -> bool | None:
    """None where it is unknown; a piece that was not among the evidence is no valid citation."""
    if piece is None:
        return False
    if (piece.kind or "chunk") not in _VERBATIM:
        return None
    quote = " ".join(citation.quote.split())
    return bool(quote) and quote in " ".join(piece.text.split())


_CITATIONS = Metric("citations-valid", "exact", "citations whose quote stands in the evidence they name",
                    ("citations",), of=_valid_citations, refusal="left out")  # fmt: skip


# --- Rankings: functions of the ranks (from 1) at which gold evidence was found, None where it was not -------------

Ranks = Sequence[int | None]


def _recall(ranks: Ranks, k: int) -> float:
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def _all(ranks: Ranks, k: int) -> float:
    return float(all(rank is not None and rank <= k for rank in ranks))


def _hits(ranks: Ranks, k: int) -> float:
    return float(any(rank is not None and rank <= k for rank in ranks))


def _reciprocal(ranks: Ranks, k: int) -> float:
    best = min((rank for rank in ranks if rank is not None), default=k + 1)
    return 1 / best if best <= k else 0.0


def _average_precision(ranks: Ranks, k: int) -> float:
    found = sorted(rank for rank in ranks if rank is not None and rank <= k)
    # Two pieces of gold in one hit are one relevant hit: precision counts hits, and is 1 at most.
    relevant = {rank: n for n, rank in enumerate(dict.fromkeys(found), start=1)}
    # By all gold, found or not, as trec_eval has it: with more gold than k it cannot reach 1.
    return sum(relevant[rank] / rank for rank in found) / len(ranks)


def _relevant(ranks: Ranks) -> list[int]:
    """The ranks of relevant hits: two pieces of gold in one hit are one."""
    return sorted({rank for rank in ranks if rank is not None})


def _precision(ranks: Ranks, k: int) -> float:
    return sum(rank <= k for rank in _relevant(ranks)) / k


def _ndcg(ranks: Ranks, k: int) -> float:
    """Against the best order of as many relevant hits as there are: those found, and one for each piece not found."""
    found = _relevant(ranks)
    gain = sum(1 / log2(rank + 1) for rank in found if rank <= k)
    best = min(k, len(found) + sum(rank is None for rank in ranks))
    return gain / sum(1 / log2(place + 1) for place in range(1, best + 1))


FAMILIES: dict[str, tuple[Callable[[Ranks, int], float], str]] = {
    "recall": (_recall, "share of the gold evidence"),
    "all-evidence": (_all, "questions with all gold evidence"),
    "hits": (_hits, "questions with some gold evidence"),
    "mrr": (_reciprocal, "one over the rank of the first gold evidence"),
    "map": (_average_precision, "mean precision at each piece of gold evidence"),
    "ndcg": (_ndcg, "gain of hits with gold evidence, discounted by rank, of the best that could be"),
    "precision": (_precision, "share of hits with gold evidence"),
}
"""Metrics of a ranking by name: the function of ranks and k, and what it measures."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A metric of a ranking, cut at rank k: `Cut("recall", 5)` prints as `recall@5` and parses from it."""

    family: str
    k: int

    def __str__(self) -> str:
        return f"{self.family}@{self.k}"

    @classmethod
    def parse(cls, text: str) -> Cut:
        match = re.fullmatch(r"\s*([a-z-]+)\s*@\s*([1-9]\d{0,5})\s*", text.lower())
        if match is None:
            raise UsageError(f"{text!r} is not a metric", "write it as recall@5")
        if match[1] not in FAMILIES:
            raise UsageError(f"there is no metric {match[1]!r}", did_you_mean(match[1], FAMILIES))
        return cls(match[1], int(match[2]))

    def score(self, ranks: Ranks) -> float | None:
        """The value for these ranks; None, unscored, where there is no gold to find."""
        return FAMILIES[self.family][0](ranks, self.k) if ranks else None

    @property
    def metric(self) -> Metric:
        """The same as a metric of a record."""
        summary = f"{FAMILIES[self.family][1]} among the first {self.k}"
        return Metric(str(self), "retrieval", summary, ("ranks",), of=lambda record: self.score(record.ranks),
                      refusal="no matter")  # fmt: skip


USUAL = tuple(map(Cut.parse, ("recall@2", "recall@5", "all-evidence@8", "mrr@10", "map@10", "hits@4", "hits@10")))
"""The cuts that retrieval alone is scored by."""
RUN_CUTS = (*USUAL, Cut("ndcg", 10), Cut("precision", 5))
"""The cuts that every run is scored by."""


def _all_shown(record: Record) -> float:
    """Of imported answers, which have no places, it follows from the ranks: those of passages count pieces, and those
    of documents count documents, in the order in which pieces were shown.
    """
    if record.shown is not None:
        return float(None not in record.shown)
    pieces, documents = len(record.evidence), len({_document(item) for item in record.evidence})
    bounds = [pieces if gold.is_passage else documents for gold in record.wanted] or [pieces] * len(record.ranks)
    return float(all(rank is not None and rank <= most for rank, most in zip(record.ranks, bounds, strict=True)))


def _document(item: EvidenceItem) -> str:
    """`article:12:s8:p2:c0` is of `article:12`; what has no such id counts as a document by itself."""
    return ":".join(item.id.split(":", 2)[:2]) if item.id.startswith("article:") else f"{item.id} {item.text}"


_SHOWN = Metric("all-evidence", "retrieval", "questions with all gold evidence among what was shown, whatever the rank",
                ("ranks",), of=_all_shown, refusal="no matter")  # fmt: skip


# --- The table ------------------------------------------------------------------------------------------------------

METRICS: Registry[Metric] = Registry(
    "ragways.metrics",
    "metric",
    Metric,
    (
        *_EXACT,
        *_MULTIHOP_RAG,
        _CITATIONS,
        *(cut.metric for cut in RUN_CUTS),
        _SHOWN,
        *(metric for judge in JUDGES.values() for metric in judge.metrics),
    ),
)


def record_metrics() -> tuple[Metric, ...]:
    """The metrics that need nothing but the record, those of plug-ins among them."""
    return tuple(metric for metric in METRICS.values() if metric.of is not None)


def find_metric(text: str) -> Metric:
    """A metric by its name, in any case and spacing: `Recall @ 5` is `recall@5`, at any rank. UsageError where there
    is none.
    """
    name = "".join(text.lower().split())
    known = next((metric for metric in METRICS.values() if metric.name.lower() == name), None)
    if known is not None:
        return known
    return Cut.parse(name).metric if "@" in name else METRICS.find(name)
