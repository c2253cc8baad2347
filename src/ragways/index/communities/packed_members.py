"""How rows of the store hold members of communities: ids of eight bytes, strengths in few, some dozens in a row.

A slice has members of one leaf by their rank: the strongest first, and equal ones by id. A bucket has members whose ids
begin with the same bits, by id, with the leaves that they are in.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.communities.partition import Ints
from ragways.index.graph.document_statements import HALF
from ragways.index.graph.relation_ids import SHIFT
from ragways.index.packed_numbers import fits_count, joined_counts, packed_counts, unpacked_counts

RANK = 32
"""Bits of a rank: behind the community's number in that of a slice."""
_CLASS = 12
_DIGITS = 7
"""Bits of a rank that tell how strong a member is, and how many binary digits of its strength they tell apart."""
_LARGEST = 32
"""Members of a slice; where there are more it is cut in two."""

Member = tuple[int, int]
"""A member's leaf and strength."""
Strength = tuple[int, int]
"""A member and its strength."""
Ordered = tuple[int, int]
"""A strength, below zero so that the strongest come first, and the member."""
BucketRow = tuple[int, int, bytes, bytes, bytes]
"""The columns of a bucket: its number, whether strengths are halves, members, strengths and leaves."""


class Members(NamedTuple):
    """Some members, in arrays that go together."""

    entities: Ints
    communities: Ints
    strengths: Ints

    def by_id(self) -> Members:
        """The same, in the order of their ids."""
        order = np.argsort(self.entities)
        return Members(*(column[order] for column in self))


