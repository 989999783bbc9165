"""The settings under which results on WebShop were published, each under one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentrl.core.arguments import one_of
from agentrl.core.errors import ConfigError, did_you_mean


@dataclass(frozen=True)
class Settings:
    """What a protocol decides; an argument of the same name overrules it. Defaults: the suite's own settings."""

    goals: str = "human"
    cuts: str = "products"
    reward: str = "score"
    prompt: str = "page"
    num_prev_obs: int = 0
    num_prev_actions: int = 0
    show_feedback: bool = True
    max_turns: int = 15
    invalid_penalty: float = 0.0


CHOICES = {
    "goals": ("human", "synthetic"),
    "cuts": ("products", "benchmark", "none"),
    "reward": ("score", "success"),
    "prompt": ("page", "admissible"),
}
SUITE = Settings()
PROTOCOLS = {
    # Of the original's code: its environment has no limit, its training scripts stop after 100 steps.
    "webshop": Settings(cuts="benchmark", show_feedback=False, max_turns=100),
    "verl-agent": Settings(
        goals="synthetic",
        cuts="benchmark",
        reward="success",
        prompt="admissible",
        num_prev_obs=2,
        num_prev_actions=2,
        show_feedback=False,
        invalid_penalty=-0.1,
    ),
}


def settings_of(protocol: Any, given: Mapping[str, Any], official: bool) -> Settings:
    """The settings of a protocol (None: the suite's own), overruled by what is given and not None.

    Which goals there are, and how they are cut into splits, can be chosen for the benchmark's files only (`official`);
    a generated shop has its own.
    """
    if protocol is not None and protocol not in list(PROTOCOLS):
        hint = did_you_mean(protocol, list(PROTOCOLS)) if isinstance(protocol, str) else ""
        raise ConfigError(f"protocol must be one of {', '.join(PROTOCOLS)} or None; got {protocol!r}.{hint}")
    settings = SUITE if protocol is None else PROTOCOLS[protocol]
    if not official:
        settings = replace(settings, goals=SUITE.goals, cuts=SUITE.cuts)
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    for name, known in CHOICES.items():
        one_of(name, getattr(settings, name), known)
    if not official and (settings.goals, settings.cuts) != (SUITE.goals, SUITE.cuts):
        raise ConfigError("goals and cuts choose among the benchmark's goals; they need data_dir")
    return settings
