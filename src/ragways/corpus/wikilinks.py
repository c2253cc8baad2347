"""What stands between [[ and ]]: which article it leads to, or that it is a picture, a category or another wiki."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

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
    """What a dump says of its wiki: its own names of namespaces, and whether titles begin with a capital."""

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
