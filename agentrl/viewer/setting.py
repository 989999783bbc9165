"""Where and how figures were measured: environment, split, and how replies were chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from agentrl.rollout.episode import own_arguments
from agentrl.rollout.trajectory import Trajectory
from agentrl.viewer.eval_report import short_name
from agentrl.viewer.run_data import Line, figure


@dataclass(frozen=True)
class Setting:
    """Where and how something was measured. Figures of different settings are not compared."""

    environment: str  # its id, and what it was made with
    split: str
    mode: str  # how replies were chosen, with the temperature

    @property
    def title(self) -> str:
        """For a heading."""
        env_id, _, further = self.environment.partition(" ")
        return f"{short_name(env_id)}{f' {further}' if further else ''}, {self.split} split, {self.mode}"

    def differences(self, other: Setting) -> list[str]:
        """In words: what another one has otherwise."""
        pairs = ((field.name, getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return [f"{name} {theirs}, not {ours}" for name, ours, theirs in pairs if ours != theirs]


def mode_words(greedy: Any, temperature: Any = None) -> str:
    """How replies were chosen."""
    if greedy:
        return "greedy"
    known = figure({"temperature": temperature}, "temperature")
    return "sampled" if known is None else f"sampled at temperature {known:g}"


def environment_words(env_id: str, arguments: Any) -> str:
    """An id and what differs from its defaults."""
    told = arguments.items() if isinstance(arguments, Mapping) else ()
    listed = ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(told))
    return f"{env_id} ({listed})" if listed else env_id


def options_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a run, by name."""
    options = config.get("arguments")
    return options if isinstance(options, Mapping) else {}


def of_line(line: Line, config: Mapping[str, Any]) -> Setting:
    """Of an evaluation in a run. Lines of older runs leave the temperature and the arguments to the configuration."""
    options = options_of(config)
    made_with, temperature = line.get("env_kwargs", options.get("env_kwargs")), options.get("temperature")
    env_id = str(line.get("env_id") or line.get("id") or "")
    mode = mode_words(line.get("greedy"), line.get("temperature", temperature))
    return Setting(environment_words(env_id, made_with), str(line.get("split") or "unknown"), mode)


def of_episode(episode: Trajectory) -> Setting:
    """Of a recorded episode; players that are no language models have no way of choosing replies."""
    how = episode.steps[0].sampling if episode.steps else {}
    mode = mode_words(how.get("greedy"), how.get("temperature")) if how else "no language model"
    made_with = own_arguments(episode.spec)
    return Setting(environment_words(episode.env_id, made_with), episode.split or "unknown", mode)
