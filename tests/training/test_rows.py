"""Rows that the reader learns from: what is marked is true, and test rows are not trained on."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from ragways.models.reader import Passage
from training.data import (
    Asked,
    AskedSet,
    asked_sets,
    grouped,
    half_of,
    held_out,
    single_rows,
    span_of,
    support_rows,
)  # fmt: skip
from training.parts import first_rows, held_rows, second_rows

TITLES = ["Ness Light", "Ada Holm", "Per Lund", "Skerry Rock", "Olga Berg", "Tern Bay"]
PASSAGES = [
    ("Ness Light", ["Ness Light is a tower by Ada Holm.", "It was lit in 1912."]),
    ("Ada Holm", ["Ada Holm was born in Bergen.", "She built towers."]),
    ("Per Lund", ["Per Lund sailed from Bergen.", "He never came back."]),
    ("Skerry Rock", ["Skerry Rock lies far out.", "Nobody lives there."]),
    ("Olga Berg", ["Olga Berg kept sheep.", "She sold the wool."]),
    ("Tern Bay", ["Tern Bay is shallow.", "Boats wait for the tide."]),
]
QUESTION = "Where was the builder of Ness Light born?"


def asked(answers: tuple[str, ...] = ("Bergen",), half: str = "choose", name: str = "musique") -> Asked:
    """Passages 0 and 1 are the gold; passage 2 holds the answer by chance."""
    gold = ((True, *[False] * 5), (False, True, *[False] * 4))
    features = ((0.5,) * 9,) * 6
    return Asked("q1", name, half, QUESTION, answers, tuple(range(6)), features, 1.0, gold, (1, 2))  # type: ignore[arg-type]


def test_halves_and_test_rows_depend_on_the_text_alone():
    assert [half_of(f"q{n}") for n in range(6)] == ["choose", "report", "choose", "choose", "report", "choose"]
    texts = [f"Text number {n}." for n in range(4000)]
    assert 0.04 < sum(map(held_out, texts)) / len(texts) < 0.06
    assert list(filter(held_out, texts)) == [text for text in texts if held_out(text)]


def test_an_answer_matches_whole_words_in_the_text_before_the_title():
    passage = Passage("Bergen", "Bergenhus is in Bergen. Oslo is not.")
    start, end = span_of(("Bergen",), passage) or (0, 0)
    assert (start, passage.shown[start:end]) == (24, "Bergen")
    assert span_of(("bergen",), Passage("Bergen", "A town.")) == (0, 6), "the title, where the text lacks it"
    assert span_of(("yes", " ", "Oslo"), passage) == span_of(("Oslo",), passage)
    assert span_of(("Berg",), passage) is None


def test_the_answer_is_marked_only_in_evidence_and_unknown_where_it_stands_by_chance():
    row = grouped(asked(), PASSAGES, [2, 1, 0], 400)
    assert (row.at, row.evidence) == (1, (0.0, 1.0, 1.0))
    assert row.passages[1].shown[row.start : row.end] == "Bergen"
    assert grouped(asked(), PASSAGES, [2, 0], 400).at is None, "passage 2 says Bergen, and is no evidence"
    assert grouped(asked(), PASSAGES, [3, 0], 400).at == -1
    assert grouped(asked(("yes",)), PASSAGES, [0, 1], 400).at is None
    assert grouped(asked(name="graphrag-bench"), PASSAGES, [0, 1], 400).at is None, "its answers are no spans"
    assert grouped(asked(), PASSAGES, [1], 20).at is None, "the window has lost the answer"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, questions, claims and a set, as the files of the training have them."""
    folder = tmp_path_factory.mktemp("data")
    texts = [f"The tower of village {n} was built by builder{n}. It is tall." for n in range(300)]
    questions = [
        {"q": f"Who built tower {n}?", "c": n, "s": text.index("builder"), "e": text.index(". It"), "from": "made"}
        for n, text in enumerate(texts)
    ] + [{"q": "Who painted it?", "c": n, "s": None, "e": None, "from": "made"} for n in range(0, 300, 7)]
    claims = [{"claim": "It is tall.", "text": text, "supported": 1, "from": "made",
               "part": "test" if held_out(text) else "train"} for text in texts]  # fmt: skip
    for name, lines in (("contexts", texts), ("questions", questions), ("support", claims)):
        with lzma.open(folder / f"{name}.jsonl.xz", "wt") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    (folder / "sets").mkdir()
    said = {
        "set": "musique",
        "passages": [[title, " ".join(lines)] for title, lines in PASSAGES],
        "questions": [
            {"id": name, "half": half, "question": QUESTION, "answers": ["Bergen"], "candidates": list(range(6)),
             "features": [[0.5] * 9] * 6, "linked": 1.0, "hybrid-words": [1, 2],
             "gold": [[int(at == gold) for at in range(6)]]}
            for name, half, gold in (("a", "choose", 1), ("b", "report", 2))
        ],
    }  # fmt: skip
    with lzma.open(folder / "sets" / "musique.json.xz", "wt") as file:
        json.dump(said, file)
    return folder


def test_files_are_read_as_they_were_written(folder: Path):
    rows = single_rows(folder)
    assert len(rows) == 343
    assert {row.passages[0].text[row.start : row.end] for row, line in rows if row.at == 0 and line == 8} == {
        "builder8"
    }
    assert {(row.at, row.evidence) for row, _ in rows} == {(0, (1.0,)), (-1, (None,))}
    assert [row.supports for row in support_rows(folder / "support.jsonl.xz", "test")] == [1.0] * 19
    sets = asked_sets(folder / "sets")
    assert sets["musique"].asked[0].evidence == {1}
    assert sets["musique"].passages[5] == PASSAGES[5]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("limit", [0, 120])
def test_no_test_row_is_trained_on_whatever_the_seed_and_limit(folder: Path, seed: int, limit: int):
    sets: dict[str, AskedSet] = asked_sets(folder / "sets")
    held = held_rows(folder)
    texts = {row.passages[0].text for row in held}
    assert len(texts) == 19
    first = first_rows(folder, folder / "support.jsonl.xz", sets, seed, limit)
    second = second_rows(sets, first, [], seed)
    assert len(first) > 300
    assert len(second) > 120
    for row in (*first, *second):
        assert not any(passage.text in texts for passage in row.passages)
    hops = [row for row in second if row.source == "musique"]
    assert {
        passage.title for row in hops for passage, gold in zip(row.passages, row.evidence, strict=True) if gold
    } == {"Ada Holm"}, "nothing is learnt from the half `report`"
    assert not [row for row in second_rows(sets, first, ["musique"], seed) if row.source == "musique"]
