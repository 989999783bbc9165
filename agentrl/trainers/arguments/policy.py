"""Options of the algorithms that improve a policy by its own episodes: with a critic, and by comparison in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments.asynchronous import AsyncArguments
from agentrl.trainers.arguments.checks import check_group_size, fraction, not_negative, positive, whole


@dataclass(kw_only=True)
class PolicyArguments(AsyncArguments):
    """Options of everything that improves a policy by its own episodes."""

    episodes: int = 128
    """Episodes of an iteration."""
    group_size: int = 1
    """Play every task N times within an iteration."""
    epochs: int = 1
    """Passes over the data of an iteration."""
    clip_low: float = 0.2
    """How far a probability ratio may fall below 1."""
    clip_high: float = 0.2
    """How far it may rise above 1."""
    dual_clip: float = 0.0
    """Cap of the loss where an advantage is negative (3 is usual); 0: none."""
    kl_coef: float = 0.001
    """Weight of the KL divergence from the first policy; 0: no reference model."""
    kl_in: Literal["reward", "loss"] = "reward"
    """Subtract the KL from the rewards, or add it to the loss."""
    kl_estimator: Literal["k1", "k2", "k3"] = "k1"
    """Estimator of the KL (Schulman's names); in the loss choose k2 or k3."""
    entropy_coef: float = 0.0
    """Weight of an entropy bonus."""
    reward_scale: float = 1.0
    """Rewards are multiplied by this before anything is computed from them."""
    old_logprobs: Literal["auto", "behaviour", "recomputed"] = "auto"
    """The ratio's denominator: as recorded during the rollout, or recomputed by the trainer. auto: recomputed in
    bfloat16 and with vLLM, where the two differ."""
    correction: Literal["auto", "none", "decoupled", "truncated"] = "auto"
    """For data of older policies, and for generation that differs from training (auto: truncated in bfloat16 and with
    vLLM, decoupled in asynchronous runs with a max_staleness above 0, else none): clip around the policy at the
    beginning of the update and weigh tokens by how much likelier they are under it than when they were sampled; above
    max_weight they are dropped, or weighed by that."""
    max_weight: float = 2.0
    """The largest importance weight of the correction."""
    credit: Literal["chunk", "action"] = "chunk"
    """Of a VLA policy: what counts as a turn, a chunk with the sum of its rewards, or each of its actions."""
    picture_memory: float = 4.0
    """Of a VLA policy: GiB that the pictures of an iteration may take; more are refused before anything is played."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, 1, "episodes group_size epochs")
        positive(self, "reward_scale max_weight picture_memory")
        not_negative(self, "kl_coef entropy_coef clip_low clip_high dual_clip")
        if 0 < self.dual_clip <= 1:
            raise ConfigError(f"dual_clip must be above 1, or 0 for none; got {self.dual_clip!r}")
        if self.episodes % self.group_size:
            raise ConfigError(f"episodes ({self.episodes}) must be a multiple of group_size ({self.group_size})")


@dataclass(kw_only=True)
class CriticArguments(PolicyArguments):
    """Options that PPO and StepPO share."""

    critic: Literal["own", "shared", "head"] = "own"
    """A critic with a body of its own, a head on the policy's body that trains it too, or a head that only reads it."""
    critic_lr: float = 1e-5
    """Learning rate of the critic."""
    critic_head_lr: float = 0.0
    """Learning rate of the critic's output layer; 0: as the rest of it."""
    critic_init: Literal["mean", "zero"] = "mean"
    """The critic's first values: the mean return of the first batch, or 0."""
    critic_coef: float = 1.0
    """Weight of the critic's loss."""
    critic_clip: float = 0.0
    """How far values may move in one update; 0: no limit."""
    critic_warmup: int = 0
    """Iterations in which only the critic learns."""
    critic_epochs: int = 0
    """Further passes over the data of an iteration in which only the critic learns."""
    critic_truth: bool = False
    """Tell the critic, and not the policy, what right play would do: how far it is to the goal, how much time is left,
    and how likely the policy is to reply rightly. For environments with an oracle."""
    mc_rollout_every: int = 0
    """Measure every N iterations (and in the last), by Monte Carlo rollouts from visited states, the explained variance
    that the best possible critic would have; 0: never."""
    mc_rollout_states: int = 64
    """Visited states from which they start."""
    mc_rollouts_per_state: int = 8
    """Rollouts from each state."""
    bootstrap_truncated: bool = False
    """Also bootstrap after limits that are part of the task."""
    whiten_advantages: bool = True
    """Advantages with mean 0 and deviation 1 over the batch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, 0, "critic_warmup critic_epochs mc_rollout_every")
        whole(self, 2, "mc_rollout_states mc_rollouts_per_state")
        positive(self, "critic_lr")
        not_negative(self, "critic_coef critic_clip critic_head_lr")


@dataclass(kw_only=True)
class GroupArguments(PolicyArguments):
    """Options of the algorithms that compare the trajectories of a group."""

    group_size: int = 8
    """Play every task N times within an iteration."""
    kl_in: Literal["reward", "loss"] = "loss"
    """Subtract the KL from the rewards, or add it to the loss."""
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    """Estimator of the KL (Schulman's names)."""
    dynamic_sampling_rounds: int = 0
    """Dynamic sampling (DAPO): groups of zero variance teach nothing; replace them by groups of other tasks, in at most
    N further rounds of an iteration. 0: keep them."""
    zero_variance_by: Literal["outcome", "reward"] = "outcome"
    """Zero variance have groups with one outcome (all succeed, all fail; or where the task is graded, equal grades), or
    groups of equal reward, in which a price per move or a reward for form may make the difference."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, 0, "dynamic_sampling_rounds")
        check_group_size(self.group_size)


@dataclass(kw_only=True)
class PPO(CriticArguments):
    """Train by PPO with a critic."""

    variant: Literal["masked", "vanilla", "turn", "bilevel"] = "masked"
    """Advantages by GAE over the policy's own tokens (masked), over all tokens (vanilla), over turns (turn), or over
    turns and then the tokens of each (bilevel)."""
    form: Literal["paper", "released"] = "paper"
    """Of turn and bilevel: as in the paper, or in its code. The released turn form reads the value before the turn's
    last token, when the critic knows the action already."""
    reward_at: Literal["end", "turn"] = "end"
    """Of masked and vanilla: the whole reward on the last token (the paper), or each turn's on the turn's last."""
    gamma: float = 1.0
    """Discount between tokens."""
    lam: float = 1.0
    """GAE's lambda between tokens."""
    turn_gamma: float = 0.95
    """Discount between turns."""
    turn_lam: float = 1.0
    """GAE's lambda between turns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gamma", "lam", "turn_gamma", "turn_lam"):
            fraction(name, getattr(self, name))
        if self.mc_rollout_every and (self.variant, self.form) == ("turn", "released"):
            raise ConfigError(
                "mc_rollout_every needs values that are read before a turn; form=released reads them at its end"
            )


@dataclass(kw_only=True)
class StepPO(CriticArguments):
    """Train by StepPO."""

    prompt_style: Literal["conversation", "step", "webrl"] = "step"
    """Prompts hold the current observation and recent actions, or the whole dialogue."""
    kl_in: Literal["reward", "loss"] = "loss"
    """Subtract the KL from the rewards, or add it to the loss (the paper)."""
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    """Estimator of the KL (Schulman's names)."""
    gamma: float = 0.99
    """Discount between steps (between tokens without step_gae)."""
    lam: float = 1.0
    """GAE's lambda, likewise."""
    step_gae: bool = True
    """Credit per step; False: per token."""
    step_ratio: bool = True
    """One ratio per step, the geometric mean of its tokens' ratios; False: one per token."""
    clip_low: float = 0.0
    """How far a ratio may fall below 1; 0: 0.03 for that of a step, a mean that moves little, and 0.2 for a token's."""
    clip_high: float = 0.0
    """How far it may rise above 1; 0: 0.04 for that of a step, and 0.2 for a token's."""

    def __post_init__(self) -> None:
        low, high = (0.03, 0.04) if self.step_ratio else (0.2, 0.2)
        self.clip_low, self.clip_high = self.clip_low or low, self.clip_high or high
        super().__post_init__()
        fraction("gamma", self.gamma)
        fraction("lam", self.lam)


@dataclass(kw_only=True)
class GRPO(GroupArguments):
    """Train by GRPO, Dr. GRPO or DAPO."""

    baseline: Literal["grpo", "dr_grpo"] = "grpo"
    """Divide advantages by the deviation of the group, or not."""
    loss_mean: Literal["token", "sequence", "constant"] = "token"
    """Every token counts the same; every sequence does; or tokens are added up and divided by loss_length for each
    sequence. A divergence in the loss is averaged in the same way. A sequence is a whole conversation, or a step with
    prompt_style=step."""
    loss_length: int = 0
    """With loss_mean=constant: what sums of tokens are divided by; 0: max_new_tokens."""
    overlong: Literal["keep", "filter", "punish"] = "keep"
    """Trajectories with a reply that was cut at max_new_tokens: keep them, do not learn from them, or punish them."""
    overlong_buffer: int = 0
    """With overlong=punish: the punishment grows over the last N tokens before the limit; 0: at once."""
    overlong_penalty: float = 1.0
    """With overlong=punish: the whole punishment of a reply, in the environment's units of reward."""
    drop_zero_variance: bool = False
    """Leave groups of zero variance out of the update also where no others take their place."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("loss_length", self.loss_length, at_least=0)
        whole_number("overlong_buffer", self.overlong_buffer, at_least=0)
        if self.overlong_buffer > self.max_new_tokens:
            raise ConfigError(f"overlong_buffer ({self.overlong_buffer}) must not exceed max_new_tokens")
        if finite_number("overlong_penalty", self.overlong_penalty) < 0:
            raise ConfigError(f"overlong_penalty must not be negative; got {self.overlong_penalty!r}")


@dataclass(kw_only=True)
class RLOO(GroupArguments):
    """Train by RLOO."""

    kl_in: Literal["reward", "loss"] = "reward"
    """Subtract the KL from the rewards, or add it to the loss."""
    kl_estimator: Literal["k1", "k2", "k3"] = "k1"
    """Estimator of the KL (Schulman's names); in the loss choose k2 or k3."""


@dataclass(kw_only=True)
class ReinforcePP(PolicyArguments):
    """Train by REINFORCE++."""

    baseline: bool = False
    """Compare with the mean of the group; needs a group_size of at least 2."""
    reward_at: Literal["turn", "end"] = "turn"
    """Without baseline: each turn's reward on its last token, or the whole on the trajectory's last token."""
    gamma: float = 1.0
    """Without baseline: discount between tokens."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction("gamma", self.gamma)
        if self.baseline:
            check_group_size(self.group_size)


@dataclass(kw_only=True)
class GSPO(GroupArguments):
    """Train by GSPO."""

    clip_low: float = 0.03
    """How far a sequence's ratio may fall below 1; 3e-4 in the paper, for long replies."""
    clip_high: float = 0.04
    """How far it may rise above 1; 4e-4 in the paper."""


@dataclass(kw_only=True)
class GiGPO(GroupArguments):
    """Train by GiGPO."""

    prompt_style: Literal["conversation", "step", "webrl"] = "step"
    """Prompts hold the current observation and recent actions, or the whole dialogue."""
    gamma: float = 0.95
    """Discount between steps."""
    step_weight: float = 1.0
    """Weight of the comparison of steps; 0: trajectories alone are compared."""
    normalise: Literal["mean", "mean_std"] = "mean_std"
    """Compare with the mean, or with the mean and divided by the deviation. Where every move costs a little, try mean:
    at a place from which every episode fails, costs are all that differs, and the deviation makes them as large as
    success elsewhere."""
    invalid_penalty: float = 0.1
    """What a step costs itself, and no step before it, when its action could not be run; in units of reward."""
    anchors: Literal["state", "observation"] = "state"
    """Which steps are compared: those that began in the same state (`info["anchor"]`), or saw exactly the same, turn
    numbers and feedback included. Environments that tell no state are compared by what they showed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction("gamma", self.gamma)
        for name in ("step_weight", "invalid_penalty"):
            if finite_number(name, getattr(self, name)) < 0:
                raise ConfigError(f"{name} must not be negative; got {getattr(self, name)!r}")
