"""MediaWiki markup: one page (.wiki, .wikitext, .mediawiki), or an export dump (.xml, .xml.gz, .xml.bz2).

A dump is streamed: memory holds one revision at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import Bounded, LoadOptions, Skipped, SourceFile, opened, read_text
from ragways.corpus.wiki.render import Renderer
from ragways.corpus.wiki.templates import WikiSite, title_of
from ragways.corpus.wiki.tree import parse, prepare

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
    """The document of one page. Of a page above `max_page` the beginning is read, and the metadata reports it."""
    site = site or WikiSite()
    facts = dict(metadata or {})
    builder = TextBuilder(options.max_text)
    if match := _REDIRECT.match(source):
        target = title_of(match[1], site)
        return replace(builder.document(key, title, "wikitext", facts), redirect=target or None)
    if len(source) > options.max_page:
        source = source[: options.max_page]
        facts["truncated"] = f"only the first {options.max_page:,} characters of markup were read"
    text, raw = prepare(source)
    renderer = Renderer(builder, site, raw)
    renderer.page(parse(text))
    if renderer.categories:
        facts["category"] = "; ".join(renderer.categories)
    return builder.document(key, title, "wikitext", facts)


# Dumps

_MAX_DEPTH = 100
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


_PAGE_FIELDS = {"title": "title", "id": "id", "ns": "space"}
_REVISION_FIELDS = {"timestamp": "stamp", "model": "model", "text": "text"}


def load_dump(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    used: set[str] = set()
    for ordinal, (entry, site) in enumerate(_pages(file, options), start=1):
        if entry.space != "0" or not entry.title:
            continue
        name = entry.title
        while name in used:
            name = f"{entry.title}#{ordinal}"
            ordinal += 1  # noqa: PLW2901 - only to find a free name
        used.add(name)
        try:
            yield _document(entry, f"{file.key}#{name}", site, options)
        except LoadError as error:
            options.notice(Skipped(f"{file.key}#{name}", error.message))


def _document(entry: _Page, key: str, site: WikiSite, options: LoadOptions) -> Document:
    metadata = {**site.metadata, "page": entry.id, "date": iso_date(entry.stamp)}
    if site.base:
        metadata["url"] = site.base + quote(entry.title.replace(" ", "_"), safe="/:(),'!*@")
    if entry.model not in ("wikitext", ""):
        raise LoadError(f"holds {entry.model[:40]}, not wikitext")
    document = page(entry.text, key, entry.title, options, site=site, metadata=metadata)
    target = title_of(entry.redirect, site)
    if target and not document.redirect:
        document = replace(document, redirect=target, text="", headings=(), links=(), infoboxes=())
    return document


def _pages(file: SourceFile, options: LoadOptions) -> Iterator[tuple[_Page, WikiSite]]:
    from defusedxml.ElementTree import iterparse  # a page needs no parser of XML

    with opened(file) as raw:
        stream = Bounded(raw, options.max_stream, options.max_record)
        page, site, depth = _Page(), WikiSite(), 0
        root: Element | None = None
        for event, element in iterparse(stream, ("start", "end"), forbid_dtd=True):
            name = _local(element)
            if event == "start":
                if root is None:
                    root, site = element, _site(element, name)
                depth += 1
                if depth > _MAX_DEPTH:
                    raise LoadError("is nested too deep")
                continue
            depth -= 1
            if name == "siteinfo":
                site = _described(site, element)
            elif name == "revision":
                _read(element, page, _REVISION_FIELDS)
            elif name == "page":
                _read(element, page, _PAGE_FIELDS)
            else:
                continue
            element.clear()
            stream.reset()
            if name == "page" and root is not None:
                root.clear()
                yield page, site
                page = _Page()


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _site(root: Element, name: str) -> WikiSite:
    if name != "mediawiki":
        raise LoadError(f"is XML, but no MediaWiki export (it begins with <{name[:40]}>)")
    language = root.get(_XML_LANGUAGE, "")
    return WikiSite(metadata={"language": language} if language else {})


def _read(element: Element, page: _Page, fields: Mapping[str, str]) -> None:
    """Set the fields of a page from the elements of these names."""
    for child in element:
        name, text = _local(child), child.text or ""
        if name in fields:
            setattr(page, fields[name], text if name == "text" else text.strip())
        elif name == "redirect":
            page.redirect = child.get("title", "")


def _described(site: WikiSite, siteinfo: Element) -> WikiSite:
    """The wiki with its name, address and namespaces, as the dump describes it."""
    for element in siteinfo.iter():
        name, text, key = _local(element), (element.text or "").strip(), element.get("key")
        space = frozenset((text.casefold(),))
        if name == "sitename":
            site = replace(site, metadata={**site.metadata, "source": text})
        elif name == "base" and text.startswith("http"):
            site = replace(site, base=text.rpartition("/")[0] + "/")
        elif name == "case":
            site = replace(site, capital=text != "case-sensitive")
        elif name == "namespace" and text and key == "6":
            site = replace(site, files=site.files | space)
        elif name == "namespace" and text and key == "14":
            site = replace(site, categories=site.categories | space)
        elif name == "namespace" and text and key != "0":
            site = replace(site, others=site.others | space)
    return site
