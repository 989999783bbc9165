"""The words that base data is made from: the TOML files of this package."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

PACKAGE = "agentrl.envs.webarena.sites.store"


@cache
def words(name: str) -> dict[str, Any]:
    """The contents of a file such as "people.toml"."""
    return tomllib.loads(files(PACKAGE).joinpath(name).read_text(encoding="utf-8"))
