"""One episode of one policy in one environment, recorded turn by turn."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Protocol, SupportsFloat

import gymnasium as gym
import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Message, Policy
from agentrl.core.secrecy import scrub
from agentrl.registry import find
from agentrl.rollout.prompts import (
    PromptStyle,
    WholeConversation,
    done,
    read_observation,
    rules_of,
    said_message,
    told,
    user_message,
)
from agentrl.rollout.trajectory import plain

StepResult = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]  # what `env.step` gives


@dataclass(frozen=True)
class TurnRecord:
    """What the policy saw, what it did, what came of it."""

    text: str  # "" where the observation has none
    picture: np.ndarray | None
    action: Any
    reward: float
    info: dict[str, Any]


@dataclass(frozen=True)
class EpisodeRecord:
    """All turns of an episode and how it ended."""

    seed: int
    turns: list[TurnRecord]
    final_text: str
    final_picture: np.ndarray | None
    terminated: bool
    truncated: bool
    task: str | None = None

    @property
    def success(self) -> bool:
        """Was the task done?"""
        return bool(self.turns and self.turns[-1].info.get("success"))

    @property
    def pending(self) -> bool:
        """Does a judge still owe a reward term?"""
        return any(turn.info.get("pending") for turn in self.turns)

    @property
    def reward(self) -> float | None:
        """The sum of rewards; None while a term is pending."""
        return None if self.pending else math.fsum(turn.reward for turn in self.turns)

    @property
    def reward_terms(self) -> dict[str, float]:
        """The sum of each named term."""
        names = dict.fromkeys(name for turn in self.turns for name in turn.info.get("reward_terms", {}))
        return {n: math.fsum(turn.info.get("reward_terms", {}).get(n, 0.0) for turn in self.turns) for n in names}


class Watcher(Protocol):
    """Sees an episode while it is played, in more detail than `EpisodeRecord` keeps."""

    def begin(self, env: gym.Env, observation: Any, info: dict[str, Any]) -> None:
        """The episode was reset."""

    def turn(
        self, answer: Generation, reward: float, terminated: bool, truncated: bool, info: dict[str, Any], after: Any
    ) -> None:
        """The policy answered, the environment replied; `after` is the new observation."""


@dataclass
class _Recorder:
    keep_pictures: bool
    turns: list[TurnRecord] = field(default_factory=list)

    def view(self, env: gym.Env, observation: Any) -> tuple[str, np.ndarray | None]:
        text, pictures = read_observation(observation)
        if not self.keep_pictures:
            return text, None
        if pictures:
            return text, pictures[0]
        return text, np.asarray(env.render()) if env.render_mode == "rgb_array" else None


def make(env_id: str, **kwargs: Any) -> gym.Env:
    """`gym.make` whose complaints say what to do: an unknown id suggests the nearest one."""
    if not isinstance(env_id, str):
        raise ConfigError(f"an environment is chosen by its id, not by {type(env_id).__name__}")
    # "module:id" imports the module first: that is how environments of other packages are found.
    if ":" not in env_id and env_id not in gym.registry:
        find(env_id)
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
    """An episode in progress, whoever moves it: one at a time (`play_episode`) or many in step (the collectors).

    It knows what the policy is to be shown and tells its watcher what happened; it never calls the environment itself.
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


def play_episode(
    env: gym.Env,
    policy: Policy,
    seed: int,
    *,
    keep_pictures: bool = False,
    watcher: Watcher | None = None,
    prompt: PromptStyle | None = None,
) -> EpisodeRecord:
    """Reset with `seed` and play to the end. Faults of the machinery come through as they are."""
    recorder = _Recorder(keep_pictures)
    episode = LiveEpisode(env, prompt or WholeConversation(), watcher)
    observation, info = env.reset(seed=seed)
    episode.begin(observation, info)
    task, seen = info.get("task"), recorder.view(env, observation)
    terminated = truncated = False
    while not episode.over:
        (answer,) = policy.act([episode.conversation()], [env])
        result = observation, reward, terminated, truncated, info = env.step(answer.action)
        episode.turn(answer, result)
        recorder.turns.append(TurnRecord(*seen, answer.action, float(reward), info))
        seen = recorder.view(env, observation)
    return EpisodeRecord(seed, recorder.turns, *seen, bool(terminated), bool(truncated), task)
