"""Figures of a corpus, against networkx and against computing them the slow way."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest

from ragways.core.plain import from_plain
from ragways.index.build import build
from ragways.index.diagnosis import (
    Diagnosis,
    StoredFigures,
    diagnose,
    known_diagnosis,
    save,
    textual,
)
from ragways.index.open import Index
from ragways.index.shape import (
    centroid_distance,
    hubness,
    intrinsic_dimension,
    mean_clustering,
    nearest,
    semantic,
    structural,
)
from ragways.layers.graph.walk import Adjacency
from tests.fakes import recipe, write

GRAPHS = {
    "nothing": networkx.empty_graph(0),
    "one node": networkx.empty_graph(1),
    "no edges": networkx.empty_graph(7),
    "a path": networkx.path_graph(500),
    "a star": networkx.star_graph(40),
    "all joined": networkx.complete_graph(12),
    "random": networkx.gnm_random_graph(300, 700, seed=1),
    "in pieces": networkx.gnm_random_graph(400, 250, seed=2),
    "clustered": networkx.powerlaw_cluster_graph(400, 4, 0.6, seed=3),
    "a ring of cliques": networkx.ring_of_cliques(20, 6),
}


def links_of(graph: networkx.Graph) -> Adjacency:
    edges = np.array(list(graph.edges), np.int64).reshape(-1, 2)
    return Adjacency.of_edges(len(graph), edges[:, 0], edges[:, 1], np.ones(len(edges)))


@pytest.mark.parametrize("name", GRAPHS)
def test_structure_as_networkx_has_it(name: str):
    graph = GRAPHS[name]
    got = structural(links_of(graph), relations=9, relation_types=3)
    assert (got.nodes, got.edges) == (graph.number_of_nodes(), graph.number_of_edges())
    assert got.components == networkx.number_connected_components(graph)
    if len(graph) < 2:
        assert got.density is None
        assert got.largest_degree_centrality is None
        return
    assert got.density == pytest.approx(networkx.density(graph))
    assert got.mean_degree == pytest.approx(2 * graph.number_of_edges() / len(graph))
    assert got.largest_degree_centrality == pytest.approx(max(networkx.degree_centrality(graph).values()))
    largest = max(map(len, networkx.connected_components(graph)))
    assert got.largest_component_share == pytest.approx(largest / len(graph))
    assert got.mean_clustering == pytest.approx(networkx.average_clustering(graph))
    assert got.clustering_of.whole


def test_clustering_of_a_graph_with_too_many_pairs_is_marked_as_estimated():
    graph = networkx.powerlaw_cluster_graph(3000, 5, 0.7, seed=4)
    links = links_of(graph)
    exact, _ = mean_clustering(links)
    estimate, sample = mean_clustering(links, limit=10, seed=5)
    assert exact is not None
    assert estimate == pytest.approx(exact, abs=0.03)
    assert sample.size == 3000
    assert mean_clustering(links, limit=10, seed=5)[0] == estimate


def embedded(points: np.ndarray, seed: int = 0) -> np.ndarray:
    """The points laid into 32 dimensions, turned at random, so that no axis tells."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((32, 32)))[0][: points.shape[1]]
    return np.asarray(points @ turn, np.float32)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_twonn_finds_the_dimension(dimension: int):
    points = np.random.default_rng(1).random((3000, dimension))
    found, duplicates = intrinsic_dimension(nearest(embedded(points), 2)[1])
    assert found == pytest.approx(dimension, rel=0.1)
    assert duplicates == 0


def test_neighbours_are_exact():
    points = np.random.default_rng(3).standard_normal((700, 16)).astype(np.float32)
    near, distances = nearest(points, 10)
    every = np.linalg.norm(points[:, None].astype(float) - points[None], axis=2)
    np.fill_diagonal(every, np.inf)
    assert (near == np.argsort(every, axis=1)[:, :10]).all()
    assert distances == pytest.approx(np.sort(every, axis=1)[:, :10], abs=1e-6)


def test_hubness_as_computed_directly():
    points = np.random.default_rng(4).standard_normal((300, 20)).astype(np.float32)
    near, _ = nearest(points, 10)
    counts = np.zeros(300)
    for row in near.tolist():
        for other in row:
            counts[other] += 1
    centred = counts - counts.mean()
    skewness = (centred**3).mean() / (centred**2).mean() ** 1.5
    assert hubness(near, 300) == pytest.approx(skewness)
    assert skewness > 0.5, "twenty dimensions make hubs"


def test_distances_to_the_centroid_as_computed_directly():
    points = np.random.default_rng(5).standard_normal((9000, 8)).astype(np.float32) + 1
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    centre = points.mean(axis=0)
    distances = 1 - points @ centre / np.linalg.norm(centre)
    got = centroid_distance(points)
    assert got is not None
    assert (got.mean, got.deviation, got.minimum, got.maximum) == pytest.approx(
        (distances.mean(), distances.std(), distances.min(), distances.max()), abs=1e-5
    )


