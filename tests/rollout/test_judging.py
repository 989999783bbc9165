"""Judging afterwards: nothing lost, nothing zeroed, asked once, settled in as many calls as it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.response import build_response
from agentrl.policies import load_policy
from agentrl.rollout.episode import record_episode
from agentrl.rollout.judging import settle
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter, read_trajectories
from agentrl.wrappers import Reasoning, ReasoningReward, RepetitionPenalty
from tests import toy_judges as toys

BOTH = "grounding_worldmodeling"


def stack(judge: Any = "tests.toy_judges:Exact", penalty: bool = False, **options: Any) -> gym.Env:
    env = ReasoningReward(Reasoning(gym.make("agentrl/Sokoban-Text-v0"), BOTH), judge, **options)
    return RepetitionPenalty(env) if penalty else env


def gold_runs(env: gym.Env, seeds: range = range(6)) -> list[Trajectory]:
    return [record_episode(env, load_policy("oracle"), seed) for seed in seeds]


class Parrot:
    """Always says the same, right or wrong."""

    name = "parrot"

    def act(self, conversations, envs=None):
        from agentrl.core.policy import Generation

        texts = {"observation": "left", "reasoning": "?", "prediction": "left", "answer": "Up"}
        text = build_response(BOTH, texts)
        return [Generation(text, text) for _ in conversations]


def outcome(trajectories: list[Trajectory]) -> list[Any]:
    return [
        (t.reward, [(s.reward, s.reward_terms, s.pending, s.info["verdicts"], s.info["judge_faults"]) for s in t.steps])
        for t in trajectories
    ]


@pytest.mark.parametrize("penalty", [False, True])
@pytest.mark.parametrize("judge", [toys.Exact(), toys.ByLength(), toys.Constant(0.3)])
@pytest.mark.parametrize("policy", [load_policy("oracle"), Parrot()])
def test_judged_later_is_judged_the_same(judge: Any, policy: Any, penalty: bool) -> None:
    at_once, later = stack(judge, penalty), stack(judge, penalty, deferred=True)
    now = [record_episode(at_once, policy, seed) for seed in range(6)]
    then = [record_episode(later, policy, seed) for seed in range(6)]
    assert all(trajectory.reward is None for trajectory in then)
    report = settle(then, judge)
    assert outcome(then) == outcome(now)
    assert report.settled == 6 and report.pending == report.faults == 0
    assert report.judged == report.requests == sum(2 * len(t.steps) for t in then)


def test_a_parrot_is_penalised_later_as_it_would_have_been_at_once() -> None:
    env = stack(penalty=True, deferred=True)
    (trajectory,) = [record_episode(env, Parrot(), 0)]
    assert [step.pending for step in trajectory.steps][1] == ["grounding", "worldmodeling", "repetition"]
    settle([trajectory], toys.Constant(0.1))
    assert [step.reward_terms.get("repetition") for step in trajectory.steps] == [None, -0.1, -0.1]
    settle([trajectory], toys.Constant(0.9), again=True)
    assert [step.reward_terms.get("repetition") for step in trajectory.steps] == [None, None, None]


def test_equal_requests_are_asked_once_and_in_batches() -> None:
    env = stack(deferred=True)
    trajectories = gold_runs(env) + gold_runs(env)
    toys.Counting.batches.clear()
    report = settle(trajectories, toys.Counting(), batch_size=4)
    asked = [request for batch in toys.Counting.batches for request in batch]
    assert max(map(len, toys.Counting.batches)) == 4
    assert len(asked) == report.distinct <= report.requests // 2
    assert len({(r.purpose, r.text, json.dumps(r.state)) for r in asked}) == len(asked)
    assert report.cost == pytest.approx(0.25 * report.distinct)
    assert settle(trajectories, toys.Counting()).requests == 0  # nothing is left to ask


def test_what_fails_stays_pending_with_the_reason_and_is_settled_by_a_later_call() -> None:
    trajectories, reference = gold_runs(stack(deferred=True)), gold_runs(stack())
    report = settle(trajectories, toys.Flaky(5), batch_size=3)
    assert report.faults == 5 and report.judged == report.requests - 5
    assert report.pending == sum(t.pending for t in trajectories) > 0
    for step in (step for t in trajectories for step in t.steps):
        assert set(step.pending) == set(step.info["judge_faults"])
        assert not set(step.pending) & set(step.reward_terms)
    assert all((t.reward is None) == t.pending for t in trajectories)
    again = settle(trajectories, toys.Exact())
    assert again.requests == 5 and again.pending == 0
    assert outcome(trajectories) == outcome(reference)


@pytest.mark.parametrize("judge", [toys.Down(), toys.Raising(), toys.Short(), toys.Says("YES"), toys.Says(None)])
def test_an_outage_loses_nothing_and_zeroes_nothing(judge: Any) -> None:
    trajectories = gold_runs(stack(deferred=True))
    before = [[(step.reward, step.reward_terms, step.pending) for step in t.steps] for t in trajectories]
    for _ in range(3):
        report = settle(trajectories, judge)
        assert report.faults == report.requests and report.judged == report.settled == 0
    assert [[(step.reward, step.reward_terms, step.pending) for step in t.steps] for t in trajectories] == before
    assert "canary" not in json.dumps([t.to_json() for t in trajectories])
    settle(trajectories, toys.Exact())
    assert outcome(trajectories) == outcome(gold_runs(stack()))


def test_faults_while_playing_can_be_settled_too() -> None:
    trajectories = gold_runs(stack(toys.Flaky(4)))
    assert sum(t.pending for t in trajectories)
    settle(trajectories, toys.Exact())
    assert [t.reward for t in trajectories] == [t.reward for t in gold_runs(stack())]


def test_an_interruption_keeps_what_was_judged() -> None:
    class Impatient(toys.Exact):
        left = 3

        def score_sync(self, requests):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().score_sync(requests)

    trajectories = gold_runs(stack(deferred=True))
    with pytest.raises(KeyboardInterrupt):
        settle(trajectories, Impatient(), batch_size=4)
    done = sum(len(step.info["verdicts"]) for t in trajectories for step in t.steps)
    assert done >= 8 and any(t.pending for t in trajectories)
    settle(trajectories, toys.Exact())
    assert outcome(trajectories) == outcome(gold_runs(stack()))


def test_it_goes_through_a_file_and_back(tmp_path: Path) -> None:
    played = gold_runs(stack(deferred=True, penalty=True))
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        for trajectory in played:
            writer.write(trajectory)
    stored = read_trajectories(tmp_path / "a.jsonl")
    settle(stored, "tests.toy_judges:Exact")
    settle(played, "tests.toy_judges:Exact")
    assert stored == played


def test_judging_again_replaces_every_verdict_and_a_failing_judge_leaves_none_of_the_old() -> None:
    trajectories = gold_runs(stack())
    settle(trajectories, toys.Constant(0.2), again=True)
    steps = [step for t in trajectories for step in t.steps]
    assert all(step.reward_terms["grounding"] == step.reward_terms["worldmodeling"] == 0.1 for step in steps)
    assert [t.reward for t in trajectories] == pytest.approx(
        [t.reward - 0.8 * len(t.steps) for t in gold_runs(stack())]
    )
    settle(trajectories, toys.Down(), again=True)
    assert all(t.reward is None for t in trajectories)
    assert all(not step.info["verdicts"] and "grounding" not in step.reward_terms for step in steps)


def test_an_episode_that_a_fault_cut_short_never_gets_a_reward() -> None:
    (trajectory,) = gold_runs(stack(deferred=True), range(1))
    trajectory.fault = {"kind": "EnvFault", "detail": "gone"}
    report = settle([trajectory], toys.Exact())
    assert report.judged and trajectory.reward is None and report.settled == 0 and not trajectory.pending


def test_terms_that_nobody_asked_about_stay_owed() -> None:
    trajectory = Trajectory(steps=[Step(pending=["outcome"])])
    assert settle([trajectory], toys.Exact()).pending == 1
    assert trajectory.reward is None and trajectory.steps[0].pending == ["outcome"]


@pytest.mark.parametrize(
    "info",
    [
        {"judge_requests": 3},
        {"judge_requests": [{"id": "x"}]},
        {"judge_requests": [{**dict.fromkeys(("id", "env_id", "text", "term"), "x"), "purpose": "fun", "state": {}}]},
        {"verdicts": {"grounding": {"score": 7}}},
        {"verdicts": []},
        {"repetition": {"frequent": 1}},
    ],
)
def test_files_that_hold_nonsense_are_refused_before_anything_changes(info: dict[str, Any]) -> None:
    (good,) = gold_runs(stack(deferred=True), range(1))
    bad = Trajectory(steps=[Step(info=info)])
    with pytest.raises(ConfigError, match="cannot be read"):
        settle([good, bad], toys.Exact())
    assert good.pending and good.reward is None


@pytest.mark.parametrize(("judge", "size"), [("no-such-judge", 1), (None, 1), (toys.Exact(), 0)])
def test_wrong_arguments_are_refused(judge: Any, size: int) -> None:
    with pytest.raises(ConfigError):
        settle([], judge, batch_size=size)
