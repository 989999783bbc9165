"""Stable-Baselines3's SAC learns to reach with Meta-World's arm from numbers alone, in minutes on one CPU core.

    pip install '.[metaworld,sb3]'
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
import numpy as np
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
    hold: int = 4  # control steps for which an action is held
    steps: int = 20_000  # at most
    every: int = 500  # steps from one look at the dev split to the next
    dev_episodes: int = 20
    test_episodes: int = 50


class WithDifference(gym.ObservationWrapper):
    """The way from the hand to the goal, beside all other numbers: what a network would have to subtract itself."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        (size,) = env.observation_space.shape or ()
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (size + 3,), np.float32)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        """The hand comes first in an observation, the goal last."""
        return np.concatenate([observation, observation[-3:] - observation[:3]])


class HeldActions(gym.Wrapper):
    """An action is held for a few control steps of a centimetre each, and the graded reward becomes a cost.

    A step beside the goal costs 0.2, one far from it 1.2, and reaching it ends the episode: were the highest reward no
    cost at all, hovering would be as good as arriving.
    """

    def __init__(self, env: gym.Env, hold: int) -> None:
        super().__init__(env)
        self.hold = hold

    def step(self, action: Any) -> Any:
        """Some control steps, until the episode ends."""
        cost = 0.0
        for _ in range(self.hold):
            observation, _, terminated, truncated, info = self.env.step(action)
            cost += 1.2 - info["reward_terms"]["dense"] / HIGHEST_REWARD
            if terminated or truncated:
                break
        return observation, -cost / self.hold, terminated, truncated, info


def make(args: Arguments, split: str) -> gym.Env:
    """The task with numbers as observation; nothing is drawn."""
    env = StateObservation(gym.make(args.env, split=split, obs_mode="state", reward="dense"))
    return HeldActions(WithDifference(env), args.hold)


def success_share(model: SAC, args: Arguments, split: str, episodes: int) -> float:
    """The share of some starts of a split that the greedy policy solves."""
    env, solved, scale = make(args, split), 0, model.get_vec_normalize_env()
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
        share = success_share(self.model, self.args, "dev", self.args.dev_episodes)
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
        VecNormalize(DummyVecEnv([lambda: make(args, "train")]), norm_reward=False),
        learning_rate=1e-3,
        buffer_size=50_000,
        learning_starts=500,
        batch_size=128,
        gamma=0.95,
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
        "test_success": success_share(model, args, "test", args.test_episodes),
        "test_episodes": args.test_episodes,
    }


if __name__ == "__main__":
    print(json.dumps(run(tyro.cli(Arguments, description=__doc__))))
