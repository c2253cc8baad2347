"""The judge tested on itself: an answer against itself, against a copy with remarks that say nothing, and in another
style must tie; against an answer to another question it must win. Without the last, a judge that gives nobody a point
would pass.

What counts is the bias that is left in a duel. A liking for the first place is cancelled by exchanging the places,
unless it is larger for one paradigm's answers than for the other's: that is tested. Styles that the normal form takes
off are not asked about. The others are put on answers made of halves of the duel's own pairs, on one side and then on
the other. Such answers are alike in style without being alike, and nobody can know them for a test, so that a judge
that only sees to it that an answer and its copy tie is tested too.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ragways.evaluation.duel.entries import TOLERANCE, DuelRules, apart, padded_copy
from ragways.evaluation.duel.replies import ORDERS, DuelPrompt
from ragways.evaluation.duel.selftest import MINIMUM
from ragways.evaluation.duel.style import DRESSES, Dress, normal_form
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.question import normal
from ragways.evaluation.record import Record


def probe_prompts(records: Iterable[Record], names: Iterable[str], rules: DuelRules) -> list[DuelPrompt]:
    """What the judge is tested on: answers drawn from those of the duel, each different; more replies about each where
    there are few.
    """
    chosen = sorted(set(names))
    fit = [
        record
        for record in records
        if record.paradigm in chosen and not record.error and not record.abstained and answer_of(record)
    ]
    drawn = _drawn(fit, rules)
    each = -(-rules.selftest // max(1, len(drawn)))
    found: list[DuelPrompt] = []
    for record in drawn:
        answer = answer_of(record)
        about = (record.question, record.text, record.repeat, record.paradigm, record.paradigm)
        # Both orders of an answer and itself are the same prompt, so one is asked as often as two would be.
        found += [DuelPrompt("same", *about, "ab", trial, (answer, answer)) for trial in range(each)]
        found += [
            DuelPrompt("padded", *about, order, trial, (answer, padded_copy(answer)))
            for trial in range(-(-each // len(ORDERS)))
            for order in ORDERS
        ]
    return [*found, *_controls(drawn, rules), *_styled(_meetings(drawn, fit), chosen, rules)]


def _drawn(fit: Iterable[Record], rules: DuelRules) -> list[Record]:
    different = {(record.question, answer_of(record)): record for record in fit}
    every = [different[key] for key in sorted(different)]
    few = min(rules.answers, len(every))
    return random.Random(rules.seed).sample(every, few)  # noqa: S311 - a draw, not a secret


def _controls(drawn: Sequence[Record], rules: DuelRules) -> list[DuelPrompt]:
    """Answers against answers to other questions, which must lose: of those drawn as many as it takes, both orders;
    more often where they are few.

    Answers that are known to be right come first: a wrong one need not win against anything.
    """
    ordered = sorted(drawn, key=lambda record: not _is_right(record, answer_of(record)))  # stable: else as drawn
    pairs = list(islice(_against_others(ordered), -(-rules.control // len(ORDERS))))
    each = max(1, rules.control // max(1, len(ORDERS) * len(pairs)))
    return [
        DuelPrompt(
            "other",
            record.question,
            record.text,
            record.repeat,
            record.paradigm,
            record.paradigm,
            order,
            trial,
            answers,
        )
        for record, answers in pairs
        for trial in range(each)
        for order in ORDERS
    ]


def _against_others(drawn: Sequence[Record]) -> Iterator[tuple[Record, tuple[str, str]]]:
    answers = [answer_of(record) for record in drawn]
    told = [(one.question, normal(one.text), normal(answer)) for one, answer in zip(drawn, answers, strict=True)]
    for at, (record, own) in enumerate(zip(drawn, answers, strict=True)):
        # Each looks on from its own place, so that not all get the same one; the nearest in length are taken first.
        places = (*range(at + 1, len(drawn)), *range(at))
        others = [answers[place] for place in places if _differs(told[at], told[place])]
        others.sort(key=lambda text: max(0, apart((own, text)) - TOLERANCE))
        wrong = next((text for text in others if not _is_right(record, text)), None)
        if wrong is not None:
            yield record, (own, wrong)


def _differs(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether they answer different questions, in different words: ids, questions and answers all differ."""
    return all(mine != theirs for mine, theirs in zip(one, other, strict=True))


def _is_right(record: Record, answer: str) -> bool:
    """Whether this would be an accepted answer to the record's question; False where nobody knows."""
    return METRICS["accuracy"].score(replace(record, answer=answer, abstained=False)).value == 1.0


def _meetings(drawn: Sequence[Record], fit: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Answers with one of another paradigm to the same question: those that differ first, and of these those drawn."""
    asked: dict[tuple[str, int], dict[str, Record]] = defaultdict(dict)
    for record in fit:
        asked[record.question, record.repeat][record.paradigm] = record
    met: dict[frozenset[tuple[str, str, int]], tuple[Record, Record]] = {}
    for record in (*drawn, *sorted(fit, key=lambda record: record.key)):  # the others where those drawn are too few
        others = asked[record.question, record.repeat]
        name = min((name for name in others if name > record.paradigm), default=min(others))
        if name != record.paradigm:
            met.setdefault(frozenset((record.key, others[name].key)), (record, others[name]))
    return sorted(met.values(), key=lambda pair: answer_of(pair[0]) == answer_of(pair[1]))  # stable: else as drawn


def _styled(met: Sequence[tuple[Record, Record]], names: Sequence[str], rules: DuelRules) -> Iterator[DuelPrompt]:
    """Two prompts after each other: the first answer wears the style, then the second does."""
    pairs = met[: max(MINIMUM, rules.selftest // (2 * len(ORDERS)))]
    each = -(-rules.selftest // max(1, 2 * len(ORDERS) * len(pairs)))
    for dress in DRESSES:
        for record, other in pairs:
            one, two = _crossed(answer_of(record), answer_of(other))
            dressed, plain = _worn(dress, one, record, names)
            other_dressed, other_plain = _worn(dress, two, other, names)
            if (dressed, other_dressed) == (plain, other_plain):
                continue  # the normal form takes it off: there is nothing to like
            about = (record.question, record.text, record.repeat, record.paradigm, other.paradigm)
            for trial in range(each):
                for order in ORDERS:
                    yield DuelPrompt(dress.name, *about, order, trial, (dressed, other_plain))
                    yield DuelPrompt(dress.name, *about, order, trial, (plain, other_dressed))


def _crossed(first: str, second: str) -> tuple[str, str]:
    """Of two answers, cut to one length, the beginning of each with the end of the other: what is a paradigm's own way
    to write stands on both sides then.
    """
    ours, theirs = first.split(), second.split()
    length = min(len(ours), len(theirs))
    half = -(-length // 2)
    return " ".join((*ours[:half], *theirs[half:length])), " ".join((*theirs[:half], *ours[half:length]))


def _worn(dress: Dress, text: str, record: Record, names: Sequence[str]) -> tuple[str, str]:
    dressed, plain = dress.wear(text, record.text, record.paradigm)
    return normal_form(dressed, names, record.text), normal_form(plain, names, record.text)
