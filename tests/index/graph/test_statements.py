"""What sentences state of the names in them, and what kind of thing a name means."""

from __future__ import annotations

import re

import pytest

from ragways.core import dates
from ragways.index.graph.kinds import decided, kind_around, kind_of_name, type_of_box
from ragways.index.graph.rules import NameMention
from ragways.index.graph.statements import Topic, statements
from tests.index.graph.graph_fakes import built

TOPIC = Topic("Oriel Tamsett", "person", "engineer")


def stated(sentence: str, topic: Topic = TOPIC) -> set[tuple[str, str, str]]:
    """Names are marked by brackets; dates are found."""
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


def test_guesses_that_differ_decide_nothing() -> None:
    assert decided({"person": 3}) == "person"
    assert decided({"person": 1, "place": 1}) == decided({}) == ""
    assert type_of_box([], [(0, 1, "", (("Born", "1890"), ("Spouse", "X")))]) == "person"


def test_a_graph_has_types_and_predicates_and_says_where_it_has_none(tmp_path) -> None:
    graph = built(
        tmp_path,
        {
            "Regatta": "Regatta is a film directed by Ilsabet Corran. Lanner Ltd. made it in the town of Saltrey.",
            "Oath": "The oath was taken near Saltrey; Oriel Quill came. Oath is a rounded matter.",
        },
    )
    type_of = {e.name: e.type for e in graph.entities(graph.ids).values()}
    assert type_of["Regatta"] == "film"
    assert type_of["Ilsabet Corran"] == "person"
    assert type_of["Lanner Ltd."] == "organization"
    assert type_of["Saltrey"] == "place"
    assert type_of["Oriel Quill"] == ""
    assert type_of["Oath"] in ("", "term")
    said = {(t.subject_name, t.predicate, t.object_name) for t in graph.triplets(graph.ids)}
    assert ("Regatta", "directed_by", "Ilsabet Corran") in said
    assert ("Saltrey", "named_with", "Oriel Quill") in said
    assert not any(predicate == "related_to" for _, predicate, _ in said)
