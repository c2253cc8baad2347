"""Whether a text declines to answer, known by its words, ours and those of other systems.

A name may begin like a refusal ("Unknown Pleasures", "Sorry, Wrong Number"). So a word or two refuse only where they
are the whole answer, and a sentence only where it says what could not be done, or what the sources do not state.
"""

from __future__ import annotations

import re

from ragways.core.language import REFUSALS
from ragways.core.text import lazy_regex
from ragways.core.types import ABSTENTION

LONGEST = 1000
"""Characters that are looked at: a refusal begins with it."""

_KNOWN = (
    r"(?:(?:relevant|specific|direct|clear|available|further|sufficient|enough) )*"
    r"(?:information|context|data|details?|answer|mention|evidence(?! (?:that|of)\b))"
)
_SOURCE = (
    r"(?:context|information|passages?|documents?|texts?|sources?|evidence|articles?|excerpts?|data|materials?|results?|"
    r"knowledge base)"
)
_NOT = r"(?:not|n['’]t)"
_CANNOT = rf"(?:can ?not|can['’]t|could ?{_NOT}|(?:(?:am|are|was|were|['’]m|['’]re) )?(?:not able|unable) to)"
_ANSWER = (
    r"(?:answer|determine|find|provide|say|tell(?! a\b)|help|assist|give|identify|locate|verify|confirm|respond|infer|"
    r"conclude|know)\b"
)
_UNDONE = rf"(?:can ?not|can['’]t|could ?{_NOT}) be (?:answered|determined|known|found|established|inferred)\b"
_UNTOLD = r"(?:available|known|possible|clear|found|mentioned|specified|stated|provided|given|included)\b"

_WHOLLY = lazy_regex(
    r"(?:the )?(?:answer )?(?:is |was )?(?:"
    + "|".join(
        (
            r"unknown|unanswerable|undetermined|unclear|uncertain|n ?/ ?a|idk",
            rf"not (?:{_UNTOLD}|applicable|answerable|sure|certain)",
            rf"(?:there is )?(?:no|not enough|insufficient) {_KNOWN}(?: (?:was |is )?{_UNTOLD})?",
            rf"(?:(?:i|we) )?{_CANNOT} {_ANSWER}(?: it| that| this)?",
            r"(?:i (?:have )?)?no idea|(?:i['’]?m|i am) (?:sorry|unsure)|no (?:response|results?)",
        )
    )
    + ")"
)
"""All of an answer."""

_LEAD = lazy_regex(
    r"(?:(?:(?:i['’]m |i am )?(?:very |so )?sorry|(?:i |my )?apolog\w+|unfortunately|regrettably)\b[,.:]? ?|"
    r"as an ai\b[^,.]{0,30}, ?|"
    rf"(?:based on|according to|given|from|in) [^,.]{{0,40}}\b{_SOURCE}\b[^,.]{{0,40}}[,:] ?)"
    r"(?:but )?"
)
"""What may stand before a refusal."""

