"""What the verbs share about their arguments: each declares a dataclass, tyro reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import tyro

from agentrl.cli.option_types import described
from agentrl.core.errors import ConfigError
from agentrl.core.secrecy import protect_secrets_in, scrub

Chosen = TypeVar("Chosen")
EnvId = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ID")]
JsonText = Annotated[str, tyro.conf.arg(metavar="JSON")]
JudgeText = Annotated[str, tyro.conf.arg(metavar="KIND|JSON")]
Split = Annotated[str, tyro.conf.arg(metavar="train|dev|test")]


@dataclass(kw_only=True)
class Common:
    """The options of every verb."""

    json: bool = False
    """Print one JSON object on stdout; everything else goes to stderr."""


def parse(arguments: type[Chosen], verb: str, words: Sequence[str]) -> Chosen:
    """Parse the words after the verb; tyro explains mistakes and exits with status 2."""
    return tyro.cli(form(arguments), prog=f"agentrl {verb}", args=list(words), config=(tyro.conf.FlagCreatePairsOff,))


def form(arguments: type[Chosen]) -> type[Chosen]:
    """The same options with the help that people know: words that may be left out in brackets, one default each."""
    texts, hints, shown = described(arguments), get_type_hints(arguments, include_extras=True), {}
    for field in fields(arguments):  # pyright: ignore[reportArgumentType]
        hint = hints[field.name]
        needed = field.default is MISSING and field.default_factory is MISSING
        text = " ".join(texts.get(field.name, "").split())
        about = {"metavar": metavar(hint, needed), "help_behavior_hint": one_default(text)}
        shown[field.name] = Annotated[hint, tyro.conf.arg(**about, help=text or None)]
    facts = {"__annotations__": shown, "__doc__": arguments.__doc__, "__module__": arguments.__module__}
    return type(arguments.__name__, (arguments,), facts)  # pyright: ignore[reportReturnType]


def metavar(hint: Any, needed: bool) -> str | None:
    """What stands for the value of an option, and for a word without one; None leaves it to tyro."""
    plain, *about = get_args(hint) if get_origin(hint) is Annotated else [hint]
    named = next((name for one in about if (name := getattr(one, "metavar", None))), None)
    if tyro.conf.Positional in about:
        several = f"{named} ..." if get_origin(plain) is tuple and not str(named).endswith("...") else named
        return several if needed else f"[{several}]"
    if get_origin(plain) is Literal:
        return "|".join(map(str, get_args(plain)))
    if named is None and get_origin(plain) in (Union, UnionType) and NoneType in get_args(plain):
        return next(one.__name__.upper() for one in get_args(plain) if one is not NoneType)
    return named


def one_default(text: str) -> Callable[[str], str]:
    """What the help says about a default: nothing where the text itself does, or where it is empty."""
    told = re.search(r"\bdefault\b", text, re.IGNORECASE)
    return lambda default: (
        "" if told or default in ("", "''", "None", "False", "'{}'", "'[]'") else f"(default: {default})"
    )


def json_object(option: str, text: str) -> dict[str, Any]:
    """The JSON object a person typed for an option."""
    return _parsed(option, text, dict, "object such as '{\"size\": 8}'")


def json_list(option: str, text: str) -> list[Any]:
    """The JSON list a person typed for an option."""
    return _parsed(option, text, list, "list")


def _parsed(option: str, text: str, kind: type, named: str) -> Any:
    protect_secrets_in(text)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{option} takes a JSON {named}: {error}") from error
    if not isinstance(value, kind):
        raise ConfigError(f"{option} takes a JSON {named}, not {scrub(text)!a}")
    return value


def judge_spec(option: str, text: str) -> str | dict[str, Any]:
    """A judge as a person types it: the name of a kind, or a JSON object with a kind."""
    return json_object(option, text) if text.lstrip().startswith("{") else text
