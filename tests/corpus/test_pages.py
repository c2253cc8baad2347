"""Web pages give their content: no navigation, no handles of headings, no name of the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.layout import anchors, read_text

PARAGRAPH = "The quay was built of granite in 1801, and the light on it was lit for the first time that winter. " * 3
PAGE = f"""<html><head><title>Old quay - Harbour Docs</title><meta property="og:site_name" content="Harbour Docs">
<link rel="canonical" href="https://docs.example/quay/">
<meta property="article:modified_time" content="2024-03-05">
</head><body><div class="cookie-banner">We use cookies</div><header><a href="/">Harbour Docs</a></header>
<div class="md-sidebar"><nav><ul><li><a href="a.html">Elsewhere</a></ul></nav></div>
<main><div class="breadcrumbs"><a href="/">Home</a> › <a href="/quay">Quay</a></div>
<article><h1 id="quay">Old quay<a class="headerlink" href="#quay" title="Permanent link">¶</a></h1>
<div class="toc">On this page
<ul><li><a href="#stone">Stone</a><li><a href="#light">Light</a><li><a href="#end">End</a></ul></div>
<time datetime="2021-06-01">June</time>
<p>{PARAGRAPH}</p><form><label>Was this page helpful?</label><button>Yes</button></form>
<h2 id="stone"><a href="#stone">Stone</a> <a class="hash-link" href="#stone">#</a></h2>
<aside class="admonition note"><p>Granite is hard.</p></aside>
<table><tr><td class="linenos"><pre>1
2</pre></td><td><pre>def light():
    return 1801</pre></td></tr></table>
<table><tr><th>Stone</th><th>Age</th></tr><tr><td>Granite</td><td>300</td></tr></table>
<h2 id="light">Light <a href="#light">Permalink to Light</a></h2><p>See <a href="storm.html">the storm</a>.</p>
<ul><li><a href="one.html">One</a></li><li><a href="two.html">Two</a></li><li><a href="three.html">Three</a></li></ul>
<footer>Last edited by somebody</footer></article>
<aside class="related"><a href="x.html">Read this too</a></aside></main>
<footer>© The harbour</footer><script>track()</script></body></html>"""


def test_the_main_part_of_a_page(tmp_path: Path):
    document = read_text(tmp_path, "quay.html", PAGE)
    assert document.title == "Old quay"
    assert [heading.title for heading in document.headings] == ["Stone", "Light"]
    assert dict(document.metadata) == {
        "source": "Harbour Docs", "url": "https://docs.example/quay/", "date": "2021-06-01", "modified": "2024-03-05",
    }  # fmt: skip
    assert document.text == (
        f"June\n\n{PARAGRAPH.strip()}\n\nStone\n\nGranite is hard.\n\ndef light():\n    return 1801\n\n"
        "Stone | Age\nGranite | 300\n\nLight\n\nSee the storm.\n\nOne\nTwo\nThree"
    )
    assert ("the storm", "storm") in anchors(document)


def test_a_page_that_marks_no_main_part(tmp_path: Path):
    links = "".join(f'<li><a href="{n}.html">Chapter {n}</a></li>' for n in range(9))
    document = read_text(
        tmp_path, "quay.html",
        "<title>9.22. The quay</title><div class='navheader'><a href='a.html'>Prev</a> Chapter 9</div>"
        f"<table><tr><td><ul>{links}</ul></td><td><h2 class='title'>9.22. The quay</h2><p>{PARAGRAPH}</p>"
        "<ul><li><a href='b.html'>Granite</a> came by ship, and <a href='c.html'>lime</a> came by land.</li></ul>"
        "</td></tr></table><div class='footer'>© 2011</div>",
    )  # fmt: skip
    assert document.title == "9.22. The quay"
    assert document.text == f"{PARAGRAPH.strip()}\n\nGranite came by ship, and lime came by land."


@pytest.mark.parametrize(
    ("title", "body", "found"),
    [
        ("Quay — Harbour 1.6 documentation", "<h1>Quay<a class='headerlink' href='#q'>¶</a></h1>", "Quay"),
        ("Quay | Harbour", "<h1>How it was built</h1>", "Quay | Harbour"),
        ("Quay | Harbour", "<meta property='og:site_name' content='Harbour'>", "Quay"),
        ("History of the quay", "<h2>History</h2>", "History of the quay"),
        ("Notes on platforms", "<h1>15.7. Notes on platforms</h1>", "15.7. Notes on platforms"),
        ("Quay", "<header><h1>Harbour</h1></header><main><h1>The quay</h1><p>stone</p></main>", "The quay"),
    ],
)
def test_titles(tmp_path: Path, title: str, body: str, found: str):
    assert read_text(tmp_path, "a.html", f"<title>{title}</title>{body}<p>Granite.</p>").title == found


GENERATED = """---
title: Quay
date: 2024-03-05
---
# Quay { #quay }

[![Build](https://img.shields.io/x.svg)](https://ci.example) ![A map](map.png)

<!-- nobody reads this -->

<style>
.md { display: none }
</style>

## Stone <a name="stone"></a> {: #stone .big }

!!! note "Of granite"
    It is hard.

    ```python
    !!! warning
        return {* x *}
    ```

{* ../../src/stone.py hl[1] *}

/// warning | Wet steps

Mind **them**.

///

## Light [](#light)

:::tip
Look [up](sky.md){.internal-link target=_blank}. :sun:
:::

=== "Windows"

    ??? info
        Deep inside.

> [!NOTE]
> Quoted.

--8<-- "shared.md"

### The end [#](#the-end)

`f(){.x}` ends {{ it }}.
"""


def test_markdown_of_site_generators(tmp_path: Path):
    document = read_text(tmp_path, "a.md", GENERATED)
    assert document.title == "Quay"
    assert document.metadata["date"] == "2024-03-05"
    assert [heading.title for heading in document.headings] == ["Stone", "Light", "The end"]
    assert document.text == (
        "A map\n\nStone\n\nNote: Of granite\nIt is hard.\n\n!!! warning\n    return {* x *}\n\n"
        "Warning: Wet steps\n\nMind them.\n\nLight\n\nTip\nLook up. :sun:\n\n"
        "Windows\n\nInfo\nDeep inside.\n\nNote\nQuoted.\n\nThe end\n\nf(){.x} ends {{ it }}."
    )
    lines = GENERATED.split("\n")
    for found, word in (("It is hard", "It is hard."), ("Deep inside", "Deep inside."), ("The end", "### The end")):
        start = document.text.index(found)
        place = [place for place in document.places if place.start <= start][-1]
        assert word in lines[place.line - 1]
