"""Templates of the shop that ask about products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.store.products import catalogue
from agentrl.envs.webarena.sites.store.reviews import complaints
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, On, Parameters, Template, literal
from agentrl.envs.webarena.tasks.templates.shop.parts import (
    SHOP,
    SITES,
    about,
    amount,
    answer,
    categories,
    named,
    on_product,
    products,
    reviewed_products,
    search_for,
    store,
    to_category,
)

WORDED = 10  # reviews on the first page of a product

# ---------------------------------------------------------------------- one product


def _fields(world: World) -> Iterator[dict[str, Any]]:
    for row in products(world, 0):
        values = {
            "price": money(row["final_price"]),
            "SKU": row["sku"],
            "brand": row["brand"],
            "weight": f"{row['weight']} lbs",
        }
        what = tuple(values)[row["id"] // 15 % len(values)]
        yield {**about(row), "field": what, "value": values[what]}


def _field_evaluation(given: Parameters) -> dict[str, Any]:
    value = given["value"]
    if given["field"] == "price":
        return answer(amount(value))
    return answer(value.removesuffix(" lbs"))


def _read_product(given: Parameters) -> list[On]:
    return [*search_for(given["phrase"], given["url_key"]), on_product(given["url_key"], [Answer(given["value"])])]


PRODUCT_FIELD = Template(
    "shop-product-field", SITES, "read-value",
    (
        "What is the {field} of the product \"{product}\"?",
        "Tell me the {field} of this product: {product}",
        "Look up \"{product}\" in the shop and give me its {field}.",
    ),
    _fields, _field_evaluation,
    _read_product,
)  # fmt: skip


def _pairs(world: World) -> Iterator[dict[str, Any]]:
    rows = list(products(world, 1))
    for first, second in zip(rows[::2], rows[1::2], strict=False):
        difference = round(abs(first["final_price"] - second["final_price"]), 2)
        if difference >= 0.05:
            other = {f"other_{name}": value for name, value in about(second).items()}
            yield {**about(first), **other, "value": money(difference)}


def _pair_solution(given: Parameters) -> list[On]:
    return [
        *search_for(given["phrase"], given["url_key"]),
        on_product(given["url_key"], [Fill("#search", given["other_phrase"], enter=True)]),
        On(
            literal(f"/catalogsearch/result/?q={quote_plus(given['other_phrase'])}"),
            [Click(f"a.product-item-link[href='/{given['other_url_key']}.html']")],
        ),
        on_product(given["other_url_key"], [Answer(given["value"])]),
    ]


PRICE_DIFFERENCE = Template(
    "shop-price-difference", SITES, "compare-values",
    (
        "How many dollars lie between the prices of \"{product}\" and \"{other_product}\"?",
        "What is the price difference between these two products: \"{product}\" and \"{other_product}\"?",
    ),
    _pairs,
    lambda given: answer(amount(given["value"])),
    _pair_solution,
)  # fmt: skip

# ---------------------------------------------------------------------- reviews


def _complainers(world: World) -> Iterator[dict[str, Any]]:
    db = store(world)
    for row, reviews in reviewed_products(world, 3, WORDED):
        section = db.value(
            "SELECT section.name FROM category JOIN category AS section ON section.id = category.parent_id"
            " WHERE category.id = ?", row["category_id"],
        )  # fmt: skip
        category = catalogue().filed(row["catalogue_index"])[0]
        authors: dict[str, list[str]] = {}
        for review in reviews:
            for aspect in complaints(category, section, row["kind"], review["detail"]):
                authors.setdefault(aspect, []).append(review["nickname"])
        for aspect, names in sorted(authors.items()):
            if len(names) >= 2 or row["id"] % 3 == 0:
                others = sorted({review["nickname"] for review in reviews} - set(names))
                if not any(other.lower() in name.lower() for other in others for name in names):
                    yield {**about(row), "aspect": aspect, "authors": names, "others": others}


def _complainers_evaluation(given: Parameters) -> dict[str, Any]:
    """All of them, and nobody else who reviewed the product."""
    wanted = answer(*given["authors"])
    if given["others"]:
        wanted["reference_answers"]["must_exclude"] = given["others"]
    return wanted


COMPLAINERS = Template(
    "shop-reviewers-complaining", SITES, "read-reviews",
    (
        "Who complains about {aspect} in the reviews of \"{product}\"? Give the names of all reviewers who do.",
        "List the reviewers of \"{product}\" who are unhappy about {aspect}.",
        "Which customers wrote something negative about {aspect} when they reviewed \"{product}\"?",
    ),
    _complainers,
    _complainers_evaluation,
    lambda given: [
        *search_for(given["phrase"], given["url_key"]),
        on_product(given["url_key"], [Answer(", ".join(given["authors"]))]),
    ],
)  # fmt: skip


def _star_counts(world: World) -> Iterator[dict[str, Any]]:
    for row, reviews in reviewed_products(world, 3, WORDED):
        counts = Counter(review["rating"] for review in reviews)
        stars = reviews[row["id"] % len(reviews)]["rating"]
        yield {**about(row), "stars": stars, "value": str(counts[stars])}


STAR_COUNT = Template(
    "shop-count-star-reviews", SITES, "count-items",
    (
        "How many reviews of \"{product}\" give exactly {stars} out of 5 stars? Answer with the number only.",
        "Count the {stars}-star reviews of this product and answer with just the number: {product}",
    ),
    _star_counts,
    lambda given: answer(exact=given["value"]),
    _read_product,
    held_out=True,
)  # fmt: skip

# ---------------------------------------------------------------------- categories


def _sizes(world: World) -> Iterator[dict[str, Any]]:
    for category, prices in categories(world, 2):
        yield {"category": named(category), "url_path": category["url_path"], "value": str(len(prices))}


CATEGORY_SIZE = Template(
    "shop-count-category", SITES, "count-items",
    (
        "How many products does the shop list under {category}? Answer with the number only.",
        "Count the products in the category {category} and answer with just the number.",
    ),
    _sizes,
    lambda given: answer(exact=given["value"]),
    lambda given: [
        *to_category(given["url_path"]),
        On(literal(f"/{given['url_path']}.html"), [Answer(given["value"])]),
    ],
)  # fmt: skip


def _extremes(world: World) -> Iterator[dict[str, Any]]:
    for category, prices in categories(world, 3):
        for which, price in (("cheapest", prices[0]), ("most expensive", prices[-1])):
            path, value = category["url_path"], money(price)
            yield {"category": named(category), "url_path": path, "which": which, "value": value}


def _extreme_solution(given: Parameters) -> list[On]:
    path = literal(f"/{given['url_path']}.html")
    result = [Answer(given["value"])]
    steps = [*to_category(given["url_path"]), On(path, [Click(".sorter a", "Price")])]
    if given["which"] == "cheapest":
        return [*steps, On(path + r"\?product_list_order=price$", result)]
    return [
        *steps,
        On(path + r"\?product_list_order=price$", [Click("a.sorter-action")]),
        On(path + r"\?product_list_order=price&product_list_dir=desc", result),
    ]


EXTREME_PRICE = Template(
    "shop-extreme-price", SITES, "sort-list",
    (
        "What does the {which} product under {category} cost?",
        "Find the {which} item in the category {category} and tell me its price.",
        "I want to know the price of the {which} product in {category}.",
    ),
    _extremes,
    lambda given: answer(amount(given["value"])),
    _extreme_solution,
)  # fmt: skip

# ---------------------------------------------------------------------- what the shop does not have


def _absent(world: World) -> Iterator[dict[str, Any]]:
    """Kinds of products of brands that make no such thing."""
    db = store(world)
    made = {(row[0], row[1]) for row in db.rows("SELECT DISTINCT brand, kind FROM product")}
    brands = [
        row[0] for row in db.rows("SELECT brand FROM product GROUP BY brand ORDER BY count(*) DESC, brand LIMIT 120")
    ]
    kinds = [row[0] for row in db.rows("SELECT DISTINCT kind FROM product ORDER BY kind")]
    for place, brand in enumerate(brands):
        kind = kinds[place * 7 % len(kinds)]
        if brand and (brand, kind) not in made:
            yield {"brand": brand, "kind": kind}


ABSENT = Template(
    "shop-missing-product", SITES, "recognise-impossible",
    (
        "What is the price of {kind} by the brand {brand}? If the shop has none, answer N/A.",
        "Look up what the shop charges for {kind} made by {brand}. Answer N/A if there is no such product.",
    ),
    _absent,
    lambda given: {**answer(exact="N/A"), "string_note": f"{given['brand']} makes no {given['kind']}"},
    lambda given: [
        On(SHOP, [Fill("#search", f"{given['brand']} {given['kind']}", enter=True)]),
        On("/catalogsearch/result/", [Answer("N/A")]),
    ],
)  # fmt: skip

READING = (PRODUCT_FIELD, PRICE_DIFFERENCE, COMPLAINERS, STAR_COUNT, CATEGORY_SIZE, EXTREME_PRICE, ABSENT)
