"""Families of models. A judge tends to favour what its own family writes, which is why such a pair is warned of."""

from __future__ import annotations

import re

FAMILIES = (
    "gpt", "claude", "gemini", "gemma", "llama", "qwen", "mistral", "deepseek", "phi", "command", "grok", "glm", "kimi",
    "nova", "granite", "olmo", "falcon", "yi", "nemotron", "ernie", "minimax", "jamba",
)  # fmt: skip
"""Looked for as words of a name; the first that stands there."""

ALIASES = {
    "chatgpt": "gpt", "davinci": "gpt", "codex": "gpt", "mixtral": "mistral", "ministral": "mistral",
    "magistral": "mistral", "codestral": "mistral", "devstral": "mistral", "pixtral": "mistral", "qwq": "qwen",
    "qvq": "qwen", "codellama": "llama", "vicuna": "llama", "chatglm": "glm", "codegemma": "gemma", "palm": "gemini",
    "aya": "command", "moonshot": "kimi", "r1": "deepseek",
}  # fmt: skip
"""Other names of a family."""

_REASONING = re.compile(r"o[1-9]")
_WORDS = re.compile(r"[a-z]+\d*|\d+")
_HEAD = re.compile(r"[^\d\-_.:@ ]+")


def family(name: str) -> str:
    """`gpt-4o-mini` is gpt, `Qwen/Qwen2.5-7B` is qwen; an unknown name counts up to its first digit or dash."""
    plain = name.casefold().strip()
    own = plain.rpartition("/")[2]
    # The model's own name first, then who serves it: "nvidia/llama-3" is a llama, "deepseek/v3" says it only there.
    for part in (own, plain):
        found = next((known for word in _WORDS.findall(part) if (known := _known(word))), "")
        if found:
            return found
    head = _HEAD.match(own)
    return head[0] if head else own


def same_family(judge: str, generator: str) -> bool:
    """Whether one may favour the other; no name is of no family."""
    return bool(judge.strip()) and bool(generator.strip()) and family(judge) == family(generator)


def _known(word: str) -> str:
    if _REASONING.fullmatch(word):
        return "gpt"
    if word in ALIASES:
        return ALIASES[word]
    bare = word.rstrip("0123456789")
    return ALIASES.get(bare, bare if bare in FAMILIES else "")
