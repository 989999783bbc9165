"""Options of the trainers that learn off-policy from whole episodes and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments import RunArguments, fraction


@dataclass(kw_only=True)
class OffPolicyArguments(RunArguments):
    """What learning from an experience needs; phases and curricula add their own."""

    loss: Literal["webrl", "released", "kl_target", "reinforce", "awr", "bc"] = "webrl"
    """Of the actor: WebRL's regression (the paper's), the form of its published code, its KL target, REINFORCE with a
    baseline, advantage-weighted regression, or imitation."""
    beta: float = 0.3
    """Of webrl, kl_target and awr: a unit of advantage may change an action's log-probability by 1/beta. Small ones let
    the policy overfit the phase, from 1 on it hardly moves (the paper's finding, too, which gives no value)."""
    max_weight: float = 20.0
    """Of awr: the largest weight of an action."""
    advantage: Literal["webrl", "digirl"] = "webrl"
    """How an action's advantage follows from the outcome and the critic's values; loss=released has its own."""
    lam: float = 0.5
    """The share of the next step's value in an advantage; the rest comes from the outcome. With advantage=digirl: how
    fast the outcome loses weight with each action between."""
    gamma: float = 0.9
    """Discount of the outcome for each action that is still to come; digirl has none."""
    hard_filter: bool = False
    """Learn only from actions whose advantage is above min_advantage."""
    min_advantage: float = 0.0
    """Of hard_filter."""
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

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("batch_size", "actor_epochs", "critic_heads"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("critic_epochs", self.critic_epochs, at_least=0)
        for name in ("lam", "gamma"):
            fraction(name, getattr(self, name))
        for name in ("beta", "max_weight", "critic_lr"):
            if finite_number(name, value := getattr(self, name)) <= 0:
                raise ConfigError(f"{name} must be above 0; got {value!r}")
        if finite_number("critic_head_lr", self.critic_head_lr) < 0:
            raise ConfigError(f"critic_head_lr must not be negative; got {self.critic_head_lr!r}")
        finite_number("min_advantage", self.min_advantage)
        if self.schedule != "constant":
            raise ConfigError(
                f"schedule must be constant: how many steps a run takes depends on its episodes; got {self.schedule!r}"
            )

    @property
    def needs_critic(self) -> bool:
        """Does anything that is learned from read a value?"""
        return self.loss != "bc" or self.hard_filter
