"""A corpus of any size that grows as real text does: Zipf's words, new names without end, links to what is known.

    python -m benchmarks.corpus_maker --documents 100000 --out corpus.jsonl [--seed 0]

A document is an encyclopedia's passage: a title, a first sentence that says what it is, sentences that join it to other
titles, and sentences of words and names. It is made of the seed and its number alone, so a corpus is the beginning of
every larger one, and making one takes no memory. About 1.1 chunks come of a document.

Words follow the frequencies of 2wiki's passages (`LAW`), and a corpus of n words has about n^.64 different ones. A
third of the rarer words belong to the document's topic. Links go to earlier documents, half of them to near ones (which
gives communities), the others by preferential attachment: document j of n is chosen with a weight of j^-.5, so that the
first become hubs. Names that are no titles are drawn from a law without end.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.uint64]

BLOCK = 1024
"""Documents made at once."""
LAW = ((1, 0.085), (10, 0.0103), (100, 0.00087), (1_000, 0.000116), (10_000, 0.0000091))
"""Share of the words of plain sentences that the word of this rank has: with titles and names among them, 2wiki's."""
TAIL = 1.75
"""Exponent beyond: with it, and the names, the vocabulary grows by the power .64, as 2wiki's does."""
LARGEST = 10**9
SPELLED = 100_000
"""Ranks whose spelling is cached."""
MEDIAN_WORDS, SPREAD = 43, 0.98
"""Words of a document: lognormal, as in 2wiki."""
WORDS_A_SENTENCE = 15
NAMES = 0.2
"""Share of a sentence's places that hold a name."""
NEAR = 2000
"""Documents back that a near link reaches, at most."""


def _each(words: str) -> list[str]:
    return words.split()


WORDS = _each(
    "the of and a in to was is for on as with by he at from his it an were which are this also be has had first one "
    "their its new after but who not they have her she two been other when there all during into school time may "
    "years more most only over city some world would where later up such used many can state about national out "
    "known university united then made film season house team river building company music family government war "
    "church north south island bridge engineer lighthouse harbour railway council village museum painting election"
)
"""The most frequent words, by their rank."""
DAYS = [str(day) for day in range(1, 29)]
MONTHS = _each("January February March April May June July August September October November December")
COUNTRIES = _each("France Germany Italy India England Spain Japan Canada Poland Sweden Brazil Egypt Norway Chile Kenya")
PEOPLES = _each("French British German Canadian Spanish Japanese Polish Swedish Dutch Greek Turkish Danish")
GENERIC = np.array([*PEOPLES, *MONTHS, *COUNTRIES], dtype=object)
WORK = _each("writer actor politician painter engineer footballer composer bishop historian director singer physicist")
PLACES = _each("village town river district island lake parish mountain")
WORKS = _each("film novel album song play newspaper")
BODIES = _each("company school party club railway museum")
KIN = _each("son daughter brother sister pupil friend")
OPENINGS = {
    "person": "{title} (born {day} {month} {year}) was a {people} {work} from {place}.",
    "place": "{title} is a {site} in {place}, {country}.",
    "work": "{title} is a {year} {people} {piece} directed by {link}.",
    "body": "{title} is a {people} {body} founded in {year} by {link}.",
}
LINKED = {
    "person": (
        "He was the {kin} of {link}.",
        "He married {link} in {year}.",
        "He worked with {link} in {place}.",
        "In {year} he joined {link} and lived in {country}.",
    ),
    "place": ("It borders {link}.", "It was founded by {link} in {year}.", "It belongs to {link}."),
    "work": ("It features {link} and was shown in {country}.", "It was written by {link}.", "It stars {link}."),
    "body": ("It was led by {link} from {year}.", "It owns {link}.", "It moved from {place} to {country} in {year}."),
}
FIELDS = _each("title link place year country people day month work site piece body kin")
KINDS = tuple(OPENINGS)
_TEMPLATES = [
    [re.sub(r"\{(\w+)\}", lambda field: f"{{{FIELDS.index(field[1])}}}", each) for each in (OPENINGS[k], *LINKED[k])]
    for k in KINDS
]
SYLLABLES = [a + b for a in _each("b c d f g h j k l m n p r s t v w z") for b in "aeiou"]
ENDINGS = ("", "", "n", "s", "ed", "l", "ing", "", "ly", "r", "tion", "")


class Made(NamedTuple):
    """A document: its id, title and text."""

    id: str
    title: str
    text: str


