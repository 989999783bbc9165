"""The benchmark's rules once more, written down plainly and without our package: what `data_dir` is held against.

Prices within a range and price limits are left out: the benchmark draws them anew in every process.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, utils

Json = dict[str, Any]
_COLOURS = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo
caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal
dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory
ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom
mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire
seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut wheat white
wine yellow
"""
COLOURS = _COLOURS.split()


def files(folder: Path) -> tuple[list[Json], Json, Json]:
    """Products that are kept, annotations and human instructions."""
    rows, annotations, human = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("items_shuffle_1000.json", "items_ins_v2_1000.json", "items_human_ins.json")
    )
    kept: dict[str, Json] = {}
    for row in rows:
        if row["asin"] != "nan" and len(row["asin"]) <= 10:
            kept.setdefault(row["asin"], row)
    return list(kept.values()), annotations, human


def options_of(row: Json) -> dict[str, list[str]]:
    """Option names and values as pages show them."""
    entries = row["customization_options"] or {}
    return {
        name.lower(): [choice["value"].strip().replace("/", " | ").lower() for choice in choices]
        for name, choices in entries.items()
        if choices is not None
    }


def bullets_of(row: Json) -> list[str]:
    """The list of short descriptions."""
    bullets = row["small_description"]
    return bullets if isinstance(bullets, list) else [bullets]


def indexed_text(row: Json) -> str:
    """What the search engine is given of a product."""
    choices = ", and ".join(f"{name}: {', '.join(values)}" for name, values in options_of(row).items())
    return " ".join([row["name"], row["full_description"], bullets_of(row)[0], choices]).lower()


def human_goals(rows: list[Json], human: Json) -> list[Json]:
    """The goals people wrote, in the benchmark's order."""
    goals = [
        {
            "asin": row["asin"],
            "text": wish["instruction"].strip("."),
            "attributes": wish["instruction_attributes"],
            "options": wish["instruction_options"],
            "weight": 1.0,
        }
        for row in rows
        for wish in human.get(row["asin"], [])
        if wish["instruction_attributes"]
    ]
    return shuffled(goals)


def synthetic_goals(rows: list[Json], annotations: Json) -> list[Json]:
    """A goal for every combination of options, in the benchmark's order and with its weights."""
    goals = list(_combinations(rows, annotations))
    asked = [attribute for goal in goals for attribute in goal["attributes"]]
    for goal in goals:
        goal["weight"] = sum(1 / asked.count(one) for one in goal["attributes"]) / len(goal["attributes"])
    return shuffled(goals)


def _combinations(rows: list[Json], annotations: Json) -> Iterator[Json]:
    for row in rows:
        entry = annotations[row["asin"]]
        if entry.get("instruction") is None:
            continue
        options = options_of(row)
        for values in itertools.product(*(options[name] for name in sorted(options))):
            pairs = list(zip(sorted(options), values, strict=True))
            chosen = ", and ".join(f"{name}: {value}" for name, value in pairs)
            text = entry["instruction"] + (f" with {chosen}" if pairs else "")
            yield {"asin": row["asin"], "text": text, "attributes": entry["instruction_attributes"], "options": pairs}


def shuffled(goals: list[Json]) -> list[Json]:
    """The order that the benchmark's seed gives."""
    random.Random(233).shuffle(goals)
    return goals


def alike(left: Any, right: Any) -> bool:
    """Token sets of two phrases, written out where they are no text; Latin-1 letters beyond ASCII do not count."""
    first, second = (
        utils.default_process("".join(letter for letter in str(phrase) if not 128 <= ord(letter) < 256))
        for phrase in (left, right)
    )
    return round(fuzz.token_set_ratio(first, second)) > 85


def plain_colour(value: Any) -> Any:
    """The first colour word within a value, or the value."""
    for colour in COLOURS:
        if colour in value:
            return colour
    return value


def score(bought: Json, wanted: Json, goal: Json, attributes: list[str], cheap: bool, chosen: list[str],
          nouns: Callable[[str], Sequence[str]]) -> float:  # fmt: skip
    """What buying the product in row `bought` is worth, for a goal written for the product in row `wanted`."""
    words, others = nouns(bought["name"]), nouns(wanted["name"])
    title = len(set(words) & set(others)) / len(others) if others else 0.2
    paths = [{part.strip() for part in row["product_category"].split("\u203a")} for row in (bought, wanted)]
    same_kind = bought["query"].lower().strip() == wanted["query"].lower().strip() or len(paths[0] & paths[1]) >= 2
    factor = 1.0 if same_kind or title > 0.2 else 0.5
    factor = 0.0 if title == 0 else 0.1 if title < 0.1 else factor
    texts = [bought["name"].lower(), " ".join(bullets_of(bought)).lower(), bought["full_description"].lower()]
    met = sum(any(alike(a, g) for a in attributes) or any(g in text for text in texts) for g in goal["attributes"])
    met += sum(any(alike(plain_colour(c), plain_colour(g)) for c in chosen) for g in goal["options"])
    return factor * (met + cheap) / (len(goal["attributes"]) + len(goal["options"]) + 1)
