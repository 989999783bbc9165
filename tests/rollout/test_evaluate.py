"""Evaluations: figures by hand, faults set aside, the pinned JSON."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, EnvFault, Fault
from agentrl.rollout.episode import make, play_episode
from agentrl.rollout.evaluate import EpisodeScore, effort, evaluate, margin, summarise
from agentrl.rollout.prompts import read_observation, user_message
from agentrl.rollout.statistics import mean_interval, wilson_interval

KEYS = {
    "schema", "id", "spec", "policy", "split", "seed", "episodes", "success", "success_ci", "reward_mean", "reward_ci",
    "reward_terms", "valid_rate", "format_rate", "effective_rate", "turns_mean", "truncated_rate", "faults", "seconds",
    "metrics",
}  # fmt: skip


def test_every_figure_equals_the_one_worked_out_by_hand(toy, script):
    policy = script(["yes", "yes"], ["no", "no"], ["bad", "no"], ["no", "yes"])
    result = evaluate(toy, policy, 4, seed=5, split="dev")
    assert (result.id, result.policy, result.split, result.seed, result.episodes) == (toy, "script", "dev", 5, 4)
    assert result.success == 0.5 and result.success_ci == wilson_interval(2, 4)
    assert result.reward_mean == -0.5 and result.reward_ci == mean_interval([1, -2, -2, 1])
    assert result.reward_terms == {"cost": -2.0, "yes": 1.5}
    assert result.valid_rate == 7 / 8
    assert result.effective_rate == 3 / 8
    assert result.format_rate == 3 / 4  # turns that were asked for no format do not count
    assert (result.turns_mean, result.truncated_rate, result.faults) == (2.0, 0.5, 0)
    assert result.outcomes == "1001"
    assert [facts and (facts.success, facts.turns) for facts in result.tasks] == [(c == "1", 2) for c in "1001"]
    assert [facts and facts.error is None for facts in result.tasks] == [c == "1" for c in "1001"]


def test_what_episodes_took_comes_with_margins(toy, script):
    metrics = evaluate(toy, script(["yes", "yes"], ["no", "no"], ["bad"], ["no", "yes"]), 3).metrics
    assert metrics["turns_margin"] >= 0.0
    assert "response_tokens" not in metrics  # nobody counted: the answers came without tokens
    assert margin([1.0]) is None and margin([]) is None
    low, high = mean_interval([1.0, 2.0, 6.0])
    assert margin([1.0, 2.0, 6.0]) == pytest.approx((high - low) / 2)


def test_reply_tokens_are_counted_by_the_episode():
    scores = [EpisodeScore(True, 1.0, {}, 2, 2, 2, [], False, tokens=tokens) for tokens in (3, 5, 10)]
    found = effort([*scores, EpisodeScore(False, 0.0, {}, 2, 2, 2, [], False)])
    assert found["response_tokens"] == 6.0
    assert found["response_tokens_margin"] == pytest.approx(margin([3.0, 5.0, 10.0]))
    assert found["turns_margin"] == 0.0


def test_plays_of_one_task_are_taken_together():
    """Groups of eight, as an iteration plays them: six tasks, and not forty-eight."""
    scores = [EpisodeScore(n < 24, float(n < 24), {}, 1, 1, 1, [], False, task=str(n // 8)) for n in range(48)]
    found = summarise(scores)
    assert found["success_ci"] == pytest.approx(wilson_interval(3, 6))
    assert found["reward_ci"][1] - found["reward_ci"][0] > 1.0


def test_an_episode_whose_machinery_failed_is_counted_and_never_scored(toy, script, toy_class):
    seen = []
    policy = script(["yes", "yes"], ["no", "break"], ["yes", "yes"], ["break"])
    result = evaluate(toy, policy, 4, on_episode=seen.append)
    assert (result.success, result.reward_mean, result.faults) == (1.0, 1.0, 2)
    assert result.success_ci == wilson_interval(2, 2)
    assert result.metrics["scored"] == 2 and result.outcomes == "1-1-"
    assert [facts is None for facts in result.tasks] == [False, True, False, True]
    assert [isinstance(episode, Fault) for episode in seen] == [False, True, False, True]
    assert toy_class.made == toy_class.closed == 2  # a broken environment is replaced; nothing is left open


def test_when_nothing_could_be_scored_there_are_no_figures_instead_of_zeros(toy, script):
    result = evaluate(toy, script(), 3, env_kwargs={"breaks": "reset"})
    figures = (
        result.success,
        result.success_ci,
        result.reward_mean,
        result.reward_ci,
        result.valid_rate,
        result.turns_mean,
    )
    assert figures == (None,) * 6
    assert (result.faults, result.reward_terms) == (3, {})
    assert json.dumps(result.to_json(), allow_nan=False)


def test_an_episode_with_a_pending_term_has_no_reward_yet(toy, script):
    result = evaluate(toy, script(["yes", "yes"]), 1, env_kwargs={"pending": True})
    assert result.success == 1.0
    assert result.reward_mean is None and result.reward_terms == {}
    assert result.metrics == {"scored": 1, "pending": 1}


def test_a_bug_is_not_a_fault(toy, toy_class):
    class Buggy:
        def act(self, conversations, envs=None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evaluate(toy, Buggy(), 1)
    assert toy_class.made == toy_class.closed


def test_the_json_has_exactly_the_pinned_keys_and_survives_a_round_trip():
    result = evaluate("agentrl/FrozenLake-Text-v0", "random", 5, seed=1).to_json()
    assert set(result) == KEYS
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert gym.make(gym.envs.registration.EnvSpec.from_json(json.dumps(result["spec"]))).unwrapped.split == "test"


@pytest.mark.parametrize("kind", ["Grid", "Text", "Visual"])
def test_oracle_is_perfect_and_terms_sum_to_the_reward(kind):
    result = evaluate(f"agentrl/FrozenLake-{kind}-v0", "oracle", 20, seed=2)
    assert result.success == 1.0 and result.valid_rate == 1.0 and result.format_rate is None
    assert sum(result.reward_terms.values()) == pytest.approx(result.reward_mean)


def test_the_same_seed_gives_the_same_result_and_another_gives_another():
    def run(seed):
        found = evaluate("agentrl/FrozenLake-Text-v0", "random", 20, seed=seed).to_json()
        return {key: value for key, value in found.items() if key not in ("seconds", "seed")}

    assert run(3) == run(3) != run(4)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"episodes": 0}, "episodes must be"),
        ({"episodes": True}, "episodes must be"),
        ({"seed": -1}, "seed must be"),
        ({"split": "validation"}, "split must be one of"),
        ({"env_id": "agentrl/FrozenLak-Text-v0"}, 'Did you mean "agentrl/FrozenLake-Text-v0"'),
        ({"env_id": None}, "an environment id must be a string"),
        ({"env_id": "no_such_module_here:x-v0"}, "cannot be made"),
        ({"env_id": "CartPole-v1", "env_kwargs": {"siz": 4}}, "cannot be made.*siz"),
        ({"policy": "oracel"}, 'Did you mean "oracle"'),
        ({"env_kwargs": {"siz": 4}}, 'Did you mean "size"'),
        ({"env_kwargs": {"split": "dev"}}, "split=..."),
        ({"env_kwargs": [1]}, "mapping"),
    ],
)
def test_bad_arguments_are_refused_with_what_to_change(changes, says):
    arguments = {"env_id": "agentrl/FrozenLake-Text-v0", "policy": "random", "episodes": 1, **changes}
    with pytest.raises(ConfigError, match=says):
        evaluate(**arguments)


def test_a_spec_that_no_json_can_hold_still_gives_an_evaluation(toy, script):
    # The toy is registered by its class, a live object.
    result = evaluate(toy, script(["yes", "yes"]), 1)
    assert result.spec is None and result.success == 1.0


def test_the_policy_sees_rules_observations_and_its_own_answers(toy, script):
    policy = script(["no", "yes"])
    play_episode(make(toy), policy, seed=9)
    assert [(m["role"], m["content"]) for m in policy.seen[1]] == [
        ("system", "Say yes."),
        ("user", "turn 0 of 9"),
        ("assistant", "no"),
        ("user", "turn 1"),
    ]


def test_the_record_keeps_what_was_seen_before_each_action(toy, script):
    episode = play_episode(make(toy), script(["no", "yes"]), seed=9)
    assert [(step.observation, step.action, step.reward) for step in episode.steps] == [
        ("turn 0 of 9", "no", -1.0),
        ("turn 1", "yes", 2.0),
    ]
    assert (episode.final_observation, episode.success, episode.task, episode.reward) == ("turn 2", True, "t", 1.0)


def test_faults_of_a_single_episode_come_through(toy, script):
    with pytest.raises(EnvFault):
        play_episode(make(toy), script(["break"]), seed=0)


def test_a_picture_comes_with_its_message_and_arrays_are_handed_over():
    env = make("agentrl/FrozenLake-Visual-v0")
    observation, _ = env.reset(seed=1)
    message = user_message(observation)
    assert message["content"].count("<image>") == len(message["images"]) == 1
    grid = make("agentrl/FrozenLake-Grid-v0")
    observation, _ = grid.reset(seed=1)
    message = user_message(observation)
    assert message["content"] == "" and message["observation"] is observation
    assert read_observation(observation) == ("", [])
