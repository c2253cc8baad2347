"""Ids of relations, made of those of their ends and of the predicate: so the store need not keep them.

They are made for one relation, or for millions at once; the numbers are those of ids as the store has them
(`number_of_id`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash

SHIFT = 1 << 63
_ALL = (1 << 64) - 1
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST = 31
"""Of the finalizer of SplitMix64: each bit of what it is given changes half of the bits of what it gives."""

Ints = NDArray[np.int64]
Ids = NDArray[np.uint64]


@lru_cache(maxsize=50_000)
def predicate_hash(predicate: str) -> int:
    """What stands for a predicate."""
    return int(content_hash(predicate)[:16], 16)


def relation_number(subject: int, predicate: str, object: int) -> int:
    """The number of a relation, by those of its ends."""
    of_subject = (_mixed(subject + SHIFT) + predicate_hash(predicate)) & _ALL
    return _mixed((_mixed(of_subject) + object + SHIFT) & _ALL) - SHIFT


def _mixed(number: int) -> int:
    for shift, factor in _STEPS:
        number = (number ^ number >> shift) * factor & _ALL
    return number ^ number >> _LAST


def relation_numbers(subjects: Ints, predicates: Ids, objects: Ints) -> Ints:
    """The numbers of relations; `predicates` are their hashes."""
    of_subjects = _all_mixed(_unsigned(subjects)) + predicates
    mixed = _all_mixed(_all_mixed(of_subjects) + _unsigned(objects))
    return (mixed ^ np.uint64(SHIFT)).view(np.int64)


def _unsigned(numbers: Ints) -> Ids:
    return numbers.view(np.uint64) ^ np.uint64(SHIFT)


def _all_mixed(numbers: Ids) -> Ids:
    for shift, factor in _STEPS:
        numbers = (numbers ^ numbers >> np.uint64(shift)) * np.uint64(factor)
    mixed: Ids = numbers ^ numbers >> np.uint64(_LAST)
    return mixed
