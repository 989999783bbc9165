"""Pages that behave do so in the same way in Chromium, by their script, and without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lxml.cssselect import CSSSelector

from agentrl.envs.webarena.backend import ActionFailed, View
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.observing.modes import observe
from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World

SHOP, CODE, MAP = "http://shopping.localhost/", "http://code.localhost/byteblaze/dotfiles", "http://map.localhost/"
HOME = "http://homepage.localhost/"
REPORT = "http://admin.localhost/admin/reports/report_sales/sales/"
PRODUCT = World().database("store").value(
    "SELECT url_key FROM product JOIN review ON review.product_id = product.id AND review.status = 'Approved'"
    " WHERE is_in_stock AND NOT EXISTS (SELECT 1 FROM product_option WHERE product_id = product.id) LIMIT 1"
)  # fmt: skip
# What the agent does; after "shows" stands what is to be seen then, after "hides" what is not.
WALKS: dict[str, list[tuple[Any, ...]]] = {
    "a menu opens while the pointer is on it": [
        ("open", SHOP), ("hides", ".submenu"), ("hover", "a.level-top"), ("shows", ".submenu"),
        ("hover", ".submenu a"), ("shows", ".submenu"), ("hover", "#search"), ("hides", ".submenu"),
        ("hover", "a.level-top"), ("click", ".submenu a"), ("shows", ".products"), ("back",), ("shows", ".submenu"),
        ("hover", "#search"), ("click", "a.level-top"), ("back",), ("hides", ".submenu"),
    ],
    "a panel is closed by a click elsewhere and by Escape": [
        ("open", SHOP), ("click", "a.showcart"), ("shows", "#minicart"), ("press", "Escape"), ("hides", "#minicart"),
        ("click", "a.showcart"), ("type", "#search", "tea"), ("hides", "#minicart"), ("click", "a.showcart"),
        ("click", "#minicart [data-closes]"), ("hides", "#minicart"),
    ],
    "tabs show one panel of several, and what is in the cart is in its panel": [
        ("open", f"{SHOP}{PRODUCT}.html"), ("click", "#tab-reviews"), ("shows", "#reviews"), ("hides", "#description"),
        ("click", "#tab-additional"), ("shows", "#additional"), ("click", ".reviews-summary a"), ("shows", "#reviews"),
        ("press", "Home"), ("click", "button.tocart"), ("click", "a.showcart"), ("shows", ".minicart-items"),
    ],
    "a dialog lies over the page, with a calendar in it": [
        ("open", f"{CODE}/-/project_members"), ("click", "#invite-members"), ("shows", "#invite-form"),
        ("cannot", "a.remove-member"), ("type", "#invite_user", "ada"), ("click", "#expires_at-button"),
        ("click", ".calendar-head a[title^=Next]"), ("click", "a[data-value='2025-07-15']"), ("hides", ".calendar"),
        ("holds", "#expires_at", "2025-07-15"), ("press", "Escape"), ("hides", "#invite-form"),
        ("click", "a.remove-member"), ("shows", ".dialog"), ("click", ".dialog [data-closes]"), ("hides", ".dialog"),
    ],
    "what deletes asks first": [
        ("open", f"{CODE}/-/branches"), ("click", "a[href*='delete=']"), ("shows", ".dialog"), ("press", "Escape"),
        ("hides", ".dialog"), ("click", "a[href*='delete=']"), ("click", ".dialog button"), ("shows", ".message"),
        ("open", f"{CODE}/-/labels"), ("click", "a[href*='delete=']"), ("cannot", "a[href$='edit']"),
        ("click", ".dialog [data-closes]"), ("hides", ".dialog"), ("click", "a[href*='delete=']"),
        ("click", ".dialog button"), ("hides", ".dialog"),
    ],
    "the text of a field filters a drop-down": [
        ("open", f"{CODE}/-/issues/4"), ("click", "#sidebar-labels .edit-link"), ("shows", "#label-list"),
        ("type", "#label-search", "bu"), ("hides", "#label-list label[hidden]"), ("click", "#label-list label"),
        ("type", "#label-search", ""), ("click", "#sidebar-labels button"), ("shows", "#sidebar-labels .label"),
    ],
    "what comes later is there at the next action, and the element in its place is gone": [
        ("open", f"{CODE}/-/merge_requests/12"), ("hides", "#mr-widget form"), ("wait",), ("shows", "#mr-widget form"),
        ("open", f"{CODE}/-/merge_requests/11"), ("fails", "#mr-widget a"), ("shows", "#mr-widget form"),
    ],
    "a list goes on where it is scrolled to its end": [
        ("open", f"{CODE}/activity"), ("counts", "#events > li", 20), ("press", "End"), ("counts", "#events > li", 40),
        ("press", "Home"), ("counts", "#events > li", 40),
    ],
    "the map is zoomed, dragged and asked by a right click": [
        ("open", f"{MAP}search?query=museums"), ("type", "#query", "mu"), ("click", "a.zoomin"),
        ("holds", "#query", "mu"), ("right click", ".leaflet-container"), ("shows", ".leaflet-contextmenu"),
        ("drag", (800, 300), (650, 200)), ("hides", ".leaflet-contextmenu"), ("does not drag", (100, 20), (400, 300)),
        ("does not drag", ".zoomin", (400, 300)), ("right click", ".leaflet-container"),
        ("click", ".leaflet-contextmenu a:last-child"), ("right click", ".leaflet-container"),
        ("click", ".leaflet-contextmenu a"), ("shows", ".routing_engines"), ("back",),
    ],
    "the home page calculates and keeps notes": [
        ("open", HOME), ("click", ".card a[href='/calculator.html']"), ("search", "#expression", "(12.5 + 3) * 4"),
        ("holds", "#expression", "(12.5 + 3) * 4"), ("click", ".head a[href*=pad]"),
        ("type", "textarea", "one\n  two"), ("click", "button"), ("counts", ".note", 1), ("back",), ("back",),
    ],
    "a date is picked as the field wants it": [
        ("open", REPORT), ("click", "#sales_report_from-button"), ("click", ".calendar a[data-pick]"),
        ("holds", "#sales_report_from", "6/1/2025"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def backends() -> Iterator[tuple[Any, Any]]:
    from agentrl.envs.webarena.browsing.browser import BrowserBackend

    pair = DomBackend(World()), BrowserBackend(World())
    yield pair
    for backend in pair:
        backend.close()
        backend.world.close()


def found(selector: str, view: View) -> list[Any]:
    return CSSSelector(selector, translator="html")(view.root)


def label(selector: str, view: View) -> int:
    """The id of the first element that matches, or of something in it or around it."""
    nodes = (node for one in found(selector, view) for node in (*one.iter(), *one.iterancestors()))
    return next(view.ids[node] for node in nodes if node in view.ids)


def do(backend: Any, name: str, *parts: Any) -> None:
    """One step of a walk."""
    view = backend.view()
    match name:
        case "open" | "press":
            getattr(backend, name)(*parts)
        case "hover" | "click":
            getattr(backend, name)(label(parts[0], view))
        case "right click":
            backend.click(label(parts[0], view), "right")
        case "type" | "search":
            backend.type(label(parts[0], view), parts[1], enter=name == "search")
        case "drag":
            backend.drag(*parts)
        case "does not drag":
            box = view.boxes[found(parts[0], view)[0]] if isinstance(parts[0], str) else (*parts[0], 0, 0)
            with pytest.raises(ActionFailed, match="nothing here that can be dragged"):
                backend.drag((box[0] + box[2] // 2, box[1] + box[3] // 2), parts[1])
        case "wait":
            backend.refresh()
        case "back":
            backend.back()
        case "fails":
            with pytest.raises(ActionFailed, match="no longer on the page"):
                backend.click(label(parts[0], view))
        case "shows" | "hides":
            displayed = any(element in view.boxes for element in found(parts[0], view))
            assert displayed == (name == "shows"), parts
        case "cannot":  # something lies over it
            assert found(parts[0], view) and not any(one in view.ids for one in found(parts[0], view))
        case "holds":
            assert [view.values[field] for field in found(parts[0], view)] == [parts[1]]
        case "counts":
            assert len(found(parts[0], view)) == parts[1]


def seen(view: View) -> dict[str, Any]:
    """All that an agent sees of a page."""
    modes = ("simplified", "accessibility", "compact")
    return {"url": view.url, "height": view.height, **{mode: observe(view, mode, header=True) for mode in modes}}


@pytest.mark.browser
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_both_back_ends_show_the_same(backends: tuple[Any, Any], walk: list[tuple[Any, ...]]) -> None:
    for backend in backends:
        backend.world.clear()
        backend.start(["about:blank"], cookies(tuple(PLACES)))
    for step in walk:
        for backend in backends:
            do(backend, *step)
        views = [seen(backend.view()) for backend in backends]
        assert views[0] == views[1], step
    # What a page has made of itself is saved, and each back end goes on with what the other has saved.
    kept = [(backend.world.save(), backend.save()) for backend in backends]
    for backend, (world, saved) in zip(backends, reversed(kept), strict=True):
        backend.world.load(world)
        backend.load(saved)
        assert seen(backend.view()) == views[0]


@pytest.mark.parametrize("path", ["", f"{PRODUCT}.html", "checkout/cart/"])
def test_an_edited_page_has_the_same_elements_once_it_is_read_again(path: str) -> None:
    backend = DomBackend(World())
    backend.start([SHOP + path], cookies(("shopping",)))
    tags = [element.tag for element in backend.view().root.iter("*")]
    backend.hover(label("a.level-top", backend.view()))
    assert [element.tag for element in backend.view().root.iter("*")] == tags


@pytest.mark.parametrize(
    "address",
    [
        f"{CODE}/-/project_members?invite=1", f"{CODE}/-/issues/4?edit=labels", f"{CODE}/-/issues/4?edit=assignee",
        f"{CODE}/-/merge_requests/10?widget=1", f"{SHOP}{PRODUCT}.html?tab=reviews", f"{MAP}?x=400&y=300",
        "http://code.localhost/.calendar?field=day&month=2024-02",
    ],
)  # fmt: skip
def test_without_a_script_links_lead_to_the_same(address: str) -> None:
    origin = "/".join(address.split("/")[:3])
    answer = World().fetch(Request("GET", address, (), cookies(tuple(PLACES)).get(origin, {})))
    page = answer.text
    assert answer.status == 200 and any(mark in page for mark in ("data-popup", "data-modal", "<form", "data-tab"))


def test_hostile_addresses_of_parts_are_no_pages() -> None:
    """A page may only take parts of pages of its own site."""
    backend = DomBackend(World())
    backend.start([SHOP], cookies(tuple(PLACES)))
    session = backend._session
    for link in ("http://code.localhost/", "javascript:alert(1)", "http://[", "", "//other.example/", "/nothing-there"):
        assert session.fetch(link) is None
