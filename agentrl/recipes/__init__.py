"""Recipes: training runs as TOML files, packaged or the user's own.

A recipe has a `summary`, an `[all]` table of options that hold for every stage, and `[[stage]]` tables in their order.
Each stage has an `algorithm`, a `name` where there are several, and options of that algorithm. A stage starts from the
final policy of the one before it unless it names a `model`. Options that take JSON may be written as TOML tables.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from agentrl.algorithms import Stage
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.files import read_regular

SUFFIX = ".toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Recipe:
    """A recipe as it was read."""

    name: str
    summary: str
    stages: tuple[Stage, ...]


def recipe_names() -> list[str]:
    """The packaged ones."""
    found = (path.name for path in files(__name__).iterdir())
    return sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX))


def recipe_text(name: str) -> str:
    """A packaged recipe with its comments; `ConfigError` with the nearest name where there is none."""
    known = recipe_names()
    if name not in known:
        raise ConfigError(f"unknown recipe {name!a}.{did_you_mean(name, known)} See: agentrl recipe")
    return files(__name__).joinpath(name + SUFFIX).read_text(encoding="utf-8")


def load_recipe(name: str) -> Recipe:
    """A packaged recipe by its name, or the recipe in a file."""
    path = Path(name)
    if not (name.endswith(SUFFIX) or path.parent != Path()):
        return parse_recipe(name, recipe_text(name))
    try:
        return parse_recipe(path.stem, read_regular(path).decode("utf-8"))
    except (OSError, UnicodeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"the recipe {name!a} cannot be read: {error}") from error


def parse_recipe(name: str, text: str) -> Recipe:
    """A recipe from its text; `ConfigError` says what is wrong with its form."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the recipe {name} is not TOML: {error}") from error
    for key in data:
        if key not in ("summary", "all", "stage"):
            raise ConfigError(f"the recipe {name} has {key!a}; a recipe has summary, [all] and [[stage]]")
    common, stages = data.get("all", {}), data.get("stage", [])
    if not isinstance(common, dict) or not _is_tables(stages) or not isinstance(data.get("summary", ""), str):
        raise ConfigError(f"the recipe {name} needs a table [all], if any, and at least one table [[stage]]")
    found = tuple(_stage(name, number, common, table) for number, table in enumerate(stages, 1))
    if len({stage.name for stage in found}) < len(found):
        raise ConfigError(f"the recipe {name} gives two stages one name")
    return Recipe(name, data.get("summary", ""), found)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(table, dict) for table in value)


def _stage(recipe: str, number: int, common: dict[str, Any], table: dict[str, Any]) -> Stage:
    values = {**common, **table}
    algorithm, name = values.pop("algorithm", None), values.pop("name", f"stage-{number}")
    if not isinstance(algorithm, str):
        raise ConfigError(f"stage {number} of the recipe {recipe} must name an algorithm; got {algorithm!r}")
    if not isinstance(name, str) or not NAME.fullmatch(name):  # it becomes a folder
        raise ConfigError(f"the name of stage {number} of the recipe {recipe} must be letters, digits, _ and -")
    for own in ("output", "resume"):
        if own in values:
            raise ConfigError(f"{own} belongs on the command line, not in the recipe {recipe}")
    return Stage(algorithm, values, name)
