"""A critic that is told the truth: the numbers by hand, that they help it, and that the policy never sees them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.algorithms import steppo
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.critic_truth import FACTS, Moment, facts_of, numbers_of, tell_critic
from agentrl.trainers.update.learner import make_learner
from agentrl.trainers.update.policy import bootstrap_values
from tests.trainers import toys
from tests.trainers.arms import ArmsEnv
from tests.trainers.episodes import conversation, episode
from tests.trainers.runs import lines, training_state

LIMITS = {"turns": 3, "turn_actions": 3}
SIX_MOVES: dict[str, Any] = {"reply": "Down, Right, Down", "actions": 6, "turns_left": 3, **LIMITS}
LAKE: dict[str, Any] = {"env": ("agentrl/FrozenLake-Text-v0",), "prompt_style": "step", "history": 0}


def test_the_numbers_of_a_level_by_hand() -> None:
    logprobs = torch.tensor([0.5, 0.5, 1.0]).log()
    mean = 2 * (1 - 2 * math.log(2) / 3 / 5) - 1
    # All turns are left; 6 of 9 actions, and of twice 9; a first token of 0.5 and a reply of 0.25.
    assert numbers_of(SIX_MOVES, logprobs) == pytest.approx([1.0, 1.0, 1 / 3, -1 / 3, 0.0, -0.5, mean], abs=1e-6)
    late = SIX_MOVES | {"turns_left": 1, "reply": None}
    assert numbers_of(late, None) == pytest.approx([1.0, -1 / 3, 1 / 3, 1.0, 0.0, 0.0, 0.0])
    unknown = {**dict.fromkeys(SIX_MOVES), "reply": "Right"}
    hopeless = torch.tensor([-80.0])
    assert numbers_of(unknown, hopeless) == pytest.approx([1.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0])
    assert numbers_of(None, None) == [0.0] * FACTS


def learner_of(model: Any, output: Any, **options: Any) -> Any:
    return make_learner(toys.steppo(model, output, critic="shared", critic_truth=True, **options))


@torch.no_grad()
def test_how_likely_the_right_reply_is_says_the_policy_itself(nano, tmp_path) -> None:
    learner = learner_of(nano, tmp_path)
    (found,) = facts_of(learner, [Moment(SIX_MOVES, [5, 6, 7], [])])
    engine = learner.engine
    reply = list(engine.encoder.text_ids("Down, Right, Down"))[:3]  # max_new_tokens
    logits = engine.model(input_ids=torch.tensor([[5, 6, 7, *reply]])).logits[0, 2:-1]
    own = torch.log_softmax(logits, -1).gather(-1, torch.tensor(reply)[:, None])[:, 0]
    assert found == pytest.approx(numbers_of(SIX_MOVES, own), abs=1e-5)
    assert facts_of(learner, []).shape == (0, FACTS)
    # What it said itself is not computed again, unless it was another policy then.
    said = Step(response_ids=reply, logprobs=[-0.5] * len(reply))
    for version, wanted in ((0, torch.full((len(reply),), -0.5)), (1, own)):
        (found,) = facts_of(learner, [Moment(SIX_MOVES, [5, 6, 7], [], replace(said, version=version))])
        assert found == pytest.approx(numbers_of(SIX_MOVES, wanted), abs=1e-5)


@pytest.mark.parametrize("make", [episode, conversation])
def test_every_token_is_told_of_its_own_turn(nano, tmp_path, make) -> None:
    turns = [([5, 6], [8, 9]), ([5, 7], [9])] if make is episode else [[8, 9], [9]]
    played = make(turns, prompt_style="step" if make is episode else "conversation")
    for left, step in zip((3, 2), played.steps, strict=True):
        step.gold = SIX_MOVES | {"turns_left": left}
    played.final_gold, played.final_prompt_ids = SIX_MOVES | {"turns_left": 1}, [5, 8]
    learner, batch = learner_of(nano, tmp_path), Batch([played])
    tell_critic(learner, batch)
    told = np.concatenate([row.facts for row in batch.rows])
    alone = facts_of(learner, [Moment.of(played, turn) for turn in range(3)])
    assert told == pytest.approx(alone[[0, 0, 1]], abs=1e-6)
    assert alone[:, 1] == pytest.approx([1.0, 1 / 3, -1 / 3])  # turns left, at the end too


def far_and_near(count: int = 32) -> list[Trajectory]:
    """All look alike; those that are near the goal reach it."""
    found = []
    for number in range(count):
        near = number % 2 == 0
        found.append(episode([([5, 6], [8])], [float(near)], id=str(number)))
        found[-1].steps[0].gold = SIX_MOVES | {"reply": None, "actions": 2 if near else 9}
    return found


def test_what_the_policy_cannot_see_the_critic_learns(nano, tmp_path) -> None:
    explained, after = [], []
    for told in (False, True):
        options = {"critic_truth": told, "critic": "shared", "critic_epochs": 9, "minibatches": 2, "lr": 1e-5}
        args = toys.steppo(nano, tmp_path, **options)
        learner, rng = make_learner(args), torch.Generator().manual_seed(0)
        metrics = [steppo.update(args, learner, Batch(far_and_near()), rng) for _ in range(3)]
        explained.append(metrics[-1]["explained_variance"])
        cut = [replace(one, limit="external", final_prompt_ids=[5, 6]) for one in far_and_near(2)]
        for one in cut:
            one.final_gold = one.steps[0].gold
        after.append(bootstrap_values(args, learner, Batch(cut)))
    assert abs(explained[0]) < 0.05 and explained[1] > 0.7
    assert after[0][0] == after[0][1] and after[1][0] > after[1][1] + 0.5  # also where a limit cut an episode


def test_the_policy_is_shown_the_same_and_the_ceiling_is_measured(nano, tmp_path) -> None:
    measured = {"mc_rollout_every": 1, "mc_rollout_states": 4, "mc_rollouts_per_state": 2}
    folders = []
    for told in (False, True):
        options = LAKE | measured | {"critic_truth": told, "save_trajectories": -1, "iterations": 1}
        folders.append(steppo.train(toys.steppo(nano, tmp_path / str(told), **options)))
    (plain, told) = (read_trajectories(next((folder / "trajectories").iterdir())) for folder in folders)
    for one, two in zip(plain, told, strict=True):
        assert [step.prompt_ids for step in one.steps] == [step.prompt_ids for step in two.steps]
        assert [step.response_ids for step in one.steps] == [step.response_ids for step in two.steps]
        assert one.final_gold is None and all(step.gold is None for step in one.steps)
        assert all(step.gold and step.gold["actions"] >= 1 and "gold" not in step.info for step in two.steps)
    assert all("explained_variance_at_turns" in lines(folder, "train")[0]["loss"] for folder in folders)
    names = [{name for name in training_state(folder, 1) if "/critic/" in name} for folder in folders]
    assert names[1] - names[0] == {f"/critic/told.{layer}.{part}" for layer in (0, 2) for part in ("weight", "bias")}


def test_a_run_without_an_oracle_is_refused_before_it_plays(nano, tmp_path, monkeypatch) -> None:
    monkeypatch.delattr(ArmsEnv, "oracle")
    with pytest.raises(ConfigError, match=r"critic_truth .* needs an environment with an oracle; ArmsEnv has none"):
        steppo.train(toys.steppo(nano, tmp_path / "run", critic_truth=True))
