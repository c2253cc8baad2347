"""Verify, then filter, by rules: why a draft must not be kept."""

from __future__ import annotations

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import AMBIGUOUS, ANSWERABLE, LEAK, NOT_GROUNDED, SHORTCUT, Draft
from ragways.evaluation.questions.material import Material


def fault(draft: Draft, material: Material) -> str:
    """The reason to leave a draft out, or nothing. What costs least is looked at first."""
    if draft.unanswerable:
        return ANSWERABLE if answerable(draft, material) else ""
    if not draft.choice and leaks(draft):
        return LEAK
    if not grounded(draft):
        return NOT_GROUNDED
    if any(id not in material.facts.sure for id in draft.checked):
        return AMBIGUOUS
    if draft.multi_hop and shortcut(draft, material):
        return SHORTCUT
    return ""


def leaks(draft: Draft) -> bool:
    """Whether an accepted answer, or the name that it begins with, stands in the question."""
    question = _padded(draft.text)
    heads = () if draft.parts else (answer.split(",")[0] for answer in draft.answers)
    return any(_padded(said) in question for said in (*draft.answers, *heads) if plain_words(said))


def grounded(draft: Draft) -> bool:
    """Every quote stands in its chunk, and an accepted answer in one of them (or all of it is quotes)."""
    if not draft.support or any(_padded(one.quote) not in _padded(one.text) for one in draft.support if one.quote):
        return False
    if draft.choice or draft.parts:
        return bool(draft.answers)
    texts = [_padded(f"{one.title} {one.text}") for one in draft.support]
    return any(_padded(answer) in text for answer in draft.answers for text in texts)


def shortcut(draft: Draft, material: Material) -> bool:
    """Whether one document holds both what the question names and the answer."""
    return any(material.texts.holding(*draft.names, answer) for answer in draft.answers)


def answerable(draft: Draft, material: Material) -> bool:
    """Whether any document could answer what must have no answer."""
    return not draft.absent or any(material.texts.speaking(name, cues) for name, cues in draft.absent)


def _padded(text: str) -> str:
    return f" {plain_words(text)} "
