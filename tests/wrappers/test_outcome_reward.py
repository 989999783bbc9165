"""A judge's word about the outcome is paid at the end: at once or later, and never as a zero that nobody gave."""

from __future__ import annotations

import json
import pickle

import gymnasium as gym
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.policies import load_policy
from agentrl.rollout.episode import play_episode
from agentrl.rollout.judging import settle
from agentrl.rollout.outcomes import outcome_request
from agentrl.wrappers import History, OutcomeReward, Reasoning, ReasoningReward
from tests.toy_judges import Constant, Down

LAKE, WEB = "agentrl/FrozenLake-Text-v0", "agentrl/WebArenaLite-Text-v0"
SURE, HALF = {"kind": "tests.toy_judges:Constant", "value": 0.8}, {"kind": "tests.toy_judges:Constant", "value": 0.5}


def played(env, player="oracle", seed=3):
    with env:
        return play_episode(env, load_policy(player), seed)


def end(trajectory):
    return trajectory.steps[-1]


def test_the_last_turn_is_paid_by_the_judge_and_no_other():
    trajectory = played(OutcomeReward(gym.make(LAKE), SURE, weight=2.0))
    assert all("outcome" not in step.reward_terms for step in trajectory.steps[:-1])
    assert (
        end(trajectory).reward_terms["outcome"] == 2.0 and end(trajectory).info["verdicts"]["outcome"]["score"] == 0.8
    )
    assert end(trajectory).reward == pytest.approx(sum(end(trajectory).reward_terms.values()))


def test_a_threshold_pays_all_or_nothing_and_none_pays_the_probability():
    terms = [
        end(played(OutcomeReward(gym.make(LAKE), judge, threshold=threshold))).reward_terms["outcome"]
        for judge, threshold in ((SURE, 0.5), (HALF, 0.5), (SURE, None), (SURE, 0.9))
    ]
    assert terms == [1.0, 0.0, 0.8, 0.0]


@pytest.mark.parametrize("player", ["oracle", "random"])
def test_replacing_leaves_the_judges_word_alone_for_success(player):
    plain = played(gym.make(LAKE), player)
    replaced = played(OutcomeReward(gym.make(LAKE), {**SURE, "value": 0.2}, replace=True), player)
    assert set(end(replaced).reward_terms) <= {"step", "invalid", "outcome"}
    assert end(replaced).reward_terms["outcome"] == 0.0
    assert replaced.success == plain.success  # evaluations still know
    assert player == "random" or plain.reward > replaced.reward


def test_an_environment_that_pays_the_term_itself_must_be_replaced_or_hidden():
    with pytest.raises(ConfigError, match="replace=True"):
        played(OutcomeReward(gym.make(WEB), SURE), "oracle")
    hidden = played(OutcomeReward(gym.make(WEB, hide_outcome=True), SURE))
    replaced = played(OutcomeReward(gym.make(WEB), SURE, replace=True))
    assert end(hidden).reward_terms == end(replaced).reward_terms == {"outcome": 1.0}
    assert hidden.reward == replaced.reward == 1.0 and not end(hidden).pending


def test_a_fault_leaves_the_term_pending_and_it_is_settled_later():
    trajectory = played(OutcomeReward(gym.make(LAKE), Down(), replace=True))
    assert end(trajectory).pending == ["outcome"] and trajectory.reward is None
    assert "outcome" not in end(trajectory).reward_terms and end(trajectory).info["judge_faults"]["outcome"]
    report = settle([trajectory], Constant(0.7))
    assert report.settled == 1 and end(trajectory).reward_terms["outcome"] == 1.0 and trajectory.reward is not None


@pytest.mark.parametrize("threshold", [0.5, None, 0.75])
def test_deferred_and_settled_is_the_same_as_judged_at_once(threshold):
    deferred = played(OutcomeReward(gym.make(LAKE), SURE, threshold=threshold, deferred=True))
    assert deferred.reward is None and end(deferred).pending == ["outcome"]
    settle([deferred], SURE)
    at_once = played(OutcomeReward(gym.make(LAKE), SURE, threshold=threshold))
    assert [step.reward_terms for step in deferred.steps] == [step.reward_terms for step in at_once.steps]
    assert deferred.reward == at_once.reward


def test_the_question_is_that_about_the_trajectory():
    trajectory = played(OutcomeReward(gym.make(WEB, observation_mode="compact"), SURE, replace=True))
    (asked,) = end(trajectory).info["judge_requests"]
    whole = outcome_request(trajectory)
    assert asked["state"] == whole.state and asked["text"] == whole.text and asked["purpose"] == "outcome"


@pytest.mark.parametrize("outside", [True, False])
def test_reasoning_rewards_and_outcomes_are_judged_in_one_stack(outside):
    env = Reasoning(gym.make(LAKE), "grounding")
    if outside:
        env = OutcomeReward(ReasoningReward(env, "rule"), SURE)
    else:
        env = ReasoningReward(OutcomeReward(env, SURE), "rule")
    trajectory = played(History(env, 2))
    assert {"grounding", "outcome"} <= set(end(trajectory).reward_terms)
    assert {one["term"] for one in end(trajectory).info["judge_requests"]} == {"grounding", "outcome"}
    assert set(end(trajectory).info["verdicts"]) == {"grounding", "outcome"}


def test_a_stack_is_rebuilt_from_its_spec_and_continues_from_a_snapshot():
    env = OutcomeReward(gym.make(LAKE, max_actions_per_turn=1, max_turns=9), SURE, replace=True)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    env.reset(seed=3)
    env.step(env.unwrapped.oracle())
    again.reset(seed=5)
    agentrl.restore(again, agentrl.snapshot(env))
    while True:
        action = env.unwrapped.oracle()
        first, second = env.step(action), again.step(action)
        assert first[1] == second[1] and first[4] == second[4]
        if first[2] or first[3]:
            break
    assert first[4]["reward_terms"]["outcome"] == 1.0
    assert "outcome" not in env.step("Left")[4]["reward_terms"]  # the episode is over, and paid for
    assert pickle.loads(pickle.dumps(env)).weight == 1.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"judge": "rule"}, "scores grounding"),
        ({"judge": SURE, "threshold": 1.0}, "threshold must be"),
        ({"judge": SURE, "threshold": float("nan")}, "threshold"),
        ({"judge": SURE, "weight": float("inf")}, "weight"),
        ({"judge": SURE, "replace": 1}, "replace must be True or False"),
        ({"judge": 7}, "judge must be"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_built(arguments, says):
    with pytest.raises(ConfigError, match=says):
        OutcomeReward(gym.make(LAKE), **arguments)


def test_kinds_without_text_and_second_ones_are_refused():
    with pytest.raises(ConfigError, match="Text or Visual kind"):
        OutcomeReward(gym.make("agentrl/FrozenLake-Grid-v0"), SURE)
    with pytest.raises(ConfigError, match="already"):
        OutcomeReward(OutcomeReward(gym.make(LAKE), SURE), SURE)


def test_requests_can_be_written_and_hold_no_result():
    trajectory = played(OutcomeReward(gym.make(LAKE), SURE, deferred=True))
    (asked,) = end(trajectory).info["judge_requests"]
    assert "reached" not in json.dumps(asked)
