"""What a hostile file of the tests is."""

from __future__ import annotations

from typing import NamedTuple

BOX = '<rect width="9" height="9"/>'


class Hostile(NamedTuple):
    """One file."""

    name: str
    code: str
    outcomes: tuple[str, ...]
