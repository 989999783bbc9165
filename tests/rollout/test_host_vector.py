"""`gym.make_vec` in hosts: Gymnasium's contract, results of single environments, faults that stay where they are."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec as GymSpec
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import agentrl
from agentrl.core.errors import ConfigError, MissingExtra, SnapshotError, WorkerFault
from agentrl.core.seeding import mixed_seed
from agentrl.registry import TABLE, family_of
from agentrl.rollout import vector
from agentrl.rollout.hosts import Host, make_stack
from agentrl.rollout.starts import Stack
from agentrl.rollout.vector import HostVectorEnv
from tests.rollout.troubled_envs import TROUBLED

PUCK = "tests.toy_control:toy/Puck-v0"
LAKE = "agentrl/FrozenLake-Text-v0"
SLOW = ("libero", "metaworld", "navigation", "primitiveskill")
JUDGED = (
    {"wrapper": "Reasoning", "strategy": "grounding"},
    {"wrapper": "ReasoningReward", "judge": "rule", "deferred": True},
)


def equal(one: Any, other: Any) -> bool:
    """To the bit; between processes tuples become lists."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, (list, tuple, np.ndarray)):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other) or one is other


def sync(stack: Stack, num_envs: int, mode: str) -> gym.vector.SyncVectorEnv:
    return gym.vector.SyncVectorEnv([lambda: make_stack(stack)] * num_envs, autoreset_mode=mode)


def play_both(envs: Any, peer: Any, steps: int, seed: int = 7) -> int:
    """The same random actions in both; how many episodes ended."""
    found, expected = envs.reset(seed=seed), peer.reset(seed=seed)
    assert all(map(equal, found, expected))
    envs.action_space.seed(3)
    ends = 0
    for number in range(steps):
        actions = envs.action_space.sample()
        found, expected = envs.step(actions), peer.step(actions)
        assert all(map(equal, found, expected)), f"step {number}"
        over = found[2] | found[3]
        ends += int(over.sum())
        if over.any() and envs.metadata["autoreset_mode"] == gym.vector.AutoresetMode.DISABLED:
            found, expected = (one.reset(options={"reset_mask": over.copy()}) for one in (envs, peer))
            assert all(map(equal, found, expected))
    return ends


@pytest.fixture
def made() -> Iterator[Callable[..., Any]]:
    """Makes vector environments, and closes them."""
    all_made: list[Any] = []

    def make(make_one: Any, *args: Any, **kwargs: Any) -> Any:
        all_made.append(make_one(*args, **kwargs))
        return all_made[-1]

    yield make
    for one in all_made:
        one.close()


# ---------------------------------------------------------------------- the single environment, many times


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_results_are_those_of_single_environments_to_the_bit(made, mode: str) -> None:
    stack = Stack(PUCK, {"max_turns": 4})
    envs = made(HostVectorEnv, PUCK, 3, hosts=2 if mode == "NextStep" else 1, autoreset_mode=mode, max_turns=4)
    assert play_both(envs, made(sync, stack, 3, mode), 10) >= 6
    assert envs.single_observation_space == make_stack(stack).observation_space
    assert envs.observation_space["image"].shape == (3, 32, 32, 3) and envs.observation_space["image"].dtype == np.uint8


def test_text_stacks_with_wrappers_and_judges_that_are_owed_terms_are_the_same_too(made) -> None:
    stack = Stack(LAKE, {"size": 5, "max_turns": 3}, JUDGED)
    envs = made(HostVectorEnv, LAKE, 3, hosts=2, wrap=JUDGED, size=5, max_turns=3)
    peer = made(sync, stack, 3, "NextStep")
    play_both(envs, peer, 7)
    envs.reset(seed=1)
    answers = envs.call("gold")
    *_, info = envs.step(answers)
    assert [list(pending) for pending in info["pending"]] == [["grounding"]] * 3


@pytest.mark.extra_robots
@pytest.mark.parametrize(
    ("env_id", "arguments"),
    [
        ("agentrl/Navigation-Text-v0", {"max_turns": 2}),
        ("agentrl/PrimitiveSkill-Place-Visual-v0", {"max_turns": 1, "image_size": 32}),
        pytest.param("agentrl/LIBERO-Goal-v0", {"max_turns": 6, "image_size": 64}, marks=pytest.mark.long),
        pytest.param("agentrl/MetaWorld-MT10-v0", {"max_turns": 6, "image_size": 64}, marks=pytest.mark.long),
    ],
)
def test_robots_in_hosts_play_as_they_do_here(made, env_id: str, arguments: dict[str, Any]) -> None:
    spec, steps = gym.spec(env_id), arguments["max_turns"] + 2
    spec = replace(spec, kwargs={**spec.kwargs, **arguments, "num_envs": 2, "hosts": 2, "full_info": True})
    envs = made(gym.make_vec, GymSpec.from_json(spec.to_json()), vectorization_mode="vector_entry_point")
    assert isinstance(envs, HostVectorEnv) and envs.num_envs == 2
    assert GymSpec.from_json(envs.spec.to_json()) == envs.spec
    assert play_both(envs, made(sync, Stack(env_id, arguments), 2, "NextStep"), steps) >= 2


