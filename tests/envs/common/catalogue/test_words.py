"""The hand-written words: enough of them, and none that makes a product seem to have what it lacks."""

from __future__ import annotations

import itertools

import pytest

from agentrl.envs.common.catalogue.families import SPARE
from agentrl.envs.common.catalogue.matching import matches, same_option
from agentrl.envs.common.catalogue.words import Noun, words

NOUNS = words().nouns
BY_CATEGORY = pytest.mark.parametrize("nouns", words().nouns_by_category.values(), ids=list(words().nouns_by_category))


def test_there_are_fifty_nouns_in_each_of_five_categories() -> None:
    counts = {name: len(nouns) for name, nouns in words().nouns_by_category.items()}
    assert counts == {"beauty": 50, "electronics": 50, "garden": 50, "fashion": 50, "grocery": 50}
    assert len({noun.name for noun in NOUNS}) == 250
    assert sum(words().shares.values()) == pytest.approx(1.0)


def test_there_are_at_least_six_hundred_attributes() -> None:
    assert len({attribute.text for noun in NOUNS for attribute in noun.attributes}) >= 600


def test_paths_have_three_names_and_groups_share_two() -> None:
    paths = [noun.path.split(" \u203a ") for noun in NOUNS]
    assert all(len(path) == 3 and all(path) for path in paths)
    assert len({tuple(path[:2]) for path in paths}) == 50


def test_brands_are_made_up_and_many() -> None:
    for brands in words().brands.values():
        assert len(brands) == len(set(brands)) == 300
        assert all(brand.isalpha() and brand[0].isupper() for brand in brands)


@BY_CATEGORY
def test_no_attribute_can_be_taken_for_another(nouns: tuple[Noun, ...]) -> None:
    for noun in nouns:
        for one, other in itertools.permutations(noun.attributes, 2):
            assert one.text not in other.text, (one.text, other.text)
            assert not matches(one.text, other.text), (one.text, other.text)


@BY_CATEGORY
def test_no_attribute_stands_in_what_is_said_of_every_product(nouns: tuple[Noun, ...]) -> None:
    sentences = [line for lines in words().sentences.values() for line in lines]
    for noun in nouns:
        texts = [noun.name, *noun.uses, *noun.details, *noun.tags, *noun.category_sentences, *sentences]
        everything = "\n".join(texts).lower()
        assert [attribute.text for attribute in noun.attributes if attribute.text in everything] == []


@BY_CATEGORY
def test_there_is_enough_to_say_about_each_noun(nouns: tuple[Noun, ...]) -> None:
    for noun in nouns:
        assert len(noun.attributes) >= 6 + SPARE, noun.name
        assert len(noun.details) >= 3 and len(noun.tags) >= 3 and noun.uses, noun.name
        assert len({schema.option for schema in noun.schemas}) >= 2, noun.name


def test_every_value_of_an_option_can_be_lacked() -> None:
    for schema in {schema for noun in NOUNS for schema in noun.schemas}:
        assert len(set(schema.values)) == len(schema.values)
        for value in schema.values:
            assert value in schema.clashes[value]
            assert len(schema.without({value})) >= 2, (schema.option, value)


def test_no_value_of_one_option_satisfies_a_wish_for_another() -> None:
    pairs = {
        (one, other)
        for noun in NOUNS
        for one, other in itertools.combinations(dict.fromkeys(noun.schemas), 2)
        if one.option != other.option
    }
    clashes = [
        (value, wanted)
        for one, other in pairs
        for value, wanted in itertools.product(one.values, other.values)
        if same_option(value, wanted) or same_option(wanted, value)
    ]
    assert clashes == []
