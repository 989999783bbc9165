"""How good is a policy at a task? Many seeded episodes, summed up with honest intervals."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, Fault
from agentrl.core.policy import Policy
from agentrl.policies import load_policy
from agentrl.rollout.episode import EpisodeRecord, make, play_episode, spec_json
from agentrl.rollout.record import record
from agentrl.rollout.statistics import Interval, mean, mean_interval, wilson_interval
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.build import wrap

SCHEMA = 1
EpisodeSeen = Callable[[EpisodeRecord | Fault], Any]
Save = Callable[[Trajectory], Any]


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `to_json()` is what `agentrl eval --json` prints.

    Rates are None where nothing was there to count. `success`, `reward_*`, `turns_mean` and `truncated_rate` are over
    the scored episodes (`metrics["scored"]` = episodes asked for less faults); `valid_rate`, `effective_rate` and
    `format_rate` are over their turns. `success_ci` is Wilson's 95 % interval, `reward_ci` Student's t.
    `reward_terms` are means per episode, so that they sum to `reward_mean` when nothing is pending.
    """

    id: str
    spec: dict[str, Any] | None  # None where the arguments are live objects that no JSON can hold
    policy: str
    split: str
    seed: int
    episodes: int
    success: float | None
    success_ci: Interval | None
    reward_mean: float | None
    reward_ci: Interval | None
    reward_terms: dict[str, float]
    valid_rate: float | None
    format_rate: float | None
    effective_rate: float | None
    turns_mean: float | None
    truncated_rate: float | None
    faults: int
    seconds: float
    metrics: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, the schema number first."""
        return {"schema": SCHEMA, **json.loads(json.dumps(asdict(self)))}


def evaluate(
    env_id: str,
    policy: Policy | str,
    episodes: int = 100,
    seed: int = 0,
    split: str = "test",
    env_kwargs: Mapping[str, Any] | None = None,
    *,
    wrappers: Sequence[Mapping[str, Any]] = (),
    on_episode: EpisodeSeen | None = None,
    on_trajectory: Save | None = None,
    policy_kwargs: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Play `episodes` episodes of `split` and sum them up.

    An episode in which the machinery failed (a `Fault`) is counted in `faults` and left out of every other number:
    it says nothing about the policy. `wrappers` go around the environment, from the inside out, each as
    `{"wrapper": "Reasoning", ...arguments}`. `on_episode` sees each episode, or its fault, as it ends;
    `on_trajectory` gets the whole record of it, also of one that a fault cut short. `policy_kwargs` are arguments of a
    policy that is given by name.
    """
    episodes = whole_number("episodes", episodes, at_least=1)
    seed = whole_number("seed", seed, at_least=0)
    name = policy if isinstance(policy, str) else getattr(policy, "name", type(policy).__name__)
    player = named_policy(policy, seed, policy_kwargs) if isinstance(policy, str) else policy
    arguments = {"split": split, **checked_kwargs(env_kwargs)}
    started = time.perf_counter()
    tour = _Tour(lambda: wrap(make(env_id, **arguments), wrappers), player, on_episode, on_trajectory)
    scores, faults, spec = tour.play(episode_seed(seed, index) for index in range(episodes))
    return Evaluation(
        id=env_id,
        spec=spec,
        policy=name,
        split=split,
        seed=seed,
        episodes=episodes,
        **summarise(scores),
        faults=faults,
        seconds=time.perf_counter() - started,
    )


def named_policy(name: str, seed: int, kwargs: Mapping[str, Any] | None) -> Policy:
    """The policy called so; the evaluation's seed is also the policy's unless it has one of its own."""
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ConfigError(f"policy_kwargs is a mapping of argument names to values, not {type(kwargs).__name__}")
    return load_policy(name, **{"seed": seed, **(kwargs or {})})


