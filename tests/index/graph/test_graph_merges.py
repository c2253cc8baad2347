"""Which names mean the same, why, and how it is undone."""

from __future__ import annotations

from ragways.index.graph.layer import veto
from ragways.index.graph.reader import Graph
from ragways.index.work_cache import WorkCache
from tests.index.graph.graph_fakes import built, graph_of, recipe, run, write

PEOPLE = {
    "Oriel Tamsett": "Oriel Tamsett was an engineer. Tamsett built the Harbour Board Office in Saltrey. Oriel died.",
    "Harbour Board": "The Harbour Board (HB) is a company. The HB was led by Oriel Tamsett. Tamsett left in 1883.",
    "Ilsabet Corran": "Ilsabet Corran was a queen of the isles. Corran sailed often.",
    "Ilsabet Corran (ship)": "Ilsabet Corran was a research ship. The ship Ilsabet Corran went to Saltrey.",
    "Grey Petrel (ship)": "Grey Petrel was a ship of the Harbour Board.",
    "Saltrey": "Saltrey is an island. The Grey Petrel came from Saltrey. New Saltrey is a town.",
}


def _only(graph: Graph, name: str) -> str:
    found = graph.named(name)
    assert len(found) == 1, (name, [e.name for e in graph.entities(found).values()])
    return found[0]


def test_merges_have_reasons(tmp_path) -> None:
    graph = built(tmp_path, PEOPLE)
    assert _only(graph, "Tamsett") == _only(graph, "Oriel Tamsett")
    assert _only(graph, "HB") == _only(graph, "the Harbour Board")
    assert _only(graph, "Grey Petrel") == _only(graph, "Grey Petrel (ship)")
    reasons = {(name, into): reason for _, name, into, reason, _ in graph.merges()}
    assert reasons["Tamsett", "Oriel Tamsett"] == "short form"
    assert reasons["HB", "Harbour Board"] == "acronym"
    assert reasons["Grey Petrel", "Grey Petrel (ship)"] == "the only article of this name"
    assert _only(graph, "New Saltrey") != _only(graph, "Saltrey")


def test_homonyms_stay_apart(tmp_path) -> None:
    graph = built(tmp_path, PEOPLE)
    found = graph.entities(graph.named("Ilsabet Corran"))
    assert sorted((e.name, e.type) for e in found.values()) == [
        ("Ilsabet Corran", "queen"),
        ("Ilsabet Corran (ship)", "ship"),
    ]
    person = next(id for id, e in found.items() if e.type == "queen")
    ship = next(id for id, e in found.items() if e.type == "ship")
    assert not {c for c, _ in graph.mentions([person])} & {c for c, _ in graph.mentions([ship])}


def test_a_veto_undoes_a_merge_and_lasts(tmp_path) -> None:
    before = built(tmp_path, PEOPLE)
    work_cache = WorkCache(tmp_path / "index")
    veto(work_cache, "Tamsett", "Oriel Tamsett")
    work_cache.close()
    # The next run derives again; an article that has nothing to do with it changes nothing about the veto.
    run(tmp_path / "index", write(tmp_path / "corpus", {"Tide": "The tide rises."}))
    after = graph_of(tmp_path / "index")
    assert _only(before, "Tamsett") == _only(before, "Oriel Tamsett")
    assert _only(after, "Tamsett") != _only(after, "Oriel Tamsett")
    (tmp_path / "corpus" / "Tide.json").unlink()
    run(tmp_path / "index", tmp_path / "corpus")
    assert _only(graph_of(tmp_path / "index"), "Tamsett") != _only(before, "Oriel Tamsett")


def test_pairs_told_apart_in_the_settings(tmp_path) -> None:
    graph = built(tmp_path, PEOPLE, {"apart": [["HB", "Harbour Board"], ["The Harbour Board", "Harbour Board"]]})
    assert _only(graph, "HB") not in graph.named("Harbour Board")


