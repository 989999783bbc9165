"""TextWorld behind the same game: where it is missing, where it differs, and, with it, a thousand walks that do not."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentrl.core.errors import ConfigError, EnvFault, MissingExtra, WorkerFault
from agentrl.envs.alfworld import real
from agentrl.envs.alfworld.env import ALFWorldEnv
from agentrl.envs.alfworld.games import FAMILIES
from tests.envs.alfworld import walks

TASK = "bathroom-03-001"
# Stands in for TextWorld's interpreter: it says what it was told to say.
SERVER = '''
import os
class Server:
    """Repeats what it finds in a file beside it, and dies when it is told to "look"."""
    def load(self, game, earlier):
        self.game = game
    def reset(self):
        return ["other", [], False]
    def step(self, command):
        os._exit(3)
'''


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another interpreter that seems to have TextWorld."""
    (tmp_path / "agentrl_textworld.py").write_text(SERVER)
    monkeypatch.setattr(real, "INSIDE", tmp_path)
    monkeypatch.setattr(real, "find_interpreter", lambda spec, python: SimpleNamespace(python=sys.executable))


def test_a_missing_interpreter_names_the_command_that_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_TEXTWORLD_PYTHON", sys.executable)
    with pytest.raises(MissingExtra, match="agentrl setup alfworld"):
        ALFWorldEnv(backend="textworld")
    with pytest.raises(ConfigError, match="python must be a Python interpreter"):
        ALFWorldEnv(backend="textworld", python=str(tmp_path / "none"))


def test_another_answer_is_a_fault_and_never_a_reward(stand_in: None) -> None:
    with closing(ALFWorldEnv(backend="textworld")) as env:
        with pytest.raises(EnvFault, match="differ in text: 'other'"):
            env.reset(options={"task": TASK})
        assert env._real is not None
        ours = ("other", [], False)
        env._real.begin(env._find_task(TASK), None, ours)
        with pytest.raises(WorkerFault):
            env._real.step("look", ours)
        with pytest.raises(EnvFault, match="call reset"):
            env._real.step("look", ours)


@pytest.mark.library("textworld")
def test_an_episode_in_textworld_is_saved_and_restored_by_its_commands() -> None:
    with closing(ALFWorldEnv(backend="textworld")) as env, closing(ALFWorldEnv(backend="textworld")) as other:
        env.reset(options={"task": TASK})
        env.step(env.oracle())
        other.reset(seed=1)
        other.restore(env.snapshot())
        while (command := other.oracle()) is not None:
            info = other.step(command)[4]
        assert info["success"]


@pytest.mark.library("textworld")
@pytest.mark.timeout(7200)
def test_a_thousand_walks_through_all_families_are_the_same_in_textworld() -> None:
    worker, total = real.RealGame()._worker, Counter()
    with closing(worker):
        for number in range(100):
            total += walks.compare(worker, number, wording="0.3" if number % 10 == 9 else "0.4")
    assert total["walks"] == 1000 and total["won"] >= 200 and min(total[family] for family in FAMILIES) >= 160
