"""Files in the benchmark's own format, generated: what `data_dir` does can be tested without the real ones.

    python -m benchmarks.webshop.official_format FOLDER

Numbers of products, options and attributes are near those of the benchmark's 1,000 products. The rare things are in it
too: empty categories, an empty name, missing prices and descriptions, one description that is no list, the signs that
search engines treat unlike other punctuation, every colour word, and rows and instructions that the benchmark skips.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

from agentrl.envs.common.catalogue.generated import SMALLEST, GeneratedCatalogue
from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.reward import BENCHMARK_COLOURS

Json = dict[str, Any]
PRODUCTS = 1_000
SIGNS = ("\u00ae", "\u2122", "\u00a9", " \u2122 ", "\uff76\uff9e", " \uff8a\uff9f ", "\u2605", "\U0001f9f4")
SHADES = ("", "", "dark ", "light ", "heather ", "natural ", "matte ", "a-", "01 ")


def write_files(folder: str | Path, *, products: int = PRODUCTS, seed: int = 0, ending: str = "_1000") -> Path:
    """The three files in `folder`; equal arguments write equal files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draw = Random(seed)
    catalogue = GeneratedCatalogue(seed, max(products, SMALLEST))
    goods = [catalogue.product(number) for number in draw.sample(range(len(catalogue)), products)]
    rows = [product_row(product, number, draw) for number, product in enumerate(goods)]
    annotations = {product.asin: annotation(product, draw) for product in goods}
    human = {product.asin: instructions(product, row, draw) for product, row in zip(goods, rows, strict=True)}
    contents: dict[str, Any] = {
        f"items_shuffle{ending}": with_unusable_rows(rows, draw),
        f"items_ins_v2{ending}": annotations,
        "items_human_ins": {asin: wishes for asin, wishes in human.items() if wishes},
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def product_row(product: Product, number: int, draw: Random) -> Json:
    """One element of `items_shuffle*.json`."""
    return {
        "asin": product.asin,
        "name": "" if number == 7 else signed(product.title, draw),
        "full_description": signed(product.description, draw) if draw.random() < 0.8 else "",
        "small_description": list(product.bullets) if number % 50 else product.bullets[0],
        "pricing": pricing(product, draw),
        "images": [f"https://images.example/{product.asin}.jpg"],
        "product_category": "" if draw.random() < 0.021 else product.category_path,
        "category": product.category,
        "query": f" {product.query.title()}" if number % 9 == 0 else product.query,
        "page": draw.randrange(1, 20),
        "customization_options": options(product, number, draw),
        "average_rating": round(draw.uniform(2, 5), 1),
        "seller_id": "",
    }


def signed(text: str, draw: Random) -> str:
    """A text, in a third of all cases with some signs behind words of it."""
    words = text.split(" ")
    if draw.random() < 0.33:
        for _ in range(draw.randrange(1, 4)):
            words[draw.randrange(len(words))] += draw.choice(SIGNS)
    return " ".join(words)


def pricing(product: Product, draw: Random) -> str | None:
    """ "$12.99", "$1,299.00", "$19.99$27.99", or nothing."""
    if draw.random() < 0.09:
        return draw.choice(("", None))
    return "".join(f"${amount:,.2f}" for amount in product.pricing)


def options(product: Product, number: int, draw: Random) -> Json | str:
    """Nothing for more than half of the products; else the product's own, or colours, all of which appear."""
    kind = draw.random()
    if kind < 0.5:
        return ""
    if kind < 0.75:
        found: Json = {name.title(): [{"value": value} for value in values] for name, values in product.options.items()}
        return {**found, "Fit Type": None} if found else ""
    colour_words = BENCHMARK_COLOURS.words
    few = [colour_words[(5 * number + place) % len(colour_words)] for place in range(draw.randrange(2, 8))]
    colours = [{"value": f"{draw.choice(SHADES)}{colour}".title(), "image": "swatch.jpg"} for colour in few]
    sizes = [{"value": value} for value in ("Small", "X-Large", "8/10")]
    return {"Color": colours, "Size": sizes[: draw.randrange(1, 4)]} if draw.random() < 0.6 else {"Color": colours}


def annotation(product: Product, draw: Random) -> Json:
    """One entry of `items_ins_v2*.json`."""
    if draw.random() < 0.185:
        return {"attributes": []}
    if draw.random() < 0.5:
        return {"attributes": list(product.attributes)}
    asked = list(product.attributes[: draw.randrange(1, 4)])
    text = f"Find me {', '.join(asked)} {product.query}"
    return {"attributes": list(product.attributes), "instruction": text, "instruction_attributes": asked}


def instructions(product: Product, row: Json, draw: Random) -> list[Json]:
    """One entry of `items_human_ins.json`: none, one or several wishes, some of them without attributes."""
    entries = row["customization_options"] or {}
    values = [choices for choices in entries.values() if choices]
    wishes = []
    for number in range(draw.choice((0, 0, 1, 1, 1, 2, 4))):
        asked = [] if draw.random() < 0.05 else list(product.attributes[: draw.randrange(1, 4)])
        chosen = [draw.choice(choices)["value"].lower() for choices in values]
        wish = {
            "asin": product.asin,
            "instruction": f"i need {product.query} number {number}, {' and '.join(asked + chosen)}{'.' * number}",
            "attributes": list(product.attributes),
            "options": chosen,
            "instruction_attributes": asked,
            "instruction_options": chosen,
            "assignment_id": "",
            "worker_id": "",
        }
        wishes.append(wish)
    return wishes


def with_unusable_rows(rows: list[Json], draw: Random) -> list[Json]:
    """The rows, and among them some that the benchmark skips: repeated ids, no id, one that is too long."""
    mixed = list(rows)
    for number in range(4):
        repeated = {**rows[number], "name": "A second row with the same id"}
        for row in (repeated, {**rows[-1], "asin": "nan"}, {**rows[-1], "asin": f"B00000000000{number}"}):
            mixed.insert(draw.randrange(len(rows) // 2, len(mixed)), row)  # a repetition comes after the first
    return mixed


if __name__ == "__main__":
    print(write_files(sys.argv[1]))
