"""Options of the algorithms that learn off-policy from how whole episodes end, in phases or once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments.checks import fraction, not_negative, positive
from agentrl.trainers.arguments.run import RunArguments

ActorLoss = Literal["webrl", "released", "good_actions", "kl_target", "reinforce", "awr", "bc"]


@dataclass(kw_only=True)
class OffPolicyArguments(RunArguments):
    """What learning from an experience needs; phases and curricula add their own."""

    loss: ActorLoss = "webrl"
    """Of the actor: WebRL's regression (the paper's), the form of its published code, imitation of actions with a good
    advantage, WebRL's KL target, REINFORCE with a baseline, advantage-weighted regression, or imitation of all."""
    beta: float = 0.3
    """Of webrl, kl_target and awr: a unit of advantage may change an action's log-probability by 1/beta. Small ones let
    the policy overfit the phase, with large ones it hardly moves."""
    max_weight: float = 20.0
    """Of awr: the largest weight of an action."""
    advantage: Literal["webrl", "digirl"] = "webrl"
    """How an action's advantage follows from the outcome and the critic's values; loss=released and good_actions have
    their own."""
    lam: float = 0.5
    """The share of the next step's value in an advantage; the rest comes from the outcome. With advantage=digirl: how
    fast the outcome loses weight with each action between."""
    gamma: float = 0.9
    """Discount of the outcome for each action that is still to come; digirl has none. The critic predicts outcomes
    without a discount, so that below 1 even the first actions of a certain success have a negative advantage."""
    negative_weight: float = 1.0
    """Of webrl: weight of actions with a negative advantage, which the regression pushes down."""
    per_token: bool = False
    """Of webrl: the log-ratio of an action is the mean over its tokens in place of the sum, so that the regression asks
    no more of long actions than of short ones."""
    hard_filter: bool = False
    """Learn only from actions whose advantage is above min_advantage."""
    min_advantage: float = 0.0
    """With hard_filter: the threshold."""
    batch_size: int = 128
    """Actions of an optimiser step."""
    actor_epochs: int = 1
    """Passes of the actor over the experience of an iteration."""
    critic_epochs: int = 1
    """Passes of the critic, which learns first."""
    critic_heads: int = 1
    """Output layers of the critic; of several the lowest value counts (WebRL's published code has two)."""
    critic_lr: float = 1e-6
    """Learning rate of the critic."""
    critic_head_lr: float = 0.0
    """Learning rate of the critic's output layer, which begins at random; 0: as the rest of it."""
    fresh_optimiser: bool = False
    """Every phase begins with a new optimiser, as WebRL's published code does; off: its averages stay."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("batch_size", "actor_epochs", "critic_heads"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("critic_epochs", self.critic_epochs, at_least=0)
        for name in ("lam", "gamma"):
            fraction(name, getattr(self, name))
        positive(self, "beta max_weight critic_lr")
        not_negative(self, "critic_head_lr negative_weight")
        finite_number("min_advantage", self.min_advantage)
        if self.schedule != "constant":
            raise ConfigError(
                f"schedule must be constant: how many steps a run takes depends on its episodes; got {self.schedule!r}"
            )

    @property
    def needs_critic(self) -> bool:
        """Does anything that is learned from read a value?"""
        return self.loss != "bc" or self.hard_filter


@dataclass(kw_only=True)
class PhaseArguments(OffPolicyArguments):
    """What a phase plays, who says how it ended, and what is replayed."""

    iterations: int = 8
    """Number of phases: play, label, learn."""
    save_every: int = 1
    """Write a checkpoint every N phases (and at the end)."""
    tasks_per_phase: int = 500
    """Tasks of a phase."""
    attempts: int = 1
    """Episodes of each task."""
    start_tasks: int = 0
    """Training tasks that the first policy plays before anything is learned: their successes fill the replay buffer,
    and their failures are the seeds of the first new tasks. 0: as many as tasks_per_phase."""
    curriculum: bool = True
    """New tasks in every phase, made from those that failed so far; off: all phases play the tasks of the first."""
    first_tasks: Literal["generated", "training"] = "generated"
    """What the first phase plays: new tasks, or tasks of the training split."""
    value_low: float = 0.05
    """New tasks whose first state the critic values less are too hard ..."""
    value_high: float = 0.75
    """... and those that it values more are too easy."""
    window_heads: Literal["lowest", "any"] = "lowest"
    """With several critic_heads: a new task passes if the lowest value lies in this window, or if any does (WebRL's
    published rule)."""
    repeat_tasks: bool = True
    """A task that was played and solved may be proposed again as a new one; off: no task that was played may. Tasks
    that failed never are in either case; only where new ones are too few, they are played again."""
    critic_on_all: bool = False
    """The critic learns from all labelled episodes of all phases, failures too, and before the first phase chooses its
    tasks from those of the start tasks; off: from what the actor learns from."""
    generator: str | dict[str, Any] = "own"
    """Who makes new tasks: "own" (the environment), or a language model, an object such as {"kind": "llm",
    "model": ..., "base_url": ..., "prompt": 1}. Its tasks have no evaluator, so they need orm."""
    proposal_rounds: int = 5
    """How often the generator is asked before a phase makes do with fewer new tasks."""
    orm: str | dict[str, Any] = ""
    """The judge that labels the episodes of all phases (an outcome reward model): a kind or an object. Without one
    the environment's own evaluator does, as it does before the first phase in any case."""
    replay_limit: float = 2.0
    """Replayed actions, at most: this many for each action of the phase."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tasks_per_phase", "attempts", "proposal_rounds"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("start_tasks", self.start_tasks, at_least=0)
        if not fraction("value_low", self.value_low) <= fraction("value_high", self.value_high):
            raise ConfigError(f"value_low must not exceed value_high; got {self.value_low!r} and {self.value_high!r}")
        not_negative(self, "replay_limit")
        if isinstance(self.generator, dict) and not self.orm:
            raise ConfigError("generator: tasks of a language model have no evaluator; give orm, a judge of outcomes")


@dataclass(kw_only=True)
class OfflineArguments(PhaseArguments):
    """Options of the trainers that play once, or never, and then learn."""

    iterations: int = 1
    """Number of iterations: each goes over all the data."""
    data: str = ""
    """Learn from this trajectory file (JSON lines or parquet, with token ids of the same tokenizer), for example
    RUN/replay/phase_000001.jsonl of a WebRL run, which holds what its first phase played. Without one, the run plays
    the training tasks and a first phase itself, as WebRL does."""


@dataclass(kw_only=True)
class WebRL(PhaseArguments):
    """Train by WebRL, or one of its ablations."""

    replay: bool = True
    """Learn from past successes, too."""
    replay_failures: bool = False
    """Keep failures in the replay buffer as well."""
    replay_demonstrations: bool = False
    """The successful demonstrations that the policy has imitated are in the replay buffer, too, as in WebRL's published
    code: model must be a checkpoint of `agentrl train sft --save-demonstrations`."""
    one_success_per_task: bool = False
    """Of the successes at one task the buffer keeps the newest alone, as in WebRL's published code."""
    replay_window: Literal["perplexity", "quantiles"] = "perplexity"
    """Which actions of the buffer are replayed: those between two perplexities, or between two quantiles of the
    buffer's perplexities, which always leaves some."""
    perplexity_low: float = 1 / 0.95
    """Actions that the policy finds less surprising are not replayed: it knows them already."""
    perplexity_high: float = 1 / 0.5
    """Nor are those that surprise it more."""
    quantile_low: float = 0.25
    """With replay_window=quantiles: the share of actions, the least surprising ones, that is not replayed ..."""
    quantile_high: float = 0.75
    """... and the share from which on they are too surprising."""
    critic_on_replay: bool = True
    """The critic learns from what is replayed, too (the paper's way). The buffer holds successes only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = (finite_number(name, getattr(self, name)) for name in ("perplexity_low", "perplexity_high"))
        if not low <= high:
            raise ConfigError(f"perplexity_low must not exceed perplexity_high; got {low!r} and {high!r}")
        if not fraction("quantile_low", self.quantile_low) <= fraction("quantile_high", self.quantile_high):
            raise ConfigError(
                f"quantile_low must not exceed quantile_high; got {self.quantile_low!r} and {self.quantile_high!r}"
            )
        if self.loss in ("awr", "bc"):
            raise ConfigError(f"loss={self.loss} is an algorithm of its own: agentrl train awr, or filtered_bc")


@dataclass(kw_only=True)
class DigiRL(PhaseArguments):
    """Train by DigiRL."""

    curriculum: bool = False
    """New tasks in every round, made from those that failed so far; off: all rounds play the tasks of the first."""
    loss: ActorLoss = "bc"
    """Imitation of what passes the filters, or awr for weights by the advantage instead of a threshold."""
    advantage: Literal["webrl", "digirl"] = "digirl"
    """How an action's advantage follows from the outcome and the critic's values."""
    hard_filter: bool = True
    """Learn only from actions whose advantage is above min_advantage."""
    min_advantage: float = 0.05
    """With hard_filter: the threshold."""
    instruction_share: float = 0.5
    """Trajectories that pass the first filter, at most: this share of all."""
    buffer_size: int = 100_000
    """Actions that the buffer holds; the oldest trajectories leave first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("buffer_size", self.buffer_size, at_least=1)
        fraction("instruction_share", self.instruction_share)


@dataclass(kw_only=True)
class AWR(OfflineArguments):
    """Imitate actions by their advantage."""

    loss: ActorLoss = "awr"
    """Advantage-weighted regression: no other works here."""
    beta: float = 0.1
    """An action that did better by this is imitated e times as much. At 1 all weights are nearly the same, which is
    imitation of everything."""
    lam: float = 0.0
    """The share of the next step's value in an advantage; 0: the discounted outcome less the value, as in the paper."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss != "awr":
            raise ConfigError(f"loss must be awr; got {self.loss!r}")


@dataclass(kw_only=True)
class FilteredBC(OfflineArguments):
    """Imitate the best episodes."""

    loss: ActorLoss = "bc"
    """Imitation: no other works here."""
    percentile: float = 70.0
    """Of the scores: trajectories below are left out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss != "bc":
            raise ConfigError(f"loss must be bc; got {self.loss!r}")
        if not 0 <= finite_number("percentile", self.percentile) <= 100:
            raise ConfigError(f"percentile must lie between 0 and 100; got {self.percentile!r}")
