"""How an answer reads: spans cut to whole words, sentences without marks of lists and notes, pronouns made names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragways.core.text import lazy_regex
from ragways.reading.windows import stems

_EDGE = " \t\r\n,;:.!?\"“”„«»‘’'`()[]{}*_–—-=|•·…"
_OPEN, _CLOSE = "([{", ")]}"
_LEADING = lazy_regex(
    r"(?:in|on|at|by|from|to|of|for|with|about|during|since|until|into|within|as|and|or|but|that|which|who|is|was|are|were|"
    r"be|called|named|set to|equal to|the|an?)\s+(?=\S)",
    re.IGNORECASE,
)
_TRAILING = lazy_regex(r"\s+(?:and|or|of|in|on|at|the|an?|by|to|for|with|from|was|is|are|were|that|which|who|as)$")
_ARTICLE = lazy_regex(r"The|An?", re.ASCII)
_CODE = lazy_regex(r"from\s+[\w.]+\s+import\b|\w+\(|[=<>{}]|::|\w_\w|^-{1,2}\w|\\")
_IMPORT = lazy_regex(r"\bfrom [\w.]+ import \w+")
_POSSESSIVE = lazy_regex(r"['’]s$|(?<=s)['’]$")
_INITIALS = lazy_regex(r"(?:\b\w\.)+\w$|\b(?:Jr|Sr|Inc|Ltd|Co|St)$")
_PLACEHOLDER = lazy_regex(r"(?:https?://\S+|www\.\S+)$")

_MARKER = lazy_regex(r"\s*(?:[-*•·‣◦▪–—]\s+|\d{1,3}[.)]\s+|\(?[a-z]\)\s+|\([ivx]{1,4}\)\s+|#{1,6}\s+|>\s*)+")
_NOTE_MARK = lazy_regex(r"\s?\[(?:\d{1,3}|[a-z]|note \d+|citation needed|edit)\]", re.IGNORECASE)
_LINKED = lazy_regex(r"!?\[([^\]\[]{1,200})\]\((?:[^()\s]{1,300})\)")
_EMPHASIS = lazy_regex(r"\*{2,3}|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|`{1,3}")
_RULE = lazy_regex(r"[-=_*~+|.\s]{3,}")
_LABELS = lazy_regex(
    r"(?:note|tip|info|warning|danger|caution|important|see also|check|example|technical details)\W*", re.I
)
_NOTED = lazy_regex(r"(?:Note|Tip|Info|Warning|Hint|Important|Solution): (?=\S)")
_CHANGE = lazy_regex(r"\bPR #\d+|\bby @\w+|^:::")
"""Lines of a change log, and of directives that a documentation is made from."""
_LEADERS = lazy_regex(r"(?:[.·…]\s?){5}")
_LETTERS = lazy_regex(r"[^\W\d_]{2,}")
_ENDED = lazy_regex(r"[.!?…:;。！？][\"”’')\]]*$")
_VERB = lazy_regex(r"\b(?:is|are|was|were|be|been|has|have|had|can|may|must|will|would|should|does|do|did|use[sd]?)\b")
HEADING_WORDS: Final = 8
"""A line of at most so many words that ends in no stop and holds no verb is taken for a heading."""

_PRONOUN = lazy_regex(r"(He|She|It|They|His|Her|Its|Their|This)\b(?=(\s+\w+)(\s+\w+)?)")
_OWNING = frozenset({"His", "Her", "Its", "Their"})
_EXPLETIVE = lazy_regex(
    r"It(?:\s+(?:is|was|will be|would be|may be|might be|can be|has been|seems|appears|turns|takes?|took))"
    r"\s+(?:(?:also|not|often|usually|generally|therefore|always|very|quite|more|most|only|\w+ly)\s+)*"
    r"(?:possible|impossible|necessary|important|recommended|worth|easy|hard|difficult|common|clear|likely|unlikely|true|"
    r"known|said|believed|thought|estimated|assumed|expected|advised|best|better|good|useful|until|that|to|out|in|on|here|"
    r"there|when|because|as|time|a good|the case)\b"
)
_PERSON = lazy_regex(r"[A-Z][\w.'’-]*(?:\s+(?:de|da|di|von|van|der|den|la|le|al|ibn|bin|of|the|[A-Z][\w.'’-]*)){1,5}$")


def clean_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The borders of the answer at `text[start:end]`, cleaned: whole words, no punctuation at its ends,
    without an article or a preposition before it unless a name begins with it. Empty where nothing is left.
    """
    start, end = _whole_words(text, start, end)
    for statement in _IMPORT.finditer(text):
        if statement.start() < end and start < statement.end():
            return statement.span()
    while True:
        before = (start, end)
        start, end = _stripped(text, start, end)
        answer = text[start:end]
        if not _CODE.search(answer):
            if (lead := _LEADING.match(answer)) and not _begins_name(text, start, lead):
                start += lead.end()
            elif trail := _TRAILING.search(answer):
                end = start + trail.start()
            elif (owner := _POSSESSIVE.search(answer)) and re.match(r" \w", text[end:]):
                end = start + owner.start()
        if (start, end) == before:
            return start, end


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """To the ends of the words it touches; `python` of `python-multipart` or `sys` of `sys.path` is no whole word."""

    def inside(at: int) -> bool:
        if not 0 < at < len(text):
            return False
        one, other = text[at - 1], text[at]
        if (one.isalnum() or one == "_") and (other.isalnum() or other == "_"):
            return True
        left, right = text[at - 2 : at - 1], text[at + 1 : at + 2]
        if other in "-._/'’@":
            return one.isalpha() and right.isalnum()
        return one in "-._/'’@" and left.isalpha() and other.isalnum()

    while inside(start):
        start -= 1
    while inside(end):
        end += 1
    if text[end : end + 2] == "()":
        end += 2
    return start, end


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGE and not _opens(text, start, end):
        start += 1
    while start < end and text[end - 1] in _EDGE and not _closes(text, start, end):
        end -= 1
    if text[end : end + 1] == "." and _INITIALS.search(text[max(start, end - 12) : end]):
        end += 1
    for opening, closing in zip(_OPEN, _CLOSE, strict=True):
        answer = text[start:end]
        if answer.count(opening) > answer.count(closing):
            end = end + 1 if text[end : end + 1] == closing else start + answer.rindex(opening)
        elif answer.count(closing) > answer.count(opening):
            start += answer.index(closing) + 1
    return start, end


