"""What a click or a search does: from one place in the shop to the next; the right next action, and a hasty one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from agentrl.envs.webshop.actions import MAX_SEARCH, plain
from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.pages import (
    BACK,
    BUY,
    DONE,
    ITEM,
    NEXT,
    PAGES,
    PREV,
    RESULTS,
    RESULTS_PER_PAGE,
    SEARCH,
    SEARCH_BODY,
    SEARCH_HEAD,
    SUB_PAGES,
    Body,
    Page,
    Part,
    Parts,
    Place,
    done_body,
    item_body,
    page_url,
    results_body,
    sub_page_body,
)
from agentrl.envs.webshop.reward import best_choices
from agentrl.envs.webshop.shop import Shop

LAST_NUMBER = 1_000  # of results pages: `Next >` is always there, but a number need not grow without end


def shown_results(shop: Shop, place: Place) -> tuple[tuple[str, ...], int]:
    """The ids on a results page, and how many results there are in all."""
    hits = shop.hits(place.query, place.lot)
    return hits[_slice(place)], len(hits)


def _slice(place: Place) -> slice:
    start = (place.number - 1) * RESULTS_PER_PAGE
    return slice(start, start + RESULTS_PER_PAGE)


def page_at(shop: Shop, place: Place, wish: Parts, session: str, show_attributes: bool, score: float | None) -> Page:
    """The page that an agent at this place sees."""
    url = page_url(session, place)
    if place.page == SEARCH:
        return Page(place.page, SEARCH_HEAD + wish, SEARCH_BODY, url)
    if place.page == DONE:
        receipt = done_body(shop.known(place.asin), place.options, score or 0.0)
        return Page(place.page, (), receipt, url, place.asin)
    # A body is remembered under all that it depends on and nothing else: a product looks the same however it was found.
    asin = place.asin
    if place.page == RESULTS:
        body = shop.remembered((place.query, place.lot, place.number), lambda: _results(shop, place))
    elif place.page == ITEM:
        body = shop.remembered((asin, show_attributes), lambda: item_body(shop.known(asin), show_attributes))
        body = body.choosing(place.options)
    else:
        body = shop.remembered((asin, place.page), lambda: sub_page_body(shop.known(asin), place.page))
    return Page(place.page, wish, body, url, asin)


def _results(shop: Shop, place: Place) -> Body:
    found, shown = shop.found(place.query, place.lot), _slice(place)
    return results_body(place.number, len(found.asins), found.asins[shown], shop.listings(found.numbers[shown]))


def searched(query: str, lot: int) -> Place:
    """The first results of a search; everything chosen before is forgotten."""
    return Place(RESULTS, query, lot, 1)


def clicked(shop: Shop, place: Place, part: Part) -> Place:
    """Where a click leads."""
    if part.kind == "product":
        return _at(place, ITEM, asin=part.text)
    if part.kind == "option":  # one more, or another value for the same name
        options = dict(place.options)
        holders = [name for name, values in shop.known(place.asin).options.items() if part.text in values]
        name = next((holder for holder in holders if options.get(holder) != part.text), holders[0])
        return _at(place, ITEM, asin=place.asin, options=tuple({**options, name: part.text}.items()))
    if part.text == BACK:
        return Place()
    if part.text == NEXT:
        return Place(RESULTS, place.query, place.lot, min(place.number + 1, LAST_NUMBER))
    if part.text == PREV and place.page not in SUB_PAGES:
        back = place.number - 1 if place.page == RESULTS else place.number
        return Place(RESULTS, place.query, place.lot, back)
    page = DONE if part.text == BUY else ITEM if part.text == PREV else part.text.lower()
    return _at(place, page, asin=place.asin, options=place.options)


def check_place(shop: Shop, place: Place) -> None:
    """A `ValueError` unless the place is one that clicking leads to: a snapshot may have been forged."""
    if place.page not in PAGES or not 0 <= place.number <= LAST_NUMBER or place.query != plain(place.query):
        raise ValueError("it stands on no page")
    if len(place.query) > MAX_SEARCH or (place.page == SEARCH) != (place == Place()):
        raise ValueError("it stands on no page")
    if place.page == SEARCH:
        return
    hits = shop.hits(place.query, place.lot) if place.query and place.number and place.lot >= 0 else None
    if hits is None or (place.page == RESULTS) == bool(place.asin) or (place.asin and place.asin not in hits):
        raise ValueError("its search does not lead there")
    for name, value in place.options:
        if value not in shop.known(place.asin).options.get(name, ()):
            raise ValueError("it has chosen what cannot be chosen")


def _at(place: Place, page: str, asin: str, options: tuple[tuple[str, str], ...] = ()) -> Place:
    return Place(page, place.query, place.lot, place.number, asin, options)


# ---------------------------------------------------------------------- players


def right_action(shop: Shop, place: Place, goal: Goal) -> str | None:
    """Towards buying the product the goal was written for, with its options; None where no search finds it."""
    if place.asin == goal.asin:
        if place.page in SUB_PAGES:
            return click(PREV)
        wanted = best_choices(shop.known(goal.asin), goal, shop.rules)
        missing = [value for name, value in wanted.items() if (name, value) not in place.options]
        return click(missing[0]) if missing else click(BUY)
    hits = shop.hits(place.query, place.lot) if place.query else ()
    if place.page == RESULTS and goal.asin in hits:
        page = _page_of(goal.asin, hits)
        return click(goal.asin if page == place.number else NEXT if page > place.number else PREV)
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
    product = shop.known(asin)
    title, first = product.title, product.bullets[0] if product.bullets else ""
    values = " ".join(value for values in product.options.values() for value in values)
    own_words = (title, f"{title} {values}", f"{title} {first}", f"{title} {product.description}", product.description)
    for query in (wish, reference, *own_words):
        words = plain(query)[:MAX_SEARCH].strip()
        if words and asin in shop.hits(words):
            return words
    return None


def hasty_action(shop: Shop, place: Place) -> str | None:
    """Take the first result, buy it as it is; None where there is nothing to be hasty about."""
    if place.page == ITEM:
        return click(BUY)
    shown = shown_results(shop, place)[0] if place.page == RESULTS else ()
    return click(shown[0]) if shown else None
