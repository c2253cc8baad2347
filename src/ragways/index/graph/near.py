"""Names that are nearly the same: alike as strings, and alike by meaning. Neither alone is enough."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from ragways.core.types import content_hash
from ragways.index.graph.merges import EVERYWHERE, Merge
from ragways.index.graph.spoken import Spoken
from ragways.index.layer import BuildContext

_CROWD = 30
"""Names that share a word are compared with each other only where the word is rarer than this."""


def alike(counts: Mapping[str, int], titles: Collection[str], least: float) -> list[tuple[str, str, float]]:
    """Pairs of names that share a rare word and most of their letters: the less used one first, then its like."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts):
        for word in set(name.split()):
            if len(word) > 3:
                sharing[word].append(name)
    pairs: dict[tuple[str, str], float] = {}
    for names in sharing.values():
        if len(names) <= _CROWD:
            for at, one in enumerate(names):
                for other in names[at + 1 :]:
                    if (one, other) not in pairs and _comparable(one, other, titles):
                        pairs[one, other] = SequenceMatcher(None, one, other, autojunk=False).ratio()
    ordered = (sorted(pair, key=lambda name: (name in titles, counts[name], name)) for pair in sorted(pairs))
    found = [(few, many, pairs[min(few, many), max(few, many)]) for few, many in ordered]
    return [(few, many, ratio) for few, many, ratio in found if ratio >= least]


def _comparable(one: str, other: str, titles: Collection[str]) -> bool:
    """Two articles are two things, and so are names that differ in a number."""
    if one in titles and other in titles:
        return False
    return abs(len(one) - len(other)) <= 4 and _digits(one) == _digits(other)


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())


def near_merges(
    context: BuildContext,
    spoken: Mapping[int, Spoken],
    titles: Collection[str],
    least: float,
    cosine: float,
    asked: set[str],
) -> Iterator[Merge]:
    """Merges of pairs that both measures call near. `asked` takes up the names whose vectors are looked at."""
    import numpy as np

    counts: Counter[str] = Counter()
    for document in spoken.values():
        for name, use in document.names.items():
            counts[name] += use.count
    pairs = alike(counts, titles, least)
    asked |= {name for few, many, _ in pairs for name in (few, many)}
    hashes = near_hashes(asked)
    known = context.work_cache.vectors(context.store.meta().get("embedder", ""), list(hashes))
    vectors = {hashes[hash]: np.frombuffer(data, dtype=np.float32) for hash, data in known.items()}
    for few, many, ratio in pairs:
        if few in vectors and many in vectors:
            meaning = float(vectors[few] @ vectors[many])
            if meaning >= cosine:
                yield Merge(EVERYWHERE, few, many, f"near name ({ratio:.2f} by letters, {meaning:.2f} by meaning)")


def near_hashes(names: Iterable[str]) -> dict[str, str]:
    """Names by the hash under which their vector is kept."""
    return {content_hash(name): name for name in names}
