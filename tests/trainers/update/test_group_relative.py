"""Groups: who is compared with whom when members are missing, silent, equal or owed a reward; dynamic sampling."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest
import torch

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.algorithms import grpo, reinforce_pp, rloo
from agentrl.trainers.arguments.policy import PolicyArguments
from agentrl.trainers.update import groups as group_maths
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.groups import collect_groups, group_advantages, group_metrics, groups_of, has_zero_variance
from agentrl.trainers.update.learner import TrainingFault
from tests.trainers import toys
from tests.trainers.algorithms.test_grpo import no_scores
from tests.trainers.arms import ARMS
from tests.trainers.episodes import episode
from tests.trainers.runs import lines


def member(group: str, reward: float, said: list[int] | None = None, **facts: Any) -> Trajectory:
    return episode([([1, 2], [4] if said is None else said)], [reward], group_id=group, **facts)


class Rounds:
    """Hands out prepared rounds, as a run that plays would."""

    def __init__(self, *rounds: list[Trajectory]) -> None:
        self.rounds, self.asked = rounds, list[tuple[int, int, int]]()

    def collect(self, episodes: int, group_size: int, extra: int = 0) -> list[Trajectory]:
        self.asked.append((episodes, group_size, extra))
        return self.rounds[extra]


EVEN = [member("a", 1.0), member("a", 1.0), member("b", 0.0), member("b", 3.0)]


def test_groups_without_a_difference_and_groups_of_one_are_counted_apart() -> None:
    found = groups_of([*EVEN, member("c", 5.0), member("", 1.0, id="x")])
    assert (
        [len(group) for group in found] == [2, 2, 1, 1]
        and has_zero_variance(found[0])
        and not has_zero_variance(found[1])
    )
    assert group_metrics(found) == {"zero_variance_groups": 0.25, "singleton_groups": 0.5}


def test_a_trajectory_left_alone_is_put_aside_and_without_any_pair_the_run_stops() -> None:
    found, metrics = collect_groups(Rounds([*EVEN, member("c", 9.0)]), 6, 2)  # pyright: ignore
    assert [one.group_id for one in found] == ["a", "a", "b", "b"] and metrics["singleton_groups"] == pytest.approx(
        1 / 3
    )
    with pytest.raises(TrainingFault, match="two trajectories"):
        collect_groups(Rounds([member("a", 1.0), member("b", 0.0)]), 4, 2)  # pyright: ignore


def test_zero_variance_groups_are_replaced_by_other_tasks_and_never_endlessly() -> None:
    dull = [member("c", 2.0), member("c", 2.0)]
    useful = [member("d", 2.0), member("d", 1.0)]
    run = Rounds(EVEN, dull, useful)
    found, metrics = collect_groups(run, 4, 2, 5)  # pyright: ignore
    assert run.asked == [(4, 2, 0), (2, 2, 1), (2, 2, 2)]  # stops as soon as nothing is missing
    assert [one.group_id for one in found] == ["b", "b", "d", "d"]
    assert metrics == {
        "zero_variance_groups": 0.5,
        "singleton_groups": 0.0,
        "dynamic_sampling_rounds": 2.0,
        "missing_groups": 0.0,
    }
    run = Rounds(EVEN, dull, dull)
    found, metrics = collect_groups(run, 4, 2, 2)  # pyright: ignore
    assert [one.group_id for one in found] == ["b", "b"] and metrics["missing_groups"] == 0.5
    found, metrics = collect_groups(Rounds(dull, dull), 2, 2, 1)  # pyright: ignore
    assert found == dull and metrics["missing_groups"] == 1.0  # nothing better was found


def finished(reward: float, success: bool, **terms: float) -> Trajectory:
    one = member("a", reward)
    one.steps[0].info, one.steps[0].reward_terms = {"success": success}, terms
    return one


def test_groups_are_alike_by_their_outcome_whatever_moves_cost_and_form_earns() -> None:
    failed = [finished(-0.1, False, step=-0.1), finished(-0.3, False, step=-0.3), finished(0.4, False, format=0.5)]
    solved = [finished(10.0, True), finished(9.5, True)]
    assert has_zero_variance(failed) and has_zero_variance(solved) and not has_zero_variance([failed[0], solved[0]])
    assert not has_zero_variance(failed, "reward") and group_metrics([failed], "reward")["zero_variance_groups"] == 0.0
    found, metrics = collect_groups(Rounds([*failed], [*failed[:1], *solved[:1]]), 2, 2, 1)  # pyright: ignore
    assert found == [failed[0], solved[0]] and metrics["zero_variance_groups"] == 1.0


def test_where_the_task_is_graded_its_grades_are_the_outcome() -> None:
    group = [finished(reward, False, similarity=0.4, format=reward - 0.4) for reward in (0.4, 0.9)]
    for one in group:
        one.steps[0].info["graded"] = ["similarity"]
    assert has_zero_variance(group)
    group[0].steps[0].reward_terms["similarity"] = 0.6
    assert not has_zero_variance(group)


@pytest.mark.parametrize(("name", "terms"), [("WebShop-Text", True), ("FrozenLake-Text", False)])
def test_environments_name_the_terms_that_grade_their_task(name, terms) -> None:
    env = gym.make(f"agentrl/{name}-v0")
    env.reset(seed=0)
    paid: set[str] = set()
    for _ in range(20):
        _, _, terminated, truncated, info = env.step(env.unwrapped.oracle())  # pyright: ignore
        paid |= set(info.get("graded", ()))
        assert set(info["reward_terms"]) - {"step", "invalid"} == set(info.get("graded", info["reward_terms"])) - {
            "step",
            "invalid",
        }
        if terminated or truncated:
            break
    assert info["success"] and bool(paid) == terms
    env.close()


def test_further_rounds_that_only_meet_faults_add_nothing() -> None:
    found, metrics = collect_groups(Rounds(EVEN, [], []), 4, 2, 2)  # pyright: ignore
    assert len(found) == 2 and metrics["dynamic_sampling_rounds"] == 2.0


def test_a_silent_trajectory_counts_in_its_group() -> None:
    """It wrote nothing, so nothing of it is trained; but it shows what the others are better than."""
    batch = Batch([member("a", 4.0), member("a", 0.0, said=[]), member("a", 2.0)])
    assert len(batch) == 2 and len(batch.silent) == 1
    args = PolicyArguments(kl_coef=0.0)
    found = group_advantages(args, batch, no_scores(batch), group_maths.dr_grpo)
    assert found.tolist() == [2.0, 0.0]
    wanted = group_maths.rloo(torch.tensor([4.0, 2.0, 0.0]), ["a"] * 3)[:2]
    assert torch.allclose(group_advantages(args, batch, no_scores(batch), group_maths.rloo), wanted)


@pytest.mark.parametrize("name", ["grpo", "rloo", "gspo", "gigpo"])
def test_a_group_of_one_is_refused(name) -> None:
    with pytest.raises(ConfigError, match="group_size must be at least 2"):
        getattr(toys, name)("tiny-text", "", group_size=1, episodes=4)
    with pytest.raises(ConfigError, match="group_size must be at least 2"):
        reinforce_pp.ReinforcePP(baseline=True)
    assert reinforce_pp.ReinforcePP().group_size == 1


def test_faults_shrink_groups_and_the_others_are_learned_from(undecided, tmp_path) -> None:
    """Every third task has a simulator that fails: all of its group is gone, and no reward of 0 takes its place."""
    troubled = {"trouble": "raise", "trouble_every": 3}
    folder = rloo.train(toys.rloo(undecided, tmp_path / "run", env_kwargs=troubled, episodes=48, num_envs=48, lr=5e-3))
    for line in lines(folder, "train"):
        assert line["faults"] > 0 and line["faults"] % 8 == 0 and line["loss"]["grad_norm"] > 0
        assert line["loss"]["singleton_groups"] == 0


def test_members_that_a_fault_took_leave_statistics_of_the_rest() -> None:
    """Group a lost one of three: the lead of the two that are left is over their own mean."""
    lost = member("a", 0.0)
    lost.fault, lost.reward = {"kind": "EnvFault", "detail": "gone"}, None
    owed = member("b", 7.0)
    owed.steps[0].pending, owed.reward = ["grounding"], None
    played = [member("a", 3.0), lost, member("a", 1.0), owed, member("b", 0.0), member("b", 1.0)]
    known = [one for one in played if one.reward is not None]
    found, _ = collect_groups(Rounds(known), 6, 3)  # pyright: ignore
    batch = Batch(found)
    assert group_advantages(PolicyArguments(kl_coef=0.0), batch, no_scores(batch), group_maths.dr_grpo).tolist() == [
        1.0,
        -1.0,
        -0.5,
        0.5,
    ]


def test_equal_rewards_everywhere_change_nothing_and_are_no_fault(undecided, tmp_path) -> None:
    options = {"env_kwargs": {"good": "Nowhere"}, "iterations": 1, "dynamic_sampling_rounds": 1}
    folder = grpo.train(toys.grpo(undecided, tmp_path / "run", **options))
    line = lines(folder, "train")[0]
    assert line["loss"]["zero_variance_groups"] == 1.0 and line["loss"]["policy"] == line["loss"]["grad_norm"] == 0.0
    assert line["loss"]["missing_groups"] == 1.0 and line["episodes"] == line["episodes_total"] == 32


def test_further_rounds_play_tasks_that_no_other_round_has(undecided, tmp_path) -> None:
    from agentrl.trainers.run.run import Run
    from agentrl.trainers.update.learner import make_learner

    args = toys.grpo(undecided, tmp_path / "run", env=(ARMS, {"id": ARMS, "kwargs": {"turns": 2}}))
    with Run(args, "grpo", make_learner(args)) as run:
        seen, ids = list[int](), list[str | None]()
        for run.iteration in range(3):
            for extra in range(3):
                starts = run.starts(16, 8, extra)
                assert starts == run.starts(16, 8, extra) and len({start.seed for start in starts}) == 2
                seen += {start.seed for start in starts}
                ids += [start.id for start in starts]
        assert len(set(seen)) == len(seen) == 18 and len(set(ids)) == len(ids)
        run.iteration, run.collection = 0, SimpleNamespace()  # pyright: ignore
        first = run.collect(16, 8)
        both = first + run.collect(8, 8, extra=1)
        assert run.collection.trajectories == both and run.episodes == 24
