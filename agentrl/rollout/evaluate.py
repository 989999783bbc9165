"""How good is a policy at a task? Many seeded episodes, summed up with honest intervals."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, Fault
from agentrl.core.policy import Policy
from agentrl.core.seeding import episode_seed
from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector, Timings
from agentrl.rollout.error_types import EpisodeFacts
from agentrl.rollout.prompts import prompting
from agentrl.rollout.starts import EnvSpec, Start
from agentrl.rollout.statistics import Interval, mean, mean_interval, share_interval
from agentrl.rollout.trajectory import Trajectory

SCHEMA = 1
BATCH = 64  # episodes side by side, for policies that answer in batches
EpisodeSeen = Callable[[Trajectory | Fault], Any]
Save = Callable[[Trajectory], Any]


class ProcessGroup(Protocol):
    """Processes that work on one thing together."""

    rank: int
    size: int

    def gather(self, value: Any) -> list[Any]:
        """What each of them gave, as JSON types."""
        ...


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `to_json()` is what `agentrl eval --json` prints.

    Rates are None where nothing was there to count. `success`, `reward_*`, `turns_mean` and `truncated_rate` are over
    the scored episodes (`metrics["scored"]` = episodes asked for less faults); `valid_rate`, `effective_rate` and
    `format_rate` are over their turns. `success_ci` is Wilson's 95 % interval, `reward_ci` Student's t; plays of one
    task are taken together in both.
    `reward_terms` are means per episode, so that they sum to `reward_mean` when nothing is pending. `metrics` also
    holds the means of what the environment reported in the last `info["metrics"]` of each episode, if it reports any;
    `response_tokens`, the mean over episodes, where a language model played; and for these and the turns a
    `..._margin`, half the width of Student's 95 % interval. `outcomes` has one character for each episode, in order: 1
    for success, 0 for none, - for a fault. Evaluations with the same split and seed play the same tasks, so that two
    policies can be compared task by task. `tasks` tells what these tasks are like and how each of them went, for
    analyses (`EpisodeFacts`; None in the place of a fault). The JSON is without these two. `perturb` is that argument
    of the environment, as text.
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
    outcomes: str = ""
    tasks: tuple[EpisodeFacts | None, ...] = ()
    perturb: str = ""

    @property
    def label(self) -> str:
        """The environment, and how it was changed."""
        return f"{self.id} {self.perturb}".strip()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, the schema number first."""
        left_out = ("outcomes", "tasks", *(() if self.perturb else ("perturb",)))
        figures = {name: value for name, value in asdict(self).items() if name not in left_out}
        return {"schema": SCHEMA, **json.loads(json.dumps(figures))}