def _opens(text: str, at: int, end: int) -> bool:
    """Whether a character at the start is part of the answer: `--reload`, `.env`, `(a, b)`."""
    if text[at] in "-." and (at == 0 or text[at - 1].isspace() or text[at - 1] == "-"):
        return re.match(r"-{1,2}[a-zA-Z]|-\d|\.[a-z]", text[at:end]) is not None
    closing = _CLOSE[_OPEN.index(text[at])] if text[at] in _OPEN else ""
    return bool(closing) and closing in text[at:end] and text[end - 1] not in _CLOSE


def _closes(text: str, start: int, end: int) -> bool:
    last, answer = text[end - 1], text[start:end]
    if last == ".":
        return _INITIALS.search(answer[-12:-1]) is not None
    return last in _CLOSE and answer.count(_OPEN[_CLOSE.index(last)]) == answer.count(last) and answer[0] not in _OPEN


def _begins_name(text: str, start: int, lead: re.Match[str]) -> bool:
    """`The Hague`, `Of Mice and Men`: a capital letter that the beginning of a sentence does not explain, or an article
    before another capital letter.
    """
    word, following = lead.group().strip(), text[start + lead.end() : start + lead.end() + 1]
    if not word[0].isupper() or not (following.isupper() or following.isdigit()):
        return False
    return bool(_ARTICLE.fullmatch(word)) or (start > 1 and text[start - 2] not in ".!?:")


def is_answer(answer: str) -> bool:
    """Whether a span can be an answer at all: it holds a letter or a digit, and is no rule and no bare label."""
    return (
        bool(re.search(r"\w", answer))
        and not _LABELS.fullmatch(answer)
        and not _PLACEHOLDER.match(answer)
        and not _CHANGE.search(answer)
    )


def repeats(question: str, answer: str) -> bool:
    """Whether an answer is made of the question's own words alone."""
    return stems(answer) <= stems(question)


_ITEM = r"(?:[\w'’.&+/()-]+ ){0,4}?[\w'’.&+/()-]*[\w)]"
_RIGHT = lazy_regex(
    rf"(?:, (?!which|who|where|when|but|while|as|and|or){_ITEM})*(?:,? (?:and|or|&) (?:the )?{_ITEM})"
    r"(?=[,.;:!?)]|$| (?:were|are|is|was|in|on|at|for|with|to|who|which|that|from|by)\b)"
)
_LEFT = lazy_regex(r"(?:(?:[A-Z0-9][\w'’.&-]*(?: [A-Z0-9][\w'’.&-]*){0,4}|[\w-]+), )+(?:(?:and|or|&) )?$")


