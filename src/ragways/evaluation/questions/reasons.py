"""Why a draft did not become a question. Counts of a generated set are by these, `passed` first."""

from __future__ import annotations

PASSED = "passed"
NO_MATERIAL = "nothing to ask"
UNREADABLE = "unreadable reply"
OTHER_ENTITY = "another entity"
NOT_GROUNDED = "not grounded"
SHORTCUT = "shortcut"
LEAK = "answer in the question"
BY_HEART = "known by heart"
AMBIGUOUS = "ambiguous"
ANSWERABLE = "answerable"
REPEATED = "repeated"

REASONS: dict[str, str] = {
    PASSED: "kept",
    NO_MATERIAL: "what was drawn from the corpus holds nothing to ask about",
    UNREADABLE: "the model gave no usable reply, even when asked again",
    OTHER_ENTITY: "the documents do not mean the same entity",
    NOT_GROUNDED: "the answer does not follow from the supporting text alone",
    SHORTCUT: "a single document suffices where several should be needed",
    LEAK: "the answer stands in the question",
    BY_HEART: "the model answers it with the book closed",
    AMBIGUOUS: "another answer is as right",
    ANSWERABLE: "it should have no answer, and the corpus may hold one",
    REPEATED: "the same question was made before",
}
