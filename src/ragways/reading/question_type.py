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
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, cast, get_args

from ragways.core.errors import ModelError
from ragways.core.language import language
from ragways.reading.questions import Form, asked

QuestionType = Literal["factual", "bridge", "comparison", "temporal", "aggregate", "summary", "unanswerable"]
TYPES: Final[tuple[QuestionType, ...]] = get_args(QuestionType)
"""One fact; reasoning over several steps; two things held against each other; when, since when, what changed; how many
or which of all documents; the whole corpus or a long text; looking as if nothing could answer it."""

FORMAT: Final = 1
HEAD, TAIL = 600, 300
"""Characters of a long question that are looked at, from its beginning and from its end."""

_MONTH = (
    r"(?:january|february|march|april|(?:(?<=> )may|may(?= <))|june|july|august|september|october|november|december)"
)
_DOCUMENTS = (
    r"(?:documents?|corpus|collection|articles?|data ?sets?|texts?|archives?|materials?|notes|files?|papers?|reports?|"
    r"pages|records|book|stor(?:y|ies)|chapters?|transcripts?|knowledge base|documentation|sources?|interviews|reviews)"
)
_KIN = (
    r"(?:father|mother|parents?|grand(?:father|mother|son|daughter|child|parent)s?|wife|husband|spouse|sons?|daughters?|"
    r"child|children|siblings?|brothers?|sisters?|uncle|aunt|cousin|nephew|niece)(?:-in-law)?"
)
_MADE = (
    r"(?:director|composer|performer|author|writer|founder|producer|singer|creator|artist|architect|developer|publisher|"
    r"inventor|editor|owner|designer|headquarters|birthplace|capital|leader|president|team|company|band|school)"
)
_DEGREES = (
    "older|younger|earlier|later|larger|smaller|bigger|longer|shorter|higher|lower|taller|more|less|fewer|better|first|"
    "newer|sooner|greater"
)
_RELATED = rf"(?:{_MADE}|{_KIN})"
_OF_NAME = r"of (?:the |a )?(?:[a-z]+ ){0,4}<name>"
_SAID: Final = {
    "asks how many": "how many|how often|(?:total|number|count|amount|sum|average|percentage|share) of",
    "how many of all": rf"how many (?:of|different|times|other|{_DOCUMENTS})|in how many|are there|in total",
    "summarises": r"summar\w+|overview|synopsis|gist|tl;?dr|recap|digest|outline|in a nutshell|big picture|synthes\w+",
    "lists all": r"(?:all|every|each|any) (?:of )?(?:the |these |those )?[a-z]+|complete list|in total|altogether",
    "most of many": r"most (?:often|common|frequent\w*|mentioned|cited|named)|the most [a-z]+s|top [a-z]+",
    "themes": "themes?|topics?|trends?|patterns?|ideas|takeaways?|key points|perspectives?|viewpoints?|motifs?|"
    "concerns|lessons|narratives?|findings|conclusions|arguments",
    "main": "main|key|major|central|important|overall|broad|prominent|recurring|core|principal",
    "throughout": "throughout|across|as a whole|overall|in general|on the whole|entire|whole",
    "documents": _DOCUMENTS,
    "these documents": rf"(?:the|these|this|those|all|our) (?:[a-z]+ )?{_DOCUMENTS}",
    "several things": "what are|which are|what were|how are|how do|how can",
    "and how": "and (?:how|why|what|which|who|when|where)",
    "compares": r"compar\w+|contrast\w*|differ\w*|similar\w*|versus|vs|alike|distinguish\w*|in common|unlike",
    "same or both": "same|both|either|neither|respectively",
    "than": "than",
    "degree": _DEGREES,
    "or": "or",
    "between": "between",
    "while": "while|whereas|as opposed to|in contrast",
    "month": _MONTH,
    "before or after": "before|(?<!named )after|since|until|till|during|prior to|following|preceded|succeeded|"
    "by the time|at the time",
    "change": r"chang\w+|evol\w+|develop(?:ed|ment)|over time|still|no longer|become|became|consisten\w+|shift\w*|"
    r"inconsisten\w+|timeline|chronolog\w+|replaced|originally|later|latest|recent\w*",
    "time between": r"(?:years?|days?|months?|weeks?|long|time) "
    r"(?:passed|after|before|between|lay|separate\w*|later|earlier)",
    "now": "now|today|tonight|tomorrow|yesterday|currently|at the moment|next (?:year|week|month)",
    "will": "will|going to",
    "of the asker": "(?:am|do|did|should|can|will|must) i|i (?:am|was|have|had|did|do|should|need|want)|my|mine",
    "of the asked": "you|your|yours",
    "kin": _KIN,
    "kin of kin": "(?:grand|great-?)[a-z]+|[a-z]+-in-law|(?:step-?|half-?)?(?:uncle|aunt|cousin|nephew|niece)",
    "place of": r"where\b.{1,80}\b(?:is|was|are|were)|in which|located|born",
    "if": "if|suppose|assuming|given that|would",
    "causes": r"influenc\w+|affect\w*|impact\w*|lead to|led to|caus\w+|contribut\w+|enhanc\w+|relat\w+|connect\w+|"
    "role of",
    "reported": r"according to|as reported|reported by|as discussed|as described|mentioned|discuss\w+|"
    "suggests?|claims?",
}
"""Signs by what is said anywhere."""
_BEGINS: Final = {
    "asks who": r"(?:\w+ )?(?:who|whom|whose)",
    "asks what": r"(?:\w+ )?what",
    "asks which": r"(?:\w+ )?which",
    "asks when": "when|(?:in|on|at|since|until) (?:what|which) (?:year|date|day|month|time)",
    "asks where": "(?:from )?where",
    "asks why": "why",
    "asks how": "how (?!many|much|old|long|tall|far|often|high|large|big|deep|fast)[a-z]+",
    "asks how much": "how (?:much|old|long|tall|far|high|large|big|deep|fast)",
    "asks yes or no": "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should",
    "commands": "(?:please )?(?:(?:can|could) you )?(?:describe|explain|discuss|outline|analy[sz]e|give|tell|write|"
    "provide|identify|characteri[sz]e|sketch|review|assess|evaluate)",
    "lists": r"(?:please )?(?:list|name|enumerate|count|find|show|rank|give (?:me )?(?:a |the )?(?:\w+ )?list)",
    "considering": "considering|based on|given|regarding",
}
"""Signs by how a question begins."""
SIGNS: Final[Mapping[str, re.Pattern[str]]] = {
    **{name: re.compile(rf"^(?:{words})\b") for name, words in _BEGINS.items()},
    **{name: re.compile(rf"\b(?:{words})\b") for name, words in _SAID.items()},
    "asks in the end": re.compile(
        r"^(?!what|which|who|where|in|on|at|from|to|by).+ (?:what|which|who|whom|where)\b[^?]{0,60}\?"
    ),
    "two names with or": re.compile(r"<name>[^?]{0,40} or (?:the )?(?:[a-z]+ )?<name>"),
    "two names with and": re.compile(r"<name>[^?]{0,40} and (?:the )?(?:[a-z]+ )?<name>"),
    "year": re.compile("<year>"),
    "date": re.compile(rf"\b{_MONTH} <number>|<number> {_MONTH}"),
    "relation": re.compile(rf"\b{_MADE} {_OF_NAME}|'s {_MADE}\b"),
    "relation of relation": re.compile(rf"\b{_RELATED} of (?:the |a )?(?:[a-z]+ )?{_RELATED}\b|'s {_RELATED} 's"),
    "asked of a relation": re.compile(
        rf"(?:\b{_RELATED} {_OF_NAME}|'s {_RELATED}) [a-z]|"
        rf"^(?:where|when|why|how old|(?:what|which) [a-z]+) (?:is|was|are|were|did|does) the {_RELATED} of"
    ),
}
"""Signs of a type, looked for in a question in small letters with names and numbers behind placeholders."""

