"""Does vLLM compute with the weights it was given? Its log-probabilities beside the trainer's, before and after.

Both compute in the trainer's type. In bfloat16 two correct programs differ: by how much depends on the model, and on
one whose weights were changed at random so far that nothing of it is left, by nats. So the change is made small: of a
size, in shares of each weight's own spread, that moves log-probabilities by about one nat, which is found by trying.
What is left of a difference afterwards is judged by the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from agentrl.models.loading import LoadedModel
from agentrl.policies.hf import HFPolicy
from agentrl.policies.vllm import VLLMPolicy
from benchmarks.train import distances, openings

WAY: dict[str, Any] = {"temperature": 0.7, "top_p": 0.9}
MOVED = (0.5, 2.0)  # nats by which all changes together move log-probabilities on average
FIRST_SIZE, TRIES, STRIDE = 0.05, 12, 4.0  # of a change: the first tried, how many, and how far apart at most
WORSE = 2.0  # times the difference before an update
ROUNDING = 1e-4  # nats: differences below are rounding, whatever they were before


@dataclass(frozen=True)
class Difference:
    """Of recorded log-probabilities from the trainer's for the same tokens, in nats."""

    mean: float
    largest: float


def difference(ours: LoadedModel, policy: HFPolicy | VLLMPolicy, rows: int) -> Difference:
    """Of the policy's answers to the openings of so many episodes."""
    apart = distances(HFPolicy(ours, **WAY), policy.act(openings(rows)))
    return Difference(float(apart.mean()), float(apart.max()))


def moved_by(ours: LoadedModel, said: list[Any]) -> float:
    """How far the trainer's log-probabilities are, on average, from those that were recorded."""
    return float(distances(HFPolicy(ours, **WAY), said).mean())


def agrees(after: Difference, before: Difference) -> bool:
    """Is the difference what it was, as far as that can be said of another model?"""
    return after.mean <= max(WORSE * before.mean, ROUNDING)


def perturb(model: torch.nn.Module, size: float, seed: int) -> None:
    """Add noise to every weight: `size` times the root mean square of its tensor."""
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            rng = torch.Generator(parameter.device).manual_seed(seed * 100_003 + number)
            noise = torch.randn(parameter.shape, generator=rng, device=parameter.device)
            parameter.add_((size * parameter.float().square().mean().sqrt() * noise).to(parameter.dtype))


def size_of_changes(ours: LoadedModel, said: list[Any], count: int) -> float:
    """The size at which `perturb` with the seeds below `count`, one after the other, moves answers by about a nat.

    The weights are afterwards what they were.
    """
    kept = [parameter.detach().clone() for parameter in ours.model.parameters()]
    size, tried = FIRST_SIZE, []
    for _ in range(TRIES):
        for seed in range(count):
            perturb(ours.model, size, seed)
        tried.append((size, moved := moved_by(ours, said)))
        with torch.no_grad():
            for parameter, old in zip(ours.model.parameters(), kept, strict=True):
                parameter.copy_(old)
        if MOVED[0] <= moved <= MOVED[1]:
            return size
        size *= min(max((1.0 / max(moved, 1e-6)) ** 0.7, 1 / STRIDE), STRIDE)
    raise RuntimeError(f"no size of a change moves log-probabilities by {MOVED[0]:g} to {MOVED[1]:g} nats: {tried}")


def changed_share(ours: LoadedModel, before: list[torch.Tensor]) -> float:
    """Of all weights: in bfloat16 a small change of a large one is lost in rounding."""
    same = [int((now == old).sum()) for now, old in zip(ours.model.parameters(), before, strict=True)]
    return 1.0 - sum(same) / sum(one.numel() for one in before)
