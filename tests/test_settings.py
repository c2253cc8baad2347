"""Which file a setting comes from, and that a key of the user's goes only where the user says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from ragways.apps.cli import full_app
from ragways.apps.settings_file import settings_text
from ragways.assemble import client_of, judge_client_of, recipe_of
from ragways.core.errors import NoIndex, SettingsError
from ragways.layers.settings import CommunitySettings, GraphSettings, WindowSettings
from ragways.models.call import Call, Message, Reply
from ragways.settings import Settings, plain_settings, read_settings
from ragways.settings_sources import user_file
from ragways.testing import LoopbackServer

SECTIONS = ("model", "judge", "embedder")
ELSEWHERE, MINE = "https://elsewhere.example/v1", "https://mine.example/v1"

Write = Callable[[str], None]


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the ragways.toml of the current folder."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return lambda text: put(Path("ragways.toml"), text)


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the user's own settings file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return lambda text: put(tmp_path / "config" / "ragways" / "ragways.toml", text)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def judge(settings: Settings) -> Reply:
    """A call of the judge's."""

    async def main() -> Reply:
        async with judge_client_of(settings) as client:
            return await client.complete(Call((Message("user", "?"),)))

    return asyncio.run(main())


@pytest.mark.parametrize("section", SECTIONS)
def test_a_key_of_the_environment_does_not_go_where_a_folders_file_points(
    section: str, folders: Write, monkeypatch: pytest.MonkeyPatch
):
    folders(f"[{section}]\nbase_url = '{ELSEWHERE}'\nname = 'm'\n")
    assert getattr(read_settings(), section).base_url == ELSEWHERE, "without a key there is nothing to lose"
    monkeypatch.setenv(f"RAGWAYS_{section.upper()}__KEY", "sk-mine")
    with pytest.raises(SettingsError) as refused:
        read_settings()
    assert "sk-mine" not in str(refused.value)
    assert ELSEWHERE in refused.value.message
    assert f"RAGWAYS_{section.upper()}__BASE_URL" in refused.value.cure
    assert "--trust" in refused.value.cure
    with pytest.raises(SettingsError):
        read_settings(Path("ragways.toml"))
    assert getattr(read_settings(trust=True), section).key.get_secret_value() == "sk-mine"


def test_a_key_beside_its_base_url_in_the_folders_file_is_that_files_own(
    folders: Write, monkeypatch: pytest.MonkeyPatch
):
    folders(f"[model]\nbase_url = '{ELSEWHERE}'\nname = 'm'\nkey = 'sk-theirs'\n")
    assert read_settings().model.key.get_secret_value() == "sk-theirs"
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "sk-mine")
    with pytest.raises(SettingsError):
        read_settings()


def test_a_judge_that_falls_back_to_the_model_gets_the_models_key_where_the_model_is(
    folders: Write, monkeypatch: pytest.MonkeyPatch
):
    """A folder's judge does not get the model's key, and a key for the judge alone stays unsent."""
    with LoopbackServer() as elsewhere, LoopbackServer(key="sk-mine") as mine:
        folders(f"[judge]\nbase_url = '{elsewhere.base_url}'\nname = 'j'\n")
        for name, value in (("KEY", "sk-mine"), ("BASE_URL", mine.base_url), ("NAME", "m")):
            monkeypatch.setenv(f"RAGWAYS_MODEL__{name}", value)
        chosen = read_settings()
        assert chosen.judge.key.get_secret_value() == ""
        judge(chosen)
        assert (elsewhere.requests[0].body["model"], mine.count) == ("j", 0)
        folders("")
        judge(read_settings())
        assert (mine.requests[0].body["model"], mine.requests[0].authorized, elsewhere.count) == ("m", True, 1)


def test_the_order_is_flag_environment_folder_user_default(
    folders: Write, users: Write, monkeypatch: pytest.MonkeyPatch
):
    assert read_settings().index == Path(".ragways")
    users("index = 'users'\n[answer]\nthreshold = 0.9\nsentences = 7\n")
    assert read_settings().index == Path("users")
    folders("index = 'folders'\n[answer]\nthreshold = 0.1\n")
    chosen = read_settings()
    assert (chosen.index, chosen.answer.threshold, chosen.answer.sentences) == (Path("folders"), 0.1, 7)
    monkeypatch.setenv("RAGWAYS_INDEX", "environments")
    assert read_settings().index == Path("environments")
    assert read_settings(index=Path("flags")).index == Path("flags")


