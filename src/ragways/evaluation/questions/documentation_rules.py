"""Rules that read a sentence of documentation: each gives a question that the sentence answers, or nothing.

The answer is a stretch of the sentence. Each rule is strict: a sentence that points elsewhere (`this`, `the following`)
is no material, nor is a plain word that heads an entry (`name`, `port`), because alone it could mean anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ragways.evaluation.question import plain_words
from ragways.layers.graph.names import STOP

NAME = r"(?:--?[a-z][\w-]*|@?[A-Za-z_][\w.]*(?:\(\))?)"
_CODE = re.compile(
    r"(?=.{3,60}$)(?!@?(?:foo|bar|spam|my_|my[A-Z]|My[A-Z_]|example))(?:--[a-z][\w-]+|@?(?:\w+\.)*\w+(?:\(\))?)"
)
_CODE_MARK = re.compile(r"[A-Za-z]_\w|[a-z][A-Z]\w|\w\.[A-Za-z_]|^--|\(\)$|^@")
_BARE = re.compile(r"[a-z]+(?:_[a-z0-9]+)+|--[a-z][\w-]+")
_CONTEXT = re.compile(
    r"\b(?:this|these|those|it|its|it's|they|them|their|he|she|we|us|our|above|below|following|previous|former|latter|"
    r"here|such|same|example|instance|however|therefore|instead|otherwise|also|then|now|later|earlier|both|either|"
    r"another|other|others|one|ones|above-mentioned|section|chapter|document|page|figure|table|paper|\w+n't)\b|[“”\"?:]",
    re.IGNORECASE,
)
"""Words that point to what stands elsewhere: with one of them, a question cannot be understood alone."""
_LONGEST = 320
MOST_WORDS = 40


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence on one line. `entry` is the code name that it stands under, `first` whether it is the first there.

    `heading` is the title of its section where it opens it, `entry_at` where its
    entry begins in a list, -1 where that is the section itself.
    """

    words: str
    start: int
    end: int
    entry: str = ""
    entry_at: int = -1
    first: bool = False
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    question: str
    answer: str


Rule = Callable[[Line], Made | None]


def code_name(name: str) -> bool:
    """Whether a name can only be one of code: `max_connections`, `HttpRequest.path`, `--reload`.

    Those of examples (`foo_bar`, `MyView`) are none.
    """
    return _CODE.fullmatch(name) is not None and _CODE_MARK.search(name) is not None


def needs_context(name: str) -> bool:
    """Whether it takes a page to know what is meant: `file_name` or `--output`, rather than `HttpRequest.path`."""
    return _BARE.fullmatch(name) is not None


def _alone(words: str, fewest: int = 1, most: int = 22) -> bool:
    """Whether words can be understood by themselves."""
    return fewest <= len(words.split()) <= most and not _CONTEXT.search(words) and words.count("(") == words.count(")")


# Settings, options, parameters: defaults, and what they do

