"""When two option values or attributes count as the same: WebShop's fuzzy comparison, and colours by plain names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

THRESHOLD = 85
MAX_KEPT = 200  # characters of a value whose colour and normalized form are cached
MAX_LENGTH = 20_000  # fuzzy comparison is quadratic: longer texts are compared by their sets of words alone
_LATIN_1_UPPER = {code: None for code in range(128, 256)}  # the library that WebShop uses drops exactly these

# Those of generated products, in alphabetical order.
_COLOUR_WORDS = """
almond amber amethyst apricot aqua auburn azure beige berry black blonde blue blush bronze brown burgundy camel
caramel champagne charcoal cherry chestnut chocolate clear cobalt cocoa coffee copper coral cream crimson cyan denim
ebony emerald espresso fuchsia garnet ginger gold graphite gray green grey gunmetal hazel indigo ivory jade khaki
lavender lemon lilac lime magenta mahogany maroon mauve mint mocha multicolor mustard navy nickel nude ochre olive
onyx orange orchid peach pearl periwinkle pewter pink platinum plum purple raspberry red rose ruby rust sage salmon
sand sapphire scarlet silver sky slate tan taupe teal terracotta turquoise vanilla violet walnut white wine yellow
"""
COLOURS = tuple(_COLOUR_WORDS.split())


def matches(left: Any, right: Any) -> bool:
    """True where the fuzzy score of two phrases is above the threshold."""
    first, second = normalized(left), normalized(right)
    if max(len(first), len(second)) <= MAX_LENGTH:
        return fuzzy_score(first, second) > THRESHOLD
    words, others = set(first.split()), set(second.split())
    return bool(words and others) and (words <= others or others <= words)


@lru_cache(maxsize=1 << 15)
def fuzzy_score(first: str, second: str) -> int:
    """How alike two normalized phrases are, 0 to 100: words in any order, extra words on one side forgiven."""
    return round(fuzz.token_set_ratio(first, second))


class ColourNames:
    """Colour words in an order: the first that occurs in a value stands for it ("navy blue" is blue).

    Short ones match inside other words, "tan" in "standard", as in WebShop: both sides are treated alike.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._short = lru_cache(maxsize=1 << 14)(self._found)

    def normal(self, value: Any) -> Any:
        """The colour word that stands for `value`, or `value` itself; of a pair, one of the two that is a colour."""
        return self._short(value) if isinstance(value, str) and len(value) <= MAX_KEPT else self._found(value)

    def _found(self, value: Any) -> Any:
        return next((colour for colour in self.words if colour in value), value)


OUR_COLOURS = ColourNames(COLOURS)


def same_option(chosen: Any, wanted: Any, colours: ColourNames = OUR_COLOURS) -> bool:
    """True where a chosen option value satisfies a wanted one, colours by their plain names."""
    return matches(colours.normal(chosen), colours.normal(wanted))


def normalized(phrase: Any) -> str:
    """Lower case without punctuation; what is not a string is written out: ("size", "large") reads "size large"."""
    if isinstance(phrase, str) and len(phrase) <= MAX_KEPT:
        return _normalized_short(phrase)
    return _normalized(str(phrase))


def _normalized(phrase: str) -> str:
    return default_process(phrase.translate(_LATIN_1_UPPER))


_normalized_short = lru_cache(maxsize=1 << 14)(_normalized)
