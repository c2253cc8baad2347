"""The layer of the index: communities are derived from the graph; reports of models and vectors are kept by content."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

from ragways.core.errors import BudgetExceeded
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.communities import tables
from ragways.index.communities.landscape import landscape
from ragways.index.communities.options import by_model, keep_options, kept_kind, options_of
from ragways.index.communities.writing import Book, expected, kind_of, read_all, write_all
from ragways.index.graph.layer import draft_of
from ragways.index.layer import Layer, Outlook, Prospect, Site

VECTORS = "reports"
"""The name of the files that hold the reports' vectors."""


async def _work(site: Site) -> None:
    options = options_of(site)
    given = "communities" in site.settings or "communities" not in site.store.meta()
    if given:
        keep_options(site, options, kind_of(site.model) if by_model(site, options) else "")
    book = _new_book(site)
    stopped: BudgetExceeded | None = None
    try:
        if given:
            await write_all(book)
        else:
            # A removal has no model at hand: what it changes is left for the next run.
            site.failed += len(read_all(book).missing)
    except BudgetExceeded as stop:
        stopped = stop
    site.made["communities"] = book
    if _with_vectors(site):
        await site.embed({content_hash(text): text for text in _texts(book).values()})
    if stopped is not None:
        raise stopped


def book_of(site: Site) -> Book:
    """The communities and reports of the site's documents; made once a run."""
    if "communities" not in site.made:
        site.made["communities"] = read_all(_new_book(site))
    return cast(Book, site.made["communities"])


def _new_book(site: Site) -> Book:
    options = options_of(site)
    return Book(site, landscape(draft_of(site), site.store, options), options, kept_kind(site))


def _with_vectors(site: Site) -> bool:
    return "vectors" in site.store.meta().get("layers", "").split()


def _texts(book: Book) -> dict[str, str]:
    """What is embedded, by community."""
    return {id: book.reports[id].embedded for id in sorted(book.reports)}


def _plan(prospect: Prospect) -> Outlook:
    """Communities are not known before there is a graph: the sample's tell how many there will be."""
    site, sample = prospect.site, prospect.sample
    began = time.perf_counter()
    book = book_of(sample)
    seconds = (time.perf_counter() - began) / prospect.share
    usage, kind = Usage(), ""
    if by_model(site, options_of(site)):
        kind = kind_of(site.model)
        usage = expected(site, kind, prospect.fresh)
    return Outlook(
        round(len(book.land.groups) / prospect.share),
        like=list(_texts(book).values()) if _with_vectors(sample) else (),
        times=prospect.fresh / prospect.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="communities, reports and their vectors",
    )


def _derive(site: Site, folder: Path) -> None:
    book = book_of(site)
    tables.write(book, folder)
    if _with_vectors(site):
        _save_vectors(site, _texts(book), folder)


def _save_vectors(site: Site, texts: dict[str, str], folder: Path) -> None:
    """Those that have a vector: where a budget ended the work, the rest is found by words."""
    from ragways.index.vectors import Vectors

    meta = site.store.meta()
    hashes = {id: content_hash(text) for id, text in texts.items()}
    known = site.paid.vectors(meta["embedder"], sorted(set(hashes.values())))
    ids = [id for id in hashes if hashes[id] in known]
    Vectors.stack(ids, (known[hashes[id]] for id in ids), int(meta["dimension"])).save(folder, VECTORS)


def _used(site: Site) -> dict[str, set[str]]:
    book = book_of(site)
    used = {book.kind: {shown.hash for shown in book.shown.values()}} if book.kind else {}
    if _with_vectors(site):
        used["vectors"] = {content_hash(text) for text in _texts(book).values()}
    return used


COMMUNITIES = Layer(
    name="communities",
    summary="communities of the knowledge graph, a report for each",
    needs=frozenset({"graph"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
)
