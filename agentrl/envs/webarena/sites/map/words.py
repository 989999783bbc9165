"""The made-up region in words: names of settlements, districts, streets, people and businesses; the kinds of places."""

from __future__ import annotations

from dataclasses import dataclass

from agentrl.envs.common.data_files import data_file

PACKAGE = "agentrl.envs.webarena.sites.map"
WORDS = data_file(PACKAGE, "words.toml")
REGION, COUNTRY = "Norrland Shire", "Estermark"
CITY, CITY_COUNTY = "Veldhaven", "Orrin County"
TOWNS: list[tuple[str, str, float, float, int]] = WORDS["towns"]
DISTRICTS: list[tuple[str, float, float]] = WORDS["districts"]


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
    tables = data_file(PACKAGE, "categories.toml")
    hours = tables["hours"]
    return {
        value: Category(
            value, row["key"], row["label"], row["plural"], row["city"], row["town"], tuple(row.get("names", ())),
            tuple(row.get("chains", ())), tuple(hours[row["hours"]]) if "hours" in row else ("",),
            row.get("contact", True), row.get("central", 0.5), tuple(row.get("synonyms", ())), row.get("area", False),
        )
        for value, row in tables.items()
        if value != "hours"
    }  # fmt: skip


CATEGORIES = _load()