_VALUE = (
    r"(?P<v>[^\s,;](?:[^,;(\n]|\((?=\)))*?)"
    r"(?:\.$|\. |;|,? (?:but|which|and|or|if|unless|meaning|when|so|as|for|in which|allowing)\b| \(|$)"
)
_USUALLY = r"(?:typically |normally |usually |currently )?"
_DEFAULT = (
    re.compile(rf"Default(?: value)?: {_VALUE}"),
    re.compile(rf"(?:.*[.;] )?The default(?: value| setting)? is {_USUALLY}{_VALUE}"),
    re.compile(rf"(?:It )?[Dd]efaults to {_VALUE}"),
    re.compile(r".*; (?P<v>\S+(?: \w+)?) (?:by|is the) default\b"),
    re.compile(rf"By default,? (?:this|it) is {_VALUE}"),
)
_SORT = r"(?: (?:option|setting|parameter|argument|attribute|variable|flag))?"
_DEFAULT_NAMED = (
    re.compile(rf"The default(?: value)? (?:of|for) (?:the )?(?P<n>{NAME})(?: [a-z]+)? is {_USUALLY}{_VALUE}"),
    re.compile(rf"(?:The )?(?P<n>{NAME}){_SORT} defaults to {_VALUE}"),
    re.compile(rf"By default, (?:the )?(?P<n>{NAME}){_SORT} (?:is set to|is|has a value of|uses) {_VALUE}"),
)
_NO_VALUE = re.compile(
    r"\b(?:that|this|it|its|these|not|same|above|below|whether|how|what|to|the value|your|used|different)\b|^an?$",
    re.IGNORECASE,
)
_DOES = re.compile(
    r"(Specif|Set|Determine|Control|Return|Define|Contain|Enable|Disable|Create|Indicate|Limit|Allow|Represent|Convert|"
    r"Remove|Add|Compute|Store|Display|Print|Generate|Select|List|Describe|Causes|Provide|Check|Raise|Render|Write|Read|"
    r"Calculate|Extract|Delete|Show|Encode|Decode|Replace|Open|Close|Load|Save|Validate|Register)(ies|s|es)? (.+)\."
)
_THING = re.compile(
    r"((?:An?|The) (?:[\w-]+ ){1,5}(?:representing|containing|that|which|of|for|mapping|used|to|with)\b[^.]+)\."
)
_FINITE = re.compile(r" (?:is|are|was|were|has|have|will|can|must|should|may|does|do)\b")


def _default(line: Line) -> Made | None:
    match, name = None, line.entry
    if name:
        match = next((m for pattern in _DEFAULT if (m := pattern.match(line.words))), None)
    if match is None:
        match = next((m for pattern in _DEFAULT_NAMED if (m := pattern.match(line.words))), None)
        name = match["n"] if match else ""
    if match is None or not code_name(name) or re.fullmatch(r"(?:[A-Z][a-z]+){1,}[A-Z]*|[A-Z][a-z]+[A-Z]+", name):
        return None  # a class has no default
    value = match["v"].strip().rstrip(".")
    if not value or len(value.split()) > 8 or _NO_VALUE.search(value):
        return None
    return Made(f"What is the default value of {name}?", value)


def _does(line: Line) -> Made | None:
    """`Determines the maximum number of connections.` below a name: what it determines."""
    match = _DOES.fullmatch(line.words) if line.entry and line.first else None
    if match is None or not match[2]:
        return None
    verb = f"{match[1]}y" if match[2] == "ies" else match[1]
    rest = match[3]
    if len(rest.split()) < 4 or re.match(r"(?:this|it|them|these|to|from|and|or)\b", rest):
        return None
    return Made(f"What does {line.entry} {verb.lower()}?", rest)


def _thing(line: Line) -> Made | None:
    """`A string representing the path of the page.` below a name: what it is."""
    match = _THING.fullmatch(line.words) if line.entry and line.first else None
    if match is None or re.search(r"\b(?:this|these|above|below|following)\b", line.words):
        return None
    if _FINITE.search(re.split(r" (?:that|which|representing|containing|mapping|used)\b", match[1])[0]):
        return None
    return Made(f"What is {line.entry}?", match[1])


# Terms: what they are, what they stand for

_ARTICLE = re.compile(
    r"(?:(An?|The) )?([\w./@+-]+(?:\(\))?(?: [\w./@+-]+){0,3}?)(?: \([^()]{2,40}\))? (is|are) "
    r"((?:an?|the|one of the) .{20,})\."
)
_NO_TERM_WORDS = """
there that this what which who it he she they we you i here one another each every some any all no most many few default
result results purpose goal reason problem example alternative way option best first second last next note solution idea
good common simple typical better similar possible quick single new main only key important and or but if when so then
thus also section chapter difference advantage drawback point case answer following above
"""
_NO_TERM = frozenset(_NO_TERM_WORDS.split())
"""Words with which what is said is about something that was spoken of before."""
_SAYS = re.compile(r"\b(?:that|which|whose|where|used|using|for|of|to|with|by|from|in|on|\w{3,}ing|\w{3,}ed)\b")
_JUDGES = re.compile(
    r"(?:an?|the|one of the) (?:very|most|real|big|predominant|single|critical|essential|crucial|core|same|only|"
    r"best|worst|main|good|great|lot|bit|matter|few|must|point|"
    r"problem|reason|result|case|one|thing|question|way|time|first|last|next|important|key|simple|quick|common|nice|"
    r"simpler|separate|different|similar|special|better|default|easiest|recommended|number|list|following|right|wrong|more|little|significant|useful|powerful)\b"
)
_OPENS = re.compile(r"(?:Abstract|Introduction|Summary|\w+ed)\b")
"""A heading that ran into the sentence, or one that begins with its end."""
_TWO = re.compile(r",? and (?:\w+ ){1,5}(?:is|are)\b")
"""More than one thing is said."""
_SHORT_FORM = re.compile(r"(?<=[\s(])([A-Za-z][\w-]*(?: [\w-]+){1,6}) \(([A-Z]{2,6})\)")


