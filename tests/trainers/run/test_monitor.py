"""The monitor: it sees farming and its relatives, and leaves healthy runs alone."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.trainers.run.monitor import Monitor


def train(iteration, *, episodes=256, success=0.5, reward=0.5, spread=0.5, valid=1.0, **loss):
    half = 1.96 * spread / math.sqrt(episodes)
    losses = {"entropy": 0.8, "kl": 0.01, "approx_kl": 0.005, **loss}
    return {
        "iteration": iteration,
        "kind": "train",
        "episodes": episodes,
        "success": success,
        "reward_mean": reward,
        "reward_ci": [reward - half, reward + half],
        "valid_rate": valid,
        "loss": losses,
    }


def run(lines, monitor=None):
    monitor = monitor or Monitor()
    return [(w["warning"], w["iteration"]) for line in lines for w in monitor.update(line)]


def simulated(rng, success_of, form_of, iterations=100, episodes=256, wobble=0.3):
    """A run as sampling makes it: every episode drawn, and a policy whose true success drifts to and fro by itself."""
    drift = 0.0
    for iteration in range(iterations):
        drift = 0.7 * drift + rng.normal(0, wobble)
        chance = 1 / (1 + math.exp(-(math.log(success_of(iteration) / (1 - success_of(iteration))) + drift)))
        wins = rng.random(episodes) < chance
        form = form_of(iteration) + rng.normal(0, 0.03)
        rewards = wins - 0.1 * rng.integers(3, 10, episodes) + 0.5 * (rng.random(episodes) < form)
        line = train(iteration, episodes=episodes, success=float(wins.mean()), reward=float(rewards.mean()))
        half = 1.96 * float(rewards.std(ddof=1)) / math.sqrt(episodes)
        yield {**line, "reward_ci": [line["reward_mean"] - half, line["reward_mean"] + half]}


def ramp(start, end, over):
    return lambda iteration: start + (end - start) * min(1.0, iteration / over)


# ---------------------------------------------------------------------- farming


def farming_run(rng, iterations=60, episodes=256):
    """The run this warning was made for: reward climbs to 1.2 while success goes from 0.03 to 0.00 and stays."""
    for iteration in range(iterations):
        chance = 0.03 * math.exp(-iteration / 6)
        wins = sum(rng.random() < chance for _ in range(episodes))
        reward = 1.2 - 1.0 * math.exp(-iteration / 10) + rng.gauss(0, 0.03)
        yield train(iteration, episodes=episodes, success=wins / episodes, reward=reward)


@pytest.mark.parametrize("episodes", [32, 64, 256, 512])
def test_reward_without_the_task_is_farming_and_said_once(episodes):
    for seed in range(5):
        warnings = run(farming_run(random.Random(seed), episodes=episodes))
        assert [name for name, _ in warnings] == ["reward_hacking"]
        assert warnings[0][1] <= 24


def test_a_good_policy_that_gives_the_task_up_is_reward_hacking():
    lines = [train(i, success=max(0.2, 0.6 - 0.01 * i), reward=0.5 + 0.02 * i) for i in range(40)]
    monitor = Monitor()
    (warning,) = [w for line in lines for w in monitor.update(line)]
    assert warning["warning"] == "reward_hacking" and warning["kind"] == "warning"
    assert "reward rose" in warning["detail"] and "success" in warning["detail"]
    assert monitor.active == ("reward_hacking",)


def test_healthy_noisy_runs_raise_no_alarm():
    """120 runs of 100 noisy iterations, not one alarm (over 1,600 longer ones the rate was 0.25 %)."""
    rng, alarms = np.random.default_rng(1), 0
    plans = [
        (ramp(0.16, 0.65, 80), ramp(0.5, 1.0, 20)),  # the described healthy run: form first, then the task
        (ramp(0.4, 0.9, 40), ramp(1.0, 1.0, 1)),  # learns, then stays at its ceiling
        (ramp(0.3, 0.3, 1), ramp(0.8, 0.8, 1)),  # learns nothing at all
        (ramp(0.02, 0.02, 1), ramp(0.6, 0.6, 1)),  # at the floor, and the reward does not rise either
    ]
    for index in range(120):
        success, form = plans[index % 4]
        episodes = (64, 128)[index % 3 == 0]
        alarms += bool(run(simulated(rng, success, form, episodes=episodes)))
    assert alarms == 0


def test_a_fall_of_both_is_not_reward_hacking():
    assert run(train(i, success=0.6 - 0.01 * i, reward=1.0 - 0.02 * i) for i in range(50)) == []


def test_it_comes_again_only_after_it_was_away():
    def phase(start, good):
        success, reward = (0.9, 2.0) if good else (0.0, 3.0)
        return [train(start + i, success=success, reward=reward) for i in range(30)]

    lines = [*(train(i, success=0.4, reward=0.2) for i in range(16))]
    warnings = run([*lines, *phase(16, False), *phase(46, True), *phase(76, False)])
    assert [name for name, _ in warnings] == ["reward_hacking", "reward_hacking"]
    assert warnings[0][1] < 46 and warnings[1][1] >= 76


# ---------------------------------------------------------------------- the others


def test_a_policy_that_no_longer_tries_has_collapsed():
    lines = [train(i, entropy=0.8 * 0.5**i, success=0.2) for i in range(12)]
    assert run(lines) == [("entropy_collapse", 6)]


def test_low_entropy_with_high_success_is_how_it_should_end():
    assert run(train(i, entropy=0.8 * 0.5**i, success=0.9) for i in range(12)) == []


def test_equal_rewards_teach_nothing():
    assert run(train(i, reward=-0.3, spread=0.0, success=0.0) for i in range(5)) == [("no_signal", 2)]
    assert run(train(i, reward=1.0, spread=0.0, success=1.0) for i in range(5)) == []
    assert run(train(i, episodes=1, spread=0.0, success=0.0) for i in range(5)) == []


def test_kl_that_blows_up_in_one_update_against_the_reference_or_into_nan():
    assert run(train(i, approx_kl=0.5) for i in range(4)) == [("kl_blowup", 2)]
    assert run(train(i, kl=0.02 if i < 10 else 4.0) for i in range(20)) == [("kl_blowup", 11)]
    assert run(train(i, kl=math.nan if i == 3 else 0.01) for i in range(6)) == [("kl_blowup", 3)]
    assert run(train(i, kl=0.01 * 1.05**i) for i in range(100)) == []  # far, but slowly
    assert run(train(i, approx_kl=5.0 if i == 4 else 0.01) for i in range(9)) == []  # one odd batch


def test_validity_that_falls_below_half_is_told_and_one_that_rises_from_there_is_not():
    assert run(train(i, valid=0.9 - 0.05 * i) for i in range(15)) == [("invalid_actions", 10)]
    assert run(train(i, valid=min(1.0, 0.05 + 0.05 * i)) for i in range(30)) == []


def test_skipped_steps_are_told_when_they_begin():
    assert run(train(i, skipped_steps=2 if 3 <= i < 9 else 0) for i in range(12)) == [("skipped_steps", 3)]


# ---------------------------------------------------------------------- lines and state


@pytest.mark.parametrize("cut", [1, 7, 8, 9, 15, 16, 17, 30, 45])
def test_a_resumed_monitor_goes_on_exactly_as_the_uninterrupted_one(cut):
    lines = [*farming_run(random.Random(3)), *(train(60 + i, kl=math.inf, success=0.8) for i in range(30))]
    whole = run(lines)
    first = Monitor()
    warnings = run(lines[:cut], first)
    second = Monitor.from_json(json.loads(json.dumps(first.to_json(), allow_nan=False)))
    assert second.to_json() == first.to_json()
    assert warnings + run(lines[cut:], second) == whole and len(whole) == 2


def test_memory_stays_small_however_long_the_run():
    monitor = Monitor()
    run((train(i) for i in range(3000)), monitor)
    assert len(json.dumps(monitor.to_json())) < 20_000


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"kind": "train"},
        {"kind": "eval", "success": 0.0},
        {"kind": "train", "episodes": None, "success": None, "loss": None, "reward_ci": None},
        {"kind": "train", "episodes": "many", "success": "all", "loss": [1], "reward_ci": [1], "reward_mean": True},
        {"kind": "train", "episodes": -3, "success": 7.0, "loss": {"nll": 2.0}, "reward_ci": "ab"},
        {"kind": "train", "episodes": math.nan, "success": math.nan, "reward_mean": math.inf},
    ],
)
def test_lines_that_say_nothing_raise_nothing(line):
    assert run([line] * 40) == []


@pytest.mark.parametrize("data", [None, [], {}, {"schema": 1}, {**Monitor().to_json(), "memory": {"beats": 3}}])
def test_a_state_that_is_none_is_refused(data):
    with pytest.raises(ConfigError):
        Monitor.from_json(data)


@pytest.mark.parametrize("arguments", [{"window": 2}, {"sigma": 0}, {"floor": 1.0}, {"window": "8"}])
def test_arguments_that_cannot_work_are_named(arguments):
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        Monitor(**arguments)
