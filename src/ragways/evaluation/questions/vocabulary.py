"""Words for relations: how boxes, predicates and texts call them."""

from __future__ import annotations

OTHER_NAMES = {
    "born": "birth date", "date of birth": "birth date", "birthdate": "birth date", "birthplace": "birth place",
    "place of birth": "birth place", "died": "death date", "date of death": "death date", "deathplace": "death place",
    "place of death": "death place", "wife": "spouse", "husband": "spouse", "married": "spouse", "artist": "performer",
    "screenwriter": "writer", "music": "composer", "located": "location", "located in": "location",
    "place": "event place",
}  # fmt: skip

PEOPLE_WORDS = (
    "librettist engineer mediator secretary captain chairman chairwoman president mayor commander manager coach leader "
    "principal dean rector sculptor translator narrator conductor choreographer curator governor monarch ruler"
)
PEOPLE = frozenset(PEOPLE_WORDS.split())
PARTIES_WORDS = "patron employer successor predecessor sponsor manufacturer distributor"
PARTIES = frozenset(PARTIES_WORDS.split())
SKIPPED_WORDS = "name type status crew image caption website logo map coordinates signature title term years"
SKIPPED = frozenset(SKIPPED_WORDS.split())
AGENTS = {
    "directed": "director", "written": "writer", "composed": "composer", "produced": "producer", "built": "builder",
    "performed": "performer", "recorded": "performer", "designed": "designer", "constructed": "builder",
    "founded": "founder", "established": "founder", "created": "creator", "developed": "developer",
    "published": "publisher", "painted": "painter", "discovered": "discoverer", "invented": "inventor",
    "edited": "editor", "owned": "owner", "operated": "operator", "illustrated": "illustrator", "sung": "performer",
}  # fmt: skip
BY_WORK = {
    "song": "performer", "single": "performer", "album": "performer", "ep": "performer", "novel": "author",
    "book": "author", "poem": "author", "play": "author", "painting": "painter", "opera": "composer",
    "symphony": "composer", "novella": "author", "film": "director",
}  # fmt: skip
DATED_WORDS = (
    "founded established built completed opened released published launched commissioned decommissioned dissolved "
    "closed formed created designed signed abolished demolished destroyed elected appointed ordained consecrated "
    "crowned executed killed discovered introduced incorporated inaugurated installed lit sunk wrecked scrapped "
    "finished rebuilt restored automated electrified premiered recorded filmed written composed held constructed "
    "chartered renamed disbanded baptised buried invented"
)
DATED = frozenset(DATED_WORDS.split())
PLACED_WORDS = (
    "based located situated buried educated headquartered held filmed shot raised founded built baptised crowned "
    "signed fought killed assassinated interred printed premiered launched stationed established"
)
PLACED = frozenset(PLACED_WORDS.split())

OTHER_CUES = {
    "educated": ("stud", "graduat", "attend", "school", "universit", "college", "degree"),
    "raised": ("grew", "brought up"),
    "buried": ("interr", "cemetery", "grave", "tomb"),
    "interred": ("bur", "cemetery", "grave", "tomb"),
    "based": ("headquarter", "hub", "home", "office", "from", "in"),
    "headquartered": ("based", "office", "in"),
    "nickname": ("nick", "known", "call", "dub", "alias"),
    "emblem": ("symbol", "arms", "flag", "badge"),
    "market day": ("market",),
    "dialling code": ("dial",),
    "mediator": ("broker", "negotiat", "arbit"),
}
"""Other words with which a text may say it."""
_TELLING_WORDS = (
    "director writer author composer producer designer architect founder creator developer painter discoverer inventor "
    "editor illustrator spouse father mother headquarters nickname motto emblem patron currency mediator "
    "librettist pages acts anthem mascot"
)
TELLING = frozenset(_TELLING_WORDS.split()) | {
    "birth date", "birth place", "death date", "death place", "dialling code", "market day", "educated place",
    "raised place", "buried place", "interred place",
}  # fmt: skip
"""Relations that no text states without one of their cues. A height may be told by `tall`, an owner by `of`."""