def documents(count: int, seed: int = 0, first: int = 0) -> Iterator[Made]:
    """Documents `first` to `first + count`; each is the same whatever else is made."""
    for block in range(first // BLOCK, -(-(first + count) // BLOCK)):
        made = _block(seed, block)
        begin, end = max(0, first - block * BLOCK), min(BLOCK, first + count - block * BLOCK)
        yield from made[begin:end]


def write_jsonl(file: Path, count: int, seed: int = 0, first: int = 0) -> None:
    """One record a line, for `ragways index`."""
    with file.open("w", encoding="utf-8") as stream:
        for made in documents(count, seed, first):
            stream.write(json.dumps(made._asdict(), ensure_ascii=False) + "\n")


def title_of(number: int, seed: int = 0) -> str:
    """The title of one document: for questions about it."""
    return str(_titles(np.array([number], dtype=np.uint64), seed)[0])


# A block of documents


def _block(seed: int, block: int) -> list[Made]:
    dice = np.random.default_rng((seed, block))
    numbers = np.arange(block * BLOCK, (block + 1) * BLOCK, dtype=np.uint64)
    lengths = np.clip(MEDIAN_WORDS * np.exp(SPREAD * dice.standard_normal(BLOCK)), 12, 900)
    sentences = np.maximum(1, np.round(lengths / WORDS_A_SENTENCE)).astype(np.int64)
    plain = dice.binomial(sentences - 1, 0.7)
    words, ends = _plain_sentences(dice, plain, _topics(numbers, seed), seed)
    titles, kinds = _titles(numbers, seed).tolist(), _kinds(numbers, seed).tolist()
    fills = _fills(dice, numbers, sentences - plain, seed)
    made, begin = [], 0
    for number, title, kind, joined, end in zip(
        numbers.tolist(), titles, kinds, (sentences - plain).tolist(), ends, strict=True
    ):
        templates = _TEMPLATES[kind]
        parts = [templates[0].format(title, *next(fills))]
        for which in range(1, joined):
            parts.append(templates[1 + (number + which) % (len(templates) - 1)].format(title, *next(fills)))
        parts += words[begin:end]
        begin = end
        made.append(Made(f"d{number}", title, " ".join(parts)))
    return made


def _plain_sentences(
    dice: np.random.Generator, plain: NDArray[np.int64], topics: Numbers, seed: int
) -> tuple[list[str], list[int]]:
    """The words of so many sentences a document, with capitals and full stops, and where each document's end."""
    lengths = np.clip(dice.normal(19, 7, int(plain.sum())), 5, 45).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    last = np.cumsum(plain)
    words = _words(dice, np.repeat(topics, bounds[last] - bounds[last - plain]), seed)
    for begin, end in pairwise(bounds.tolist()):
        words[begin] = words[begin][:1].upper() + words[begin][1:]
        words[end - 1] += "."
    return words, bounds[last].tolist()


def _fills(
    dice: np.random.Generator, numbers: Numbers, sentences: NDArray[np.int64], seed: int
) -> Iterator[tuple[object, ...]]:
    """For each sentence one of each of `FIELDS` but the title."""
    count = int(sentences.sum())

    def one_of(choices: Sequence[str]) -> list[str]:
        return [choices[place] for place in dice.integers(0, len(choices), count).tolist()]

    return zip(
        _titles(_targets(dice, np.repeat(numbers, sentences)), seed).tolist(),
        _place_names(dice, count).tolist(),
        dice.integers(1780, 2020, count).tolist(),
        *map(one_of, (COUNTRIES, PEOPLES, DAYS, MONTHS, WORK, PLACES, WORKS, BODIES, KIN)),
        strict=True,
    )


def _targets(dice: np.random.Generator, numbers: Numbers) -> Numbers:
    """Earlier documents: near ones, or by preferential attachment (a weight of j^-.5)."""
    chance = dice.random(len(numbers))
    near = np.maximum(0.0, numbers.astype(np.float64) - 1 - np.minimum(numbers, NEAR) * chance**3)
    known = np.floor(numbers * dice.random(len(numbers)) ** 2)
    return np.where(dice.random(len(numbers)) < 0.5, near, known).astype(np.uint64)


def _words(dice: np.random.Generator, topics: Numbers, seed: int) -> list[str]:
    """Words of plain sentences, one for each topic given, with names among them."""
    count = len(topics)
    ranks = word_ranks(dice.random(count))
    of_topic = (ranks > len(WORDS)) & (dice.random(count) < 0.33)
    some = (40 * dice.random(count) ** 2).astype(np.uint64)
    ranks[of_topic] = (len(WORDS) + _mixed(topics * np.uint64(64) + some, seed + 5) % np.uint64(20_000))[of_topic]
    words = _strings(ranks, _word)
    chance = dice.random(count)
    generic, named = chance < 0.4 * NAMES, (chance >= 0.4 * NAMES) & (chance < NAMES)
    words[generic] = GENERIC[(len(GENERIC) * dice.random(int(generic.sum())) ** 2).astype(np.int64)]
    words[named] = _free_names(dice, int(named.sum()), seed)
    spelled: list[str] = words.tolist()
    return spelled


# Names


def _topics(numbers: Numbers, seed: int) -> Numbers:
    """Documents in a row share a topic; there are more the larger the corpus is."""
    return _mixed(numbers // np.uint64(40), seed + 1) % (np.uint64(50) + numbers // np.uint64(400))


def _kinds(numbers: Numbers, seed: int) -> NDArray[np.int64]:
    return np.searchsorted([0.5, 0.68, 0.9], _chance(numbers, seed + 2), side="right")


def _titles(numbers: Numbers, seed: int) -> NDArray[np.object_]:
    """Two names for a person, one or two for other things; some carry what tells them from others of that name."""
    kinds = _kinds(numbers, seed)
    first, last = _name_ranks(_chance(numbers, seed + 3), 2.5, 400), _name_ranks(_chance(numbers, seed + 4), 1.5, 3000)
    lasts = _strings(last, _name)
    double = (kinds == 0) | (_chance(numbers, seed + 6) < 0.6)
    lasts[double] = _strings(first, _name)[double] + " " + lasts[double]
    told = _chance(numbers, seed + 7)
    for place in np.flatnonzero(told < 0.12):
        kind, year = KINDS[kinds[place]], 1800 + int(told[place] * 1700)
        lasts[place] += f" ({year} {WORKS[year % len(WORKS)]})" if kind == "work" else f" (born {year})"
    return lasts


def _free_names(dice: np.random.Generator, count: int, seed: int) -> NDArray[np.object_]:
    """Names that need be no titles: each is as often there as its number is small."""
    return _titles(np.uint64(1 << 40) + _name_ranks(dice.random(count), 1.25, 300, 1e18), seed)


def _place_names(dice: np.random.Generator, count: int) -> NDArray[np.object_]:
    return _strings(_name_ranks(dice.random(count), 1.4, 200) + np.uint64(90), _name)


def _name_ranks(chances: Floats, exponent: float, flat: float, most: float = 1e9) -> Numbers:
    """Ranks by the law of Zipf and Mandelbrot, flat at first and without end: new ones never cease to come."""
    return np.minimum(flat * ((1.0 - chances) ** (-1.0 / (exponent - 1.0)) - 1.0), most).astype(np.uint64)


def _name(rank: int) -> str:
    return (_syllables(rank + 91) + "nrlskdtm"[rank % 8]).capitalize()


# Words


def word_ranks(chances: Floats) -> Numbers:
    """Ranks of words by `LAW`."""
    return np.exp(np.interp(chances, *_RANKS)).astype(np.uint64)


def _law() -> tuple[Floats, Floats]:
    """Sums of shares up to a rank, and the logarithm of that rank."""
    edges = np.unique(np.concatenate([np.arange(1, 65), np.geomspace(64, LARGEST, 400).round()]))
    ranks, shares = np.log([rank for rank, _ in LAW]), np.log([share for _, share in LAW])
    middles = (np.log(edges[:-1]) + np.log(edges[1:])) / 2
    middles[:63] = np.log(edges[:63])
    beyond = np.maximum(0.0, middles - ranks[-1])
    mass = np.exp(np.interp(middles, ranks, shares) - TAIL * beyond) * np.diff(edges)
    sums = np.concatenate([[0.0], np.cumsum(mass)])
    return sums / sums[-1], np.log(edges)


_RANKS = _law()


def _word(rank: int) -> str:
    if rank <= len(WORDS):
        return WORDS[rank - 1]
    return _syllables(rank - len(WORDS) + 60) + ENDINGS[rank % len(ENDINGS)]


def _syllables(number: int) -> str:
    """A number as syllables; the rarer a word, the longer."""
    parts = []
    while number:
        number, rest = divmod(number - 1, len(SYLLABLES))
        parts.append(SYLLABLES[rest])
    return "".join(parts)


def _strings(ranks: Numbers, spell: Callable[[int], str]) -> NDArray[np.object_]:
    """The spelling of each rank."""
    found = _common(spell)[np.minimum(ranks, np.uint64(SPELLED - 1))]
    for place in np.flatnonzero(ranks >= SPELLED).tolist():
        found[place] = spell(int(ranks[place]))
    return found


@cache
def _common(spell: Callable[[int], str]) -> NDArray[np.object_]:
    return np.array([spell(rank) for rank in range(SPELLED)], dtype=object)


def _mixed(values: Numbers, salt: int) -> Numbers:
    """SplitMix64: numbers that look drawn, the same for the same values."""
    with np.errstate(over="ignore"):
        mixed = (values + np.uint64(salt + 1) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def _chance(values: Numbers, salt: int) -> Floats:
    return (_mixed(values, salt) >> np.uint64(11)).astype(np.float64) / float(1 << 53)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first document")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write_jsonl(options.out, options.documents, options.seed, options.first)


if __name__ == "__main__":
    main()
