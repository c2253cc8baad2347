"""A section of the settings: values that are checked, each with its description, and errors that say what was meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from ragways.core.errors import SettingsError, did_you_mean

SECRETS = frozenset({"key", "token", "headers"})
"""Settings whose value must not be shown, not even a wrong one; nor what stands in place of a section that has one."""

S = TypeVar("S", bound="Section")


class Section(BaseModel):
    """Frozen, with no settings but its own. Texts are read as numbers or truth values where such are wanted, because
    the environment has nothing but texts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - whatever was given
        """`true` would pass for 1."""
        wanted = cls.model_fields[info.field_name or ""].annotation
        kinds = get_args(wanted) or (wanted,)
        if isinstance(value, bool) and bool not in kinds and (int in kinds or float in kinds):
            raise ValueError("a number is wanted")
        return value


def parse_section(name: str, kind: type[S], values: Mapping[str, object]) -> S:
    """The section of this kind with these values; SettingsError names the setting that is wrong, as `name.setting`."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        raise settings_error(error, kind, name) from None


def settings_error(error: ValidationError, root: type[BaseModel], name: str = "") -> SettingsError:
    """The first thing that is wrong with the values of `root`, by its name, and what was meant. `name` is the name of
    `root` itself, where it is a section of something larger.
    """
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    setting = ".".join([name, *where] if name else where)
    if first["type"] == "extra_forbidden":
        known = (_section(root, where[:-1]) or root).model_fields
        return SettingsError(f"there is no setting {setting}", did_you_mean(where[-1], known))
    message = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
    section = _section(root, where)
    if section is not None and first["type"] == "value_error":  # of several settings together, which it names
        return SettingsError(message, "change one of them")
    secret = SECRETS & set(where) or (section is not None and SECRETS & section.model_fields.keys())
    now = "" if secret else f"it is {str(first.get('input'))[:80]!r} now"
    return SettingsError(f"setting {setting}: {message[:1].lower()}{message[1:]}", now)


def _section(root: type[BaseModel], path: list[str]) -> type[BaseModel] | None:
    """The section at this path; None where a single setting stands there."""
    section = root
    for name in path:
        field = section.model_fields.get(name)
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            return None
        section = field.annotation
    return section
