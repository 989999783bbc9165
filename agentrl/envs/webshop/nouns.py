"""Which words of a title are nouns: by spaCy's English model where it is installed, else by rules and word lists."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

NounTagger = Callable[[str], tuple[str, ...]]
MODEL = "en_core_web_sm"
LONGEST_TITLE = 10_000  # characters; no real title comes near, and a model refuses megabytes


@cache
def default_tagger() -> NounTagger:
    """spaCy's tagger where its model is installed, rules otherwise; decided once per process."""
    return spacy_tagger() or rule_tagger


def spacy_tagger(model: str = MODEL) -> NounTagger | None:
    """A tagger on an installed spaCy model, or None where spaCy or the model is missing."""
    try:
        import spacy  # pyright: ignore[reportMissingImports]  (too large to be one of our own dependencies)
    except ImportError:
        return None
    if not spacy.util.is_package(model):
        return None
    return pipeline_tagger(spacy.load(model, disable=["parser", "ner", "lemmatizer"]))


def pipeline_tagger(pipeline: Callable[[str], Any]) -> NounTagger:
    """A tagger on any loaded spaCy pipeline that fills `pos_`."""

    @lru_cache(maxsize=1 << 14)
    def tag(title: str) -> tuple[str, ...]:
        return tuple(token.text.lower() for token in pipeline(title[:LONGEST_TITLE]) if token.pos_ in ("NOUN", "PROPN"))

    return tag


_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d[\w.,]*")
_ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[0-9][A-Za-z0-9_.,]*")  # finds the same in plain titles, sooner
# Endings that make adjectives, adverbs and participles; nouns with such an ending are in the word list.
_NOT_NOUN_ENDING = re.compile(
    r"[^\W\d_]{2,}(?:ly|able|ible|ous|ful|less|ive|ish|ical|ial|onal|eral|bal|ral|tal|nal|ic|ed|ing|proof|resistant|friendly)$"
)
_WORDS = {
    kind: frozenset(words.split())
    for kind, words in tomllib.loads(
        files("agentrl.envs.webshop").joinpath("nouns.toml").read_text(encoding="utf-8")
    ).items()
}
_NOUNS = _WORDS["nouns"]
_NO_NOUNS = _WORDS["function_words"] | _WORDS["adjectives"] | _WORDS["verbs_and_adverbs"]
_INITIALS = re.compile(r"[A-Z]{2,5}$")


@lru_cache(maxsize=1 << 14)
def rule_tagger(title: str) -> tuple[str, ...]:
    """The nouns of a title by our own rules, in lower case and in order, repetitions kept."""
    words = (_ASCII_WORD if title.isascii() else _WORD).findall(title[:LONGEST_TITLE])
    capitals_count = not title.isupper()  # else they say nothing
    return tuple([noun for word in words if (noun := _noun(word, capitals_count))])


@lru_cache(maxsize=1 << 14)
def _noun(word: str, capitals_count: bool) -> str:
    """A word in lower case if it is a noun, or nothing."""
    return word.lower() if is_noun(word, capitals_count=capitals_count) else ""


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
