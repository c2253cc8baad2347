"""The `key: value` lines between two `---` at the top of a Markdown file, read by hand and bounded."""

from __future__ import annotations

from ragways.core.dates import iso_date

_MOST_LINES = 200
_MOST_KEYS = 40
_NAMES = {"authors": "author", "lang": "language", "tags": "category", "categories": "category", "link": "url",
          "published": "date", "publisher": "source", "pubdate": "date", "published_at": "date"}  # fmt: skip


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The facts and the text that follows them. Without a closing line there is no front matter."""
    text = text.removeprefix("\ufeff")
    if not text.startswith(("---\n", "---\r\n")):
        return {}, text
    lines = text[:40_000].split("\n", _MOST_LINES)[:_MOST_LINES]
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return {}, text
    rest = text[sum(len(line) + 1 for line in lines[: end + 1]) :]
    return _facts(lines[1:end]), rest


def _facts(lines: list[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    last = ""
    for line in lines:
        entry = line.strip()
        if entry.startswith("- ") and last:
            facts[last] = "; ".join(filter(None, (facts[last], _plain(entry[2:]))))
        elif ":" in entry and not line[:1].isspace() and not entry.startswith("#") and len(facts) < _MOST_KEYS:
            key, _, value = entry.partition(":")
            last = _NAMES.get(key.strip().lower(), key.strip().lower())
            facts.setdefault(last, _plain(value))
    if "date" in facts:
        facts["date"] = iso_date(facts["date"])
    return facts


def _plain(value: str) -> str:
    """A scalar without its quotes, or a list in brackets with its entries joined."""
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return "; ".join(filter(None, (_plain(part) for part in value[1:-1].split(",")[:50])))
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return "" if value in ("|", ">", "null", "~") else value