def enumeration(sentence: str, start: int, end: int) -> tuple[int, int]:
    """The whole enumeration "A, B and C" that a span of a sentence is part of; the span itself where there is none."""
    right = _RIGHT.match(sentence, end)
    left = _LEFT.search(sentence[max(0, start - 200) : start])
    joined = bool(right) or bool(left and re.search(r"(?:and|or|&) $|, $", sentence[:start]) and "and" in left.group())
    if left and (joined or re.search(r",| and | or ", sentence[start:end])):
        start -= len(left.group())
    return (start, right.end()) if right else (start, end)


def says_something(sentence: str) -> bool:
    """Whether a sentence can stand as an answer: no heading, no rule, no label, no bare term of an index."""
    flat = clean_sentence(sentence)
    words = flat.split()
    lines = sentence.strip().splitlines()
    if len(lines) > 2 and sum(bool(_ENDED.search(line.rstrip())) for line in lines) < len(lines) / 2:
        return False
    if (
        len(words) < 2
        or _RULE.fullmatch(sentence)
        or _LABELS.fullmatch(flat)
        or not _LETTERS.search(flat)
        or _CHANGE.search(flat)
        or leads_to_page(flat)
    ):
        return False
    if _ENDED.search(flat) or re.search(r"\d|[(=:_]", flat):
        return True
    return len(words) > HEADING_WORDS or bool(_VERB.search(flat))


def clean_sentence(sentence: str) -> str:
    """A sentence on one line without markup, the marker of a list before it and marks of notes inside it."""
    text = _LINKED.sub(r"\1", sentence)
    text = _EMPHASIS.sub("", _NOTE_MARK.sub("", text))
    marker = _MARKER.match(text)
    return _NOTED.sub("", " ".join((text[marker.end() :] if marker else text).split()))


_ANAPHOR = lazy_regex(
    r"(?:This|These|That|Those|It|Its|They|Their|Such|Returns?|Defaults?|Raised|Raises|Use this|"
    r"The (?:default|value|name))\b"
)
IDENTIFIER: Final = lazy_regex(r"\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*")
_COMMAND = lazy_regex(rf"{IDENTIFIER.pattern}|\w\(|\b[A-Z]{{3,}} [A-Z]{{3,}}\b|(?:^|\s)--?[a-z]{{2,}}|\buse [a-z]+\b")
_CONTINUES = lazy_regex(
    r"(?:Next|With (?:this|that)|If (?:you do|so|not)|Similarly|The same way|In the above|Nevertheless|After that|"
    r"Then|This|These|That|Those|It|Its|They|Their|Such|So|But|And|Also|However|Instead|Otherwise|In this case|"
    r"In (?:that|these|those) cases?|For example|Therefore|Thus|Because of (?:this|that)|To do (?:this|that|so))\b"
)
_NUMBERED = lazy_regex(r"(?:(?:chapter|appendix|section|part)\s+)?(?:[A-Z]|\d+)(?:\.\d+)*\.\s+", re.IGNORECASE)


def leans_on(sentence: str) -> bool:
    """Whether a sentence begins with a word that points to the one before it."""
    return _CONTINUES.match(sentence) is not None


def is_label(sentence: str) -> bool:
    """Whether a line is a label and nothing else: Note, Tip, Warning."""
    return _LABELS.fullmatch(sentence.strip()) is not None


def leads_in(sentence: str) -> bool:
    """Whether a sentence leads to what stands below it."""
    return sentence.rstrip().endswith(":")


def leads_to_page(line: str) -> bool:
    """Whether a line is one of a table of contents or an index: dots lead to the number of a page."""
    return _LEADERS.search(line) is not None


_ANNOUNCING = lazy_regex(
    r"(?:There (?:is|are) (?:an?|one|two|three|four|several|some|many|various|different|important|other)\b|"
    r"(?:The|One|An?) (?:[\w-]+ ){0,3}(?:difference|reason|advantage|drawback|exception|limit)s? (?:is|are)\b)"
    r"[^,;:]{0,80}\.$"
)


def announces(sentence: str) -> bool:
    """Whether a short sentence says that there are reasons, ways or differences, which are those that follow it."""
    return _ANNOUNCING.match(sentence) is not None


