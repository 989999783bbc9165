"""ManiSkill keeps the promises that MuJoCo keeps, or says in one sentence why it cannot run here.

sapien exists for x86-64 only. Where it is installed these tests simulate; elsewhere they check what is said instead,
and the logic that needs no simulator runs on a table of its own everywhere.
"""

from __future__ import annotations

import os
import platform
import random
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest

from agentrl.core.errors import AgentRLError, ConfigError, MissingExtra
from agentrl.envs.primitiveskill.backend import Point, Start, Thing
from agentrl.envs.primitiveskill.mani_skill import backend as mani_skill_backend
from agentrl.envs.primitiveskill.mani_skill.backend import ManiSkillBackend, check_available
from agentrl.envs.primitiveskill.motion import Motion
from agentrl.envs.primitiveskill.starts import candidate, solves
from agentrl.envs.primitiveskill.table import Table
from agentrl.envs.primitiveskill.tasks import TASKS
from agentrl.testing import KitBudget, check_env

CHECKED = ["gymnasium", "seed_determinism", "random_state", "snapshot", "rewards", "info", "rendering", "hostile"]
ID = "agentrl/PrimitiveSkill-Drawer-Visual-v0"
CUBE = Thing("red_cube", "cube", 20.0, (0.8, 0.1, 0.1))
START = Start((CUBE,), {"red_cube": (0.0, 100.0, 0.2)}, {})


def unavailable() -> AgentRLError | None:
    """Why ManiSkill cannot run here; None if it can."""
    try:
        check_available()
    except AgentRLError as error:
        return error
    return None


# ------------------------------------------------------------------ with ManiSkill, or told why not


@pytest.mark.timeout(900)
def test_it_keeps_the_contract_or_says_why_it_cannot() -> None:
    if reason := unavailable():
        with pytest.raises(type(reason)) as raised:
            gymnasium.make(ID, backend="mani_skill")
        assert str(raised.value) == str(reason)
        assert "\n" not in str(reason)
    else:
        budget = KitBudget(episodes=1, hostile_replies=20, image_size=64, seconds=600)
        check_env(ID, checks=CHECKED, budget=budget, backend="mani_skill").raise_for_failure()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_solves_every_task_or_there_is_no_table(name: str) -> None:
    if reason := unavailable():
        with pytest.raises(type(reason)):
            Table("mani_skill")
    else:
        task, table = TASKS[name](), Table("mani_skill")
        assert solves(task, table, candidate(task, "train", 0, 0))


@pytest.mark.timeout(300)
def test_failures_are_told_and_pictures_follow_the_state_or_there_is_no_backend() -> None:
    if reason := unavailable():
        with pytest.raises(type(reason)):
            ManiSkillBackend()
        return
    backend = ManiSkillBackend()
    backend.begin(START)
    before = backend.picture(128)
    assert not backend.pick((0.0, -100.0, 20.0)).done  # nothing is there
    assert not backend.place((0.0, 0.0, 20.0)).done  # nothing is held
    assert not backend.push((0.0, 0.0, 20.0), (900.0, 0.0, 20.0)).done  # out of the workspace
    assert backend.pick((0.0, 100.0, 20.0)).done
    assert backend.held() == "red_cube"
    assert not backend.pick((0.0, 100.0, 20.0)).done  # it holds something
    assert backend.place((50.0, -100.0, 20.0)).done
    assert backend.positions()["red_cube"] == pytest.approx((50.0, -100.0, 20.0), abs=5.0)
    assert np.abs(backend.picture(128).astype(int) - before).max() > 50
    other = ManiSkillBackend()
    other.begin(START)
    other.load(backend.save())
    assert other.positions() == backend.positions()
    backend.close()
    other.close()


# ------------------------------------------------------------------ what is said


def test_a_processor_without_a_build_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ConfigError, match=r"needs an x86-64 machine.* no build for riscv64; use backend='mujoco'"):
        ManiSkillBackend()


