"""MediaWiki markup: one page (.wiki, .wikitext, .mediawiki), or an export dump (.xml, .xml.gz, .xml.bz2).

A dump is streamed: memory holds one revision at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import Bounded, LoadOptions, Skipped, SourceFile, opened, read_text
from ragways.corpus.wikirender import Renderer
from ragways.corpus.wikitemplates import WikiSite, title_of
from ragways.corpus.wikitree import parse, prepare

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_REDIRECT = re.compile(
    r"\s{0,100}#(?:redirect|weiterleitung|redirection|redirecci[óo]n|redirecionamento|rinvia|doorverwijzing|patrz|"
    r"przekieruj|перенаправление|перенапр|перенаправлення|omdirigering|ohjaus|uudelleenohjaus|přesměruj|átirányítás|"
    r"redirectare|yönlendirme|alih|đổi|転送|重定向|넘겨주기|تحويل|הפניה)\s{0,20}:?\s{0,20}\[\[:?([^\[\]|\n]{1,300})",
    re.IGNORECASE,
)


def load_page(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
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


# Dumps

_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(slots=True)
class _Page:
    """What is known of the page that is being read. Of several revisions the latest counts."""

    title: str = ""
    space: str = "0"
    id: str = ""
    redirect: str = ""
    stamp: str = ""
    model: str = "wikitext"
    text: str = ""


@dataclass(slots=True)
class _State:
    site: WikiSite = field(default_factory=WikiSite)
    page: _Page = field(default_factory=_Page)
    path: list[str] = field(default_factory=list)


def load_dump(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    used: set[str] = set()
    for ordinal, (found, site) in enumerate(_pages(file, options), start=1):
        if found.space != "0" or not found.title:
            continue
        name = found.title
        while name in used:
            name = f"{found.title}#{ordinal}"
            ordinal += 1  # noqa: PLW2901 - only to find a free name
        used.add(name)
        try:
            yield _document(found, f"{file.key}#{name}", site, options)
        except LoadError as error:
            options.notice(Skipped(f"{file.key}#{name}", error.message))


def _document(found: _Page, key: str, site: WikiSite, options: LoadOptions) -> Document:
    metadata = {**site.metadata, "page": found.id, "date": iso_date(found.stamp)}
    if site.base:
        metadata["url"] = site.base + quote(found.title.replace(" ", "_"), safe="/:(),'!*@")
    if found.model != "wikitext":
        raise LoadError(f"holds {found.model[:40]}, not wikitext")
    document = page(found.text, key, found.title, options, site=site, metadata=metadata)
    target = title_of(found.redirect, site)
    if target and not document.redirect:
        document = replace(document, redirect=target, text="", headings=(), links=(), infoboxes=())
    return document


def _pages(file: SourceFile, options: LoadOptions) -> Iterator[tuple[_Page, WikiSite]]:
    from defusedxml.ElementTree import iterparse  # a page needs no parser of XML

    with opened(file) as raw:
        stream = Bounded(raw, options.max_stream, options.max_record)
        state = _State()
        root: Element | None = None
        for event, element in iterparse(stream, ("start", "end"), forbid_dtd=True):
            name = element.tag.rpartition("}")[2]
            if event == "start":
                if root is None:
                    root = element
                    _check(element, name, state)
                state.path.append(name)
                if len(state.path) > 100:
                    raise LoadError("is nested too deep")
                continue
            state.path.pop()
            _take(element, name, state)
            if name in ("page", "revision", "siteinfo"):
                element.clear()
                stream.reset()
            if name == "page" and root is not None:
                root.clear()
                yield state.page, state.site
                state.page = _Page()


def _check(root: Element, name: str, state: _State) -> None:
    if name != "mediawiki":
        raise LoadError(f"is XML, but no MediaWiki export (it begins with <{name[:40]}>)")
    language = root.get(_XML_LANGUAGE, "")
    state.site = replace(state.site, metadata={"language": language} if language else {})


def _take(element: Element, name: str, state: _State) -> None:
    """Keep what an element says, by the element it stands in."""
    parent = state.path[-1] if state.path else ""
    text = element.text or ""
    if parent == "page":
        if name in ("title", "id"):
            setattr(state.page, name, text.strip())
        elif name == "ns":
            state.page.space = text.strip()
        elif name == "redirect":
            state.page.redirect = element.get("title", "")
    elif parent == "revision":
        if name == "timestamp":
            state.page.stamp = text.strip()
        elif name == "text":
            state.page.text = text
        elif name == "model":
            state.page.model = text.strip() or "wikitext"
    elif parent in ("siteinfo", "namespaces"):
        _learn(element, name, text.strip(), state)


def _learn(element: Element, name: str, text: str, state: _State) -> None:
    """What the dump says of its wiki."""
    site = state.site
    if name == "sitename":
        state.site = replace(site, metadata={**site.metadata, "source": text})
    elif name == "base" and text.startswith("http"):
        state.site = replace(site, base=text.rpartition("/")[0] + "/")
    elif name == "case":
        state.site = replace(site, capital=text != "case-sensitive")
    elif name == "namespace" and text and element.get("key") != "0":
        space = frozenset((text.casefold(),))
        if element.get("key") == "6":
            state.site = replace(site, files=site.files | space)
        elif element.get("key") == "14":
            state.site = replace(site, categories=site.categories | space)
        else:
            state.site = replace(site, others=site.others | space)
