"""Names as they are compared, what may be a name in a text, and what kind of thing a name means."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from ragways.core.types import content_hash

_SOLID = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1780-\u17ff\u1000-\u109f"
"""Scripts that write no spaces between words: each sign is a token, so that names are found inside a run."""

TOKEN = re.compile(
    rf"(?:[^\W\d_{_SOLID}]\. ?){{2,}}(?=[^\W_]|$|\W)"  # J. R. R., U.S.
    rf"|[{_SOLID}]"
    rf"|[^\W_{_SOLID}]+(?:['’][^\W_{_SOLID}]+)*"
)
_ARTICLES = frozenset({"the", "a", "an"})
_ENDING = re.compile(r"\s*\(([^()]{1,80})\)\s*$")


@lru_cache(maxsize=200_000)
def folded(token: str) -> str:
    """One token as it is compared: `Tamsett's`, `TAMSETT` and `Tämsett` are one."""
    if not token.isascii():
        token = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c))
    token = token.casefold()
    for ending in ("'s", "’s"):
        token = token.removesuffix(ending)
    return token.replace("'", "").replace("’", "").replace(".", "").replace(" ", "")


def tokens(text: str) -> list[str]:
    """The tokens of a name as it is compared."""
    return [folded(match) for match in TOKEN.findall(text)]


@lru_cache(maxsize=200_000)
def fold(name: str) -> str:
    """A name as it is compared; two names are the same if they fold to the same text."""
    words = tokens(name)
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words)


def hash_of(name: str) -> int:
    """The number of a folded name or a predicate: signed, as SQLite stores it."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


def veto_hash(name: str, other: str) -> str:
    """The key of a correction by which these two are never one, whichever way round they are given."""
    one, two = fold(name), fold(other)
    if one == two:
        one, two = name.strip(), other.strip()
    return content_hash(*sorted((one, two)))


def split_title(title: str) -> tuple[str, str]:
    """`Ilsabet Corran (ship)` → `Ilsabet Corran`, `ship`."""
    match = _ENDING.search(title) if "(" in title else None
    if match is None or match.start() == 0:
        return title.strip(), ""
    return title[: match.start()].strip(), match[1].strip()


_PART = re.compile(r"\b(?:season|series|episode|part|chapter|volume|soundtrack|disambiguation|discography|book) ?\d*$")


def plain_name(title: str) -> str:
    """`Ilsabet Corran (ship)` → `Ilsabet Corran`; nothing for a title without an ending, or a part: `X (season 7)`."""
    base, ending = split_title(title)
    return base if ending and not _PART.search(ending.casefold()) else ""


def letters_of(name: str) -> str:
    """First letters of a name's capital words, as acronyms are made: `The World Health Organization` → `WHO`."""
    words = re.findall(r"[^\W_]+", name.removeprefix("The "))
    return "".join(word[0] for word in words if word[0].isupper())


_STOP = """
a about above after again against all also although am among an and another any are around as at be became because
been before being below between both but by came can could did do does doing down during each either else even ever
every few first for former from further given had has have having he her here hers herself him himself his how however
i if in including indeed instead into is it its itself just last late later less like made many may me meanwhile might
more moreover most much must my near neither never nevertheless new next no nor not now of off often on once one only
onto or other others otherwise our out over own part per perhaps rather same second see several shall she should since
so some somewhat soon still such than that the their them themselves then there therefore these they third this those
though three through throughout thus to today together too toward towards two under until up upon us use used usually
very was we well were what when where whereas whether which while who whom whose why will with within without would
yes yet you your mr mrs ms according additionally currently despite due early eventually finally following furthermore
four five six seven eight nine ten generally initially located notable note originally previously prior recently
similarly sometimes subsequently unlike jan feb mar apr jun jul aug sep sept oct nov dec january february march april
june july august september october november december monday tuesday wednesday thursday friday saturday sunday
"""
STOP = frozenset(_STOP.split())
_WORD = re.compile(r"[^\W\d_]+")
_INSIDE = re.compile(r"(?<=[a-z,] )[^\W\d_]+")
"""Words behind a small letter or a comma: a capital there is meant, while one that begins a line says nothing."""
_MEANT = re.compile(r"\b(?:the|of|in|at|by|for|to|with|from|and|or|an?|as|on) ([^\W\d_]+ [^\W\d_]+)")
"""Two words behind a small function word: with capitals there they are meant as a name."""
_ENDINGS = ("ies", "es", "s", "ied", "ed", "ing")


