"""The reward against numbers worked out by hand from its formula.

total = type * (attributes met + options met + price met) / (attributes asked + options asked + 1)
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

import pytest

from agentrl.envs.common.catalogue.matching import OUR_COLOURS
from agentrl.envs.webshop.reward import Rules, TypeScore, best_choices, type_score
from tests.envs.webshop.shop_examples import a_goal, a_product, score_purchase


def every_word(title: str) -> tuple[str, ...]:
    """A tagger for which every word is a noun, so that title scores can be counted on fingers."""
    return tuple(title.lower().split())


COUNTED = Rules(every_word, OUR_COLOURS)
OTHER = {"query": "soap", "category_path": "Garden \u203a Soil \u203a Peat"}  # no query and no category in common

# name, product, goal, chosen options, (type, met, asked): the total is type * met / asked.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str], tuple[str, int, int]]] = [
    # attributes
    ("listed attribute and price", {}, {}, {}, ("1", 2, 2)),
    ("price missed", {"price": 30.01}, {}, {}, ("1", 1, 2)),
    ("price exactly at the limit", {"price": 30.0}, {}, {}, ("1", 2, 2)),
    ("attribute missed", {}, {"attributes": ("color safe",)}, {}, ("1", 1, 2)),
    ("attribute and price missed", {"price": 31.0}, {"attributes": ("color safe",)}, {}, ("1", 0, 2)),
    ("one of two attributes", {}, {"attributes": ("sulfate free", "color safe")}, {}, ("1", 2, 3)),
    ("both attributes", {}, {"attributes": ("sulfate free", "argan oil")}, {}, ("1", 3, 3)),
    ("one of three attributes", {}, {"attributes": ("argan oil", "color safe", "vegan")}, {}, ("1", 2, 4)),
    ("words in another order", {}, {"attributes": ("free sulfate",)}, {}, ("1", 2, 2)),
    # "argan oils" and "argan oil": 18 of 19 letters agree twice over, 2 * 9 / 19 = 94.7
    ("a plural", {}, {"attributes": ("argan oils",)}, {}, ("1", 2, 2)),
    ("a word of the listed phrase", {}, {"attributes": ("argan",)}, {}, ("1", 2, 2)),
    ("a longer phrase with all listed words", {}, {"attributes": ("pure argan oil",)}, {}, ("1", 2, 2)),
    ("in the title, whatever its capitals", {}, {"attributes": ("velmora shampoo",)}, {}, ("1", 2, 2)),
    ("in a bullet", {}, {"attributes": ("every day",)}, {}, ("1", 2, 2)),
    ("across the joint of two bullets", {}, {"attributes": ("included. for",)}, {}, ("1", 2, 2)),
    ("in the description", {}, {"attributes": ("rinses out",)}, {}, ("1", 2, 2)),
    ("capitals in the wish are not found in a text", {}, {"attributes": ("Rinses Out",)}, {}, ("1", 1, 2)),
    ("no listed attributes at all", {"attributes": ("DUMMY_ATTR",)}, {}, {}, ("1", 1, 2)),
    ("nothing asked but a price", {}, {"attributes": ()}, {}, ("1", 1, 1)),
    ("one attribute asked twice counts twice", {}, {"attributes": ("argan oil", "argan oil")}, {}, ("1", 3, 3)),
    # options
    ("option chosen", {}, {"options": ("black",)}, {"color": "black"}, ("1", 3, 3)),
    ("option not chosen", {}, {"options": ("black",)}, {}, ("1", 2, 3)),
    ("another color chosen", {}, {"options": ("black",)}, {"color": "navy blue"}, ("1", 2, 3)),
    ("a shade counts as its color", {}, {"options": ("blue",)}, {"color": "navy blue"}, ("1", 3, 3)),
    ("two shades of one color", {}, {"options": ("sky blue",)}, {"color": "navy blue"}, ("1", 3, 3)),
    ("the name of the option does not matter", {}, {"options": ("black",)}, {"style": "black"}, ("1", 3, 3)),
    ("one of two options", {}, {"options": ("black", "small")}, {"size": "small"}, ("1", 3, 4)),
    ("both options", {}, {"options": ("black", "small")}, {"size": "small", "color": "black"}, ("1", 4, 4)),
    ("x-large has the word large", {}, {"options": ("large",)}, {"size": "x-large"}, ("1", 3, 3)),
    ("one choice can satisfy two wishes", {}, {"options": ("large", "x-large")}, {"size": "x-large"}, ("1", 4, 4)),
    ("a choice nobody asked for costs nothing", {}, {}, {"size": "small"}, ("1", 2, 2)),
    # synthetic goals ask for (name, value); written out that is "size large", which has the word chosen
    ("a pair", {}, {"options": (("size", "small"),)}, {"size": "small"}, ("1", 3, 3)),
    ("a pair with another value", {}, {"options": (("size", "small"),)}, {"size": "x-large"}, ("1", 2, 3)),
    ("a pair with a plain color", {}, {"options": (("color", "black"),)}, {"color": "black"}, ("1", 3, 3)),
    # "navy blue" becomes "blue"; the pair is no plain color, stays, and has the word blue
    ("a pair with a shade", {}, {"options": (("color", "navy blue"),)}, {"color": "navy blue"}, ("1", 3, 3)),
    # types: the wanted title has three nouns, unless a case says otherwise
    ("another query, same category", {"query": "soap"}, {}, {}, ("1", 2, 2)),
    ("same query, another category", {"category_path": OTHER["category_path"]}, {}, {}, ("1", 2, 2)),
    ("only nouns in common, 1 of 3", {**OTHER, "title": "Lotion Bottle"}, {}, {}, ("1", 2, 2)),
    ("1 of 5 nouns is not above 0.2", {**OTHER, "title": "a"}, {"title": "a b c d e"}, {}, ("0.5", 2, 2)),
    ("1 of 10 nouns is not below 0.1", {**OTHER, "title": "a"}, {"title": "a b c d e f g h i j"}, {}, ("0.5", 2, 2)),
    ("1 of 11 nouns", {**OTHER, "title": "a"}, {"title": "a b c d e f g h i j k"}, {}, ("0.1", 2, 2)),
    ("1 of 11 nouns, same query", {"title": "a"}, {"title": "a b c d e f g h i j k"}, {}, ("0.1", 2, 2)),
    ("no noun in common, same query", {"title": "Lotion"}, {}, {}, ("0", 2, 2)),
    # the wanted "a a a a b" has five nouns; those in common are counted once: 1 / 5
    ("repeated nouns count below only", {**OTHER, "title": "a"}, {"title": "a a a a b"}, {}, ("0.5", 2, 2)),
    ("no wanted noun at all is 0.2", {**OTHER, "title": "a"}, {"title": ""}, {}, ("0.5", 2, 2)),
    ("half of everything", {**OTHER, "title": "a", "price": 99.0}, {"title": "a b c d e"}, {}, ("0.5", 1, 2)),
    ("one category name is not enough", {**OTHER, "category_path": "Beauty & Personal Care", "title": "a"},
     {"title": "a b c d e"}, {}, ("0.5", 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("product", "goal", "chosen", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_reward_is_what_the_formula_gives_by_hand(
    product: dict[str, Any], goal: dict[str, Any], chosen: dict[str, str], expected: tuple[str, int, int]
) -> None:
    kind, met, asked = expected
    found = score_purchase(a_product(**product), a_goal(**goal), chosen, COUNTED)
    assert found.total == pytest.approx(float(Fraction(kind) * met / asked), abs=1e-12)
    assert found.type.factor == float(kind)
    assert len(found.attributes) + len(found.options) + found.price == met
    assert math.isclose(sum(found.terms().values()), found.total, abs_tol=1e-12)
    assert found.success == (found.total == 1.0)


def test_there_are_many_cases() -> None:
    assert len(CASES) >= 30


def test_parts_are_reported_by_name() -> None:
    goal = a_goal(attributes=("sulfate free", "vegan"), options=("black", "small"), price_upper=10.0)
    found = score_purchase(a_product(), goal, {"color": "black"}, COUNTED)
    assert found.attributes == ("sulfate free",) and found.options == ("black",) and found.price is False
    assert found.asked == 5
    assert found.terms() == {"attributes": pytest.approx(0.2), "options": pytest.approx(0.2), "price": 0.0}
    assert found.type == TypeScore(factor=1.0, title_score=1.0, query_match=True, category_match=True)


def test_the_title_score_is_reported_as_a_fraction() -> None:
    score = type_score(a_product(title="Bottle"), a_goal(), every_word)
    assert score.title_score == pytest.approx(1 / 3)


def test_best_choices_satisfy_what_can_be_satisfied() -> None:
    goal = a_goal(options=("black", "large", "vanilla"))
    assert best_choices(a_product(), goal) == {"color": "black", "size": "x-large"}
    assert best_choices(a_product(options={}), goal) == {}


def test_best_choices_prefer_the_value_asked_for() -> None:
    product = a_product(options={"size": ("xx-large", "x-large", "large")})
    assert best_choices(product, a_goal(options=("large",))) == {"size": "large"}
    assert best_choices(product, a_goal(options=(("size", "x-large"),))) == {"size": "x-large"}


HOSTILE = [
    "",
    " ",
    "\x00",
    "🧴" * 50,
    "\u202eevil\u202c",
    "\uff26\uff35\uff2c\uff2c\u3000\uff37",
    "نص عربي",
    "a\u0301\u0301\u0301",
    "(.*)+$[",
    "\ud800",
    "%s{0}{x}\\",
    "'; DROP TABLE product; --",
]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_texts_give_a_reward_between_zero_and_one(text: str) -> None:
    product = a_product(title=text, description=text, bullets=(text,), attributes=(text,), options={text: (text,)})
    goal = a_goal(title=text, attributes=(text, "x"), options=(text, (text, text)))
    found = score_purchase(product, goal, {text: text})
    assert 0.0 <= found.total <= 1.0


def test_megabytes_are_compared_in_a_moment() -> None:
    huge = "soft cotton " * 90_000
    assert len(huge) > 1_000_000
    product = a_product(title=huge, description=huge, attributes=(huge,))
    goal = a_goal(title=huge, attributes=("cotton soft", "silk" * 300_000), options=(huge,))
    started = time.perf_counter()
    found = score_purchase(product, goal, {"color": huge})
    assert time.perf_counter() - started < 5
    assert found.attributes == ("cotton soft",) and found.options == (huge,)
