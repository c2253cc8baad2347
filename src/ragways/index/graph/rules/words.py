"""Words that are no names, and how often the corpus writes a word small or large."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

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


class Lexicon:
    """How often each word of the corpus is written small, and how often with a capital."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_WORD.findall(text))
        self.small: dict[str, int] = {}
        self.large: dict[str, int] = {}
        for word, count in counts.items():
            folded = word.casefold()
            into = self.large if word[0].isupper() else self.small
            into[folded] = into.get(folded, 0) + count

    def common(self, word: str) -> bool:
        """Whether a word is one of the language rather than a name: the corpus writes it small at least as often."""
        word = word.casefold()
        return word in STOP or self.small.get(word, 0) >= max(1, self.large.get(word, 0))