@dataclass(frozen=True, slots=True)
class WordUse:
    """The words of one text: those written small, those with a capital inside a sentence, and pairs of words
    that are meant as a name.
    """

    small: list[str]
    large: list[str]
    meant: frozenset[str]

    @classmethod
    def of(cls, text: str) -> WordUse:
        return cls(
            [word.casefold() for word in _WORD.findall(text) if not word[0].isupper()],
            [word.casefold() for word in _INSIDE.findall(text) if word[0].isupper()],
            frozenset(pair.casefold() for pair in _MEANT.findall(text) if pair.istitle()),
        )


class WordCounts:
    """How often each word of some texts is written small, and how often with a capital inside a sentence."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._small: Counter[str] = Counter()
        self._large: Counter[str] = Counter()
        self._meant: set[str] = set()
        for text in texts:
            use = WordUse.of(text)
            self._small.update(use.small)
            self._large.update(use.large)
            self._meant |= use.meant
        self._stems = {stem_of(word) for word in self._small} - {""}

    def counts(self, word: str) -> tuple[int, int]:
        """How often a word is written small, and how often large inside a sentence."""
        return self._small.get(word, 0), self._large.get(word, 0)

    def has_stem(self, stem: str) -> bool:
        """Whether a word that is written small has this stem."""
        return stem in self._stems

    def is_meant(self, pair: str) -> bool:
        """Whether two words stand with capitals inside a sentence."""
        return pair in self._meant

    def common(self, word: str) -> bool:
        """Whether a word is one of the language rather than a name: the corpus writes it small at least as often."""
        word = word.casefold()
        return word in STOP or is_common(*self.counts(word))

    def is_name(self, words: Sequence[str]) -> bool:
        """Whether several words with capitals are a name: one of them is, or they stand so inside a sentence.

        `Nausea Vomiting`, lines of a list that run on, are common words that no sentence writes so.
        """
        # Pairs are many: they are looked up only where the words do not decide.
        return not all(map(self.opener, words)) or self.is_meant(" ".join(words[:2]).casefold())

    def opener(self, word: str) -> bool:
        """Whether a word that begins a sentence need not be a name: it is common, or so are other forms of it and
        none has its capital inside a sentence (`Specifies`, where the corpus says `specify`).
        """
        word = word.casefold()
        if word in STOP:
            return True
        small, large = self.counts(word)
        if large or is_common(small, large):
            return is_common(small, large)
        return self.has_stem(_stem(word)) or (word.endswith("ly") and len(word) > len("Italy"))


def is_common(small: int, large: int) -> bool:
    """Whether a word that is written so often small, and so often large, is one of the language."""
    return small >= max(1, large)


def stem_of(word: str) -> str:
    """The stem by which other forms of a word are known; nothing where it is too short to tell."""
    stem = _stem(word)
    return stem if len(stem) > 2 else ""


def _stem(word: str) -> str:
    """A word without its usual endings: forms of one verb meet, `specifies` and `specify`, `printed` and `print`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word[: -len(ending)]
            break
    return word.removesuffix("y").removesuffix("e")


def forms_of(stem: str) -> list[str]:
    """All words that may have a stem."""
    return [f"{stem}{rest}" for rest in _RESTS]


_RESTS = sorted({f"{e}{y}{ending}" for e in ("", "e") for y in ("", "y") for ending in ("", *_ENDINGS)})
"""What `_stem` may have taken off."""


