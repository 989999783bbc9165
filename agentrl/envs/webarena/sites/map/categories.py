"""Kinds of places: their tags, how they are called, how many there are, and what else is known about them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

CUISINES = (
    "italian", "chinese", "indian", "japanese", "mexican", "thai", "french", "greek", "korean", "vietnamese", "turkish",
    "spanish", "lebanese", "seafood", "steak_house", "vegetarian", "ethiopian", "regional",
)  # fmt: skip


@dataclass(frozen=True)
class Category:
    """A kind of place; categories.toml says what the fields mean."""

    value: str
    key: str
    label: str
    plural: str
    city: int
    town: int
    names: tuple[str, ...]
    chains: tuple[str, ...]
    hours: tuple[str, ...]
    contact: bool
    central: float
    synonyms: tuple[str, ...]
    area: bool


def _load() -> dict[str, Category]:
    text = files("agentrl.envs.webarena.sites.map").joinpath("categories.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    hours = tables.pop("hours")
    return {
        value: Category(
            value, row["key"], row["label"], row["plural"], row["city"], row["town"], tuple(row.get("names", ())),
            tuple(row.get("chains", ())), tuple(hours[row["hours"]]) if "hours" in row else ("",),
            row.get("contact", True), row.get("central", 0.5), tuple(row.get("synonyms", ())), row.get("area", False),
        )
        for value, row in tables.items()
    }  # fmt: skip


CATEGORIES = _load()
