"""The fuzzy comparison: the library's numbers, colours, and what cannot be compared."""

from __future__ import annotations

import pytest

from agentrl.envs.common.catalogue.matching import (
    COLOURS,
    OUR_COLOURS,
    ColourNames,
    fuzzy_score,
    matches,
    normalized,
    same_option,
)


@pytest.mark.parametrize(
    ("left", "right", "score"),
    [
        ("essential oils", "essential oil", 96),  # 2 * 13 / 27
        ("slim fit", "slim", 100),  # all words of one are in the other
        ("Slim-Fit!", "fit slim", 100),  # marks are spaces, order does not count
        ("red", "blue", 29),  # 2 * 1 / 7: one letter in common
        ("", "", 0),
        ("", "red", 0),
        ("!!!", "???", 0),  # nothing but marks is nothing
        ("é", "e", 0),  # Latin letters beyond ASCII are dropped
        ("café", "caf", 100),
        ("日本", "日本", 100),  # others stay
        (("size", "large"), "large", 100),  # a pair is written out
    ],
)
def test_scores_are_those_of_the_library_webshop_uses(left: object, right: object, score: int) -> None:
    assert fuzzy_score(normalized(left), normalized(right)) == score
    assert fuzzy_score(normalized(right), normalized(left)) == score


def test_a_match_is_above_eighty_five() -> None:
    # 2 * 6 / 14 = 85.7, rounded 86: a match; 2 * 5 / 12 = 83: none
    assert fuzzy_score("abcdefg", "abcdefx") == 86 and matches("abcdefg", "abcdefx")
    assert fuzzy_score("abcdef", "abcdex") == 83 and not matches("abcdef", "abcdex")


def test_there_are_about_a_hundred_colours_in_alphabetical_order() -> None:
    assert len(COLOURS) == len(set(COLOURS)) == 102
    assert list(COLOURS) == sorted(COLOURS)
    assert {"black", "blue", "red", "white"} <= set(COLOURS)


def test_the_first_colour_of_the_list_stands_for_a_value() -> None:
    assert OUR_COLOURS.normal("navy blue") == "blue"  # blue comes before navy
    assert OUR_COLOURS.normal("size 7") == "size 7"
    assert OUR_COLOURS.normal(("color", "navy")) == "navy"
    assert OUR_COLOURS.normal(("color", "dark navy")) == ("color", "dark navy")


def test_colours_are_compared_by_their_plain_names() -> None:
    assert same_option("light blue (new)", "deep blue")
    assert not same_option("navy", "navy blue")  # one is navy, the other blue: the benchmark's own oddity


def test_other_colour_words_may_decide() -> None:
    assert not same_option("dark olive", "dark plum") and same_option("dark olive", "dark plum", ColourNames(["dark"]))


def test_texts_too_long_for_letters_are_compared_by_words() -> None:
    long = "word " * 10_000
    assert matches(long, "word") and not matches(long, "sword") and not matches(long, "")