_LONGEST = 12  # words of a name in a question


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A name found in a text, and the entities that are called so, own names before aliases."""

    start: int
    end: int
    entities: tuple[str, ...]


def name_spans(words: Sequence[str]) -> list[tuple[int, int, list[str]]]:
    """What may be a name among words: first word, word behind it, and the forms it may have; the longest first from
    each word. None begins or ends with a small stop word: `the country` is no name even where `Country` is one.
    """
    compared = [folded(word) for word in words]
    return [
        (i, j, _forms(compared[i:j]))
        for i, word in enumerate(words)
        if word not in STOP
        for j in range(min(len(words), i + _LONGEST), i, -1)
        if words[j - 1] not in STOP
    ]


def _forms(words: list[str]) -> list[str]:
    """Words as names are compared (`fold`, of words that are folded already), and their singular."""
    form = " ".join(words[1:] if len(words) > 1 and words[0] in _ARTICLES else words)
    return [form, form[:-1]] if len(form) > 4 and form.endswith("s") else [form]


# What kind of thing a name means: by the words in it and around it, one table of cues a kind. A cue is a guess. Guesses
# about a name are gathered over the corpus (`decided`), and where they differ there is none: a wrong type is worse than
# no type.

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
        "professor governor senator minister president monk nun mayor editor captain character judoka hurdler sprinter "
        "bodybuilder golfer gymnast bassist vocalist lyricist conductor violinist cartographer geologist botanist "
        "zoologist astronomer linguist sociologist psychologist anthropologist archaeologist diplomat statesman banker "
        "columnist critic essayist playwright dramatist illustrator animator filmmaker archbishop cardinal "
        "abbot chief earl baron baroness countess marquess lord knight commander colonel lieutenant sergeant pilot "
        "sailor merchant industrialist businesswoman philanthropist lawman outlaw criminal rower fencer referee "
        "manager striker midfielder defender goalkeeper quarterback pitcher catcher programmer developer inventor"
    ),
    "place": (
        "place location city town village hamlet country nation state county river lake mountain island municipality "
        "district region province capital commune suburb neighbourhood neighborhood township settlement peninsula bay "
        "sea ocean valley desert park road street highway bridge station airport building castle palace church "
        "cathedral stadium harbour port canal glacier volcano peak hill forest continent territory borough "
        "census-designated "
        "community locality parish museum house tower dam reservoir creek stream lighthouse geography area tributary "
        "garden cemetery square beach coast cave canyon pass plateau ridge hospital prison mosque temple synagogue "
        "monastery abbey shrine chapel theatre theater arena hotel mansion zoo farm mine archipelago atoll islet "
        "strait gulf lagoon waterfall constituency voivodeship prefecture oblast canton kingdom empire republic"
    ),
    "organization": (
        "organization organisation company corporation firm band group university college school club team party "
        "association agency institute society label bank airline brand union league ministry department council "
        "manufacturer publisher retailer charity foundation army regiment orchestra choir guild diocese archdiocese "
        "newspaper magazine network franchise startup nonprofit squadron brigade battalion cooperative supermarket "
        "chain subsidiary conglomerate bureau commission committee federation think-tank parliament legislature "
        "duo trio quartet ensemble troupe"
    ),
    "work": (
        "work film movie album song single novel book series play painting game opera musical poem "
        "ep sitcom episode show documentary symphony novella comic manga anime program programme "
        "record video sculpture map atlas memoir biography autobiography ballad comedy thriller drama miniseries "
        "telenovela mixtape soundtrack trilogy anthology essay treatise manuscript fresco mural statue "
        "videogame screenplay remake sequel prequel hymn anthem sonata concerto ballet"
    ),
    "vehicle": "vehicle ship vessel boat aircraft locomotive submarine steamer schooner car truck spacecraft",
    "event": "event war battle siege election tournament festival competition cup championship storm gale eruption "
    "strike earthquake treaty revolution rebellion season conference race ceremony flood fire",
    "species": "species genus plant bird fish animal insect moth beetle butterfly mammal tree flower fungus",
    "term": "term concept theory disease disorder syndrome symptom method technique process principle doctrine "
    "discipline branch mineral compound element protein enzyme gene drug medication language dialect algorithm "
    "function class parameter command module package library framework protocol dish cuisine sport",
    "date": "date time year",
    "quantity": "quantity number amount money",
}
COARSE = {word: kind for kind, words in _WORDS.items() for word in words.split()}

_IS = re.compile(
    r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+([^,.;:()\n]{2,120}?)"
    r"(?=[,.;:()\n]|\s(?:of|in|on|at|by|from|who|whose|which|that|for|with|located|and|or|to|based|born|made|written|"
    r"directed|released|published|produced|between|known|situated|near|as|during)\b|$)"
)


@lru_cache(maxsize=10_000)
def coarse(type: str) -> str:
    """The kind that a type belongs to, or nothing where it is not known: unknown types fit any other."""
    for word in reversed(type.casefold().replace("/", " ").split()):
        found = COARSE.get(word) or COARSE.get(word.removesuffix("s"))
        if found:
            return found
    return ""


def type_of_sentence(sentence: str) -> str:
    """`Brand was a British actor and writer.` → `actor`; nothing where the word is not known as a type."""
    match = _IS.search(sentence[:400])
    if match is None:
        return ""
    words = match[1].split()
    return words[-1].casefold() if words and coarse(words[-1]) else ""


_LAST_WORDS = {
    "organization": "inc inc. ltd ltd. llc corp corp. co. gmbh plc corporation company university college institute "
    "school academy bank party records recordings association society council committee ministry department agency "
    "foundation orchestra army navy airlines airways studios pictures entertainment press productions league "
    "federation union club f.c. fc a.f.c. cf police bureau commission congress parliament senate assembly court "
    "group holdings industries motors laboratories times news magazine partners ventures technologies systems "
    "organization organisation authority trust guild brigade regiment battalion squadron hospital museum",
    "place": "river county lake mountain mountains island islands bay city valley street road avenue bridge airport "
    "station park province district falls ocean sea peninsula square highway township village town hill hills "
    "desert forest canyon creek beach harbor harbour gulf strait region prefecture oblast boulevard coast plateau "
    "stadium arena cathedral castle palace cemetery",
    "event": "war olympics championship championships cup festival revolution earthquake election tournament "
    "massacre uprising rebellion invasion siege grand-prix marathon hurricane",
    "work": "ep soundtrack trilogy symphony",
}
_FIRST_WORDS = {
    "person": "mr. mrs. ms. dr. prof. rev. sir lady king queen prince princess president emperor empress pope captain "
    "capt. senator sen. governor gov. general gen. colonel col. lieutenant lt. sergeant sgt. judge justice bishop "
    "archbishop cardinal mayor professor saint",
    "place": "lake mount mt. fort cape port gulf isle river county",
    "event": "battle siege treaty operation hurricane",
    "organization": "university ministry department bank institute church",
}
_GIVEN = """
aaron adam alan albert alexander alfred alice amanda amy andrea andrew angela ann anna anne anthony antonio arthur
barbara benjamin bernard betty bill bob brandon brian bruce carl carlos carol caroline catherine charles chris
christian christina christine christopher claire claude daniel david deborah dennis diana donald dorothy douglas
edgar edward eleanor elizabeth ellen emily emma eric ernest eugene eva evelyn fernando francis francisco frank fred
frederick gary geoffrey george gerald giovanni giuseppe gordon gregory hannah hans harold harry heather heinrich helen
henri henry herbert howard hugh ian isaac jack jacob jacques james jane janet jason jean jeff jeffrey jennifer jeremy
jerry jesse jessica jim joan joe john jonathan jose joseph joshua josé juan judith julia julie karen karl katherine
kathleen keith kelly kenneth kevin kim larry laura lawrence leonard linda lisa louis louise lucy luis manuel marc
margaret maria marie mario mark martha martin mary matthew max melissa michael michelle miguel mike mohammed muhammad
nancy nathan nicholas nicole oliver oscar patricia patrick paul pedro peter philip philippe pierre rachel ralph
raymond rebecca richard robert roger ronald rose roy russell ruth ryan sam samuel sandra sarah scott sean sharon
simon sophie stephen steve steven stuart susan thomas tim timothy tom tony victor vincent vladimir walter warren
wayne wilhelm william
"""
_GIVEN_NAMES = frozenset(_GIVEN.split())
_BY_LAST = {word: kind for kind, words in _LAST_WORDS.items() for word in words.split()}
_BY_FIRST = {word: kind for kind, words in _FIRST_WORDS.items() for word in words.split()}
_INITIALS = re.compile(r"(?![NSEW]\. \w+$)(?:[^\W\d_]+ )?(?:[^\W\d_]\. ?)+[^\W\d_][\w'’-]+$")

_PEOPLE = r"wife|husband|son|daughter|father|mother|brother|sister|widow|uncle|aunt|nephew|niece|cousin"
_WORKS = "film movie album song single novel sitcom miniseries musical opera"
_BEFORE = (
    ("person", re.compile(rf"\b(?:married|(?:{_PEOPLE})(?:,| of)?|starring|(?:directed|written|composed) by) $")),
    ("place", re.compile(r"\b(?:born|died|lives|lived|located|situated|headquartered|buried|raised) (?:in|at|near) $")),
    ("place", re.compile(r"\b(?:city|town|village|state|county|province|district|island|capital|region|port) of $")),
    ("work", re.compile(rf"\b(?:{_WORKS.replace(' ', '|')})s?,? [\"“'`]*$")),
    ("organization", re.compile(r"\b(?:company|band|airline|newspaper|subsidiary of|acquired by|employed by) $")),
)
_LAST_OF_CUES = frozenset(
    f"{_PEOPLE.replace('|', ' ')} married starring of by in at near company band airline newspaper {_WORKS} "
    f"{_WORKS.replace(' ', 's ')}s".split()
)
"""What cues before a name end with: to look for one of these words first takes less time than to look for all cues."""
_SIGNS = re.compile(r"\W")
_AFTER = (
    ("person", re.compile(rf"(?: \((?:born|b\.)|, born| was born|['’]s (?:{_PEOPLE})\b| died (?:in|on|at)\b)")),
    ("person", re.compile(r" \((?:[^()]{0,40}; ?)?\d{1,2} [A-Z][a-z]+ \d{4} ?[-–]|(?: (?:himself|herself)\b)")),
    ("place", re.compile(r", (?:Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Florida|Georgia|"
                         r"Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maryland|Massachusetts|Michigan|Minnesota|"
                         r"Missouri|Montana|Nebraska|Nevada|New (?:Jersey|Mexico|York)|(?:North|South) [CD]a\w+|Ohio|"
                         r"Oklahoma|Oregon|Pennsylvania|Tennessee|Texas|Utah|Virginia|Washington|Wisconsin)\b")),
)  # fmt: skip
_WHO = re.compile(
    r"(?:, (?:an?|the) | (?:is|was|are|were) (?:an?|the) )((?:[\w'’-]+ ){0,5}?)([a-z-]+)"
    r"(?=[,.;)]| (?:of|in|on|at|by|from|who|which|that|for|with|and|born|based|located|known|directed|released)\b)"
)
_FIRST_OF_CUES = (", ", "'s", "’s", " (", " is ", " was ", " are ", " were ", " died ", " himself", " herself")
"""What cues behind a name begin with, likewise."""
_OF_BOX = (
    ("person", frozenset({"born", "birth_date", "birth_place", "death_date", "spouse", "occupation", "alma_mater"})),
    ("work", frozenset({"director", "starring", "author", "isbn", "screenplay", "cinematography", "producer"})),
    ("place", frozenset({"population", "population_total", "elevation", "area_km2", "coordinates", "country"})),
    ("organization", frozenset({"founded", "headquarters", "founder", "industry", "num_employees", "revenue"})),
)
"""Fields that only one kind of thing has."""


_ROLES = (
    "actor actress singer writer author poet novelist politician director producer screenwriter composer musician "
    "songwriter rapper guitarist drummer physicist chemist mathematician philosopher historian journalist economist "
    "architect footballer coach comedian painter king queen president senator governor mayor bishop"
)
_BEFORE_NAMES = frozenset(_ROLES.split())


def type_of_box(kinds: Sequence[str], boxes: Iterable[tuple[int, int, str, tuple[tuple[str, str], ...]]]) -> str:
    """What a box says it describes, or its fields do."""
    for kind in kinds:
        word = kind.split()[-1].casefold()
        if coarse(word):
            return word
    keys = {key.casefold().replace(" ", "_") for *_, fields in boxes for key, _ in fields}
    return next((kind for kind, fields in _OF_BOX if len(keys & fields) > 1), "")


_FIELDS = {
    "person": "director producer writer screenplay starring author composer spouse founder mayor president leader "
    "editor presenter creator designer architect coach manager parents children father mother successor predecessor",
    "place": "birth_place death_place location country city state headquarters capital county region hometown origin",
    "organization": "label publisher distributor employer network studio team club party parent_company alma_mater",
}
_BY_FIELD = {field: kind for kind, fields in _FIELDS.items() for field in fields.split()}


def kind_of_field(field: str) -> str:
    """What the value of a box's field is: a `director` is a person, a `birth_place` a place."""
    return _BY_FIELD.get(field, "")


