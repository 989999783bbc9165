"""The official package: what is said where it is missing, processes that fail, and pictures of the past."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from agentrl.core.errors import ConfigError, MissingExtra, WorkerFault
from agentrl.envs.libero.official import interpreter
from agentrl.envs.libero.official.interpreter import INSIDE, find_libero
from agentrl.envs.libero.official.simulation import OfficialSimulation
from agentrl.envs.libero.task_ids import Chosen

sys.path.insert(0, str(INSIDE))  # what the other interpreter imports
from agentrl_libero_frames import FrameGuard, StaleFrame, check_renderer

pytestmark = pytest.mark.extra_robots
SERVER = '''
import os, time
import numpy as np

class Server:
    """Stands in for LIBERO's package."""
    def __init__(self, folder, assets=""):
        self.found = assets
    def assets(self):
        return self.found
    def begin(self, suite, task, start, seed, size, settle_steps):
        self.steps = 0
        return self.look()
    def step(self, action):
        self.steps += 1
        if action[0] == 1.0:
            os._exit(3)
        if action[1] == 1.0:
            time.sleep(60)
        return self.look()
    def look(self):
        at = np.array([self.steps, 0.0, 0.0])
        return {"robot": {"eef_pos": at}, "poses": {},
                "joints": {}, "interest": [], "conditions": {"On a b": self.steps >= 3}, "held": None}
'''


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another interpreter with a package that is called like LIBERO's, as far as can be told from outside."""
    (tmp_path / "agentrl_libero.py").write_text(SERVER)
    monkeypatch.setattr(interpreter, "INSIDE", tmp_path)
    monkeypatch.setattr(interpreter, "STEP", 2.0)
    found = interpreter.Interpreter(sys.executable, "hf-libero", "0.1.4")
    monkeypatch.setattr("agentrl.envs.libero.official.simulation.find_libero", lambda python: found)


def test_a_missing_package_or_interpreter_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    monkeypatch.delenv("AGENTRL_LIBERO_PYTHON", raising=False)
    with pytest.raises(MissingExtra, match="agentrl setup libero-official"):
        find_libero()
    with pytest.raises(MissingExtra, match="has no libero"):
        find_libero(sys.executable)
    with pytest.raises(ConfigError, match="must be a Python interpreter"):
        find_libero(str(tmp_path / "nowhere"))


def test_missing_assets_are_one_sentence(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ConfigError, match="assets are not here") as caught:
        OfficialSimulation()
    assert "\n" not in str(caught.value)


def test_assets_that_were_built_are_found(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    built = tmp_path / "cache" / "libero" / "assets"
    built.mkdir(parents=True)
    with closing(OfficialSimulation()) as simulation:
        assert simulation._worker.call("assets") == str(built)


def test_a_saved_task_repeats_its_actions(stand_in):
    first = OfficialSimulation(assets_folder="somewhere")
    first.begin(Chosen("libero_spatial", 0, "test", 4))
    still = np.zeros(7)
    assert [first.step(still) for _ in range(3)] == [False, False, True]
    second = OfficialSimulation(assets_folder="somewhere")
    second.load(Chosen("libero_spatial", 0, "test", 4), first.save())
    assert np.array_equal(second.robot()["eef_pos"], first.robot()["eef_pos"]) and second.conditions == {"On a b": True}
    first.close()
    second.close()


@pytest.mark.parametrize(("number", "reason"), [(0, "died"), (1, "deadline")], ids=["crash", "hang"])
def test_a_process_that_fails_is_a_fault_and_the_next_episode_plays(stand_in, number, reason):
    simulation = OfficialSimulation(assets_folder="somewhere")
    simulation.begin(Chosen("libero_spatial", 0, "test", 0))
    action = np.zeros(7)
    action[number] = 1.0
    with pytest.raises(WorkerFault) as caught:
        simulation.step(action)
    assert caught.value.reason == reason
    simulation.begin(Chosen("libero_spatial", 0, "test", 1))
    assert simulation.step(np.zeros(7)) is False
    simulation.close()


class StaleRenderer:
    """Like robosuite's after a hard reset: it goes on returning what was in its memory."""

    def __init__(self, stale: bool) -> None:
        self.joints, self.stale = np.zeros(3), stale
        self._memory = self._draw()

    def _draw(self) -> np.ndarray:
        return np.full((4, 4, 3), int(100 * self.joints[0]), dtype=np.uint8)

    def render(self) -> np.ndarray:
        self._memory = self._memory if self.stale else self._draw()
        return self._memory


def test_a_renderer_that_shows_the_past_is_found_out():
    for stale in (False, True):
        simulator = StaleRenderer(stale)
        guard = FrameGuard()
        guard.check("agentview", simulator.joints, simulator.render())
        simulator.joints = np.array([0.004, 0.0, 0.0])
        guard.check("agentview", simulator.joints, simulator.render())  # too small to be seen
        simulator.joints = np.array([0.5, 0.0, 0.0])
        if stale:
            with pytest.raises(StaleFrame):
                guard.check("agentview", simulator.joints, simulator.render())
        else:
            guard.check("agentview", simulator.joints, simulator.render())


def test_the_renderer_is_tried_at_the_start_and_the_simulation_left_as_it_was():
    for stale in (False, True):
        simulator = StaleRenderer(stale)

        def move(simulator=simulator):
            simulator.joints = simulator.joints + 0.3

        def put_back(simulator=simulator):
            simulator.joints = np.zeros(3)

        if stale:
            with pytest.raises(StaleFrame):
                check_renderer(simulator.render, move, put_back)
        else:
            check_renderer(simulator.render, move, put_back)
        assert np.array_equal(simulator.joints, np.zeros(3))
