"""PassageFacts by rules: names, titles, links, boxes, tables, dates."""

from __future__ import annotations

import pytest

from ragways.core import dates
from ragways.index.graph.facts import Entity, PassageFacts, Relation, bounded, predicate_of
from ragways.index.graph.fields import row_facts
from ragways.index.graph.known_names import TitleTree
from ragways.index.graph.names import Lexicon, coarse, fold, letters_of, split_title, type_of_sentence
from ragways.index.graph.rule_names import acronyms, capital_names, quantities, quoted_names, uncased
from tests.index.graph.graph_fakes import built

LEXICON = Lexicon(["the however he was born in and it became a the however built built from summer summer when later"])


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
    lexicon = Lexicon(
        ["- Print it\n- Print that\n- Print all\nthen print. It specified all. He met Bell. Bell rang a bell."]
    )
    assert lexicon.common("Print")
    assert not lexicon.common("Specifies")
    assert lexicon.opener("Specifies")
    assert not lexicon.opener("Tamsett")
    meant = Lexicon(["a world and a cup in the World Cup, with nausea and vomiting: Nausea Vomiting"])
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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("died 11 November 875", ["0875-11-11"]),
        ("on February 11, 1883", ["1883-02-11"]),
        ("since January 1960", ["1960-01"]),
        ("in 1963 and 1,850 km", ["1963"]),
        ("2024-05-06", ["2024-05-06"]),
        ("no 12345 here", []),
    ],
)
def test_dates(text: str, found: list[str]) -> None:
    assert [date.iso for _, _, date in dates.find(text)] == found


def test_signs_of_quantities_are_words() -> None:
    text = "It rose by 4% to $4."
    names = [name for _, _, name in quantities(text, 0, len(text))]
    assert names == ["4 percent", "4 dollars"]
    assert len({fold(name) for name in (*names, "The 4")}) == 3


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


def test_small_things() -> None:
    assert split_title("Grey Petrel (ship)") == ("Grey Petrel", "ship")
    assert split_title("(What)") == ("(What)", "")
    assert letters_of("World Health Organization") == "WHO"
    assert type_of_sentence("Morris Harvey (1877) was a British actor and writer.") == "actor"
    assert coarse("film director") == "person"
    assert coarse("") == coarse("whatsit") == ""
    assert predicate_of("Was born in") == "was_born_in"
    assert predicate_of("...") == "related_to"
    assert uncased("海は広いな大きいな")
    assert not uncased("The sea 海")


def test_titles_are_found_longest_first_and_as_they_are_written() -> None:
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


WIKI = {
    "Saltrey.wiki": (
        "{{Infobox island\n| name = Saltrey\n| capital = Gallow Quay\n| area = 12 km2\n}}\n"
        "'''Saltrey''' is an island. Its largest harbour is [[Gallow Quay]], built by "
        "[[Oriel Tamsett|the engineer]] in 1868. Tamsett lived there.\n"
    ),
    "Gallow Quay.wiki": "'''Gallow Quay''' is a harbour on Saltrey.\n",
    "Quays.wiki": '{| class="wikitable"\n! Quay !! Opened\n|-\n| Gallow Quay || 1868\n|}\n',
}


def test_links_boxes_tables_and_titles_make_relations(tmp_path) -> None:
    graph = built(tmp_path, WIKI)
    ids = graph.named("Saltrey")
    said = {(t.subject_name, t.predicate, t.object_name) for t in graph.triplets(ids)}
    assert ("Saltrey", "links_to", "Gallow Quay") in said
    assert ("Saltrey", "capital", "Gallow Quay") in said
    assert any(p == "links_to" and o == "Oriel Tamsett" for _, p, o in said)
    quay = {(t.subject_name, t.predicate, t.object_name) for t in graph.triplets(graph.named("Gallow Quay"))}
    assert ("Gallow Quay", "opened", "1868") in quay
    entity = graph.entities(ids)[ids[0]]
    assert entity.type == "island"
    assert entity.way == "rules"
    assert entity.chunks >= 2  # its own article, and the one of the harbour that names it
    built_by = next(t for t in graph.triplets(graph.named("Oriel Tamsett")) if t.predicate == "links_to")
    assert "harbour" in built_by.description
    assert graph.entities(graph.named("Tamsett")).keys() == graph.entities(graph.named("Oriel Tamsett")).keys()


def test_text_without_capitals_is_joined_by_titles_and_phrases(tmp_path) -> None:
    graph = built(
        tmp_path,
        {
            "東京": "東京は日本の首都である。",
            "日本": "日本は島国である。首都圏がある。",
            "大阪": "大阪は日本の都市で、首都圏ではない。",
            "京都": "京都は古い都市で、首都圏ではない。",
        },
    )
    tokyo, japan = graph.named("東京"), graph.named("日本")
    assert japan[0] in dict(graph.neighbours(tokyo[0]))
    assert len(graph.mentions(graph.named("首都圏"))) == 3


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


def test_numbers_in_a_question_name_nothing(tmp_path) -> None:
    graph = built(tmp_path, {"Quays.wiki": '{| class="wikitable"\n! Quay !! Places\n|-\n| Gallow || 4\n|}\n'})
    assert graph.named("4")
    assert graph.in_question("Which 4 of them are in Gallow?")[0].start == len("Which 4 of them are in ")
