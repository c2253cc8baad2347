"""What a walk gathered, as hits."""

from __future__ import annotations

from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, Query, ranked
from ragways.index.reader import Index
from ragways.models.tokens import count_tokens
from ragways.modules.walks.texts import Texts
from ragways.modules.walks.walk import Walk


def hits_of(index: Index, query: Query, by: str, walk: Walk) -> Hits:
    """The gathered sentences in the order they were gathered: the score is 1 / place.

    That order is what a traversal decides, so it is what a budget must cut from the end; sorted by similarity, the
    sentences of a window would be torn apart and all seven would look alike. The similarity to the question stands in
    `found`, whose rank is the number of the hop and whose note is the way there.
    """
    windows = walk.windows
    _trace(walk)
    texts = Texts(index, windows)
    hits: list[Hit] = []
    way: list[str] = []
    for number, hop in enumerate(walk.hops, start=1):
        way.append(windows.windows.ids[hop.window])
        for sentence in hop.sentences:
            found = Found(by, number, walk.to_sentence(sentence), " → ".join(way))
            hits.append(Hit(_piece(texts, hop.window, sentence), 1 / (len(hits) + 1), (found,)))
    return ranked(query, hits)


def _piece(texts: Texts, window: int, sentence: int) -> Piece:
    document = texts.document(texts.windows.document_of(window))
    start, end = texts.windows.sentence_at[sentence].tolist()
    text = document.text[start:end]
    return Piece(
        id=texts.windows.sentences.ids[sentence],
        kind="sentence",
        text=text,
        document=document.id,
        title=document.title,
        start=start,
        end=end,
        tokens=count_tokens(text),
        date=document.metadata.get("date", ""),
    )


def _trace(walk: Walk) -> None:
    """Leave the path where a picture of the walk can be drawn from."""
    current_span().details.update(
        path=[(walk.windows.windows.ids[hop.window], round(hop.similarity, 6), hop.why) for hop in walk.hops],
        gathered=[[walk.windows.sentences.ids[s] for s in hop.sentences] for hop in walk.hops],
        stopped=walk.stopped,
        found=len(walk.gathered),
    )
