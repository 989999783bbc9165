"""Which words of a title are nouns: by our own rules, by spaCy's English model, or by rules that come near to it.

Generated products are scored by `rule_tagger`, everywhere alike. The benchmark uses spaCy's model, to which most words
with a capital letter are names, and names count: `benchmark_tagger` is for its products.
"""

from __future__ import annotations

import importlib.util
import logging
import random
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from agentrl.core.errors import ConfigError, install_command
from agentrl.envs.common.data_files import data_file

log = logging.getLogger(__name__)
NounTagger = Callable[[str], tuple[str, ...]]
MODEL = "en_core_web_sm"
MAX_TITLE = 10_000  # characters; no real title comes near, and a model refuses megabytes


@cache
def benchmark_tagger() -> NounTagger:
    """For the benchmark's own products: spaCy's tagger where its model is installed, else `title_tagger`, with a note.

    Decided once per process.
    """
    if tagger := spacy_tagger():
        return tagger
    log.warning(
        "spaCy's model %s is not installed: nouns of titles are found by rules, and about 3 of 100 rewards differ from "
        "the benchmark's. For the benchmark's own: %s && python -m spacy download %s",
        *(MODEL, install_command("webshop-spacy"), MODEL),
    )
    return title_tagger


def spacy_tagger(model: str = MODEL) -> NounTagger | None:
    """A tagger on an installed spaCy model, or None where spaCy or the model is missing."""
    if importlib.util.find_spec("spacy") is None:
        return None
    before = random.getstate()  # importing spaCy draws from it
    try:
        import spacy  # pyright: ignore[reportMissingImports]  (an extra of its own)

        if not spacy.util.is_package(model):
            return None
        # The parser stays: some parts of speech depend on it. The others change none, and take time.
        return pipeline_tagger(spacy.load(model, exclude=["ner", "lemmatizer"]))
    except (ImportError, OSError, ValueError) as error:
        raise ConfigError(f"spaCy's model {model} is installed but cannot be loaded: {error}") from error
    finally:
        random.setstate(before)


def pipeline_tagger(pipeline: Callable[[str], Any]) -> NounTagger:
    """A tagger on any loaded spaCy pipeline that fills `pos_`."""

    @lru_cache(maxsize=1 << 14)
    def tag(title: str) -> tuple[str, ...]:
        return tuple(token.text.lower() for token in pipeline(title[:MAX_TITLE]) if token.pos_ in ("NOUN", "PROPN"))

    return tag


_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d[\w.,]*")
_ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[0-9][A-Za-z0-9_.,]*")  # finds the same in plain titles, sooner
# Endings that make adjectives, adverbs and participles; nouns with such an ending are in the word list.
_NOT_NOUN_ENDING = re.compile(
    r"[^\W\d_]{2,}(?:ly|able|ible|ous|ful|less|ive|ish|ical|ial|onal|eral|bal|ral|tal|nal|ic|ed|ing|proof|resistant|friendly)$"
)
_WORDS = {kind: frozenset(words.split()) for kind, words in data_file("agentrl.envs.webshop", "nouns.toml").items()}
_NOUNS = _WORDS["nouns"]
_NO_NOUNS = _WORDS["function_words"] | _WORDS["adjectives"] | _WORDS["verbs_and_adverbs"]
_INITIALS = re.compile(r"[A-Z]{2,5}$")


@lru_cache(maxsize=1 << 14)
def rule_tagger(title: str) -> tuple[str, ...]:
    """The nouns of a title by our own rules, in lower case and in order, repetitions kept."""
    words = (_ASCII_WORD if title.isascii() else _WORD).findall(title[:MAX_TITLE])
    capitals_count = not title.isupper()  # else they say nothing
    return tuple([word.lower() for word in words if is_noun(word, capitals_count=capitals_count)])


@lru_cache(maxsize=1 << 14)
def is_noun(word: str, *, capitals_count: bool = True) -> bool:
    """Whether one word of a title is a noun: known words first, then initials, then endings; other words are names."""
    plain = word.lower()
    if len(plain) < 2 or plain[0].isdigit():
        return False
    if plain in _NOUNS:
        return True
    if plain in _NO_NOUNS:
        return False
    if capitals_count and _INITIALS.match(word):  # USB, LED, RGB
        return True
    return not _NOT_NOUN_ENDING.match(plain)


# ---------------------------------------------------------------------- as spaCy's model does it, nearly

# Words as spaCy cuts them: hyphens and slashes part them, a unit parts from its number ("8oz") and 's from its word.
_UNITS = "km|dm|cm|mm|nm|ha|ft|in|yd|mi|kg|mg|\u00b5g|lb|oz|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|m|g|t|T|G|M|K"
_TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)*(?=(?:{_UNITS})(?![^\W_]))"
    r"|(?:[A-Z]\.){2,}"
    r"|[^\W_]+(?=['\u2019][sS]\b)|['\u2019][sS]\b"
    r"|\d+(?:[.,:]\d+)+(?![^\W_])"
    r"|\bw/"
    r"|[^\W_]+(?:['\u2019.][^\W_]+)*"
    r"|[^\w\s]"
)
_SIGNS = frozenset("\u00a9\u00ae%|")  # tagged as nouns more often than not
_NO_NAMES = _WORDS["function_words"] | {"made", "built", "included"}


@lru_cache(maxsize=1 << 14)
def title_tagger(title: str) -> tuple[str, ...]:
    """The nouns of a title, nearly those of spaCy's model: what has a capital letter is a name, and names count."""
    return tuple([word.lower() for word in _TOKEN.findall(title[:MAX_TITLE]) if _is_name_or_noun(word)])


@lru_cache(maxsize=1 << 14)
def _is_name_or_noun(word: str) -> bool:
    plain = word.lower()
    if not word[0].isalnum():
        return word in _SIGNS
    if plain in _NO_NAMES:
        return False
    if word[0].isdigit():
        return not word.replace(".", "").replace(",", "").replace(":", "").isdigit()  # 3X, 1080P
    return word != plain or is_noun(word)