SIZES: Final = ("names", "no names", "steps", "length", "short", "long", "sentences")
FORMS: Final = tuple(f"form {form}" for form in get_args(Form))

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[?,:;!]|\.(?= )")
_ASIDE = re.compile(r"\([^()]{0,80}\)")
_STEP = re.compile(r"(?<!^)\b(?:that|who|whose|which|where|whom)\b|['’]s\b| of the | by the ")
_LETTER = re.compile(r"[^\W\d_]")
_MONTHS = re.compile("(?:january|february|march|april|may|june|july|august|september|october|november|december)")


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
    found = {f"form {asked(text).form}": 1.0}
    found |= {sign: 1.0 for sign, pattern in SIGNS.items() if pattern.search(hidden)}
    words = [word for word in hidden.split(" ") if word]
    found["names"] = min(names, 4) / 4
    found["no names"] = float(names == 0)
    found["steps"] = min(len(_STEP.findall(hidden)), 4) / 4
    found["length"] = min(math.log1p(len(words)), 4.0) / 4
    found["short"] = float(len(words) <= 8)
    found["long"] = float(len(words) > 24)
    found["sentences"] = min(sum(word in ".?!" for word in words[:-1]), 2) / 2
    said = dict.fromkeys(f'"{word}"' for word in (*words, *(f"{one} {other}" for one, other in pairwise(words))))
    return found | dict.fromkeys(said, 1 / math.sqrt(max(len(words), 8)))


