"""Porter's stemmer: golden stems, an independent implementation, and words nobody expects."""

from __future__ import annotations

import random

import pytest
import snowballstemmer

from agentrl.envs.common.search.stemmer import stem

GOLDEN = {
    # plurals
    "dresses": "dress",
    "batteries": "batteri",
    "shoes": "shoe",
    "glass": "glass",
    "ties": "ti",
    # -eed, -ed, -ing
    "speed": "speed",
    "agreed": "agre",
    "padded": "pad",
    "filled": "fill",
    "pressed": "press",
    "sized": "size",
    "insulated": "insul",
    "doubled": "doubl",
    "string": "string",
    "fitting": "fit",
    "baking": "bake",
    "boxed": "box",
    "rolling": "roll",
    # y
    "body": "bodi",
    "dry": "dry",
    "toy": "toi",
    "play": "plai",
    # longer endings
    "conditional": "condit",
    "organization": "organ",
    "moisturizer": "moistur",
    "usefulness": "us",
    "effectiveness": "effect",
    "sensitivity": "sensit",
    "durability": "durabl",
    "electrical": "electr",
    "decorative": "decor",
    "softness": "soft",
    "colorful": "color",
    "adjustable": "adjust",
    "replacement": "replac",
    "assortment": "assort",
    "protection": "protect",
    "suspension": "suspens",
    "fashion": "fashion",
    "personalize": "person",
    "gorgeous": "gorgeou",
    # final e, double l
    "rate": "rate",
    "store": "store",
    "leatherette": "leatherett",
    "please": "pleas",
    "controll": "control",
    "roll": "roll",
    # the two extensions
    "possibly": "possibl",
    "assembly": "assembl",
    "technology": "technolog",
    "apologies": "apolog",
    # too short to touch
    "s": "s",
    "us": "us",
    "ed": "ed",
    "by": "by",
    # not English
    "3.5": "3.5",
    "café": "café",
    "日": "日",
    "": "",
}


@pytest.mark.parametrize(("word", "expected"), GOLDEN.items())
def test_golden_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


ENDINGS = "s es ed ing y ational izer ation ness ful ive able ible ment ent al er ic ous ize iti ion ance e ll ss"


def differs_by_design(word: str) -> bool:
    """Where the other implementation follows the first paper, or goes its own way, and Lucene does not."""
    return len(word) <= 2 or any(part in word for part in ("bl", "log", "cc", "yy"))


def test_equals_an_independent_implementation_on_random_words() -> None:
    other, dice = snowballstemmer.stemmer("porter"), random.Random(3)
    endings = [
        "s",
        "es",
        "ed",
        "ing",
        "y",
        "ational",
        "izer",
        "ation",
        "ness",
        "ful",
        "ive",
        "able",
        "ible",
        "ment",
        "ent",
        "al",
        "er",
        "ic",
        "ous",
        "ize",
        "iti",
        "ion",
        "ance",
        "e",
        "ll",
        "ss",
    ]
    parts = [a + b for a in "bcdfgklmnprstvwyxz" for b in "aeiouy"]
    words = {
        "".join(dice.choices(parts, k=dice.randint(1, 3))) + "".join(dice.choices(endings, k=dice.randint(0, 3)))
        for _ in range(20_000)
    }
    assert len(words) > 15_000
    wrong = {
        w: (stem(w), other.stemWord(w)) for w in words if not differs_by_design(w) and stem(w) != other.stemWord(w)
    }
    assert wrong == {}


def test_any_word_gives_a_stem_that_is_not_longer_by_more_than_a_letter() -> None:
    dice = random.Random(4)
    for _ in range(5_000):
        word = "".join(dice.choices("aeiouysdngtlzbé7'", k=dice.randint(0, 12)))
        assert len(stem(word)) <= len(word) + 1
