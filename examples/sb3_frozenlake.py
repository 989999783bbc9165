"""Stable-Baselines3's PPO learns FrozenLake on 32 levels, from symbols alone, in under a minute on one CPU core.

    pip install '.[sb3]'
    python examples/sb3_frozenlake.py

It prints the share of the 32 training levels that the policy solves when it acts greedily, and beside it the share of
500 levels of the test split, which it never saw: thirty-two levels teach those levels better than lakes in general.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from agentrl.adapters.sb3 import GridVecEnv, solved_share

ENV_ID = "agentrl/FrozenLake-Grid-v0"
TASK = {"min_solution": 5, "max_solution": 9}


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    seed: int = 0
    steps: int = 400_000  # at most; training stops when every level is solved
    levels: int = 32
    test_levels: int = 500


class StopWhenSolved(BaseCallback):
    """Ends the training once the greedy policy solves every level."""

    def __init__(self, levels: int, every: int) -> None:
        super().__init__()
        self.levels, self.every, self.updates = levels, every, 0

    def _on_rollout_start(self) -> None:
        self.updates += 1

    def _on_step(self) -> bool:
        if self.updates % self.every or self.n_calls % self.model.n_steps != 1:
            return True
        return solved_share(self.model, ENV_ID, levels=self.levels, **TASK) < 1.0


def train(args: Arguments) -> PPO:
    """PPO with a small network that sees the lake from the player's place.

    Advantages keep their scale and the entropy bonus is large against the step penalty: before the first success all a
    policy can learn is that drowning early saves penalties, and a policy that learns that too well explores no more.
    """
    torch.set_num_threads(1)  # the network is too small for more
    env = GridVecEnv(ENV_ID, num_envs=256, bootstrap_truncated=False, levels=args.levels, **TASK)
    model = PPO(
        "MlpPolicy",
        env,
        learning_rate=2e-3,
        n_steps=18,
        batch_size=1536,
        n_epochs=4,
        gamma=0.95,
        gae_lambda=0.97,
        ent_coef=0.8,
        vf_coef=0.05,
        max_grad_norm=5.0,
        normalize_advantage=False,
        policy_kwargs=env.policy_kwargs | {"net_arch": [64, 64], "activation_fn": torch.nn.ReLU},
        seed=args.seed,
        device="cpu",
    )
    return model.learn(args.steps, callback=StopWhenSolved(args.levels, every=5))


def run(args: Arguments) -> dict[str, float]:
    """Train, then evaluate on every training level and on the test split."""
    began = time.perf_counter()
    model = train(args)
    return {
        "steps": model.num_timesteps,
        "seconds": round(time.perf_counter() - began, 1),
        "train_success": solved_share(model, ENV_ID, levels=args.levels, **TASK),
        "test_success": solved_share(model, ENV_ID, split="test", levels=args.test_levels, **TASK),
    }


if __name__ == "__main__":
    chosen = tyro.cli(Arguments, description=__doc__)
    result = run(chosen)
    print(f"trained {result['steps']} steps in {result['seconds']} s")
    print(f"success on the {chosen.levels} training levels: {result['train_success']:.3f}")
    print(f"success on {chosen.test_levels} levels of the test split: {result['test_success']:.3f}")
