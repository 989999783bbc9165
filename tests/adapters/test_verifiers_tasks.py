"""Tasksets of verifiers, in its own virtual environment, as environments of ours."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError, EnvFault, WorkerFault
from agentrl.rollout.episode import make
from agentrl.rollout.evaluate import evaluate
from tests.adapters.libraries import trained

ID, PATH = "agentrl/Verifiers-v0", [str(Path(__file__).with_name("tasksets"))]
library = pytest.mark.library("verifiers")


@library
def test_a_question_is_scored_by_the_rewards_of_its_task():
    env = make(ID, taskset="toy-sums", path=PATH)
    observation, info = env.reset(seed=1, options={"task": 7})
    assert observation == {"text": "7 + 8 ="} and info["task"] == "7"
    assert env.get_wrapper_attr("system_prompt") == "Answer with a number."
    _, reward, terminated, truncated, info = env.step("15")
    assert (reward, terminated, truncated) == (1.5, True, False)
    assert info == {"success": True, "reward_terms": {"right": 1.0, "short": 0.5}, "metrics": {"length": 2.0}}
    env.reset(options={"task": 7})
    assert env.step("It is 15")[1:4] == (0.0, True, False)
    env.close()


@library
def test_splits_share_no_task_and_the_seed_draws_from_them():
    drawn = {}
    for split in ("train", "dev", "test"):
        env = make(ID, taskset="toy-sums", split=split, path=PATH)
        drawn[split] = [env.reset(seed=seed)[1]["task"] for seed in range(200)]
        assert drawn[split] == [env.reset(seed=seed)[1]["task"] for seed in range(200)]
        env.close()
    sets = {split: set(map(int, tasks)) for split, tasks in drawn.items()}
    assert sets["dev"] == {8, 18, 28} and sets["test"] == {9, 19, 29}
    assert sets["train"] == set(range(30)) - sets["dev"] - sets["test"]


@library
def test_a_conversation_runs_beside_others_and_ends_by_its_own_rules_or_out_of_turns():
    one, other = (make(ID, taskset="toy-guess", max_turns=4, path=PATH) for _ in range(2))
    assert one.reset(options={"task": 2})[0] == {"text": "Guess a number below 100."}  # 74
    other.reset(options={"task": 3})  # 11
    assert [env.step("50")[0]["text"] for env in (one, other)] == ["higher", "lower"]
    assert one.step("74") == (
        {"text": ""},
        1.0,
        True,
        False,
        {"success": True, "reward_terms": {"found": 1.0}, "metrics": {}},
    )
    for _ in range(2):
        assert other.step("50")[2:4] == (False, False)
    assert other.step("50")[1:4] == (0.0, False, True)
    one.reset(options={"task": 2})
    with pytest.raises(EnvFault, match="the environment broke"):
        one.step("break")
    one.reset(options={"task": 2})
    one.close()
    other.close()


@library
def test_a_worker_that_dies_is_a_typed_fault_and_the_next_reset_starts_another():
    env = make(ID, taskset="toy-guess", max_turns=4, path=PATH)
    env.reset(options={"task": 2})
    os.kill(env.unwrapped._worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerFault):
        env.step("50")
    env.reset(options={"task": 2})
    assert env.step("74")[1] == 1.0
    env.close()


@library
def test_agentrl_evaluates_a_taskset():
    result = evaluate(ID, "constant:17", episodes=12, env_kwargs={"taskset": "toy-sums", "path": PATH}, num_envs=4)
    assert (result.faults, result.turns_mean) == (0, 1.0)
    assert result.reward_mean == pytest.approx(0.5 + result.success)


@library
@pytest.mark.timeout(900)
def test_a_tiny_model_trains_on_a_taskset(tmp_path):
    for episode in trained(tmp_path / "run", ID, {"taskset": "toy-sums", "path": PATH, "tasks": 30}):
        assert episode.steps[0].observation.endswith(" =") and len(episode.steps) == 1


@library
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"taskset": "no-such-taskset"}, r"taskset 'no-such-taskset' cannot be played: .*no.such.taskset"),
        ({"taskset": "toy-sums", "config": {"colour": 1}}, r"taskset 'toy-sums' cannot be played: .*colour"),
        ({"taskset": "toy-sums", "config": {"numbers": 3}, "tasks": 5, "split": "test"}, r"has too few tasks for the"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments, said):
    with pytest.raises(ConfigError, match=f"(?s){said}"):
        make(ID, path=PATH, **arguments)


def test_an_absent_interpreter_and_taskset_are_named():
    with pytest.raises(ConfigError, match="taskset must be the id of an installed taskset of verifiers; got ''"):
        make(ID)
    with pytest.raises(ConfigError, match="split must be one of train, dev, test; got 'final'"):
        make(ID, taskset="toy-sums", split="final")
    with pytest.raises(ConfigError, match="python must be a Python interpreter; got /no/python"):
        make(ID, taskset="toy-sums", python="/no/python")
