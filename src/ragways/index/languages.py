"""Which languages an index holds, and which of them its embedder does not know.

It is read off the beginnings of documents, of many documents off some of them: so it takes a moment, and nothing
has to be stored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ragways.core.language import LATIN, NAMES, SAMPLE, language
from ragways.models.minilm import LANGUAGES, MODEL
from ragways.store.store import Store

SAMPLED = 500
"""Documents that are looked at."""
_NUMBERS = 16**12  # that a document may have (`Document.id`)
FEW = 0.1
"""The share of documents in unknown languages that is worth no word."""
UNKNOWN = "unknown"
CURE = (
    'set [embedder] kind = "endpoint" with base_url and name of a model for these languages in ragways.toml, then: '
    "ragways index PATH --rebuild"
)


@dataclass(frozen=True, slots=True)
class UnreadDocuments:
    """So many documents are in a language that the embedder does not know. `text` is one line."""

    count: int
    text: str


def document_languages(store: Store) -> Counter[str]:
    """How many documents of the sample are in each language, by code; those of unknown language as "unknown"."""
    query = "SELECT substr(text, 1, ?) FROM documents WHERE number = ?"
    texts = (store.db.execute(query, (SAMPLE, number)).fetchone()[0] for number in _sample(store))
    return Counter(language(text) or UNKNOWN for text in texts)


def _sample(store: Store) -> set[int]:
    """Numbers of all documents, or of those next to some numbers at even distances: as numbers are drawn from keys,
    that is as good as any choice, and takes as long in a large index as in a small one.
    """
    few = "SELECT number FROM documents ORDER BY number LIMIT ?"
    numbers = {row[0] for row in store.db.execute(few, (SAMPLED + 1,))}
    if len(numbers) <= SAMPLED:
        return numbers
    query = "SELECT number FROM documents WHERE number >= ? ORDER BY number LIMIT 1"
    near = (store.db.execute(query, (at * _NUMBERS // SAMPLED,)).fetchone() for at in range(SAMPLED))
    return {row[0] for row in near if row is not None}


def unread_documents(store: Store) -> UnreadDocuments | None:
    """Documents that the offline embedder cannot read; None where they are few, or vectors come from elsewhere."""
    meta = store.meta()
    if "vectors" not in meta.get("layers", "").split() or not meta.get("embedder", "").startswith(f"{MODEL}/"):
        return None
    counts = document_languages(store)
    looked_at = sum(counts.values())
    unknown = Counter({code: count for code, count in counts.items() if code not in (*LANGUAGES, UNKNOWN)})
    if unknown.total() <= FEW * looked_at:
        return None
    names = " or ".join(NAMES[code] for code, _ in unknown.most_common(3))
    found = "words find them, vectors do so less well" if unknown.keys() <= LATIN else "words find them, vectors do not"
    text = (
        f"{unknown.total():,} of {looked_at:,} documents are {names}: the offline embedder knows English only; {found}"
    )
    return UnreadDocuments(unknown.total(), text)