def test_where_the_users_file_is(tmp_path: Path):
    assert user_file({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == Path("/c/ragways/ragways.toml")
    assert user_file({"XDG_CONFIG_HOME": ".", "HOME": "/h"}) == Path("/h/.config/ragways/ragways.toml")
    assert user_file({"HOME": "/h"}) == Path("/h/.config/ragways/ragways.toml")
    assert user_file({}) is None


@pytest.mark.parametrize("text", ["model = 3\n", "[model]\nbase_url = 3\n", "[model]\nbase_url = ['x']\n"])
def test_a_file_of_nonsense_is_an_error_with_its_name(text: str, folders: Write, monkeypatch: pytest.MonkeyPatch):
    folders(text)
    with pytest.raises(SettingsError, match="model"):
        read_settings()
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "sk-mine")
    if "base_url" in text:
        with pytest.raises(SettingsError, match="model"):
            read_settings()


def test_commands_that_send_a_key_ask_for_trust_and_others_do_not(folders: Write, monkeypatch: pytest.MonkeyPatch):
    """`--trust` is an option exactly where a model may be called; the rest works in such a folder as ever."""
    from typer.testing import CliRunner

    folders(f"[model]\nbase_url = '{ELSEWHERE}'\nname = 'm'\n")
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "sk-mine")
    put(Path("corpus/a.txt"), "The light was built in 1801.")
    run = CliRunner().invoke
    asked = ["index", "corpus", "--plan"]
    refused = run(full_app(), asked)
    assert isinstance(refused.exception, SettingsError)
    assert run(full_app(), [*asked, "--trust"]).exception is None

    for command in (["status"], ["show", "x"], ["check"], ["graph", "show", "x"]):
        assert isinstance(run(full_app(), command).exception, NoIndex), command


# Layers


def test_a_layers_setting_from_the_environment_has_its_type(tmp_path: Path):
    set_off = {"RAGWAYS_GRAPH__RELATION_VECTORS": "false", "RAGWAYS_WINDOWS__SIZE": "4", "HOME": str(tmp_path)}
    settings = recipe_of(read_settings(environment=set_off), frozenset()).settings
    assert settings["graph"] == GraphSettings(relation_vectors=False)
    assert settings["windows"] == WindowSettings(size=4)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("GRAPH__GLEANING", "lots", r"setting graph\.gleaning: .*integer"),
        ("GRAPH__METHOD", "rule", r"setting graph\.method: .*'rules', 'model' or 'import'"),
        ("GRAPH__METHODE", "rules", r"there is no setting graph\.methode.*did you mean method"),
        ("GRAPH__METHOD", "import", r"graph\.file names no file"),
        ("WINDOWS__SLIDE", "4", r"windows\.slide 4 is more than windows\.size 3"),
        ("COMMUNITIES__SIZE", "1", r"setting communities\.size: .*greater than or equal to 2"),
    ],
)
def test_a_wrong_setting_of_a_layer_is_refused(tmp_path: Path, variable: str, value: str, message: str):
    with pytest.raises(SettingsError, match=message):
        read_settings(environment={f"RAGWAYS_{variable}": value, "HOME": str(tmp_path)})


def test_the_settings_file_describes_every_setting_of_a_layer():
    text = settings_text()
    for section in (GraphSettings, WindowSettings, CommunitySettings):
        for name, field in section.model_fields.items():
            assert f"# {field.description}\n# {name} = " in text


# A file .env, and the variables of providers


def dotenv(text: str) -> None:
    put(Path(".env"), text)


def test_a_dotenv_file_holds_settings_and_a_providers_variables(folders: Write, monkeypatch: pytest.MonkeyPatch):
    folders("[answer]\nsentences = 5\n[model]\nname = 'of the file'\n")
    dotenv("# mine\nexport RAGWAYS_MODEL__NAME='m'\nOPENAI_API_KEY=\"sk-there\"\nPATH=/nowhere\nSECRET=x\nodd line\n")
    chosen = read_settings()
    assert (chosen.model.name, chosen.answer.sentences) == ("m", 5)
    assert (chosen.model.base_url, chosen.model.key.get_secret_value()) == ("https://api.openai.com/v1", "sk-there")
    monkeypatch.setenv("RAGWAYS_MODEL__NAME", "nearer")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    chosen = read_settings()
    assert (chosen.model.name, chosen.model.key.get_secret_value()) == ("nearer", "sk-mine")


