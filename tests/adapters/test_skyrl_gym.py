"""skyrl-gym on our environments: episodes equal to our collector's, with pictures and the reward of each turn."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import version

import pytest
import skyrl_gym

import agentrl.adapters.skyrl_gym as adapter
from agentrl.core.errors import ConfigError
from tests.adapters.library_check import (
    ENV_KWARGS,
    SEEDS,
    TEXT,
    VISUAL,
    Episode,
    answer,
    check_row,
    compare,
    play,
    shown_in,
)

WITHOUT = """
import sys
sys.modules["skyrl_gym"] = None
import agentrl.adapters.skyrl_gym
"""


def played(env_id, seed):
    """As SkyRL's generator does it."""
    env = skyrl_gym.make("agentrl", env_config={}, extras={"env_id": env_id, "seed": seed, **ENV_KWARGS})
    chat, _ = env.init([{"role": "user", "content": "replaced"}])
    results, actions = [], []
    while not (results and results[-1]["done"]):
        actions.append(answer(seed, len(actions)))
        results.append(env.step(actions[-1]))
        chat += [{"role": "assistant", "content": actions[-1]}, *results[-1]["observations"]]
    metrics = env.get_metrics()
    env.close()
    assert results[-1]["observations"] == [] and metrics["turns"] == len(actions)
    return Episode(
        seed=seed,
        actions=actions,
        reward=metrics["reward"],
        rewards=[result["reward"] for result in results],
        shown=shown_in(chat),
        **results[-1]["metadata"],
    )


def test_the_episodes_are_those_of_our_collector():
    text, pictures = (compare([played(id, seed) for seed in SEEDS], play(id)) for id in (TEXT, VISUAL))
    check_row("skyrl-gym", version("skyrl-gym"), text=text, pictures=pictures)


def test_metrics_are_averaged_over_episodes():
    episodes = [adapter.AgentRLEnv({"env_id": TEXT, "env_kwargs": ENV_KWARGS}, {"seed": seed}) for seed in (0, 2)]
    for env, seed in zip(episodes, (0, 2), strict=True):
        env.init([])
        for turn in range(2):
            env.step(answer(seed, turn))
    found = adapter.AgentRLEnv.aggregate_metrics([env.get_metrics() for env in episodes])
    assert found["success"] == 0.5 and found["turns"] == 2


def test_a_row_must_name_its_environment_and_task_and_the_name_is_registered_once():
    for extras in ({}, {"env_id": TEXT}, {"seed": 3}):
        with pytest.raises(ConfigError, match="a row must have env_id, and seed or task; got"):
            skyrl_gym.make("agentrl", extras=extras)
    importlib.reload(adapter)
    with pytest.raises(Exception, match="max_turns"):
        skyrl_gym.make("agentrl", extras={"env_id": TEXT, "seed": 3, "max_turns": 0})


def test_without_the_library_the_command_that_installs_it_is_told():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert "skyrl-gym is not installed; run: pip install" in done.stderr and "[skyrl-gym]" in done.stderr
