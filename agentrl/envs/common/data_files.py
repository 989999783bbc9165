"""Words, texts and tables that stand in TOML files beside the modules that use them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def data_file(package: str, name: str) -> dict[str, Any]:
    """The contents of a file such as "people.toml" in the folder of a package; not to be changed."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))
