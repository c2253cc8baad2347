"""A small real file of every format, all about the same things, made without any other tool."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.corpus import office
from tests.corpus.code_samples import CODE

WIKI = """{{Infobox harbour
| name = Old Harbour
| opened = {{start date|1970|1|2}}
| owner = [[City of Tides|City]] and {{nowrap|[[Port Board]]}}
}}
'''Old Harbour''' is a [[harbour]]s' rest near [[Tidal range#Spring|spring tides]].<ref>Not this.</ref>

== History ==
It is {{convert|5|km|mi}} long.

* First [[quay]]
* Second quay

{| class="wikitable"
|+ Depths
! Place !! Depth
|-
| [[East quay]] || style="x" | 5&nbsp;m
|}
[[Category:Harbours]]
[[Category:Tides]]
"""

MARKDOWN = """---
title: "Old Harbour"
author: Ada Quay
date: 2 January 1970
tags: [harbour, tide]
---
# Old Harbour

A *quiet* place near [spring tides](../wiki/Tidal_range.md#spring) and [the web](https://example.org).

## History

- First [quay](quay.md)
- Second quay

| Place | Depth |
|---|---|
| East quay | 5 m |

```python
def tide():

    return 5
```
"""

RST = """:Author: Ada Quay
:Date: 2 January 1970

===========
Old Harbour
===========

A *quiet* place near `spring tides <../wiki/Tidal_range.rst>`_ and `the web <https://example.org>`_.

.. _history:

History
=======

* First :doc:`quay </wiki/quay>`
* Second quay

=========  =====
Place      Depth
=========  =====
East quay  5 m
=========  =====
"""

HTML = """<!doctype html><html lang="en"><head><title>Old Harbour - Site</title>
<meta name="author" content="Ada Quay"><meta name="date" content="1970-01-02"><style>x{}</style></head>
<body><nav>Menu</nav><h1>Old Harbour</h1><script>bad()</script>
<p>A <b>quiet</b> place near <a href="wiki/Tidal_range.html">spring
tides</a> and <a href="https://example.org">the web</a>.</p><h2>History</h2>
<ul><li>First <a href="quay.html">quay</a></li><li><p>Second quay</p></li></ul>
<table><caption>Depths</caption><tr><th>Place</th><th>Depth</th></tr><tr><td>East<br>quay</td><td>5&nbsp;m</td></tr>
</table></body></html>"""

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def word_paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


DOCX_BODY = f"""<w:document {_W} {_R}><w:body>
{word_paragraph("Old Harbour", '<w:pStyle w:val="Title"/>')}
<w:p><w:r><w:t xml:space="preserve">A quiet place near </w:t></w:r><w:hyperlink r:id="r1"><w:r><w:t>spring
 tides</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t></w:r></w:p>
{word_paragraph("History", '<w:pStyle w:val="berschrift1"/>')}
{word_paragraph("First quay", "<w:numPr/>")}{word_paragraph("Second quay", "<w:numPr/>")}
<w:tbl><w:tr><w:tc>{word_paragraph("Place")}</w:tc><w:tc>{word_paragraph("Depth")}</w:tc></w:tr>
<w:tr><w:tc>{word_paragraph("East")}{word_paragraph("quay")}</w:tc><w:tc>{word_paragraph("5 m")}</w:tc></w:tr></w:tbl>
</w:body></w:document>"""


def docx(body: str | bytes = DOCX_BODY) -> bytes:
    styles = (
        f'<w:styles {_W}><w:style w:styleId="Title"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>'
    )
    core = (
        '<c xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        "<dc:creator>Ada Quay</dc:creator><dcterms:created>1970-01-02T00:00:00Z</dcterms:created></c>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", body)
        archive.writestr("word/styles.xml", styles)
        archive.writestr("docProps/core.xml", core)
        archive.writestr(
            "word/_rels/document.xml.rels", '<Relationships><r Id="r1" Target="Tidal_range.docx"/></Relationships>'
        )
    return out.getvalue()


PDF_LINES = (
    "A quiet place near spring",
    "tides is the Old Harbour.",
    "",
    "The second paragraph stands",
    "further down.",
)


def pdf_file(objects: Sequence[str], trailer: str) -> bytes:
    """A PDF of these objects, the first of which is its root, with the table of where each stands."""
    data, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{data}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{len(data)}\n%%EOF"
    ).encode("latin-1")


def pdf(lines: tuple[str, ...] = PDF_LINES, *, trailer: str = "", extra: str = "") -> bytes:
    """A one-page PDF by hand: an empty line doubles the distance."""
    moves = "".join(f"0 -14 Td ({line}) Tj\n" if line else "0 -14 Td\n" for line in lines)
    content = f"BT /F1 12 Tf 72 720 Td\n{moves}ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        "<</Title(Old Harbour)/Author(Ada Quay)/CreationDate(D:19700102120000Z)>>",
        *([extra] if extra else []),
    ]
    return pdf_file(objects, f"/Info 6 0 R{trailer}")


RECORDS = [
    {"id": 7, "title": "Old Harbour", "text": "A quiet place.\n\nIts second paragraph.", "author": "Ada Quay",
     "published_at": "1970-01-02T10:00:00Z", "url": "https://example.org/7", "source": "The Tide", "category": "news"},
    {"title": "Quay", "text": "A place to land."},
    {"title": "Quay", "text": "Another of that name."},
]  # fmt: skip


def dump(*pages: str, head: str = "") -> str:
    return (
        f'{head}<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" xml:lang="en"><siteinfo>'
        "<sitename>Tidepedia</sitename><base>https://tide.example/wiki/Main</base><case>first-letter</case><namespaces>"
        '<namespace key="6">Bildchen</namespace><namespace key="14">Schublade</namespace></namespaces></siteinfo>'
        + "".join(pages)
        + "</mediawiki>"
    )


def dump_page(title: str, text: str, *, space: int = 0, redirect: str = "") -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    forward = f'<redirect title="{redirect}"/>' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{space}</ns><id>12</id>{forward}<revision><id>99</id>"
        f"<timestamp>1970-01-02T10:00:00Z</timestamp><text>{text}</text></revision></page>"
    )


DUMP = dump(
    dump_page("Old Harbour", WIKI),
    dump_page("Harbor", "#REDIRECT [[Old Harbour]]", redirect="Old Harbour"),
    dump_page("User:Ada", "Not an article.", space=2),
)


YAML = """# Tides
name: Old Harbour
quay: &quay
  depth: 5
  places: [East, West]
  boats:
    - name: Ada
      size: 3
other: *quay
"""


def encoded(text: str) -> Callable[[], bytes]:
    return lambda: text.encode()


SAMPLES: dict[str, Callable[[], bytes]] = {
    ".txt": encoded("A quiet place.\r\n\r\nIts second paragraph.\n"),
    ".text": encoded("A quiet place."),
    ".rst": encoded(RST),
    ".rest": encoded(RST),
    ".md": encoded(MARKDOWN),
    ".markdown": encoded(MARKDOWN),
    ".mdx": encoded(MARKDOWN),
    ".html": encoded(HTML),
    ".htm": encoded(HTML),
    ".pdf": pdf,
    ".docx": docx,
    ".json": encoded(json.dumps(RECORDS)),
    ".json.gz": lambda: gzip.compress(json.dumps(RECORDS).encode()),
    ".jsonl": encoded("\n".join(json.dumps(record) for record in RECORDS)),
    ".ndjson": encoded("\n".join(json.dumps(record) for record in RECORDS)),
    ".jsonl.gz": lambda: gzip.compress("\n".join(json.dumps(record) for record in RECORDS).encode()),
    ".ndjson.gz": lambda: gzip.compress("\n".join(json.dumps(record) for record in RECORDS).encode()),
    ".wiki": encoded(WIKI),
    ".wikitext": encoded(WIKI),
    ".mediawiki": encoded(WIKI),
    ".xml": encoded(DUMP),
    ".xml.gz": lambda: gzip.compress(DUMP.encode()),
    ".xml.bz2": lambda: bz2.compress(DUMP.encode()),
    **{suffix: encoded(text) for suffixes, text in CODE.values() for suffix in suffixes},
    ".ipynb": office.notebook,
    ".csv": encoded('Place,Depth,Opened\nEast quay,5 m,1815\n"West, quay",6 m,1816\n'),
    ".tsv": encoded("Place\tDepth\nEast quay\t5 m\n"),
    ".tab": encoded("Place\tDepth\nEast quay\t5 m\n"),
    ".xlsx": office.xlsx,
    ".pptx": office.pptx,
    ".epub": office.epub,
    ".eml": office.message,
    ".mbox": office.mailbox,
    ".yaml": encoded(YAML),
    ".yml": encoded(YAML),
    ".toml": encoded('name = "Old Harbour"\n[quay]\ndepth = 5\nopen = true\n[[quay.boats]]\nname = "Ada"\n'),
    ".srt": encoded(
        "1\n00:01:05,000 --> 00:01:07,000\n<i>A quiet</i> place.\n\n2\n00:01:08,000 --> 00:01:09,000\nIs it?\n"
    ),
    ".vtt": encoded("WEBVTT\n\n01:05.000 --> 01:07.000 align:start\nA quiet place.\n"),
}


def write(folder: Path, suffix: str) -> Path:
    path = folder / f"Old_Harbour{suffix}"
    path.write_bytes(SAMPLES[suffix]())
    return path
