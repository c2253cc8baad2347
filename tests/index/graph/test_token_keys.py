"""The keys that a document left come back from what is kept of them, with its text."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.graph.corpus_names import CAPITAL, OWN, SMALL, WORD, CorpusNames, key_of
from ragways.index.graph.facts import Source
from ragways.index.graph.kept_facts import corpus_of, read
from ragways.index.graph.token_keys import packed_keys, unpacked_keys
from ragways.index.settings import GraphSettings

PLAIN = ("the", "The", "tide", "Tide", "1883", "of", "x", "a-b", "A-B", "U.S.")
ODD = ("O'Neil", "o'neil", "İzmir", "straße", "STRASSE", "日本", "\ud800")
WORDS = st.sampled_from([*PLAIN, *ODD])
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)


@given(TEXTS, st.sets(st.integers(0, 2**32 - 1), max_size=6), st.randoms(use_true_random=False))
def test_keys_come_back(text: str, others: set[int], dice) -> None:
    of_tokens = [key_of(kind, word.casefold()) for word in text.split() for kind in (CAPITAL, OWN, SMALL, WORD)]
    asked = np.array(sorted(others | {key for key in of_tokens if dice.random() < 0.4}), np.uint32)
    packed = packed_keys(asked, text)
    assert unpacked_keys(packed, text).tolist() == asked.tolist()
    assert unpacked_keys(asked.tobytes(), text).tolist() == asked.tolist(), "as an earlier version kept them"


def test_most_keys_of_a_document_take_a_bit() -> None:
    text = (
        "Ilsabet Corran built the old lighthouse at Saltrey in 1883. The keeper lit its lamp each evening, and ships "
        "from Port Averne steered by it through the narrow channel. Corran left Saltrey after the great storm."
    )
    source = Source(1, "Saltrey Light", text, (), ((0, 58), (59, 167), (168, len(text))), (), (), "")
    corpus: CorpusNames = corpus_of([source])
    keys = read(source, corpus, GraphSettings()).keys
    assert len(keys) > 10
    assert len(packed_keys(keys, text)) < 0.6 * len(keys.tobytes())
