"""Environments of the suite in skyrl-gym, as SkyRL's generators play them (skyrl-gym 0.4).

    import skyrl_gym
    import agentrl.adapters.skyrl_gym  # registers the name "agentrl"

    env = skyrl_gym.make("agentrl", extras={"env_id": "agentrl/Sokoban-Text-v0", "seed": 7, "max_turns": 5})
    messages, _ = env.init([])
    result = env.step("Up, Left")  # observations, reward, done, metadata

A row of SkyRL's data set has `env_class="agentrl"`, `env_id`, and `seed` or `task`. `env_kwargs` are further arguments
of the environment, `wrappers` is a list as everywhere; both may stand in the configuration, too. The prompt of a row is
replaced by the rules and the first observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.adapters.chat import ChatEpisode
from agentrl.core.errors import ConfigError, MissingExtra

try:
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ImportError as error:
    raise MissingExtra("skyrl-gym", "skyrl-gym") from error


class AgentRLEnv(BaseTextEnv):
    """One episode. `max_turns` is that of the generator, which the environment takes as its own limit."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = {**dict(env_config or {}), **dict(extras or {})}
        self.seed, self.task = given.get("seed"), given.get("task")
        if "env_id" not in given or (self.seed is None and self.task is None):
            raise ConfigError(f"a row must have env_id, and seed or task; got {', '.join(sorted(given)) or 'nothing'}")
        kwargs = dict(given.get("env_kwargs") or {})
        if "max_turns" in given:
            kwargs.setdefault("max_turns", given["max_turns"])
        self.episode = ChatEpisode(given["env_id"], kwargs, given.get("wrappers") or ())

    def init(self, prompt: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Begin: the rules and the first observation."""
        self.turns = 0
        options = None if self.task is None else {"task": self.task}
        return self.episode.reset(None if self.seed is None else int(self.seed), options), {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play an answer. The library knows `done` alone; `metadata` says how an episode ended."""
        messages, self.turns = self.episode.step(action), self.turns + 1
        ends = {name: getattr(self.episode, name) for name in ("success", "terminated", "truncated")}
        # Without `postprocessed_action`: SkyRL would tokenise it anew.
        return BaseTextEnvStepOutput(  # pyright: ignore[reportCallIssue]
            observations=messages, reward=self.episode.rewards[-1], done=self.episode.over, metadata=ends
        )

    def get_metrics(self) -> dict[str, float]:
        """What SkyRL averages over episodes."""
        return {"success": float(self.episode.success), "turns": float(self.turns), "reward": self.episode.reward}

    def close(self) -> None:
        """Give back what the environment holds."""
        self.episode.close()


if "agentrl" not in skyrl_gym.registry:  # a name can be registered once
    skyrl_gym.register("agentrl", entry_point="agentrl.adapters.skyrl_gym:AgentRLEnv")
