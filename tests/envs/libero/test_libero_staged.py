"""`reward="staged"`: numbers by hand, and episodes in which nothing is paid twice."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.staged import progress, stage_terms

pytestmark = pytest.mark.extra_robots
ONE = {"On bowl_1 plate_1": False}
TWO = {"In soup_1 basket_1_contain_region": True, "In sauce_1 basket_1_contain_region": False}


def test_progress_is_the_share_of_conditions_and_half_of_one_whose_thing_is_held():
    assert [progress(ONE, held) for held in (None, "plate_1", "bowl_1")] == [0.0, 0.0, 0.5]
    assert [progress(TWO, held) for held in (None, "soup_1", "sauce_1")] == [0.5, 0.5, 0.75]
    assert progress(dict.fromkeys(TWO, True), None) == 1.0


def test_stages_pay_half_of_what_is_new_and_success_what_is_missing_from_one():
    assert stage_terms(0.0, 0.0, 0.5, False) == {"stage": 0.25}
    assert stage_terms(0.0, 0.5, 0.0, False) == stage_terms(0.0, 0.5, 0.5, False) == {}
    assert stage_terms(0.0, 0.5, 0.75, False) == {"stage": 0.125}
    assert stage_terms(0.0, 0.75, 1.0, True) == {"success": 0.625}
    assert stage_terms(0.5, 0.5, 1.0, True) == {"success": 1.0}, "what held at the start is not paid"


def test_a_solved_episode_earns_one_of_which_the_grasp_is_a_quarter():
    env = LiberoEnv(task=3, split="test", obs_mode="state", reward="staged")
    env.reset(options={"task": "libero_spatial/3:test:7"})
    paid: list[dict[str, float]] = []
    while not (paid and "success" in paid[-1]):
        _, reward, *_, info = env.step(env.oracle())
        assert reward == pytest.approx(sum(info["reward_terms"].values()))
        paid += [info["reward_terms"]] if info["reward_terms"] else []
    assert paid == [{"stage": 0.25}, {"success": 0.75}]


@pytest.mark.parametrize("replies", [[1.0], [1.0, -1.0]], ids=["constant", "oscillating"])
def test_constant_and_oscillating_actions_earn_nothing(replies):
    env = LiberoEnv(task=3, split="test", obs_mode="state", reward="staged", settle_steps=0, max_turns=60)
    env.reset(options={"task": "libero_spatial/3:test:7"})
    assert sum(env.step(np.full(7, replies[turn % len(replies)]))[1] for turn in range(60)) == 0.0


def test_a_second_grasp_is_not_paid_and_a_snapshot_remembers_the_first():
    with gym.make("agentrl/LIBERO-Goal-Text-v0", split="test", reward="staged") as env:
        env.reset(options={"task": "libero_goal/8:test:0"})
        pick, place = env.unwrapped.oracle().split("|")
        assert env.step(pick)[4]["reward_terms"] == {"stage": 0.25}
        blob = agentrl.snapshot(env)
        assert env.step(place)[4]["reward_terms"] == {"success": 0.75}
        agentrl.restore(env, blob)
        assert env.step("place(0,0,60)")[4]["reward_terms"] == {}
        again = env.unwrapped.oracle().split("|")[0]
        assert again.startswith("pick") and env.step(again)[4]["reward_terms"] == {}


def test_another_word_is_refused():
    with pytest.raises(ConfigError, match="reward must be one of success, staged; got 'stage'"):
        LiberoEnv(reward="stage")
