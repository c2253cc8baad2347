"""What rules find in the ways texts describe their subjects."""

from __future__ import annotations

import pytest

from ragways.reading import facts
from ragways.reading.facts import RULES
from ragways.reading.pages import Page, about, name_key, short_form


def page(text: str, title: str = "Tora Vik") -> Page:
    return Page.of(0, title, text.split("| "))


@pytest.mark.parametrize(
    ("text", "birth", "death"),
    [
        ("Tora Vik (4 May 1901 – 3 June 1975) was a poet.", "4 May 1901", "3 June 1975"),
        ("Tora Vik( 19 April 1919, Florence- 5 June 2000, Rome) was a poet.", "19 April 1919", "5 June 2000"),
        ("Tora Vik (born Tora Lund; 4 May 1901 – 1975) was a poet.", "4 May 1901", "1975"),
        ("Tora Vik (born 4 May 1901 in Saint-Denis) is a poet.", "4 May 1901", None),
        ("Tora Vik (1901–75) was a poet.", "1901", "75"),
        ("Tora Vik (died 1464) was a poet.", None, "1464"),
        ("Tora Vik (b. 1948) is a poet.", "1948", None),
        ("Tora Vik (Norse: Þóra) (22 March 1929 – 29 May 1973) was a poet.", "22 March 1929", "29 May 1973"),
        ("Tora Vik (r. 1200 – 1220) was a queen.| She was born in 1180 and died in 1230.", "1180", "1230"),
        ("Tora Vik is a poet.| Born in Oslo in 1950, she wrote early.", "1950", None),
        ("Tora Vik is a poet.| Her work was praised in 1950.", None, None),
        ("F.B.I. Frogs is a 2012 comedy by Tora Vik.", None, None),
    ],
)
def test_life(text: str, birth: str | None, death: str | None):
    found = facts.life(page(text))
    assert [value and value.text for value in found] == [birth, death]


@pytest.mark.parametrize(
    ("text", "title", "date"),
    [
        ("Sun is a 1936 musical film.| It was released on 4 May 1936.", "Sun", "4 May 1936"),
        ("Sun is a 2014 film.| It was released in Japan on 3 March 2015.", "Sun", "2014"),
        ("Sun is a Norwegian comedy film from 1956 directed by Tora Vik.", "Sun", "1956"),
        ("Sun is a song.| It was re-released in 1999, and first released in 1990.", "Sun", "1990"),
        ("Sun is a German film by Tora Vik.", "Sun (1954 film)", "Sun (1954 film)"),
        ("Sun is a German film.", "Sun", None),
    ],
)
def test_released(text: str, title: str, date: str | None):
    found = facts.released(page(text, title))
    assert (found and found.text) == date


@pytest.mark.parametrize(
    ("text", "nations"),
    [
        ("Tora Vik is an Italian film director.", {"Italy"}),
        ("Tora Vik was a Latvian- born German actress.", {"Germany"}),
        ("Tora Vik was a German-born actress.", {"Germany"}),
        ("Tora Vik was an American born- Finnish poet.", {"Finland"}),
        ("Sun is a 2013 British- American film directed by Tora Vik.", {"United Kingdom", "United States"}),
        ("Tora Vik (born 1944) is a Hong Kong film director.", {"Hong Kong"}),
        ("Sun is a 2010 English- language film about Norway.", None),
        ("Sun is a village in Ash District, Ardabil Province, Iran.| It is near Iraq.", {"Iran"}),
        ("Sun is a documentary film about women in Iraq.", None),
        ("Nobody knows Sun.", None),
    ],
)
def test_nations(text: str, nations: set[str] | None):
    found = facts.nations(page(text))
    assert (found and set(found.names)) == nations


@pytest.mark.parametrize(
    ("text", "relation", "names"),
    [
        ("Sun is a film written by Bo Ek and directed by Tora Vik.", "director", ["Tora Vik"]),
        ("Sun is a film directed by and starring P. Ramm.| It was lost.", "director", ["P. Ramm"]),
        (
            "Sun is a film directed by Tora Vik and Jean- Luc de la Tour.",
            "director",
            ["Tora Vik", "Jean- Luc de la Tour"],
        ),
        ("Sun is a 1958 comedy film by French filmmaker Jacques Tour.", "director", ["Jacques Tour"]),
        ("Sun was made under the direction of Tora Vik.", "director", ["Tora Vik"]),
        ("Sun is a song by American singer Ann Lee.", "performer", ["Ann Lee"]),
        ("Sun is a novel by Ålen Østby. It won.", "author", ["Ålen Østby"]),
        ("Sun is a film with music composed by Tora Vik.", "composer", ["Tora Vik"]),
        ("Sun is a film.", "director", []),
        ("Sun is a film directed by Tora Vik.", "choreographer", []),
    ],
)
def test_makers(text: str, relation: str, names: list[str]):
    assert [value.text for value in facts.makers(page(text, "Sun"), relation)] == names


def test_every_value_stands_in_its_sentence():
    told = page("Sun is a film.| It was shot in Rome.| It was released on 4 May 1936 and directed by Tora Vik.", "Sun")
    values = [facts.released(told), *facts.makers(told, "director")]
    assert [value.sentence for value in values if value] == [2, 2]
    for rules in RULES.values():
        for value in filter(None, (rule(told) for rule in rules)):
            assert value.text in told.sentences[value.sentence]


def test_names_are_one_however_they_are_written():
    keys = {name_key(name) for name in ("The Árbol", "árbol!", "Arbol (film)", "the  ARBOL", "“Arbol”")}
    assert keys == {"arbol"}


def test_passages_about_a_thing():
    pages = [
        Page.of(0, "Joe Moe", ["Joe Moe is a singer."]),
        Page.of(1, "Sun (1954 film)", ["Sun is a film directed by Joe Moe."]),
        Page.of(2, "Sun (song)", ["Sun is a song."]),
        Page.of(3, "Knut Ås", ["Knut Ås, also called Kay Oss, is a director.", "He knows Joe Moe."]),
        Page.of(4, "Ash", ["Ash is a village in Kent."]),
    ]

    def numbers(name: str, hint: str = "") -> list[int]:
        return [found.number for found in about(name, pages, hint)]

    assert numbers("sun (1954 Film)") == [1]
    assert numbers("Sun") == [1, 2]
    assert numbers("Sun", "song") == [2, 1]
    assert numbers("Kay Oss") == [3]
    assert numbers("Ash, Kent") == [4]
    assert numbers("Ash, Devon") == []
    assert numbers("Nobody") == []
    assert [found.number for found in short_form("Joseph Moe", pages, "singer")] == [0]
    assert short_form("Joseph Moe", pages, "director") == []
