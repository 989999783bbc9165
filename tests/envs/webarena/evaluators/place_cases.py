"""Hand-made addresses and pages with the score of each dialect and why."""

from __future__ import annotations

from typing import Any

SHOP = "http://shop.test"
# (reference, note, address, lite, webarena, why)
URLS: list[tuple[str, str | None, str, int, int, str]] = [
    (SHOP, None, SHOP, 1, 1, "equal"),
    (SHOP, None, f"{SHOP}/", 1, 1, "a slash at the end is dropped"),
    (f"{SHOP}/", None, SHOP, 1, 1, "of the reference as well"),
    (SHOP, None, f"{SHOP}//", 0, 1, "lite drops one slash, webarena all"),
    (f"{SHOP}/a", None, f"{SHOP}/a/b", 0, 1, "without a note lite wants equality, webarena a part"),
    (f"{SHOP}/a", "EXACT", f"{SHOP}/a/b", 0, 0, "equality asked for"),
    (f"{SHOP}/a", "EXACT", f"{SHOP}/a", 1, 1, "equal"),
    (f"{SHOP}/a", "GOLD in PRED", f"{SHOP}/a/b", 1, 1, "a part"),
    (f"{SHOP}/a", "GOLD in PRED", f"{SHOP}/b", 0, 0, "another page"),
    (f"{SHOP}/a", "GOLD in PRED", f"{SHOP}/a?p=2", 1, 1, "more in the query"),
    (f"{SHOP}/a?q=1", "GOLD in PRED", f"{SHOP}/a?q=1", 1, 1, "the same query"),
    (f"{SHOP}/a?q=1", "GOLD in PRED", f"{SHOP}/a?q=12", 1, 0, "as text a part, as value another one"),
    (f"{SHOP}/a?q=1&p=2", "GOLD in PRED", f"{SHOP}/a?p=2&q=1", 0, 1, "order matters to lite alone"),
    (f"{SHOP}/a?q=1", "GOLD in PRED", f"{SHOP}/a?x=0&q=1", 0, 1, "something stands between"),
    (f"{SHOP}/a?q=1", "GOLD in PRED", f"{SHOP}/a/?q=1", 0, 1, "webarena looks at path and query apart"),
    (f"{SHOP}/a?q=1", "GOLD in PRED", f"{SHOP}/a", 0, 0, "the query is missing"),
    (f"{SHOP}/a?q=x+y", "GOLD in PRED", f"{SHOP}/a?q=x%20y", 0, 1, "two ways of writing a space"),
    (f"{SHOP}/a |OR| {SHOP}/b", "GOLD in PRED", f"{SHOP}/b", 1, 1, "the second alternative"),
    (f"{SHOP}/a |OR| {SHOP}/b", "GOLD in PRED", f"{SHOP}/c", 0, 0, "neither"),
    (f"{SHOP}/a |OR| {SHOP}/b", None, f"{SHOP}/b", 1, 1, "equal to the second"),
    (f"{SHOP}/a?q=1 |OR| {SHOP}/b?q=2", "GOLD in PRED", f"{SHOP}/a?q=2", 0, 1, "webarena mixes alternatives"),
    ("http://localhost:7770/a", None, "http://127.0.0.1:7770/a", 1, 0, "lite takes localhost for 127.0.0.1"),
    ("http://127.0.0.1/a", "GOLD in PRED", "http://localhost/a/b", 1, 0, "in both directions"),
    (f"{SHOP}/a", "GOLD in PRED", "", 0, 0, "no address"),
    (f"{SHOP}/a", "GOLD in PRED", "http://[bad/a", 0, 0, "not an address"),
    (f"{SHOP}/A", None, f"{SHOP}/a", 0, 0, "case matters"),
    (f"{SHOP}/a#top", None, f"{SHOP}/a#top", 1, 1, "a fragment"),
    ("https://shop.test/a", "GOLD in PRED", f"{SHOP}/a", 0, 1, "webarena does not look at the scheme"),
]

