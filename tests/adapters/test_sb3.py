"""Stable-Baselines3 runs on the grid worlds: its interface is kept to the letter, and PPO learns FrozenLake."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv

import agentrl  # noqa: F401  (registers the ids)
from agentrl.adapters.sb3 import GridVecEnv, PlayerView, solved_share
from agentrl.core.errors import ConfigError

LAKE, ROOM = "agentrl/FrozenLake-Grid-v0", "agentrl/Sokoban-Grid-v0"


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def load_example() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "sb3_frozenlake.py"
    spec = importlib.util.spec_from_file_location("sb3_frozenlake", path)
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_ppo_learns_thirty_two_lakes(capsys: pytest.CaptureFixture[str]) -> None:
    example, started = load_example(), time.process_time()
    result = example.run(example.Arguments(seed=1))
    with capsys.disabled():
        print(f"\nSB3 PPO, FrozenLake: {result}")
    assert result["train_success"] >= 0.95
    assert 0.0 <= result["test_success"] <= 1.0
    assert time.process_time() - started < 120  # of a core, which the clock of a busy machine does not tell


@pytest.mark.parametrize("env_id", [LAKE, ROOM])
def test_sb3s_checker_has_nothing_to_say_about_flat_grids(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(FlattenObservation(gym.make(env_id)))


@pytest.mark.parametrize("env_id", [LAKE, ROOM])
def test_sb3s_checker_accepts_grids_and_only_asks_for_a_policy_that_can_read_them(env_id: str) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        check_env(gym.make(env_id))
    assert all("unconventional shape" in str(warning.message) for warning in heard), [str(w.message) for w in heard]


@pytest.mark.parametrize(
    ("env_id", "arguments"), [(LAKE, {"levels": 50}), (LAKE, {"levels": 50, "slippery": True}), (ROOM, {})]
)
def test_it_does_exactly_what_sb3s_own_vector_does(env_id: str, arguments: dict[str, Any]) -> None:
    fast, slow = GridVecEnv(env_id, 5, **arguments), DummyVecEnv([lambda: gym.make(env_id, **arguments)] * 5)
    assert fast.observation_space == slow.observation_space
    assert fast.action_space == slow.action_space
    fast.seed(3)
    slow.seed(3)
    assert np.array_equal(fast.reset(), slow.reset())
    dice, ends = np.random.default_rng(0), 0
    for _ in range(300):
        actions = dice.integers(4, size=5)
        ours, theirs = fast.step(actions), slow.step(actions)
        for a, b in zip(ours[:3], theirs[:3], strict=True):
            assert np.array_equal(a, b)
        for mine, other, done in zip(ours[3], theirs[3], ours[2], strict=True):
            assert mine["TimeLimit.truncated"] == other["TimeLimit.truncated"]
            assert ("terminal_observation" in mine) == done
            if done:
                ends += 1
                assert np.array_equal(mine["terminal_observation"], other["terminal_observation"])
                assert mine["is_success"] == other["success"]
    assert ends > 50


def test_episode_figures_are_the_sums_over_the_episode() -> None:
    env = GridVecEnv(LAKE, 1, levels=4, max_turns=2, max_actions_per_turn=3, max_solution=6)
    env.seed(0)
    env.reset()
    total, length, ends = 0.0, 0, 0
    for step in range(200):
        _, rewards, dones, infos = env.step(np.array([step % 4]))
        total, length = total + float(rewards[0]), length + 1
        if dones[0]:
            assert infos[0]["episode"]["r"] == pytest.approx(total, abs=1e-5)
            assert infos[0]["episode"]["l"] == length
            total, length, ends = 0.0, 0, ends + 1
    assert ends > 20


def test_task_limits_can_be_plain_ends() -> None:
    stay = np.zeros(1, np.int64)
    seen = {}
    for bootstrap in (True, False):
        env = GridVecEnv(ROOM, 1, bootstrap_truncated=bootstrap)
        env.reset()
        seen[bootstrap] = [env.step(stay)[3][0]["TimeLimit.truncated"] for _ in range(9)]
    assert seen[True] == [False] * 8 + [True]
    assert not any(seen[False])


def test_pictures_work_as_observations_and_as_renders() -> None:
    env = GridVecEnv(LAKE, 3, levels=4, observation="image", image_size=64, render_mode="rgb_array")
    assert env.reset().shape == (3, 64, 64, 3)
    assert env.render(mode="rgb_array").shape == (128, 128, 3)  # SB3 lays three pictures out in a square
    assert len(env.get_images()) == 3
    env.close()


def test_the_same_seed_trains_the_same_policy() -> None:
    def weights() -> torch.Tensor:
        env = GridVecEnv(LAKE, 8, levels=8)
        model = PPO("MlpPolicy", env, n_steps=16, batch_size=64, policy_kwargs=env.policy_kwargs, seed=5, device="cpu")
        return torch.cat([p.detach().flatten() for p in model.learn(256).policy.parameters()])

    assert torch.equal(weights(), weights())


def test_the_players_view_moves_with_the_player() -> None:
    view = PlayerView(spaces.Box(0, 5, (3, 3), np.uint8), [3, 4, 5])
    seen = view(torch.tensor([[[3, 1, 0], [0, 0, 0], [0, 0, 2]], [[0, 0, 0], [0, 3, 1], [0, 0, 0]]]).float())
    codes = seen.reshape(2, 5, 5, 7).argmax(3)
    assert codes[:, 2, 2].tolist() == [3, 3]  # the player in the middle
    assert codes[:, 2, 3].tolist() == [1, 1]  # a hole on the right of it, both times
    assert codes[0, 4, 4] == 2  # the goal, two down and two to the right
    assert (codes[0, :2] == 6).all() and (codes[0, :, :2] == 6).all()  # beyond the edge
    assert view.features_dim == seen.shape[1]


class Oracle:
    """Stands in for a model: always plays `action`."""

    def __init__(self, action: int) -> None:
        self.action = action

    def predict(self, observations: np.ndarray, deterministic: bool) -> tuple[np.ndarray, None]:
        assert deterministic
        return np.full(len(observations), self.action), None


def test_solved_share_counts_the_named_tasks() -> None:
    straight = "____/P__G/____/____"  # three moves to the right solve it
    other = "____/G__P/____/____"
    assert solved_share(Oracle(2), LAKE, [straight, other, straight, other]) == 0.5
    assert solved_share(Oracle(0), LAKE, [other]) == 1.0
    assert solved_share(Oracle(3), LAKE, levels=5) == 0.0


def test_what_cannot_work_says_so() -> None:
    with pytest.raises(ConfigError, match="no vectorised grid core"):
        GridVecEnv("agentrl/FrozenLake-Text-v0", 2)
    with pytest.raises(ConfigError, match="num_envs"):
        GridVecEnv(LAKE, 0)
    with pytest.raises(ConfigError, match="symbol codes"):
        PlayerView(spaces.Box(0, 255, (8, 8, 3), np.uint8), [3])
    env = GridVecEnv(LAKE, 2, levels=4)
    with pytest.raises(ConfigError, match="share one core"):
        env.set_attr("size", 3)
    with pytest.raises(ConfigError, match="share one core"):
        env.env_method("oracle")
    env.set_options({"task": "____/P__G/____/____"})
    with pytest.raises(ConfigError, match="no reset options"):
        env.reset()
    assert env.env_is_wrapped(gym.Wrapper, indices=[0]) == [False]
    assert env.get_attr("num_envs") == [2, 2]


def test_without_sb3_the_error_names_the_extra() -> None:
    program = """
import sys
sys.modules["stable_baselines3"] = None
from agentrl.core.errors import MissingExtra
try:
    import agentrl.adapters.sb3
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'agentrl-suite[sb3]'" in done.stdout