def _what_is(line: Line) -> Made | None:
    match = _ARTICLE.fullmatch(line.words)
    if match is None or len(line.words) > _LONGEST or _TWO.search(match[4]):
        return None
    article, term, verb, said = match[1] or "", match[2], match[3], match[4]
    words = term.casefold().split()
    code = any(code_name(word) for word in term.split())
    if (
        _NO_TERM & set(words)
        or words[-1].endswith(("ly", "ing", "__"))
        or _OPENS.match(line.words)
        or words[0] in STOP
        or term[0].isdigit()
    ):
        return None
    if not code and not all(re.fullmatch(r"[^\W\d_]{3,}(?:-[^\W\d_]+)*", word) for word in words):
        return None
    if not code and (article == "The" or not (article or verb == "are" or (term[0].isupper() and len(words) > 1))):
        return None  # `The server is`: one that was spoken of before
    if not _SAYS.search(said) or _JUDGES.match(said) or len(said.split()) < 5 or not _alone(said, 5, MOST_WORDS):
        return None
    named = term if code or article == "The" or term[1:] != term[1:].casefold() else term[0].lower() + term[1:]
    shown = f"{article.lower()} {named}" if article and not (article == "The" and term == words[0]) else named
    return Made(f"What {verb} {shown}?", said)


def _stands_for(line: Line) -> Made | None:
    """`write-ahead log (WAL)`: what the letters stand for, where they are those of the words."""
    for match in _SHORT_FORM.finditer(f" {line.words}"):
        words, letters = match[1].split(), match[2]
        parts = [part for word in words for part in word.split("-") if part]
        for count in range(len(letters), len(letters) + 3):
            tail = parts[-count:]
            if len(tail) < count or tail[0].casefold() in STOP:
                continue
            initials = [part[0].upper() for part in tail if part.casefold() not in STOP or part[0].isupper()]
            if "".join(initials) == letters:
                end = match[1]
                for first in range(len(words)):
                    rest = " ".join(words[first:])
                    if [part for word in words[first:] for part in word.split("-") if part] == tail:
                        end = rest
                return Made(f"What does {letters} stand for?", end) if end != match[1] or tail == parts else None
    return None


# What something is done with

_TOOL = r"(?P<b>(?:[Tt]he |[Aa]n? )?[\w.@/()+-]+(?: [\w.@/()+-]+){0,4}?)"
_AIM = r"(?P<a>[a-z].+?)"
_PURPOSE = (
    re.compile(rf"(?:You can |You may |You should |We can |Simply |Just )?[Uu]se {_TOOL} to {_AIM}\."),
    re.compile(
        r"To (?P<a>[a-z][^,]+), (?:you can |you may |you should |you must |simply |just )?"
        rf"use {_TOOL}(?:\.|[,;:] .*)"
    ),
    re.compile(rf"{_TOOL} (?:can be|may be|is|are) used to {_AIM}\."),
    re.compile(rf"{_TOOL} (?:lets|allows|enables) you to {_AIM}\."),
)
_FEWEST_PURPOSE = 4


