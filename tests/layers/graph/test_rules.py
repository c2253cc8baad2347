"""What rules read off a text: names, titles, links, boxes, tables, quantities, and what sentences state."""

from __future__ import annotations

import re

import pytest

from ragways.core import dates
from ragways.layers.graph.names import (
    WordCounts,
    fold,
    kind_around,
    kind_of_name,
)
from ragways.layers.graph.rules import Entity, PassageFacts, Relation, bounded, row_facts
from ragways.layers.graph.sentences import (
    NameMention,
    Topic,
    acronyms,
    capital_names,
    quantities,
    quoted_names,
    statements,
)
from ragways.layers.known_names import TitleTree

LEXICON = WordCounts(
    ["the however he was born in and it became a the however built built from summer summer when later"]
)


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Oriel Tamsett sailed to Saltrey.", ["Oriel Tamsett", "Saltrey"]),
        ("However, Tamsett stayed.", ["Tamsett"]),
        ("In Paris he met her.", ["Paris"]),
        ("He became Bishop of Elmham in 995.", ["Bishop of Elmham"]),
        ("The University of the Lanner Isles was built.", ["The University of the Lanner Isles"]),
        ("It was written by J. R. R. Tolkien.", ["J. R. R. Tolkien"]),
        ("A monk of St. Maurice's Abbey.", ["St. Maurice's Abbey"]),
        ("Ludwig van Beethoven and Vincent van Gogh.", ["Ludwig van Beethoven", "Vincent van Gogh"]),
        ("the work of Émile Zola", ["Émile Zola"]),
        (
            "he met al-Biruni, el-Fasher, d'Alembert and l’Hôpital",
            ["al-Biruni", "el-Fasher", "d'Alembert", "l’Hôpital"],
        ),
        ("Tamsett's house", ["Tamsett"]),
        ("built by AT & T from Apollo 11", ["AT & T", "Apollo 11"]),
        ("Built from stone.", []),
        ("when summer came", []),
        ("Summer in Saltrey", ["Saltrey"]),
        ("C. V. Raman left the U.S. Navy for the U. S. in time.", ["C. V. Raman", "U.S. Navy", "U. S."]),
        ("Summers here. Later Saltrey fell.", ["Saltrey"]),
        ("Fortunately Tamsett stayed.", ["Tamsett"]),
        ("We'll see Saltrey on May 4.", ["Saltrey"]),
        ("It came after World War I. A pier was built.", ["World War I"]),
        ("In Egypt's George Tamsett and Euclid's Elements", ["Egypt", "George Tamsett", "Euclid's Elements"]),
        ("Built When Later", []),
        ("it was Summer Built From stone", []),
        ("a Summer-built pier by the Saltrey-built Lanner", ["Lanner"]),
        ("the PCR A pier and Summer 2", ["PCR"]),
        ("Lanner Press CEO Oriel Tamsett set LANNER_HOME", ["Lanner Press", "Oriel Tamsett"]),
        (
            "Saltrey Assembly Built 1867 Summer Oriel Tamsett Later 1868 Summer Ilsabet Corran Built 1869 From 1870 A1",
            ["Saltrey Assembly", "Oriel Tamsett", "Ilsabet Corran"],
        ),
    ],
)
def test_names_by_capitals(sentence: str, names: list[str]) -> None:
    assert [sentence[a:b] for a, b in capital_names(sentence, 0, len(sentence), LEXICON)] == names


def test_a_word_is_common_by_how_it_is_written_inside_sentences() -> None:
    lexicon = WordCounts(
        ["- Print it\n- Print that\n- Print all\nthen print. It specified all. He met Bell. Bell rang a bell."]
    )
    assert lexicon.common("Print")
    assert not lexicon.common("Specifies")
    assert lexicon.opener("Specifies")
    assert not lexicon.opener("Tamsett")
    meant = WordCounts(["a world and a cup in the World Cup, with nausea and vomiting: Nausea Vomiting"])
    assert meant.is_name(["World", "Cup"])
    assert not meant.is_name(["Nausea", "Vomiting"])


def test_works_in_quotation_marks() -> None:
    text = '"Hello {name}!" She sang "Brother of Mine" and said "come here at once". ``Thinking Out Loud\'\' followed.'
    assert [text[a:b] for a, b in quoted_names(text, 0, len(text))] == ["Brother of Mine", "Thinking Out Loud"]


