"""Languages: which one a text is in, and where the words of a script without spaces are.

A text's language is known by its script, and among languages that share one by the small words that only they have. It
is good enough to choose a stemmer and to describe an index; a few words may not be enough.

Chinese, Japanese, Thai, Lao, Khmer and Burmese put no space between words, and Korean puts it between phrases. Their
words are taken to be all pairs of neighbouring characters, and single Chinese characters. Whatever a question shares
with a text, it shares its pairs, so that no dictionary is needed and no word is unknown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from ragways.core.text import lazy_regex

SAMPLE = 2000
"""Characters of a text that are looked at for its language."""

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uffa1-\uffdc"
_THAI, _LAO = "\u0e01-\u0e2e\u0e30-\u0e3a\u0e40-\u0e4e", "\u0e81-\u0ece\u0edc-\u0edf"
_BURMESE, _KHMER = "\u1000-\u103f\u1050-\u108f\u109a-\u109d", "\u1780-\u17d3\u17d7\u17dc\u17dd"
_INDIC = "\u0900-\u0963\u0966-\u0dff"

_UNSPACED = lazy_regex(f"[{_HAN}{_KANA}{_HANGUL}{_THAI}{_LAO}{_BURMESE}{_KHMER}]+")
_MARKED = lazy_regex(f"[{_INDIC}]+")
"""Words of scripts whose vowel signs are no letters: other ways to find words would cut there."""
_LONGEST = 64
_WORD = lazy_regex(r"\w+")
_PLAIN = "".join(sign.lower() if sign.isalnum() or sign == "_" else " " for sign in map(chr, range(128)))
"""Each ASCII sign as it is matched: what is no part of a word is a space."""
_CLUSTER = lazy_regex(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?.(?:[\u0300-\u036f\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u17dd\u3099\u309a]{1,8})?",
    re.DOTALL,
)


def unspaced_words(text: str) -> tuple[str, list[str]]:
    """A text without what is written in scripts that `\\w+` cannot cut into words, and the words of that, in order."""
    if text.isascii() or not (_UNSPACED.search(text) or _MARKED.search(text)):
        return text, []
    found = [pair for run in _UNSPACED.findall(text) for pair in _pairs(run)]
    found += [unicodedata.normalize("NFKC", word[:_LONGEST]) for word in _MARKED.findall(text)]
    return _MARKED.sub(" ", _UNSPACED.sub(" ", text)), found


def _pairs(run: str) -> Iterator[str]:
    """All neighbours together, and each Chinese character by itself, because many are words."""
    signs = _CLUSTER.findall(unicodedata.normalize("NFKC", run))
    for one, other in pairwise(signs):
        yield one + other
    yield from signs if len(signs) == 1 else _BY_SCRIPT["zh"].findall(run)


def apart(text: str) -> str:
    """A text with each character of a script without spaces as a word by itself, as answers are compared."""
    return text if text.isascii() else _UNSPACED.sub(lambda run: f" {' '.join(run.group())} ", text)


def folded_words(text: str) -> list[str]:
    """The words of a text for matching, casefolded: what stands between spaces and signs, or pairs of characters."""
    rest, more = unspaced_words(text)
    return _small_letters(rest) + more


def _small_letters(text: str) -> list[str]:
    """What `\\w+` finds in a text, casefolded; of plain letters, in a fifth of the time that it takes."""
    return text.translate(_PLAIN).split() if text.isascii() else _WORD.findall(text.casefold())


# Where sentences end

_CLOSING = "」』）】》〉”’\"')\\]"
_STOPS = lazy_regex(
    f"(?:[。｡！？؟۔।॥။។៕።]|(?<=[{_HAN}{_KANA}{_HANGUL}])[!?](?=[{_HAN}{_KANA}{_HANGUL}])|(?<![0-9０-９])．)"
    f"[。｡！？!?．…]*[{_CLOSING}]*"
    # Thai and Lao have no full stop: a space between two of their letters is the border of a sentence or clause.
    f"|(?<=[{_THAI}{_LAO}]) +(?=[{_THAI}{_LAO}])"
)
_CLAUSE = 30
"""Characters that a sentence between spaces has at least."""


def full_stops(text: str) -> list[int]:
    """Where sentences end whose script does not put a space after the sign, or has no sign: offsets, the end last."""
    ends: list[int] = []
    for stop in () if text.isascii() else _STOPS.finditer(text):
        if not stop.group().isspace() or stop.end() - (ends[-1] if ends else 0) > _CLAUSE:
            ends.append(stop.end())
    return ends if ends[-1:] == [len(text)] else [*ends, len(text)]


# Which language

NAMES = {
    "ar": "Arabic", "bn": "Bengali", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "km": "Khmer", "ko": "Korean", "lo": "Lao", "my": "Burmese",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sv": "Swedish", "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
"""The languages that can be recognised, by their ISO 639-1 codes."""

_SCRIPTS = {
    "zh": _HAN, "ja": _KANA, "ko": _HANGUL, "th": _THAI, "lo": _LAO, "my": _BURMESE, "km": _KHMER,
    "ru": "\u0400-\u04ff", "el": "\u0370-\u03ff\u1f00-\u1fff", "ar": "\u0620-\u064a\u066e-\u06d3",
    "he": "\u05d0-\u05ea", "hi": "\u0900-\u0963", "bn": "\u0981-\u09e3", "ta": "\u0b82-\u0bd7",
}  # fmt: skip
_BY_SCRIPT = {code: lazy_regex(f"[{signs}]") for code, signs in _SCRIPTS.items()}
_DENSE = frozenset({"zh", "ja", "ko"})
"""A character of these says as much as about three letters."""
_SCRIPT_SHARE = 0.25
"""Of a text's letters. Documentation is full of code, which is in Latin letters whatever the language."""
_LETTER = lazy_regex(r"[^\W\d_]")
_PERSIAN, _UKRAINIAN = lazy_regex("[\u067e\u0686\u0698\u06af\u06a9\u06cc]"), lazy_regex("[іїєґІЇЄҐ]")

