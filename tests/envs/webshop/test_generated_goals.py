"""The goals of a generated shop: as many as the benchmark's, split by family, solvable, and near misses near."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.catalogue import GeneratedCatalogue
from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.common.catalogue.words import words
from agentrl.envs.common.search import build_index
from agentrl.envs.webshop.goals import GeneratedGoals, price_limit, thing_with_article
from agentrl.envs.webshop.reward import best_choices
from tests.envs.webshop.shop_examples import score_purchase
from tests.envs.webshop.shop_promises import family_number, verify

SHOP = GeneratedCatalogue(0, 100_000)
SPLITS = ("train", "dev", "test")


def test_there_are_as_many_goals_as_in_the_benchmark() -> None:
    sizes = {split: len(GeneratedGoals(SHOP, split)) for split in SPLITS}
    assert sum(sizes.values()) == 12_087
    assert sizes == {"train": 10_587, "dev": 999, "test": 501}
    assert sum(len(GeneratedGoals(GeneratedCatalogue(0, 1_180_000), split)) for split in SPLITS) == 12_087


def test_small_shops_have_proportionally_fewer_goals_in_all_splits() -> None:
    sizes = {split: len(GeneratedGoals(GeneratedCatalogue(0, 1_000), split)) for split in SPLITS}
    assert sum(sizes.values()) == 120 and min(sizes.values()) >= 18


@pytest.mark.parametrize("size", [1_000, 1_399, 100_000, pytest.param(1_180_000, marks=pytest.mark.long)])
def test_splits_share_no_family_and_each_goal_is_one_of_its_own(size: int) -> None:
    shop = GeneratedCatalogue(9, size)
    families: dict[str, set[int]] = {}
    wishes: Counter[int] = Counter()
    for split in SPLITS:
        goals = GeneratedGoals(shop, split)
        numbers = [family_number(goal) for goal in goals]
        families[split] = set(numbers)
        wishes.update(numbers)
        assert all(0 <= number < shop.families() for number in numbers)
    assert not families["train"] & families["dev"]
    assert not (families["train"] | families["dev"]) & families["test"]
    assert max(wishes.values()) == 2  # two wishes for a target with options, one for another


def test_no_two_goals_are_alike() -> None:
    goals = [GeneratedGoals(SHOP, "test")[index] for index in range(501)]
    assert len({goal.id for goal in goals}) == 501
    assert len({goal.instruction for goal in goals}) > 495
    assert len({goal.asin for goal in goals}) == 501 * 2 // 3


def test_a_goal_is_computed_alone_and_from_either_end() -> None:
    goals = GeneratedGoals(SHOP, "dev")
    assert goals[-1] == goals[998] and goals[3:6] == [goals[3], goals[4], goals[5]]
    for wrong in (999, -1000):
        with pytest.raises(IndexError):
            goals[wrong]


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ConfigError, match="split"):
        GeneratedGoals(SHOP, "validation")


def test_goals_ask_for_one_to_three_attributes_and_up_to_two_options() -> None:
    goals = [GeneratedGoals(SHOP, "train")[index] for index in range(0, 10_587, 29)]
    assert {len(goal.attributes) for goal in goals} == {1, 2, 3}
    assert {len(goal.options) for goal in goals} == {0, 1, 2}
    assert all(share > 0.15 for share in (n / len(goals) for n in Counter(goal.difficulty for goal in goals).values()))
    assert {goal.difficulty for goal in goals} == {"easy", "medium", "hard"}


def test_instructions_say_what_is_paid_for() -> None:
    openings = set()
    for index in range(0, 10_587, 53):
        goal = GeneratedGoals(SHOP, "train")[index]
        said = goal.instruction
        assert goal.query in said and all(attribute in said for attribute in goal.attributes)
        assert all(str(option) in said for option in goal.options)
        assert said.endswith(f", and price lower than {goal.price_upper:.2f} dollars")
        assert "{" not in said and said == said.lower() and not re.search(r"  |,,|\ba [aeio]|\ban [^aeiou]", said)
        openings.add(said[:9])
    assert len(openings) >= 10


def test_limits_come_from_seed_and_asin() -> None:
    goal = GeneratedGoals(SHOP, "train")[123]
    product = SHOP.find(goal.asin)
    assert product is not None and goal.price_upper == price_limit(product.price, SHOP.seed, goal.asin)
    assert product.price < goal.price_upper <= product.price + 40


def test_articles_follow_the_sound() -> None:
    nouns = {noun.name: noun for noun in words().nouns}
    assert thing_with_article(nouns["eye cream"], []) == "an eye cream"
    assert thing_with_article(nouns["eye cream"], ["vegan", "oil free"]) == "a vegan, oil free eye cream"
    assert thing_with_article(nouns["laptop"], ["ultra light"]) == "an ultra light laptop"
    assert thing_with_article(nouns["tablet"], ["usb powered"]) == "a usb powered tablet"
    assert thing_with_article(nouns["ankle boots"], ["non slip"]) == "a pair of non slip ankle boots"


# ---------------------------------------------------------------------------------------------------- families


def differences(one: Product, other: Product, attributes: tuple[set[str], set[str]]) -> list[str]:
    """In which of the three things that siblings differ in two products do differ."""
    found = ["attribute"] if attributes[0] != attributes[1] else []
    found += ["option"] if one.options != other.options else []
    return found + (["price"] if one.pricing != other.pricing else [])


def test_siblings_differ_from_the_target_in_exactly_one_thing() -> None:
    kinds: Counter[str] = Counter()
    for number in range(0, SHOP.families(), 311):
        family, members = SHOP.family(number), SHOP.members(number)
        traits = [{attribute.text for attribute in SHOP.traits(index).variant.attributes} for index in members]
        target = SHOP.product(members[family.target])
        assert 6 <= len(members) - 1 <= 12
        for place, index in enumerate(members):
            if place != family.target:
                found = differences(target, SHOP.product(index), (traits[family.target], traits[place]))
                assert len(found) == 1
                assert len(traits[family.target] ^ traits[place]) in (0, 2)
                kinds.update(found)
    assert set(kinds) == {"attribute", "option", "price"} and min(kinds.values()) > 30


def test_siblings_share_kind_and_place_in_the_shop() -> None:
    for number in range(0, SHOP.families(), 977):
        products = [SHOP.product(index) for index in SHOP.members(number)]
        assert len({(product.query, product.category_path) for product in products}) == 1
        assert len({product.title for product in products}) == len(products)


def test_targets_are_worth_one_and_siblings_something_between() -> None:
    for split in SPLITS:
        goals = GeneratedGoals(SHOP, split)
        for index in range(0, len(goals), max(1, len(goals) // 60)):
            goal = goals[index]
            for member in SHOP.members(family_number(goal)):
                product = SHOP.product(member)
                worth = score_purchase(product, goal, best_choices(product, goal)).total
                assert worth == 1.0 if product.asin == goal.asin else 0.5 <= worth <= 0.95, (goal, product)


# ---------------------------------------------------------------------------------------------------- search


def test_a_shop_keeps_its_promises_when_it_is_searched(tmp_path: Path) -> None:
    shop = GeneratedCatalogue(4, 2_000)
    index = build_index(tmp_path, ((shop.docid(n), shop.entry(n)[1]) for n in range(len(shop))), processes=1)
    goals = [goal for split in SPLITS for goal in GeneratedGoals(shop, split)[:36]]
    report = verify(shop, goals, lambda query: [hit.docid for hit in index.search(query, 50)])
    print(report.to_json())
    assert report.problems == [] and report.goals == 108
    assert report.siblings >= 6 * 108
    assert 0.35 <= report.naive <= 0.6
    assert report.outranked >= 0.8
    assert report.honest >= 0.9


def test_broken_promises_are_named() -> None:
    shop = GeneratedCatalogue(4, 1_000)
    report = verify(shop, GeneratedGoals(shop, "test")[:2], lambda query: [])
    assert len(report.problems) == 2 and "does not find the target" in report.problems[0]
    assert report.naive == report.honest == 0.0
