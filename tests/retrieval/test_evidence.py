"""The reader looks at the first candidates of `fused`, and they are put in order once more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from ragways.core.errors import StoreFailed
from ragways.index.open import Index
from ragways.models.reader import Passage, Reading
from ragways.retrieval.fused import FUSED
from ragways.retrieval.reader import FEW, TOGETHER, affordable, evidence_logits
from tests.retrieval.graph_corpus import HOPS, asked, ids, indexed, resources, step


class Likes:
    """A reader for which passages that hold a word are evidence and no others; it stores what it was shown. `answers`
    is its logit of "these passages answer".
    """

    def __init__(self, word: str, answers: float = 0.0) -> None:
        self.word = word
        self.answers = answers
        self.shown: list[list[str]] = []

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        self.shown += [[passage.shown for passage in group] for group in groups]
        return [Reading((), self.answers, 0.0, tuple(8.0 if self.word in p.shown else -8.0 for p in g)) for g in groups]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("evidence")))
    yield index
    index.close()


def pieces(index: Index, **settings: object) -> list[str]:
    return ids(asked(resources(index), FUSED, HOPS, k=50, **settings)[0])


def test_the_reader_moves_what_it_takes_for_evidence_to_the_front(index: Index):
    plain = asked(resources(index), FUSED, HOPS, k=50)[0].evidence.items
    last = plain[min(len(plain), TOGETHER) - 1].piece
    word = max(last.text.split(), key=lambda word: (all(word not in hit.piece.text for hit in plain[:2]), len(word)))
    reader = Likes(word)
    use = replace(resources(index), reader=reader)
    found = asked(use, FUSED, HOPS, k=50)[0].evidence.items
    before = next(n for n, hit in enumerate(plain) if hit.piece.id == last.id)
    after = next(n for n, hit in enumerate(found) if hit.piece.id == last.id)
    assert after < before
    assert {hit.piece.id for hit in found} == {hit.piece.id for hit in plain}
    assert all(0 <= hit.score <= 1 for hit in found)


def test_nothing_is_read_where_nothing_may_be_spent(index: Index):
    reader = Likes("x")
    use = replace(resources(index), reader=reader, answer_by="extract")
    assert ids(asked(use, FUSED, HOPS, k=50, spend=0)[0]) == pieces(index)
    assert reader.shown == []


@pytest.mark.parametrize(
    ("spend", "count"), [(0, 0), (49, 0), (50, FEW), (99, FEW), (150, TOGETHER), (500, 5 * TOGETHER)]
)
def test_more_may_be_read_the_more_may_be_spent(spend: int, count: int, index: Index):
    assert affordable(spend) == count
    reader = Likes("x")
    use = replace(resources(index), reader=reader, answer_by="extract")
    total = len(pieces(index))
    asked(use, FUSED, HOPS, k=50, spend=spend)
    first = [FEW] if count > FEW else []  # by themselves, and then all, as they answer nothing
    groups = [min(TOGETHER, min(count, total) - begin) for begin in range(0, min(count, total), TOGETHER)]
    assert list(map(len, reader.shown)) == first + groups


def test_no_more_is_read_where_the_first_three_passages_answer(index: Index):
    reader = Likes("x", answers=9.0)
    asked(replace(resources(index), reader=reader, answer_by="extract"), FUSED, HOPS, k=50)
    assert list(map(len, reader.shown)) == [FEW]


def test_the_trace_tells_what_the_reader_said(index: Index):
    use = replace(resources(index), reader=Likes("Ada"))
    _, trace = asked(use, FUSED, HOPS, k=50)
    details = step(trace, "weigh").details
    weights, best = details["weights"], details["best"]
    assert isinstance(weights, dict)
    assert isinstance(best, dict)
    assert "read" in weights
    assert {round(row["read"]) for row in best.values()} <= {-2, 2}


def test_another_language_and_broken_weights_leave_the_order_as_it_was(index: Index):
    class Broken(Likes):
        async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
            raise StoreFailed("reader.onnx is not the file that this version came with", "install again")

    use = replace(resources(index), reader=Broken("x"), answer_by="extract")
    answer, trace = asked(use, FUSED, HOPS, k=50)
    assert ids(answer) == pieces(index)
    assert "reader.onnx" in str(step(trace, "weigh").details["not read"])
    german = "Wer hat den Leuchtturm gebaut, der in der Nacht des großen Sturms erloschen ist?"
    reader = Likes("x")
    pieces_of = [hit.piece for hit in asked(resources(index), FUSED, HOPS)[0].evidence.items]
    assert asyncio.run(evidence_logits(replace(use, reader=reader), german, pieces_of)) is None
    assert reader.shown == []


def test_long_passages_are_shown_in_part_and_each_once(index: Index):
    reader = Likes("x")
    found = [hit.piece for hit in asked(resources(index), FUSED, HOPS, k=50)[0].evidence.items]
    long = [replace(piece, text=piece.text * 400) for piece in found[:2]]
    logits = asyncio.run(evidence_logits(replace(resources(index), reader=reader), HOPS, [*long, *found[2:]]))
    assert logits is not None
    assert len(logits) == len(found)
    assert max(len(text) for group in reader.shown for text in group) < 400
