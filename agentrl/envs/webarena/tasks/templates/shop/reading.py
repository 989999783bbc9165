"""Templates of the shop that ask about products, or for a list of them, sorted or filtered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote_plus

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.shop.listing import price_step
from agentrl.envs.webarena.sites.shop.search import found_products
from agentrl.envs.webarena.sites.store.products import catalogue
from agentrl.envs.webarena.sites.store.reviews import complaints
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, On, Parameters, Reveal, Template, template
from agentrl.envs.webarena.tasks.templates.shop.kit import (
    FIRST_RESULTS,
    REVIEWS,
    SHOP,
    SITES,
    about,
    about_category,
    amount,
    categories,
    category_page,
    on_category,
    on_product,
    product_link,
    products,
    reviewed_products,
    store,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, answer, done, ends_at

MORE = Reveal("#additional", "click", "#tab-additional")
WORDED = 10  # reviews on the first page of a product
SORTINGS = {
    "by price from low to high": ("Price", "price", "asc"),
    "by price from high to low": ("Price", "price", "desc"),
    "by name from A to Z": ("Product Name", "name", "asc"),
    "by name from Z to A": ("Product Name", "name", "desc"),
}

# ---------------------------------------------------------------------- products and their reviews


@template(
    "shop-product-field", SITES, "read-value",
    ("What is the {field} of the product \"{product}\"?", "Tell me the {field} of this product: {product}",
     "Look up \"{product}\" in the shop and give me its {field}."),
    lambda row: answer(amount(row["value"]) if row["field"] == "price" else row["value"].removesuffix(" lbs")),
    lambda row: on_product(row, *([MORE] if row["field"] == "weight" else []), Answer(row["value"])),
)  # fmt: skip
def product_field(world: World) -> Iterator[Row]:
    for row in products(world, 0):
        weight = f"{row['weight']} lbs"
        values = {"price": money(row["final_price"]), "SKU": row["sku"], "weight": weight}
        what = tuple(values)[row["id"] // 15 % len(values)]
        yield {**about(row), "field": what, "value": values[what]}


@template(
    "shop-price-difference", SITES, "compare-values",
    ("How many dollars lie between the prices of \"{product}\" and \"{other_product}\"?",
     "What is the price difference between these two products: \"{product}\" and \"{other_product}\"?"),
    lambda row: answer(amount(row["value"])),
    lambda row: [
        *on_product(row, Fill("#search", row["other_phrase"], enter=True)),
        On(re.escape(f"/catalogsearch/result/?q={quote_plus(row['other_phrase'])}"),
           [Click(product_link(row["other_url_key"]))]),
        On(re.escape(f"/{row['other_url_key']}.html"), [Answer(row["value"])]),
    ],
)  # fmt: skip
def price_difference(world: World) -> Iterator[Row]:
    rows = list(products(world, 1))
    for first, second in zip(rows[::2], rows[1::2], strict=False):
        difference = round(abs(first["final_price"] - second["final_price"]), 2)
        if difference >= 0.05:
            other = {f"other_{name}": value for name, value in about(second).items()}
            yield {**about(first), **other, "value": money(difference)}


@template(
    "shop-reviewers-complaining", SITES, "read-reviews",
    ("Who complains about {aspect} in the reviews of \"{product}\"? Give the names of all reviewers who do.",
     "List the reviewers of \"{product}\" who are unhappy about {aspect}.",
     "Which customers wrote something negative about {aspect} when they reviewed \"{product}\"?"),
    lambda row: answer(*row["authors"], without=row["others"]),
    lambda row: on_product(row, REVIEWS, Answer(", ".join(row["authors"]))),
)  # fmt: skip
def reviewers_complaining(world: World) -> Iterator[Row]:
    """Who is unhappy about an aspect of a product, and who else reviewed it."""
    section = (
        "SELECT section.name FROM category JOIN category AS section ON section.id = category.parent_id"
        " WHERE category.id = ?"
    )
    for row, reviews in reviewed_products(world, 3, WORDED):
        place = catalogue().filed(row["catalogue_index"])[0], store(world).value(section, row["category_id"])
        authors: dict[str, list[str]] = {}
        for review in reviews:
            for aspect in complaints(*place, review["detail"]):
                authors.setdefault(aspect, []).append(review["nickname"])
        for aspect, names in sorted(authors.items()):
            if len(names) >= 2 or row["id"] % 3 == 0:
                others = sorted({review["nickname"] for review in reviews} - set(names))
                if not any(other.lower() in name.lower() for other in others for name in names):
                    yield {**about(row), "aspect": aspect, "authors": names, "others": others}


@template(
    "shop-count-star-reviews", SITES, "count-items",
    ("How many reviews of \"{product}\" give exactly {stars} out of 5 stars? Answer with the number only.",
     "Count the {stars}-star reviews of this product and answer with just the number: {product}"),
    lambda row: answer(row["value"]), lambda row: on_product(row, REVIEWS, Answer(row["value"])),
    held_out=True,
)  # fmt: skip
def count_star_reviews(world: World) -> Iterator[Row]:
    for row, reviews in reviewed_products(world, 3, WORDED):
        counts = Counter(review["rating"] for review in reviews)
        stars = reviews[row["id"] % len(reviews)]["rating"]
        yield {**about(row), "stars": stars, "value": str(counts[stars])}


# ---------------------------------------------------------------------- categories and searches


def _find_extreme(row: Parameters) -> list[On]:
    by_price = category_page(row) + r"\?product_list_order=price"
    steps = on_category(row, Click(".sorter a", "Price"))
    if row["which"] == "most expensive":
        steps.append(On(f"{by_price}$", [Click("a.sorter-action")]))
        return [*steps, On(f"{by_price}&product_list_dir=desc", [Answer(row["value"])])]
    return [*steps, On(f"{by_price}$", [Answer(row["value"])])]


@template(
    "shop-missing-product", SITES, "recognise-impossible",
    ("What is the price of {kind} by the brand {brand}? If the shop has none, answer N/A.",
     "Look up what the shop charges for {kind} made by {brand}. Answer N/A if there is no such product."),
    lambda row: answer(amount(row["value"])),
    lambda row: [
        On(SHOP, [Fill("#search", f"{row['brand']} {row['kind']}", enter=True)]),
        On("/catalogsearch/result/", [Answer(row["value"])]),
    ],
)  # fmt: skip
def missing_product(world: World) -> Iterator[Row]:
    """What a brand makes just one of, with its price; for each of these something that the brand does not make."""
    db = store(world)
    made = Counter((row["brand"], row["kind"]) for row in db.rows("SELECT brand, kind FROM product"))
    kinds = sorted({kind for _, kind in made})
    for place, row in enumerate(products(world, 7)):
        brand, kind, other = row["brand"], row["kind"], kinds[place * 7 % len(kinds)]
        is_shown = row["id"] in found_products(db, f"{brand} {kind}")[:FIRST_RESULTS]
        if brand and made[brand, kind] == 1 and is_shown:
            yield {"brand": brand, "kind": kind, "value": money(row["final_price"])}
            if (brand, other) not in made:
                yield {"brand": brand, "kind": other, "value": "N/A"}


@template(
    "shop-filter-price", SITES, "filter-list",
    ("List the products under {category} in the price range {range}.",
     "Show only items of the category {category} that cost {range}.",
     "I am looking for something from {category} for {range}. Filter the list accordingly."),
    lambda row: ends_at(f"{SHOP}/{row['url_path']}.html?price={row['low']}-{row['high']}", exact=True),
    lambda row: [
        *on_category(row, Click(".filter-options a", row["range"])),
        done(category_page(row) + rf"\?price={row['low']}-{row['high']}$"),
    ],
)  # fmt: skip
def filter_price(world: World) -> Iterator[Row]:
    """Every range of prices that the layered navigation offers, save the open one."""
    for category, prices in categories(world, 8):
        step = price_step(prices)
        for low in range(0, 6 * step, step):
            if any(low <= price < low + step for price in prices):
                printed = f"{money(low)} - {money(low + step - 0.01)}"
                yield {**about_category(category), "low": low, "high": low + step, "range": printed}


def _sorted_category_path(row: Parameters) -> str:
    return f"/{row['url_path']}.html?product_list_order={SORTINGS[row['sorting']][1]}"


def _sorted_search_path(row: Parameters) -> str:
    return f"/catalogsearch/result/index/?product_list_order=price&q={quote_plus(row['query'])}"


def _is_sorted(path: str, sorting: str, usual: str) -> dict:
    """A list in an order; its address need not name the direction that is usual there."""
    plain, explicit = f"{SHOP}{path}", f"{SHOP}{path}&product_list_dir={SORTINGS[sorting][2]}"
    return ends_at(plain, explicit, exact=True) if SORTINGS[sorting][2] == usual else ends_at(explicit, exact=True)


def _sort_category(row: Parameters) -> list[On]:
    label, _, direction = SORTINGS[row["sorting"]]
    steps, path = on_category(row, Click(".sorter a", label)), _sorted_category_path(row)
    if direction == "asc":
        return [*steps, done(f"{re.escape(path)}$")]
    turned = re.escape(f"{path}&product_list_dir=desc")
    return [*steps, On(f"{re.escape(path)}$", [Click("a.sorter-action")]), done(turned)]


def _sort_search(row: Parameters) -> list[On]:
    path = re.escape(_sorted_search_path(row))
    steps = [
        On(SHOP, [Fill("#search", row["query"], enter=True)]),
        On(r"/catalogsearch/result/\?q=", [Click(".sorter a", "Price")]),
    ]
    if SORTINGS[row["sorting"]][2] == "desc":
        return [*steps, done(path)]
    return [*steps, On(path, [Click("a.sorter-action")]), done(f"{path}&product_list_dir=asc")]


@template(
    "shop-sort-search", SITES, "sort-list",
    ("Search for \"{query}\" and sort the results {sorting}.",
     "Show me what the shop finds for \"{query}\", sorted {sorting}."),
    lambda row: _is_sorted(_sorted_search_path(row), row["sorting"], "desc"), _sort_search,
    held_out=True,
)  # fmt: skip
def sort_search(world: World) -> Iterator[Row]:
    db = store(world)
    for (kind,) in db.rows("SELECT DISTINCT kind FROM product ORDER BY kind"):
        if len(found_products(db, kind)) > 3:
            for sorting in ("by price from low to high", "by price from high to low"):
                yield {"query": kind, "sorting": sorting}


@template(
    "shop-open-from-menu", SITES, "open-menu",
    ("Use the menu of the shop to open {child} under {parent}.",
     "In the shop's menu, choose {child}, which stands under {parent}.", "Go to {parent}, {child} through the menu."),
    lambda row: ends_at(f"{SHOP}/{row['url_path']}.html"),
    lambda row: [
        On(SHOP, [
            Reveal(_entry(row), "hover", f"a.level-top[href='/{row['url_path'].partition('/')[0]}.html']"),
            Click(_entry(row)),
        ]),
        done(category_page(row)),
    ],
)  # fmt: skip
def open_from_menu(world: World) -> Iterator[Row]:
    """What opens when the pointer is on an entry of the menu."""
    for row in store(world).rows(
        "SELECT child.name AS child, child.url_path, parent.name AS parent FROM category AS child"
        " JOIN category AS parent ON parent.id = child.parent_id WHERE parent.parent_id IS NULL ORDER BY child.id"
    ):
        yield {name: row[name] for name in ("url_path", "child", "parent")}


def _entry(row: Parameters) -> str:
    return f".submenu a[href='/{row['url_path']}.html']"


LISTS = (
    Template(
        "shop-count-category", SITES, "count-items",
        ("How many products does the shop list under {category}? Answer with the number only.",
         "Count the products in the category {category} and answer with just the number."),
        lambda world: (
            {**about_category(category), "value": str(len(prices))} for category, prices in categories(world, 2)
        ),
        lambda row: answer(row["value"]), lambda row: on_category(row, Answer(row["value"])),
    ),
    Template(
        "shop-extreme-price", SITES, "sort-list",
        ("What does the {which} product under {category} cost?",
         "Find the {which} item in the category {category} and tell me its price.",
         "I want to know the price of the {which} product in {category}."),
        lambda world: (
            {**about_category(category), "which": which, "value": money(price)}
            for category, prices in categories(world, 3)
            for which, price in (("cheapest", prices[0]), ("most expensive", prices[-1]))
        ),
        lambda row: answer(amount(row["value"])), _find_extreme,
    ),
    missing_product,
    Template(
        "shop-sort-category", SITES, "sort-list",
        ("Show me the products under {category} sorted {sorting}.",
         "Open the category {category} and sort it {sorting}.", "Browse {category}, sorted {sorting}."),
        lambda world: (
            {**about_category(category), "sorting": sorting}
            for category, _ in categories(world, 5) for sorting in SORTINGS
        ),
        lambda row: _is_sorted(_sorted_category_path(row), row["sorting"], "asc"), _sort_category,
    ),
    filter_price, sort_search, open_from_menu,
)  # fmt: skip
TEMPLATES = (product_field, price_difference, reviewers_complaining, count_star_reviews, *LISTS)