HTML = """<!doctype html><html><head><title>T</title></head><body>
<div id="a">Total: <b>12</b> items &amp; more</div><div id="tab">x &amp;amp; y</div>
<form class="vote vote--user-upvoted"></form><input name="price" value="9.50"><input id="box" type="checkbox" checked>
<select class="routing_engines"><option>foot<option selected>car</select><p class="empty"></p></body></html>"""
LAST, OTHER = f"{SHOP}/last", f"{SHOP}/other"
PAGES = {LAST: HTML, OTHER: HTML.replace("12", "13"), f"{SHOP}/b": "<html><body><i>up</i></body></html>"}


def at(place: str, **contents: Any) -> dict[str, Any]:
    """A target: `place` is a selector and what to read there."""
    selector, _, property = place.partition(" -> ")
    locator = f"document.querySelector('{selector}').{property}" if place else ""
    return {"locator": locator, "required_contents": contents}


VOTE, PRICE, ENGINE = (
    "form -> getAttribute('class')",
    '[name="price" -> value',
    "select.routing_engines -> selectedIndex",
)
# (target, lite, webarena, why)
TARGETS: list[tuple[dict[str, Any], int, int, str]] = [
    (at("", must_include=["items"]), 1, 1, "the whole page"),
    (at("", must_include=["missing"]), 0, 0, "not on the page"),
    (at("", must_include=["tem"]), 0, 1, "a part of a word"),
    (at("", must_include=["items & more"]), 0, 1, "only webarena decodes entities"),
    (at("", must_include=["items &amp; more"]), 1, 0, "which lite does not decode"),
    ({"url": OTHER, **at("", must_include=["13"])}, 1, 1, "another page"),
    ({"url": OTHER, **at("", must_include=["12"])}, 0, 0, "not the one the agent left"),
    ({"url": f"{SHOP}/x/../b", **at("", must_include=["up"])}, 1, 1, "dots as a browser takes them"),
    (at("#a -> outerText", exact_match="Total: 12 items & more"), 1, 1, "the visible text"),
    (at("#a b -> outerText", exact_match="12"), 1, 1, "inside"),
    (at("#a b -> outerText", exact_match="1"), 0, 0, "not equal"),
    (at("#a -> outerText", must_include=["2"]), 0, 1, "a digit of a number"),
    (at("#tab -> outerText", exact_match="x & y"), 0, 1, "webarena decodes what is decoded already"),
    (at("#no -> outerText", must_include=["a"]), 0, 0, "no such place"),
    (at("#no -> outerText", must_exclude=["a"]), 1, 1, "no such place is an empty one"),
    (at("#no -> outerText", exact_match=""), 1, 1, "no such place is an empty one"),
    (at("#no -> outerText", required_values=["> 0"]), 0, 0, "nothing is no number"),
    (at(VOTE, must_include=["vote--user-upvoted"]), 1, 1, "an attribute"),
    (at(VOTE, must_include=["vote--user-downvoted"]), 0, 0, "another class"),
    (at(PRICE, exact_match="9.50"), 1, 1, "what a field holds"),
    (at(PRICE, exact_match="9.5"), 0, 0, "texts are compared, not numbers"),
    (at("#box -> checked.toString()", exact_match="true"), 1, 1, "ticked"),
    (at(ENGINE, exact_match="1"), 1, 1, "the second option"),
    (at(ENGINE, exact_match=1), 1, 1, "a number in a file is its text"),
    (at("#a b -> outerText", required_values=[">= 10"]), 1, 1, "a number"),
    (at("#a b -> outerText", required_values=["< 10"]), 0, 0, "too large a number"),
    (at("#a -> outerText", must_include=["12 items |OR| 13 items"]), 1, 1, "an alternative"),
    (at("#a -> outerText", one_of=["12 items", "13 items"]), 1, 1, "one of them"),
    (at("#a -> outerText", fuzzy_match=["12 items"]), 1, 1, "by the rule judge"),
    (at("#a -> outerText", fuzzy_match=["13 items"]), 0, 0, "by the rule judge"),
    (
        {"prep_actions": ["document.querySelector('form').click()"], **at("#a b -> outerText", exact_match="12")},
        1,
        1,
        "",
    ),
    (
        {**at("", exact_match="12"), "locator": "lambda:() => document.querySelector('#a b').outerText"},
        1,
        1,
        "a function",
    ),
    (
        {**at("", must_exclude=["a"]), "locator": "lambda:() => document.querySelector('.empty').outerText"},
        0,
        0,
        "empty",
    ),
]
