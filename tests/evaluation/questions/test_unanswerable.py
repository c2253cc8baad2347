"""Questions without an answer have none: looked for in the whole corpus by brute force."""

from __future__ import annotations

import re

import pytest

from ragways.evaluation.questions.facts import written_forms
from ragways.evaluation.questions.templates import date_of
from ragways.index.open import Index
from tests.evaluation.questions.fakes import made


def texts(index: Index) -> list[str]:
    documents = [index.document(id) for id, _, _ in index.documents()]
    return [f"{document.title}\n{document.text}" for document in documents if document is not None]


WORDS = {
    "born": r"\bborn\b|\bbirth", "die": r"\bdied\b|\bdeath\b", "spouse": r"\bmarri|\bwife\b|\bhusband\b",
    "father": r"\bfather\b|\b(son|daughter)\b", "mother": r"\bmother\b|\b(son|daughter)\b", "emblem": r"\bemblem",
    "nickname": r"\bnick|\bknown as|\bcalled",
    "created": r"\b(creat|found|establish)", "directed": r"\bdirect", "chartered": r"\bchart", "renamed": r"\brenam",
    "dissolved": r"\bdissol", "pages": r"\bpage", "tonnage": r"\btonn", "employer": r"\bemploy", "patron": r"\bpatron",
}  # fmt: skip
"""What a text would have to say, written down by hand."""


@pytest.mark.parametrize("seed", [0, 1])
def test_no_document_states_what_is_asked(demo: Index, seed: int):
    found = made(demo, kinds=["swapped", "removed"], count=20, seed=seed).questions
    corpus, seen = texts(demo), 0
    for question in found:
        asked = next((word for word in WORDS if re.search(rf"\b{word}\b", question.text)), None)
        if asked is None or question.provenance["kind"] != "swapped":
            continue
        name = demo.document(str(question.provenance["path"][-1])).title.split(" (")[0]  # type: ignore[index,union-attr]
        assert name in question.text
        seen += 1
        assert not [text for text in corpus if name in text and re.search(WORDS[asked], text, re.IGNORECASE)]
    assert seen > 3
    assert len({question.text for question in found}) == len(found)


def test_nothing_happened_on_a_moved_date(demo: Index):
    found = made(demo, kinds=["moved"], count=30, seed=4).questions
    corpus = texts(demo)
    assert len(found) == 30
    for question in found:
        moved = str(question.provenance["path"][-1])  # type: ignore[index]
        assert moved in question.text
        date = date_of(moved)
        assert date is not None
        if date.day:
            assert not [text for text in corpus if any(form in text for form in written_forms(moved))]
        elif (
            question.text.startswith("Who ") and len(question.text.split()) > 6
        ):  # who did it, to a thing that is named
            name = demo.document(str(question.provenance["path"][0]).split()[0]).title  # type: ignore[index,union-attr]
            assert name in question.text
            assert not [text for text in corpus if name in text and moved in text]
        else:
            verb = question.text.rstrip("?").split()[-3]
            assert not [text for text in corpus if re.search(rf"\b{moved}\b", text) and re.search(rf"\b{verb}", text)]


def test_removed_facts_ask_of_a_bridge_without_naming_it(demo: Index):
    for question in made(demo, kinds=["removed"], count=20, seed=2).questions:
        fact = str(question.provenance["path"][0])  # type: ignore[index]
        bridge = fact.split(": ", 1)[1]
        assert bridge not in question.text
        assert any(bridge in text for text in texts(demo))