def test_figures_of_a_large_corpus_are_marked_as_sampled():
    points = embedded(np.random.default_rng(6).random((5000, 2)))
    got = semantic(points, limit=2000, seed=7)
    assert (got.neighbours_of.size, got.neighbours_of.of, got.neighbours_of.seed) == (2000, 5000, 7)
    assert str(got.neighbours_of) == "a sample of 2,000 of 5,000 (seed 7)"
    assert got.intrinsic_dimension == pytest.approx(2, rel=0.15)
    assert semantic(points, limit=2000, seed=7) == got
    assert semantic(points, limit=2000, seed=8) != got


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "docs",
        {
            "a.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne.\n",
            "b.md": "# Port Averne\n\nPort Averne lies on the Lanner Sound. The Harbour Light stands there.\n",
        },
    )
    return tmp_path


def built_of(folder: Path, texts: dict[str, str], *layers: str) -> Index:
    write(folder / "docs", texts)
    return built(folder, *layers)


def built(folder: Path, *layers: str) -> Index:
    asyncio.run(build(folder / "index", [folder / "docs"], recipe(layers=frozenset(layers), settings={"graph": {}})))
    return Index.open(folder / "index")


def test_an_index_is_diagnosed_and_the_figures_are_saved(folder: Path):
    index = built(folder, "vectors", "words", "graph")
    found = diagnose(index)
    assert found.structure is not None
    assert found.meaning is not None
    assert found.structure.nodes > 2
    assert found.structure.relation_types > 0
    assert found.meaning.chunks == 2
    assert save(folder / "index", found) == folder / "index" / "diagnosis.json"
    saved = from_plain(Diagnosis, json.loads((folder / "index" / "diagnosis.json").read_text()))
    assert saved == found
    assert saved.generation == index.generation
    index.close()
    write(folder / "docs", {"c.md": "# Storm\n\nA storm came.\n"})
    again = built(folder, "vectors", "words", "graph")
    assert saved.generation != again.generation
    again.close()


TEXTS = {
    "harbour.md": "---\ndate: 2001-05-04\n---\n# Harbour\n\nThe light was built by a woman.\n",
    "light.wiki": "The light was built by [[Anna Brack]].",
    "anna-brack.md": "# Anna Brack\n\nAnna Brack built lights.\n",
    "tern.md": "# Tern\n\nThe ship Tern passed the Harbour. She was lost.\n",
    "copy.md": "# Tern\n\nThe ship Tern passed the Harbour. She was lost.\n",
}


def test_the_texts_by_hand(tmp_path: Path):
    index = built_of(tmp_path, TEXTS, "words")
    texts = textual(index)
    tokens = [piece.tokens for piece in index.pieces(f"{id}:s0:p0:c0" for id, _, _ in index.documents()).values()]
    assert (texts.documents, texts.passages, texts.passages_per_document) == (5, 5, 1.0)
    assert texts.mean_tokens == sum(tokens) / 5
    assert texts.dated_share == 0.2
    assert texts.duplicate_share == pytest.approx(0.2)
    assert texts.linked_share == 0.2  # Anna Brack
    index.close()


def test_a_graph_knows_which_documents_others_mention(tmp_path: Path):
    """Without any link: the harbour is named in two other documents, the others in none."""
    plain = {
        "harbour.md": "# Ness Harbour\n\nNess Harbour is a harbour.\n",
        "tern.md": "# Grey Tern\n\nThe ship passed Ness Harbour in 1883.\n",
        "keeper.md": "# Ada Holm\n\nAda Holm was born near Ness Harbour.\n",
    }
    index = built_of(tmp_path, plain, "words", "graph")
    assert textual(index).linked_share == pytest.approx(1 / 3)
    index.close()


def test_saved_figures_are_taken_while_they_are_of_this_generation(folder: Path):
    index = built(folder, "vectors", "words", "graph")
    assert known_diagnosis(index) == diagnose(index, quick=True)
    marked = replace(diagnose(index), seed=77)
    save(folder / "index", marked)
    assert known_diagnosis(index) == marked
    save(folder / "index", replace(marked, generation=marked.generation + 1))
    assert known_diagnosis(index).seed == 0
    save(folder / "index", replace(marked, texts=None))  # as versions before wrote it
    assert known_diagnosis(index).texts is not None
    (folder / "index" / "diagnosis.json").write_text("{")
    assert known_diagnosis(index).seed == 0
    index.close()


def stored(index: Index) -> Diagnosis:
    """The figures that an index stores."""
    figures = StoredFigures.of(index.store)
    assert figures is not None
    return figures.figures


def test_a_large_index_stores_its_figures_until_a_tenth_of_it_is_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.diagnosis.STORED_FROM", 20)
    texts = {f"{n}.md": f"# Light {n}\n\nLight {n} was built by Anna Brack.\n" for n in range(20)}
    first = built_of(tmp_path, texts, "vectors", "words", "graph")
    assert known_diagnosis(first) == stored(first) == diagnose(first, quick=True)
    for name in ("20.md", "0.md"):  # one comes, and one is another
        write(tmp_path / "docs", {name: "# Tern\n\nThe ship Tern was lost.\n"})
        index = built(tmp_path, "vectors", "words", "graph")
        if name == "20.md":
            assert known_diagnosis(index) == stored(first) != diagnose(index, quick=True)
        else:
            assert known_diagnosis(index) == diagnose(index, quick=True)
            assert stored(index).generation == index.generation == first.generation + 2
        index.close()
    first.close()
