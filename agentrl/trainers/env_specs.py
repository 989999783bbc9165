"""The environments of a run: from the options `env`, `env_kwargs`, `strategy`, `judge` and `wrap` to specs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Protocol

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.core.secrecy import scrub
from agentrl.rollout.collect import EnvSpec
from agentrl.rollout.episode import check_id

JUDGED = ("ReasoningReward", "OutcomeReward")  # wrappers that may leave their questions to the collector


class EnvOptions(Protocol):
    """The options of a trainer that describe its environments."""

    env: tuple[str, ...]
    env_kwargs: str
    strategy: str
    representation: str
    format_rule: Any  # one of two words
    judge: str
    wrap: str


def env_specs(arguments: EnvOptions) -> tuple[EnvSpec, ...]:
    """What the collector plays; `ConfigError` for an option that cannot be read."""
    if not arguments.env:
        raise ConfigError("env needs at least one environment")
    common = json_option("env_kwargs", arguments.env_kwargs, dict)
    wrappers = tuple(_reasoning(arguments) + json_option("wrap", arguments.wrap, list))
    specs = tuple(_with_rule(_spec(text, common, wrappers), arguments.format_rule) for text in arguments.env)
    for spec in specs:
        check_id(spec.id)  # before a model is loaded or anything is played
    if not any(spec.weight for spec in specs):
        raise ConfigError("env needs at least one environment with a weight above 0")
    return specs


def deferred_judge(specs: tuple[EnvSpec, ...]) -> Any:
    """The judge that `ReasoningReward` and `OutcomeReward` wrappers leave their questions to; the collector asks it
    while others play."""
    layers = [layer for spec in specs for layer in spec.wrappers if _is_deferred(layer)]
    judges = [layer.get("judge", "rule") for layer in layers]
    if any(judge != judges[0] for judge in judges):
        raise ConfigError("environments that defer their judging in one run must name the same judge")
    return judges[0] if judges else None


def json_option(name: str, text: str, kind: type) -> Any:
    """An option that holds a JSON object or list."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{name} must be JSON: {error}") from error  # not shown: it may hold a key
    if not isinstance(value, kind):
        raise ConfigError(f"{name} must be a JSON {'object' if kind is dict else 'list'}; got {scrub(text)!a}")
    return value


def _reasoning(arguments: EnvOptions) -> list[dict[str, Any]]:
    if not arguments.strategy:
        if arguments.judge:
            raise ConfigError("judge needs strategy: the form of the replies that it judges")
        return []
    form = {
        "wrapper": "Reasoning",
        "strategy": arguments.strategy,
        "representation": arguments.representation,
    }
    if not arguments.judge:
        return [form]
    is_spec = arguments.judge.lstrip().startswith("{")
    judge = json_option("judge", arguments.judge, dict) if is_spec else arguments.judge
    return [form, {"wrapper": "ReasoningReward", "judge": judge}]


def _with_rule(spec: EnvSpec, rule: str) -> EnvSpec:
    """Every `Reasoning` that names no format rule has that of the run."""
    layers = [{"format_rule": rule, **layer} if _is_reasoning(layer) else layer for layer in spec.wrappers]
    return replace(spec, wrappers=tuple(layers))


def _is_reasoning(layer: Any) -> bool:
    return isinstance(layer, dict) and layer.get("wrapper") == "Reasoning"


def _is_deferred(layer: Any) -> bool:
    return isinstance(layer, dict) and layer.get("wrapper") in JUDGED and layer.get("deferred") is True


def _spec(text: str, kwargs: dict[str, Any], wrappers: tuple[dict[str, Any], ...]) -> EnvSpec:
    if not text.lstrip().startswith("{"):
        return EnvSpec(text, dict(kwargs), wrappers)
    data = json_option("env", text, dict)
    unknown = sorted(set(data) - {"id", "kwargs", "wrappers", "weight"})
    if unknown or not isinstance(data.get("id"), str):
        raise ConfigError(
            f"an environment of a mix must have id, and may have kwargs, wrappers, weight; got {scrub(text)!a}"
        )
    own = data.get("wrappers")
    return EnvSpec(
        data["id"],
        {**kwargs, **data.get("kwargs", {})},
        wrappers if own is None else tuple(own),
        finite_number("weight", data.get("weight", 1.0)),
    )
