"""One episode of one policy in one environment, turn by turn, and its record.

`play_episode` and `record_episode` run one and return its `Trajectory`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
import numpy as np

from agentrl.core.env import episode_limit
from agentrl.core.errors import ConfigError, Fault
from agentrl.core.policy import Generation, Message, Policy
from agentrl.core.secrecy import scrub
from agentrl.core.spaces import require_text_env
from agentrl.core.verdicts import fault_json
from agentrl.registry import check_id
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
from agentrl.rollout.starts import takes
from agentrl.rollout.trajectory import PLAIN, Step, Trajectory, picture_hash, plain
from agentrl.wrappers.text_observation import with_text

# Terms are kept once, where settling changes them; anchor and gold are those of the state in which a step began.
HELD_BY_STEP = ("reward_terms", "pending", "anchor", "gold")


class Seen(NamedTuple):
    """What a record keeps of an observation beside its text."""

    images: list[str]  # content hashes
    proprio: list[float] | None
    state: list[float] | None


class StepResult(NamedTuple):
    """What `env.step` gives; a host has made of it what records keep: `seen`, and `info` as `kept_info` gives it."""

    observation: Any
    reward: SupportsFloat
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    seen: Seen | None = None


def make(env_id: str, /, **kwargs: Any) -> gym.Env:
    """`gym.make` with a `ConfigError` that says what to do: an unknown id suggests the nearest one.

    An environment of another package need not know splits, and its text may be the whole observation.
    """
    check_id(env_id)
    if not isinstance(mode := kwargs.get("render_mode"), (str, type(None))):
        raise ConfigError(f"render_mode must be a text or None; got {mode!r}")
    try:
        if "split" in kwargs and not takes(env_id, "split"):
            kwargs.pop("split")
        return with_text(gym.make(env_id, **kwargs))
    except (TypeError, ModuleNotFoundError, gym.error.Error) as error:
        lost = isinstance(error, ModuleNotFoundError) and error.name == env_id.partition(":")[0].partition(".")[0]
        hint = "; name a module of the working folder on the command line, or set PYTHONPATH" if lost else ""
        raise ConfigError(f"{env_id} cannot be made: {error}{hint}") from error


def spec_json(env: gym.Env) -> dict[str, Any] | None:
    """The stack's spec as JSON types and without secrets, or None where it holds live objects."""
    try:
        return scrub(json.loads(env.spec.to_json())) if env.spec else None
    except (TypeError, ValueError):
        return None


def own_arguments(spec: Any) -> dict[str, Any]:
    """What the environment of a recorded spec was made with, beyond what its id says, its split and how it is drawn."""
    held = spec.get("kwargs") if isinstance(spec, dict) else None
    if not isinstance(held, dict):
        return {}
    known = gym.registry.get(str(spec.get("id")))
    usual = {"split": held.get("split"), "render_mode": held.get("render_mode"), **(known.kwargs if known else {})}
    return {name: value for name, value in held.items() if name not in usual or usual[name] != value}


def check_policy(policy: Policy, env: gym.Env, env_id: str) -> None:
    """`ConfigError` where a policy of text alone meets an environment without (a Grid kind), and where a robot's policy
    meets one that does not fit it (`check_env`)."""
    if getattr(policy, "needs_text", False):
        require_text_env(env, env_id)
    if (check := getattr(policy, "check_env", None)) is not None:
        check(env, env_id)


def blank_record(policy: Policy, **facts: Any) -> Trajectory:
    """A trajectory of this policy in which nothing has happened yet."""
    name = str(getattr(policy, "name", type(policy).__name__))
    return Trajectory(policy=name, tokenizer=getattr(policy, "tokenizer_hash", None), **facts)


