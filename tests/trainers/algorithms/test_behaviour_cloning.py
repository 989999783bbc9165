"""Behaviour cloning: a network learns the oracle's actions well enough to play, is kept in files, and says what it
needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.control_net import ControlNet
from agentrl.policies import load_policy
from agentrl.policies.control import ControlPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import GOLD, ControlDemonstrator, control_data
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.lerobot import write_lerobot
from agentrl.trainers.algorithms.behaviour_cloning import BehaviourCloning, demonstrate, train
from tests.toy_control import PUCK

STATE = {"obs_mode": "state"}


def settings(**changes: Any) -> BehaviourCloning:
    return BehaviourCloning(**{"env": PUCK, "env_kwargs": STATE, "demonstrations": 5, "steps": 2, **changes})


def quiet(line: str) -> None:
    """Nobody listens."""


def test_a_network_learns_the_task_from_numbers() -> None:
    net = train(settings(demonstrations=40, steps=250, batch_size=64, noise=0.2), quiet)
    assert (evaluate(PUCK, ControlPolicy(net), 20, env_kwargs=STATE).success or 0) >= 0.8


@pytest.mark.parametrize(("chunk", "kwargs"), [(1, {}), (3, STATE)])
def test_a_network_is_kept_in_files_and_plays_by_name(chunk: int, kwargs: dict[str, Any], tmp_path: Path) -> None:
    lines: list[str] = []
    net = train(settings(chunk=chunk, env_kwargs=kwargs), lines.append)
    net.save(tmp_path / "net")
    assert "5 of 5 demonstrations succeeded" in lines[0]
    wrappers = [{"wrapper": "ActionChunks", "size": chunk}] if chunk > 1 else None
    played = [
        evaluate(PUCK, policy, 2, env_kwargs=kwargs, wrappers=wrappers)
        for policy in (ControlPolicy(net), load_policy(f"control:{tmp_path / 'net'}"))
    ]
    assert played[0].valid_rate == 1.0 and played[0].turns_mean == played[1].turns_mean
    observation = gym.make(PUCK, **kwargs).reset(seed=1)[0]
    assert np.array_equal(net.act([observation]), ControlNet.load(tmp_path / "net").act([observation]))
    assert net.spec.pictures == (() if kwargs else ("image", "wrist_image"))


def test_the_same_seed_learns_the_same_network() -> None:
    one, two = (train(settings(), quiet).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("kwargs", [{}, STATE])
def test_a_data_set_teaches_what_its_demonstrations_taught(kwargs: dict[str, Any], tmp_path: Path) -> None:
    plain, lines = settings(env_kwargs=kwargs, noise=0.0), list[str]()
    write_lerobot(tmp_path / "data", demonstrate(plain, quiet))
    there = train(plain, quiet).state_dict()
    back = train(settings(env_kwargs=kwargs, data=str(tmp_path / "data")), lines.append).state_dict()
    assert all(torch.equal(there[name], back[name]) for name in there)
    assert f"5 of 5 demonstrations of {tmp_path / 'data'} succeeded" in lines[0]


def test_a_data_set_must_fit_the_environment(tmp_path: Path) -> None:
    write_lerobot(tmp_path / "data", demonstrate(settings(env_kwargs={}), quiet))
    with pytest.raises(ConfigError, match=r"must fit toy/Puck-v0.*'numbers in state': 4.*got.*'numbers in state': 0"):
        train(settings(data=str(tmp_path / "data")), quiet)
    smaller = train(settings(env_kwargs={"image_size": 16}, data=str(tmp_path / "data")), quiet)
    assert smaller.spec.picture_size == 16  # pictures are made to fit


def test_demonstrations_are_noisy_and_their_labels_are_not() -> None:
    collector = Collector([EnvSpec(PUCK, STATE)], ControlDemonstrator(noise=0.3), num_envs=2)
    first, second = (collector.collect([Start(1), Start(2)]).trajectories for _ in range(2))
    collector.close()
    assert [one.id for one in first] == [one.id for one in second]
    env = gym.make(PUCK, **STATE)
    env.reset(seed=1)
    for step in first[0].steps:
        assert np.allclose(step.sampling[GOLD], env.get_wrapper_attr("oracle")())
        env.step(np.array(step.action, np.float32))
    assert any(step.sampling[GOLD] != step.action for step in first[0].steps)


def test_moments_hold_what_was_sensed_and_the_actions_that_follow() -> None:
    trajectories = demonstrate(settings(env_kwargs={}), quiet)
    data = control_data(trajectories, ("proprio",), ("wrist_image",), ("image", "wrist_image"), chunk=3)
    steps = trajectories[0].steps
    assert data.numbers.shape[1] == 2 and data.actions.shape[1:] == (3, 2)
    assert np.array_equal(data.actions[0][1], np.array(steps[1].sampling[GOLD], np.float32))
    last = len(steps) - 1
    assert np.array_equal(data.actions[last], np.stack([data.actions[last][0]] * 3))
    assert np.array_equal(data.pictures["wrist_image"][0], trajectories[0].pictures[steps[0].images[1]])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": 0}, "steps must be a whole number"),
        ({"noise": -1.0}, "noise must be at least zero"),
        ({"lr": 0.0}, "lr must be above zero"),
        ({"env_kwargs": {"split": "test"}}, "train split"),
        ({"vectors": ("speed",)}, "vectors must be among proprio, state; got 'speed'"),
        ({"env": "agentrl/FrozenLake-Text-v0", "env_kwargs": {}}, "arrays as actions"),
    ],
)
def test_what_cannot_be_learned_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        train(settings(**changes), quiet)


def test_a_policy_says_what_it_was_trained_on(tmp_path: Path) -> None:
    net = train(settings(), quiet)
    with pytest.raises(ConfigError, match=r"'state' of shape \(4,\); got none"):
        ControlPolicy(net).act([[{"role": "user", "content": "", "observation": {"proprio": np.zeros(2)}}]])
    with pytest.raises(ConfigError, match="text only"):
        ControlPolicy(net).act([[{"role": "user", "content": "hello"}]])
    with pytest.raises(ConfigError, match="holds no cloned policy"):
        load_policy(f"control:{tmp_path}")
    net.save(tmp_path)
    (tmp_path / "control.json").write_text("{}")
    with pytest.raises(ConfigError, match="holds no cloned policy"):
        ControlNet.load(tmp_path)


def test_each_picture_is_shifted_by_itself() -> None:
    from agentrl.trainers.algorithms.behaviour_cloning import SHIFT, _shifted

    one = np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3)
    moved = _shifted(np.stack([one] * 32), np.random.default_rng(0))
    assert moved.shape == (32, 16, 16, 3) and len({picture.tobytes() for picture in moved}) > 8
    padded = np.pad(one, ((SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    places = [(row, column) for row in range(2 * SHIFT + 1) for column in range(2 * SHIFT + 1)]
    windows = {padded[row : row + 16, column : column + 16].tobytes() for row, column in places}
    assert {picture.tobytes() for picture in moved} <= windows, "each is the picture, moved by at most SHIFT"
