"""The trainers' policy losses on plain tensors: each is called as the trainer calls it, for a whole mini-batch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from agentrl.trainers.algorithms import grpo, gspo, ppo, steppo
from agentrl.trainers.update.batch import token_weights
from agentrl.trainers.update.losses import Loss
from agentrl.trainers.update.policy import Part


def ppo_loss(logprobs: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, **clip: Any) -> Loss:
    """PPO's: a ratio per token, the mean over tokens."""
    return ppo.policy_loss(ppo.PPO(**clip), logprobs, part(old, advantages, mask, token_weights("token", mask, mask)))


def grpo_loss(logprobs: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, **options: Any) -> Loss:
    """GRPO's: a ratio per token, the mean by `loss_mean`."""
    args = grpo.GRPO(**options)
    return grpo.policy_loss(args, logprobs, part(old, advantages, mask, grpo.loss_weights(args, mask, mask)))


def step_loss(
    logprobs: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, turn_ends: Tensor | None = None, **clip: Any
) -> Loss:
    """StepPO's: a ratio per step, the mean over steps; without `turn_ends` a row is a step."""
    ends = torch.zeros_like(mask) if turn_ends is None else turn_ends
    given = part(old, advantages, mask, token_weights("step", mask, ends), ends)
    return steppo.policy_loss(steppo.StepPO(**clip), logprobs, given)


def gspo_loss(logprobs: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, **clip: Any) -> Loss:
    """GSPO's: a ratio per row, the mean over rows."""
    given = part(old, advantages, mask, token_weights("sequence", mask, mask))
    return gspo.policy_loss(gspo.GSPO(**clip), logprobs, given)


def part(
    old: Tensor, advantages: Tensor, mask: Tensor, weights: Tensor, turn_ends: Tensor | None = None, **more: Tensor
) -> Part:
    """What a policy loss reads of a mini-batch; the rest is zero."""
    zero = torch.zeros_like(old)
    ends = torch.zeros_like(mask) if turn_ends is None else turn_ends
    return Part(old, zero, advantages, zero, zero, mask, zero, ends, mask, mask, weights)._replace(**more)
