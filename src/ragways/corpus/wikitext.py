"""One page of MediaWiki markup (.wiki, .wikitext, .mediawiki) as plain text with links, headings and infoboxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.reading import read_text
from ragways.corpus.source import LoadOptions, SourceFile
from ragways.corpus.wikiclean import prepare
from ragways.corpus.wikilinks import WikiSite, title_of
from ragways.corpus.wikirender import Renderer
from ragways.corpus.wikitree import parse

_REDIRECT = re.compile(
    r"\s{0,100}#(?:redirect|weiterleitung|redirection|redirecci[óo]n|redirecionamento|rinvia|doorverwijzing|patrz|"
    r"przekieruj|перенаправление|перенапр|перенаправлення|omdirigering|ohjaus|uudelleenohjaus|přesměruj|átirányítás|"
    r"redirectare|yönlendirme|alih|đổi|転送|重定向|넘겨주기|تحويل|הפניה)\s{0,20}:?\s{0,20}\[\[:?([^\[\]|\n]{1,300})",
    re.IGNORECASE,
)


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    yield page(source, file.key, file.stem, options, metadata=metadata)


def page(
    source: str,
    key: str,
    title: str,
    options: LoadOptions,
    *,
    site: WikiSite | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Document:
    """The document of one page. Of a page beyond the limit the beginning is read, and the metadata says so."""
    site = site or WikiSite()
    facts = dict(metadata or {})
    builder = TextBuilder(options.max_text)
    if match := _REDIRECT.match(source):
        target = title_of(match[1], site)
        return replace(builder.document(key, title, "wikitext", facts), redirect=target or None)
    if len(source) > options.max_page:
        source = source[: options.max_page]
        facts["truncated"] = f"only the first {options.max_page:,} characters of markup were read"
    text, kept = prepare(source)
    renderer = Renderer(builder, site, kept)
    renderer.page(parse(text))
    if renderer.categories:
        facts["category"] = "; ".join(renderer.categories)
    return builder.document(key, title, "wikitext", facts)
