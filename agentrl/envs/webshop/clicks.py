"""What a click or a search does: from one place in the shop to the next. Knows no goal and no reward."""

from __future__ import annotations

from agentrl.envs.webshop.pages import (
    BACK,
    BACK_AND_PREV,
    BUY,
    CLICKABLE,
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
    done_parts,
    item_tail,
    option_parts,
    page_url,
    results_head,
    sub_page_lines,
)
from agentrl.envs.webshop.shop import Shop

LAST_NUMBER = 1_000  # of results pages: `Next >` is always there, but a number need not grow for ever


def shown_results(shop: Shop, place: Place) -> tuple[tuple[str, ...], int]:
    """The ids on a results page, and how many results there are in all."""
    hits = shop.hits(place.query, place.lot)
    start = (place.number - 1) * RESULTS_PER_PAGE
    return hits[start : start + RESULTS_PER_PAGE], len(hits)


def page_at(shop: Shop, place: Place, wish: Parts, session: str, show_attributes: bool, score: float | None) -> Page:
    """The page that a shopper at this place sees."""
    url = page_url(session, place)
    if place.page == SEARCH:
        return Page(place.page, SEARCH_HEAD + wish, SEARCH_BODY, url)
    if place.page == DONE:
        receipt = done_parts(shop.known(place.asin), place.options, score or 0.0)
        return Page(place.page, (), Body.of(receipt), url, place.asin)
    body = shop.remembered(place, show_attributes, lambda: Body.of(_parts(shop, place, show_attributes)))
    return Page(place.page, wish, body, url, place.asin)


def _parts(shop: Shop, place: Place, show_attributes: bool) -> Parts:
    if place.page == RESULTS:
        shown, total = shown_results(shop, place)
        return (*results_head(place.number, total), *(part for asin in shown for part in shop.card(asin)))
    product = shop.known(place.asin)
    if place.page == ITEM:
        return (*BACK_AND_PREV, *option_parts(product, place.options), *item_tail(product, show_attributes))
    return (*BACK_AND_PREV, *sub_page_lines(product, place.page))


def searched(query: str, lot: int) -> Place:
    """The first results of a search; everything chosen before is forgotten."""
    return Place(RESULTS, query, lot, 1)


def find_part(page: Page, wanted: str) -> Part | None:
    """What `click[wanted]` means on this page. Where two options share a value, one that is not chosen yet."""
    found: Part | None = None
    for part in page.body.parts:
        if part.kind in CLICKABLE and " ".join(part.text.lower().split()) == wanted:
            if not part.chosen:
                return part
            found = part
    return found


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