def without_names(text: str) -> tuple[str, int]:
    """A question in small letters, its words and signs between spaces, `<name>`, `<year>` and `<number>` in the place
    of such, and without what is in brackets; and how many names it has. A capital makes a name, unless it begins a
    sentence or most words have one.
    """
    tokens = _WORD.findall(_ASIDE.sub(" ", text))
    capitals = sum(word[0].isupper() for word in tokens)
    shouted = capitals > 3 and capitals > 0.7 * sum(word[0].isalpha() for word in tokens)
    said: list[str] = []
    names, begins = 0, True
    for word in tokens:
        small = word.casefold().replace("’", "'")
        kept = small.removesuffix("'s")
        first_person = small == "i" and said[-1:] != ["<name>"]  # not "Stage I"
        if any(letter.isdigit() for letter in kept):
            said.append("<year>" if len(kept) == 4 and kept.isdecimal() and "1000" <= kept < "2100" else "<number>")
        elif word[0].isupper() and not (begins or shouted or first_person or _MONTHS.fullmatch(small)):
            if said[-1] != "<name>":
                said.append("<name>")
                names += 1
        else:
            said.append(kept)
        if kept != small:
            said.append("'s")
        begins = small in ".?!:"
    return " ".join(said), names


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
            for at, weight in enumerate(self.features.get(name, ())):
                totals[at] += weight * value
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
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(file, f"cannot be read ({error})") from error
    if not isinstance(said, dict) or said.keys() != _KEYS:
        raise _damaged(file, f"does not hold exactly {', '.join(sorted(_KEYS))}")
    if said["format"] != FORMAT or said["types"] != list(TYPES):
        raise _damaged(file, f"is of another format than {FORMAT}, or for other types")
    rows = said["features"]
    if not isinstance(rows, dict) or not all(map(_is_row, (said["constant"], *rows.values()))):
        raise _damaged(file, f"does not give {len(TYPES)} numbers for each feature")
    unknown = [name for name in rows if not _is_known(name)]
    if unknown:
        raise _damaged(file, f"has a weight for {unknown[0]!r}, which is no feature")
    return TypeWeights(tuple(said["constant"]), {name: tuple(row) for name, row in rows.items()})


def _is_row(row: object) -> bool:
    return isinstance(row, list) and len(row) == len(TYPES) and all(_is_number(each) for each in row)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(cast(float, value))


def _is_known(name: str) -> bool:
    return name in SIGNS or name in SIZES or name in FORMS or (name[:1] == name[-1:] == '"' and len(name) > 2)


def _damaged(file: Path, why: str) -> ModelError:
    return ModelError(f"{file.name} {why}", "install ragways again, or make it with training/question_types.py")