def _purpose(line: Line) -> Made | None:
    match = next((m for pattern in _PURPOSE if (m := pattern.fullmatch(line.words))), None)
    if match is None or len(line.words) > _LONGEST:
        return None
    aim, tool = match["a"].strip(), re.sub(r"^(?:The|the|An?|an?) ", "", match["b"])
    named = [word for word in tool.split() if code_name(word.strip("()")) or code_name(word)]
    telling = [word for word in plain_words(aim).split() if word not in STOP]
    if len(named) != 1 or not _alone(aim, _FEWEST_PURPOSE, 20) or len(telling) < _FEWEST_PURPOSE - 1:
        return None
    if not _alone(tool) or re.search(r"\b(?:and|or|with|by|as)\b", tool) or re.match(r"\w+(?:ed|ing|ly)\b", aim):
        return None
    if re.match(r"\w+ly\b", tool):
        return None
    return Made(f"What can be used to {aim}?", tool)


# Versions

_V = r"(?P<v>(?:[A-Z]\w+ )?v?\d+(?:\.\d+)+|(?:[A-Z]\w+ )v?\d+)"
_MARK = re.compile(rf"(Added|New|Changed|Deprecated|Removed) (?:in|since) version {_V}:(?P<rest>.*)")
_CAME = (
    r"(?P<x>[^,;:]{3,60}?) (?:was|were|is|are|has been|have been) (?P<how>added|introduced|deprecated|removed|renamed)"
)
_CAME_IN = re.compile(rf"{_CAME} (?:in|since|as of)(?: version)? {_V}(?: and .+|, .+|)\.")
_WHAT_CAME = re.compile(rf"{_CAME}\.")


def _version(line: Line) -> Made | None:
    mark = _MARK.fullmatch(line.words)
    if mark is None:
        came = _CAME_IN.fullmatch(line.words)
        return _came(came["x"], came["how"], came["v"], "") if came is not None else None
    rest, how = mark["rest"].strip(), {"Deprecated": "deprecated", "Removed": "removed"}.get(mark[1], "added")
    if not rest:
        known = line.entry and mark[1] != "Changed"
        return Made(f"In which version was {line.entry} {how}?", mark["v"]) if known else None
    came = _WHAT_CAME.fullmatch(rest)
    return _came(came["x"], came["how"], mark["v"], line.entry) if came is not None else None


def _came(what: str, how: str, version: str, entry: str) -> Made | None:
    what = re.sub(r"^(?:The|Support)\b", lambda first: first[0].lower(), what)
    own = any(code_name(word) for word in what.split())
    if not _alone(what) or (not own and not entry) or re.search(r"\b(?:and|or)\b", what):
        return None
    of = (
        ""
        if not entry or entry in what or what.startswith("support") or re.search(r"\w\.\w| of ", what)
        else f" of {entry}"
    )
    many = re.search(r"(?<![su])s$", what) and not own and not what.startswith("support")
    be = "were" if many else "was"
    return Made(f"In which version {be} {what}{of} {how}?", version)


# Limits

_AMOUNT = r"(?P<v>(?:about |roughly )?(?:\d[\d.,]*|one|two|three|four|five|six|eight|ten|zero)\b[^,;()]{0,40}?)"
_END = r"(?:\.|[,;(] ?.*| (?:by default|long|and|but|if|unless|when|because|per)\b.*)"
_WHAT = r"(?P<x>[\w.() -]{3,60}?)"
_LIMITS = tuple(
    (re.compile(pattern), ask)
    for pattern, ask in (
        (
            r"The (?P<n>maximum|minimum|largest|smallest|upper|lower)(?P<x>(?: [\w.()-]+){1,8}?) is "
            rf"{_USUALLY}{_AMOUNT}{_END}",
            "What is the {n}{x}?",
        ),
        (
            rf"{_WHAT} (?P<be>is|are) (?P<n>limited|restricted) to (?:a maximum of |at most )?{_AMOUNT}{_END}",
            "What {be} {x} {n} to?",
        ),
        (
            rf"{_WHAT} (?:must|should|can|may) be (?:at most|no more than|up to|no longer than|a maximum of) "
            rf"{_AMOUNT}{_END}",
            "What is the maximum {of} {x}?",
        ),
        (
            rf"{_WHAT} (?:must|should) be (?:at least|no less than|a minimum of) {_AMOUNT}{_END}",
            "What is the minimum {of} {x}?",
        ),
        (rf"{_WHAT} (?:cannot|can not|must not|may not) exceed {_AMOUNT}{_END}", "What must {x} not exceed?"),
    )
)
_OF_ENTRY = re.compile(
    r"The (?P<n>maximum|minimum|largest|smallest|allowed|valid)(?P<x>(?: value| setting| range| values)?) "
    rf"(?:is|are) (?:from )?{_AMOUNT}{_END}"
)


