"""Texts from patterns: `[a|b]` is a choice, `{name}` a value or a word of a list of `prose.toml`, `{3..9}` a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from random import Random

from agentrl.envs.common.data_files import data_file

Part = str | tuple["Pattern", ...] | tuple[str]  # plain text, alternatives, or a name between braces
Pattern = tuple[Part, ...]
Values = Mapping[str, str | Sequence[str]]
_TOKEN = re.compile(r"\\(.)|\{([\w.]+)\}|([\[\]|])|([^\\\[\]{}|]+)", re.DOTALL)
_SENTENCE = re.compile(r"(^|[.!?] +|\n(?:- |\* |\d\. )?)([a-z])")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")
_SURPLUS = re.compile(r",(?=[.,:;!?)]|$)")  # a comma before another mark


def expand(pattern: str, rng: Random, values: Values) -> str:
    """One text of a pattern; names that `values` does not have are lists of words."""
    pieces: list[str] = []
    _write(parse(pattern), rng, values, pieces.append)
    return "".join(pieces)


def heading(text: str) -> str:
    """The text as a title: its first letter is a capital one, and "an" stands before vowels."""
    text = _ARTICLE.sub(r"\1n ", _SURPLUS.sub("", text.strip()))
    return text[:1].upper() + text[1:]


def sentences(text: str) -> str:
    """The text with a capital letter at the beginning of every sentence, and "an" before vowels."""
    text = _SENTENCE.sub(lambda found: found[1] + found[2].upper(), _SURPLUS.sub("", text))
    return _ARTICLE.sub(r"\1n ", text).replace("  ", " ").strip()


@cache
def word_lists() -> Mapping[str, Pattern]:
    """The words that all sites share, each list as a choice."""
    listed = data_file("agentrl.envs.webarena.sites", "prose.toml")["words"]
    return {name: parse(f"[{words}]") for name, words in listed.items()}


def _write(pattern: Pattern, rng: Random, values: Values, put: Callable[[str], None]) -> None:
    """Hand over the pieces of one text. It is called a million times when the sites' data are built."""
    for part in pattern:
        if type(part) is str:
            put(part)
        elif type(part[0]) is str:
            _write_value(part[0], rng, values, put)
        else:
            _write(part[int(rng.random() * len(part))], rng, values, put)  # type: ignore[arg-type]


def _write_value(name: str, rng: Random, values: Values, put: Callable[[str], None]) -> None:
    value = values.get(name)
    if type(value) is str:
        put(value)
    elif value is not None:
        _write(parse(value[int(rng.random() * len(value))]), rng, values, put)
    elif ".." in name:
        low, high = name.split("..")
        put(str(rng.randint(int(low), int(high))))
    else:
        _write(word_lists()[name], rng, values, put)


@lru_cache(None)
def parse(pattern: str) -> Pattern:
    """The pattern as a tree; ValueError where brackets do not match."""
    stack: list[list[list[Part]]] = [[[]]]  # open choices; each is a list of alternatives
    done = 0
    for found in _TOKEN.finditer(pattern):
        if found.start() != done:
            break
        done = found.end()
        escaped, name, mark, plain = found.groups()
        if mark == "[":
            stack.append([[]])
        elif mark == "|" and len(stack) > 1:
            stack[-1].append([])
        elif mark == "]" and len(stack) > 1:
            choice = tuple(tuple(alternative) for alternative in stack.pop())
            stack[-1][-1].append(choice)
        else:
            stack[-1][-1].append((name,) if name else escaped or plain or mark)
    if done != len(pattern) or len(stack) != 1:
        raise ValueError(f"the brackets of {pattern!r} must match")
    return tuple(stack[0][0])
