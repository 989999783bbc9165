"""Environments as tasks of inspect-ai: its mock model and an endpoint play the episodes of our collector."""

from __future__ import annotations

import json
import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentrl.core.errors import MissingLibrary
from agentrl.core.interpreter import CHECKOUT
from agentrl.rollout.evaluate import evaluate
from tests.adapters.library_check import TEXT, VISUAL, check_row, compare, from_json, play
from tests.adapters.scripted_endpoint import OTHERWISE, scripted_endpoint

FOLDER, DRIVER = CHECKOUT / ".venv-inspect-ai" / "bin", Path(__file__).with_name("inspect_driver.py")
VARIABLES = {**os.environ, "PYTHONPATH": str(CHECKOUT), "OPENAI_API_KEY": "none"}

LAKE = f"""
from agentrl.adapters.inspect_ai import environment
from inspect_ai import task

@task
def lake(episodes: int = 20):
    return environment("{TEXT}", episodes)
"""


def call(*words: str | Path, cwd: Path | None = None) -> str:
    words = tuple(str(word) for word in words)
    done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES, cwd=cwd, timeout=280)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.library("inspect-ai")
def test_its_models_play_the_episodes_of_our_collector(tmp_path):
    found = {}
    for env_id in (TEXT, VISUAL):
        ours = play(env_id)
        mocked = call(FOLDER / "python", DRIVER, env_id, tmp_path).splitlines()[-1]
        found[env_id] = compare(from_json(mocked), ours)
        with scripted_endpoint(env_id) as url:
            asked = call(FOLDER / "python", DRIVER, env_id, tmp_path, url).splitlines()[-1]
        assert compare(from_json(asked), ours) == found[env_id]
    version = re.search(r"(?m)^inspect.ai==(.+)$", (CHECKOUT / "scripts/libraries/inspect-ai.txt").read_text())
    assert version is not None
    check_row("inspect-ai", version[1], text=found[TEXT], pictures=found[VISUAL])


@pytest.mark.library("inspect-ai")
def test_its_command_plays_the_tasks_of_agentrl_eval(tmp_path):
    ours = evaluate(TEXT, f"constant:{OTHERWISE}", episodes=3)
    (tmp_path / "lake.py").write_text(LAKE)
    words = ("-T", "episodes=3", "--log-dir", tmp_path, "--log-format", "json", "--display", "plain")
    with scripted_endpoint(TEXT) as url:
        model = ("--model", "openai/scripted", "--model-base-url", url, "-M", "responses_api=false")
        call(FOLDER / "inspect", "eval", "lake.py", *words, *model, cwd=tmp_path)
    (path,) = tmp_path.glob("*.json")
    log = json.loads(path.read_text())
    assert log["status"] == "success"
    figures = {score["name"]: score["metrics"]["mean"]["value"] for score in log["results"]["scores"]}
    assert figures == pytest.approx({"success": ours.success, "reward": ours.reward_mean})
    assert sum(len(sample["messages"]) - 1 for sample in log["samples"]) == pytest.approx(2 * 3 * ours.turns_mean)


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="inspect-ai is installed here")
def test_the_adapter_says_how_to_install_inspect_ai():
    with pytest.raises(MissingLibrary, match=r"pip install inspect-ai==.* scripts/setup.sh library:ins"):
        import agentrl.adapters.inspect_ai  # noqa: F401