def _limit(line: Line) -> Made | None:
    match = _OF_ENTRY.fullmatch(line.words)
    if match is not None:
        asked = f"What is the {match['n']}{match['x'] or ' value'} of {line.entry}?"
        return Made(asked, match["v"].strip()) if line.entry else None
    for pattern, ask in _LIMITS:
        match = pattern.fullmatch(line.words)
        if match is None:
            continue
        what = match["x"].strip()
        words = what.split()
        code = any(code_name(word) for word in words)
        vague = words[0].casefold() in _NO_TERM or (words[0] == "The" and not code) or (len(words) == 1 and not code)
        if not _alone(what) or vague or len(line.words) > _LONGEST:
            return None
        parts = {**match.groupdict(), "x": match["x"] if match["x"].startswith(" ") else what[0].lower() + what[1:]}
        parts["x"] = match["x"] if code and not what.startswith(("The ", "A ", "An ")) else parts["x"]
        length = "length of" if re.search(r"\b(?:characters|bytes)\b", match["v"]) else "for"
        return Made(ask.format(**parts, of=length), match["v"].strip())
    return None


# Headings that ask

_ASKS = re.compile(r"(?:What|Which|Who|When|Where|Why|How|Is|Are|Can|Does|Do|Should|Will|Must|Has|Have)\b.*\?")
_NO_ANSWER = re.compile(
    r"(?:There (?:is|are)|The (?:question|answer|following)|See|Read|If|For|When|This|That|These|Let|Here|Note|In this|"
    r"Now|So|But|And|As (?:above|we))\b"
)
_HOW = re.compile(r"\b(?:us(?:e|es|ing)|by|run|runs|set|sets|call|calls|with|can|via|through)\b")
_YES = re.compile(r"(?:Yes|No|Not)\b")


def _answers(asked: str, said: str) -> bool:
    """Whether a sentence can answer a heading: it takes up its words, gives a way or a reason, or says yes or no."""
    first = asked.split(maxsplit=1)[0]
    if first == "Why":
        return re.search(r"\b(?:because|since|so that|due to|in order to|reason)\b", said) is not None
    if first not in ("What", "Which", "Who", "When", "Where", "How"):
        return _YES.match(said) is not None
    telling = [word[:5] for word in plain_words(asked).split()[1:] if word not in STOP and len(word) > 2]
    held = sum(any(word.startswith(stem) for word in plain_words(said).split()) for stem in telling)
    if first == "How":
        return 2 * held >= len(telling) > 0 and _HOW.search(said) is not None
    return held == len(telling) > 0


def _heading(line: Line) -> Made | None:
    title = line.heading
    if not title or not _ASKS.fullmatch(title) or not line.first:
        return None
    if len(title.split()) < 4 or _CONTEXT.search(title[:-1]) or _NO_ANSWER.match(line.words):
        return None
    if not line.words.endswith(".") or len(line.words.split()) < 6 or not _answers(title, line.words):
        return None
    return Made(title, line.words)


RULES: tuple[tuple[str, str, Rule], ...] = (
    ("faq", "heading", _heading),
    ("version", "version", _version),
    ("setting", "default", _default),
    ("limit", "limit", _limit),
    ("setting", "does", _does),
    ("setting", "is", _thing),
    ("purpose", "purpose", _purpose),
    ("definition", "is", _what_is),
    ("definition", "stands for", _stands_for),
)
"""Kind, what of it, and rule; the first that fits is taken, so that a sentence is asked about once."""