def test_acronyms_with_their_long_form() -> None:
    text = "The World Health Organization (WHO) and the Guild of Chartmakers (GC) met the Harbour Board (XY)."
    names = list(capital_names(text, 0, len(text), LEXICON))
    assert list(acronyms(text, (0, len(text)), names)) == [
        ("WHO", "The World Health Organization"),
        ("GC", "Guild of Chartmakers"),
    ]


def test_quantities() -> None:
    text = "It is 9.5 km long, cost $1.18 trillion, holds 47 passengers and 12 of us."
    assert [name for _, _, name in quantities(text, 0, len(text))] == [
        "9.5 km",
        "1.18 trillion dollars",
        "47 passengers",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Beatles", "beatles"),
        ("Tamsett's", "Tamsett"),
        ("Zoë  O’Brien", "Zoe O'Brien"),
        ("U.S.", "US"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien"),
        ("Abdul-Aziz Bin Muhammad", "Abdul Aziz bin Muhammad"),
    ],
)
def test_names_that_are_one(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_titles_match_longest_first_and_as_they_are_written() -> None:
    titles = TitleTree(
        [(t, t) for t in ("Göttingen", "The Gift", "Riemann integral", "Adolescence", "Brand (play)", "日本")],
        {"adolescence"},
    )

    def found(text: str) -> list[str]:
        return [text[a:b] for a, b, _ in titles.find(text, 0, len(text))]

    assert found("He wrote the Gift in Gottingen.") == ["Gift", "Gottingen"]
    assert found("a gift, a brand and the riemann Integral") == ["riemann Integral"]
    assert found("a Riemann integral in adolescence") == ["Riemann integral", "adolescence"]
    assert found("Ibsen's Brand") == ["Brand"]
    assert found("私は日本に行く") == ["日本"]
    # A mark alone is compared as nothing, and so is no end of a title.
    assert found("a Riemann integral ﾟ ﾟ and the Gift ﾞ") == ["Riemann integral", "Gift"]


def test_facts_survive_their_own_json_and_are_bounded() -> None:
    facts = PassageFacts(
        (Entity("A", "person", "x", ("B",), 3),), (Relation("A", "knows", "B", "s", 2.0, "1963", "link"),)
    )
    assert PassageFacts.from_json(facts.to_json()) == facts
    wild = PassageFacts((Entity("x" * 5000), Entity("  ")), (Relation("a", "p", "", weight=float("nan")),) * 9)
    assert [len(e.name) for e in bounded(wild).entities] == [200]
    assert bounded(wild).relations == ()
    for bad in ("[]", "{}", '{"entities": [1], "relations": []}', "nonsense"):
        with pytest.raises(ValueError, match=r"."):
            PassageFacts.from_json(bad)


def test_cells_of_a_table_have_their_own_header_and_run_apart_at_links() -> None:
    rows = "Film | Designer | Place\nRegatta | Oriel Tamsett Ilsabet Corran | dry\n"
    facts, header = row_facts("Awards", rows, {"Oriel Tamsett", "Ilsabet Corran"})
    said = {(r.subject, r.predicate, r.object) for r in facts.relations}
    assert said == {
        ("Awards", "has_row", "Regatta"),
        ("Regatta", "designer", "Oriel Tamsett"),
        ("Regatta", "designer", "Ilsabet Corran"),
    }
    more, _ = row_facts("Awards", "2 | Gallow Quay | Saltrey\n1868 | 12 | 40 km", (), header)
    assert {(r.subject, r.predicate, r.object, r.date) for r in more.relations if r.predicate != "has_row"} == {
        ("Gallow Quay", "place", "Saltrey", ""),
        ("Awards", "designer", "12", "1868"),
        ("Awards", "place", "40 km", "1868"),
    }
    assert {e.name: e.type for e in more.entities}["12"] == "quantity"


# Statements

TOPIC = Topic("Oriel Tamsett", "person", "engineer")


def stated(sentence: str, topic: Topic = TOPIC) -> set[tuple[str, str, str]]:
    """Names are marked by brackets; dates are recognized."""
    names, plain, last = [], "", 0
    for match in re.finditer(r"\[([^\]]+)\]", sentence):
        plain += sentence[last : match.start()]
        names.append(NameMention(len(plain), len(plain) + len(match[1]), match[1]))
        plain, last = plain + match[1], match.end()
    plain += sentence[last:]
    names += [NameMention(low, high, date.iso, "date") for low, high, date in dates.find(plain)]
    return set(statements(plain, 0, len(plain), sorted(names, key=lambda name: name.start), topic))


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("[Regatta] was directed by [Corran].", {("Regatta", "directed_by", "Corran")}),
        ("[Corran] directed [Regatta].", {("Corran", "directed", "Regatta")}),
        ("[Saltrey] is the old capital of [Lanner].", {("Saltrey", "capital_of", "Lanner")}),
        ("[Regatta] is a 1954 [French] film directed by [French] actress [Corran] and [Tamsett].",
         {("Regatta", "directed_by", "Corran"), ("Regatta", "directed_by", "Tamsett")}),
        ("[Corran] was born in [Saltrey] and moved to [Lanner] in 1868.",
         {("Corran", "born_in", "Saltrey"), ("Corran", "moved_to", "Lanner"), ("Corran", "moved_in", "1868")}),
        ("He was born in [Saltrey].", {("Oriel Tamsett", "born_in", "Saltrey")}),
        ("It was built in [Saltrey].", set()),
        ("His wife [Ilsabet] stayed.", {("Ilsabet", "wife_of", "Oriel Tamsett")}),
        ("[Corran]'s daughter [Ilsabet] married [Tamsett].",
         {("Ilsabet", "daughter_of", "Corran"), ("Ilsabet", "married", "Tamsett")}),
        ("[Ilsabet] (born 4 May 1890) left.", {("Ilsabet", "born", "1890-05-04")}),
        ("[Ilsabet], wife of [Corran], founded [Regatta].",
         {("Ilsabet", "wife_of", "Corran"), ("Ilsabet", "founded", "Regatta")}),
        ("[Corran] was awarded the [Medal].", {("Corran", "was_awarded", "Medal")}),
        ("[Corran] wrote [Tides], published by [Lanner Press].",
         {("Corran", "wrote", "Tides"), ("Tides", "published_by", "Lanner Press")}),
        ("[Corran] met [Tamsett], who founded [Saltrey].",
         {("Corran", "met", "Tamsett"), ("Tamsett", "founded", "Saltrey")}),
        ("[Corran] did not found [Saltrey].", set()),
        ("[Corran] has a boat called [Petrel].", set()),
        ("[Corran] was set to release [Tides].", set()),
        ("[Corran] is expected to lead [Lanner].", set()),
        ("[Corran] stated [Tamsett] founded [Saltrey].", {("Tamsett", "founded", "Saltrey")}),
        ("The mayor of [Saltrey] visited [Lanner].", set()),
        ("[Corran] married [Tamsett]'s daughter.", set()),
        ("In [Saltrey], [Corran] opened [Regatta].", {("Corran", "opened", "Regatta")}),
    ],
)  # fmt: skip
def test_statements(sentence: str, said: set[tuple[str, str, str]]) -> None:
    assert stated(sentence) == said