_REFUSING = lazy_regex(
    "|".join(
        (
            rf"{re.escape(ABSTENTION.casefold())}\b",
            rf"(?:(?:i|we) ?)?{_CANNOT} {_ANSWER}",
            rf"(?:i|we) (?:do|did) ?{_NOT} know *(?:$|[.,;!]|(?:the|who|what|when|where|which|whether|if|this|that|"
            r"about|for|how (?:many|much|old|long|far|big|tall|often))\b)",
            rf"(?:i|we) (?:do|did) ?{_NOT} (?:have (?:enough|sufficient|any|the|access|that|this)|"
            r"find (?:any|the|enough)|see any)\b",
            r"(?:i|we) ?(?:am|are|['’]m|['’]re) (?:not sure|unsure|not aware|not certain|uncertain)\b",
            rf"there(?: is|['’]s| was) (?:no|not enough|not sufficient|insufficient) {_KNOWN}\b",
            rf"(?:no|not enough|insufficient) {_KNOWN} (?:(?:is|was) )?(?:{_UNTOLD}|"
            r"(?:to answer|to determine|in the|about|on)\b)",
            rf"(?:the|this|these|those|none of the|neither of the) (?:\w+ ){{0,3}}{_SOURCE}\b[^.,;]{{0,40}}? "
            rf"(?:(?:do|does|did) ?{_NOT} (?:\w+ )?(?:mention|contain|provide|include|say|state|specify|answer|give|"
            r"indicate|have|tell|address|discuss|cover|support|name)|"
            r"(?:is|are) (?:not (?:enough|sufficient)|insufficient)|lacks?|"
            r"(?:mentions?|contains?|provides?|says?|gives?|includes?) (?:nothing|no))\b",
            rf"(?:the|these|those) (?:\w+ ){{0,3}}{_SOURCE} (?:(?:is|are|remains?|stays?) )?silent "
            r"(?:on|about|as to|regarding)\b",
            rf"(?:that|this|it)(?: (?:topic|point|question|subject|information|detail))?(?: is| was|['’]s) ?{_NOT} "
            r"(?:covered|addressed|discussed|dealt with|part of)\b",
            r"none of the (?:\w+ ){1,3}(?:mention|contain|provide|say|state|answer|give|include)s?\b",
            r"no answer can be (?:given|found)\b",
            rf"it(?: is|['’]s| was) (?:{_NOT} {_UNTOLD}|impossible to {_ANSWER}|unclear\b|unknown\b)",
            rf"(?:(?:this|that|the|your|it)(?: \w+){{0,5}} )?{_UNDONE}",
            rf"the answer (?:is|was) (?:{_NOT} {_UNTOLD}|unknown|unavailable)\b",
        )
    )
)
_QUELLE = r"\b(?:dokument|quelle|text|kontext|passage|unterlage|artikel|auszüge|abschnitt)\w*"
_NICHT = (
    r"\bnicht (?:beantworte[nt]|sagen|finden|beurteilen|feststellen|"
    r"erwähnt|genannt|angegeben|behandelt|enthalten|bekannt)\b"
)
_KEINE = r"\b(?:keine|keinerlei|nicht genügend) (?:angabe|information|hinweis|antwort)\w*"
_RIEN = r"(?:pas|rien|aucune?|nulle part)\b(?! moins)"
_ABROAD = lazy_regex(
    "|".join(
        (
            rf"(?:leider )?(?:(?:kann|können) (?:ich|wir)|(?:ich|wir) (?:kann|können)) [^.,;]{{0,60}}{_NICHT}",
            r"(?:das |dies )?(?:weiss ich|wissen wir|ich weiss es|ich weiss das) nicht\b",
            r"(?:das|dies|es|die antwort|diese information) (?:geht|ergibt sich|steht|lässt sich) [^.;]{0,40}"
            rf"{_QUELLE}[^.;]{{0,30}}\bnicht\b",
            rf"(?:aus|anhand) (?:\w+ ){{0,3}}{_QUELLE} (?:geht|lässt sich) (?:\w+ ){{1,3}}nicht\b",
            rf"die frage (?:kann|lässt sich) [^.,;]{{0,60}}{_NICHT}",
            rf"(?:(?:die|der|das) (?:\w+ )?{_QUELLE} schweig(?:t|en)\b|(?:dazu|darüber|hierzu) schweig(?:t|en)\b)",
            r"(?:die|der|das|diese[rs]?|den|in den|im|aus den|aus dem|laut den) (?:\w+ ){0,3}"
            rf"{_QUELLE}[^.,;]{{0,40}}? (?:keine|nichts|{_NICHT})(?!\w)",
            r"(?:das|dies|dazu|darüber|hierzu|es) (?:wird|ist|sind|gibt es|finden sich|liegen|steht|stehen) "
            rf"[^.,;]{{0,40}}?(?:{_NICHT}|{_KEINE})",
            rf"(?:leider )?(?:finde ich )?(?:dazu |hierzu )?{_KEINE}",
            r"(?:le|la|les|ce|ces|cet|aucun) (?:\w+ ){0,3}(?:documents?|sources?|textes?|contexte|passages?|articles?)"
            rf"(?: \w+){{0,4}} n(?:e |['’])\w+ (?:\w+ )?{_RIEN}",
            rf"(?:désolée?, ?)?je (?:ne (?:sais|peux|trouve|dispose)|n['’]ai) (?:\w+ ){{0,2}}{_RIEN}",
            r"(?:cela|ceci|ce|ce (?:point|sujet)|cette information|la réponse) (?:n['’]est|ne figure) pas "
            r"(?:abordée?|mentionnée?|précisée?|indiquée?|disponible|connue?|possible|dite?|traitée?|fournie?|dans)\b",
            r"les informations sont insuffisantes|rien n['’]est (?:dit|indiqué|précisé)\b",
            r"(?:les?|ces?) (?:documents?|sources?|textes?|passages?|contexte) (?:\w+ )?(?:reste(?:nt)?|est|sont) muet",
            r"il n['’](?:y a|existe) (?:pas|aucune) (?:assez |suffisamment )?(?:d['’]|de )?"
            r"(?:informations?|réponse|mention|données?|indications?)\b",
            r"aucune (?:information|réponse|mention|donnée)\b",
        )
    )
)
"""Refusals in German and French."""
_TURN = lazy_regex(r"\b(?:but|however|nevertheless|nonetheless|the answer is|aber|jedoch|mais|cependant|toutefois)\b")
"""What an answer after all begins with."""


_ABSTAINS = lazy_regex(
    r"[\s*_\"'“”(>#-]*(?:insufficient[ _]information(?=\W*(?:\Z|\n)|[^\w\s]| "
    r"(?:to|in|on|about|for|from|is|was|regarding|available|provided|given)\b)|(?:"
    + "|".join(map(re.escape, REFUSALS.values()))
    + r")(?!\w))",
    re.IGNORECASE,
)
"""A text that begins with `ABSTENTION`, in whatever language."""


def reason_for_abstaining(answer: str) -> str | None:
    """What a text that begins with the words of an abstention says besides them; None where it begins otherwise."""
    match = _ABSTAINS.match(answer)
    if match is None:
        return None
    rest = answer[match.end() :].lstrip(" \t\n.,:;!–—*_\"'”)-。，、")
    return answer.strip() if rest and answer[match.end()] == " " else rest.strip()


def refuses(answer: str) -> bool:
    """Whether a text declines to answer. One that goes on to answer all the same does not, unless it begins with the
    words of an abstention; an empty one does.
    """
    if reason_for_abstaining(answer) is not None:
        return True
    text = " ".join(answer[:LONGEST].casefold().replace("_", " ").split()).strip("\"'“”*([{ ")
    whole = text.strip(".!?)]}\"'“”* ")
    if not whole or _WHOLLY.fullmatch(whole):
        return True
    lead = _LEAD.match(text)
    refusal = _REFUSING.match(text) or (_REFUSING.match(text, lead.end()) if lead else None) or _ABROAD.match(text)
    return refusal is not None and not _TURN.search(text, refusal.end())
