from __future__ import annotations

import pytest

from ragways.core.types import Document
from ragways.corpus.source import LoadOptions
from ragways.corpus.wiki.pages import page
from tests.corpus.layout import anchors, check


def wiki(source: str, **limits: int) -> Document:
    document = page(source, "k", "T", LoadOptions(**limits))  # type: ignore[arg-type]
    check(document)
    return document


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'''Bold''' and ''italic'' and '''''both'''''", "Bold and italic and both"),
        ("''Titanic'''s end and '''it'''", "Titanic's end and it"),
        ("l'''amour'' and ''''x'''", "l'amour and 'x"),
        ("a<ref name=x>no [[b]]</ref>b<ref name=y />c<!-- d\n\n -->e", "abce"),
        ("one\n<!-- alone -->\ntwo", "one two"),
        ("<nowiki>[[not]] {{a}} ''link''</nowiki>", "[[not]] {{a}} ''link''"),
        ("<math>a_{b}</math> &amp; &lt;x&gt; &nbsp; y", "a_{b} & <x> y"),
        ("{{lang|fr|mot}} {{lang-de|Wort}} {{nowrap|a b}}", "mot Wort a b"),
        ("{{convert|5|km}}, {{convert|5|to|10|km|mi}}, {{Convert|5|ft|6|in|m}}", "5 km, 5 to 10 km, 5 ft 6 in"),
        ("{{birth date|1970|1|2}} {{Start date|1999|12}} {{death date and age|df=yes|2001|2|3|1950|1|1}}",
         "1970-01-02 1999-12 2001-02-03"),
        ("a {{cite|b={{c|[[d]]}}}} e", "a e"),
        ("[http://x.org the label] and [https://y.org] and http://z.org", "the label and and http://z.org"),
        ("[[File:A.jpg|thumb|A [[link]] and [http://x.org y]]]after", "after"),
        ("10<sup>6</sup> m<sub>2</sub><br/>next", "10^6 m2\nnext"),
        ("one\ntwo\n\nthree", "one two\n\nthree"),
        ("# one\n# two\n:three\nfour", "one\ntwo\nthree\n\nfour"),
        ("__NOTOC__ a __TOC__", "a"),
        ("Albedo ({{IPAc-en|a}}) or ({{IPA|x}}; born 1970)", "Albedo or (born 1970)"),
        ("{{{1|default}}} x{{{2}}}", "default x"),
        ("{{quote|To be.|Author}}", "To be."),
        ("{{ubl|a|b|[[c]]}}", "a, b, c"),
        ("[[:Category:Seen]] [[fr:Autre]] [[:fr:Vu]] [[wikt:word|word]]", "Category:Seen fr:Vu word"),
        ("[[bus]]es stop, [[A|b]]''c''d", "buses stop, bcd"),
        ("A {{gone}} {{gone|b}}, or (c {{gone}}) d", "A, or (c) d"),
        ("x < y and y > z", "x < y and y > z"),
    ],
)  # fmt: skip
def test_text(source: str, text: str):
    assert wiki(source).text == text


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("[[A#B|c]]", [("c", "A")]),
        ("[[bus]]es stop", [("buses", "Bus")]),
        ("[[new_York  city]]", [("new_York city", "New York city")]),
        ("[[Mercury (planet)|]]", [("Mercury", "Mercury (planet)")]),
        ("[[#Here|here]] [[User:X|x]] [[File:a.png]] [[:fr:B|b]] [[/sub]]", []),
        ("[[A|''b'' c&amp;d {{nowrap|e}}]]", [("b c&d e", "A")]),
        ("[[Alien: Covenant]] [[Talk:X]]", [("Alien: Covenant", "Alien: Covenant")]),
        ("[[[A]]]", [("A", "A")]),
        ("  [[ A ]]  ", [("A", "A")]),
        ("[[:A]] [[C%2B%2B]]", [("A", "A"), ("C%2B%2B", "C++")]),
        ("[[A|cafe]][[B|\u0301x]]", [("café", "A"), ("x", "B")]),
    ],
)
def test_links(source: str, found: list[tuple[str, str]]):
    assert anchors(wiki(source)) == found


@pytest.mark.parametrize("source", ["#REDIRECT [[target#x]]", "#redirect:[[Target]]", " #WEITERLEITUNG [[Target|x]]",
                                    "#Redirección [[Target]]\n{{R}}"])  # fmt: skip
def test_redirects(source: str):
    document = wiki(source)
    assert document.redirect == "Target"
    assert document.text == ""


def test_headings_with_markup_and_levels():
    document = wiki("lead\n== [[A]] & ''b'' ==\ntext\n=== Sub ===\n==Only==\n== ==\n=====\n==x\n")
    assert [(heading.title, heading.level) for heading in document.headings] == [("A & b", 2), ("Sub", 3), ("Only", 2)]


def test_infobox():
    document = wiki(
        "Before\n{{Infobox person\n| name = Ada\n| image = a b.jpg\n| image_size = 200px\n| empty = \n"
        "| born = {{birth date|1815|12|10}}<br />[[London]], {{nowrap|[[England|Eng]]}}\n"
        "| known_for = \n* [[Notes]]\n* Engines<ref>x</ref>\n| url = {{url|http://x.org|Site}}\n"
        "| module = {{Infobox inner|height={{convert|1|m}}}}\n}}After"
    )
    (box,) = document.infoboxes
    assert box.kind == "person"
    assert box.fields == (
        ("name", "Ada"),
        ("born", "1815-12-10, London, Eng"),
        ("known for", "Notes, Engines"),
        ("url", "http://x.org"),
        ("height", "1 m"),
    )
    assert document.text.startswith("Before\n\nname: Ada\nborn: 1815-12-10")
    assert document.text.endswith("height: 1 m\n\nAfter")
    assert anchors(document) == [("London", "London"), ("Eng", "England"), ("Notes", "Notes")]


def test_tables():
    document = wiki(
        '{| class="x"\n|+ style="y" | The caption\n! scope="col" | A !! [[B]]\n'
        '|-\n| 1 || style="z" | {{nowrap|2}}\n|-\n'
        "|\n* [[p]]\n* q\n|\n|-\n|\n| last\n{|\n| in || ner\n|}\n|}\nAfter"
    )
    assert document.text == "The caption\nA | B\n1 | 2\np, q\n| last in ner\n\nAfter"
    assert anchors(document) == [("B", "B"), ("p", "P")]


def test_categories_are_metadata():
    document = wiki("x [[Category:A b|key]][[category:c]][[Kategorie:D]]")
    assert document.metadata["category"] == "A b; C; D"
    assert document.text == "x"


@pytest.mark.parametrize("source", ["{{a|[[b}} c]]", "[[a {{b]] c}}", "{{a [[b|c", "}} ]] |}", "{|\n| a\n== H ==\ntext",
                                    "{{Infobox x|a=b", "[[a\nb]]", "<ref>open", "<nowiki>open"])  # fmt: skip
def test_unbalanced_marks_lose_no_following_text(source: str):
    document = wiki(source + "\n\n[[Link]] end")
    assert document.text.endswith("Link end")
    assert anchors(document)[-1] == ("Link", "Link")


def test_a_page_beyond_the_limit_is_marked_as_truncated():
    document = wiki("word " * 1000, max_page=50)
    assert len(document.text) < 51
    assert "truncated" in document.metadata


def test_marks_that_combine_across_runs():
    document = wiki("e'''&#x301;''' [[A|b]] == ''e''[[B|&#x301;]] x\n\n==e''\u0301''t==")
    assert document.text == "é b == é x\n\nét"
    assert anchors(document) == [("b", "A")]
