"""The fit of question types: it learns what there is, balances sets, keeps subjects out, and repeats itself."""

from __future__ import annotations

import re
from pathlib import Path

from ragways.reading.question_type import FORMS, SIGNS, SIZES, TYPES, QuestionType, features, weights
from training.question_types import Choice, Typed, fit, text_of, vocabulary
from training.question_wordings import SLOTS, WORDINGS, written

ROWS = [Typed(wording, text, type, "our wordings", wording) for wording, text, type in written(0)]


def best(chances: dict[QuestionType, float]) -> QuestionType:
    return max(chances, key=lambda type: chances[type])


def test_every_type_has_wordings_and_every_brace_its_words():
    assert WORDINGS.keys() == set(TYPES)
    assert {slot for block in WORDINGS.values() for slot in re.findall(r"\{(\w+)\}", block)} <= SLOTS.keys()
    assert not any("{" in row.text for row in ROWS)


def test_words_of_one_set_alone_are_not_learnt():
    texts = [("which tumour is it", one) for one in "aaaaaa"] + [("which one is it", one) for one in "abcabc"]
    rows = [Typed(str(n), text, "factual", one, one) for n, (text, one) in enumerate(texts)]
    kept = vocabulary(rows, [features(row.text) for row in rows], Choice())
    assert '"which"' in kept
    assert '"which one"' in kept
    assert not any("tumour" in name for name in kept)


def test_the_fit_is_right_on_its_rows_and_gives_the_same_file_twice(tmp_path: Path):
    rows = ROWS[::5]
    fitted = fit(rows, Choice(most=100))
    right = [best(fitted.chances(features(row.text))) == row.type for row in rows]
    assert sum(right) > 0.8 * len(right)
    text = text_of(fitted)
    assert text == text_of(fit(rows, Choice(most=100)))
    (tmp_path / "weights.json").write_text(text, encoding="utf-8")
    assert weights(tmp_path / "weights.json") == fitted
    assert {*FORMS, *SIGNS, *SIZES} <= fitted.features.keys()
