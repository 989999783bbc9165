"""When two phrases count as the same: the benchmark's fuzzy comparison and its way with colours."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentrl.core.errors import MissingExtra
from agentrl.envs.webshop.lexicon import word_list

try:
    from rapidfuzz import fuzz
    from rapidfuzz.utils import default_process
except ImportError as error:
    raise MissingExtra("rapidfuzz", "webshop") from error

THRESHOLD = 85
LONGEST_KEPT = 200  # characters of a value whose colour and plain form are remembered
LONGEST = 20_000  # fuzzy comparison is quadratic: longer texts are compared by their sets of words alone
_LATIN_1_UPPER = {code: None for code in range(128, 256)}  # the library the benchmark uses drops exactly these

# The first that occurs in a value stands for it ("navy blue" is blue). Short ones match inside other words, "tan" in
# "standard", as in the benchmark: harmless, since both sides are treated alike.
COLOURS: tuple[str, ...] = word_list("colours")


def fuzzy_score(left: Any, right: Any) -> int:
    """How alike two phrases are, 0 to 100: words in any order, extra words on one side forgiven.

    Anything that is not a text is written out first, so that the pair ("size", "large") reads "size large".
    """
    return round(fuzz.token_set_ratio(_plain(left), _plain(right)))


def matches(left: Any, right: Any) -> bool:
    """True where the score of two phrases is above the benchmark's threshold."""
    first, second = _plain(left), _plain(right)
    if max(len(first), len(second)) <= LONGEST:
        return _close(first, second)
    words, others = set(first.split()), set(second.split())
    return bool(words and others) and (words <= others or others <= words)


@lru_cache(maxsize=1 << 15)
def _close(first: str, second: str) -> bool:
    return round(fuzz.token_set_ratio(first, second)) > THRESHOLD


def normal_colour(value: Any) -> Any:
    """The first colour word in `value`, or `value` itself; of a pair, a colour that is one of the two word for word."""
    if isinstance(value, str) and len(value) <= LONGEST_KEPT:
        return _short_colour(value)
    return next((colour for colour in COLOURS if colour in value), value)


@lru_cache(maxsize=1 << 14)
def _short_colour(value: str) -> str:
    return next((colour for colour in COLOURS if colour in value), value)


def same_option(chosen: Any, wanted: Any) -> bool:
    """True where a chosen option value satisfies a wanted one, colours by their plain names."""
    return matches(normal_colour(chosen), normal_colour(wanted))


def _plain(phrase: Any) -> str:
    return _short_plain(phrase) if isinstance(phrase, str) and len(phrase) <= LONGEST_KEPT else _processed(str(phrase))


def _processed(phrase: str) -> str:
    return default_process(phrase.translate(_LATIN_1_UPPER))


_short_plain = lru_cache(maxsize=1 << 14)(_processed)
