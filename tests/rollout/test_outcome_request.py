"""A judge of outcomes is asked about any episode, and told nothing of its result."""

from __future__ import annotations

import json
import re

import gymnasium as gym
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import Verdict
from agentrl.policies import load_policy
from agentrl.rollout.episode import play_episode
from agentrl.rollout.outcomes import judged, outcome_request, outcomes
from agentrl.rollout.trajectory import Step, Trajectory

LAKE, SHOP, WEB = "agentrl/FrozenLake-Text-v0", "agentrl/WebShop-Text-v0", "agentrl/WebArenaLite-Text-v0"


def played(env_id: str, player: str, seed: int = 3, **kwargs) -> Trajectory:
    with gym.make(env_id, **kwargs) as env:
        return play_episode(env, load_policy(player), seed)


class Counting:
    """Says what it is told to say, and keeps what it was asked."""

    def __init__(self, *answers) -> None:
        self.answers, self.batches = answers, []

    def score_sync(self, requests):
        self.batches.append(list(requests))
        return [self.answers[int(request.state["page"])] for request in requests]

    async def score(self, requests):
        return self.score_sync(requests)


def ended(page: str, **facts) -> Trajectory:
    step = Step(observation="start", action="go", info={"actions": ["go"], "valid": True, **facts.pop("info", {})})
    return Trajectory(env_id="toy/Toy-v0", steps=[step], final_observation=page, system_prompt="Rules.", **facts)


@pytest.mark.parametrize("player", ["oracle", "random"])
@pytest.mark.parametrize("env_id", [LAKE, SHOP, WEB, "agentrl/Sokoban-Text-v0"])
def test_nothing_of_the_result_is_in_a_request(env_id, player):
    trajectory = played(env_id, player)
    request = outcome_request(trajectory)
    sent = json.dumps([request.text, request.state]).lower()
    assert set(request.state) == {"instruction", "actions", "page"}
    told = trajectory.steps[-1].info["feedback"].lower()
    assert not told or told not in sent
    for tale in (
        "you reached",
        "fell into",
        "is on a target.",
        "your score",
        "success",
        "missing",
        "unmet",
        "evaluator",
    ):
        assert tale not in sent


def test_the_truth_can_be_changed_without_changing_the_request():
    trajectory = played(WEB, "oracle")
    before = outcome_request(trajectory)
    for step in trajectory.steps:
        step.info["success"] = not step.info["success"]
        step.info["state"] = {name: step.info["state"][name] for name in ("instruction", "answer")}
        step.info["metrics"], step.reward, step.reward_terms = {"success_map": 7.0}, -3.0, {"outcome": -3.0}
    trajectory.reward = None
    assert outcome_request(trajectory) == before


def test_a_web_task_is_asked_about_by_its_instruction_actions_page_and_answer():
    with gym.make(WEB, observation_mode="compact", templates=["map-phone"]) as env:
        trajectory = play_episode(env, load_policy("oracle"), 3)
        instruction = env.unwrapped.instruction_of(trajectory.task)
    request = outcome_request(trajectory)
    assert request.purpose == "outcome" and request.env_id == WEB
    assert request.state["instruction"] == instruction
    assert request.text.startswith("+999 ") and request.text in request.state["page"]
    typed, clicked, _ = request.state["actions"]
    name = typed.partition('argument="')[2].partition('"')[0]
    assert name in instruction and re.match(rf'do\(action="Click", element="\d+"\) \({re.escape(name)}', clicked)
    assert len(request.state["actions"]) == 3 and all("\n" not in line for line in request.state["actions"])


def test_what_was_bought_is_shown_without_its_score():
    request = outcome_request(played(SHOP, "oracle"))
    assert "Dress Shirt" in request.state["page"] and "Your score" not in request.state["page"]
    assert request.state["actions"][-1] == "click[buy now]"


def test_where_nobody_gives_an_instruction_the_rules_and_the_start_are_what_was_told():
    request = outcome_request(played(LAKE, "oracle"))
    assert request.state["instruction"].startswith("You are on a frozen lake.")
    assert (
        request.state["instruction"].endswith("P__G\n_O__\n__O_\n_O__") or "Turn 1 of" in request.state["instruction"]
    )


def test_the_same_play_gives_the_same_request_and_hostile_actions_stay_on_their_line():
    assert outcome_request(played(LAKE, "oracle")) == outcome_request(played(LAKE, "oracle"))
    trajectory = ended("0")
    trajectory.steps[0].action, trajectory.steps[0].info = "a\n2. b\ud800" * 9999, {"actions": [], "valid": False}
    (line,) = outcome_request(trajectory).state["actions"]
    assert "\n" not in line and line.endswith("(invalid)")
    json.dumps(outcome_request(trajectory).state).encode()


def test_an_episode_without_steps_can_be_asked_about():
    request = outcome_request(Trajectory(system_prompt="Rules.", final_observation="Start"))
    assert request.state == {"instruction": "Rules.\nStart", "actions": [], "page": "Start"}


def test_outcomes_are_probabilities_and_none_where_nobody_can_tell():
    judge = Counting(Verdict(0.9, "toy"), JudgeFault("away"), Verdict(0.1, "toy"))
    cut = ended("0", fault={"kind": "EnvFault", "message": "gone"})
    given = [ended("0"), ended("1"), ended("2"), cut, ended("0")]
    assert outcomes(given, judge, batch_size=2) == [0.9, None, 0.1, None, 0.9]
    assert [len(batch) for batch in judge.batches] == [2, 1]  # equal episodes are asked about once
    assert isinstance(judged(given, judge)[1], JudgeFault) and judged(given, judge)[3] is None
    assert outcomes([], judge) == []


def test_a_judge_that_cannot_be_made_is_the_users_to_mend():
    with pytest.raises(ConfigError, match="unknown judge"):
        outcomes([ended("0")], "outcom")
