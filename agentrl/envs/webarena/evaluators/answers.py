"""Comparing a text with what a task requires of it: the benchmark's rules, in its two dialects.

`webarena` is the original, `lite` that of WebArena-Lite. They differ in small ways that decide scores:

- cleaning: `webarena` strips white space; both drop one pair of quotes and ignore case;
- must_include: `lite` looks for a reference of a single token among the tokens of the text, `webarena` only for one
  of a single character that is the sole reference; everything else is searched for as a part of the text;
- must_exclude, one_of and required_values came with `lite`; both dialects understand them here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.evaluators.words import words
from agentrl.envs.webarena.tasks.schema import Requirements

Dialect = Literal["lite", "webarena"]
DIALECTS: tuple[Dialect, ...] = ("lite", "webarena")
OR = " |OR| "
INEQUALITY = re.compile(r"\s*(<=|>=|==|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*")


def clean_answer(text: str, dialect: Dialect = "lite") -> str:
    """Without one pair of quotes around it, in lower case."""
    if dialect == "webarena":
        text = text.strip()
    for quote in ("'", '"'):
        if text.startswith(quote) and text.endswith(quote):
            text = text[1:-1]
            break
    return text.lower()


def exact_match(reference: str, text: str, dialect: Dialect = "lite") -> bool:
    """Are both the same once they are clean?"""
    return clean_answer(text, dialect) == clean_answer(reference, dialect)


def must_include(reference: str, text: str, dialect: Dialect = "lite", *, alone: bool = False) -> bool:
    """Does the text contain the reference, or one of its alternatives? `alone`: it is the only one of an answer."""
    return any(_includes(each, text, dialect, alone) for each in reference.split(OR))


def must_exclude(reference: str, text: str, dialect: Dialect = "lite") -> bool:
    """Does the text not contain the reference?"""
    return not _includes(reference, text, dialect, False)


def one_of(references: tuple[str, ...], text: str, dialect: Dialect = "lite") -> bool:
    """Does the text contain any of the references?"""
    return any(clean_answer(each, dialect) in text for each in references)


def required_value(inequality: str, text: str) -> bool:
    """Is the text a whole number that satisfies an inequality such as ">= 3", or one of several?"""
    try:
        number = int(text.strip().replace(",", "")[:40])
    except ValueError:
        return False
    return any(_satisfies(number, each) for each in inequality.split(OR))


def unmet(wanted: Requirements, text: str, dialect: Dialect, *, is_answer: bool) -> Iterator[str]:
    """What the text lacks, in words; nothing where all is well. Fuzzy references are a judge's business."""
    if wanted.exact_match is not None and not exact_match(wanted.exact_match, text, dialect):
        yield f"must be {wanted.exact_match!r}"
    alone = is_answer and len(wanted.must_include or ()) == 1
    for reference in wanted.must_include or ():
        if not must_include(reference, text, dialect, alone=alone):
            yield f"must include {reference!r}"
    for reference in wanted.must_exclude or ():
        if not must_exclude(reference, text, dialect):
            yield f"must not include {reference!r}"
    if wanted.one_of is not None and not one_of(wanted.one_of, clean_answer(text, dialect), dialect):
        yield f"must include one of {', '.join(map(repr, wanted.one_of))}"
    for inequality in wanted.required_values or ():
        if not required_value(inequality, text):
            yield f"must be a number {inequality}"


def check_dialect(dialect: str) -> Dialect:
    """`dialect` itself, or a `ConfigError` that names those there are."""
    for known in DIALECTS:
        if dialect == known:
            return known
    raise ConfigError(f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}")


def _includes(reference: str, text: str, dialect: Dialect, alone: bool) -> bool:
    wanted, text = clean_answer(reference, dialect), clean_answer(text, dialect)
    is_word = dialect == "lite" or (alone and len(wanted) == 1)
    if wanted not in text:  # tokens are parts of the text, so that this settles most cases
        return False
    if is_word and len(words(wanted)) == 1:
        return wanted in _tokens_with_parts(text)
    return True


def _tokens_with_parts(text: str) -> set[str]:
    """The tokens, and the parts of those with slashes."""
    found = set(words(text))
    return found | {part for token in found if "/" in token for part in token.split("/")}


def _satisfies(number: int, inequality: str) -> bool:
    found = INEQUALITY.fullmatch(inequality)
    if found is None:
        raise ConfigError(f'required_values must be inequalities such as ">= 3"; got {inequality!r}')
    bound = float(found[2])
    results = {"<=": number <= bound, ">=": number >= bound, "==": number == bound}
    return results.get(found[1], number < bound if found[1] == "<" else number > bound)
