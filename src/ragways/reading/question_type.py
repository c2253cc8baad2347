"""What kind of work a question needs, by its words alone: a chance for each type, without an index or a model.

A linear softmax over `features` of a question: its form, some signs that `SIGNS` names, and words and pairs of words.
Names, numbers and dates are put behind placeholders first, so that what a question is about tells nothing. The weights
are a readable file (`question_type.json`), made by `training/question_types.py`; how right it is: docs/figures.md.

Words cannot tell that a corpus lacks an answer. `unanswerable` is what *looks* so: about the asker, the future, or in a
form that only questions without an answer had in the training data.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, cast, get_args

from ragways.core.errors import ModelError
from ragways.core.language import language
from ragways.reading.questions import Form, parse_question

QuestionType = Literal["factual", "bridge", "comparison", "temporal", "aggregate", "summary", "unanswerable"]
TYPES: Final[tuple[QuestionType, ...]] = get_args(QuestionType)
"""One fact; reasoning over several steps; two things compared; when, since when, what changed; how many
or which of all documents; the whole corpus or a long text; looking as if nothing could answer it."""

FORMAT: Final = 1
HEAD, TAIL = 600, 300
"""Characters of a long question that are looked at, from its beginning and from its end."""

_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_DOCUMENTS: Final = (
    "document|documents|corpus|collection|article|articles|dataset|archive|archives|text|texts|material|notes|file|files|"
    "paper|papers|report|reports|pages|records|book|story|stories|chapter|chapters|transcript|transcripts|documentation|"
    "source|sources|interviews|reviews|letters"
)
_KIN: Final = (
    "father|mother|parent|parents|grandfather|grandmother|grandson|granddaughter|grandparents|wife|husband|spouse|son|"
    "daughter|child|children|sibling|siblings|brother|brothers|sister|sisters|uncle|aunt|cousin|nephew|niece|"
    "father-in-law|mother-in-law|brother-in-law|sister-in-law|son-in-law|daughter-in-law"
)
_MADE: Final = (
    "director|composer|performer|author|writer|founder|producer|singer|creator|artist|architect|developer|publisher|"
    "inventor|editor|owner|designer|headquarters|birthplace|capital|leader|president|team|company|band|school"
)
_DATES: Final = [phrase for each in _MONTHS.split("|") for phrase in (f"<number> {each}", f"{each} <number>")]
_SIGN_PHRASES: Final = {
    "asks how many": "how many, how often, total of, number of, count of, amount of, sum of, average of, "
    "percentage of, share of, average number, what percentage, what share",
    "how many of all": "how many of, how many different, how many times, how many other, in how many, are there, "
    "in total, " + ", ".join(f"how many {each}" for each in _DOCUMENTS.split("|")),
    "summarises": "summar*, overview, synopsis, gist, tl, tldr, recap, digest, outline, in a nutshell, big picture, "
    "synthes*",
    "lists all": "all, every, each, any, complete list, in total, altogether",
    "most of many": "most often, most common, most frequent, most frequently, most mentioned, most cited, most named, "
    "top <number>, top three, top five, top ten, more than one, at least two",
    "themes": "theme, themes, topic, topics, trend, trends, pattern, patterns, ideas, takeaway*, key points, "
    "perspective*, viewpoint*, motif*, concerns, lessons, narrative*, findings, conclusions, arguments",
    "main": "main, key, major, central, important, overall, broad, prominent, recurring, core, principal",
    "throughout": "throughout, across, as a whole, overall, in general, on the whole, entire, whole",
    "documents": ", ".join((*_DOCUMENTS.split("|"), "data set", "knowledge base")),
    "these documents": ", ".join(
        f"{one} {each}" for one in ("the", "these", "this", "all", "our") for each in _DOCUMENTS.split("|")
    ),
    "several things": "what are, which are, what were, how are, how do, how can",
    "and how": "and how, and why, and what, and which, and who, and when, and where",
    "compares": "compar*, contrast*, differ*, similar*, versus, vs, alike, distinguish*, in common, unlike",
    "same or both": "same, both, either, neither, respectively",
    "than": "than",
    "degree": "older, younger, earlier, later, larger, smaller, bigger, longer, shorter, higher, lower, taller, more, "
    "less, fewer, better, first, newer, sooner, greater",
    "or": "or",
    "between": "between",
    "while": "while, whereas, as opposed to, in contrast",
    "year": "<year>",
    "month": ", ".join((*(each for each in _MONTHS.split("|") if each != "may"), "may <year>", *_DATES)),
    "date": ", ".join(_DATES),
    "before or after": "before, after, since, until, till, during, prior to, following, preceded, succeeded, "
    "by the time, at the time",
    "named after": "named after",
    "change": "chang*, evol*, developed, development, over time, still, no longer, become, became, consisten*, shift*, "
    "inconsisten*, timeline, chronolog*, replaced, originally, later, latest, recent*",
    "time between": ", ".join(
        f"{one} {other}"
        for one in ("years", "days", "months", "weeks", "long", "time")
        for other in ("passed", "after", "before", "between", "lay", "separate", "later", "earlier")
    ),
    "now": "now, today, tonight, tomorrow, yesterday, currently, at the moment, next year, next week, next month",
    "will": "will, going to",
    "of the asker": "am i, do i, did i, should i, can i, will i, must i, i am, i was, i have, i had, i did, i do, "
    "i need, i want, my, mine",
    "of the asked": "you, your, yours",
    "maker": _MADE.replace("|", ", "),
    "kin": _KIN.replace("|", ", "),
    "kin of kin": "grandf*, grandm*, grandp*, grands*, grandd*, great-*, uncle, aunt, cousin, nephew, niece, step*, "
    + ", ".join(each for each in _KIN.split("|") if "-" in each),
    "place of": "in which, located, born, where the, where <name>",
    "if": "if, suppose, assuming, given that, would",
    "causes": "influenc*, affect*, impact*, lead to, led to, caus*, contribut*, enhanc*, relat*, connect*, role of",
    "reported": "according to, as reported, reported by, as discussed, as described, mentioned, discuss*, suggest, "
    "suggests, claim, claims",
}
"""Signs by phrases anywhere in the question: up to three words in a row, or the beginning of one (`*`)."""
_BEGINS: Final = {
    "asks who": r"(?:\S+ )?(?:who|whom|whose)",
    "asks what": r"(?:\S+ )?what",
    "asks which": r"(?:\S+ )?which",
    "asks when": "when|(?:in|on|at|since|until) (?:what|which) (?:year|date|day|month|time)",
    "asks where": "(?:from )?where",
    "asks why": "why",
    "asks how": "how (?!many|much|old|long|tall|far|often|high|large|big|deep|fast)[a-z]+",
    "asks how much": "how (?:much|old|long|tall|far|high|large|big|deep|fast)",
    "asks yes or no": "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should",
    "commands": "(?:please )?(?:(?:can|could) you )?(?:describe|explain|discuss|outline|analy[sz]e|give|tell|write|"
    "provide|identify|characteri[sz]e|sketch|review|assess|evaluate)",
    "lists": r"(?:please )?(?:list|name|enumerate|count|find|show|rank|give (?:me )?(?:a |the )?(?:\S+ )?list)",
    "considering": "considering|based on|given|regarding",
    "asks in the end": r"(?!what|which|who|where|in|on|at|from|to|by).+ (?:what|which|who|whom|where)\b[^?]{0,60}\?$",
}
"""Signs by how a question begins, or goes on from there."""
_MADE_OR_KIN = rf"(?:{_MADE}|{_KIN})"
_OF_NAME = r"of (?:the |a )?(?:[a-z]+ ){0,4}<name>"
_RELATIONS: Final = {
    "relation": rf"\b(?:{_MADE}) {_OF_NAME}|'s (?:{_MADE})\b",
    "relation of relation": rf"\b{_MADE_OR_KIN} of (?:the |a )?(?:[a-z]+ )?{_MADE_OR_KIN}\b|'s {_MADE_OR_KIN} 's",
    "asked of a relation": rf"(?:\b{_MADE_OR_KIN} {_OF_NAME}|'s {_MADE_OR_KIN}) [a-z]|"
    rf"^(?:where|when|why|how old|(?:what|which) [a-z]+) (?:is|was|are|were|did|does) the {_MADE_OR_KIN} of",
}
"""Signs of one step to the answer, and of more; looked for where a maker or kin is named."""
_PAIRS: Final = {
    "two names with or": "<name>[^?]{0,40} or (?:the )?(?:[a-z]+ )?<name>",
    "two names with and": "<name>[^?]{0,40} and (?:the )?(?:[a-z]+ )?<name>",
}
_BEGIN_PATTERNS = {name: re.compile(rf"(?:{pattern})(?!\w)") for name, pattern in _BEGINS.items()}
_RELATION_PATTERNS = {name: re.compile(pattern) for name, pattern in _RELATIONS.items()}
_PAIR_PATTERNS = {name: re.compile(pattern) for name, pattern in _PAIRS.items()}
SIGNS: Final = (*_BEGINS, *_SIGN_PHRASES, *_RELATIONS, *_PAIRS)
"""Signs of a type, looked for in a question in small letters with names and numbers behind placeholders."""

SIZES: Final = ("names", "no names", "steps", "length", "short", "long", "sentences")
FORMS: Final = tuple(f"form {form}" for form in get_args(Form))

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[?,:;!]|\.(?= )")
_CALENDAR = frozenset(_MONTHS.split("|"))
_ASIDE = re.compile(r"\([^()]{0,80}\)")
_STEP = re.compile(r"(?<!^)\b(?:that|who|whose|which|where|whom)\b|['’]s\b| of the | by the ")
_LETTER = re.compile(r"[^\W\d_]")


def question_type(question: str) -> dict[QuestionType, float]:
    """The chances of a question's types, in the order of `TYPES`; they add up to 1.

    Of a long question its first 600 and last 300 characters count. Without a letter, and in another language than
    English (the weights know no other), nothing is known, and all types have the same chance.
    """
    text = clipped(question)
    if not _LETTER.search(text) or language(text) not in ("", "en"):
        return dict.fromkeys(TYPES, 1 / len(TYPES))
    return weights().chances(features(text))


def clipped(question: str) -> str:
    """What is looked at of a question, its white space as single spaces."""
    if len(question) > HEAD + TAIL:
        question = f"{question[:HEAD]} {question[-TAIL:]}"
    return " ".join(question.split())


def features(question: str) -> dict[str, float]:
    """What the weights are multiplied with: `form X` and the names of `SIGNS` are 1 where they hold, `names`, `steps`
    and `length` are sizes up to about 1, and words and pairs of words (`main themes`) are `"…"` in quotation marks.
    They weigh the less the more there are, so that a long question is not surer than a short one.
    """
    text = clipped(question)
    hidden, names = without_names(text)
    words = hidden.split()
    found = dict.fromkeys((f"form {parse_question(text).form}", *signs(words, hidden, names)), 1.0)
    found["names"] = min(names, 4) / 4
    found["no names"] = float(names == 0)
    found["steps"] = min(len(_STEP.findall(hidden)), 4) / 4
    found["length"] = min(math.log1p(len(words)), 4.0) / 4
    found["short"] = float(len(words) <= 8)
    found["long"] = float(len(words) > 24)
    found["sentences"] = min(sum(word in ".?!" for word in words[:-1]), 2) / 2
    texts = dict.fromkeys(f'"{word}"' for word in (*words, *(f"{one} {other}" for one, other in pairwise(words))))
    return found | dict.fromkeys(texts, 1 / math.sqrt(max(len(words), 8)))


def signs(words: list[str], hidden: str, names: int) -> list[str]:
    """The signs of a question, of which `hidden` are the words in a row; one may be there twice."""
    found = [sign for sign, pattern in _BEGIN_PATTERNS.items() if pattern.match(hidden)]
    for word in words:
        found += _PHRASES.get(word, ())
        found += _by_beginning(word)
    for one, other, third in zip(words, words[1:], [*words[2:], ""], strict=False):
        found += _PHRASES.get(f"{one} {other}", ())
        found += _PHRASES.get(f"{one} {other} {third}", ())
    if "maker" in found or "kin" in found:
        found += [sign for sign, pattern in _RELATION_PATTERNS.items() if pattern.search(hidden)]
    if names > 1:
        found += [sign for sign, pattern in _PAIR_PATTERNS.items() if pattern.search(hidden)]
    return found


def _by_phrase() -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for sign, phrases in _SIGN_PHRASES.items():
        for phrase in phrases.split(", "):
            found[phrase].append(sign)
    return dict(found)


_PHRASES: Final = _by_phrase()
_BEGINNINGS: Final = [(phrase[:-1], sign) for phrase, of in _PHRASES.items() if phrase[-1] == "*" for sign in of]


@lru_cache(maxsize=4096)
def _by_beginning(word: str) -> tuple[str, ...]:
    return tuple(sign for beginning, sign in _BEGINNINGS if word.startswith(beginning))


def without_names(text: str) -> tuple[str, int]:
    """A question in small letters, its words and signs between spaces, `<name>`, `<year>` and `<number>` in the place
    of such, and without what is in brackets; and how many names it has. A capital makes a name, unless it begins a
    sentence or most words have one.
    """
    tokens = _WORD.findall(_ASIDE.sub(" ", text))
    capitals = sum(word[0].isupper() for word in tokens)
    shouted = capitals > 3 and capitals > 0.7 * sum(word[0].isalpha() for word in tokens)
    written: list[str] = []
    names, begins = 0, True
    for word in tokens:
        small = word.casefold().replace("’", "'")
        bare = small.removesuffix("'s")
        first_person = small == "i" and written[-1:] != ["<name>"]  # not "Stage I"
        if not bare.isalpha() and any(letter.isdigit() for letter in bare):
            written.append("<year>" if len(bare) == 4 and bare.isdecimal() and "1000" <= bare < "2100" else "<number>")
        elif word[0].isupper() and not (begins or shouted or first_person or small in _CALENDAR):
            if written[-1] != "<name>":
                written.append("<name>")
                names += 1
        else:
            written.append(bare)
        if bare != small:
            written.append("'s")
        begins = small in ".?!:"
    return " ".join(written), names


# The weights


@dataclass(frozen=True, slots=True)
class TypeWeights:
    """Of each feature, the weight for each type in the order of `TYPES`; `constant` is added always."""

    constant: tuple[float, ...]
    features: Mapping[str, tuple[float, ...]]

    def chances(self, found: Mapping[str, float]) -> dict[QuestionType, float]:
        """The softmax of the weighed features. A feature without weights counts nothing."""
        totals = list(self.constant)
        for name, value in found.items():
            if (row := self.features.get(name)) is not None:
                totals = [total + weight * value for total, weight in zip(totals, row, strict=True)]
        most = max(totals)
        odds = [math.exp(total - most) for total in totals]
        whole = sum(odds)
        return {type: one / whole for type, one in zip(TYPES, odds, strict=True)}


WEIGHTS_FILE: Final = Path(__file__).with_name("question_type.json")
_KEYS: Final = {"format", "made by", "types", "constant", "features"}


@cache
def weights(file: Path = WEIGHTS_FILE) -> TypeWeights:
    """The weights of a file, checked; read once."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(file, f"cannot be read ({error})") from error
    if not isinstance(stored, dict) or stored.keys() != _KEYS:
        raise _damaged(file, f"does not hold exactly {', '.join(sorted(_KEYS))}")
    if stored["format"] != FORMAT or stored["types"] != list(TYPES):
        raise _damaged(file, f"is of another format than {FORMAT}, or for other types")
    rows = stored["features"]
    if not isinstance(rows, dict) or not all(map(_is_row, (stored["constant"], *rows.values()))):
        raise _damaged(file, f"does not give {len(TYPES)} numbers for each feature")
    unknown = [name for name in rows if not _is_known(name)]
    if unknown:
        raise _damaged(file, f"has a weight for {unknown[0]!r}, which is no feature")
    return TypeWeights(tuple(stored["constant"]), {name: tuple(row) for name, row in rows.items()})


def _is_row(row: object) -> bool:
    return isinstance(row, list) and len(row) == len(TYPES) and all(_is_number(each) for each in row)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(cast(float, value))


def _is_known(name: str) -> bool:
    return name in SIGNS or name in SIZES or name in FORMS or (name[:1] == name[-1:] == '"' and len(name) > 2)


def _damaged(file: Path, why: str) -> ModelError:
    return ModelError(f"{file.name} {why}", "install ragways again, or make it with training/question_types.py")
