"""The corpus maker: the same documents whatever else is made, and growth like real text's."""

from __future__ import annotations

import asyncio
import math
import re
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.corpus_maker import documents, title_of
from benchmarks.stand_in import StandIn


def test_a_document_depends_on_the_seed_and_its_number_alone() -> None:
    whole = list(documents(2100, seed=3))
    assert list(documents(50, seed=3, first=1000)) == whole[1000:1050]
    assert list(islice(documents(10**9, seed=3), 5)) == whole[:5]
    assert list(documents(5, seed=4)) != whole[:5]
    assert title_of(2050, seed=3) == whole[2050].title


def test_a_corpus_grows_as_real_text_does() -> None:
    counted = [len(set(re.findall(r"\w+", " ".join(made.text for made in documents(n))))) for n in (500, 3000)]
    words = [sum(len(re.findall(r"\w+", made.text)) for made in documents(n)) for n in (500, 3000)]
    growth = math.log(counted[1] / counted[0]) / math.log(words[1] / words[0])
    assert growth == pytest.approx(0.64, abs=0.08), "2wiki has .64"


def test_first_titles_become_hubs() -> None:
    made = list(documents(3000))
    titles = [title_of(number) for number in (*range(1, 11), *range(2900, 2910))]
    named = [sum(title in each.text for each in made) for title in titles]
    assert sum(named[:10]) > 4 * sum(named[10:])


def test_the_stand_in_puts_a_question_near_its_document() -> None:
    made = list(documents(500))
    embedder = StandIn()
    vectors = asyncio.run(embedder.embed([f"{each.title}\n{each.text}" for each in made]))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(500), abs=1e-5)
    questions = asyncio.run(embedder.embed([f"Who is {each.title}?" for each in made]))
    first = (vectors @ questions.T).argmax(axis=0)
    found = [made[place].title in (each.title, made[place].text) or each.title in made[place].text
             for place, each in zip(first.tolist(), made, strict=True)]  # fmt: skip
    assert sum(found) > 300
