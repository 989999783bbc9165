"""The environment in CONTRIBUTING.md is extracted and used as a stranger would use it; test_blocks.py runs the kit."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from agentrl.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
ID = "guess:guess/Guess-Text-v0"
(CODE,) = re.findall(
    r"^```python\n(\"\"\"guess.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE
)


@pytest.fixture(scope="module", autouse=True)
def guess(tmp_path_factory: pytest.TempPathFactory):
    """The module `guess`, found by this process and by those that the kit starts."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "guess.py").write_text(CODE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
        yield folder
        gym.registry.pop("guess/Guess-Text-v0", None)
        sys.modules.pop("guess", None)


def test_it_is_short() -> None:
    assert len([line for line in CODE.splitlines() if line.strip()]) <= 65


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_its_oracle_solves_every_task(split: str) -> None:
    env = gym.make(ID, split=split)
    for task in env.unwrapped.tasks():
        _, info = env.reset(options={"task": task})
        while not info["success"]:
            *_, truncated, info = env.step(env.unwrapped.oracle())
            assert not truncated
    assert info["task"] == task


def test_it_is_drawn_without_a_line_of_its_own() -> None:
    env = gym.make(ID, render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    env.step("200")
    assert first.dtype == np.uint8 and first.shape == env.render().shape and (first != env.render()).any()
    assert gym.make(ID, render_mode="ansi").unwrapped.metadata["render_modes"] == ["human", "rgb_array", "ansi"]


def test_the_command_line_lists_and_plays_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "guess", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[-1]
    assert (row["id"], row["kind"], row["backend"]) == (ID, "Text", "module guess") and "higher" in row["summary"]
    assert main(["eval", ID, "--policy", "oracle", "--episodes", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["success"] == 1.0
    assert main(["list", "json"]) == 2 and main(["list", "no_such_module"]) == 2
    refused = capsys.readouterr().err
    assert "registers no environment" in refused and "cannot be imported" in refused
