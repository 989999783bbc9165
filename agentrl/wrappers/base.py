"""What every wrapper of the suite has in common."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, SupportsFloat, TypeVar, cast

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.core.snapshot import load_attributes, save_attributes
from agentrl.core.spaces import reads_text, writes_text

Layer = TypeVar("Layer", bound=gym.Wrapper)
# By the contract no environment can read a closing tag without an opening one: a turn that is invalid everywhere.
UNREADABLE = "</answer>"

StepResult = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]  # what a wrapper's `step` gives, as Gymnasium has it


class AgentWrapper(gym.Wrapper, RecordConstructorArgs):
    """A wrapper that `env.spec.to_json()` can rebuild, that snapshots cover, and that extends the system prompt."""

    memory: tuple[str, ...] = ()  # attributes the future depends on
    needs: str | None = None  # the wrapper that must be inside this one

    def __init__(self, env: gym.Env, **arguments: Any) -> None:
        plain = {}  # as JSON gives them back, so that a rebuilt stack has an equal spec
        for name, value in arguments.items():
            try:
                plain[name] = json.loads(json.dumps(value, allow_nan=False))
            except (TypeError, ValueError, RecursionError) as error:
                raise ConfigError(
                    f"{type(self).__name__}: {name} must be made of plain JSON values, because env.spec.to_json() "
                    f"rebuilds the whole stack from it; {type(value).__name__} is not ({error})"
                ) from error
        RecordConstructorArgs.__init__(self, **plain)
        gym.Wrapper.__init__(self, env)

    @property
    def unwrapped(self) -> AgentEnv[Any, Any]:
        """The environment below all wrappers. Wrappers that serve any Gymnasium environment, not only those of the
        suite, ask for what it can do (`getattr` with a default) before they use it."""
        return cast("AgentEnv[Any, Any]", self.env.unwrapped)

    @property
    def system_prompt(self) -> str:
        """The prompt of what is wrapped, then this wrapper's own rules."""
        inner = self.env.get_wrapper_attr("system_prompt") if self.env.has_wrapper_attr("system_prompt") else ""
        return "\n".join(part for part in (inner, self._rules()) if part)

    def _rules(self) -> str:
        """What the agent must know about this wrapper."""
        return ""

    def snapshot(self) -> bytes:
        """This wrapper's own part of `agentrl.snapshot`."""
        return save_attributes(self, *self.memory)

    def restore(self, blob: bytes) -> None:
        """Inverse of `snapshot`; `SnapshotError` on anything else, with nothing changed."""
        try:
            load_attributes(self, blob, *self.memory)
        except Exception as error:
            raise SnapshotError(f"the snapshot does not fit {type(self).__name__}: {error}") from error


def require_text(env: gym.Env, wrapper: str, *, asks_for_form: bool = False) -> None:
    """`ConfigError` unless the environment reads and writes text; one that names the wrapper which is in the way.

    A wrapper that asks for a form of replies cannot go inside one that turns numbers into actions either.
    """
    for needed, has in (('an observation with "text"', reads_text), ("actions in text", writes_text)):
        if has(env):
            continue
        if not has(env.unwrapped):
            raise ConfigError(f"{wrapper} needs {needed}: use a Text or Visual kind; got {_label(env)}")
        layer, taker = env, ""  # the innermost wrapper without something that what it wraps still has
        while isinstance(layer, gym.Wrapper) and not has(layer):
            layer, taker = layer.env, type(layer).__name__
        exclusive = asks_for_form and has is writes_text
        advice = "leave one of the two out" if exclusive else f"put {taker} around {wrapper}"
        raise ConfigError(f"{wrapper} needs {needed}, which {taker} inside it takes away: {advice}")


def require_no_reasoning(env: gym.Env, wrapper: str, advice: str) -> None:
    """`ConfigError` if a Reasoning wrapper below would find every translated action malformed."""
    if env.has_wrapper_attr("gold"):
        raise ConfigError(f"Reasoning inside {wrapper} would find no reply in its form; {advice}")


def require_no_second(env: gym.Env, kind: type[gym.Wrapper]) -> None:
    """`ConfigError` if there is a wrapper of this kind below: two forms of replies contradict each other."""
    if find_layer(env, kind) is not None:
        raise ConfigError(f"{kind.__name__} is in this stack already; use it once")


def require_free_reply(env: gym.Env, wrapper: str) -> None:
    """`ConfigError` if the environment itself asks for a form of replies."""
    asked = getattr(env.unwrapped, "reply_format", "")
    if asked:
        raise ConfigError(f"{wrapper} asks for replies in a form of its own, but {_label(env)} asks for {asked}")


def find_layer(env: gym.Env, kind: type[Layer]) -> Layer | None:
    """The outermost wrapper of this kind, from `env` inwards."""
    layer = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, kind):
            return layer
        layer = layer.env
    return None


def _label(env: gym.Env) -> str:
    return env.unwrapped.spec.id if env.unwrapped.spec else type(env.unwrapped).__name__


def add_term(reward: SupportsFloat, info: Mapping[str, Any], name: str, value: float) -> tuple[float, dict[str, Any]]:
    """(reward, info) with one more reward term; the reward stays exactly the sum of the terms where it was."""
    before = info.get("reward_terms", {})
    terms = {**before, name: value}
    exact = reward == math.fsum(before.values())
    return math.fsum(terms.values()) if exact else float(reward) + value, {**info, "reward_terms": terms}


def replace_feedback(obs: Any, info: Mapping[str, Any], feedback: str) -> tuple[Any, dict[str, Any]]:
    """(observation, info) with another line of feedback in both."""
    old = info.get("feedback", "")
    if isinstance(obs, dict) and "text" in obs:
        # The last occurrence: earlier ones may be history.
        before, found, after = obs["text"].rpartition(old) if old else ("", "", "")
        text = before + feedback + after if found else f"{feedback}\n{obs['text']}"
        obs = {**obs, "text": text}
    return obs, {**info, "feedback": feedback}


def explain_invalid(obs: Any, info: Mapping[str, Any], reason: str) -> tuple[Any, dict[str, Any]]:
    """Say why an action was invalid in the words of the wrapper that translated it, not of what it was turned into."""
    ran, _, _ = info.get("feedback", "").rpartition("Invalid: ")
    return replace_feedback(obs, info, f"{ran}Invalid: {reason}.")


def clean_text(text: str, limit: int) -> str:
    """At most `limit` characters that any encoder accepts (a model can write half a surrogate pair)."""
    shown = text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")
    return shown if len(text) <= limit else f"{shown}... ({len(text) - limit} more characters)"