def test_every_slow_id_has_a_vector_entry_point() -> None:
    slow = {entry.id for entry in TABLE if (family := family_of(entry.id)) and family.name in SLOW}
    assert {entry.id for entry in TABLE if str(entry.vector_entry_point).startswith("agentrl.rollout")} == slow
    assert vector.__getattr__("agentrl/LIBERO-10-v0").args == ("agentrl/LIBERO-10-v0",)


# ---------------------------------------------------------------------- Gymnasium's other promises


def test_one_message_a_host_and_step_and_everything_else_of_a_vector_environment(made, monkeypatch) -> None:
    envs = made(HostVectorEnv, PUCK, 5, hosts=2, max_turns=4, render_mode="rgb_array")
    sent: list[int] = []
    plain = Host.send

    def counted(self: Host, calls: Any, seconds: float | None = None) -> Any:
        sent.append(len(calls))
        return plain(self, calls, seconds)

    monkeypatch.setattr(Host, "send", counted)
    watched = RecordEpisodeStatistics(envs)
    watched.reset(seed=1, options={"task": [f"train:{number}" for number in range(5)]})
    assert sorted(sent) == [2, 3]
    assert envs.get_attr("number") == (0, 1, 2, 3, 4)
    sent.clear()
    for _ in range(4):
        *_, truncated, info = watched.step(envs.action_space.sample())
    assert sorted(sent) == [2] * 4 + [3] * 4
    assert info["episode"]["l"].tolist() == [4] * 5 and truncated.all()
    frames = envs.render()
    assert len(frames) == 5 and frames[0].shape == (32, 32, 3)
    envs.set_attr("invalid_penalty", [-1.0, -2.0, -3.0, -4.0, -5.0])
    envs.reset(seed=0)
    assert envs.step(np.full((5, 2), np.nan))[1].tolist() == [-1.0, -2.0, -3.0, -4.0, -5.0]
    pids = {env.pid for env in envs._envs}
    envs.close()
    envs.close()
    assert len(pids) == 2 and not any(os.path.exists(f"/proc/{pid}") for pid in pids)
    with pytest.raises(ClosedEnvironmentError):
        envs.reset()


def test_snapshots_go_from_a_vector_to_single_environments_and_back(made) -> None:
    envs, one = made(HostVectorEnv, PUCK, 2, hosts=1), made(make_stack, Stack(PUCK))
    action = np.full((2, 2), 0.3, np.float32)
    envs.reset(seed=5)
    envs.step(action)
    blobs = envs.snapshot()
    after = envs.step(action)
    agentrl.restore(one, blobs[1])
    observation, reward, *_ = one.step(action[1])
    assert equal(observation["image"], after[0]["image"][1]) and reward == after[1][1]
    envs.restore(blobs)
    assert all(map(equal, envs.step(action), after))
    with pytest.raises(SnapshotError):
        envs.restore([blobs[0], b"nonsense"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"hosts": 0}, "hosts must be a whole number"),
        ({"hosts": [1]}, "hosts must be a number or a list"),
        ({"timeout": -1}, "timeout must be above zero"),
        ({"num_envs": 0}, "num_envs must be a whole number"),
        ({"autoreset_mode": "Never"}, "autoreset_mode must be one of"),
        ({"image_siz": 3}, "image_size"),
        ({"wrap": [{"wrapper": "Nonsense"}]}, "unknown wrapper"),
    ],
)
def test_arguments_that_cannot_work_are_refused_before_a_process_starts(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        HostVectorEnv(PUCK, **arguments)


def test_calls_that_cannot_work_are_refused_and_change_nothing(made) -> None:
    envs = made(HostVectorEnv, PUCK, 2, hosts=[{"PUCK_COLOUR": "red"}])
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros((2, 2), np.float32))
    for options in ({"task": ["train:1"]}, {"reset_mask": np.zeros(2, bool)}, {"reset_mask": [True]}, {"task": "no"}):
        with pytest.raises(ConfigError):
            envs.reset(options=options)
    with pytest.raises(ConfigError, match="seed and task must be"):
        envs.reset(seed=[1])
    before = envs.reset(seed=1)
    with pytest.raises(ConfigError, match="actions must be 2"):
        envs.step(np.zeros((3, 2), np.float32))
    with pytest.raises(ConfigError, match="cannot be sent"):
        envs.step(np.full((2, 2), None))
    for name in ("_save", "np_random"):
        with pytest.raises(ConfigError, match=r"public name|cannot be sent"):
            envs.call(name)
    assert all(map(equal, envs.reset(seed=1), before))


