"""The right next action from any place in the shop, and a hasty mistake instead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.actions import MAX_SEARCH, plain
from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.navigation import shown_results
from agentrl.envs.webshop.pages import BUY, ITEM, NEXT, PREV, RESULTS, RESULTS_PER_PAGE, SUB_PAGES, Place
from agentrl.envs.webshop.reward import best_choices
from agentrl.envs.webshop.shop import Shop


def right_action(shop: Shop, place: Place, goal: Goal) -> str | None:
    """Towards buying the product the goal was written for, with its options; None where no search finds it."""
    if place.asin == goal.asin:
        return _at_the_product(shop, place, goal)
    hits = shop.hits(place.query, place.lot) if place.query else ()
    if place.page == RESULTS and goal.asin in hits:
        return _towards(_page_of(goal.asin, hits), place.number, goal.asin)
    if place.page == ITEM and goal.asin in hits:
        return click(PREV)
    query = finding_query(shop, goal)
    return None if query is None else f"search[{query}]"


def actions_needed(shop: Shop, place: Place, goal: Goal) -> int | None:
    """How many right actions lead from a place to the purchase; None where no search finds the product."""
    wanted = best_choices(shop.known(goal.asin), goal)
    if place.asin == goal.asin:
        return (place.page in SUB_PAGES) + len(set(wanted.items()) - set(place.options)) + 1
    from_results = 1 + len(wanted) + 1  # open it, choose, buy
    hits = shop.hits(place.query, place.lot) if place.query else ()
    if goal.asin in hits and place.page in (RESULTS, ITEM):
        return (place.page == ITEM) + abs(_page_of(goal.asin, hits) - place.number) + from_results
    query = finding_query(shop, goal)
    return None if query is None else _page_of(goal.asin, shop.hits(query)) + from_results


def _page_of(asin: str, hits: Sequence[str]) -> int:
    return hits.index(asin) // RESULTS_PER_PAGE + 1


def _at_the_product(shop: Shop, place: Place, goal: Goal) -> str:
    if place.page in SUB_PAGES:
        return click(PREV)
    wanted = best_choices(shop.known(goal.asin), goal, shop.rules)
    missing = [value for name, value in wanted.items() if (name, value) not in place.options]
    return click(missing[0]) if missing else click(BUY)


def _towards(page: int, number: int, asin: str) -> str:
    return click(asin if page == number else NEXT if page > number else PREV)


def click(what: str) -> str:
    """The action that clicks it."""
    return f"click[{what.lower()}]"


def finding_query(shop: Shop, goal: Goal) -> str | None:
    """A search that has the product among its hits.

    Words of the instruction come first, since only they can be learned by imitation; where they do not find it,
    the goal's reference query (which names the maker) does, or else what the product says of itself.
    """
    options = [option if isinstance(option, str) else option[1] for option in goal.options]
    return _finding_query(shop, goal.asin, " ".join((*goal.attributes, goal.query, *options)), goal.reference_query)


@lru_cache(maxsize=4_096)
def _finding_query(shop: Shop, asin: str, wish: str, reference: str) -> str | None:
    for query in (wish, reference, *_attempts(shop.known(asin))):
        words = plain(query)[:MAX_SEARCH].strip()
        if words and asin in shop.hits(words):
            return words
    return None


def _attempts(product: Product) -> tuple[str, ...]:
    first = product.bullets[0] if product.bullets else ""
    values = " ".join(value for values in product.options.values() for value in values)
    return (
        product.title,
        f"{product.title} {values}",
        f"{product.title} {first}",
        f"{product.title} {product.description}",
        f"{product.description}",
    )


def hasty_action(shop: Shop, place: Place) -> str | None:
    """Take the first result, buy it as it is; None where there is nothing to be hasty about."""
    if place.page == ITEM:
        return click(BUY)
    shown = shown_results(shop, place)[0] if place.page == RESULTS else ()
    return click(shown[0]) if shown else None
