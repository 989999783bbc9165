"""Which policy loss an algorithm minimises, and what that is a mean over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from agentrl.trainers.losses import Aggregation, Loss, gspo_loss, ppo_loss, step_ppo_loss, unit_count

Mean = Literal["token", "sequence", "constant"]


@dataclass(frozen=True)
class Objective:
    """PPO's clipped loss with one ratio per token, step (StepPO) or sequence (GSPO).

    Token losses are averaged over tokens, over sequences (each the mean of its tokens), or added up and divided by a
    constant `length` for every sequence (Dr. GRPO). Others are averaged over what has a ratio. A sequence is a row: a
    whole conversation, or a step where prompts are rebuilt at each.
    """

    ratio: Aggregation = "token"
    mean: Mean = "token"
    length: int = 1

    def count(self, mask: Tensor, turn_ends: Tensor) -> int:
        """What the loss of a whole mini-batch is divided by."""
        if not bool(mask.any()):
            return 1
        if self.ratio == "step":
            return int(unit_count(mask, "step", within(turn_ends, mask)))
        if self.ratio == "sequence" or self.mean != "token":
            rows = int(unit_count(mask, "sequence"))
            return rows * self.length if self.ratio == "token" and self.mean == "constant" else rows
        return int(mask.sum())

    def loss(self, logprobs: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, ends: Tensor, **more: Any) -> Loss:
        """Of some rows of the mini-batch; `more` are clips, and `denominator`: what `count` said of the whole."""
        if self.ratio == "step":
            return step_ppo_loss(logprobs, old, advantages, mask, turn_ends=within(ends, mask), **more)
        if self.ratio == "sequence":
            return gspo_loss(logprobs, old, advantages, mask, **more)
        aggregation = "sequence" if self.mean == "sequence" else "token"
        return ppo_loss(logprobs, old, advantages, mask, aggregation=aggregation, **more)


def within(turn_ends: Tensor, mask: Tensor) -> Tensor:
    """Turn ends of the steps that take part; a step takes part with all of its tokens or with none."""
    return turn_ends & mask


TOKENS, STEPS, SEQUENCES = Objective(), Objective("step"), Objective("sequence")
