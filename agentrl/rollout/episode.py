"""One episode of one policy in one environment, recorded turn by turn."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Message, Policy
from agentrl.core.secrecy import scrub
from agentrl.registry import find


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


def read_observation(observation: Any) -> tuple[str, list[np.ndarray]]:
    """The text of an observation and its pictures, in order; ("", []) for plain arrays."""
    if not isinstance(observation, dict):
        return "", []
    pictures = [v for v in observation.values() if isinstance(v, np.ndarray) and v.dtype == np.uint8 and v.ndim == 3]
    return str(observation.get("text", "")), pictures


def user_message(observation: Any) -> Message:
    """An observation as the environment's message in the conversation."""
    text, pictures = read_observation(observation)
    return {"role": "user", "content": text, "images": pictures, "observation": observation}


def said_message(answer: Generation) -> Message:
    """An answer as it stands in the rest of the conversation, with its own tokens where it has any."""
    said: Message = {"role": "assistant", "content": answer.text}
    return said if answer.token_ids is None else {**said, "token_ids": answer.token_ids}


def opening(env: gym.Env, observation: Any) -> list[Message]:
    """How a conversation starts: the rules, then the first observation."""
    prompt = env.get_wrapper_attr("system_prompt") if env.has_wrapper_attr("system_prompt") else ""
    system: list[Message] = [{"role": "system", "content": prompt}] if prompt else []
    return [*system, user_message(observation)]


def spec_json(env: gym.Env) -> dict[str, Any] | None:
    """The stack's spec as JSON types and without secrets, or None where it holds live objects."""
    try:
        return scrub(json.loads(env.spec.to_json())) if env.spec else None
    except (TypeError, ValueError):
        return None


def play_episode(
    env: gym.Env, policy: Policy, seed: int, *, keep_pictures: bool = False, watcher: Watcher | None = None
) -> EpisodeRecord:
    """Reset with `seed` and play to the end. Faults of the machinery come through as they are."""
    recorder = _Recorder(keep_pictures)
    observation, info = env.reset(seed=seed)
    if watcher:
        watcher.begin(env, observation, info)
    task, conversation = info.get("task"), opening(env, observation)
    text, picture = recorder.view(env, observation)
    terminated = truncated = False
    while not (terminated or truncated):
        answer = _ask(policy, conversation, env)
        observation, reward, terminated, truncated, info = env.step(answer.action)
        if watcher:
            watcher.turn(answer, float(reward), terminated, truncated, info, observation)
        recorder.turns.append(TurnRecord(text, picture, answer.action, float(reward), info))
        text, picture = recorder.view(env, observation)
        conversation += [said_message(answer), user_message(observation)]
    return EpisodeRecord(seed, recorder.turns, text, picture, terminated, truncated, task)


def _ask(policy: Policy, conversation: list[Message], env: gym.Env) -> Generation:
    (answer,) = policy.act([conversation], [env])
    return answer
