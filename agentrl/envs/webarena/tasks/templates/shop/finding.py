"""Templates of the shop that ask for a list of products, sorted or filtered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.shop.listing import price_step
from agentrl.envs.webarena.sites.shop.search import found_products
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, On, Parameters, Template, literal
from agentrl.envs.webarena.tasks.templates.shop.parts import (
    SHOP,
    SITES,
    address,
    categories,
    named,
    store,
    to_category,
)

SORTINGS = {
    "by price from low to high": ("Price", "price", "asc"),
    "by price from high to low": ("Price", "price", "desc"),
    "by name from A to Z": ("Product Name", "name", "asc"),
    "by name from Z to A": ("Product Name", "name", "desc"),
}

# ---------------------------------------------------------------------- categories


def _sorted_categories(world: World) -> Iterator[dict[str, Any]]:
    for category, _ in categories(world, 5):
        for sorting in SORTINGS:
            yield {"category": named(category), "url_path": category["url_path"], "sorting": sorting}


def _category_address(given: Parameters) -> str:
    """How the address of the sorted category ends, without a direction."""
    return f"/{given['url_path']}.html?product_list_order={SORTINGS[given['sorting']][1]}"


def _sorted_category_evaluation(given: Parameters) -> dict[str, Any]:
    base, direction = f"{SHOP}{_category_address(given)}", SORTINGS[given["sorting"]][2]
    explicit = f"{base}&product_list_dir={direction}"
    return address(base, explicit, exact=True) if direction == "asc" else address(explicit, exact=True)


def _sorted_category_solution(given: Parameters) -> list[On]:
    label, _, direction = SORTINGS[given["sorting"]]
    here, sorted_by = literal(f"/{given['url_path']}.html"), literal(_category_address(given)) + "$"
    steps = [*to_category(given["url_path"]), On(here, [Click(".sorter a", label)])]
    if direction == "asc":
        return [*steps, On(sorted_by, [Answer()])]
    turned = literal(f"{_category_address(given)}&product_list_dir=desc")
    return [*steps, On(sorted_by, [Click("a.sorter-action")]), On(turned, [Answer()])]


SORT_CATEGORY = Template(
    "shop-sort-category", SITES, "sort-list",
    (
        "Show me the products under {category} sorted {sorting}.",
        "Open the category {category} and sort it {sorting}.",
        "Browse {category}, sorted {sorting}.",
    ),
    _sorted_categories, _sorted_category_evaluation, _sorted_category_solution,
)  # fmt: skip


def _price_ranges(world: World) -> Iterator[dict[str, Any]]:
    """Every range of prices that the layered navigation offers, save the open one."""
    for category, prices in categories(world, 8):
        step = price_step(prices)
        for low in range(0, 6 * step, step):
            if any(low <= price < low + step for price in prices):
                yield {
                    "category": named(category), "url_path": category["url_path"], "low": low, "high": low + step,
                    "range": f"{money(low)} - {money(low + step - 0.01)}",
                }  # fmt: skip


def _range_solution(given: Parameters) -> list[On]:
    here = literal(f"/{given['url_path']}.html")
    return [
        *to_category(given["url_path"]),
        On(here, [Click(".filter-options a", given["range"])]),
        On(here + rf"\?price={given['low']}-{given['high']}$", [Answer()]),
    ]


FILTER_PRICE = Template(
    "shop-filter-price", SITES, "filter-list",
    (
        "List the products under {category} in the price range {range}.",
        "Show only items of the category {category} that cost {range}.",
        "I am looking for something from {category} for {range}. Filter the list accordingly.",
    ),
    _price_ranges,
    lambda given: address(f"{SHOP}/{given['url_path']}.html?price={given['low']}-{given['high']}", exact=True),
    _range_solution,
)  # fmt: skip


# ---------------------------------------------------------------------- searches


def _sorted_searches(world: World) -> Iterator[dict[str, Any]]:
    db = store(world)
    for (kind,) in db.rows("SELECT DISTINCT kind FROM product ORDER BY kind"):
        if len(found_products(db, kind)) > 3:
            for sorting in ("by price from low to high", "by price from high to low"):
                yield {"query": kind, "sorting": sorting}


def _search_address(given: Parameters) -> str:
    return f"/catalogsearch/result/index/?product_list_order=price&q={quote_plus(given['query'])}"


def _search_evaluation(given: Parameters) -> dict[str, Any]:
    base, direction = f"{SHOP}{_search_address(given)}", SORTINGS[given["sorting"]][2]
    explicit = f"{base}&product_list_dir={direction}"
    return address(base, explicit, exact=True) if direction == "desc" else address(explicit, exact=True)


def _search_solution(given: Parameters) -> list[On]:
    sorted_by = literal(_search_address(given))
    steps = [
        On(SHOP, [Fill("#search", given["query"], enter=True)]),
        On(r"/catalogsearch/result/\?q=", [Click(".sorter a", "Price")]),
    ]
    if SORTINGS[given["sorting"]][2] == "desc":
        return [*steps, On(sorted_by, [Answer()])]
    return [
        *steps,
        On(sorted_by, [Click("a.sorter-action")]),
        On(sorted_by + "&product_list_dir=asc", [Answer()]),
    ]


SORT_SEARCH = Template(
    "shop-sort-search", SITES, "sort-list",
    (
        "Search for \"{query}\" and sort the results {sorting}.",
        "Show me what the shop finds for \"{query}\", sorted {sorting}.",
    ),
    _sorted_searches, _search_evaluation, _search_solution, held_out=True,
)  # fmt: skip

FINDING = (SORT_CATEGORY, FILTER_PRICE, SORT_SEARCH)
