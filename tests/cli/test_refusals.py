"""What cannot work is refused in one line, before a model is loaded or anything is played."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

import agentrl.policies.hf as hf
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.episode import play_episode
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter

GRID, LAKE, SHOP = "agentrl/FrozenLake-Grid-v0", "agentrl/FrozenLake-Text-v0", "agentrl/WebShop-Text-v0"


@pytest.fixture
def no_model(monkeypatch):
    """Nothing gets as far as a model."""
    monkeypatch.setattr(hf.HFPolicy, "__init__", lambda *given, **options: pytest.fail("a model is loaded"))
    monkeypatch.setattr("agentrl.models.loading.load_model", lambda *given, **options: pytest.fail("a model is loaded"))


@pytest.mark.parametrize("verb", ["eval", "record"])
@pytest.mark.parametrize("policy", ["hf:tiny-text", "openai:m", "vllm:m", "react:hf:tiny-text"])
def test_models_do_not_play_grid_kinds(agentrl_cli, no_model, verb, policy):
    done = agentrl_cli(verb, GRID, "--policy", policy, "--episodes", "1", "--json")
    assert done.status == 2 and f"{GRID} has neither: use its Text or Visual kind" in done.json["error"]
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("algorithm", ["sft", "ppo", "grpo"])
@pytest.mark.parametrize("wrap", ["[]", '[{"wrapper": "DiscreteActions"}]'])
def test_models_are_not_trained_without_text(agentrl_cli, no_model, tmp_path, algorithm, wrap):
    env = GRID if wrap == "[]" else LAKE
    words = ("--env", env, "--wrap", wrap, "--output", str(tmp_path / "run"), "--json")
    kwargs = ("--env-kwargs", json.dumps({} if wrap == "[]" else {"max_turns": 20, "max_actions_per_turn": 1}))
    done = agentrl_cli("train", algorithm, *words, *kwargs)
    assert done.status == 2 and "use a Text or Visual kind" in done.json["error"]
    assert not (tmp_path / "run").exists()


def test_classic_policies_still_play_grid_kinds(agentrl_cli):
    assert agentrl_cli("eval", GRID, "--policy", "random", "--episodes", "2", "--json").json["episodes"] == 2


class Writer:
    """A policy of text, not one of ours."""

    name, needs_text = "writer", True

    def act(self, conversations, envs=None):
        return [Generation(text="Up", action="Up") for _ in conversations]


def test_collectors_refuse_a_policy_of_text_without_text():
    collector = Collector([EnvSpec(GRID)], Writer(), num_envs=1)
    with pytest.raises(ConfigError, match="read and write text"):
        collector.collect([Start(0)])
    collector.close()
    with pytest.raises(ConfigError, match="read and write text"):
        play_episode(gym.make(GRID), Writer(), 0)


@pytest.mark.parametrize("judge", ["rule", "structured", '{"kind": "audited", "judge": "rule", "auditor": "rule"}'])
def test_a_judge_that_can_score_nothing_of_a_file_is_refused(agentrl_cli, tmp_path, judge):
    request = {"id": "1", "env_id": SHOP, "purpose": "grounding", "text": "x", "state": {}, "term": "t", "weight": 1}
    step = Step(observation="x", action="x", pending=["t"], info={"judge_requests": [request]})
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        writer.write(Trajectory(steps=[step], env_id=SHOP))
    done = agentrl_cli(
        "judge", str(tmp_path / "a.jsonl"), "--judge", judge, "--output", str(tmp_path / "b.jsonl"), "--json"
    )
    assert done.status == 2 and "use judge='structured' with representation='structured'" in done.json["error"]
    assert not (tmp_path / "b.jsonl").exists()