def test_the_article_is_meant_by_its_kind() -> None:
    film = Topic("Regatta", "work", "film")
    assert stated("The film was directed by [Corran].", film) == {("Regatta", "directed_by", "Corran")}
    assert stated("It stars [Corran].", film) == {("Regatta", "stars", "Corran")}
    assert stated("He met [Corran].", film) == set()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Dr. Oriel Tamsett", "person"), ("J. R. R. Tolkien", "person"), ("George Tamsett", "person"),
        ("Lanner River", "place"), ("Lake Lanner", "place"), ("University of Saltrey", "organization"),
        ("Tamsett Inc.", "organization"), ("Battle of Saltrey", "event"), ("George Washington Bridge", "place"),
        ("King of Lanner", ""), ("Oriel Tamsett", ""), ("Saltrey", ""),
    ],
)  # fmt: skip
def test_kinds_by_the_name_itself(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("It was born in NAME.", "place"), ("the film NAME was", "work"), ("NAME, an American actor, was", "person"),
        ("NAME is a small town in the north", "place"), ("NAME's wife left", "person"), ("NAME (born 1890)", "person"),
        ("the band NAME played", "organization"), ("he saw NAME there", ""),
    ],
)  # fmt: skip
def test_kinds_by_the_words_around(text: str, kind: str) -> None:
    start = text.index("NAME")
    assert kind_around(text, start, start + len("NAME")) == kind
