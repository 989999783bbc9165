"""LIBERO for language models: what is told, primitives, the oracle."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentrl
from agentrl.wrappers import Reasoning, ReasoningReward

pytestmark = pytest.mark.extra_robots


@pytest.fixture(scope="module")
def env():
    with gym.make("agentrl/LIBERO-Goal-Text-v0", split="test") as made:
        yield made


def test_listing_gives_kinds_and_places_but_no_answer(env):
    seen, info = env.reset(options={"task": "libero_goal/8:test:0"})
    assert "put the bowl on the plate" in seen["text"]
    assert "akita black bowl at (" in seen["text"] and "akita_black_bowl_1" not in seen["text"]
    assert "top drawer handle at (" in seen["text"] and "knob at (" in seen["text"]
    assert info["state"]["plate_1_position"][2] in range(0, 20), "heights are over the table"


def test_a_judge_scores_the_truth_about_every_position(env):
    judged = ReasoningReward(Reasoning(env, "grounding"), judge="rule")
    judged.reset(options={"task": "libero_goal/7:test:0"})
    *_, info = judged.step(judged.get_wrapper_attr("gold")())
    assert info["verdicts"]["grounding"]["score"] == 1.0 and info["pending"] == [] and not info["judge_faults"]


def test_oracle_turns_the_knob_and_opens_a_drawer(env):
    for task in ("libero_goal/7:test:0", "libero_goal/0:test:0"):
        env.reset(options={"task": task})
        *_, terminated, _, info = env.step(env.unwrapped.oracle())
        assert terminated and info["success"], info["feedback"]


def test_picking_and_placing_are_reported_and_a_snapshot_keeps_what_is_held(env):
    env.reset(options={"task": "libero_goal/8:test:0"})
    pick, place = env.unwrapped.oracle().split("|")
    *_, info = env.step(pick)
    assert info["state"]["held"] == "akita_black_bowl_1" and "holds" in info["feedback"]
    blob = agentrl.snapshot(env)
    *_, info = env.step(place)
    assert info["success"]
    with gym.make("agentrl/LIBERO-Goal-Text-v0", split="test") as other:
        other.reset(seed=0)
        agentrl.restore(other, blob)
        assert other.unwrapped.oracle() == place
        assert other.step(place)[4]["state"] == info["state"]


def test_primitives_fail_with_a_sentence(env):
    env.reset(options={"task": "libero_goal/8:test:1"})
    for action, words in (
        ("pick(300,400,20)", "no object"),
        ("place(0,0,50)", "nothing to place"),
        ("pull(300,400,20,0,0,20)", "no handle"),
        ("turn(300,400,20,90)", "no handle"),
    ):
        *_, info = env.step(action)
        assert info["valid"] and words in info["feedback"]
    *_, info = env.step("pick(900,0,0)")
    assert not info["valid"] and "outside the workspace" in info["feedback"]
