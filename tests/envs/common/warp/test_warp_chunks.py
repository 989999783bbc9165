"""Chunks of actions in many worlds, tasks side by side: what one task alone does, and what single actions do."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.libero.simulation import settle
from agentrl.envs.libero.world import World

pytestmark = pytest.mark.warp
ID, TURNS = "agentrl/LIBERO-Goal-v0", 3
STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")


def make(count: int, tasks: list[int], **kwargs: Any) -> Any:
    """Worlds of some tasks on a processor, which play three turns."""
    assert agentrl.__version__
    given = {"split": "test", "starts": 2, "settle_steps": 1, "obs_mode": "state", "device": "cpu"}
    given |= {"max_turns": TURNS, "autoreset_mode": "Disabled", "tasks": tasks}
    return gym.make_vec(ID, count, "vector_entry_point", simulator="warp", **{**given, **kwargs})


@pytest.fixture(scope="module")
def pair() -> Any:
    """Four worlds of two tasks, which tests reset; all of them are worlds of the one model of this suite."""
    made = make(4, [4, 8])
    assert made.tasks[0].batch is made.tasks[1].batch and made.tasks[1].rows.tolist() == [1, 3]
    return made


def names(*numbers: int) -> list[str]:
    """A start for each world."""
    return [f"libero_goal/{number}:test:{place // 2}" for place, number in enumerate(numbers)]


def random_chunks(count: int, size: int = 2) -> np.ndarray:
    """Actions for some worlds."""
    return np.random.default_rng(0).uniform(-1, 1, (count, size, 7)).astype(np.float32)


def test_a_chunk_is_its_actions_one_by_one_and_a_task_beside_others_goes_as_alone(pair: Any) -> None:
    actions, everyone = random_chunks(4), np.ones(4, bool)
    pair.reset(options={"task": names(4, 8, 4, 8)})
    played = pair.play_chunk(actions, everyone)
    assert played.ran.tolist() == [2] * 4 and played.rewards.shape == (4, 2) and not played.truncated.any()
    pair.reset(options={"task": names(4, 8, 4, 8)})
    pair.step(actions[:, 0])
    seen, *_ = pair.step(actions[:, 1])
    alone = make(2, [8])
    alone.reset(options={"task": [*names(8, 8)[:1], "libero_goal/8:test:1"]})
    single = alone.play_chunk(actions[1::2], everyone[:2])
    for name, rows in seen.items():
        assert (played.seen[name] == rows).all(), name
        width = min(rows.shape[1], single.seen[name].shape[1])
        apart = (single.seen[name][:, :width] - rows[1::2, :width]).abs().max()
        assert apart < 1e-9, name  # contacts of other worlds stand between theirs, and are added up in another order


def test_worlds_stand_still_behind_the_end_and_tasks_that_nobody_plays_are_left_out(pair: Any) -> None:
    first, _ = pair.reset(options={"task": names(4, 8, 4, 8)})
    playing = np.array([True, False, True, False])
    pair.play_chunk(random_chunks(4), playing)
    other = pair.tasks[1]
    stood = {name: rows[other.rows] for name, rows in other.batch.rows().items()}
    assert (pair.look()["state"][1::2] == first["state"][1::2]).all()  # nothing moved there
    last = pair.play_chunk(random_chunks(4), playing)  # of three turns one is left
    assert last.ran.tolist() == [1, 0, 1, 0] and last.truncated.tolist() == playing.tolist()
    assert not last.broken.any() and not last.terminated.any()
    assert all((rows[other.rows] == stood[name]).all() for name, rows in other.batch.rows().items())


def test_a_world_that_diverges_in_a_chunk_and_one_without_a_number_stand_where_they_stood(pair: Any) -> None:
    pair.reset(options={"task": names(4, 8, 4, 8)})
    before = pair.look()["state"]
    actions = random_chunks(4)
    actions[2] = np.nan
    pair.tasks[1].batch.state["qvel"][pair.tasks[1].rows[0], 5] = 1e30
    played = pair.play_chunk(actions, np.ones(4, bool))
    assert played.broken.tolist() == [False, True, False, False] == played.truncated.tolist()
    assert played.ran.tolist() == [2, 1, 2, 2] and played.rewards.sum() == 0
    assert (played.seen["state"][2] == before[2]).all() and (played.seen["state"][3] != before[3]).any()


def test_what_cannot_be_is_refused(pair: Any) -> None:
    pair.reset()
    with pytest.raises(ConfigError, match=r"actions must be numbers \[4, 1, 7\]; got \[4, 7\]"):
        pair.play_chunk(np.zeros((4, 7), np.float32), np.ones(4, bool))
    with pytest.raises(ConfigError, match='chunks need autoreset_mode="Disabled"'):
        make(1, [8], autoreset_mode="NextStep").play_chunk(random_chunks(1), np.ones(1, bool))
    with pytest.raises(ConfigError, match="tasks must be different numbers from 0 to 9; got"):
        make(1, [3, 3])


def test_tasks_that_share_a_model_have_goals_and_starts_of_their_own() -> None:
    """Every world is judged by its own task: a state that does the one leaves the other undone."""
    suite, (open_drawer, bowl) = "libero_goal", (0, 8)
    worlds = make(4, [open_drawer, bowl], starts=1)
    done = World(suite, open_drawer)
    done.reset(done.start("test/0"))
    (name,) = [fact.arguments[0] for fact in done.problem.goal.facts()]
    (joint, _), *_ = done.joints_about(name)
    for end in done.model.joint(joint).range:  # one of the two is open
        done.data.qpos[done.model.joint(joint).qposadr[0]] = end
        settle(done)
        if done.goal_holds():
            break
    assert done.goal_holds()
    worlds.reset(options={"task": [f"{suite}/{number}:test:0" for number in (open_drawer, bowl) * 2]})
    batch = worlds.tasks[0].batch
    rows = {part: batch.state[part].new_tensor(getattr(done.data, part)).expand_as(batch.state[part]) for part in STATE}
    batch.write(rows, batch.state["qpos"].new_ones(4).bool())
    batch.look()
    assert worlds.tasks[0].worlds.goal().tolist() == [True, False, True, False]
