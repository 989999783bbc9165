"""GiGPO: the golden numbers through the trainer, anchors, penalties, and steps without a token."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
import torch

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation
from agentrl.rollout.episode import play_episode
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.algorithms import gigpo
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.policy import BatchScores
from tests.trainers import toys
from tests.trainers.algorithms.test_grpo import no_scores
from tests.trainers.episodes import conversation, episode
from tests.trainers.runs import lines

REPLIES = {"a": [[4, 5], [6]], "b": [[4], [7], [8, 9]]}
SEEN = {"a": ["s0", "s1"], "b": ["s0", "s1", "s1"]}
PAID = {"a": [0.0, 10.0], "b": [0.0, 0.0, 0.0]}
OWNERS = [0, 0, 0, 1, 1, 1, 1]  # of the tokens, in order
STEPS = [0, 0, 1, 2, 3, 4, 4]
GOLDEN = {
    "mean": [9.75, 11.666667, -9.75, -8.333333, -8.333333],
    "mean_std": [1.414213, 1.861807, -1.414213, -1.284457, -1.284457],
}


def played(style: str) -> list[Trajectory]:
    found = []
    for name, replies in REPLIES.items():
        turns = [([1, 2 + number], reply) for number, reply in enumerate(replies)]
        facts: dict[str, Any] = {"group_id": "g", "prompt_style": style}
        one = episode(turns, PAID[name], **facts) if style == "step" else conversation(replies, PAID[name], **facts)
        for step, seen in zip(one.steps, SEEN[name], strict=True):
            step.observation, step.info = seen, {"valid": True}
        found.append(one)
    return found


def credit(args: gigpo.GiGPO, trajectories: list[Trajectory]) -> list[float]:
    batch = Batch(trajectories)
    return gigpo.advantages(args, batch, no_scores(batch)).advantages[batch.action_mask].tolist()


@pytest.mark.parametrize("style", ["conversation", "step"])
@pytest.mark.parametrize("normalise", ["mean", "mean_std"])
def test_golden_numbers_arrive_on_the_tokens_of_their_steps(normalise, style) -> None:
    args = gigpo.GiGPO(normalise=normalise, kl_coef=0.0)
    wanted = [GOLDEN[normalise][step] for step in STEPS]
    assert credit(args, played(style)) == pytest.approx(wanted, abs=1e-5)


def test_an_invalid_action_costs_its_own_step_only() -> None:
    args = gigpo.GiGPO(normalise="mean", kl_coef=0.0, invalid_penalty=3.0, reward_scale=2.0)
    found = played("step")
    found[1].steps[1].info["valid"] = False
    before = credit(gigpo.GiGPO(normalise="mean", kl_coef=0.0, reward_scale=2.0), played("step"))
    change = [after - old for after, old in zip(credit(args, found), before, strict=True)]
    # Three steps stand at s1; one of them returns 6 less, so their mean falls by 2. The step before it sees nothing.
    assert change == pytest.approx([0, 0, 2, 0, -4, 2, 2], abs=1e-5)


def test_a_divergence_in_rewards_is_paid_by_the_step_that_diverged() -> None:
    args = gigpo.GiGPO(normalise="mean", kl_coef=1.0, kl_in="reward", kl_estimator="k1")
    batch = Batch(played("step"))
    nothing = torch.zeros_like(batch.logprobs)
    reference = batch.logprobs.clone()
    reference[0, 2] -= 4.0  # the last token of a, its second step
    scores = BatchScores(batch.logprobs, reference, nothing, nothing, torch.zeros(2))
    found = gigpo.advantages(args, batch, scores).advantages[batch.action_mask]
    # Its second step earns 6 in place of 10, and "mean" is linear; paid by the first step it would not be a multiple.
    assert found.tolist() == pytest.approx([0.6 * GOLDEN["mean"][step] for step in STEPS], abs=1e-5)


def test_a_step_or_a_trajectory_without_a_token_keeps_its_place_in_the_comparison() -> None:
    args = gigpo.GiGPO(normalise="mean", kl_coef=0.0)
    found = played("step")
    found[0].steps[0].response_ids, found[0].steps[0].logprobs = [], []
    assert credit(args, found) == pytest.approx([GOLDEN["mean"][step] for step in STEPS[2:]], abs=1e-5)
    for step in found[0].steps:
        step.response_ids, step.logprobs = [], []
    assert credit(args, found) == pytest.approx([GOLDEN["mean"][step] for step in STEPS[3:]], abs=1e-5)


@pytest.mark.parametrize("anchors", ["observation", "state"])
def test_without_states_anchors_are_exact_observations_pictures_included(anchors) -> None:
    args = gigpo.GiGPO(anchors=anchors)
    one, two = played("step")
    assert gigpo.anchor(args, one.steps[0]) == gigpo.anchor(args, two.steps[0]) != gigpo.anchor(args, one.steps[1])
    two.steps[0].images = ["f00d"]
    for hostile in ("s0", "s0f00d", "s0\0f00d", 's0", "f00d', "s0\ud800"):  # none of them is s0 with a picture
        one.steps[0].observation = hostile
        assert gigpo.anchor(args, one.steps[0]) != gigpo.anchor(args, two.steps[0])
    assert gigpo.anchored_share(args, played("step")) == 1.0
    other = played("step")
    other[1].group_id = "h"  # only the two s1 of one trajectory are left
    assert gigpo.anchored_share(args, other) == 0.4


def test_anchors_are_states_whatever_was_said_about_them() -> None:
    one, two = played("step")
    for trajectory, places in ((one, ["p", "q"]), (two, ["p", "q", "p"])):
        for number, (step, place) in enumerate(zip(trajectory.steps, places, strict=True)):
            step.observation, step.info["anchor"] = f"Turn {number + 1}. {trajectory.reward}", place
    assert gigpo.anchored_share(gigpo.GiGPO(), [one, two]) == 1.0
    assert gigpo.anchored_share(gigpo.GiGPO(anchors="observation"), [one, two]) == 0.0


def test_a_step_is_recorded_with_the_state_in_which_it_began() -> None:
    class Walk:
        name = "walk"

        def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
            return [Generation(text=move, action=move) for move in [next(moves)]]

    env = gym.make("agentrl/FrozenLake-Text-v0", max_turns=6, max_actions_per_turn=1)
    env.reset(seed=3)
    start, free = env.unwrapped.state(), None  # pyright: ignore
    for move, back in (("Up", "Down"), ("Down", "Up"), ("Left", "Right"), ("Right", "Left")):
        env.reset(seed=3)
        *_, info = env.step(move)
        assert info["anchor"] == env.unwrapped.state().anchor()  # pyright: ignore
        if info["effective"] and "hole" not in info["feedback"] and not info["success"]:
            free = (move, back)
    assert free is not None and start.anchor() == start.symbolic()
    moves = iter([free[0], "nonsense", free[1], free[0], free[1], free[0]])
    steps = play_episode(env, Walk(), seed=3).steps  # pyright: ignore
    places = [step.info["anchor"] for step in steps]
    assert places == [places[number % 2 if number < 2 else (number + 1) % 2] for number in range(6)]
    assert len({step.observation for step in steps}) == 6  # every one names its turn


def test_really_played_steps_meet_at_their_beginnings(undecided, tmp_path) -> None:
    args = toys.gigpo(undecided, tmp_path / "run", env_kwargs={"turns": 2}, iterations=1)
    loss = lines(gigpo.train(args), "train")[0]["loss"]
    assert loss["anchored_steps"] == 1.0  # the toy shows its turn and nothing else


@pytest.mark.parametrize(
    ("option", "value"),
    [("gamma", 1.5), ("step_weight", -1.0), ("normalise", "std"), ("invalid_penalty", -0.1), ("group_size", 1)],
)
def test_options_that_cannot_work_are_refused_by_name(option, value) -> None:
    with pytest.raises(ConfigError, match=option):
        gigpo.GiGPO(**{option: value})