# ---------------------------------------------------------------------- faults


def test_a_fault_truncates_its_own_episode_and_the_next_one_begins_afresh(made) -> None:
    envs = made(HostVectorEnv, TROUBLED, 3, hosts=1, turns=5)
    envs.reset(seed=1)
    envs.step(("good",) * 3)
    observation, reward, terminated, truncated, info = envs.step(("good", "raise", "fault"))
    assert observation["text"] == ("episode 1 turn 2", "episode 2 turn 1", "episode 3 turn 1")
    assert reward.tolist() == [1.0, 0.0, 0.0] and not terminated.any() and truncated.tolist() == [False, True, True]
    assert info["fault"].tolist() == [None, "WorkerFault", "EnvFault"] and info["_fault"].tolist() == truncated.tolist()
    assert "a bug of the simulator" in info["feedback"][1] and info["limit"].tolist() == [None, "external", "external"]
    observation, _, terminated, truncated, info = envs.step(("good",) * 3)
    assert observation["text"][0] == "episode 1 turn 3" and not (terminated | truncated).any()
    assert all(text.endswith("turn 0") for text in observation["text"][1:]) and "fault" not in info


LONG = [pytest.param(mode, marks=pytest.mark.long) for mode in ("SameStep", "Disabled")]


@pytest.mark.parametrize("mode", ["NextStep", *LONG])
def test_a_killed_host_costs_its_slots_one_fault_each_and_the_others_go_on(made, mode: str) -> None:
    envs = made(HostVectorEnv, PUCK, 4, hosts=2, autoreset_mode=mode, full_info=True)
    action = np.full((4, 2), 0.1, np.float32)
    envs.reset(seed=5)
    last = envs.step(action)
    dead, other = (envs._envs[place].pid for place in (1, 0))
    os.kill(dead, signal.SIGKILL)
    observation, reward, _, truncated, info = envs.step(action)
    assert truncated.tolist() == [False, True, False, True] and reward.tolist() == [0.0] * 4
    told, shown = info, {name: part[1] for name, part in observation.items()}
    if mode == "SameStep":
        told, shown = info["final_info"], info["final_obs"][1]
    assert told["fault"].tolist() == [None, "WorkerFault", None, "WorkerFault"]
    assert equal(shown, {name: part[1] for name, part in last[0].items()})
    if mode == "Disabled":
        assert envs.step(action)[3].tolist() == [False, True, False, True]  # until they are reset
        observation, info = envs.reset(options={"reset_mask": truncated})
    if mode == "NextStep":
        observation, *_, info = envs.step(action)
    for place in (1, 3):  # the seed of a fresh environment follows from the last one that its place was given
        fresh, known = make_stack(Stack(PUCK)).reset(seed=mixed_seed(5 + place, 1))
        assert equal({name: part[place] for name, part in observation.items()}, fresh)
        assert info["task"][place] == known["task"]
    assert not envs.step(action)[3].any()
    assert envs._envs[1].pid == envs._envs[3].pid not in (dead, other) and envs._envs[0].pid == other


def test_a_reset_that_fails_again_in_a_fresh_environment_is_raised(made) -> None:
    envs = made(HostVectorEnv, TROUBLED, 2, hosts=1)
    with pytest.raises(WorkerFault, match="a bug of the simulator"):
        envs.reset(seed=[1, 667])
    observation, _ = envs.reset(seed=[1, 2])
    assert observation["text"] == ("episode 1 turn 0", "episode 2 turn 0")


@pytest.mark.extra_robots
def test_simulators_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulator that does not exist, one that an id does not have, and one that is not installed."""
    make = partial(gym.make_vec, vectorization_mode="vector_entry_point")
    with pytest.raises(ConfigError, match=r'must be "mujoco" or "warp"; got \'bullet\''):
        make("agentrl/LIBERO-Goal-v0", 2, simulator="bullet")
    with pytest.raises(ConfigError, match=r'"mujoco" \("warp" is for agentrl/LIBERO-10-v0, .*\); got \'warp\''):
        make("agentrl/Navigation-Text-v0", 2, simulator="warp")
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with pytest.raises(MissingExtra, match=r"mujoco_warp is not installed; run: pip install 'agentrl-suite\[warp\]'"):
        make("agentrl/LIBERO-Goal-v0", 2, simulator="warp")
