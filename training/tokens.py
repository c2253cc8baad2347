"""Rows as tokens, in batches of like length."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ragways.models.reader import QUESTION_TOKENS, LaidOut, joined
from training.data import Row

LONGEST = 384
MANY = 20_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """A row as it is read; `span` is the first and last token of its answer, (0, 0) for none, None where not known."""

    row: Row
    laid: LaidOut
    span: tuple[int, int] | None


def load_tokenizer(file: Path) -> Tokenizer:
    """The tokenizer in a file, without the limits that it may name."""
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def tokenised(tokenizer: Tokenizer, rows: Sequence[Row]) -> list[Tokens]:
    """Rows as tokens, by all processors where they are many. The span of an answer that is cut off is not known."""
    if len(rows) < MANY:
        return _tokenised(tokenizer, rows)
    parts = [rows[begin : begin + MANY // 4] for begin in range(0, len(rows), MANY // 4)]
    with multiprocessing.get_context("fork").Pool() as pool:
        return [one for part in pool.imap(partial(_tokenised, tokenizer), parts) for one in part]


def _tokenised(tokenizer: Tokenizer, rows: Sequence[Row]) -> list[Tokens]:
    texts = list(dict.fromkeys([row.question for row in rows] + [p.shown for row in rows for p in row.passages]))
    known = dict(zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True))
    found = []
    for row in rows:
        laid = joined(known[row.question].ids[:QUESTION_TOKENS], [known[p.shown] for p in row.passages], LONGEST)
        found.append(Tokens(row, laid, _span(row, laid)))
    return found


def _span(row: Row, laid: LaidOut) -> tuple[int, int] | None:
    if row.at is None or row.at < 0:
        return None if row.at is None else (0, 0)
    here, first, end = laid.places.T
    inside = np.flatnonzero((here == row.at) & (first < row.end) & (end > row.start))
    whole = len(inside) > 0 and end[inside[-1]] >= row.end
    return (int(inside[0]), int(inside[-1])) if whole else None


def batches(lengths: Sequence[int], budget: int, order: Sequence[int]) -> list[list[int]]:
    """Rows of like length together, up to `budget` tokens a batch with its padding: places in `order`, by pools."""
    found: list[list[int]] = []
    for begin in range(0, len(order), 40_000):
        here: list[int] = []
        for at in sorted(order[begin : begin + 40_000], key=lambda at: lengths[at]):
            if here and (len(here) + 1) * lengths[at] > budget:
                found.append(here)
                here = []
            here.append(at)
        if here:
            found.append(here)
    return found


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays of a batch: ids (rows, tokens), 0 where there is none; wanted spans (2, rows) with −100 for unknown; for
    the marks behind passages the row, the token and what is wanted (NaN for unknown); wanted support (NaN for unknown).
    """

    ids: NDArray[np.int64]
    spans: NDArray[np.int64]
    marks: NDArray[np.int64]
    evidence: NDArray[np.float32]
    supports: NDArray[np.float32]


def batch(tokens: Sequence[Tokens], places: Sequence[int]) -> Batch:
    """The rows at these places, padded to a multiple of 16 tokens."""
    chosen = [tokens[at] for at in places]
    longest = -(-max(len(one.laid.ids) for one in chosen) // 16) * 16
    ids = np.zeros((len(chosen), longest), np.int64)
    for number, one in enumerate(chosen):
        ids[number, : len(one.laid.ids)] = one.laid.ids
    known = [(n, mark) for n, one in enumerate(chosen) for mark in one.laid.marks]
    wanted = [value for one in chosen for value in one.row.evidence or (None,) * len(one.laid.marks)]
    return Batch(
        ids,
        np.array([one.span or (-100, -100) for one in chosen], np.int64).T,
        np.array(known, np.int64).T,
        np.array([np.nan if value is None else value for value in wanted], np.float32),
        np.array([np.nan if one.row.supports is None else one.row.supports for one in chosen], np.float32),
    )
