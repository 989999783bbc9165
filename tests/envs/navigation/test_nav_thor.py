"""The AI2-THOR backend, against a controller that answers with metadata of AI2-THOR's shape."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import ConfigError, EnvFault, SnapshotUnsupported
from agentrl.envs.navigation import thor
from agentrl.envs.navigation.env import NavigationEnv
from agentrl.envs.navigation.thor import steps_from

STEP = 0.25
OBJECTS = {
    "Toaster|+02.00|+00.90|+02.00": ("Toaster", 2.0, 2.0),
    "Fridge|-01.90|+00.00|+01.00": ("Fridge", -1.9, 1.0),
    "Chair|+01.00|+00.00|-02.00": ("Chair", 1.0, -2.0),
    "Chair|+01.50|+00.00|-02.00": ("Chair", 1.5, -2.0),
}


class FakeController:
    """A room of 4 m x 4 m around the origin. Positions, rotations and horizons are AI2-THOR's."""

    def __init__(self, **settings: Any) -> None:
        self.settings, self.stopped, self.broken = settings, False, False
        self.reset(settings["scene"])

    def reset(self, scene: str) -> Any:
        self.scene, self.x, self.z, self.turn, self.horizon = scene, 0, 0, 0, 0
        return self._event(True)

    def stop(self) -> None:
        self.stopped = True

    def step(self, action: str, **arguments: Any) -> Any:
        if self.broken:
            raise TimeoutError("Unity did not answer")
        if action == "GetReachablePositions":
            cells = [(x, z) for x in range(-7, 8) for z in range(-7, 8)]
            return self._event(True, [{"x": x * STEP, "y": 0.9, "z": z * STEP} for x, z in cells])
        if action == "Teleport":
            assert arguments["standing"] is True and set(arguments["position"]) == {"x", "y", "z"}
            self.x, self.z = (round(arguments["position"][axis] / STEP) for axis in "xz")
            self.turn, self.horizon = arguments["rotation"] // 90, arguments["horizon"]
            return self._event(True)
        if action.startswith("Rotate"):
            quarters = int(arguments.get("degrees", 90)) // 90
            self.turn = (self.turn + (quarters if action == "RotateRight" else -quarters)) % 4
            return self._event(True)
        if action.startswith("Look"):
            horizon = self.horizon + (30 if action == "LookDown" else -30)
            return self._event(self._set(-30 <= horizon <= 60, horizon=horizon))
        side = {"MoveAhead": 0, "MoveRight": 1, "MoveBack": 2, "MoveLeft": 3}[action]
        x, z = ((0, 1), (1, 0), (0, -1), (-1, 0))[(self.turn + side) % 4]
        return self._event(self._set(max(abs(self.x + x), abs(self.z + z)) <= 7, x=self.x + x, z=self.z + z))

    def _set(self, possible: bool, **values: int) -> bool:
        if possible:
            vars(self).update(values)
        return possible

    def _event(self, success: bool, returned: Any = None) -> Any:
        frame = np.full((self.settings["height"], self.settings["width"], 3), 10 + 40 * self.turn, np.uint8)
        agent = {
            "position": {"x": self.x * STEP, "y": 0.9, "z": self.z * STEP},
            "rotation": {"x": 0.0, "y": 90.0 * self.turn, "z": 0.0},
            "cameraHorizon": float(self.horizon),
        }
        objects = [
            {"objectId": key, "objectType": kind, "position": {"x": x, "y": 0.9, "z": z}, "visible": self._sees(x, z)}
            for key, (kind, x, z) in OBJECTS.items()
        ]
        metadata = {
            "agent": agent,
            "objects": objects,
            "lastActionSuccess": success,
            "errorMessage": "",
            "actionReturn": returned,
        }
        self.last_event = SimpleNamespace(metadata=metadata, frame=frame)
        return self.last_event

    def _sees(self, x: float, z: float) -> bool:
        ahead = ((0, 1), (1, 0), (0, -1), (-1, 0))[self.turn]
        return ahead[0] * (x - self.x * STEP) + ahead[1] * (z - self.z * STEP) > 0.3


@pytest.fixture
def controllers(monkeypatch: pytest.MonkeyPatch) -> list[FakeController]:
    """The controllers that were started."""
    started: list[FakeController] = []

    class Recorded(FakeController):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            started.append(self)

    monkeypatch.setattr(thor, "find_controller", lambda: Recorded)
    return started


def make(**kwargs: Any) -> NavigationEnv:
    return NavigationEnv(backend="ai2thor", **{"split": "test", "max_turns": 6, **kwargs})


def test_without_ai2thor_one_sentence_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"pip install ai2thor .*backend=\"embedded\""):
        NavigationEnv(backend="ai2thor")


def test_a_simulator_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**settings: Any) -> None:
        raise RuntimeError("no display")

    monkeypatch.setattr(thor, "find_controller", lambda: broken)
    with pytest.raises(ConfigError, match="does not start"):
        make().reset(seed=0)


