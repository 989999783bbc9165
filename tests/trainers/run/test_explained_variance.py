"""The critic's ceiling: the estimator by hand and against known variances; replays that go through visited states."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, Start
from agentrl.trainers.algorithms import ppo, steppo
from agentrl.trainers.run.explained_variance import (
    explained_and_ceiling,
    explained_variance_ceiling,
    said_again,
    variance_components,
    visited_states,
)
from agentrl.trainers.update.batch import Batch
from tests.longer import only
from tests.trainers import toys
from tests.trainers.episodes import conversation
from tests.trainers.runs import assert_same_run, lines

NAMES = ("explained_variance_at_turns", "explained_variance_ceiling")


def test_the_components_of_a_small_table_by_hand() -> None:
    # Means 2 and 5 around 3.5: spread 2 * (1.5^2 + 1.5^2) / 1 = 9. Within: (1 + 1 + 4 + 4) / 2 = 5. (9 - 5) / 2 = 2.
    numbers, states = np.array([1.0, 3.0, 3.0, 7.0]), np.array([0, 0, 1, 1])
    assert variance_components(numbers, states) == (2.0, 5.0)
    explained, ceiling = explained_and_ceiling(numbers, np.array([2.0, 2.0, 5.0, 5.0]), states)
    assert ceiling == pytest.approx(2 / 7)
    # The best critic leaves no spread between states: (0 - 5) / 2 = -2.5 by the same estimator.
    assert explained == pytest.approx(1 - (5 - 2.5) / 7)


def test_unequal_counts_by_hand() -> None:
    # Three numbers of one state (mean 2), one of another (6); mean of all 3. Spread 3 * 1 + 1 * 9 = 12,
    # within 2 / 2 = 1, counts worth (4 - 10 / 4) / 1 = 1.5: (12 - 1) / 1.5.
    between, within = variance_components(np.array([1.0, 2.0, 3.0, 6.0]), np.array([5, 5, 5, 9]))
    assert (between, within) == (pytest.approx(22 / 3), 1.0)


@pytest.mark.parametrize("states", [[0, 0, 0], [0, 1, 2]])
def test_one_state_or_one_number_of_each_says_nothing(states) -> None:
    with pytest.raises(ValueError, match="two states"):
        variance_components(np.array([1.0, 2.0, 3.0]), np.array(states))


def drawn(rng: np.random.Generator, between: float, within: float, counts: np.ndarray):
    """Returns of states with known variances; what is expected there; the labels."""
    states = np.repeat(np.arange(len(counts)), counts)
    expected = rng.normal(3.0, np.sqrt(between), len(counts))[states]
    return expected + rng.normal(0.0, np.sqrt(within), len(states)), expected, states


@pytest.mark.parametrize(("between", "within"), [(1.0, 3.0), (0.2, 1.0), (2.0, 0.1), (0.0, 1.0)])
@pytest.mark.parametrize("even", [True, False])
def test_the_components_have_no_bias(between, within, even) -> None:
    rng = np.random.default_rng(0)
    counts = np.full(24, 4) if even else rng.integers(1, 8, 24)
    found = np.array([variance_components(*drawn(rng, between, within, counts)[::2]) for _ in range(1000)])
    error = 4 * found.std(0) / np.sqrt(len(found))
    assert abs(found[:, 0].mean() - between) < error[0]
    assert abs(found[:, 1].mean() - within) < error[1]
    if even and within >= 1:  # what a plain variance of the means would say: too much by within / 4
        means = found[:, 0] + found[:, 1] / 4
        assert abs(means.mean() - between) > error[0]


def test_the_best_critic_reaches_the_ceiling_and_half_a_critic_a_part_of_it() -> None:
    rng = np.random.default_rng(1)
    returns, expected, states = drawn(rng, 1.0, 3.0, np.full(300, 8))
    best = explained_variance_ceiling(returns, expected, states, states)
    assert best.ceiling == pytest.approx(0.25, abs=0.04)
    assert best.explained == pytest.approx(best.ceiling, abs=0.03)
    half = explained_variance_ceiling(returns, 3 + 0.5 * (expected - 3), states, states)
    assert half.explained == pytest.approx(0.75 * 0.25, abs=0.04)  # 1 - (3 + 0.25) / 4
    constant = explained_variance_ceiling(returns, np.full_like(returns, 8.0), states, states)
    assert constant.explained == pytest.approx(0.0, abs=1e-9)


def test_the_error_is_that_of_repeated_measurements() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(150):
        returns, expected, states = drawn(rng, 1.0, 2.0, np.full(40, 5))
        found.append(explained_variance_ceiling(returns, 0.7 * expected, states, states // 2))
    table = np.array(found)
    assert table[:, 3].mean() == pytest.approx(table[:, 2].std(), rel=0.25)
    assert table[:, 1].mean() == pytest.approx(table[:, 0].std(), rel=0.25)


def test_equal_returns_leave_nothing_to_explain() -> None:
    returns, states = np.full(8, 0.1), np.repeat(np.arange(4), 2)
    assert explained_variance_ceiling(returns, np.arange(8.0), states, states) == (0.0, 0.0, 0.0, 0.0)


# ---------------------------------------------------------------------- replays


def test_every_turn_is_as_likely_to_be_visited_again_as_any_other() -> None:
    batch = Batch([conversation([[4, 5], [6], [7]], id="long"), conversation([[9]], id="short")])
    seen = [
        (state.trajectory.id, state.turn)
        for seed in range(200)
        for state in visited_states(batch, 2, torch.Generator().manual_seed(seed))
    ]
    counts = {place: seen.count(place) for place in set(seen)}
    assert set(counts) == {("long", 0), ("long", 1), ("long", 2), ("short", 0)}
    assert all(70 < count < 130 for count in counts.values())
    assert len(visited_states(batch, 99, torch.Generator())) == 4


def test_an_opening_is_played_again_word_for_word_and_then_the_policy_plays_on(undecided, tmp_path) -> None:
    spec = toys.ppo(undecided, tmp_path, env_kwargs={"turns": 4}).specs()
    collector = Collector(spec, HFPolicy(undecided, max_new_tokens=3, device="cpu"), num_envs=3)
    (first,) = collector.collect([Start(5, id="a")]).trajectories
    opening = tuple(map(said_again, first.steps[:2]))
    again = collector.collect([Start(5, id=f"b{n}", opening=opening) for n in range(12)]).trajectories
    collector.close()
    assert all(one.steps[:2] == first.steps[:2] and len(one.steps) == 4 for one in again)
    assert all(one.steps[2].prompt_ids == first.steps[2].prompt_ids for one in again)
    assert len({tuple(step.action for step in one.steps[2:]) for one in again}) > 2
    assert Batch(again).rows[0].logprobs[:4] == Batch([first]).rows[0].logprobs[:4]


CASES = {
    "masked": (toys.ppo, ppo.train, {}),
    "at turns": (toys.ppo, ppo.train, {"reward_at": "turn", "group_size": 4}),
    "vanilla": (toys.ppo, ppo.train, {"variant": "vanilla"}),
    "bilevel": (toys.ppo, ppo.train, {"variant": "bilevel"}),
    "steps": (toys.steppo, steppo.train, {"prompt_style": "step"}),
}


@pytest.mark.parametrize("name", only(("masked", "steps"), CASES))
def test_runs_measure_the_ceiling_and_are_otherwise_as_without(undecided, tmp_path, name) -> None:
    make, train, change = CASES[name]
    given = {"iterations": 3, "env_kwargs": {"turns": 3}, "save_every": 3, "save_trajectories": 4, **change}
    measured = train(
        make(
            undecided,
            tmp_path / "a",
            mc_rollout_every=2,
            mc_rollout_states=8,
            mc_rollouts_per_state=4,
            **given,
        )
    )
    plain = train(make(undecided, tmp_path / "b", **given))
    found = [line["loss"] for line in lines(measured, "train")]
    assert [NAMES[1] in loss for loss in found] == [False, True, True]  # every second, and the last
    for loss in found[1:]:
        assert all(np.isfinite(loss[name]) and loss[f"{name}_error"] >= 0 for name in NAMES)
        assert loss[NAMES[1]] <= 1.0 and loss[NAMES[0]] <= 1.0
    assert all(line["warning"] != "mc_rollouts" for line in lines(measured, "warning"))
    without_ceiling(measured)
    assert_same_run(measured, plain, 3)


def without_ceiling(folder) -> None:
    """Take the four figures out of the metrics again."""
    kept = lines(folder)
    for line in kept:
        for name in [name for name in line.get("loss", {}) if name.startswith(NAMES)]:
            del line["loss"][name]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))


@pytest.mark.long
def test_the_ceiling_of_a_task_that_is_decided_by_its_state(undecided, tmp_path) -> None:
    # Each of two turns is a coin (variance 1/4). With reward_at=end the first one's reward counts in the return of the
    # second turn, too, and is known there: half of the variance can be foreseen at second turns, nothing at first ones.
    args = toys.ppo(
        undecided,
        tmp_path / "run",
        iterations=1,
        episodes=128,
        env_kwargs={"turns": 2},
        mc_rollout_every=1,
        mc_rollout_states=128,
    )
    (line,) = lines(ppo.train(args), "train")
    found, error = line["loss"][NAMES[1]], line["loss"][f"{NAMES[1]}_error"]
    assert 0.02 < error < 0.15
    assert found == pytest.approx(0.25, abs=3 * error)
    assert abs(line["loss"][NAMES[0]]) < 0.01  # the critic has learned nothing yet


def test_an_environment_that_does_not_repeat_is_named(undecided, tmp_path, monkeypatch) -> None:
    from tests.trainers.arms import ArmsEnv

    counter = iter(range(10**6))
    monkeypatch.setattr(ArmsEnv, "_see", lambda self: {"text": f"turn {self.turn} of day {next(counter)}"})
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", iterations=1, mc_rollout_every=1))
    (warning,) = lines(folder, "warning")
    assert warning["warning"] == "mc_rollouts" and "does not lead to the same state" in warning["detail"]
    assert NAMES[1] not in lines(folder, "train")[0]["loss"]


@pytest.mark.parametrize(
    "wrong",
    [{"mc_rollout_every": -1}, {"mc_rollouts_per_state": 1}, {"mc_rollout_states": 1}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_options_that_measure_nothing_are_refused(wrong) -> None:
    with pytest.raises(ConfigError, match="must be"):
        ppo.PPO(**wrong)


def test_a_critic_that_is_asked_at_the_end_of_turns_has_no_ceiling_there() -> None:
    with pytest.raises(ConfigError, match="released"):
        ppo.PPO(variant="turn", form="released", mc_rollout_every=1)