def test_redirects_are_names(tmp_path) -> None:
    graph = built(
        tmp_path,
        {
            "Saltrey.wiki": "'''Saltrey''' is an island.",
            "Isle of Salt.wiki": "#REDIRECT [[Saltrey]]",
            "Quay.wiki": "The quay lies on the Isle of Salt and on [[isle of Salt|it]].",
        },
    )
    assert _only(graph, "Isle of Salt") == _only(graph, "Saltrey")
    assert ("Isle of Salt", "Saltrey", "redirect") in {(n, i, r) for _, n, i, r, _ in graph.merges()} or len(
        graph.mentions(graph.named("Saltrey"))
    ) == 2


def test_a_removal_forgets_vetoes_of_names_that_are_gone(tmp_path) -> None:
    run(tmp_path / "index", write(tmp_path / "corpus", PEOPLE), recipe())
    work_cache = WorkCache(tmp_path / "index")
    veto(work_cache, "Tamsett", "Oriel Tamsett")
    work_cache.close()
    for name in ("Oriel Tamsett", "Harbour Board"):
        (tmp_path / "corpus" / f"{name}.json").unlink()
    run(tmp_path / "index", tmp_path / "corpus")
    assert b"Tamsett" not in (tmp_path / "index" / "work_cache.sqlite").read_bytes()


NEAR = {
    "One": "The pier was built by Oriel Tamsettson of Saltrey.",
    "Two": "It was Oriel Tamsetson who paid, and Oriel Tamsettson agreed.",
    "Three": "The gale of 1883 and Grand Regatta 12 were followed by Grand Regatta 13.",
}


def test_near_names_need_letters_and_meaning(tmp_path) -> None:
    """The fake embedder finds two spellings unlike by meaning: only a low border lets the merge pass."""
    for place, cosine, merged in (("apart", 0.99, False), ("merged", 0.3, True)):
        corpus = write(tmp_path / place / "corpus", NEAR)
        settings = {"near": True, "near_cosine": cosine}
        run(tmp_path / place / "index", corpus, recipe(settings, layers="graph vectors"))
        graph = graph_of(tmp_path / place / "index")
        one, other = _only(graph, "Oriel Tamsettson"), _only(graph, "Oriel Tamsetson")
        assert (one == other) is merged
        assert any("by letters" in reason for _, _, _, reason, _ in graph.merges()) is merged
        assert _only(graph, "Grand Regatta 12") != _only(graph, "Grand Regatta 13")


APART = {
    "Skyy": "Skyy Vodka is made in Saltrey. The Vodka is clear, as vodka is. Chalone AVA and the AVA are near.",
    "Coalspur, Alberta": "Coalspur, Alberta is a town. The town lies in Alberta.",
    "Gale (season 7)": "Gale (season 7) is the end of Gale.",
    "Harbour": "The series Gale was made in Saltrey. Corran, a harbour, was named for Ilsabet Corran.",
    "Oath (Jamaica)": "Oath of Jamaica is an oath.",
    "Quay": "The first quay was built by Oriel Tamsett. Tamsett left.",
    "Tide": "Another Tamsett watched the tide.",
    "Rainy Water (Michigan)": "The Rainy Water is a river.",
    "Lake": "The Rainy Water flows here.",
    "Shore": "In Michigan the Rainy Water flows.",
    "Pier": "The Lanner Memcache is a pier. The Memcache is old.",
    "Stone": "It came from Lanner.",
    "Rise": "The 4 of them saw it rise by 4%.",
}


def test_what_is_no_short_form_stays_apart(tmp_path) -> None:
    graph = built(tmp_path, APART)
    merged = {(name, into) for _, name, into, reason, _ in graph.merges() if reason != "same name"}
    assert ("Tamsett", "Oriel Tamsett") in merged
    wrong = {"Vodka", "AVA", "Alberta", "Gale", "Corran", "The 4", "Saltrey", "Memcache"} & {name for name, _ in merged}
    assert wrong == set()
    tide = {chunk for chunk, _ in graph.mentions(graph.named("Oriel Tamsett")[:1])}
    assert len(tide) == 1  # in `Tide` nobody says which Tamsett
    (rainy,) = (id for id in graph.named("Rainy Water") if graph.entities([id])[id].name == "Rainy Water (Michigan)")
    assert len(graph.mentions([rainy])) == 2  # its own article, and the one that names Michigan
