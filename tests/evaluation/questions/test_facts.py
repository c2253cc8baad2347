"""Facts of boxes and sentences: what is read, and what must not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.evaluation.questions.facts import FactIndex, facts_of
from ragways.evaluation.questions.source import QuestionSource
from ragways.evaluation.questions.templates import of_field
from ragways.evaluation.questions.writer import definition
from tests.evaluation.questions.fakes import indexed, resources

SENTENCES: dict[str, tuple[str, dict[str, str]]] = {
    "Vera Holm": ("{x} (born 3 December 1983 in Walvis Bay) is a model.",
                  {"birth date": "3 December 1983", "birth place": "Walvis Bay"}),
    "Otto Rank": ("{x} (12 April 1801 – 14 November 1842) was a minister.", {"birth date": "12 April 1801"}),
    "Red Gulls": ("{x} (1990–1995) was a band.", {}),
    "Lena Moss": ("{x} was born in Rome to poor parents. {x} died in 1841.",
                  {"birth place": "Rome", "death date": "1841"}),
    "Grey Tide": ("{x} is a 1954 drama film directed by Anna Brack.", {"director": "Anna Brack"}),
    "Old Song": ("{x} is a song by the English rock band Tidewater Choir.", {"performer": "Tidewater Choir"}),
    "Blue Hour": ("{x} is a film directed by Indian filmmaker Ravi Mell.", {"director": "Ravi Mell"}),
    "Hill Fold": ("{x} is a town in Dodge County.", {"location": "Dodge County"}),
    "Sea Almanac": ("{x} was first published in 1888.", {"first published date": "1888"}),
    "Ness Tower": ("{x} was designed by Ada Holm in 1801.", {"designer": "Ada Holm"}),
    "Carl Finn": ("{x} was the husband of Dora Gray.", {"spouse": "Dora Gray"}),
    # What must not be read: two makers, somebody else's maker, a description instead of a name, a plan, a period.
    "Two Hands": ("{x} is a film directed by Anna Brack and Bertil Oakes.", {}),
    "Far Story": ("{x} is a film based on a novel written by Anna Brack.", {}),
    "Low Mill": ("{x} was built by local masons in a hurry.", {}),
    "Half Light": ("{x} is a film directed by Anna Brack's brother.", {}),
    "New Quay": ("{x} will be opened in 1999.", {}),
    "Iris Wend": ("{x} was known in Rome.", {}),
    "Erik Vane": ("{x} was born in Rome's harbour.", {}),
    "Jonas Wend": ("The son of {x} was born in Ness.", {}),
}  # fmt: skip
BOX = "{{Infobox ship\n| name = Tern\n| builder = Hesk & Daughters\n| launched = 8 March 1911\n| crew = Ada; Bo\n}}\n"


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> FactIndex:
    texts = {f"{title}.md": f"# {title}\n\n{text.format(x=title)}" for title, (text, _) in SENTENCES.items()}
    texts |= {"Tern.wiki": f"{BOX}'''Tern''' is a ship of Ness."}
    return facts_of(QuestionSource(resources(indexed(tmp_path_factory.mktemp("facts"), texts, LAYERS))))


LAYERS = frozenset({"vectors"})


def stated(facts: FactIndex, title: str) -> dict[str, str]:
    return {fact.relation.name: fact.value for fact in facts.every if fact.subject.text.title == title}


@pytest.mark.parametrize("title", SENTENCES)
def test_sentences(facts: FactIndex, title: str):
    assert stated(facts, title) == SENTENCES[title][1]


def test_every_fact_stands_in_its_quote_and_its_chunk(facts: FactIndex):
    assert len(facts.every) > 10
    for fact in facts.every:
        assert fact.value in fact.quote
        assert fact.chunk.startswith(f"{fact.document}:")


def test_boxes(facts: FactIndex):
    assert stated(facts, "Tern") == {"builder": "Hesk & Daughters", "launched date": "8 March 1911"}


def test_a_definition_says_what_something_is_and_nothing_else():
    assert definition("Ada (1712–1779) was a cartographer who made charts of the sound.") == (
        "Ada", "Ada", "was", "a cartographer who made charts of the sound")  # fmt: skip
    assert definition("A bone scan is a test of bones.") == ("A bone scan", "bone scan", "is", "a test of bones")
    assert definition("The brig sank in the gale.") is None
    assert definition("A lymphoma is an abnormal growth (cancer) of cells.") is None
    assert definition("Ness is a town in the north and Tollen is one in the east.") is None
    assert definition("The Old Mill is the best of them all in every way.") is None
    assert definition("The north is an enclave within the state.") is None


@pytest.mark.parametrize(
    ("key", "value", "asked"),
    [
        ("birth date", "1801", "When was {x} born?"),
        ("first_lit", "1801", "When was {x} first lit?"),
        ("population 1981", "412,300", "In 1981, what was the population of {x}?"),
        ("area km2", "860", "In km², what is the area of {x}?"),
        ("pages", "418", "What number of pages is given for {x}?"),
        ("width max", "31 km", "What is the maximum width of {x}?"),
        ("patron", "Saint Orme", "What is the patron of {x}?"),
        ("motto", "By sounding", "What is the motto of {x}?"),
        ("county", "Dodge County", "In which county is {x}?"),
        ("island", "Saltrey", "On which island is {x}?"),
        ("designer", "1801", None),
        ("second edition", "1771", None),
        ("name", "Pell Rock", None),
        ("members", "Morvane", None),
        ("{x.__class__} founded", "1801", None),
        ("{0}", "12", None),
        ("{x} motto", "So", None),
    ],
)
def test_fields(key: str, value: str, asked: str | None):
    relation = of_field(key, value)
    assert (relation.ask if relation else None) == asked


def test_a_name_is_shown_with_what_its_title_says_it_is(tmp_path: Path):
    texts = {
        "a.md": "# Brazza (US band)\n\nBrazza is a band founded in 1997.",
        "b.md": "# Blue Hour (Ada Holm song)\n\nBlue Hour is a song by Ada Holm.",
        "c.md": "# Loud Sky\n\nLoud Sky is an album by American rapper and writer Tom Noise.",
    }
    index = indexed(tmp_path, texts, LAYERS)
    source = QuestionSource(resources(index))
    assert {one.name for one in facts_of(source).subjects.all.values()} == {
        "the US band Brazza",
        "Blue Hour",
        "Loud Sky",
    }
    assert not any(fact.value == "American" for fact in facts_of(source).every)
    index.close()