def checked_kwargs(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Arguments for the environment; the split has an argument of its own."""
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ConfigError(f"env_kwargs is a mapping of argument names to values, not {type(kwargs).__name__}")
    if kwargs and "split" in kwargs:
        raise ConfigError("choose the split with split=..., not inside env_kwargs")
    return dict(kwargs or {})


def episode_seed(seed: int, index: int) -> int:
    """The seed for `env.reset` in episode `index` of an evaluation; neighbouring evaluations share none."""
    high, low = np.random.SeedSequence([seed, index]).generate_state(2)
    return (int(high) << 32 | int(low)) >> 11  # 53 bits: any JSON reader keeps it exact


@dataclass
class _Tour:
    """Plays one episode after the other, in one environment as long as that works."""

    make: Callable[[], gym.Env]
    policy: Policy
    seen: EpisodeSeen | None
    save: Save | None
    env: gym.Env | None = None
    spec: dict[str, Any] | None = None

    def play(self, seeds: Iterable[int]) -> tuple[list[EpisodeScore], int, dict[str, Any] | None]:
        """The scored episodes, the number of faults, and the spec of the environment."""
        scores: list[EpisodeScore] = []
        faults = 0
        try:
            for seed in seeds:
                episode: EpisodeRecord | Fault
                try:
                    episode = self._episode(seed)
                    scores.append(EpisodeScore.of(episode))
                except Fault as fault:
                    episode, faults = fault, faults + 1
                    _discard(self.env)
                    self.env = None  # it may be broken: the next episode gets a fresh one
                if self.seen is not None:
                    self.seen(episode)
        finally:
            _discard(self.env)
        return scores, faults, self.spec

    def _episode(self, seed: int) -> EpisodeRecord:
        if self.env is None:
            self.env = self.make()
            self.spec = spec_json(self.env)
        if self.save is None:
            return play_episode(self.env, self.policy, seed)
        trajectory, outcome = record(self.env, self.policy, seed)
        self.save(trajectory)
        if isinstance(outcome, Fault):
            raise outcome
        return outcome


def _discard(env: gym.Env | None) -> None:
    """Close an environment that may be broken: what it says while closing changes nothing any more."""
    if env is not None:
        with contextlib.suppress(Fault):
            env.close()


@dataclass(frozen=True)
class EpisodeScore:
    """The few figures of an episode that an evaluation keeps: states of a web site would fill the memory."""

    success: bool
    reward: float | None
    reward_terms: dict[str, float]
    turns: int
    valid: int  # turns that were
    effective: int
    formatted: list[bool]  # one for each turn that was asked for a format
    truncated: bool

    @classmethod
    def of(cls, episode: EpisodeRecord) -> EpisodeScore:
        """Count what happened in an episode."""
        infos = [turn.info for turn in episode.turns]
        return cls(
            success=episode.success,
            reward=episode.reward,
            reward_terms=episode.reward_terms,
            turns=len(infos),
            valid=sum(bool(info.get("valid", True)) for info in infos),
            effective=sum(bool(info.get("effective", True)) for info in infos),
            formatted=[bool(info["format"]) for info in infos if info.get("format") is not None],
            truncated=episode.truncated,
        )


def summarise(scores: Sequence[EpisodeScore]) -> dict[str, Any]:
    """Every figure that follows from the episodes alone."""
    solved, turns = sum(score.success for score in scores), sum(score.turns for score in scores)
    judged = [score for score in scores if score.reward is not None]
    rewards = [score.reward for score in judged if score.reward is not None]
    names = sorted({name for score in judged for name in score.reward_terms})
    return {
        "success": solved / len(scores) if scores else None,
        "success_ci": wilson_interval(solved, len(scores)),
        "reward_mean": mean(rewards),
        "reward_ci": mean_interval(rewards),
        "reward_terms": {name: mean([score.reward_terms.get(name, 0.0) for score in judged]) for name in names},
        "valid_rate": sum(score.valid for score in scores) / turns if turns else None,
        "format_rate": mean([good for score in scores for good in score.formatted]),
        "effective_rate": sum(score.effective for score in scores) / turns if turns else None,
        "turns_mean": mean([score.turns for score in scores]),
        "truncated_rate": mean([score.truncated for score in scores]),
        "metrics": {"scored": len(scores), "pending": len(scores) - len(judged)},
    }
