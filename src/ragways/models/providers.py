"""Providers of OpenAI-compatible endpoints by name: where each is, which variable holds its key, and its quirks.

The facts are from the providers' own documentation, linked in docs/models.md. What is learnt of an endpoint later
(`dialect.py`) goes before what stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ragways.models.dialect import Dialect

USUAL, NEWER = Dialect(), Dialect(limit="max_completion_tokens")


@dataclass(frozen=True)
class Provider:
    """`base_url` is empty where everybody has their own, `key` (a variable) where none is needed.

    `url` is the variable that names another base URL; where it names a host alone, `path` is added. `auth` is the
    header that carries the key, `dialect` how to begin, `embeddings` whether it has an endpoint for them, `context` how
    many tokens its models read and write at least; None where each server has its own.
    """

    name: str
    base_url: str
    key: str = ""
    url: str = ""
    path: str = ""
    auth: str = "authorization"
    dialect: Dialect = USUAL
    embeddings: bool = True
    context: int | None = None

    def base_url_in(self, variables: Mapping[str, str]) -> str:
        """The base URL that these variables name, or none."""
        url = variables.get(self.url, "").strip().rstrip("/") if self.url else ""
        return f"{url}{self.path}" if url and not urlsplit(url).path else url


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider("ollama", "http://127.0.0.1:11434/v1"),
        Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", dialect=NEWER,
                 context=128_000),
        Provider(
            "azure", "", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "/openai/v1", auth="api-key", dialect=NEWER,
            context=128_000,
        ),
        Provider(
            "anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY",
            dialect=Dialect(form="tool", seed=False, effort=False), embeddings=False, context=200_000,
        ),
        Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
                 context=1_000_000),
        Provider("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
        Provider("lmstudio", "http://127.0.0.1:1234/v1"),
        Provider("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    )
}  # fmt: skip
VARIABLES = frozenset(name for provider in PROVIDERS.values() for name in (provider.key, provider.url) if name)
"""The variables of all providers; no other is read but our own."""


@dataclass(frozen=True)
class Filled:
    """A section of the settings with what its provider brings.

    `named` are the base URLs that the user names, and so may get what is the user's; `for_key` those that the key may
    go to, which are more where the key comes from the provider's own variable: its name says where it belongs.
    `folders_key`: the key came with the folder, so that it is no secret of the user's.
    """

    values: dict[str, Any]
    named: frozenset[str]
    for_key: frozenset[str]
    folders_key: bool = False


def fill(
    part: Mapping[str, Any], own: Mapping[str, Any], environment: Mapping[str, str], dotenv: Mapping[str, str]
) -> Filled:
    """`part` is the section as it is, `own` what of it the user set, `dotenv` the variables that came with the folder.

    Explicit settings stay. A model with a name and nothing else is OpenAI's where that has a key or a base URL.
    """
    values = dict(part)
    if "base_url" in values and isinstance(values["base_url"], str):
        values["base_url"] = values["base_url"].strip().rstrip("/")
    named = {str(own["base_url"]).strip().rstrip("/")} if own.get("base_url") else set()
    implied = not part.get("provider") and not part.get("base_url") and part.get("kind", "endpoint") == "endpoint"
    if implied and part.get("name") and any(name.startswith("OPENAI_") for name in (*environment, *dotenv)):
        values["provider"] = "openai"
    provider = PROVIDERS.get(str(values.get("provider")))
    if provider is None:
        return Filled(values, frozenset(named), frozenset(named))
    users = provider.base_url_in(environment) or provider.base_url
    if users and (own.get("provider") == provider.name or (implied and own.get("name"))):
        named.add(users)
    if not values.get("base_url"):
        values["base_url"] = provider.base_url_in(environment) or provider.base_url_in(dotenv) or provider.base_url
    for_key, folders_key = set(named), False
    if not values.get("key") and provider.key:
        if environment.get(provider.key):
            values["key"] = environment[provider.key]
            for_key |= {users} - {""}
        elif dotenv.get(provider.key):
            values["key"], folders_key = dotenv[provider.key], True
    return Filled(values, frozenset(named), frozenset(for_key), folders_key)
