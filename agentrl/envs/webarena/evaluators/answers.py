"""Comparing a text or an address with what a task requires of it: the benchmark's rules, in its three dialects.

`webarena` is the original, `lite` that of WebArena-Lite, `browsergym` what BrowserGym scores its tasks with.
They differ in small ways that decide scores:

- cleaning: all but `lite` strip white space; all drop one pair of quotes and ignore case;
- must_include: `lite` looks for a reference of a single token among the tokens of the text and their parts between
  slashes, the others only for one of a single character that is the sole reference of an answer, and without slashes;
  everything else is searched for as a part of the text;
- alternatives (" |OR| ") within a reference of an answer count in `lite` only, on pages everywhere;
- addresses: see `url_match`; texts of pages: `webarena` alone replaces HTML's entities;
- must_exclude, one_of and required_values came with `lite`; all dialects understand them here.

Generated tasks set `nothing_else`, which all dialects read alike: see `nothing_else.py`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.evaluators.nothing_else import OR, beside
from agentrl.envs.webarena.evaluators.words import words
from agentrl.envs.webarena.tasks.schema import Requirements

Dialect = Literal["lite", "webarena", "browsergym"]
DIALECTS: tuple[Dialect, ...] = ("lite", "webarena", "browsergym")
# As upstream, which allows for a rounding error everywhere: 3 passes "< 3".
COMPARISONS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.le, ">": operator.ge}
INEQUALITY = re.compile(r"\s*(<=|>=|==|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*")


def clean_answer(text: str, dialect: Dialect = "lite") -> str:
    """Without one pair of quotes around it, in lower case."""
    if dialect != "lite":
        text = text.strip()
    for quote in ("'", '"'):
        if text.startswith(quote) and text.endswith(quote):
            text = text[1:-1]
            break
    return text.lower()


def exact_match(reference: str, text: str, dialect: Dialect = "lite") -> bool:
    """Are both the same once they are clean?"""
    return clean_answer(text, dialect) == clean_answer(reference, dialect)


def must_include(
    reference: str, text: str, dialect: Dialect = "lite", *, is_answer: bool = False, alone: bool = False
) -> bool:
    """Does the text contain the reference, or one of its alternatives? `alone`: it is the only one of an answer."""
    alternatives = [reference] if is_answer and dialect != "lite" else reference.split(OR)
    return any(_includes(each, text, dialect, alone) for each in alternatives)


def must_exclude(reference: str, text: str, dialect: Dialect = "lite") -> bool:
    """Does the text not contain the reference?"""
    return not _includes(reference, text, dialect, False, slashes=False)


def one_of(references: tuple[str, ...], text: str, dialect: Dialect = "lite") -> bool:
    """Does the text contain any of the references?"""
    return any(clean_answer(each, dialect) in text for each in references)


def required_value(inequality: str, text: str) -> bool:
    """Is the text a whole number that satisfies an inequality such as ">= 3", or one of several?"""
    try:
        number = int(text.strip().replace(",", "")[:40])
    except ValueError:
        return False
    for each in inequality.split(OR):
        found = INEQUALITY.fullmatch(each)
        if found is None:
            raise ConfigError(f'required_values must be inequalities such as ">= 3"; got {each!r}')
        if COMPARISONS[found[1]](number, float(found[2])):
            return True
    return False


def unmet(
    wanted: Requirements, text: str, dialect: Dialect, *, is_answer: bool, instruction: str = ""
) -> Iterator[str]:
    """What the text lacks, in words; nothing where all is well. Fuzzy references are a judge's business."""
    if wanted.nothing_else:
        yield from beside(wanted.must_include or (), wanted.must_exclude or (), text, instruction)
        return
    if wanted.exact_match is not None and not exact_match(wanted.exact_match, text, dialect):
        yield f"must be {wanted.exact_match!r}"
    alone = is_answer and len(wanted.must_include or ()) == 1
    for reference in wanted.must_include or ():
        if not must_include(reference, text, dialect, is_answer=is_answer, alone=alone):
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


def _includes(reference: str, text: str, dialect: Dialect, alone: bool, *, slashes: bool = True) -> bool:
    wanted, text = clean_answer(reference, dialect), clean_answer(text, dialect)
    is_word = dialect == "lite" or (alone and len(wanted) == 1)
    if wanted not in text:  # tokens are parts of the text, so that this settles most cases
        return False
    if is_word and len(words(wanted)) == 1:
        tokens = set(words(text))
        if dialect == "lite" and slashes:
            tokens |= {part for token in tokens if "/" in token for part in token.split("/")}
        return wanted in tokens
    return True


# ---------------------------------------------------------------------- addresses


def url_match(reference: str, url: str, dialect: Dialect = "lite", note: str | None = None) -> bool:
    """Does an address match one of the references (joined by " |OR| ")?

    `lite`: equal, or with the note "GOLD in PRED" a part of the address as it stands, so that the order of its query
    matters. The others: the path of any reference is a part of the address, and each key of all references' queries has
    one of their values; with the note "EXACT" equal as well.
    """
    references = [_cleaned(each, dialect) for each in reference.split(OR)]
    url = _cleaned(url, dialect)
    note = note or ("EXACT" if dialect == "lite" else "GOLD in PRED")
    if note == "EXACT":
        return url in references
    if dialect == "lite":
        return any(each in url for each in references)
    path, query = _parts(url)
    parts = [_parts(each) for each in references]
    if not any(wanted in path for wanted, _ in parts):
        return False
    accepted: dict[str, list[str]] = {}
    for _, wanted in parts:
        for key, values in wanted.items():
            accepted.setdefault(key, []).extend(values)
    return all(any(value in query.get(key, []) for value in values) for key, values in accepted.items())


def _cleaned(url: str, dialect: Dialect) -> str:
    if dialect != "lite":
        return url.rstrip("/")
    return url.replace("localhost", "127.0.0.1").removesuffix("/")


def _parts(url: str) -> tuple[str, dict[str, list[str]]]:
    """Host and path, and the query."""
    try:
        parts = urlsplit(url)
        return parts.netloc + parts.path, parse_qs(parts.query, max_num_fields=1000)
    except ValueError:  # not an address at all, or one with an absurd query
        return url, {}