def test_the_controller_is_started_once_with_the_arguments_of_the_environment(
    controllers: list[FakeController],
) -> None:
    env = make(image_size=64, fov=80.0)
    assert not controllers
    env.reset(seed=0)
    env.reset(seed=1)
    (controller,) = controllers
    assert controller.settings["width"] == controller.settings["height"] == 64
    assert controller.settings["fieldOfView"] == 80.0 and controller.settings["gridSize"] == 0.25
    assert controller.settings["rotateStepDegrees"] == 90 and controller.settings["snapToGrid"] is True
    env.close()
    env.close()
    assert controller.stopped


def test_scenes_are_split_as_ai2thor_does(controllers: list[FakeController]) -> None:
    scenes = {
        split: {task.partition(":")[0] for task in make(split=split).tasks()} for split in ("train", "dev", "test")
    }
    assert [len(scenes[split]) for split in ("train", "dev", "test")] == [80, 20, 20]
    assert "FloorPlan1" in scenes["train"] and "FloorPlan430" in scenes["test"] and not scenes["dev"] & scenes["test"]


@pytest.mark.parametrize("task", ["FloorPlan1:base:0", "FloorPlan26:base:9", "home-0:base:0", "", 3])
def test_tasks_of_other_splits_and_nonsense_are_refused(task: Any, controllers: list[FakeController]) -> None:
    with pytest.raises(ConfigError):
        make().reset(options={"task": task})


@pytest.mark.parametrize("instructions", ["base", "common"])
def test_the_oracle_solves_what_was_drawn(instructions: str, controllers: list[FakeController]) -> None:
    env = make(instructions=instructions)
    targets = set()
    for task in env.tasks()[:12]:
        _, info = env.reset(options={"task": task})
        targets.add(info["state"]["target_obj_type"])
        assert 5 <= (env.actions_needed() or 0) <= 30
        while (turn := env.oracle()) is not None:
            *_, info = env.step(turn)
        assert info["success"] and info["metrics"]["spl"] == 1.0
    assert targets == {"Toaster", "Fridge"}  # there are two chairs


def test_metadata_becomes_our_truth(controllers: list[FakeController]) -> None:
    env = make(max_turns=9)
    env.reset(options={"task": "FloorPlan26:base:0"})
    controllers[0].step("Teleport", position={"x": 1.0, "y": 0.9, "z": 1.0}, rotation=0, horizon=0, standing=True)
    *_, info = env.step("rotateright, lookdown")
    state = info["state"]
    assert state["pose"] == {"x": 1.0, "y": 1.0, "heading": "east", "tilt": -30}
    seen = {each["type"]: each for each in state["visible_objects"]}
    assert seen["Toaster"] == {"type": "Toaster", "direction_to_player": "ahead", "distance_to_player": 1.41}
    assert "Fridge" not in seen


def test_failed_actions_are_blocked_steps(controllers: list[FakeController]) -> None:
    env = make(max_turns=30)
    env.reset(seed=0)
    *_, info = env.step("lookup, lookup")
    assert info["feedback"] == "lookup: you cannot look further that way."
    controllers[0].step("Teleport", position={"x": -1.75, "y": 0.9, "z": -1.75}, rotation=180, horizon=0, standing=True)
    *_, info = env.step("moveahead")
    assert info["feedback"] == "moveahead: blocked." and not info["effective"]


def test_several_views_turn_there_and_back(controllers: list[FakeController]) -> None:
    env = make(kind="visual", multiview=True, image_size=16)
    observation, _ = env.reset(seed=0)
    before = env.state()
    shades = {name: int(observation[name][0, 0, 0]) for name in observation if name != "text"}
    assert len(set(shades.values())) == 4 and env.state() == before


def test_a_crash_is_a_fault_and_the_next_reset_starts_anew(controllers: list[FakeController]) -> None:
    env = make()
    env.reset(seed=0)
    controllers[0].broken = True
    with pytest.raises(EnvFault, match="Unity did not answer"):
        env.step("moveahead")
    env.reset(seed=0)
    assert len(controllers) == 2 and controllers[0].stopped


def test_it_cannot_be_saved(controllers: list[FakeController]) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(SnapshotUnsupported, match="cannot be saved"):
        env.snapshot()


def test_a_pickled_one_must_be_reset(controllers: list[FakeController]) -> None:
    env = make()
    env.reset(seed=0)
    copy = pickle.loads(pickle.dumps(env))
    with pytest.raises(EnvFault, match="call reset"):
        copy.state()
    copy.reset(seed=0)
    assert copy.state() == env.state()


def test_maps_show_where_one_can_walk(controllers: list[FakeController]) -> None:
    env = make(kind="visual", image_size=32, render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (32, 64, 3)  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
    text = env._draw_text()
    assert "X" in text and any(arrow in text for arrow in "^>v<") and text.count(".") > 200


def test_distances_between_cells() -> None:
    cells = frozenset({(0, 0), (1, 0), (2, 0), (9, 9)})
    assert steps_from(cells, [(0, 0)]) == {(0, 0): 0, (1, 0): 1, (2, 0): 2}
