"""What the verbs share about their arguments: each declares a dataclass, tyro reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import tyro

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
    return tyro.cli(arguments, prog=f"agentrl {verb}", args=list(words), config=(tyro.conf.FlagCreatePairsOff,))


def json_object(option: str, text: str) -> dict[str, Any]:
    """The JSON object a person typed for an option."""
    protect_secrets_in(text)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{option} takes a JSON object such as '{{\"size\": 8}}': {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{option} takes a JSON object such as '{{\"size\": 8}}', not {scrub(text)!a}")
    return value


def json_list(option: str, text: str) -> list[Any]:
    """The JSON list a person typed for an option."""
    protect_secrets_in(text)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{option} takes a JSON list: {error}") from error
    if not isinstance(value, list):
        raise ConfigError(f"{option} takes a JSON list, not {scrub(text)!a}")
    return value


def judge_spec(option: str, text: str) -> str | dict[str, Any]:
    """A judge as a person types it: the name of a kind, or a JSON object with a kind."""
    return json_object(option, text) if text.lstrip().startswith("{") else text