def rank_of(entity: int, strength: int) -> int:
    """A number for the place of a member in its leaf, the strongest first: by the first digits of its strength, and
    then by the first bits of its id. Up to 127 halves, which few have more of, strengths are told apart exactly.
    """
    halves = -(-strength // HALF)
    shift = max(0, halves.bit_length() - _DIGITS)
    strong = (shift << _DIGITS - 1) + (halves >> shift)
    return (1 << _CLASS) - 1 - strong << RANK - _CLASS | entity + SHIFT >> 64 - RANK + _CLASS


def last_slice(entity: int, community: int, strength: int) -> int:
    """The last slice that a member may be in: it is in that one of its community, or in the next before."""
    return community << RANK | rank_of(entity, strength)


def all_slices(community: int) -> tuple[int, int]:
    """The first and the last slice that a community may have."""
    return community << RANK, (community + 1 << RANK) - 1


def first_in(slice: int) -> Ordered:
    """What no member of a slice comes before."""
    rank = slice & (1 << RANK) - 1
    strong = (1 << _CLASS) - 1 - (rank >> RANK - _CLASS)
    shift = max(0, (strong >> _DIGITS - 1) - 1)
    halves = (strong - (shift << _DIGITS - 1) + 1 << shift) - 1
    id = (rank & (1 << RANK - _CLASS) - 1) << 64 - RANK + _CLASS
    return -halves * HALF, id - SHIFT


def cut(slice: int, members: Sequence[Ordered]) -> Iterator[tuple[int, Sequence[Ordered]]]:
    """The members of a slice as one slice, or as several where they are many."""
    if len(members) <= _LARGEST:
        yield slice, members
        return
    ranked = sorted((rank_of(entity, -strength), strength, entity) for strength, entity in members)
    ranks = [rank for rank, _, _ in ranked]
    waiting = [(slice, 0, len(ranks))]
    while waiting:
        start, begin, end = waiting.pop()
        at = _middle(ranks, begin, end) if end - begin > _LARGEST else None
        if at is None:
            yield start, sorted((strength, entity) for _, strength, entity in ranked[begin:end])
            continue
        # Of the rank it begins with, a slice shows no more than it takes to tell it from the one before.
        shift = (ranks[at - 1] ^ ranks[at]).bit_length() - 1
        waiting.append((slice >> RANK << RANK | ranks[at] >> shift << shift, at, end))
        waiting.append((start, begin, at))


def _middle(ranks: Sequence[int], begin: int, end: int) -> int | None:
    """Where a part of a list that rises is cut in two, so that equal ones stay together; None where all are equal."""
    half = ranks[(begin + end) // 2]
    for at in (bisect_left(ranks, half, begin, end), bisect_right(ranks, half, begin, end)):
        if begin < at < end:
            return at
    return None


def buckets_of(entities: Ints, bits: int) -> NDArray[np.uint64]:
    """The bucket of each, where buckets have so many bits."""
    numbers = entities.astype(np.uint64) + np.uint64(SHIFT)
    first = numbers >> np.uint64(63 - bits) >> np.uint64(1)  # a shift by all 64 bits at once is none
    return first | np.uint64(1 << bits)


def shared_out(members: Members, bits: int) -> Iterator[BucketRow]:
    """The rows of all buckets, for members in the order of their ids."""
    buckets, starts = np.unique(buckets_of(members.entities, bits), return_index=True)
    bounds = [*starts.tolist(), len(members.entities)]
    for bucket, (start, end) in zip(buckets.tolist(), pairwise(bounds), strict=True):
        yield MemberBucket(*(column[start:end].tolist() for column in members)).row(bucket)


def packed_strengths(strengths: Sequence[int]) -> tuple[int, bytes]:
    """Whether strengths are halves, and their bytes: rules weigh in halves, models in anything."""
    # Each change does this to thousands of numbers, so none is handled by a line of Python.
    if any(map(HALF.__rmod__, strengths)):
        return 0, packed_counts(strengths)
    return 1, packed_counts(list(map(HALF.__rfloordiv__, strengths)))


def fits(_: int, members: bytes, strengths: bytes) -> bool:
    """Whether the columns of a slice may belong together."""
    count = len(members) // 8
    return bool(count) and not len(members) % 8 and fits_count(strengths, count)


def ordered(halves: int, members: bytes, strengths: bytes) -> list[Ordered]:
    """The members of a slice, as they stand there."""
    entities = memoryview(members).cast("q")
    packed = unpacked_counts(strengths, len(entities))
    return list(zip(map((-HALF if halves else -1).__mul__, packed), entities, strict=True))


class MemberBucket(NamedTuple):
    """What a bucket has, in the order of ids."""

    entities: list[int]
    leaves: list[int]
    strengths: list[int]

    @classmethod
    def empty(cls) -> MemberBucket:
        return cls([], [], [])

    @classmethod
    def of(cls, halves: int, members: bytes, strengths: bytes, communities: bytes) -> MemberBucket:
        entities = array("q", members).tolist()
        leaves, packed = (unpacked_counts(column, len(entities)) for column in (communities, strengths))
        return cls(entities, list(leaves), list(map(HALF.__mul__, packed) if halves else packed))

    def put(self, entity: int, member: Member | None) -> None:
        """Have an entity be a member, or none."""
        at = bisect_left(self.entities, entity)
        known = slice(at, at + (at < len(self.entities) and self.entities[at] == entity))
        self.entities[known] = [] if member is None else [entity]
        self.leaves[known] = [] if member is None else [member[0]]
        self.strengths[known] = [] if member is None else [member[1]]

    def row(self, bucket: int) -> BucketRow:
        halves, strengths = packed_strengths(self.strengths)
        return bucket, halves, array("q", self.entities).tobytes(), strengths, packed_counts(self.leaves)


def joined(rows: Sequence[tuple[int, int, bytes, bytes]]) -> Members:
    """The members of many slices, each told by its leaf, whether strengths are halves, members and strengths."""
    lengths = [len(members) // 8 for _, _, members, _ in rows]
    units = np.array([HALF if halves else 1 for _, halves, _, _ in rows], np.int64)
    strengths = joined_counts([strengths for *_, strengths in rows], lengths).astype(np.int64)
    return Members(
        np.frombuffer(b"".join(members for _, _, members, _ in rows), np.int64),
        np.repeat(np.array([leaf for leaf, *_ in rows], np.int64), lengths),
        strengths * np.repeat(units, lengths),
    )
