"""`agentrl recipe`: training runs that come with the package, to run or to copy and edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json, print_table
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.recipes import load_recipe, recipe_names, recipe_text

ACTIONS = ("list", "show", "copy")


@dataclass(kw_only=True)
class Arguments(Common):
    """Training recipes: list them, show one, copy one to edit it. `agentrl train --recipe NAME|FILE` runs one."""

    action: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="list|show|copy")] = "list"
    """list, show or copy."""
    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")] = ""
    """Name of the recipe, for show and copy."""
    file: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")] = ""
    """File of the copy; default: NAME.toml in this folder."""


def run(arguments: Arguments) -> int:
    """Do what was asked for."""
    if arguments.action not in ACTIONS:
        hint = did_you_mean(arguments.action, ACTIONS)
        raise ConfigError(f"unknown action {arguments.action!a}.{hint} Actions: {', '.join(ACTIONS)}.")
    if arguments.action == "list":
        show_all(arguments.json)
        return 0
    if not arguments.name:
        raise ConfigError(f"agentrl recipe {arguments.action} needs the NAME of a recipe; see: agentrl recipe")
    text = recipe_text(arguments.name)
    if arguments.action == "copy":
        copy(arguments, text)
    elif arguments.json:
        print_json({"schema": 1, "name": arguments.name, "text": text})
    else:
        print(text, end="")
    return 0


def show_all(as_json: bool) -> None:
    """Names, what each shows, and its stages."""
    recipes = [load_recipe(name) for name in recipe_names()]
    stages = {recipe.name: [stage.algorithm for stage in recipe.stages] for recipe in recipes}
    if as_json:
        listed = [{"name": r.name, "summary": r.summary, "algorithms": stages[r.name]} for r in recipes]
        print_json({"schema": 1, "recipes": listed})
        return
    rows = [(recipe.name, ", ".join(stages[recipe.name]), recipe.summary) for recipe in recipes]
    print_table(("recipe", "stages", "what it shows"), rows)


def copy(arguments: Arguments, text: str) -> None:
    """Write a recipe where it can be edited; nothing is overwritten."""
    path = Path(arguments.file or f"{arguments.name}.toml")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{path} already exists; give another FILE") from error
    except OSError as error:
        raise ConfigError(f"cannot write the recipe: {error}") from error
    if arguments.json:
        print_json({"schema": 1, "file": str(path.resolve())})
    else:
        print(f"{path}: run it with: agentrl train --recipe {path if path.suffix == '.toml' else path.resolve()}")
