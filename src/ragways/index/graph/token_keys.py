"""Keys that a document left when it was read (`CorpusNames.keys`), kept beside its text.

Most are of the tokens of the text itself, and how these stand there. For these a bit each is kept, whether the document
has left the key; the others are kept as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragways.index.graph.asked_keys import Keys
from ragways.index.graph.corpus_names import CAPITAL, OWN, SMALL, key_of
from ragways.index.graph.names import STOP, TOKEN, folded

_KEY = np.dtype(np.uint32).itemsize


def packed_keys(keys: Keys, text: str) -> bytes:
    """Keys in rising order; `text` is the document's."""
    told, asked = _told(text), set(keys.tolist())
    rest = np.array(sorted(asked.difference(told)), np.uint32)
    bits = np.packbits(np.array([key in asked for key in told], np.bool_)).tobytes()
    return rest.tobytes() + bits.ljust(_size(told), b"\0")


def unpacked_keys(packed: bytes, text: str) -> Keys:
    """What was packed with the same text."""
    if len(packed) % _KEY == 0:  # an earlier version kept all keys as they are
        return np.frombuffer(packed, np.uint32)
    told = _told(text)
    end = len(packed) - _size(told)
    bits = np.unpackbits(np.frombuffer(packed, np.uint8, offset=end), count=len(told)).astype(np.bool_)
    return np.union1d(np.frombuffer(packed[:end], np.uint32), np.array(told, np.uint32)[bits])


def _told(text: str) -> list[int]:
    """The keys that a document may have left of the tokens of its text."""
    stands: dict[str, bool] = {}
    for token in TOKEN.findall(text):
        word = folded(token)
        stands[word] = token[0].isupper() or stands.get(word, False)
    found = (
        (key_of(CAPITAL, word), key_of(OWN, word)) if capital else (key_of(SMALL, word),)
        for word, capital in stands.items()
        if capital or word not in STOP
    )
    return list(dict.fromkeys(key for some in found for key in some))


def _size(told: Sequence[int]) -> int:
    """Bytes of the bits: such that all keys together take one more than a whole number of keys would."""
    return (len(told) // 8 + _KEY - 1) // _KEY * _KEY + 1