# Left out: words of other languages that are English words too, single letters, and parts of names (de, la).
_SMALL_WORDS = {
    "en": "the of and to in is was for on that by with as it from at are be this an which or his her were has "
    "have had not but they he she you we who what when where how why did does do can its their been will "
    "would there if into than then these those about your my our any all more also such only may should "
    "must",
    "de": "der die das und ist nicht ein eine einen einem einer eines mit sich auf für von zu im den dem des "
    "auch als wird werden wurde sind bei oder aus wie wenn nach durch über zum zur dass kann können sie "
    "wir ich es wann welche welcher welches welchen warum wer wo haben sein diese dieser dieses noch nur "
    "um sollte",
    "nl": "het een van voor met niet zijn dat op te aan ook wordt worden werd deze dit bij uit maar naar kan om "
    "hij zij wat hoe waarom wanneer welke je jij ze hebben heeft wie waar dan nog wel onder tot als er en",
    "fr": "le les des et est une un dans que qui pas sur avec par ne se ce cette ces il elle nous vous au aux "
    "du sont été être ou où comme mais plus quel quelle quels comment pourquoi quand leur leurs sa ses",
    "es": "el los las una un que en por con para del se es lo al como su sus más pero este esta estos fue ser "
    "cuál cuáles qué cómo cuándo dónde quién cuando donde hay sobre entre también muy",
    "pt": "os uma um que em por para não na nos nas da dos das se é ao como mais mas foi são ser pelo pela seu "
    "sua você isso este esta também qual quais quando onde quem há até sobre entre",
    "it": "il lo gli le di che è un una con non del della dei delle degli nel nella sono da al alla si anche ma "
    "più questo questa quale quali quando dove chi cosa perché essere stato ed",
    "ro": "și este în cu pe un care din pentru nu sunt mai sau au fost ca să se ce cum când unde acest această "
    "prin după fi lui cel cea ale ai al",
    "da": "og er det en et af til ikke med den som på der har var han hun fra kan skal blev også eller hvis "
    "hvad hvordan hvor hvornår hvem hvilken vi jeg være bliver efter",
    "no": "og er det en et av til ikke med den som på har var han hun fra kan skal ble også eller hvis hva "
    "hvordan hvor når hvem hvilken vi jeg være blir etter",
    "sv": "och är det en ett av till inte med den som på har var han hon från kan ska blev också eller om vad "
    "hur när vem vilken vi jag vara blir efter för att sig där",
    "fi": "ja ei että se oli ovat myös kun kuin mutta tai sekä joka jotka mitä miten missä milloin kuka mikä "
    "hän ne ole olla voi sen tämä niin",
    "hu": "és hogy nem egy az ez van volt meg csak ha vagy aki ami hogyan mikor hol miért mi kell lehet azt ezt "
    "után szerint",
    "tr": "ve bir bu için ile da olarak daha çok olan en gibi ne nasıl nerede hangi kim değil var mı mi kadar "
    "sonra veya ise",
    "pl": "na nie się jest że jak ale za od po przez dla są był było co czy kiedy gdzie kto który która które "
    "oraz lub być jako",
    "cs": "se na je že ale jako za pro jsou bylo byl jak kdy kde kdo který která které nebo při co když také není",
    "vi": "và của là có được cho không trong một các những với này đó khi để từ như người đã về tại thế nào",
    "id": "yang dan di dari untuk dengan ini itu pada adalah tidak dalam akan ke juga oleh apa bagaimana kapan "
    "siapa atau sebagai bisa dapat karena",
}
_SPEAKERS: dict[str, tuple[str, ...]] = {}
for _code, _words in _SMALL_WORDS.items():
    for _small in set(_words.split()):
        _SPEAKERS[_small] = (*_SPEAKERS.get(_small, ()), _code)
