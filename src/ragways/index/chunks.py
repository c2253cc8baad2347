"""Chunks as retrievers see them, and the two layers over them: vectors and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ragways.core.errors import StoreFailed
from ragways.core.types import Structure, content_hash
from ragways.corpus.structure import Chunking
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext
from ragways.index.store import Store


def searched_text(title: str, section: str, text: str, *, with_title: bool) -> str:
    """A chunk as retrievers see it. A section's title says what the chunk alone may not."""
    if not with_title:
        return text
    head = title if section in ("", title) else f"{title}: {section}"
    return f"{head}\n{text}"


def chunk_texts(store: Store, numbers: Iterable[int] | None = None) -> Iterator[tuple[str, str]]:
    """Id and searched text of every chunk (of these documents), in the store's order."""
    with_title = store.meta().get("chunk_titles") == "True"
    if numbers is None:
        numbers = [row[0] for row in store.db.execute("SELECT number FROM documents ORDER BY number")]
    for number in numbers:
        title, text = store.db.execute("SELECT title, text FROM documents WHERE number = ?", (number,)).fetchone()
        sections = dict(store.db.execute("SELECT path, title FROM sections WHERE document = ?", (number,)).fetchall())
        chunks = store.db.execute(
            "SELECT path, start, end FROM chunks WHERE document = ? ORDER BY ordinal", (number,)
        ).fetchall()
        for path, start, end in chunks:
            section = sections[path.split(":", 1)[0]]
            yield f"article:{number}:{path}", searched_text(title, section, text[start:end], with_title=with_title)


def chunk_texts_of(parts: Structure, chunking: Chunking) -> Iterable[str]:
    """The searched texts of a document that is not stored yet."""
    document = parts.document
    sections = {section.id: section.title for section in parts.sections}
    for chunk in parts.chunks:
        section = sections[":".join(chunk.id.split(":")[:3])]
        yield searched_text(document.title, section, document.text[chunk.start : chunk.end], with_title=chunking.title)


async def _embed(context: BuildContext) -> None:
    """Documents bring their vectors with them, except those stored before vectors were asked for."""
    missing = {hash for _, hash in context.store.chunk_rows()}
    if context.embedder is not None:
        missing -= context.work_cache.known(context.embedder.name, missing)
    if missing:
        await context.embed({content_hash(text): text for _, text in chunk_texts(context.store)})


def _plan_vectors(planning: PlanContext) -> LayerEstimate:
    store = planning.context.store
    return LayerEstimate(store.count("chunks"), texts=(text for _, text in chunk_texts(store)))


def _plan_words(planning: PlanContext) -> LayerEstimate:
    """Thousands of chunks a second: too little to measure."""
    return LayerEstimate(planning.context.store.count("chunks"))


def _derive_vectors(context: BuildContext, folder: Path) -> None:
    from ragways.index.vectors import Vectors

    meta = context.store.meta()
    rows = list(context.store.chunk_rows())
    vectors = context.work_cache.vectors(meta["embedder"], [hash for _, hash in rows])
    missing = [id for id, hash in rows if hash not in vectors]
    if missing:
        raise StoreFailed(
            f"{len(missing)} chunks have no vector ({missing[0]} is the first)",
            "build again with: ragways index --rebuild PATH",
        )
    stacked = Vectors.stack([id for id, _ in rows], (vectors[hash] for _, hash in rows), int(meta["dimension"]))
    stacked.save(folder, "chunks")


def _derive_words(context: BuildContext, folder: Path) -> None:
    from ragways.index.words import Words

    if context.new is not None and context.before is not None and (context.before / "words").is_dir():
        Words.build(folder / "words", chunk_texts(context.store, sorted(context.new)), onto=context.before / "words")
    else:
        Words.build(folder / "words", chunk_texts(context.store))


def _used(context: BuildContext) -> dict[str, set[str]]:
    return {"vectors": {hash for _, hash in context.store.chunk_rows()}}


VECTORS = Layer(
    name="vectors",
    summary="a vector of each chunk, for search by meaning",
    needs=frozenset(),
    plan=_plan_vectors,
    work=_embed,
    derive=_derive_vectors,
    used=_used,
)
WORDS = Layer(
    name="words",
    summary="a lexical index (BM25) over chunks and titles",
    needs=frozenset(),
    derive=_derive_words,
    plan=_plan_words,
)