@pytest.mark.parametrize("package", ["sapien", "mani_skill"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(mani_skill_backend, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(MissingExtra, match=rf"{package} is not installed.*agentrl-suite\[maniskill\]"):
        ManiSkillBackend()


def test_a_simulator_that_does_not_start_is_explained() -> None:
    def make() -> None:
        raise RuntimeError("vk::createInstance: ErrorIncompatibleDriver")

    with pytest.raises(ConfigError, match=r"ErrorIncompatibleDriver.*mesa-vulkan-drivers"):
        mani_skill_backend._started(make)


def test_a_fork_of_a_process_that_simulates_is_refused_instead_of_hanging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mani_skill_backend, "_started_in", set())
    mani_skill_backend._claim_process()
    mani_skill_backend._claim_process()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(ConfigError, match=r"forked .* start processes by 'spawn'"):
        mani_skill_backend._claim_process()


def test_generators_and_warnings_of_the_program_are_left_alone(recwarn: pytest.WarningsRecorder) -> None:
    states = random.getstate(), np.random.get_state()[1].tolist()
    with mani_skill_backend._without_traces():
        random.random()
        np.random.rand()
        warnings.warn("about somebody else's code", stacklevel=1)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    assert not recwarn


def test_physics_must_be_a_known_one() -> None:
    with pytest.raises(ConfigError, match="physics must be one of cpu, gpu; got 'tpu'"):
        ManiSkillBackend("tpu")


# ------------------------------------------------------------------ saving, without a simulator


class StandIn(Motion):
    """A table where the gripper is at once where it is told to be, and one cube sticks to it."""

    settling, slack, tick = 2, 0.05, 0.02

    def __init__(self, drift: float) -> None:
        self.things, self.arm, self._drift = {"red_cube": CUBE}, self, drift
        self._gripper, self._cube, self._held = np.array([0.0, 0.0, 0.3]), np.array([0.0, 0.1, 0.02]), False

    def grip(self, opening: float) -> None:
        self._held = opening == 0 and bool(np.abs(self._gripper - self._cube).max() < 0.02)

    def steer(self, position: np.ndarray, rotation: np.ndarray) -> None:
        self._gripper = position.copy()

    def advance(self) -> None:
        if self._held:
            self._cube = self._gripper + self._drift

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        return self._gripper.copy(), np.diag([1.0, -1.0, -1.0])

    def opening(self) -> float:
        return 0.02

    def solve(self, position: np.ndarray, rotation: np.ndarray) -> np.ndarray | None:
        return np.zeros(7)

    def held(self) -> str | None:
        return "red_cube" if self._held else None

    def at(self, name: str) -> np.ndarray:
        return self._cube.copy()

    def side(self, name: str) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0])

    def blocked(self) -> bool:
        return False

    def landed(self, name: str) -> bool:
        return bool(self._cube[2] < 0.02)

    def fits(self, point: np.ndarray, yaw: float, opening: float, held: str | None) -> bool:
        return True


class OnStandIn(ManiSkillBackend):
    """The backend's own bookkeeping on that table."""

    def __init__(self, drift: float = 0.0) -> None:
        self._drift, self.begun = drift, 0

    def begin(self, start: Start) -> None:
        self._motion, self._start, self._done, self._drawn = StandIn(self._drift), start, [], {}
        self.begun += 1


def played(*actions: tuple[str, Point]) -> OnStandIn:
    backend = OnStandIn()
    backend.begin(START)
    for name, at in actions:
        getattr(backend, name)(at)
    return backend


PICK, PLACE = ("pick", (0.0, 100.0, 20.0)), ("place", (50.0, -100.0, 20.0))


def test_a_saved_table_is_what_was_done_and_loading_repeats_it() -> None:
    backend = played(PICK, ("pick", (float("nan"), 0.0, 0.0)), PLACE)
    saved = backend.save()
    assert saved["done"] == [["pick", [0.0, 100.0, 20.0]], ["place", [50.0, -100.0, 20.0]]]  # what moved nothing is not
    other = OnStandIn()
    other.begin(START)
    other.load(saved)
    assert other.positions() == backend.positions()
    assert other.held() is None


def test_loading_goes_on_from_what_is_done_already_and_starts_anew_otherwise() -> None:
    saved = played(PICK, PLACE).save()
    half, elsewhere = played(PICK), played(("pick", (0.0, -200.0, 20.0)))
    half.load(saved)
    elsewhere.load(saved)
    assert (half.begun, elsewhere.begun) == (1, 2)
    assert half.save() == elsewhere.save() == saved


def test_actions_that_lead_elsewhere_are_refused() -> None:
    other = OnStandIn(drift=0.001)
    other.begin(START)
    with pytest.raises(ValueError, match="lead elsewhere here"):
        other.load(played(PICK).save())


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"done": "pick"},
        {"done": [["close"]]},
        {"done": [["pick"]]},
        {"done": [["push", [0, 0, 0]]]},
        {"done": [["__init__", [0]]]},
        {"done": [[["pick"], [0, 0, 0]]]},
        {"done": [["pick", 5]]},
        {"done": [["pick", ["a", "b", "c"]]]},
        {"done": [["pick", [float("nan"), 0, 0]]]},
    ],
)
def test_what_is_no_saved_table_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"saved|lead elsewhere"):
        played(PICK).load(data)
