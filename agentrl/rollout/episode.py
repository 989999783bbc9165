"""One episode of one policy in one environment, turn by turn."""

from __future__ import annotations

import json
from typing import Any, Protocol, SupportsFloat

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Message, Policy
from agentrl.core.secrecy import scrub
from agentrl.core.spaces import require_text_env
from agentrl.registry import find
from agentrl.rollout.prompts import (
    PromptStyle,
    WholeConversation,
    done,
    rules_of,
    said_message,
    told,
    user_message,
)
from agentrl.rollout.trajectory import plain

StepResult = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]  # what `env.step` gives


class Watcher(Protocol):
    """Sees an episode turn by turn: `agentrl.rollout.record.TrajectoryBuilder` makes its record."""

    def begin(self, env: gym.Env, observation: Any, info: dict[str, Any]) -> None:
        """The episode was reset."""

    def turn(
        self, answer: Generation, reward: float, terminated: bool, truncated: bool, info: dict[str, Any], after: Any
    ) -> None:
        """The policy answered, the environment replied; `after` is the new observation."""


def check_id(env_id: str) -> None:
    """Raise `ConfigError`, which names the nearest id, if the environment is unknown."""
    if not isinstance(env_id, str):
        raise ConfigError(f"an environment id must be a string; got {type(env_id).__name__}")
    # "module:id" imports the module first: that is how environments of other packages are found.
    if ":" not in env_id and env_id not in gym.registry:
        find(env_id)


def make(env_id: str, **kwargs: Any) -> gym.Env:
    """`gym.make` with a `ConfigError` that says what to do: an unknown id suggests the nearest one."""
    check_id(env_id)
    try:
        return gym.make(env_id, **kwargs)
    except (TypeError, ModuleNotFoundError, gym.error.Error) as error:
        raise ConfigError(f"{env_id} cannot be made: {error}") from error


def spec_json(env: gym.Env) -> dict[str, Any] | None:
    """The stack's spec as JSON types and without secrets, or None where it holds live objects."""
    try:
        return scrub(json.loads(env.spec.to_json())) if env.spec else None
    except (TypeError, ValueError):
        return None


class LiveEpisode:
    """An episode in progress: one at a time (`run_episode`) or many in step (the collectors).

    It builds the policy's prompts and tells its watcher what happened; it never calls the environment itself.
    """

    def __init__(self, env: gym.Env, prompt: PromptStyle, watcher: Watcher | None = None) -> None:
        self.env, self._prompt, self._watcher = env, prompt, watcher
        self.over = False

    def begin(self, observation: Any, info: dict[str, Any]) -> None:
        """The environment was reset."""
        if self._watcher:
            self._watcher.begin(self.env, observation, info)
        self._prompt.begin(rules_of(self.env), user_message(observation))

    def conversation(self) -> list[Message]:
        """What the policy is shown now."""
        return self._prompt.messages()

    def turn(self, answer: Generation, result: StepResult) -> None:
        """The policy answered, the environment replied."""
        observation, reward, terminated, truncated, info = result
        if self._watcher:
            self._watcher.turn(answer, float(reward), terminated, truncated, info, observation)
        what = done(plain(answer.action), info)
        self._prompt.turn(said_message(answer), what, told(info), user_message(observation))
        self.over = bool(terminated or truncated)


def check_text(policy: Policy, env: gym.Env, env_id: str) -> None:
    """`ConfigError` where a policy of text alone meets an environment without (a Grid kind)."""
    if getattr(policy, "needs_text", False):
        require_text_env(env, env_id)


def run_episode(env: gym.Env, policy: Policy, seed: int, watcher: Watcher, prompt: PromptStyle | None = None) -> None:
    """Reset with `seed` and run one episode to its end; by default with the whole conversation as prompt."""
    check_text(policy, env, env.spec.id if env.spec else type(env.unwrapped).__name__)
    episode = LiveEpisode(env, prompt or WholeConversation(), watcher)
    episode.begin(*env.reset(seed=seed))
    while not episode.over:
        (answer,) = policy.act([episode.conversation()], [env])
        episode.turn(answer, env.step(answer.action))
