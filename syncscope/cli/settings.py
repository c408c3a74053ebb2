"""Defaults from ``[tool.syncscope]`` of the nearest pyproject.toml: ``frames = [2, 8, 32]``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from syncscope.subjects import Unusable


@dataclass(frozen=True)
class Settings:
    """The table ``[tool.syncscope]`` of ``file``; its keys are the options without their dashes."""

    file: Path
    table: Mapping[str, Any]


def nearest(folder: Path) -> Settings:
    """The settings of the first pyproject.toml in ``folder`` or above it; an empty table where there is none.

    Raises:
        Unusable: it is no TOML, or ``tool.syncscope`` no table.
    """
    file = next((path for at in (folder, *folder.parents) if (path := at / "pyproject.toml").is_file()), None)
    return Settings(folder, {}) if file is None else Settings(file, _table(file))


def defaults(settings: Settings, commands: Mapping[str, click.Command]) -> dict[str, dict[str, Any]]:
    """Click's default map: each command gets the settings that it has an option for.

    Raises:
        Unusable: no command has an option of that name.
    """
    options = {name: _options(command) for name, command in commands.items()}
    known = {key for own in options.values() for key in own}
    for key in settings.table:
        if key not in known:
            raise Unusable(_unknown(settings.file, key, known))
    return {name: _of_command(own, settings.table) for name, own in options.items()}


def _of_command(options: Mapping[str, click.Option], table: Mapping[str, Any]) -> dict[str, Any]:
    shared = options.keys() & table.keys()
    return {str(options[key].name): _given(options[key], table[key]) for key in shared}


def _table(file: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"{file}: no TOML ({error}); mend it, its [tool.syncscope] is read") from None
    return _inner(file, _inner(file, document, "tool"), "syncscope")


def _inner(file: Path, table: Mapping[str, Any], name: str) -> dict[str, Any]:
    inner = table.get(name, {})
    if isinstance(inner, dict):
        return inner
    raise Unusable(f"{file}: {name} is no table; write the settings under a line [tool.syncscope]")


def _options(command: click.Command) -> dict[str, click.Option]:
    """The options by the key that sets them: ``tokens-per-frame``."""
    return {
        max(option.opts, key=len).lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option)
    }


def _given(option: click.Option, value: Any) -> Any:
    return [value] if option.multiple and not isinstance(value, list) else value


def _unknown(file: Path, key: str, known: set[str]) -> str:
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(known))}"
    return f"{file}: [tool.syncscope] has no setting {key!r}; {hint}"
