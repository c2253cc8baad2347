"""Types of entities, and which of them exclude each other: a ship and a person of one name are two."""

from __future__ import annotations

import re

_WORDS = {
    "person": (
        "person people man woman actor actress singer writer author poet novelist politician king queen emperor "
        "empress prince princess duke duchess count bishop pope saint footballer player coach director artist "
        "painter sculptor "
        "composer musician songwriter rapper drummer guitarist pianist scientist physicist chemist biologist engineer "
        "mathematician philosopher historian journalist lawyer judge officer general admiral soldier cricketer boxer "
        "wrestler swimmer cyclist athlete skier jockey racer producer screenwriter cinematographer dancer model "
        "comedian presenter businessman entrepreneur explorer missionary priest theologian economist architect "
        "photographer designer astronaut activist nobleman ruler daughter son wife doctor physician surgeon teacher "
        "professor governor senator minister president monk nun mayor editor captain character"
    ),
    "place": (
        "place location city town village hamlet country nation state county river lake mountain island municipality "
        "district region province capital commune suburb neighbourhood neighborhood township settlement peninsula bay "
        "sea ocean valley desert park road street highway bridge station airport building castle palace church "
        "cathedral stadium harbour port canal glacier volcano peak hill forest continent territory borough "
        "census-designated "
        "community locality parish museum house tower dam reservoir creek stream lighthouse geography area"
    ),
    "organization": (
        "organization organisation company corporation firm band group university college school club team party "
        "association agency institute society label bank airline brand union league ministry department council "
        "manufacturer publisher retailer charity foundation broadcaster army regiment orchestra choir guild"
    ),
    "work": (
        "work film movie album song single novel book series play painting game opera musical poem "
        "ep soundtrack sitcom episode show documentary symphony novella comic manga anime program programme "
        "record video sculpture map atlas"
    ),
    "vehicle": "vehicle ship vessel boat aircraft locomotive submarine steamer schooner car truck spacecraft",
    "event": "event war battle siege election tournament festival competition cup championship storm gale eruption "
    "strike earthquake treaty revolution rebellion season conference race ceremony flood fire",
    "species": "species genus plant bird fish animal insect moth beetle butterfly mammal tree flower fungus",
    "date": "date time year",
    "quantity": "quantity number amount money",
}
COARSE = {word: kind for kind, words in _WORDS.items() for word in words.split()}

_IS = re.compile(
    r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+([^,.;:()\n]{2,120}?)"
    r"(?=[,.;:()\n]|\s(?:of|in|on|at|by|from|who|whose|which|that|for|with|located|and|or|to|based|born|made|written|"
    r"directed|released|published|produced|between|known|situated|near|as|during)\b|$)"
)


def coarse(type: str) -> str:
    """The kind that a type belongs to, or nothing where it is not known: unknown types fit any other."""
    for word in reversed(type.casefold().replace("/", " ").split()):
        found = COARSE.get(word) or COARSE.get(word.removesuffix("s"))
        if found:
            return found
    return ""


def type_of_sentence(sentence: str) -> str:
    """`Brand was a British actor and writer.` → `actor`."""
    match = _IS.search(sentence[:400])
    if match is None:
        return ""
    words = match[1].split()
    return words[-1].casefold() if words and words[-1].isalpha() else ""