def kind_of_name(name: str) -> str:
    """What a name itself tells: `Dr.`, `J. R. R.`, `River`, `Inc.`; nothing where it tells nothing."""
    words = name.split()
    if len(words) < 2:
        return ""
    first, last = words[0].casefold(), words[-1].casefold()
    if "," in name:
        return ""
    found = _BY_LAST.get(last, "")
    if "of" in words or "the" in words:
        return found or _BY_FIRST.get(first, "").replace("person", "")
    if found or first in _BY_FIRST:
        return found or _BY_FIRST[first]
    if len(words) > 4 or not words[-1][:1].isupper():
        return ""
    inside = {word.casefold() for word in words[1:-1]} & _BY_LAST.keys()
    return "person" if is_given(first) or (_INITIALS.match(name) and not inside) else ""


def is_given(word: str) -> bool:
    """Whether a word is a usual given name."""
    return word.casefold() in _GIVEN_NAMES


def kind_around(text: str, start: int, end: int) -> str:
    """What the words beside a name tell: `born in X`, `the film X`, `X, an American actor`."""
    before, after = text[max(0, start - 40) : start], text[end : end + 90]
    if after.startswith(_FIRST_OF_CUES):
        who = _WHO.match(after)
        if who is not None and (kind := COARSE.get(who[2], "")):
            return kind
        for kind, cue in _AFTER:
            if cue.match(after):
                return kind
    word = before.rstrip(" \"“'`,").rpartition(" ")[2]
    if (word if word.isalnum() else _SIGNS.split(word)[-1]) in _LAST_OF_CUES:
        for kind, cue in _BEFORE:
            if cue.search(before):
                return kind
    # `director John Smith` and `the film X`; a name of one word behind such a noun may be part of a longer one.
    if not before.endswith(" ") or " " not in text[start:end]:
        return ""
    word = before.rstrip(" \"“'`").rpartition(" ")[2].casefold()
    return COARSE.get(word, "") if word in _BEFORE_NAMES else ""


