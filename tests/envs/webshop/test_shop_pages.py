"""Pages: the golden texts, rich text, HTML whose visible strings are the text, addresses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentrl.envs.webshop.page_html import page_html
from agentrl.envs.webshop.page_text import page_rich_text, page_text, with_history
from agentrl.envs.webshop.pages import (
    SEARCH_BODY,
    SEARCH_HEAD,
    Page,
    Part,
    Place,
    done_body,
    item_body,
    page_url,
    results_body,
    sub_page_body,
)
from tests.envs.webshop.shop_kit import SHIRT, small_shop, tags_of, visible_strings

WISH = (Part("label", "Instruction:"), Part("goal", "i want a shirt"))
HOSTILE = replace(
    SHIRT,
    title='<script>alert("1")</script> & <b>Shirt</b>',
    description="</p></form><img src=x onerror=alert(1)>",
    bullets=("</button><h1>big</h1>", "a & b &lt; c"),
    options={'si"ze': ('"><script>', "l'arge")},
)


def item_page(product=SHIRT, chosen=(), show_attributes: bool = False) -> Page:
    return Page("item", WISH, item_body(product, show_attributes).choosing(chosen), "/item", product.asin)


def results_page(number: int, total: int, *products) -> Page:
    listings = [(product.title, product.price_tag) for product in products]
    return Page("results", WISH, results_body(number, total, [product.asin for product in products], listings), "/r")


def sub_page(kind: str, product=SHIRT) -> Page:
    return Page(kind, WISH, sub_page_body(product, kind), "/sub", product.asin)


def done_page(product=SHIRT) -> Page:
    return Page("done", (), done_body(product, (("size", "large"),), 0.75), "/done", product.asin)


SEARCH_PAGE = Page("search", SEARCH_HEAD + WISH, SEARCH_BODY, "/s")


def test_the_search_page_reads_as_in_the_benchmark() -> None:
    assert page_text(SEARCH_PAGE) == "WebShop [SEP] Instruction: [SEP] i want a shirt [SEP] Search"


def test_the_first_results_page_reads_as_in_the_benchmark() -> None:
    cheap = replace(SHIRT, asin="B09ABCDEFG", title="Cheap Shirt", pricing=(877.8,), price=877.8)
    assert page_text(results_page(1, 50, cheap, SHIRT)) == (
        "Instruction: [SEP] i want a shirt [SEP] Back to Search [SEP] Page 1 (Total results: 50) [SEP] Next > [SEP] "
        "B09ABCDEFG [SEP] Cheap Shirt [SEP] $877.8 [SEP] "
        "B06Y3VLDFB [SEP] Plain Shirt for Long Days [SEP] $19.99 to $27.99"
    )


def test_later_results_pages_have_a_way_back_before_the_way_on() -> None:
    text = page_text(results_page(2, 50))
    assert text.endswith("Page 2 (Total results: 50) [SEP] < Prev [SEP] Next >")


def test_the_item_page_reads_as_in_the_benchmark() -> None:
    assert page_text(item_page()) == (
        "Instruction: [SEP] i want a shirt [SEP] Back to Search [SEP] < Prev [SEP] size [SEP] x-small [SEP] large "
        "[SEP] color [SEP] black [SEP] navy [SEP] Plain Shirt for Long Days [SEP] Price: $19.99 to $27.99 [SEP] "
        "Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now"
    )


def test_attributes_are_a_button_only_where_they_are_shown() -> None:
    assert "Reviews [SEP] Attributes [SEP] Buy Now" in page_text(item_page(show_attributes=True))
    assert "Attributes" not in page_text(item_page())


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("description", " [SEP] A shirt.\nIt has two sleeves."),
        ("features", " [SEP] Machine wash [SEP] 100% cotton"),
        ("reviews", ""),
        (
            "attributes",
            " [SEP] machine wash [SEP] slim fit [SEP] fashion [SEP] shirt [SEP] Clothing \u203a Men \u203a Shirts",
        ),
    ],
)
def test_sub_pages_read_as_in_the_benchmark(kind: str, ending: str) -> None:
    head = "Instruction: [SEP] i want a shirt [SEP] Back to Search [SEP] < Prev"
    assert page_text(sub_page(kind)) == head + ending


def test_a_blank_feature_is_an_empty_string_unless_it_is_a_line_break_as_in_the_benchmark() -> None:
    blank = replace(
        SHIRT, bullets=("Machine wash", "", " ", "\n", "Soft"), description=" ", attributes=("", "slim fit")
    )
    assert page_text(sub_page("features", blank)).endswith("< Prev [SEP] Machine wash [SEP]  [SEP]  [SEP] Soft")
    assert page_text(sub_page("description", blank)).endswith("< Prev")
    assert page_text(sub_page("attributes", blank)).endswith("< Prev [SEP]  [SEP] slim fit [SEP] fashion [SEP] shirt "
    "[SEP] Clothing \u203a Men \u203a Shirts")  # fmt: skip


def test_the_last_page_begins_and_ends_as_in_the_benchmark() -> None:
    text = page_text(done_page())
    assert text.startswith("Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] ")
    assert text.endswith(" [SEP] Your score (min 0.0, max 1.0) [SEP] 0.75 [SEP] Reward Details [SEP] None")
    assert 'asin [SEP] B06Y3VLDFB [SEP] options [SEP] {"size": "large"}' in text


def test_rich_text_marks_what_can_be_clicked_and_what_was() -> None:
    assert page_rich_text(item_page(chosen=(("size", "large"), ("color", "navy")))) == (
        "You have clicked navy.\nYou have clicked large.\n"
        "Instruction:\ni want a shirt\n[button] Back to Search [button_]\n[button] < Prev [button_]\n"
        "size\n  [button] x-small [button_]\n  [clicked button] large [clicked button_]\n"
        "color\n  [button] black [button_]\n  [clicked button] navy [clicked button_]\n"
        "Plain Shirt for Long Days\nPrice: $19.99 to $27.99\nRating: N.A.\n"
        "[button] Description [button_]\n[button] Features [button_]\n[button] Reviews [button_]\n"
        "[button] Buy Now [button_]\n"
    )


def test_rich_text_marks_products_that_were_opened_since_the_search_page() -> None:
    other = replace(SHIRT, asin="B09ABCDEFG")
    page = replace(results_page(1, 2, SHIRT, other), opened=frozenset({SHIRT.asin}))
    lines = page_rich_text(page).split("\n")
    assert "[clicked button] B06Y3VLDFB [clicked button_]" in lines and "[button] B09ABCDEFG [button_]" in lines
    assert not any(line.startswith("You have clicked") for line in lines)
    assert page_text(page) == page_text(results_page(1, 2, SHIRT, other))


def test_rich_text_puts_an_empty_line_before_each_product() -> None:
    lines = page_rich_text(results_page(1, 2, SHIRT, SHIRT)).split("\n")
    at = [place for place, line in enumerate(lines) if line == "[button] B06Y3VLDFB [button_]"]
    assert len(at) == 2
    assert all(lines[place - 1] == "" for place in at)


@pytest.mark.parametrize("product", [SHIRT, HOSTILE], ids=["plain", "hostile"])
def test_the_visible_strings_of_the_html_are_the_text(product) -> None:
    pages = [SEARCH_PAGE, results_page(3, 22, product, SHIRT), item_page(product), done_page(product)]
    pages += [sub_page(kind, product) for kind in ("description", "features", "reviews", "attributes")]
    for page in pages:
        assert visible_strings(page_html(page)) == [part.text for part in page.parts]
        assert " [SEP] ".join(visible_strings(page_html(page))) == page_text(page)


def test_no_product_can_write_a_tag_of_its_own() -> None:
    known = {"html", "head", "meta", "title", "link", "body", "form", "article", "img", "button", "input"}
    known |= {"h1", "h2", "h3", "h4", "h5", "p", "pre"}
    for page in (item_page(HOSTILE), results_page(1, 1, HOSTILE), sub_page("description", HOSTILE), done_page(HOSTILE)):
        tags = tags_of(page_html(page))
        assert {tag for tag, _ in tags} <= known
        assert not [attributes for _, attributes in tags if any(name.startswith("on") for name in attributes)]


def test_html_buttons_carry_what_a_click_would() -> None:
    page = item_page(HOSTILE)
    values = [attributes["value"] for tag, attributes in tags_of(page_html(page)) if "value" in attributes]
    assert sorted(str(value) for value in values) == sorted(page.clickables())


def test_a_choice_marks_its_option_and_changes_nothing_else() -> None:
    twins = replace(SHIRT, options={"upper": ("Red", "blue"), "lower": ("red", "green")})
    plain = item_body(twins)
    chosen = plain.choosing([("upper", "Red")])
    assert [part for part in chosen.parts if part.chosen] == [Part("option", "Red", True)]
    assert [part[:2] for part in chosen.parts] == [part[:2] for part in plain.parts]
    assert not any(part.chosen for part in plain.parts) and plain.choosing(()) is plain
    assert (chosen.text, chosen.clickables) == (plain.text, plain.clickables)
    both = plain.choosing([("upper", "Red"), ("lower", "red")])
    assert sum(part.chosen for part in both.parts) == 2
    assert plain.choosing([("upper", "green"), ("sole", "red")]).parts == plain.parts


def test_a_click_finds_what_it_names_and_of_two_the_one_that_is_not_chosen() -> None:
    twins = replace(SHIRT, options={"upper": ("Red", "dark  blue"), "lower": ("red", "green")})
    plain = item_body(twins)
    assert plain.find("red") == Part("option", "Red") and plain.find("dark blue") == Part("option", "dark  blue")
    assert plain.choosing([("upper", "Red")]).find("red") == Part("option", "red")
    assert plain.choosing([("upper", "Red"), ("lower", "red")]).find("red") == Part("option", "red", True)
    assert plain.find("buy now") == Part("button", "Buy Now")
    assert [plain.find(name) for name in ("plain shirt for long days", "upper", "Red", "", "b06y3vldfb")] == [None] * 5
    assert results_page(1, 1, SHIRT).body.find("b06y3vldfb") == Part("product", "B06Y3VLDFB")


def test_clickables_are_buttons_and_ids_in_lower_case_and_options_as_they_are() -> None:
    assert results_page(2, 50, SHIRT).clickables() == ["back to search", "< prev", "next >", "b06y3vldfb"]
    buttons = ["back to search", "< prev", "description", "features", "reviews", "buy now"]
    assert item_page(replace(SHIRT, options={"size": ("XL",)})).clickables() == [*buttons, "XL"]


def test_clickables_come_in_the_benchmarks_order_and_only_once() -> None:
    shared = {"size": ("small", "large"), "fit": ("large", "wide"), "extra": ("features", "small")}
    buttons = ["back to search", "< prev", "description", "features", "reviews", "buy now"]
    assert item_page(replace(SHIRT, options=shared)).clickables() == [*buttons, "small", "large", "wide"]


@pytest.mark.parametrize(
    ("place", "address"),
    [
        (Place(), "/s7"),
        (Place("results", "red shoes", 0, 2), "/search_results/s7/red+shoes/2"),
        (Place("item", "red shoes", 0, 1, "B01"), "/item_page/s7/B01/red+shoes/1/%7B%7D"),
        (
            Place("features", "a/b", 0, 1, "B01", (("size", "xl"),)),
            "/item_sub_page/s7/B01/a%2Fb/1/Features/%7B%22size%22%3A%20%22xl%22%7D",
        ),
        (Place("done", "q", 0, 1, "B01"), "/done/s7/B01/%7B%7D"),
    ],
)
def test_addresses_follow_the_benchmark(place: Place, address: str) -> None:
    assert page_url("s7", place) == address


@pytest.mark.parametrize(
    ("seen", "done", "expected"),
    [
        (0, 0, "now"),
        (1, 0, "o2 [SEP] now"),
        (0, 1, "a2 [SEP] now"),
        (1, 2, "a1 [SEP] o2 [SEP] a2 [SEP] now"),
        (9, 9, "o1 [SEP] a1 [SEP] o2 [SEP] a2 [SEP] now"),
    ],
)
def test_history_stands_before_the_page_oldest_first(seen: int, done: int, expected: str) -> None:
    assert with_history("now", ["o1", "o2"], ["a1", "a2"], seen, done) == expected


@pytest.mark.parametrize("mode", ["text", "text_rich", "html"])
def test_every_mode_shows_the_same_strings_in_an_episode(mode: str) -> None:
    plain, other = small_shop(), small_shop(observation_mode=mode)
    first, second = plain.reset(seed=3)[0]["text"], other.reset(seed=3)[0]["text"]
    while True:
        strings = first.split(" [SEP] ")
        if mode == "html":
            assert visible_strings(second) == strings
        elif mode == "text_rich":
            assert [text for text in strings if text not in second] == []
        action = plain.oracle()
        if action is None:
            break
        first, second = plain.step(action)[0]["text"], other.step(action)[0]["text"]
    assert "Thank you" in first


def test_an_empty_title_is_no_string() -> None:
    nameless = replace(SHIRT, title="")
    for named, page in ((item_page(), item_page(nameless)), (results_page(1, 1, SHIRT), results_page(1, 1, nameless))):
        assert page_text(page) == page_text(named).replace(f"{SHIRT.title} [SEP] ", "")
        assert page_rich_text(page) == page_rich_text(named).replace(f"{SHIRT.title}\n", "")
        assert [text for text in visible_strings(page_html(page)) if text] == page_text(page).split(" [SEP] ")