class TrajectoryBuilder:
    """Builds the record of an episode. Callers that run a stack often pass its `spec` (of `spec_json`) once."""

    def __init__(self, trajectory: Trajectory, spec: dict[str, Any] | None = None) -> None:
        self.trajectory, self.spec = trajectory, spec
        self._anchor: str | None = None  # of the state in which the next step begins

    def begin(self, env: gym.Env, observation: Any, info: dict[str, Any]) -> None:
        """The facts that hold for the whole episode, and the first observation."""
        record = self.trajectory
        record.spec = spec_json(env) if self.spec is None else self.spec
        record.split = getattr(env.unwrapped, "split", None)
        record.task = None if info.get("task") is None else str(info["task"])
        record.about = about_task(env)
        record.system_prompt = rules_of(env)
        self._anchor, record.final_gold = anchor_hash(info), gold_of(info)
        self._see(observation, None)

    def turn(self, answer: Generation, result: StepResult) -> None:
        """One more step; what it led to is final until the next."""
        after, reward, terminated, truncated, info, seen = result
        info = kept_info(info) if seen is None else info
        record, began = self.trajectory, {} if self._anchor is None else {"anchor": self._anchor}
        self._anchor = anchor_hash(info)
        record.steps.append(
            Step(
                observation=record.final_observation,
                images=record.final_images,
                proprio=record.final_proprio,
                state=record.final_state,
                gold=record.final_gold,
                action=plain(answer.action),
                response=None if isinstance(answer.action, str) and answer.text == answer.action else answer.text,
                prompt_ids=answer.prompt_ids,
                response_ids=answer.token_ids,
                logprobs=answer.logprobs,
                sampling=dict(answer.sampling),
                version=answer.version,
                finish_reason=answer.finish_reason,
                reward=float(reward),
                reward_terms={name: float(value) for name, value in info.get("reward_terms", {}).items()},
                pending=list(info.get("pending", [])),
                info={name: value for name, value in info.items() if name not in HELD_BY_STEP} | began,
            )
        )
        self._see(after, seen)
        record.final_gold = gold_of(info)
        record.terminated, record.truncated = bool(terminated), bool(truncated)
        record.limit = episode_limit(truncated, info)
        record.stop_reason = "terminated" if terminated else "truncated" if truncated else ""

    def fault(self, fault: Fault) -> None:
        """The machinery failed; the record ends here."""
        self.trajectory.fault, self.trajectory.stop_reason = fault_json(fault), "fault"

    def finish(self, id: str | None = None) -> Trajectory:
        """The record, added up and named."""
        self.trajectory.add_up()
        self.trajectory.id = content_id(self.trajectory) if id is None else id
        return self.trajectory

    def _see(self, observation: Any, seen: Seen | None) -> None:
        record = self.trajectory
        record.final_observation, pictures = read_observation(observation)
        names, record.final_proprio, record.final_state = seen or seen_in(observation, pictures)
        record.final_images = names
        record.pictures.update(zip(names, pictures, strict=True))


def about_task(env: gym.Env) -> dict[str, Any]:
    """What the environment says about its present task; empty where it says nothing."""
    return plain(env.get_wrapper_attr("about_task")()) if env.has_wrapper_attr("about_task") else {}


def seen_in(observation: Any, pictures: list[np.ndarray]) -> Seen:
    """What a record keeps of an observation with these pictures, beside its text."""
    names = [picture_hash(picture) for picture in pictures]
    return Seen(names, numbers_of(observation, "proprio"), numbers_of(observation, "state"))


def kept_info(info: dict[str, Any]) -> dict[str, Any]:
    """As JSON types; what a step holds in fields of its own stays as it is."""
    return {
        str(name): value if type(value) in PLAIN or name in HELD_BY_STEP else plain(value)
        for name, value in info.items()
    }


def numbers_of(observation: Any, name: str) -> list[float] | None:
    """A vector of an observation as plain numbers; None where there is none, or it is not finite."""
    value = observation.get(name) if isinstance(observation, dict) else None
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.ndim != 1:
        return None
    return [float(number) for number in value] if np.isfinite(value).all() else None