def evaluate(
    env_id: str,
    policy: Policy | str,
    episodes: int = 100,
    seed: int = 0,
    split: str = "test",
    env_kwargs: Mapping[str, Any] | None = None,
    *,
    tasks: Sequence[str] | None = None,
    wrappers: Sequence[Mapping[str, Any]] | None = None,
    num_envs: int | None = None,
    prompt_style: str | None = None,
    history: int | None = None,
    timeout: float | None = None,
    hosts: int = 0,
    on_episode: EpisodeSeen | None = None,
    on_trajectory: Save | None = None,
    processes: ProcessGroup | None = None,
    tally: Timings | None = None,
) -> Evaluation:
    """Play `episodes` episodes of `split` and sum them up.

    An episode in which the machinery failed (a `Fault`) is counted in `faults` and left out of every other number:
    it says nothing about the policy. `tasks` are played in this order, one each episode, in place of those that the
    seed draws; they begin again when they are over. `wrappers` go around the environment, from the inside out, each as
    `{"wrapper": "Reasoning", ...arguments}`. `on_episode` sees each episode, or its fault, as it ends;
    `on_trajectory` gets the whole record of it, also of one that a fault cut short. `num_envs` episodes are played side
    by side: as many as 64 where the policy answers in batches or there are `hosts`, one at a time otherwise.
    `prompt_style`, `history`, `timeout` and `hosts` are those of `agentrl.rollout.collect.Collector`. A checkpoint is
    played as it was trained: prompt style, history, wrappers that shape prompts and the limits of its environment are
    its own unless given. `processes` share the episodes, all call this, and all get the figures of all episodes;
    `on_episode` and `on_trajectory` see those of this process. `tally` counts turns and seconds while episodes are
    played.
    """
    episodes = whole_number("episodes", episodes, at_least=1)
    seed = whole_number("seed", seed, at_least=0)
    name = policy if isinstance(policy, str) else getattr(policy, "name", type(policy).__name__)
    actor = load_policy(policy, seed=seed) if isinstance(policy, str) else policy
    side_by_side = (BATCH if hosts or getattr(actor, "batched", False) else 1) if num_envs is None else num_envs
    kwargs = checked_kwargs(env_kwargs)
    how = prompting(actor, env_id, prompt_style=prompt_style, history=history, wrappers=wrappers, env_kwargs=kwargs)
    spec = EnvSpec(env_id, how.env_kwargs, wrappers=how.wrappers)  # pyright: ignore[reportArgumentType]
    options = {"num_envs": side_by_side, "timeout": timeout, "hosts": hosts}
    options |= {"prompt_style": how.prompt_style, "history": how.history}
    collector = Collector([spec], actor, split=split, retries=0, **options)
    started, tour = time.perf_counter(), _Tour(on_episode, on_trajectory)
    try:
        named = list(tasks or [None])
        starts = [Start(episode_seed(seed, index), task=named[index % len(named)]) for index in range(episodes)]
        if processes is not None:
            starts = starts[processes.rank :: processes.size]
        tour.outcomes, tour.tasks = ["-"] * len(starts), [None] * len(starts)
        collector.play(starts, tour.finished, tally or Timings(), record_engine_faults=True)
    finally:
        collector.close()
    if processes is not None:
        tour = _pooled(tour, processes)
    return Evaluation(
        id=env_id,
        spec=tour.spec,
        policy=name,
        split=split,
        seed=seed,
        episodes=episodes,
        **summarise(tour.scores),
        faults=tour.faults,
        seconds=time.perf_counter() - started,
        outcomes="".join(tour.outcomes),
        tasks=tuple(tour.tasks),
        perturb=str(kwargs.get("perturb") or ""),
    )


def split_word(split: Any) -> str:
    """What to call the tasks of a split: "held-out" are those that no run trains on."""
    return {"dev": "held-out", "test": "held-out", "train": "training-split"}.get(str(split), "evaluation")


