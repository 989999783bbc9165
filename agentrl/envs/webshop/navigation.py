"""What a click or a search does: from one place in the shop to the next. Knows no goal and no reward."""

from __future__ import annotations

from agentrl.envs.webshop.pages import (
    BACK,
    BUY,
    DONE,
    ITEM,
    NEXT,
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
    return Page(place.page, wish, _body(shop, place, show_attributes), url, place.asin)


def _body(shop: Shop, place: Place, show_attributes: bool) -> Body:
    """Remembered under all that it depends on, and nothing else: a product looks the same however it was found."""
    asin = place.asin
    if place.page == RESULTS:
        return shop.remembered((place.query, place.lot, place.number), lambda: _results(shop, place))
    if place.page == ITEM:
        body = shop.remembered((asin, show_attributes), lambda: item_body(shop.known(asin), show_attributes))
        return body.choosing(place.options)
    return shop.remembered((asin, place.page), lambda: sub_page_body(shop.known(asin), place.page))


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
    if part.kind == "option":
        return _at(place, ITEM, asin=place.asin, options=_chosen(shop, place, part))
    if part.text == BACK:
        return Place()
    if part.text == NEXT:
        return Place(RESULTS, place.query, place.lot, min(place.number + 1, LAST_NUMBER))
    if part.text == PREV:
        return _previous(place)
    page = DONE if part.text == BUY else part.text.lower()
    return _at(place, page, asin=place.asin, options=place.options)


def _previous(place: Place) -> Place:
    """From a sub page to its product, options kept; from a product to the results; one page of results back."""
    if place.page in SUB_PAGES:
        return _at(place, ITEM, asin=place.asin, options=place.options)
    back = place.number - 1 if place.page == RESULTS else place.number
    return Place(RESULTS, place.query, place.lot, back)


def _chosen(shop: Shop, place: Place, part: Part) -> tuple[tuple[str, str], ...]:
    """The chosen options with one more, or with another value for the same name."""
    options = dict(place.options)
    holders = [name for name, values in shop.known(place.asin).options.items() if part.text in values]
    name = next((holder for holder in holders if options.get(holder) != part.text), holders[0])
    return tuple({**options, name: part.text}.items())


def _at(place: Place, page: str, asin: str, options: tuple[tuple[str, str], ...] = ()) -> Place:
    return Place(page, place.query, place.lot, place.number, asin, options)
