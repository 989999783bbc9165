"""Hand-made and really played trajectories with tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentrl.models.loading import LoadedModel
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.trajectory import Step, Trajectory


def episode(turns: Sequence[tuple[list[int], list[int]]], rewards: Sequence[float] = (), **facts: Any) -> Trajectory:
    """Steps from (prompt, response) pairs; log-probabilities tell every token apart."""
    paid = [*rewards, *[0.0] * (len(turns) - len(rewards))]
    steps = [
        Step(
            prompt_ids=list(prompt),
            response_ids=list(response),
            logprobs=[-(number + 1) - place / 100 for place in range(len(response))],
            reward=reward,
        )
        for number, ((prompt, response), reward) in enumerate(zip(turns, paid, strict=True))
    ]
    return Trajectory(steps=steps, reward=sum(paid), **facts)


def conversation(
    replies: Sequence[Sequence[int]],
    rewards: Sequence[float] = (),
    first: Sequence[int] = (1, 2, 3),
    between: Sequence[int] = (7, 8),
    **facts: Any,
) -> Trajectory:
    """Each prompt is the one before, the reply, and `between`."""
    turns, prompt = [], list(first)
    for reply in replies:
        turns.append((list(prompt), list(reply)))
        prompt += [*reply, *between]
    return episode(turns, rewards, **facts)


def played(
    engine: LoadedModel,
    specs: Sequence[EnvSpec],
    count: int = 4,
    *,
    style: str = "conversation",
    tokens: int = 6,
    **more: Any,
) -> list[Trajectory]:
    """Episodes of a model at temperature 0.8, with everything a trainer needs."""
    policy = HFPolicy(engine, max_new_tokens=tokens, temperature=0.8, seed=3)
    collector = Collector(specs, policy, prompt_style=style, num_envs=3, **more)
    starts = [Start(number, number % len(specs)) for number in range(count)]
    found = collector.collect(starts).trajectories
    collector.close()
    return found
