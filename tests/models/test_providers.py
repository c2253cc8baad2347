"""Providers by name: the address of each, its key in its header, and requests in the form that it knows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import pytest

from ragways.assemble import client_of, embedder_of
from ragways.core.errors import ModelRefused, SettingsError
from ragways.models.providers import PROVIDERS, VARIABLES, Provider
from ragways.models.transport import Transport
from ragways.settings import ModelSettings, ProviderName, Settings, read_settings
from ragways.testing.server import Demands, LoopbackServer
from tests.models.model_fakes import ABOUT, GOOD, NOTE, Note

KEY = "sk-loopback-0123456789"
Json = dict[str, Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def chosen(here: Path, **variables: str) -> Settings:
    return read_settings(environment={"HOME": str(here), "RAGWAYS_CACHE": str(here / "cache"), **variables})


def note(settings: Settings) -> object:
    async def main() -> object:
        async with client_of(settings) as client:
            return (await client.do(NOTE, ABOUT)).value

    return asyncio.run(main())


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
def test_each_provider_gets_requests_in_its_own_form(here: Path, provider: Provider):
    """The loopback server stands in for its base URL: the first request is understood and brings the key."""
    refused = {"max_tokens", "max_completion_tokens"} - {provider.dialect.limit}
    forms = ("json_schema", "json_object") if provider.dialect.form == "json_schema" else ()
    key = KEY if provider.key else None
    with LoopbackServer(
        lambda _: json.dumps(GOOD), key=Demands(key, provider.auth), forms=forms, refuses=tuple(refused)
    ) as server:
        variables = {"RAGWAYS_MODEL__PROVIDER": provider.name, "RAGWAYS_MODEL__NAME": "m"}
        variables |= {"RAGWAYS_MODEL__BASE_URL": server.base_url} | ({provider.key: KEY} if provider.key else {})
        assert note(chosen(here, **variables)) == Note("fine", (1, 2))
        assert all(seen.authorized for seen in server.requests)
        assert [seen.path for seen in server.requests if seen.path.endswith("/chat/completions")] == [
            "/v1/chat/completions"
        ] * (provider.name != "ollama"), "Ollama is asked by its own API"


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
def test_a_provider_brings_its_base_url_and_its_key(here: Path, provider: Provider):
    variables = {provider.key: KEY} if provider.key else {}
    settings = chosen(here, RAGWAYS_MODEL__PROVIDER=provider.name, RAGWAYS_MODEL__NAME="m", **variables)
    assert settings.model.base_url == provider.base_url
    if provider.base_url:
        Transport(settings.model.base_url)
        assert ModelSettings(provider=provider.name).base_url == provider.base_url
    assert settings.model.key.get_secret_value() == (KEY if provider.key else "")


def test_the_table_and_the_setting_know_the_same_providers():
    assert set(get_args(ProviderName)) == {"", *PROVIDERS}
    assert {name for name in VARIABLES if not name.endswith("_KEY")} == {"OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"}


def test_a_nearer_provider_does_not_take_over_anothers_base_url(here: Path):
    Path("ragways.toml").write_text("[model]\nbase_url = 'https://gate.example/v1'\nkey = 'sk-gate'\nname = 'm'\n")
    settings = chosen(here, RAGWAYS_MODEL__PROVIDER="ollama")
    assert (settings.model.base_url, settings.model.key.get_secret_value()) == (PROVIDERS["ollama"].base_url, "")


def test_azure_by_its_variables_and_the_older_way_by_query_and_header(here: Path):
    settings = chosen(
        here, RAGWAYS_MODEL__PROVIDER="azure", RAGWAYS_MODEL__NAME="m", AZURE_OPENAI_API_KEY=KEY,
        AZURE_OPENAI_ENDPOINT="https://mine.openai.azure.com/",
    )  # fmt: skip
    assert settings.model.base_url == "https://mine.openai.azure.com/openai/v1"
    with LoopbackServer(
        lambda _: json.dumps(GOOD),
        key=Demands(KEY, "api-key", {"x-team": "a"}, {"api-version": "2024-10-21"}),
    ) as server:
        variables = {"RAGWAYS_MODEL__PROVIDER": "azure", "RAGWAYS_MODEL__NAME": "m", "AZURE_OPENAI_API_KEY": KEY}
        variables |= {"RAGWAYS_MODEL__BASE_URL": server.base_url, "RAGWAYS_MODEL__HEADERS": "x-team=a"}
        with pytest.raises(ModelRefused, match="401"):
            note(chosen(here, **variables))
        assert note(chosen(here, **variables, RAGWAYS_MODEL__QUERY="api-version=2024-10-21")) == Note("fine", (1, 2))


@pytest.mark.parametrize("variables", [{"OPENAI_API_KEY": KEY}, {"OPENAI_BASE_URL": "https://gate.example/v1"}])
def test_a_name_alone_is_openais_where_its_variables_are_set(here: Path, variables: dict[str, str]):
    settings = chosen(here, RAGWAYS_MODEL__NAME="m", **variables)
    assert settings.model.base_url == variables.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    assert settings.model.key.get_secret_value() == variables.get("OPENAI_API_KEY", "")
    assert chosen(here, **variables).model == ModelSettings(), "without a name no model is asked, whatever is set"


@pytest.mark.parametrize("headers", ["Host=x", "content-length=3", "a b=c", "x-a=\u00e9"])
def test_a_header_that_no_request_can_have(here: Path, headers: str):
    settings = chosen(here, RAGWAYS_MODEL__PROVIDER="ollama", RAGWAYS_MODEL__NAME="m", RAGWAYS_MODEL__HEADERS=headers)
    with pytest.raises(SettingsError, match="header"):
        client_of(settings)


def test_headers_are_secret(here: Path):
    settings = chosen(here, RAGWAYS_MODEL__PROVIDER="ollama", RAGWAYS_MODEL__HEADERS=f"x-key={KEY}")
    assert KEY not in repr(settings)
    with pytest.raises(SettingsError) as wrong:
        chosen(here, RAGWAYS_MODEL__HEADERS=KEY)
    assert KEY not in str(wrong.value)


def bodies(here: Path, reply: object = None, /, **variables: str) -> list[Json]:
    """What was sent for a task, with these settings."""
    with LoopbackServer(lambda _: reply or json.dumps(GOOD)) as server:
        settings = chosen(here, RAGWAYS_MODEL__BASE_URL=server.base_url, RAGWAYS_MODEL__NAME="m", **variables)
        note(settings)
        return [dict(seen.body) for seen in server.requests]


def test_sampling_and_reasoning_are_sent_and_learnt(here: Path):
    usual = bodies(here)[0]
    assert {"top_p", "reasoning_effort"}.isdisjoint(usual)
    (body,) = bodies(
        here, RAGWAYS_MODEL__TOP_P="0.9", RAGWAYS_MODEL__REASONING_EFFORT="low", RAGWAYS_MODEL__REASONING_TOKENS="4000"
    )
    assert (body["top_p"], body["reasoning_effort"]) == (0.9, "low")
    assert body["max_tokens"] == usual["max_tokens"] + 4000


def test_prefixes_distinguish_questions_and_passages_and_name_the_embedder(here: Path):
    from ragways.models.embed import EndpointEmbedder

    with LoopbackServer() as server:
        variables = {
            "RAGWAYS_EMBEDDER__KIND": "endpoint", "RAGWAYS_EMBEDDER__NAME": "e5",
            "RAGWAYS_EMBEDDER__BASE_URL": server.base_url,
        }  # fmt: skip

        async def main() -> tuple[str, str]:
            plain = await embedder_of(chosen(here, **variables))
            prefixes = {"RAGWAYS_EMBEDDER__QUERY_PREFIX": "query: ", "RAGWAYS_EMBEDDER__PASSAGE_PREFIX": "passage: "}
            embedder = await embedder_of(chosen(here, **variables, **prefixes))
            assert isinstance(embedder, EndpointEmbedder)
            await embedder.embed(["a"])
            await embedder.embed_queries(["a"])
            await plain.aclose()
            await embedder.aclose()
            return plain.name, embedder.name

        plain, prefixed = asyncio.run(main())
    assert plain == "endpoint:e5:8"
    assert prefixed.startswith("endpoint:e5:8:")
    assert [seen.body["input"] for seen in server.requests[-2:]] == [["passage: a"], ["query: a"]]