@pytest.mark.parametrize(
    "text",
    [
        f"OPENAI_BASE_URL={ELSEWHERE}\nRAGWAYS_MODEL__NAME=m\n",
        f"RAGWAYS_MODEL__PROVIDER=openai\nRAGWAYS_MODEL__BASE_URL={ELSEWHERE}\nRAGWAYS_MODEL__NAME=m\n",
    ],
)
def test_a_dotenv_file_does_not_redirect_a_key(folders: Write, monkeypatch: pytest.MonkeyPatch, text: str):
    dotenv(text)
    assert read_settings().model.base_url == ELSEWHERE, "without a key there is nothing to lose"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    with pytest.raises(SettingsError) as refused:
        read_settings()
    assert "sk-mine" not in str(refused.value)
    assert read_settings(trust=True).model.base_url == ELSEWHERE
    dotenv(text + "OPENAI_API_KEY=sk-theirs\n")
    with pytest.raises(SettingsError):
        read_settings()
    monkeypatch.delenv("OPENAI_API_KEY")
    assert read_settings().model.key.get_secret_value() == "sk-theirs", "a key of the folder's goes where that says"


def test_a_folder_cannot_hand_one_providers_key_to_another(folders: Write, monkeypatch: pytest.MonkeyPatch):
    folders("[model]\nprovider = 'openrouter'\nname = 'm'\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    assert read_settings().model.key.get_secret_value() == ""
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "sk-mine")
    with pytest.raises(SettingsError, match=r"openrouter\.ai"):
        read_settings()
    monkeypatch.setenv("RAGWAYS_MODEL__PROVIDER", "openrouter")
    assert read_settings().model.key.get_secret_value() == "sk-mine", "the user names it too"


def test_a_providers_own_variable_goes_to_that_provider_whoever_names_it(
    folders: Write, monkeypatch: pytest.MonkeyPatch
):
    folders("[model]\nprovider = 'anthropic'\nname = 'm'\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    assert read_settings().model.key.get_secret_value() == "sk-mine"
    folders(f"[model]\nprovider = 'anthropic'\nname = 'm'\nbase_url = '{ELSEWHERE}'\n")
    with pytest.raises(SettingsError, match="elsewhere"):
        read_settings()


@pytest.mark.parametrize("name", ["headers", "query"])
def test_headers_and_parameters_of_the_users_stay_with_a_base_url_of_the_users(
    folders: Write, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv(f"RAGWAYS_MODEL__{name.upper()}", "x-key=sk-mine")
    for text in (f"base_url = '{ELSEWHERE}'", "provider = 'openrouter'"):
        folders(f"[model]\nname = 'm'\n{text}\n")
        with pytest.raises(SettingsError, match=rf"model\.{name}"):
            read_settings()
    monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", MINE)
    assert "x-key" in getattr(read_settings().model, name)


def test_a_role_takes_from_the_model_what_it_does_not_set(folders: Write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "sk-mine")
    monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", MINE)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    monkeypatch.setenv("RAGWAYS_MODEL__REPORT__PROVIDER", "anthropic")
    folders(
        '[model]\nname = "large"\ntimeout = 9\n[model.small]\nname = "small"\nreasoning_effort = "low"\n'
        '[model.report]\nname = "writer"\n'
    )
    chosen = read_settings().model
    assert chosen.roles.keys() == {"small", "report"}
    small, report = chosen.small, chosen.report
    assert (small.name, small.base_url, small.key.get_secret_value()) == ("small", MINE, "sk-mine")
    assert (small.timeout, small.reasoning_effort, chosen.reasoning_effort) == (9.0, "low", "")
    assert (report.name, report.timeout, report.key.get_secret_value()) == ("writer", 9.0, "sk-ant")
    assert "anthropic" in report.base_url
    assert Settings.model_validate(plain_settings(Settings(model=chosen))).model == chosen
    client = client_of(Settings(model=chosen))
    names = [client.of(role).model.name for role in ("", "small", "report", "extract")]  # type: ignore[union-attr]
    assert names == ["large", "small", "writer", "large"]


@pytest.mark.parametrize("line", [f'base_url = "{ELSEWHERE}"', f'provider = "openai"\nbase_url = "{ELSEWHERE}"'])
def test_the_models_key_does_not_go_where_a_folders_file_points_a_role(
    line: str, folders: Write, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", MINE)
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "sk-mine")
    monkeypatch.setenv("RAGWAYS_MODEL__HEADERS", "x-who=somebody")
    monkeypatch.setenv("RAGWAYS_MODEL__NAME", "large")
    folders(f'[model.small]\nname = "small"\n{line}\n')
    small = read_settings().model.small
    assert (small.base_url, small.key.get_secret_value(), small.headers) == (ELSEWHERE, "", {})
    monkeypatch.setenv("RAGWAYS_MODEL__SMALL__KEY", "sk-small")
    with pytest.raises(SettingsError, match=r"model\.small\.key") as refused:
        read_settings()
    assert "RAGWAYS_MODEL__SMALL__BASE_URL" in refused.value.cure
