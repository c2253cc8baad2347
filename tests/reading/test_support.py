"""Support, estimated: what it is made of, what moves it, and that it does without the reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import StoreFailed
from ragways.models import encoder
from ragways.models.reader import FILE, Passage, Reader, Reading
from ragways.reading.answers import PassageReader
from ragways.reading.support import (
    LARGEST,
    PASSAGES,
    SIZE,
    WEIGHTS,
    SupportEstimate,
    chance_of,
    estimate_support,
    features,
    share_of_facts,
    support_method,
)

LIGHT = ("Ness Light", ["Ness Light was built in 1912 by Ada Holm.", "It stands on a rock."])
CLAIM = "Ness Light was built by Ada Holm in 1912."


class Says:
    """A reader that says one logit of everything, and keeps what it was shown."""

    def __init__(self, logit: float) -> None:
        self.logit = logit
        self.shown: list[list[Passage]] = []

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        self.shown += [list(group) for group in groups]
        return [Reading((), 0.0, self.logit, ()) for _ in groups]


def estimated(claim: str, *passages: tuple[str, list[str]], reader: PassageReader | None = None) -> SupportEstimate:
    return asyncio.run(estimate_support(reader, claim, passages or (LIGHT,)))


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("Ness Light was built in 1912.", 1.0),
        ("Ness Light was built in 1921.", 2 / 3),
        ("It was built by Ida Holm in 1,912 parts.", 2 / 3),
        ("Ada Berg built it.", 1 / 2),
        ("It is Ada Holm’s light.", 1.0),
        ("The light was built.", None),
        ("Built on a rock.", None),
    ],
)
def test_names_and_numbers_of_a_claim_are_looked_for(claim: str, share: float | None):
    found = share_of_facts(claim, " ".join(LIGHT[1]) + " It has 1912 stones.")
    assert found == (None if share is None else pytest.approx(share))


def test_a_claim_of_other_facts_or_other_words_is_less_likely_supported():
    held = estimated(CLAIM)
    assert (held.words, held.facts, held.reader) == (1.0, 1.0, None)
    assert held.chance > 0.5
    assert estimated(CLAIM.replace("1912", "1921")).chance < held.chance
    assert estimated(CLAIM.replace("Ada", "Ida")).chance < held.chance
    assert estimated("Herring swim in large shoals every spring.").chance < 0.5


def test_the_reader_is_one_feature_and_is_cut():
    unsure, sure, against = (estimated(CLAIM, reader=Says(logit)) for logit in (0.0, 3.0, -3.0))
    assert against.chance < unsure.chance < sure.chance
    assert (sure.words, sure.facts, sure.reader) == (unsure.words, unsure.facts, 3.0)
    assert estimated(CLAIM, reader=Says(900.0)).chance == estimated(CLAIM, reader=Says(LARGEST)).chance < 1
    assert features(0.5, None, -900.0) == {"always": 1.0, "words": 0.5, "missing": 0.0, "reader": -LARGEST}


def test_a_claim_takes_one_pass_over_the_nearest_stretches():
    reader = Says(1.0)
    far: list[tuple[str, list[str]]] = [("Herring", [f"Herring {n} swims in the sea."] * 300) for n in range(20)]
    found = estimated(CLAIM, *far, LIGHT, ("", ["x" * 100_000]), reader=reader)
    (group,) = reader.shown
    assert len(group) == PASSAGES
    assert group[0].title == "Ness Light"
    assert all(len(passage.text) <= SIZE for passage in group)
    assert found.words == 1.0


@pytest.mark.parametrize(("claim", "passages"), [("", (LIGHT,)), ("...", (LIGHT,)), (CLAIM, (("Ness Light", []),))])
def test_nothing_to_hold_against_each_other_is_no_support(claim: str, passages: tuple[tuple[str, list[str]], ...]):
    found = estimated(claim, *passages, reader=Says(0.0))
    assert (found.words, found.chance < 0.5) == (0.0, True)


def test_every_weight_points_the_way_its_feature_does():
    assert set(WEIGHTS["with the reader"]) == {"always", "words", "missing", "reader"}
    assert set(WEIGHTS["without the reader"]) == {"always", "words", "missing"}
    for table in WEIGHTS.values():
        assert table["words"] > 0 > table["missing"]
    assert WEIGHTS["with the reader"]["reader"] > 0
    assert chance_of(1.0, 1.0, None) > chance_of(1.0, 0.5, None) > chance_of(0.5, 0.5, None)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation whose manifest can be changed; the tokenizer is known already."""
    known = encoder.tokenizer()
    monkeypatch.setattr("ragways.models.reader.tokenizer", lambda: known)
    monkeypatch.setattr(encoder, "WEIGHTS", tmp_path)
    return tmp_path


def write_manifest(folder: Path, **files: Any) -> None:
    (folder / "manifest.json").write_text(
        json.dumps({"files": {name: {"sha256": sha, "crc32": 0} for name, sha in files.items()}})
    )


def test_without_weights_words_and_names_are_enough_and_it_is_said(weights: Path):
    write_manifest(weights)
    found = estimated(CLAIM, reader=Reader())
    assert found == estimated(CLAIM)
    assert found.reader is None
    assert support_method(Reader()) == support_method(None)
    assert support_method(None).startswith("words and names")


def test_altered_weights_are_refused(weights: Path):
    write_manifest(weights, **{FILE: "0" * 64})
    (weights / FILE).write_bytes(b"other")
    with pytest.raises(StoreFailed, match="is not the file"):
        estimated(CLAIM, reader=Reader())


def test_other_weights_are_another_method(weights: Path):
    write_manifest(weights, **{FILE: "1" * 64})
    first = support_method(Reader())
    write_manifest(weights, **{FILE: "2" * 64})
    assert first.startswith("reader 11111111")
    assert support_method(Reader()) != first
