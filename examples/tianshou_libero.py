"""Tianshou's SAC on LIBERO: its vectors, buffers and networks take the observation as it is, a dict of arrays.

pip install tianshou && python examples/tianshou_libero.py --steps 400
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from tianshou.algorithm.modelfree.sac import SAC, SACPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, ShmemVectorEnv, SubprocVectorEnv
from tianshou.utils.net.common import ModuleWithVectorOutput
from tianshou.utils.net.continuous import ContinuousActorProbabilistic
from tianshou.utils.torch_utils import policy_within_training_step

VECTORS = {"dummy": DummyVectorEnv, "subprocess": SubprocVectorEnv, "shared-memory": ShmemVectorEnv}


@dataclass
class Arguments:
    """What is played, and for how long."""

    env: str = "agentrl/LIBERO-Spatial-v0"
    vector: str = "shared-memory"
    envs: int = 2
    steps: int = 400
    batch: int = 32
    image_size: int = 64


class Seeing(ModuleWithVectorOutput):
    """A picture and the robot's own state as one vector."""

    def __init__(self) -> None:
        super().__init__(128)
        layers = [torch.nn.Conv2d(3, 16, 5, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, 2), torch.nn.ReLU()]
        self.picture = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten())
        self.join = torch.nn.LazyLinear(128)

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """The 128 numbers of a batch of observations."""
        seen = torch.as_tensor(np.asarray(obs["image"]), dtype=torch.float32).movedim(-1, 1) / 255
        felt = torch.as_tensor(np.asarray(obs["proprio"]), dtype=torch.float32)
        return torch.relu(self.join(torch.cat([self.picture(seen), felt], dim=1))), state


class Critic(torch.nn.Module):
    """What an action is worth; Tianshou's own critic takes observations that are one array."""

    def __init__(self) -> None:
        super().__init__()
        self.seeing, self.worth = Seeing(), torch.nn.LazyLinear(1)

    def forward(self, obs: Any, act: Any, info: Any = None) -> torch.Tensor:
        """One number for each observation and action."""
        return self.worth(torch.cat([self.seeing(obs)[0], torch.as_tensor(act, dtype=torch.float32)], dim=1))


def make(arguments: Arguments) -> gym.Env:
    """Arrays alone: no text in the observation, three flags in `info`."""
    import agentrl  # noqa: F401  (registers the ids in every process)

    return gym.make(
        arguments.env, obs_text=False, full_info=False, image_size=arguments.image_size, reward="staged", max_turns=40
    )


def run(arguments: Arguments) -> dict[str, Any]:
    """Collect, learn, collect again; what came of it."""
    envs = VECTORS[arguments.vector]([partial(make, arguments)] * arguments.envs)
    space = make(arguments).action_space
    actor = ContinuousActorProbabilistic(
        preprocess_net=Seeing(), action_shape=space.shape, unbounded=True, conditioned_sigma=True
    )
    critic = Critic()
    policy, optim = SACPolicy(actor=actor, action_space=space), AdamOptimizerFactory(lr=3e-4)
    with torch.no_grad():  # lazy layers learn their sizes from the first observation
        seen = envs.reset()[0]
        first = {name: np.stack([one[name] for one in seen]) for name in seen[0]}
        actor(first), critic(first, torch.zeros(len(seen), *space.shape))
    algorithm = SAC(policy=policy, policy_optim=optim, critic=critic, critic_optim=optim)
    buffer = VectorReplayBuffer(arguments.steps, arguments.envs)
    losses = []
    collector = Collector(policy, envs, buffer)
    collector.reset()
    for _ in range(max(arguments.steps // 40, 1)):
        collector.collect(n_step=40)
        with policy_within_training_step(policy):
            losses.append(algorithm.update(buffer=buffer, sample_size=arguments.batch))
    stored = {name: [str(part.dtype), *part.shape[1:]] for name, part in buffer.obs.items()}
    envs.close()
    return {"steps": len(buffer), "observation": stored, "critic_loss": [round(one.critic1_loss, 4) for one in losses]}


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
