"""What the marks of wikitext stand for: links by their namespace, templates by an explicit table."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

from ragways.corpus.wiki.tree import Item, WikiNode, own_text, split

# What stands between [[ and ]]: which article it leads to, or that it is a picture, a category or another wiki

FILES = frozenset((
    "file", "image", "media", "datei", "bild", "fichier", "archivo", "imagen", "ficheiro", "imagem", "bestand",
    "afbeelding", "plik", "grafika", "immagine", "файл", "изображение", "fil", "tiedosto", "kuva", "soubor", "fájl",
    "kép", "fișier", "dosya", "slika", "datoteka", "berkas", "tập tin", "ファイル", "画像", "文件", "档案", "파일",
))  # fmt: skip
CATEGORIES = frozenset((
    "category", "kategorie", "catégorie", "categoría", "categoria", "categorie", "kategoria", "категория", "kategori",
    "luokka", "kategória", "kategorija", "thể loại", "категорія", "カテゴリ", "分类", "分類", "분류",
))  # fmt: skip
OTHERS = frozenset((
    "special", "talk", "user", "user talk", "wikipedia", "wikipedia talk", "project", "project talk", "file talk",
    "image talk", "mediawiki", "mediawiki talk", "template", "template talk", "help", "help talk", "category talk",
    "portal", "portal talk", "book", "draft", "module", "timedtext", "wp", "mw", "meta", "m", "wikt", "wiktionary",
    "b", "wikibooks", "n", "wikinews", "q", "wikiquote", "s", "wikisource", "v", "wikiversity", "voy", "wikivoyage",
    "species", "wikispecies", "commons", "c", "d", "wikidata", "foundation", "bugzilla", "phab", "phabricator", "doi",
    "imdbname", "imdbtitle", "benutzer", "diskussion", "vorlage", "hilfe", "spezial", "utilisateur", "discussion",
    "modèle", "aide", "usuario", "plantilla", "ayuda", "участник", "шаблон", "википедия", "rfc", "arxiv", "oeis",
))  # fmt: skip

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,7}){0,2}:\S")
_LANGUAGES = frozenset(("simple", "tokipona", "nds-nl", "be-x-old", "zh-min-nan"))
_BAD = re.compile(r"[\[\]{}<>\n]")

Role = Literal["article", "text", "file", "category", "language"]


@dataclass(frozen=True, slots=True)
class WikiSite:
    """Settings of a wiki, from its dump: its own names of namespaces, and whether titles begin with a capital."""

    files: frozenset[str] = FILES
    categories: frozenset[str] = CATEGORIES
    others: frozenset[str] = OTHERS
    capital: bool = True
    metadata: dict[str, str] = field(default_factory=dict)
    base: str = ""


def role(raw: str, site: WikiSite, *, piped: bool) -> tuple[Role, str]:
    """What a link is for, and its target: an article's title, a category's name, or nothing."""
    raw = raw.strip()
    shown = raw.startswith(":")
    raw = raw.lstrip(":").strip() if shown else raw
    prefix, colon, rest = raw.partition(":")
    name = " ".join(prefix.replace("_", " ").split()).casefold() if colon else ""
    if name in site.files:
        return ("text" if shown else "file"), ""
    if name in site.categories:
        return ("text", "") if shown else ("category", title_of(rest, site))
    if name in site.others:
        return "text", ""
    if colon and (_LANGUAGE.match(raw) or name in _LANGUAGES):
        return ("text" if shown or piped else "language"), ""
    target = title_of(raw, site)
    return ("article", target) if target and not target.startswith("/") else ("text", "")


def title_of(raw: str, site: WikiSite) -> str:
    """A title as MediaWiki writes it: no section, no underscores, a capital first."""
    raw = html.unescape(raw.split("#", 1)[0])
    if "%" in raw:
        raw = unquote(raw)
    if _BAD.search(raw):
        return ""
    title = " ".join(raw.replace("_", " ").split())[:255]
    return title[:1].upper() + title[1:] if site.capital else title


def pipe_trick(target: str) -> str:
    """`[[Mercury (planet)|]]` shows `Mercury`."""
    name = target.rpartition(":")[2]
    return re.sub(r"\s*\([^()]*\)$|,.*$", "", name).strip() or target


# Templates that stand for text; every other template is dropped

_BOXES = frozenset((
    "taxobox", "automatic taxobox", "speciesbox", "subspeciesbox", "chembox", "drugbox", "geobox", "starbox begin",
    "planetbox", "protein", "enzyme", "paleobox", "mycomorphbox", "ship infobox", "football club infobox",
))  # fmt: skip
_RANGES = {"to": " to ", "-": "–", "–": "–", "and": " and ", "or": " or ", "x": " × ", "×": " × ", "by": " by ",
           "+/-": " ± ", "to(-)": " to ", "to about": " to about "}  # fmt: skip
_NUMBER = re.compile(r"[\d.,/+\-−eE]+$")


@dataclass(frozen=True, slots=True)
class TemplateCall:
    """A template as it is used: its name and its arguments, each still a list of items."""

    name: str
    positional: list[list[Item]]
    named: dict[str, list[Item]]

    @property
    def is_infobox(self) -> bool:
        return "infobox" in self.name or self.name in _BOXES


def call_of(node: WikiNode) -> TemplateCall:
    head, *arguments = split(node.items, "|")
    name = " ".join(own_text(head).replace("_", " ").split()).casefold()
    positional: list[list[Item]] = []
    named: dict[str, list[Item]] = {}
    for argument in arguments:
        first = argument[0] if argument else ""
        if isinstance(first, str) and "=" in first:
            key, value = split(argument, "=", 1)
            named[own_text(key).strip()] = value
        else:
            positional.append(argument)
    for number in range(1, 10):  # {{lang|1=fr|2=mot}} is {{lang|fr|mot}}
        if number == len(positional) + 1 and str(number) in named:
            positional.append(named.pop(str(number)))
    return TemplateCall(name, positional, named)


def shown(name: str) -> int | None:
    """Which argument of the template is its text (from 0), for templates that only dress it up."""
    if name in _SHOWN:
        return _SHOWN[name]
    return 0 if name.startswith("lang-") else None


_SHOWN = dict.fromkeys((
    "nowrap", "nobr", "nobreak", "small", "smaller", "big", "larger", "resize", "nobold", "noitalic", "abbr", "tooltip",
    "sic", "not a typo", "as written", "visible anchor", "anchord", "vanchor", "mvar", "var", "code", "kbd", "samp",
    "mono", "tt", "center", "em", "strong", "bold", "italic", "nihongo2", "flag", "flagcountry", "flagu", "flagdeco",
    "sup", "smallcaps", "sc", "aut", "quote", "cquote", "blockquote", "bquote", "poemquote", "quotation",
    "quote box", "centered pull quote", "script", "linktext", "dfn", "gloss", "unicode",
    "polytonic", "nihongo", "ill", "interlanguage link", "url", "official website", "allow wrap", "longitem",
    "key press", "key", "math", "plainlist", "flatlist",
    "delink", "stack", "block indent",
), 0) | dict.fromkeys((
    "lang", "transl", "transliteration", "color", "font color", "colour", "fontcolor", "text color", "rtl-lang",
    "wikt-lang", "bg", "background color", "tlit", "langx", "native name", "native phrase", "hover title",
), 1)  # fmt: skip


def text_of(name: str, values: list[str], named: Mapping[str, str]) -> str:
    """The text of a template that computes something, or nothing."""
    words = _WORDS.get(name)
    if words is not None:
        return words
    make = _MADE.get(name)
    return make(values, named) if make else ""


def computes(name: str) -> bool:
    return name in _WORDS or name in _MADE


Made = Callable[[list[str], Mapping[str, str]], str]


def _convert(values: list[str], _: Mapping[str, str]) -> str:
    """5|km → 5 km, 5|to|10|km → 5 to 10 km, 5|ft|6|in → 5 ft 6 in."""
    if not values:
        return ""
    out, index = values[0], 1
    while index + 1 < len(values) and values[index] in _RANGES:
        out += _RANGES[values[index]] + values[index + 1]
        index += 2
    if index < len(values):
        out += " " + values[index]
    # In 5|ft|6|in the number is a second measure; in 5|km|mi|1 it is how to round.
    if index + 2 < len(values) and _NUMBER.match(values[index + 1]) and values[index] in ("ft", "lb", "st", "mi", "yd"):
        out += f" {values[index + 1]} {values[index + 2]}"
    return out


def _date(values: list[str], _: Mapping[str, str]) -> str:
    """1970|1|2 → 1970-01-02. A value that is no number is shown as it is."""
    values = [value for value in values if value]
    if not values:
        return ""
    if not values[0].isdecimal():
        return values[0]
    parts = [values[0]]
    for value in values[1:3]:
        if not value.isdecimal():
            break
        parts.append(value.zfill(2))
    return "-".join(parts)


def _marriage(values: list[str], _: Mapping[str, str]) -> str:
    if not values:
        return ""
    years = "–".join(value for value in values[1:3] if value)
    return f"{values[0]} ({years})" if years else values[0]


def _joined(separator: str) -> Made:
    return lambda values, _: separator.join(value for value in values if value)


def _ship(prefix: str) -> Made:
    return lambda values, _: f"{prefix} {values[0]}".strip() if values else ""


def _fraction(values: list[str], _: Mapping[str, str]) -> str:
    if len(values) == 3:
        return f"{values[0]} {values[1]}/{values[2]}"
    return "/".join(values) if len(values) == 2 else f"1/{values[0]}" if values else ""


def _before(prefix: str) -> Made:
    return lambda values, _: f"{prefix}{values[0]}" if values else ""


_WORDS = {
    "!": "|", "=": "=", "'": "'", "snd": " – ", "spaced ndash": " – ", "spnd": " – ", "ndash": "–", "mdash": "—",
    "–": "–", "—": "—", "dash": "–", "·": " · ", "•": " · ", "dot": " · ", "bullet": " · ", "middot": " · ",
    "nbsp": " ",
    "space": " ", "spaces": " ", "'s": "'s", "`": "`", "-": "", "pi": "π", "minus": "−", "plusminus": "±", "times": "×",
    "degree": "°", "yes": "Yes", "no": "No", "dagger": "†", "euro": "€", "pound": "£", "wj": "", "zwsp": "", "shy": "",
    "break": " ", "clear": "", "\\": "/", "nbhyph": "-", "hyphen": "-", "ellipsis": "…", "...": "…", "'\"": "'\"",
}  # fmt: skip

_MADE: dict[str, Made] = {
    **dict.fromkeys(("convert", "cvt", "convertrange"), _convert),
    **dict.fromkeys((
        "birth date", "birth date and age", "death date", "death date and age", "start date", "end date", "start-date",
        "start date and age", "film date", "birth year and age", "death year and age", "bda", "dda", "birth-date",
        "death-date", "birth-date and age", "death-date and age", "end-date", "dts", "date", "release date",
        "birth date and age2", "birth date2", "start and end dates", "end date and age", "dob", "birth year", "dtsh",
    ), _date),
    **dict.fromkeys(("ubl", "unbulleted list", "hlist", "flat list", "plain list", "bulleted list", "comma separated "
                     "entries", "collapsible list", "cslist", "ublist", "ordered list"), _joined(", ")),
    **dict.fromkeys(("gaps", "val", "num", "formatnum"), _joined("")),
    **dict.fromkeys(("frac", "fraction", "sfrac", "1/"), _fraction),
    **{name.lower(): _ship(name) for name in ("USS", "HMS", "RMS", "SS", "MV", "HMAS", "HMCS", "SMS", "MS", "USNS")},
    "ship": lambda values, _: " ".join(value for value in values[:2] if value),
    "marriage": _marriage,
    "circa": _before("c. "), "c.": _before("c. "), "ca.": _before("c. "), "as of": _before("As of "),
    "us$": _before("$"), "usd": _before("$"), "us dollar": _before("$"), "gbp": _before("£"), "eur": _before("€"),
    "inr": _before("₹"), "a$": _before("A$"), "c$": _before("C$"), "r": lambda *_: "", "sub": _joined(""),
    "floruit": _before("fl. "), "fl.": _before("fl. "), "reign": _joined("–"), "age": lambda *_: "",
    "height": lambda _, named: " ".join(f"{v} {k}" for k, v in named.items() if k in ("m", "cm", "ft", "in")),
    "chem": _joined(""), "chem2": _joined(""), "iso 639": _joined(""), "music": lambda *_: "",
    "medal": _joined(" "), "decade link": _joined(""), "century": lambda v, _: f"{v[0]}th century" if v else "",
}  # fmt: skip
