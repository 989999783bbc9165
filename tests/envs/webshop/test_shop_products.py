"""Products, their indexed text, their prices, and the limits of goals."""

from __future__ import annotations

from collections import Counter

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.catalogue.product import listing_note, price_within, read_listing
from agentrl.envs.webshop.goals import NO_LIMIT, known_split, price_clause, price_limit, split_sizes
from tests.envs.webshop.shop_examples import a_product


def test_the_document_is_title_description_first_bullet_and_options_in_lower_case() -> None:
    assert a_product().document() == (
        "velmora shampoo bottle it rinses out quickly. pump included. color: navy blue, black, and size: small, x-large"
    )


def test_a_product_with_nothing_but_a_title_has_a_document() -> None:
    assert a_product(description="", bullets=(), options={}).document() == "velmora shampoo bottle   "


def test_price_tags() -> None:
    assert a_product(pricing=(100.0,)).price_tag == "$100.0"
    assert a_product(pricing=(19.99, 27.99)).price_tag == "$19.99 to $27.99"


def test_the_price_of_a_range_is_fixed_by_seed_and_asin() -> None:
    prices = {price_within((10.0, 20.0), 0, f"B{number:09}") for number in range(200)}
    assert len(prices) > 150 and all(10.0 <= price <= 20.0 for price in prices)
    assert price_within((10.0, 20.0), 0, "B000000001") == price_within((10.0, 20.0), 0, "B000000001") == 14.21
    assert price_within((10.0, 20.0), 1, "B000000001") != price_within((10.0, 20.0), 0, "B000000001")
    assert price_within((12.5,), 0, "x") == 12.5


@pytest.mark.parametrize(
    ("price", "possible"),
    [
        (0.0, {20, 30, 40}),  # the four are 10, 20, 30, 40: the larger of two is never the first
        (9.99, {20, 30, 40}),
        (10.0, {30, 40, 50}),  # a limit is strictly above the price
        (955.0, {970, 980, 990}),
        (965.5, {980, 990}),  # three are left
        (975.0, {990}),  # two are left
        (985.0, {NO_LIMIT}),  # one is not enough
        (5000.0, {NO_LIMIT}),
    ],
)
def test_limits_are_among_the_next_four_tens(price: float, possible: set[float]) -> None:
    assert {price_limit(price, 0, f"A{number}") for number in range(300)} == possible


def test_the_larger_of_two_picks_has_the_chances_of_the_benchmark() -> None:
    # Of the six pairs out of four, one has the second as its larger, two the third, three the fourth.
    counts = Counter(price_limit(15.0, 3, f"A{number}") for number in range(6000))
    assert counts[30.0] == pytest.approx(1000, abs=120)
    assert counts[40.0] == pytest.approx(2000, abs=150)
    assert counts[50.0] == pytest.approx(3000, abs=170)


def test_a_limit_depends_on_seed_and_asin_alone() -> None:
    assert price_limit(15.0, 0, "B000000001") == price_limit(15.0, 0, "B000000001")
    assert len({price_limit(15.0, seed, "B000000001") for seed in range(50)}) == 3


def test_the_clause_names_the_limit_with_cents() -> None:
    assert price_clause(40.0) == ", and price lower than 40.00 dollars"
    assert price_clause(NO_LIMIT) == ""


def test_splits_have_the_sizes_of_the_benchmark() -> None:
    assert split_sizes(12_087) == {"train": 10_587, "dev": 1_000, "test": 500}
    assert split_sizes(60) == {"train": 40, "dev": 10, "test": 10}
    assert split_sizes(0) == {"train": 0, "dev": 0, "test": 0}


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(ConfigError, match=r'split must be one of train, dev, test; got .trian.*Did you mean "train"'):
        known_split("trian")


def test_listings_are_read_back_as_they_were_written() -> None:
    for title in ("Plain Shirt", "Two\nlines\n", "", "\n", "\u4e2d\u6587 $5"):
        assert read_listing(listing_note(title, "$1.0 to $2.5")) == (title, "$1.0 to $2.5")
