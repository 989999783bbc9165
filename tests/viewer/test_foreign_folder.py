"""Run folders and trajectory files of unknown origin are only read: they import, build and wait for nothing."""

from __future__ import annotations

import io
import os
import sys
import threading

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular, read_regular
from agentrl.core.specs import resolve
from agentrl.recipes import load_recipe
from agentrl.rollout.judging import settle
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import images_folder, read_trajectories, write_trajectories
from agentrl.viewer import replay as replaying
from agentrl.viewer.episode_gif import episodes_gif
from agentrl.viewer.run_report import write_run_report
from tests.viewer.run_folders import LAKE, played, rl_lines, write_run

SVG = "agentrl/SVG-Visual-v0"
CANARY = "agentrl_canary_scorer"
PICTURE = "0" * 32
COLOURS = {"scorer": "colours", "weight": 1.0}  # made quickly


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A module that could be imported; it must not be."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / f"{CANARY}.py").write_text(
        "class Scorer:\n    def score_pairs(self, pairs):\n        return [1.0 for pair in pairs]\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "path")
    yield CANARY
    sys.modules.pop(CANARY, None)


def hostile_episode(env_id: str = SVG, **kwargs) -> Trajectory:
    """An episode whose record asks for an environment with these arguments."""
    env = gym.make(SVG, scorers=[COLOURS])
    task = env.unwrapped.tasks()[0]
    env.close()
    state = {"judge_requests": [], "actions": ["<svg></svg>"]}
    step = Step(observation="draw", action="<svg></svg>", info=state)
    return Trajectory(id="x", steps=[step], env_id=env_id, task=task, seed=0, reward=1.0, spec={"kwargs": kwargs})


def finished(work, seconds: float = 20.0):
    """What `work` returned or raised; fails where it is still waiting for something."""
    results = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert results, "it hangs"
    return results[0]


# ---------------------------------------------------------------------- code


def test_a_report_builds_no_environment_unless_asked(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(replaying, "make", lambda *given, **kwargs: made.append(given) or gym.make(*given, **kwargs))
    folder = write_run(tmp_path, rl_lines(3), train=played(1.0, 1, count=2))
    html = write_run_report(folder).read_text()
    assert not made and "<img" not in html and "agentrl report RUN --replay" in html
    html = write_run_report(folder, play_again=True).read_text()
    assert made and "<img" in html and "--replay" not in html


@pytest.mark.parametrize("play_again", [False, True])
def test_a_scorer_named_by_a_folder_is_not_imported(canary, tmp_path, play_again):
    episode = hostile_episode(scorers=[{"scorer": f"{canary}:Scorer", "weight": 1.0}])
    folder = write_run(tmp_path / "run", rl_lines(3), train=[episode])
    write_run_report(folder, play_again=play_again)
    with pytest.raises(ConfigError, match="cannot be played again"):
        episodes_gif({"x": episode}, tmp_path / "x.gif")
    assert canary not in sys.modules
    resolve("scorer", f"{canary}:Scorer")  # the user's own word still counts
    assert canary in sys.modules


@pytest.mark.parametrize("env_id", [f"{CANARY}:x", f"{CANARY}:{LAKE}", CANARY])
def test_an_environment_named_by_a_folder_is_not_imported(canary, tmp_path, env_id):
    request = {"id": "1", "env_id": env_id, "purpose": "grounding", "text": "x", "state": {}, "term": "t", "weight": 1}
    episode = hostile_episode(env_id)
    episode.steps[0].info["judge_requests"] = [request]
    episode.steps[0].pending = ["t"]
    folder = write_run(tmp_path / "run", rl_lines(3), train=[episode])
    write_run_report(folder, play_again=True)
    for judge in ("rule", "structured"):
        settle(read_trajectories(folder / "trajectories" / "train.jsonl"), judge)
    assert canary not in sys.modules


def test_environments_of_other_interfaces_are_not_made(monkeypatch):
    monkeypatch.setattr(replaying, "make", pytest.fail)
    episode = hostile_episode("CartPole-v1")
    assert replaying.replay(episode) is None


# ---------------------------------------------------------------------- files that are none


@pytest.mark.parametrize(
    "name", ["config.json", "metrics.jsonl", "trajectories/a.jsonl", "trajectories/a.parquet", f"images/{PICTURE}.png"]
)
def test_a_fifo_in_a_run_folder_keeps_nobody_waiting(tmp_path, name):
    step = Step(observation="x", images=[PICTURE], action="Up", info={"actions": ["Up"]})
    folder = write_run(tmp_path, rl_lines(2), b=[Trajectory(steps=[step], reward=1.0)])
    (folder / "images").mkdir()
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    found = finished(lambda: write_run_report(folder).read_text())
    assert "no metrics.jsonl" in str(found) if name == "metrics.jsonl" else "<html" in found and "<img" not in found


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_fifo_is_no_file_of_trajectories(tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert "not a regular file" in str(finished(lambda: read_trajectories(tmp_path / name)))


def test_pictures_are_copied_from_files_only(tmp_path):
    (tmp_path / "images").mkdir()
    os.mkfifo(tmp_path / "images" / f"{PICTURE}.png")
    held = [Trajectory(steps=[Step(observation="x", images=[PICTURE], action="Up")], reward=1.0)]
    target = tmp_path / "out" / "a.jsonl"
    found = finished(lambda: write_trajectories(target, held, images_folder(tmp_path / "a.jsonl")))
    assert isinstance(found, ConfigError) and "not a regular file" in str(found)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "folder/a.svg"])
def test_a_fifo_holds_no_targets(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    where = tmp_path / name.partition("/")[0]
    found = finished(lambda: gym.make(SVG, targets=str(where), scorers=[COLOURS]).reset(seed=0))
    assert isinstance(found, ConfigError), found


def test_a_recipe_is_a_file(tmp_path):
    os.mkfifo(tmp_path / "x.toml")
    assert "not a regular file" in str(finished(lambda: load_recipe(str(tmp_path / "x.toml"))))


def test_only_regular_files_are_opened(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_regular(tmp_path / "link") == b"text"
    before = len(os.listdir("/proc/self/fd"))
    for place in (tmp_path, "/dev/zero"):
        with pytest.raises(OSError, match=r"regular|directory"):
            open_regular(place)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none")
    assert len(os.listdir("/proc/self/fd")) == before


def test_pictures_are_read_as_png_alone(tmp_path):
    """Others have decoders that run programs: that of EPS starts Ghostscript."""
    step = Step(observation="x", images=[PICTURE], action="Up", info={"actions": ["Up"]})
    folder = write_run(tmp_path, rl_lines(2), train=[Trajectory(steps=[step], reward=1.0)])
    (folder / "images").mkdir()
    for kind, shown in (("PNG", True), ("BMP", False), ("EPS", False)):
        data = io.BytesIO()
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(data, kind)
        (folder / "images" / f"{PICTURE}.png").write_bytes(data.getvalue())
        assert ("<img" in write_run_report(folder).read_text()) == shown
