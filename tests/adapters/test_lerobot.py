"""lerobot 0.4.4 itself, in a virtual environment of its own, reads what is written here and plays what is played here;
without it one sentence says how to install it."""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from agentrl.adapters.lerobot import LeRobotEnv, instruction_in, raw_observation
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.policies import load_policy
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.lerobot import write_lerobot
from agentrl.rollout.trajectory_file import TrajectoryWriter, with_pictures
from tests.adapters.library_check import check_row
from tests.adapters.referee import ask
from tests.toy_control import PUCK

real = [pytest.mark.long, pytest.mark.lerobot, pytest.mark.extra_robots, pytest.mark.timeout(1200)]
SMALL = {"protocol": "lerobot", "image_size": 96}


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two episodes of the oracle, and the data set of them."""
    folder = tmp_path_factory.mktemp("lerobot")
    file, dataset = folder / "trajectories" / "oracle.jsonl", folder / "dataset"
    with TrajectoryWriter(file) as writer:
        evaluate("agentrl/LIBERO-Spatial-v0", "oracle", 2, env_kwargs=SMALL, on_trajectory=writer.write)
    write_lerobot(dataset, with_pictures(file), failures=True)
    return dataset, file


class TestReal:
    """Needs lerobot."""

    pytestmark = real

    def test_lerobot_reads_the_export_equal_in_every_number_and_pixel(self, demonstrations: tuple[Path, Path]) -> None:
        found = ask("read", *demonstrations)
        assert found["frames"] == found["compared"] > 100 and found["episodes"] == 2
        assert found["wrong"] == {"pictures": 0, "tasks": 0, "times": 0}
        assert set(found["greatest_difference"].values()) == {0.0}
        assert max(found["statistics"].values()) <= 1 / 5000  # of the range: a bin of lerobot's histograms

    def test_what_lerobot_records_is_read_here_with_pictures_and_with_videos(self, tmp_path: Path) -> None:
        found = ask("record", tmp_path)
        for kind, greatest in (("image", 0), ("video", 4)):  # videos lose a little
            assert found[kind]["lengths"] == [5, 6, 7] and found[kind]["tasks"] == ["task 0", "task 1", "task 0"]
            assert found[kind]["numbers_equal"] and all(found[kind]["succeeded"])
            assert found[kind]["greatest_pixel_difference"] <= greatest

    def test_observations_are_those_of_lerobots_processor_and_environment(self) -> None:
        found = ask("observe")
        libero, metaworld = found["libero"], found["metaworld"]
        assert libero["keys"] == ["observation.images.image", "observation.images.image2", "observation.state", "task"]
        assert libero["pictures_equal"] == libero["of"] == 16 and libero["state_gap"] < 1e-6
        assert metaworld["keys_equal"] and metaworld["shapes_equal"] and metaworld["limits_equal"]
        assert metaworld["state_gap"] < 1e-6 and metaworld["task_equal"]
        assert metaworld["instructions_equal"] == metaworld["instructions"] == 50
        assert metaworld["mean_pixel_difference"] < 12  # of 255: drawn without shadows and mirrors here
        remarks = {"text": "the instruction", "turn rewards": "not compared", "exact tokens": "actions are numbers"}
        check_row("lerobot", "0.4.4", pictures=frozenset({"shown"}), remarks=remarks)

    def test_policies_play_here_as_in_lerobots_own_loop(
        self, demonstrations: tuple[Path, Path], tmp_path: Path
    ) -> None:
        found = ask("play", demonstrations[0], tmp_path)
        act, diffusion = found["act"], found["diffusion"]
        assert act["against_lerobot"] == 0.0 and act["steps"] == act["distinct"] == 12
        assert act["chunks_against_steps"] == 0.0 and act["side_by_side_against_alone"] < 1e-5
        assert act["lerobot_eval"] == 0.0 < act["loss"]  # random weights solve nothing
        state, sawyer, chunks, nothing = act["refusals"]
        assert "must show observation.images.image (3, 96, 96), which the policy reads; it shows" in state
        assert "must show observation.state (8,), which the policy reads; it shows" in sawyer
        assert "ActionChunks must have the size 5" in chunks and "got the size 4" in chunks
        assert "must be a folder with config.json" in nothing
        assert diffusion["same_seed"] < 1e-5 < diffusion["another_seed"]
        assert diffusion["success_ci"][0] == 0.0


def test_an_environment_is_one_of_lerobots() -> None:
    """lerobot's loop asks a vector for these."""
    env = gym.vector.SyncVectorEnv([lambda: LeRobotEnv(gym.make(PUCK, max_turns=2))] * 2)
    seen, info = env.reset(seed=[1, 2])
    assert seen["pixels"]["image"].shape == seen["pixels"]["image2"].shape == (2, 32, 32, 3)
    assert seen["agent_pos"].shape == (2, 2) and not info["is_success"].any()
    assert env.call("task_description") == ("Push the puck to the mark.",) * 2
    assert env.call("_max_episode_steps") == (2, 2)
    for turn in range(2):
        seen, _, _, truncated, info = env.step(np.zeros((2, 2), np.float32))
        assert truncated.all() == ("final_info" in info) == (turn == 1)
    assert info["final_info"]["is_success"].tolist() == [False, False]


def test_one_camera_is_no_dictionary_and_numbers_have_their_name() -> None:
    seen = raw_observation({"image": np.zeros((4, 4, 3), np.uint8), "proprio": np.ones(3), "state": np.ones(5)})
    assert seen["pixels"].shape == (4, 4, 3) and len(seen["agent_pos"]) == 3 and len(seen["environment_state"]) == 5
    with pytest.raises(ConfigError, match="named observations and arrays as actions"):
        LeRobotEnv(gym.make("agentrl/FrozenLake-Grid-v0"))


def test_the_instruction_comes_without_feedback_and_without_text() -> None:
    env = gym.make(PUCK, obs_text=False)
    seen = {"text": "Push the puck.\nThat was no action."}
    assert instruction_in(seen, env) == "Push the puck." and instruction_in({}, env) == "Push the puck to the mark."
    with pytest.raises(ConfigError, match="leave obs_text at True"):
        instruction_in({}, gym.make("agentrl/FrozenLake-Grid-v0"))


def test_without_lerobot_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lerobot", None)
    monkeypatch.delitem(sys.modules, "agentrl.adapters.lerobot", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'lerobot==0.4.4' 'agentrl-suite\[robots\]'") as found:
        load_policy("lerobot:some/folder")
    assert "scripts/setup.sh lerobot" in str(found.value)
