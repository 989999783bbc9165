"""Words that the reward knows by heart, read from the file beside this one."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def word_list(name: str) -> tuple[str, ...]:
    """The words of one list of `lexicon.toml`, in the file's order."""
    return tuple(_lexicon()[name].split())


@cache
def _lexicon() -> dict[str, str]:
    return tomllib.loads(files("agentrl.envs.webshop").joinpath("lexicon.toml").read_text(encoding="utf-8"))