_ASKING = {
    code: lazy_regex(rf"\W*(?:{words})\b", re.IGNORECASE)
    for code, words in {
        "de": "was (?:ist|sind|war|waren|wird|werden|hat|haben|kann|können|macht|tut|bedeutet|heißt|kostet|geschieht|"
        "passiert|soll|muss|gibt|bewirkt|unterscheidet)|wer|wie|wo|woher|wohin|wann|warum|wieso|weshalb|wozu|wofür|"
        "womit|welche[rsnm]?|wessen|wem|wen|gibt es|(?:ist|sind|kann|hat|wird|muss) (?:das|der|die|man|es|ein|eine)",
        "nl": "wat|hoe|waar|waarom|wanneer|welke?|wiens|hoeveel|wie (?:is|was|zijn|waren|heeft|schreef|maakte)",
        "fr": "qui|que|quoi|quand|quel(?:le)?s?|où|comment|pourquoi|combien|qu['’]\\w+|est-ce|y a-t-il|à quoi",
        "es": "qué|quién(?:es)?|cuál(?:es)?|cuándo|cuánt[oa]s?|cómo|dónde|por qué",
        "it": "che|chi|quale|quali|quando|quant[oiae]|dove|perché|cos['’]è|cosa|come (?:si|è|sono|posso|funziona)",
        "pt": "o que|quem|quais|quando|quant[oa]s?|onde|por que|qual é|como (?:se|é|posso|funciona)",
        "sv": "vad|vem|hur|varför|vilken|vilket|vilka|när", "da": "hvad|hvem|hvordan|hvorfor|hvornår|hvilken|hvilke",
        "pl": "kto|kiedy|gdzie|dlaczego|jak|jaki|jaka|jakie|czy|co to|ile", "tr": "nedir|nasıl|neden|kim|nerede|hangi",
        "cs": "kdo|kdy|kde|proč|jaký|jaká|jaké|kolik|co je", "fi": "mikä|mitä|kuka|missä|milloin|miten|miksi",
    }.items()
}  # fmt: skip
"""How a question begins in other languages, by words that begin none in English."""
_QUESTION = 200
"""Characters that a question has at most, to be recognised by how it begins."""
LATIN = frozenset(_SMALL_WORDS)
"""Languages in Latin letters."""
_FEWEST = 2
"""Different small words that a language needs: one may be a name."""


def language(text: str) -> str:
    """The language of a text by its ISO 639-1 code; empty where it is not recognised."""
    sample = text[:SAMPLE]
    return ("" if sample.isascii() else _by_script(sample)) or _by_opening(sample) or _by_small_words(sample)


def _by_opening(sample: str) -> str:
    """Return the language in which a short text begins as a question; empty for English, and where it has more than one
    small word that only English has.
    """
    if len(sample) > _QUESTION:
        return ""
    code = next((code for code, begins in _ASKING.items() if begins.match(sample)), "")
    english = [word for word in _small_letters(sample)[1:] if _SPEAKERS.get(word) == ("en",)]
    return code if len(english) < _FEWEST else ""


def _by_script(sample: str) -> str:
    counts = {code: len(signs.findall(sample)) for code, signs in _BY_SCRIPT.items()}
    if not any(counts.values()):
        return ""
    total = len(_LETTER.findall(sample)) + sum(2 * counts[code] for code in _DENSE)
    # Japanese is written in Chinese characters too, but never without its own.
    if counts["ja"] * 10 > counts["zh"]:
        counts["ja"] += counts.pop("zh")
    code = max(counts, key=lambda each: counts[each])
    if counts[code] * (3 if code in _DENSE else 1) < _SCRIPT_SHARE * total:
        return ""
    if code == "ar" and _PERSIAN.search(sample):
        return "fa"
    return "uk" if code == "ru" and _UKRAINIAN.search(sample) else code


def _by_small_words(sample: str) -> str:
    """The language with most small words in the text; English wins unless another has clearly more."""
    small = [word for word in _small_letters(sample) if word in _SPEAKERS]
    if not small:
        return ""
    counts, kinds = {"en": 0}, {"en": 0}
    for word in small:
        for code in _SPEAKERS[word]:
            counts[code] = counts.get(code, 0) + 1
    for word in set(small):
        for code in _SPEAKERS[word]:
            kinds[code] = kinds.get(code, 0) + 1
    code = max(counts, key=lambda each: (counts[each], kinds[each], each))
    if code != "en" and (kinds[code] < _FEWEST or counts[code] < 2 * counts["en"]):
        return "en" if counts["en"] else ""
    return code


# Abstentions in other languages

REFUSALS = {
    "ar": "معلومات غير كافية", "de": "Die Informationen reichen nicht aus", "es": "Información insuficiente",
    "fr": "Informations insuffisantes", "hi": "जानकारी अपर्याप्त है", "it": "Informazioni insufficienti",
    "ja": "情報が足りません", "ko": "정보가 부족합니다", "nl": "Onvoldoende informatie",
    "pl": "Niewystarczające informacje", "pt": "Informação insuficiente", "ru": "Недостаточно информации",
    "sv": "Otillräcklig information",
    "th": "ข้อมูลไม่เพียงพอ", "tr": "Yetersiz bilgi", "uk": "Недостатньо інформації", "zh": "信息不足",
}  # fmt: skip
"""`ABSTENTION` in other languages."""


def refusal(question: str) -> str:
    """The abstention in the question's language; empty for English and where the language is not known."""
    return REFUSALS.get(language(question), "")
