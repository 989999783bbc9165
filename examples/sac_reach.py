"""Stable-Baselines3's SAC learns to reach with Meta-World's arm from numbers alone, in minutes on one CPU core.

    pip install '.[robots,sb3]'
    python examples/sac_reach.py

The arm's own state and the positions in the scene are the observation, Meta-World's graded reward is the guide.
Training stops when the greedy policy reaches 95 % of the goals of the dev split; the printed success is that on 50
starts of the test split, which nothing has seen.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import torch
import tyro
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import agentrl  # noqa: F401
from agentrl.wrappers import StateObservation

HIGHEST_REWARD = 10.0  # of Meta-World, for a step


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    env: str = "agentrl/MetaWorld-reach-v0"
    seed: int = 0
    steps: int = 40_000  # at most
    every: int = 1_000  # steps from one look at the dev split to the next
    dev_episodes: int = 20
    test_episodes: int = 50


class TimeCosts(gym.Wrapper):
    """The graded reward, shifted to be a cost: 0 for a step at the goal, -1 for one far from it.

    Reaching the goal ends the episode. With rewards above nought it would pay to hover beside it for ever.
    """

    def step(self, action: Any) -> Any:
        """One control step."""
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, info["reward_terms"]["dense"] / HIGHEST_REWARD - 1.0, terminated, truncated, info


def make(env_id: str, split: str) -> gym.Env:
    """The task with numbers as observation; nothing is drawn."""
    return StateObservation(gym.make(env_id, split=split, obs_mode="state", reward="dense"))


def success_share(model: SAC, env_id: str, split: str, episodes: int) -> float:
    """The share of some starts of a split that the greedy policy solves."""
    env, solved, scale = make(env_id, split), 0, model.get_vec_normalize_env()
    assert scale is not None
    for number in range(episodes):
        observation, info = env.reset(seed=number)
        over = False
        while not over:
            action, _ = model.predict(scale.normalize_obs(observation), deterministic=True)
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        solved += info["success"]
    env.close()
    return solved / episodes


class StopWhenLearned(BaseCallback):
    """Looks at the dev split now and then, and ends the training once nearly all of it is solved."""

    def __init__(self, args: Arguments) -> None:
        super().__init__()
        self.args, self.seen = args, list[tuple[int, float]]()

    def _on_step(self) -> bool:
        if self.num_timesteps % self.args.every:
            return True
        assert isinstance(self.model, SAC)
        share = success_share(self.model, self.args.env, "dev", self.args.dev_episodes)
        self.seen.append((self.num_timesteps, share))
        print(f"step {self.num_timesteps}: {share:.2f} of {self.args.dev_episodes} dev starts", flush=True)
        return share < 0.95


def run(args: Arguments) -> dict[str, Any]:
    """Train, then evaluate on unseen starts."""
    torch.set_num_threads(1)  # the networks are too small for more
    began, processor = time.perf_counter(), time.process_time()
    model = SAC(
        "MlpPolicy",
        # Positions differ by centimetres: without a scale the networks hardly see them.
        VecNormalize(DummyVecEnv([lambda: TimeCosts(make(args.env, "train"))]), norm_reward=False),
        learning_rate=1e-3,
        buffer_size=50_000,
        learning_starts=1_000,
        batch_size=128,
        gamma=0.9,  # the goal is a few dozen steps away
        tau=0.02,
        ent_coef="auto_0.1",
        policy_kwargs={"net_arch": [64, 64]},
        seed=args.seed,
        device="cpu",
    )
    model.learn(args.steps, callback=StopWhenLearned(args))
    return {
        "env": args.env,
        "steps": model.num_timesteps,
        "cpu_seconds": round(time.process_time() - processor, 1),
        "seconds": round(time.perf_counter() - began, 1),
        "test_success": success_share(model, args.env, "test", args.test_episodes),
        "test_episodes": args.test_episodes,
    }


if __name__ == "__main__":
    print(json.dumps(run(tyro.cli(Arguments, description=__doc__))))