def anchor_hash(info: dict[str, Any]) -> str | None:
    """`State.anchor()` in short; None where the environment does not tell it."""
    anchor = info.get("anchor")
    return (
        None if anchor is None else hashlib.blake2b(str(anchor).encode("utf-8", "replace"), digest_size=12).hexdigest()
    )


def gold_of(info: dict[str, Any]) -> dict[str, Any] | None:
    """What `GoldInfo` tells, as JSON types; None without that wrapper, and where nothing is right any more."""
    gold = info.get("gold")
    return plain(gold) if isinstance(gold, dict) else None


def content_id(trajectory: Trajectory) -> str:
    """An id that follows from what was played and how."""
    facts = (trajectory.env_id, trajectory.spec, trajectory.split, trajectory.seed, trajectory.task, trajectory.policy)
    actions = [step.action for step in trajectory.steps]
    content = json.dumps([*facts, actions, trajectory.fault], sort_keys=True)
    return hashlib.blake2b(content.encode(), digest_size=12).hexdigest()


def env_id_of(env: gym.Env) -> str:
    """The id of what lies below all wrappers, also where it is played elsewhere; its class if it was never
    registered."""
    base: Any = env.unwrapped
    return getattr(base, "env_id", None) or (base.spec.id if base.spec else type(base).__name__)


class LiveEpisode:
    """An episode in progress: one at a time (`play_episode`) or many in step (the collectors).

    It builds the policy's prompts and the record; it never calls the environment itself.
    """

    def __init__(self, env: gym.Env, prompt: PromptStyle, builder: TrajectoryBuilder) -> None:
        self.env, self.prompt, self._builder = env, prompt, builder
        self.over = False

    def begin(self, observation: Any, info: dict[str, Any]) -> None:
        """The environment was reset."""
        self._builder.begin(self.env, observation, info)
        self.prompt.begin(rules_of(self.env), user_message(observation))

    def conversation(self) -> list[Message]:
        """What the policy is shown now."""
        return self.prompt.messages()

    def turn(self, answer: Generation, result: StepResult) -> None:
        """The policy answered, the environment replied."""
        self._builder.turn(answer, result)
        what = done(self._builder.trajectory.steps[-1].action, result.info)
        self.prompt.turn(said_message(answer), what, told(result.info), user_message(result.observation))
        self.over = bool(result.terminated or result.truncated)


# ---------------------------------------------------------------------- playing one


def play_episode(env: gym.Env, policy: Policy, seed: int, prompt: PromptStyle | None = None) -> Trajectory:
    """Reset with `seed`, run to the end, return the record; by default with the whole conversation as prompt.

    A `Fault` comes through as it is.
    """
    builder = TrajectoryBuilder(blank_record(policy, env_id=env_id_of(env), seed=seed))
    _run(env, policy, seed, builder, prompt or WholeConversation())
    return builder.finish()


def record_episode(
    env: gym.Env, policy: Policy, seed: int, *, id: str | None = None, group_id: str | None = None
) -> Trajectory:
    """`play_episode`, but a `Fault` ends the record instead of raising.

    What happened until then is kept, `fault` says what went wrong, and the reward is None. Without an `id` the
    trajectory gets one that follows from its content; a collector that runs one task several times names them itself.
    """
    builder = TrajectoryBuilder(blank_record(policy, env_id=env_id_of(env), seed=seed, group_id=group_id))
    try:
        _run(env, policy, seed, builder, WholeConversation())
    except Fault as fault:
        builder.fault(fault)
    return builder.finish(id)


def _run(env: gym.Env, policy: Policy, seed: int, builder: TrajectoryBuilder, prompt: PromptStyle) -> None:
    check_policy(policy, env, env.spec.id if env.spec else type(env.unwrapped).__name__)
    episode = LiveEpisode(env, prompt, builder)
    episode.begin(*env.reset(seed=seed))
    while not episode.over:
        (answer,) = policy.act([episode.conversation()], [env])
        episode.turn(answer, StepResult(*env.step(answer.action)))
