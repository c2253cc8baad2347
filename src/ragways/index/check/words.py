"""The lexical layer: as many entries as chunks, and each chunk found under its id."""

from __future__ import annotations

from collections.abc import Iterator

from ragways.index.check.finding import Finding, Place, found

MOST = 1000
"""Chunks that are looked up one by one; of more, as many at even distances."""


def entries(place: Place) -> Iterator[Finding]:
    """Words of chunks."""
    if not place.has("words"):
        return
    folder = place.derived / "words"
    # Opening a folder without an index would make one.
    if not (folder / "meta.json").is_file():
        yield Finding("no index of words", "error", 1, str(folder), place.derive)
        return
    import tantivy

    from ragways.index.words import Words

    index = Words(folder)._index
    searcher = index.searcher()
    if searcher.num_docs != len(place.chunks):
        example = f"{searcher.num_docs:,} entries, {len(place.chunks):,} chunks"
        count = abs(searcher.num_docs - len(place.chunks))
        yield Finding("words and chunks differ in number", "error", count, example, place.derive)

    def known(id: str) -> bool:
        return bool(searcher.search(tantivy.Query.term_query(index.schema, "id", id), 1, count=False).hits)

    some = place.chunks[:: max(1, len(place.chunks) // MOST)]
    yield from found("chunks not found by their words", "error", (id for id in some if not known(id)), place.derive)