def names_code(sentence: str) -> bool:
    """Whether a sentence names something that one types: a function, a setting, a command, an option."""
    return _COMMAND.search(sentence) is not None


def needs_heading(sentence: str) -> bool:
    """Whether it is the heading above that says what a sentence speaks of: "Returns the age", "This exception is"."""
    return _ANAPHOR.match(sentence) is not None


def headed(sentence: str, heading: str) -> str:
    """The sentence under its heading: `SESSION_COOKIE_AGE: The age of session cookies, in seconds.`"""
    name = clean_heading(heading)
    return sentence if not name or name.casefold() in sentence.casefold() or len(name) > 80 else f"{name}: {sentence}"


def clean_heading(heading: str) -> str:
    """A heading without its number."""
    return clean_sentence(_NUMBERED.sub("", heading, count=1)).rstrip(":. ")


def excerpt(sentence: str, answer: str, limit: int = 500) -> str:
    """A sentence of more than `limit` characters cut to those around the answer; others as they are."""
    if len(sentence) <= limit:
        return sentence
    at = max(sentence.find(answer) + (len(answer) - limit) // 2, 0)
    start = sentence.find(" ", at) + 1 if at else 0
    end = sentence.rfind(" ", 0, at + limit) if at + limit < len(sentence) else len(sentence)
    start, end = (start, end) if at <= start < end else (at, at + limit)
    return f"{'…' * (start > 0)}{sentence[start:end]}{'…' * (end < len(sentence))}"


_ROW = lazy_regex(r"[a-z][a-z ]{1,30}: \S")
"""A row of an infobox as documents hold it: `first lit: 3 September 1889`."""


def titled_row(sentence: str, title: str) -> str:
    """A row of an infobox with the title before it, which is its subject. Any other sentence as it is."""
    name = _without_brackets(title)
    named = not name or name.casefold() in sentence.casefold()
    return sentence if named or not _ROW.match(sentence) else f"{name}, {sentence}"


def _without_brackets(title: str) -> str:
    return re.sub(r"\s*\([^()]*\)$", "", title).strip()


def resolved(sentence: str, title: str, before: Sequence[str]) -> str:
    """A sentence that begins with a pronoun, with the title in the pronoun's place where the title is what it stands
    for; `before` are the sentences of the passage before it. Any other sentence as it is.
    """
    name = _without_brackets(title)
    pronoun = _PRONOUN.match(sentence)
    if not pronoun or not name or len(name.split()) > 6 or name.casefold() in sentence.casefold():
        return sentence
    word, following = pronoun.group(1), pronoun.group(2).strip()
    if word in ("It", "They", "This", "Its", "Their"):
        # Of a thing, only a passage that speaks of the title before says that the pronoun means it.
        if not any(_speaks_of(one, name) for one in before) or _EXPLETIVE.match(sentence):
            return sentence
        if word == "This" and following not in ("is", "was", "has", "had"):
            return sentence
    elif not _PERSON.match(name):
        return sentence
    if before and not _continues(before[-1], name, word):
        return sentence
    ending = ("’" if name.endswith("s") else "’s") if word in _OWNING else ""
    agreeing = sentence[pronoun.end() :]
    return f"{name}{ending}{agreeing}"


def _speaks_of(sentence: str, name: str) -> bool:
    first = name.split(maxsplit=1)[0] if name.split(maxsplit=1)[0].casefold() not in ("the", "a", "an") else name
    begin = sentence.lstrip("\"“'‘ ")
    return begin.casefold().startswith((name.casefold(), f"the {name.casefold()}", f"{first.casefold()} "))


_SAME = ({"He", "His"}, {"She", "Her"}, {"It", "Its", "This"}, {"They", "Their"})


def _continues(sentence: str, name: str, word: str) -> bool:
    """Whether the sentence before is about the title as well: it begins with it, its last word or the same pronoun, or
    names nobody else.
    """
    begin = sentence.lstrip("\"“'‘ ")
    pronoun = _PRONOUN.match(begin)
    same = pronoun is not None and any({word, pronoun.group(1)} <= words for words in _SAME)
    if same or _speaks_of(begin, name) or begin.startswith(name.rsplit(maxsplit=1)[-1]):
        return True
    others = {other.strip(",.;:'’\"()") for other in begin.split()[1:] if other[:1].isupper()} - set(name.split())
    return not others
