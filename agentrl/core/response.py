"""The forms a reasoning agent replies in, read strictly and written correctly.

Five strategies, told apart by what stands inside `<think>`: nothing at all, free text, a description of what is the
case (grounding), a prediction of what will be (world modelling), or both. Reading is total and linear in the length
of the text, whatever a model wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice, pairwise, zip_longest
from typing import Any, NamedTuple

from agentrl.core.errors import ConfigError, did_you_mean

# What stands inside <think>, in order; None: free text. no_think has no <think> at all.
_THOUGHTS: dict[str, tuple[str, ...] | None] = {
    "free_think": None,
    "grounding": ("observation", "reasoning"),
    "worldmodeling": ("reasoning", "prediction"),
    "grounding_worldmodeling": ("observation", "reasoning", "prediction"),
}
STRATEGIES = ("no_think", *_THOUGHTS)
TAGS = ("think", "observation", "reasoning", "prediction", "answer")
_TAG = re.compile(f"</?(?:{'|'.join(TAGS)})>")


class Response(NamedTuple):
    """A reply taken apart. Unless it is strict, every field is None and `problem` says why."""

    strict: bool
    answer: str | None = None
    observation: str | None = None
    prediction: str | None = None
    reasoning: str | None = None  # the free text of free_think counts as reasoning
    problem: str | None = None


def check_strategy(strategy: Any) -> str:
    """`strategy` itself, or a `ConfigError` that names the five."""
    if strategy not in STRATEGIES:
        hint = did_you_mean(strategy, STRATEGIES) if isinstance(strategy, str) else ""
        raise ConfigError(f"strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}.{hint}")
    return strategy


def fields_of(strategy: str) -> tuple[str, ...]:
    """The tags that hold text, in the order in which they are written."""
    if check_strategy(strategy) == "no_think":
        return ("answer",)
    return (*(_THOUGHTS[strategy] or ("think",)), "answer")


def template(strategy: str) -> str:
    """The form with dots for the texts."""
    return _assemble(strategy, {field: "..." for field in fields_of(strategy)})


def build_response(strategy: str, texts: Mapping[str, str]) -> str:
    """A strict reply from the text of each field of the strategy; tags inside a text are defused first."""
    return _assemble(strategy, {field: defuse(texts[field]) for field in fields_of(strategy)})


def defuse(text: str) -> str:
    """The text with square brackets around tag names, so that it can stand inside a tag."""
    return _TAG.sub(lambda tag: f"[{tag.group()[1:-1]}]", text)


def parse_response(text: Any, strategy: str) -> Response:
    """Read a reply strictly.

    Strict means: the tags of the strategy, each exactly once, in order, none of the other strategies' tags anywhere,
    only white space between and around them, and no field left blank (an empty observation observes nothing).
    """
    form = _FORMS[check_strategy(strategy)]
    if not isinstance(text, str):
        return Response(False, problem=f"a reply is text, not {type(text).__name__}")
    tags = list(islice(_TAG.finditer(text), len(form) + 1))  # one too many already decides
    found = [tag.group() for tag in tags]
    if found != list(form):
        expected, got = next(pair for pair in zip_longest(form, found) if pair[0] != pair[1])
        problem = f"expected {expected or 'the end'}, found {got or 'no further tag'}"
        return Response(False, problem=problem)
    if text[: tags[0].start()].strip() or text[tags[-1].end() :].strip():
        return Response(False, problem="there is text outside the tags")
    fields = {}
    for opened, closed in pairwise(tags):
        name, between = opened.group()[1:-1], text[opened.end() : closed.start()]
        blank = not between.strip()
        if closed.group() != f"</{name}>":
            if not blank:
                return Response(False, problem=f"there is text between {opened.group()} and {closed.group()}")
        elif blank:
            return Response(False, problem=f"<{name}> is empty")
        else:
            fields["reasoning" if name == "think" else name] = between.strip()
    return Response(True, **fields)


def _assemble(strategy: str, texts: Mapping[str, str]) -> str:
    parts = {field: f"<{field}>{texts[field]}</{field}>" for field in fields_of(strategy)}
    answer = parts.pop("answer")
    thought = "".join(parts.values())
    if not parts or "think" in parts:
        return thought + answer
    return f"<think>{thought}</think>{answer}"


_FORMS = {strategy: tuple(_TAG.findall(template(strategy))) for strategy in STRATEGIES}
