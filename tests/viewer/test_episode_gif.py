"""Episodes played again: the same pictures, or none; and films of them."""

from __future__ import annotations

from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from agentrl.core.errors import ConfigError
from agentrl.rollout.episode import record_episode
from agentrl.rollout.trajectory import Trajectory
from agentrl.viewer.episode_gif import episodes_gif
from agentrl.viewer.replay import replay
from tests.viewer.run_folders import Halting, played

SOKOBAN = "agentrl/Sokoban-Visual-v0"


@pytest.fixture(scope="module")
def solved():
    (one,) = played(1.0, 1, count=1)
    return one


@pytest.fixture(scope="module")
def failed():
    (one,) = played(0.0, 1, count=1)
    return one


def test_a_replay_shows_exactly_what_was_seen():
    env = gym.make(SOKOBAN, split="test", size=6)
    one = record_episode(env, Halting(0.7, 0), 5)
    scenes = replay(one)
    seen = [one.pictures[step.images[0]] for step in one.steps] + [one.pictures[one.final_images[0]]]
    assert len(scenes) == len(seen) == len(one.steps) + 1
    assert all((scene.picture == picture).all() for scene, picture in zip(scenes, seen, strict=True))


def test_every_single_action_can_be_seen(solved):
    scenes = replay(solved, each_action=True)
    ran = [action for step in solved.steps for action in step.info["actions"]]
    assert [scene.action for scene in scenes[1:]] == ran
    closing = [scene.picture for scene in scenes if scene.closes]
    assert all((a == b.picture).all() for a, b in zip(closing, replay(solved), strict=True))
    assert all((a.picture != b.picture).any() for a, b in pairwise(scenes))


def test_an_episode_with_nonsense_is_replayed_as_it_went(failed):
    assert len(replay(failed)) == len(failed.steps) + 1


@pytest.mark.parametrize(
    "changes",
    [
        {"env_id": "agentrl/NoSuch-v0"},
        {"env_id": "os:system"},
        {"task": None},
        {"task": "not a level"},
        {"spec": {"kwargs": {"size": 9}}},
        {"spec": {"kwargs": {"nonsense": 1}}},
        {"spec": {"kwargs": 3}, "task": "x/y"},
    ],
)
def test_a_record_that_cannot_be_true_is_not_drawn(solved, changes, tmp_path):
    wrong = Trajectory.from_json({**solved.to_json(), **changes})
    assert replay(wrong) is None
    with pytest.raises(ConfigError, match="cannot be played again"):
        episodes_gif({"": wrong}, tmp_path / "x.gif")


def test_a_world_that_behaves_otherwise_is_not_drawn(solved):
    wrong = Trajectory.from_json(solved.to_json())
    wrong.steps[0].info["actions"] = ["Left", "Left", "Left", "Up", "Up"]
    assert replay(wrong) is None


def frames_of(path):
    with Image.open(path) as film:
        held = []
        for index in range(film.n_frames):
            film.seek(index)
            held.append((np.asarray(film.convert("RGB")), film.info["duration"]))
        return held, film.info.get("loop")


def test_a_film_shows_the_start_every_action_and_the_end(solved, tmp_path):
    frames, loop = frames_of(episodes_gif({"after": solved}, tmp_path / "new" / "one.gif", size=200))
    assert len(frames) == len(replay(solved, each_action=True)) + 1 and loop == 0
    assert frames[0][0].shape == (286, 228, 3)
    assert frames[0][1] == 700 and frames[-1][1] == 2500
    picture = Image.fromarray(replay(solved)[0].picture).resize((200, 200), Image.Resampling.LANCZOS)
    shown = frames[0][0][34:234, 14:214].astype(int)
    assert np.abs(shown - np.asarray(picture, int)).mean() < 6  # a palette of 255 colours loses a little


def test_captions_change_with_the_actions(solved, tmp_path):
    frames, _ = frames_of(episodes_gif({"": solved}, tmp_path / "one.gif", size=200))
    captions = [frame[240:] for frame, _ in frames]
    assert len(frames) >= 5 and all((a != b).any() for a, b in pairwise(captions))


def test_before_and_after_stand_side_by_side_and_the_shorter_waits(solved, failed, tmp_path):
    frames, _ = frames_of(episodes_gif({"before": failed, "after": solved}, tmp_path / "two.gif", size=160))
    lengths = [len(replay(one, each_action=True)) + 1 for one in (failed, solved)]
    assert len(frames) == max(lengths) and frames[0][0].shape[1] == 2 * (160 + 28)
    side = slice(0, 188) if lengths[0] < lengths[1] else slice(188, 376)
    waiting = [frame[:, side] for frame, _ in frames[min(lengths) - 1 :]]
    assert all((frame == waiting[0]).all() for frame in waiting)


def test_long_and_odd_titles_fit(solved, tmp_path):
    path = episodes_gif({"\x1b[2J\u202e" + "very long " * 300: solved}, tmp_path / "x.gif", size=64)
    frames, _ = frames_of(path)
    assert frames[0][0].shape[1] == 92


@pytest.mark.parametrize("arguments", [{"size": 8}, {"size": "big"}, {"seconds": 0}, {"seconds": float("nan")}])
def test_wrong_film_arguments_are_named(solved, tmp_path, arguments):
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        episodes_gif({"": solved}, tmp_path / "x.gif", **arguments)


def test_a_film_that_cannot_be_written_says_so(solved, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot write the GIF"):
        episodes_gif({"": solved}, tmp_path / "file" / "x.gif", size=32)
