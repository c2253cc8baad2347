"""Every setting, with its default and what it does; the only reader of the environment.

A value that is set comes from where `settings_sources.py` says: a flag, the environment, a file. Else it is the default
here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator, model_validator

from ragways.core.section import Section, settings_error
from ragways.layers.settings import CommunitySettings, GraphSettings, WindowSettings
from ragways.models.providers import PROVIDERS
from ragways.retrieval.resources import GuardSettings
from ragways.settings_sources import ROLES, gathered, not_inherited, user_cache

ProviderName = Literal["", "ollama", "openai", "azure", "anthropic", "gemini", "vllm", "lmstudio", "openrouter"]


class PriceSettings(Section):
    """USD for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(0.0, ge=0)
    cached: float | None = Field(None, ge=0)


class EndpointSettings(Section):
    """Where an OpenAI-compatible endpoint is, and what is sent with every call."""

    provider: ProviderName = Field(
        "", description="ollama, openai, azure, anthropic, gemini, vllm, lmstudio or openrouter: see docs/models.md"
    )
    base_url: str = Field("", description="of endpoint: its URL, e.g. https://example.org/v1; the provider's if unset")
    name: str = Field("", description="of endpoint: the model's name there")
    key: SecretStr = Field(
        SecretStr(""), description="its key; better set as RAGWAYS_MODEL__KEY (…EMBEDDER__KEY) than written here"
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="sent with every call; in the environment: name=value,name=value"
    )
    query: dict[str, str] = Field(
        default_factory=dict, description="added to the URL of every call, e.g. api-version=2024-10-21 for Azure"
    )

    @field_validator("headers", "query", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:  # noqa: ANN401 - whatever was given
        if not isinstance(value, str):
            return value
        pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
        if not all(equals and name.strip() for name, equals, _ in pairs):
            raise ValueError("write it as name=value,name=value")
        return {name.strip(): text.strip() for name, _, text in pairs}

    @model_validator(mode="before")
    @classmethod
    def _of_provider(cls, values: Any) -> Any:  # noqa: ANN401 - whatever was given
        provider = PROVIDERS.get(str(values.get("provider"))) if isinstance(values, dict) else None
        return {**values, "base_url": values.get("base_url") or provider.base_url} if provider else values


class RoleSettings(EndpointSettings):
    """A language model, and how it is asked."""

    kind: str = Field("endpoint", description="endpoint asks base_url; a plug-in may bring others")
    top_p: float | None = Field(None, gt=0, le=1, description="of sampling; unset is the endpoint's own")
    reasoning_effort: str = Field("", description="of a model that reasons: low, medium, high, or what it knows")
    reasoning_tokens: int = Field(0, ge=0, description="room for reasoning, on top of what a reply may take")
    context: int | None = Field(
        None,
        ge=4096,
        description="tokens a call reads and writes at most; unset asks the server, else goes by provider",
    )
    timeout: float = Field(60.0, gt=0, description="seconds to wait for a reply to begin, and between two tokens")
    total_timeout: float = Field(1800.0, gt=0, description="seconds until a reply must be whole, however it flows")
    patience: float = Field(180.0, ge=0, description="seconds an outage is waited out before giving up")
    concurrency: int = Field(16, ge=1, description="calls under way at once")
    requests_per_minute: int | None = Field(None, ge=1, description="rate limit; unset is none")
    tokens_per_minute: int | None = Field(None, ge=1, description="rate limit; unset is none")
    options: dict[str, Any] = Field(default_factory=dict, description="of a plug-in's kind: whatever it takes")


class ModelSettings(RoleSettings):
    """The language model; without a name, everything is done without one."""

    extract: RoleSettings = Field(RoleSettings(), description="the model that extracts facts and names themes")
    report: RoleSettings = Field(RoleSettings(), description="the model that writes reports of communities")
    small: RoleSettings = Field(
        RoleSettings(), description="the model for follow-ups, sub-questions, keywords and names in questions"
    )

    @model_validator(mode="before")
    @classmethod
    def _inherited(cls, values: Any) -> Any:  # noqa: ANN401 - whatever was given
        """What a role does not set is as in the model, unless it is of another provider."""
        if not isinstance(values, dict):
            return values
        given = {role: values[role] for role in ROLES if values.get(role)}
        for role, part in given.items():
            own = {name: getattr(part, name) for name in part.model_fields_set} if isinstance(part, BaseModel) else part
            if isinstance(own, dict):
                left_out = not_inherited(values, own)
                given[role] = {**{name: value for name, value in values.items() if name not in left_out}, **own}
        return {**values, **given}

    @property
    def roles(self) -> dict[str, RoleSettings]:
        """The models that are set for a role of their own."""
        return {role: part for role in ROLES if (part := getattr(self, role)).name or part.base_url}


class JudgeSettings(RoleSettings):
    """The model that judges answers; unset, the language model judges its own, which is warned of."""


class EmbedderSettings(EndpointSettings):
    """What turns text into vectors. An index keeps the embedder it was built with."""

    kind: str = Field("minilm", description="minilm runs offline; endpoint asks base_url; a plug-in may bring others")
    threads: int | None = Field(None, ge=1, description="of minilm: cores to use; unset is up to 4")
    dimension: int | None = Field(None, ge=1, description="of endpoint: length of its vectors; unset asks once")
    query_prefix: str = Field("", description="of endpoint: put before a question, as in 'query: '")
    passage_prefix: str = Field("", description="of endpoint: put before everything else, as in 'passage: '")
    options: dict[str, Any] = Field(default_factory=dict, description="of a plug-in's kind: whatever it takes")


class ChunkingSettings(Section):
    """How documents are cut. A preset, and what to change of it."""

    preset: Literal["section", "thesis", "router-bench", "agentic"] = Field(
        "section", description="see docs/settings.md"
    )
    size: int | None = Field(None, ge=1, description="most units in a chunk")
    overlap: int | None = Field(None, ge=0, description="units shared with the chunk before")
    unit: Literal["characters", "tokens"] | None = Field(None, description="what size counts")
    within: Literal["document", "section", "paragraph"] | None = Field(None, description="border no chunk crosses")
    title: bool | None = Field(None, description="search a chunk by its titles too")


class CorpusSettings(Section):
    """What is read."""

    max_bytes: int = Field(256 * 1024 * 1024, ge=1, description="larger files are skipped (dumps are streamed)")
    include: tuple[str, ...] = Field((), description="patterns as in .gitignore of files to read; none is all of them")
    exclude: tuple[str, ...] = Field((), description="patterns of files and folders to leave out")
    gitignore: bool = Field(True, description="leave out what the .gitignore files of a folder name")
    fields: dict[str, str] = Field(
        default_factory=dict, description="of JSON records: which field is id, title, text, date, url, author, source"
    )


class AnswerSettings(Section):
    """How an answer is made from evidence."""

    threshold: float = Field(
        0.1, ge=0, le=1, description="the least chance of being right with which it answers; 0 answers whatever it can"
    )
    reader: Literal["read", "extract"] = Field(
        "read", description="without a model: read finds the answer itself, extract takes the best sentences"
    )
    sentences: int = Field(3, ge=1, le=20, description="most sentences of an answer made without a model")
    order: bool = Field(
        False,
        description="with a model: show it the best passages in the order in which the reader finds them evidence",
    )
    stop_below: float = Field(
        0.0,
        ge=0,
        le=1,
        description="with a model: it is not asked where the reader's chance is below this",
    )
    check: bool = Field(
        False,
        description="with a model: its answer gets the reader's chance where they agree, else a note",
    )
    prompts: Literal["shared", "native", "short"] = Field(
        "shared",
        description="shared: one answer prompt for all, so that only retrieval differs; native: each its own; "
        "short: a word or a name, yes or no, as exact metrics need",
    )
    fallback: bool = Field(
        True, description="extract an answer where the model gives none, and say so; never in evaluations"
    )
    style: str = Field(
        "",
        max_length=2000,
        description="of answers by a model: brief, full, or your own words; unset is full in chats and on the page, "
        "else brief",
    )
    tokens: int | None = Field(None, ge=16, description="most tokens of an answer by a model; unset is 2,048")
    system: str = Field("", description="added to our own instructions whenever the model answers")
    language: str = Field("", description="language of answers by a model, e.g. German; unset is the model's choice")
    temperature: float = Field(
        0.0, ge=0, le=2, description="of the model in answering; tasks with one of their own keep it"
    )
    router: Path | None = Field(
        None,
        description="file of the router that auto goes by, or paradigms, the one made from RAGRouter-Bench's figures; "
        "unset is the index's own, or the one that comes along",
    )
    support: bool = Field(
        False, description="with --json, estimate of each citation how likely it bears the answer out: a weak signal"
    )


class McpSettings(Section):
    """The server for agents."""

    token: SecretStr = Field(
        SecretStr(""), description="what HTTP clients must bring, as RAGWAYS_MCP__TOKEN; unset makes one up"
    )


class ServeSettings(Section):
    """The service and its page, `ragways serve`."""

    data: Path = Field(Path("ragways-data"), description="folder of what the service keeps: collections, keys, jobs")
    host: str = Field("127.0.0.1", description="address to listen on; other than loopback needs a key")
    port: int = Field(8080, ge=0, le=65535, description="port to listen on; 0 is any that is free")
    hosts: tuple[str, ...] = Field((), description="names that requests may be addressed to besides this machine's")
    origins: tuple[str, ...] = Field((), description="other sites whose pages may send requests; none unless set")
    workers: int = Field(0, ge=0, le=64, description="processes that answer; 0 is one a core")
    jobs: int = Field(2, ge=1, le=64, description="jobs that run at once, at most one on a collection")
    upload_mb: int = Field(256, ge=1, description="largest file that may be uploaded")
    files: int = Field(10_000, ge=1, description="most files of a collection")
    seconds: float = Field(120.0, gt=0, description="seconds that a question may take")
    at_once: int = Field(64, ge=1, description="requests that are worked on at once; more wait, then are refused")
    per_key: int = Field(16, ge=1, description="requests that one key may have under way")
    budget: float = Field(
        0.10, ge=0, description="USD a request may spend where its key has a budget and it names none"
    )
    otlp: str = Field("", description="where OpenTelemetry spans are sent, e.g. http://127.0.0.1:4318; none unless set")
    otlp_texts: bool = Field(False, description="whether those spans hold questions, answers and titles, too")

    @field_validator("hosts", "origins", mode="before")
    @classmethod
    def _from_a_variable(cls, value: object) -> object:
        """A list in an environment variable has commas."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


class ClusterSettings(Section):
    """Where texts are embedded and the graph's rules read documents when an index is built (docs/scale.md)."""

    engine: Literal["local", "ray"] = Field("local", description="local is this process; ray is a cluster (extra ray)")
    address: str = Field("", description="of ray: host:port, ray://host:port or auto; unset starts one on this machine")


class Settings(Section):
    """Every setting of ragways, section by section; frozen, and checked when it is made."""

    index: Path = Field(
        Path(".ragways"),
        description="folder of the index, or its URL: s3://bucket/path, gs://, az://, file:// (extra cloud)",
    )
    cache: Path = Field(Path(), description="folder for what all indexes share; unset is the user's cache folder")
    data: Path | None = Field(None, description="folder of public data sets, for ragways eval --dataset")
    model: ModelSettings = ModelSettings()
    judge: JudgeSettings = JudgeSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    corpus: CorpusSettings = CorpusSettings()
    answer: AnswerSettings = AnswerSettings()
    guard: GuardSettings = GuardSettings()
    cluster: ClusterSettings = ClusterSettings()
    mcp: McpSettings = McpSettings()
    serve: ServeSettings = ServeSettings()
    graph: GraphSettings = GraphSettings()
    windows: WindowSettings = WindowSettings()
    communities: CommunitySettings = CommunitySettings()
    layers: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="settings of a layer that a plug-in brings, e.g. [layers.timeline] size = 3"
    )
    prices: dict[str, PriceSettings] = Field(
        default_factory=dict, description="USD for a million tokens by model name, where the built-in table is wrong"
    )
    paradigms: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="settings of a paradigm, e.g. [paradigms.naive] k = 20"
    )

    def selecting(self, include: Iterable[str] | None, exclude: Iterable[str] | None) -> Settings:
        """The same with other patterns of files to read; None leaves what is set."""
        given = {"include": include, "exclude": exclude}
        changed = {name: tuple(value) for name, value in given.items() if value is not None}
        return self.model_copy(update={"corpus": self.corpus.model_copy(update=changed)}) if changed else self

    @model_validator(mode="before")
    @classmethod
    def _with_cache(cls, values: Any) -> Any:  # noqa: ANN401 - whatever was given; the fields say what it must be
        if isinstance(values, dict) and "cache" not in values:
            return {**values, "cache": user_cache(os.environ)}
        return values


def read_settings(
    file: Path | None = None, *, environment: Mapping[str, str] | None = None, trust: bool = False, **flags: object
) -> Settings:
    """Settings from defaults, the user's file, the settings file, environment and flags; a flag of None was not given.

    A key, header or parameter of the user's (from the environment or the user's file) is not sent to a base URL that
    only the settings file or `.env` names, because these may have come with somebody else's folder: this is a
    SettingsError unless `trust` is set. The key in a provider's own variable (`OPENAI_API_KEY`) goes to that
    provider alone.
    """
    values = gathered(file, os.environ if environment is None else environment, flags, trust=trust)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise settings_error(error, Settings) from None


def plain_settings(settings: Settings) -> dict[str, Any]:
    """Settings as JSON data, secrets and all, for a process that does a part of the work."""
    plain: dict[str, Any] = _plain(settings)
    return plain


def _plain(value: object) -> Any:  # noqa: ANN401 - whatever a setting is
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list | frozenset | set):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
