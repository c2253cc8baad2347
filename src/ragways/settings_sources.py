"""Where the values of settings come from, and whose they are.

A value comes from the first that has it: a flag of the command, the environment (`RAGWAYS_MODEL__NAME`), a file `.env`
in the current folder, the settings file (`ragways.toml`), the user's own settings file
(`~/.config/ragways/ragways.toml`). A key of the user's goes only where the user says. What a value may be, and what
it is where nobody sets it, stands in `settings.py`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from ragways.core.errors import SettingsError
from ragways.models.providers import VARIABLES, Filled, fill

_Part = Mapping[str, Any]
FILE = "ragways.toml"
DOTENV = ".env"
LONGEST_DOTENV = 1 << 16
PREFIX = "RAGWAYS_"
WITH_KEYS = ("model", "judge", "embedder")
OF_A_PROVIDER = ("base_url", "key", "headers", "query")
"""Settings that belong to one provider: whoever names another does not mean them."""
ROLES = ("extract", "report", "small")
"""Sections of `model` that take from it what they do not set."""


def gathered(
    file: Path | None, environment: Mapping[str, str], flags: Mapping[str, object], *, trust: bool
) -> dict[str, Any]:
    """What is set, section by section; see `read_settings` for what `trust` allows."""
    path, own = file or Path(FILE), user_file(environment)
    users = _from_file(own) if own is not None and own.is_file() else {}
    dotenv = _from_dotenv(Path(DOTENV))
    folders = _from_file(path) if (file is not None or path.is_file()) and not _same(path, own) else {}
    folders = _merged(folders, _from_environment(dotenv))
    nearest = _from_environment(environment)
    _overlay(nearest, {name: value for name, value in flags.items() if value is not None})
    values, mine = _merged(users, folders, nearest), _merged(users, nearest)

    def put(place: dict[str, Any], name: str, section: str, part: Mapping[str, Any], own: _Part, its: _Part) -> None:
        filled = fill(part, own, environment, dotenv)
        if not trust:
            _check_secrets(path, section, filled, its, own)
        place[name] = filled.values

    model = _part(values, "model")
    for section in WITH_KEYS:
        if part := _part(values, section):
            put(values, section, section, part, _part(mine, section), _part(folders, section))
    for role in ROLES:
        if part := _part(model, role):
            left_out = not_inherited(model, part)
            parts = (_inherited(own, role, left_out) for own in (model, _part(mine, "model"), _part(folders, "model")))
            put(values["model"], role, f"model.{role}", *parts)
    if "cache" not in values:
        values["cache"] = user_cache(environment)
    return values


def user_file(environment: Mapping[str, str]) -> Path | None:
    """Where the user's own settings file is, if there is one; None for an environment without a home folder."""
    base = Path(environment.get("XDG_CONFIG_HOME") or "")
    if not base.is_absolute():  # by its specification, a relative one does not count
        home = environment.get("HOME") or environment.get("USERPROFILE")
        if not home:
            return None
        base = Path(home) / ".config"
    return base / "ragways" / FILE


def user_cache(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ragways"
    except RuntimeError:
        raise SettingsError("this user has no home folder", "set RAGWAYS_CACHE to a folder for the model") from None


def _same(path: Path, other: Path | None) -> bool:
    return other is not None and path.resolve() == other.resolve()


def not_inherited(model: _Part, role: _Part) -> frozenset[str]:
    """The settings of a model that one of its roles does not take over: where it names another provider or base URL,
    all that belongs to that of the model.
    """
    other = any(
        role.get(name) and _address(role[name]) != _address(model.get(name)) for name in ("provider", "base_url")
    )
    return frozenset((*ROLES, *(("provider", *OF_A_PROVIDER) if other else ())))


def _address(value: object) -> str:
    return str(value or "").strip().rstrip("/")


def _inherited(model: _Part, role: str, left_out: frozenset[str]) -> dict[str, Any]:
    return {**{name: value for name, value in model.items() if name not in left_out}, **_part(model, role)}


def _part(values: _Part, section: str) -> dict[str, Any]:
    part = values.get(section)
    return dict(part) if isinstance(part, Mapping) else {}


def _check_secrets(path: Path, section: str, filled: Filled, folders: _Part, mine: _Part) -> None:
    """Refuse a folder's file that would have a secret of the user's sent to a place that the user did not name."""
    url, key = str(filled.values.get("base_url") or ""), filled.values.get("key")
    users_key = key and not filled.folders_key and key != folders.get("key")
    what = "key" if users_key and url not in filled.for_key else ""
    if not what and url not in filled.named:
        what = next((name for name in ("headers", "query") if mine.get(name)), "")
    if not url or not what:
        return
    variable = f"{PREFIX}{section.upper().replace('.', '__')}__BASE_URL"
    raise SettingsError(
        f"{path} or {DOTENV} would have your {section}.{what} sent to {url!r}, which only that file names",
        f"if it belongs there, set {variable} too, or give --trust; otherwise take base_url out of that file",
    )


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        cure = f"name one that is there, or write one with: ragways init {path}"
        raise SettingsError(f"there is no settings file {path}", cure) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"cannot read {path}: {why}", "write a new one with: ragways init") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}", "mend that line, or: ragways init --force") from error


def _from_dotenv(path: Path) -> dict[str, str]:
    """Our own variables and those of providers in a file `NAME=value`; a file that is not there holds none."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST_DOTENV)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}", "mend it, or take it away") from error
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if equals and (name.startswith(PREFIX) or name in VARIABLES):
            quoted = len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]
            found[name] = value[1:-1] if quoted else value.partition(" #")[0].strip()
    return found


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in environment.items():
        if name.startswith(PREFIX):
            *parents, leaf = name.removeprefix(PREFIX).lower().split("__")
            place = values
            for parent in parents:
                place = place.setdefault(parent, {})
                if not isinstance(place, dict):
                    raise SettingsError(f"{name} and a shorter variable contradict each other", "unset one of them")
            place[leaf] = value
    return values


def _merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """One of all, the later over the earlier; none of them is changed."""
    values: dict[str, Any] = {}
    for layer in layers:
        for section in WITH_KEYS:
            provider, before = _part(layer, section).get("provider"), values.get(section)
            if provider and isinstance(before, dict) and before.get("provider") != provider:
                values[section] = {name: value for name, value in before.items() if name not in OF_A_PROVIDER}
        _overlay(values, deepcopy(dict(layer)))
    return values


def _overlay(values: dict[str, Any], over: Mapping[str, Any]) -> None:
    for name, value in over.items():
        if isinstance(value, Mapping) and isinstance(values.get(name), dict):
            _overlay(values[name], value)
        else:
            values[name] = value
