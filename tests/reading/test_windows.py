"""What of a passage the reader is shown."""

from __future__ import annotations

import random

from ragways.reading.windows import windows

RIVER = ("Warsaw", ("Warsaw is the capital of Poland.", "It lies on the river Vistula.", "Its mermaid is famous."))


def test_the_stretch_that_shares_most_with_the_question_is_shown():
    (window,) = windows("On which river lies the capital?", [RIVER], 30)
    assert (window.first, window.sentences) == (1, ("It lies on the river Vistula.",))


def test_short_passages_are_shown_whole_and_empty_ones_not_at_all():
    (window,) = windows("Which river?", [RIVER, ("Nothing", ())], 1000)
    assert window.shown.shown == "Warsaw. " + " ".join(RIVER[1])


def test_a_character_is_in_the_sentence_that_covers_its_place():
    (window,) = windows("Which river?", [RIVER], 1000)
    shown = window.shown.shown
    assert window.sentence_at(0) is None
    assert [window.sentence_at(shown.index(part)) for part in ("is the capital", "Vistula", "mermaid")] == [0, 1, 2]


def test_of_a_sentence_longer_than_the_window_the_part_with_the_questions_words_is_shown():
    long = f"{'filler words ' * 400}the treasure lies in Ankara{' and more of it' * 400}"
    (window,) = windows("Where lies the treasure?", [("Map", (long,))], 200)
    assert "treasure lies in Ankara" in window.sentences[0]
    assert len(window.sentences[0]) <= 200


def test_a_part_of_a_long_sentence_begins_and_ends_with_whole_words():
    words = [f"department{number}" for number in range(60)]
    for wanted in ("department17", "department40"):
        [window] = windows(f"Which is {wanted}?", [("", [" ".join(words)])], 100)
        assert set(window.sentences[0].split()) <= set(words)


def test_windows_never_exceed_their_size_and_keep_the_order_of_passages():
    dice = random.Random(4)
    words = ["river", "lies", "treasure", "of", "ash", "bell"]
    for _ in range(60):
        passages = [
            (
                dice.choice(words),
                [" ".join(dice.choices(words, k=dice.randint(1, 9))) for _ in range(dice.randint(0, 7))],
            )
            for _ in range(4)
        ]
        size = dice.randint(20, 90)
        found = windows("Where lies the river of treasure?", passages, size)
        assert [window.passage for window in found] == [n for n, (_, sentences) in enumerate(passages) if sentences]
        for window in found:
            assert len(window.shown.text) <= size
            assert window.sentences[0] in passages[window.passage][1][window.first]