def checked_kwargs(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Arguments for the environment; the split has an argument of its own."""
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ConfigError(f"env_kwargs must be a mapping of argument names to values; got {type(kwargs).__name__}")
    if kwargs and "split" in kwargs:
        raise ConfigError("choose the split with split=..., not inside env_kwargs")
    return dict(kwargs or {})


@dataclass
class _Tour:
    """Keeps the score while episodes end."""

    seen: EpisodeSeen | None
    save: Save | None
    scores: list[EpisodeScore] = field(default_factory=list)
    faults: int = 0
    spec: dict[str, Any] | None = None
    outcomes: list[str] = field(default_factory=list)  # in the order of the starts
    tasks: list[EpisodeFacts | None] = field(default_factory=list)  # likewise

    def finished(self, index: int, trajectory: Trajectory, fault: Fault | None) -> None:
        """One more; only its figures are kept."""
        self.spec = trajectory.spec or self.spec
        if self.save is not None:
            self.save(trajectory)
        if fault is None:
            self.scores.append(EpisodeScore.of(trajectory))
            self.outcomes[index] = "1" if trajectory.success else "0"
            self.tasks[index] = EpisodeFacts.of(trajectory)
        else:
            self.faults += 1
        if self.seen is not None:
            self.seen(fault or trajectory)


def _pooled(tour: _Tour, processes: ProcessGroup) -> _Tour:
    """The scores of all processes."""
    own = {"faults": tour.faults, "spec": tour.spec, "outcomes": tour.outcomes}
    own["tasks"] = [facts and asdict(facts) for facts in tour.tasks]
    told = processes.gather({"scores": [asdict(score) for score in tour.scores], **own})
    outcomes = [""] * sum(len(one["outcomes"]) for one in told)
    tasks: list[EpisodeFacts | None] = [None] * len(outcomes)
    for rank, one in enumerate(told):
        outcomes[rank :: len(told)] = one["outcomes"]
        tasks[rank :: len(told)] = [facts and EpisodeFacts(**facts) for facts in one["tasks"]]
    return _Tour(
        None,
        None,
        scores=[EpisodeScore(**score) for one in told for score in one["scores"]],
        faults=sum(one["faults"] for one in told),
        spec=next((one["spec"] for one in told if one["spec"]), None),
        outcomes=outcomes,
        tasks=tasks,
    )


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
    metrics: dict[str, float] = field(default_factory=dict)  # what the environment itself measured at the end
    tokens: int | None = None  # of all replies; None where no language model wrote them
    task: str | None = None  # `Trajectory.task_key`

    @classmethod
    def of(cls, episode: Trajectory) -> EpisodeScore:
        """Count what happened in an episode."""
        steps, infos = episode.steps, [step.info for step in episode.steps]
        names = dict.fromkeys(name for step in steps for name in step.reward_terms)
        replies = [step.response_ids for step in steps if step.response_ids is not None]
        return cls(
            success=episode.success,
            reward=episode.reward,
            reward_terms={name: math.fsum(step.reward_terms.get(name, 0.0) for step in steps) for name in names},
            turns=len(infos),
            valid=sum(bool(info.get("valid", True)) for info in infos),
            effective=sum(bool(info.get("effective", True)) for info in infos),
            formatted=[bool(info["format"]) for info in infos if info.get("format") is not None],
            truncated=episode.truncated,
            metrics=dict(infos[-1].get("metrics") or {}) if infos else {},
            tokens=sum(map(len, replies)) if replies and len(replies) == len(steps) else None,
            task=episode.task_key,
        )


def summarise(scores: Sequence[EpisodeScore]) -> dict[str, Any]:
    """Every figure that follows from the episodes alone."""
    solved, turns = sum(score.success for score in scores), sum(score.turns for score in scores)
    judged = [score for score in scores if score.reward is not None]
    rewards = [score.reward for score in judged if score.reward is not None]
    names = sorted({name for score in judged for name in score.reward_terms})
    return {
        "success": solved / len(scores) if scores else None,
        "success_ci": share_interval([score.success for score in scores], [score.task for score in scores]),
        "reward_mean": mean(rewards),
        "reward_ci": mean_interval(rewards, tasks=[score.task for score in judged]),
        "reward_terms": {name: mean([score.reward_terms.get(name, 0.0) for score in judged]) for name in names},
        "valid_rate": sum(score.valid for score in scores) / turns if turns else None,
        "format_rate": mean([good for score in scores for good in score.formatted]),
        "effective_rate": sum(score.effective for score in scores) / turns if turns else None,
        "turns_mean": mean([score.turns for score in scores]),
        "truncated_rate": mean([score.truncated for score in scores]),
        "metrics": {**measured(scores), **effort(scores), "scored": len(scores), "pending": len(scores) - len(judged)},
    }


def effort(scores: Sequence[EpisodeScore]) -> dict[str, float]:
    """What episodes took in tokens, and how sure the means of tokens and turns are."""
    tokens = [float(score.tokens) for score in scores if score.tokens is not None]
    found = {
        "turns_margin": margin([float(score.turns) for score in scores]),
        "response_tokens": mean(tokens),
        "response_tokens_margin": margin(tokens),
    }
    return {name: value for name, value in found.items() if value is not None}


def margin(values: Sequence[float]) -> float | None:
    """Half the width of the interval of a mean."""
    interval = mean_interval(values)
    return None if interval is None else (interval[1] - interval[0]) / 2


def measured(scores: Sequence[EpisodeScore]) -> dict[str, float]:
    """The mean of each metric that environments reported at the end, over the episodes that reported it."""
    reported: dict[str, list[float]] = {}
    for score in scores:
        for name, value in score.metrics.items():
            reported.setdefault(name, []).append(float(value))
    return {name: math.fsum(reported[name]) / len(reported[name]) for name in sorted(reported)}
