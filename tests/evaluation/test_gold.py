"""Gold evidence is found by its document, its quote, its chunk or, where it is in other words, by most of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragways.core.types import Hit, Query, ranked
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Gold, Question
from ragways.index.build import build
from ragways.index.open import Index
from tests.fakes import WordHashes, recipe, write

DOCS = {
    "Lamp.md": "# Lamp\n\nThe lamp of the lighthouse burns paraffin oil and is trimmed twice a night.\n",
    "Skin.md": "# Skin\n\nOlder people have a higher risk of skin cancer, above all of basal cell carcinoma.\n",
}


@pytest.mark.parametrize(
    ("gold", "rank"),
    [
        (Gold(title="skin"), 2),
        (Gold(quote="burns Paraffin  oil"), 1),
        (Gold(title="Skin", quote="burns paraffin oil"), None),
        (Gold(statement="People who are older have a higher risk of basal cell carcinoma."), 2),
        (Gold(statement="The lighthouse lamp burns whale oil."), 1),
        (Gold(statement="Immune suppression is a risk factor for moles."), None),
        (Gold(statement="of the and"), None),
    ],
)
def test_ranks(tmp_path: Path, gold: Gold, rank: int | None):
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", DOCS)], recipe(WordHashes())))
    index = Index.open(tmp_path / "index")
    try:
        by_title = {title: id for id, _, title in index.documents()}
        chunks = index.pieces(f"{by_title[title]}:s0:p0:c0" for title in ("Lamp", "Skin"))
        hits = ranked(Query("?"), (Hit(piece, 2.0 if piece.title == "Lamp" else 1.0) for piece in chunks.values()))
        assert [hit.piece.title for hit in hits.items] == ["Lamp", "Skin"]
        assert GoldIndex(index).ranks(Question("q", "?", gold=(gold,)), hits) == [rank]
    finally:
        index.close()


def test_places_count_the_pieces_that_were_shown(tmp_path: Path):
    """Ranks count documents, or all pieces that were found; places count the pieces that an answer was given."""
    long = "# Lamp\n\n" + "\n\n".join(f"Part {n} tells of the lamp. " + "It burns oil. " * 150 for n in range(2)) + "\n"
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", DOCS | {"Lamp.md": long})], recipe(WordHashes())))
    index = Index.open(tmp_path / "index")
    try:
        by_title = {title: id for id, _, title in index.documents()}
        wanted = [f"{by_title['Lamp']}:s0:p0:c0", f"{by_title['Lamp']}:s0:p1:c0", f"{by_title['Skin']}:s0:p0:c0"]
        pieces = index.pieces(wanted)
        hits = [Hit(pieces[id], -n) for n, id in enumerate(wanted)]
        gold = (Gold(title="Skin"), Gold(title="lamp"), Gold(quote="Part 1 tells"), Gold(title="Gull"))
        question = Question("q", "?", gold=gold)
        known = GoldIndex(index)
        assert known.ranks(question, ranked(Query("?"), hits)) == [2, 1, 2, None]
        assert known.places(question, hits) == [3, 1, 2, None]
        assert known.places(question, hits[:2]) == [None, 1, 2, None]
        assert known.places(question, []) == [None] * 4
    finally:
        index.close()