def decided(guesses: Mapping[str, int]) -> str:
    """The kind that nearly all guesses name; nothing where they differ or there are none."""
    if len(guesses) < 2:
        return next(iter(guesses), "")
    best = max(guesses, key=lambda kind: (guesses[kind], kind))
    return best if guesses[best] >= 0.75 * sum(guesses.values()) else ""


SPARE = tuple(f"kind {n}" for n in range(1, 6))
"""Kinds for types of a user's schema that are none of ours."""
_ADJECTIVES = frozenset(["adjective", "attribute", "demonym", "nationality", "quality"])
_NUMBER = re.compile(r"[~<>≈±+-]?\s?[$€£¥]?\s?\d[\d,.]*\s?(?:[%°$€£¥]|[a-zµ]{1,12}(?:\b|$)|\s)*")
_BESIDE = STOP | frozenset(["century", "centuries", "circa", "c", "ad", "bc", "ce", "bce", "mid", "late"])
_YEAR = re.compile(r"\d{3,4}s?\b|centur", re.IGNORECASE)
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:[ai]ble|ful|ical|ional|less|ous)|[A-Z][a-z]+(?:ese|ian|ish)")


def type_of_value(name: str) -> str:
    """The type of a date or a number, which join nothing, by how it is written; nothing where it is a name."""
    words = tokens(name)
    of_numbers = any(word[0].isdigit() for word in words) and all(
        word[0].isdigit() or word in _BESIDE for word in words
    )
    if of_numbers and _YEAR.search(name):
        return "date"
    return "quantity" if of_numbers or _NUMBER.fullmatch(name) or name in STOP else ""


def is_adjective(word: str) -> bool:
    """Whether a word that nobody calls a thing is an adjective, by its ending."""
    return _ADJECTIVE.fullmatch(word) is not None


def kinds_of_schema(types: Iterable[str]) -> dict[str, str]:
    """Kinds of a user's types, each its own as far as there are so many: two types are two things of one name."""
    found: dict[str, str] = {}
    spare = iter(SPARE)
    for type in types:
        kind = coarse(type)
        found[type] = kind if kind and kind not in found.values() else next(spare, kind)
    return found


def kind_by_model(type: str, own: Mapping[str, str]) -> str:
    """What kind of thing a model means by a type; `own` are kinds of the user's types."""
    return own.get(type) or ("quantity" if type in _ADJECTIVES else coarse(type))


def exclusive_kind(type: str) -> str:
    """Kinds that exclude each other. Places and organisations do not (a museum is both), and terms exclude nothing."""
    kind = coarse(type)
    return {"organization": "place", "term": ""}.get(kind, kind)
