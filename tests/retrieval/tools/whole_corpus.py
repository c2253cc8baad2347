"""Titles, redirects, mentions and links of a corpus that is held as a whole: what tools are held against.

It is plain where the tools are quick: dictionaries of all names, a tree of all titles, and every text looked through.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from ragways.core.types import title_name
from ragways.index.graph.known_names import TitleTree
from ragways.retrieval.tools.link_graph import LinkGraph

LONGEST = 200
HOPS = 5
MEANINGS = 5
PLACES = 20


class WholeCorpus:
    """`documents`: number, title and where each redirects to, by number. `texts`: those of articles. `links`: document,
    place and the name linked to, in order.
    """

    def __init__(
        self,
        documents: Iterable[tuple[int, str, str | None]],
        texts: dict[int, str],
        links: Iterable[tuple[int, int, str]],
    ) -> None:
        self.titles: dict[int, str] = {}
        self.by_name: dict[str, int] = {}
        leads: dict[str, tuple[str, str]] = {}
        for number, title, redirect in documents:
            if redirect is None:
                self.titles[number] = title
                self.by_name.setdefault(title_name(title), number)
            else:
                leads[title_name(title)] = title_name(redirect), title
        self.redirects = dict(self._ends({name: to for name, (to, _) in leads.items()}, leads))
        self.by_name |= {title_name(title): number for title, number in self.redirects.items()}
        self.names = defaultdict(set)
        for name, number in self.by_name.items():
            self.names[number].add(name)
        self.links = list(links)
        self._find_mentions({n: text for n, text in texts.items() if n not in {source for source, _, _ in self.links}})
        self.pairs = {(source, target) for source, there in self.mentions.items() for target in there}
        for source, _, name in self.links:
            if self.by_name.get(name, source) != source:
                self.pairs.add((source, self.by_name[name]))
        self.nodes = sorted(self.titles)

    def _ends(self, leads: dict[str, str], spelled: dict[str, tuple[str, str]]) -> Iterable[tuple[str, int]]:
        for name in leads:
            here = name
            for _ in range(HOPS):
                if here in leads and here not in self.by_name:
                    here = leads[here]
            if here in self.by_name and name not in self.by_name:
                yield spelled[name][1], self.by_name[here]

    def _find_mentions(self, texts: dict[int, str]) -> None:
        self.of_title = {title: number for number, title in reversed(self.titles.items())}
        redirects = [(title, self.titles[number]) for title, number in self.redirects.items()]
        self.tree = TitleTree([*((title, title) for title in self.of_title), *redirects])
        self.mentions: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, text in texts.items():
            for start, _, meant in self.titles_in(text):
                for target in meant if len(meant) <= MEANINGS else ():
                    if target != number:
                        self.mentions[number][target].append(start)

    def titles_in(self, text: str) -> list[tuple[int, int, list[int]]]:
        return [
            (start, end, sorted({self.of_title[title] for title in titles}))
            for start, end, titles in self.tree.find(text, 0, len(text))
        ]

    def graph(self) -> LinkGraph:
        pairs = np.array(sorted(self.pairs), dtype=np.int64).reshape(-1, 2)
        return LinkGraph(len(self.nodes), np.searchsorted(np.array(self.nodes), pairs))

    def to(self, article: int) -> list[tuple[int, int]]:
        places = {(source, place) for source, place, name in self.links if name in self.names[article]}
        places |= {(source, place) for source, there in self.mentions.items() for place in there.get(article, ())}
        return sorted(place for place in places if place[0] != article)

    def between(self, source: int, target: int) -> list[tuple[int, int]]:
        mentioned = self.mentions[source].get(target, [])
        linked = [place for document, place, name in self.links if document == source and name in self.names[target]]
        return [(source, place) for place in (mentioned or linked)[:PLACES]]

    def nearest(self, text: str, k: int) -> list[tuple[int, float]]:
        """By runs of three letters. Titles with one score are told in the order of the tools' list, so it is theirs."""
        entries = [*((plain(self.titles[n][:LONGEST]), n) for n in self.nodes)]
        entries += [(plain(title), number) for title, number in self.redirects.items()]
        held = Counter(run for title, _ in entries for run in runs(title))
        weights = {run: math.log(1 + len(entries) / count) ** 2 for run, count in held.items()}
        asked = runs(plain(text[:LONGEST]))
        size = sum(weights.get(run, 1.0) for run in sorted(asked))
        scores = []
        for title, _ in entries:
            own = runs(title)
            both = sum(weights[run] for run in sorted(asked & own))
            scores.append(round(both / math.sqrt(sum(weights[run] for run in own)) / math.sqrt(size), 6))
        order = sorted(range(len(entries)), key=lambda at: (-scores[at], at))
        exact = self.by_name.get(title_name(text[:LONGEST]))
        found = {} if exact is None else {exact: 1.0}
        for at in order:
            if scores[at] > 0:
                found.setdefault(entries[at][1], round(scores[at], 4))
        return list(found.items())[:k]


def plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", title_name(text))
    return "".join(c for c in decomposed if not unicodedata.combining(c))[: 2 * LONGEST]


def runs(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}
