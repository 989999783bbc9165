"""StepPO from recorded calls: an agent of the openai SDK gets better through a gateway."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from agentrl.core.measure import CHECKOUT
from agentrl.rollout.call_pool import CallPool


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(CHECKOUT / "examples")
    return importlib.import_module("gateway_training")


def test_one_iteration_learns_from_what_the_pool_holds_of_its_version(example, tmp_path):
    pool = tmp_path / "pool"
    args = example.Arguments(model="tiny-text", pool=str(pool), iterations=1, episodes=4, agents=4, held_out=2)
    found = example.train(args)
    assert set(found) == {"before", "after", "gain", "low", "high"}
    with CallPool(pool, read_only=True) as calls:
        taken = {name for name, session in calls.sessions.items() if session.taken}
        assert taken == {f"train-0-{episode}" for episode in range(4)}
        for name in taken:
            trajectory = calls.trajectory(name)
            assert {step.version for step in trajectory.steps} == {1} and trajectory.reward is not None
            assert all(step.reward_terms.keys() >= {"env"} for step in trajectory.steps)


@pytest.mark.long
def test_an_agent_of_the_openai_sdk_gets_better_by_a_tenth_on_held_out_tasks(example, tmp_path):
    from agentrl.cli.main import main

    run = tmp_path / "imitation"
    words = ["--recipe", "frozenlake-demo", "--output", str(run), "--eval-episodes", "100", "--no-report"]
    assert main(["train", "sft", *words]) == 0
    (policy,) = Path(run, "checkpoints").glob("step_10/policy")
    found = example.train(example.Arguments(model=str(policy), pool=str(tmp_path / "pool")))
    assert found["gain"] >= 0.1 and found["low"] > 0, found
