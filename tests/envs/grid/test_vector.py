"""The vectorised core is the single environment, many times and quickly."""

from __future__ import annotations

import os
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError

CASES = [
    ("FrozenLake", {}),
    ("FrozenLake", {"slippery": True, "size": 5, "levels": 64}),
    ("Sokoban", {}),
    ("Sokoban", {"boxes": 2, "max_turns": 6, "levels": 64}),
]


def make(game: str, n: int, **arguments):
    return gym.make_vec(f"agentrl/{game}-Grid-v0", num_envs=n, **arguments)


@pytest.mark.parametrize(("game", "arguments"), CASES)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_row_i_is_the_single_environment_of_seed_plus_i(game, arguments, mode):
    n, rng = 6, np.random.default_rng(0)
    many = make(game, n, autoreset_mode=mode, **arguments)
    ones = [gym.make(f"agentrl/{game}-Grid-v0", **arguments) for _ in range(n)]
    observed, _ = many.reset(seed=5)
    assert (observed == [env.reset(seed=5 + i)[0] for i, env in enumerate(ones)]).all()
    over = np.zeros(n, bool)
    for step in range(150):
        actions = rng.integers(-1 if step % 7 == 0 else 0, 4, n)
        observed, rewards, terminated, truncated, info = many.step(actions)
        for i, env in enumerate(ones):
            if over[i] and mode != "SameStep":
                assert rewards[i] == 0 and not terminated[i] and not truncated[i]
                if mode == "NextStep":
                    assert (env.reset()[0] == observed[i]).all()
                    over[i] = False
                continue
            one, reward, ended, cut, told = env.step(int(actions[i]))
            assert (rewards[i], terminated[i], truncated[i]) == (pytest.approx(reward), ended, cut)
            assert all(info[name][i] == told[name] for name in ("success", "valid", "effective"))
            over[i] = ended or cut
            if over[i] and mode == "SameStep":
                assert info["_final_obs"][i] and (info["final_obs"][i] == one).all()
                one, _ = env.reset()
            assert (one == observed[i]).all()


ROLLOUT = """
import gymnasium as gym, numpy as np, hashlib, agentrl
from agentrl.envs.grid.kernel import kernel_name
digest = hashlib.sha256()
for game, arguments in {cases!r}:
    for mode in ("SameStep", "NextStep"):
        for observation in ("grid", "image"):
            envs = gym.make_vec(f"agentrl/{{game}}-Grid-v0", num_envs=33, autoreset_mode=mode, full_info=True,
                                observation=observation, image_size=61, **arguments)
            rng = np.random.default_rng(1)
            digest.update(envs.reset(seed=9)[0].tobytes())
            for _ in range(25):
                observed, reward, terminated, truncated, info = envs.step(rng.integers(-1, 5, 33))
                for array in (observed, reward, terminated, truncated, info["effective"], info.get("final_obs")):
                    digest.update(b"" if array is None else array.tobytes())
                digest.update(repr([info["state"].tolist(), info["task"].tolist()]).encode())
print(kernel_name(), digest.hexdigest())
"""


@pytest.mark.c_kernel
def test_compiled_and_numpy_kernels_agree_to_the_bit():
    code = ROLLOUT.format(cases=CASES)
    found = {}
    for choice in ("", "numpy"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "AGENTRL_KERNEL": choice}
        )
        assert done.returncode == 0, done.stderr
        name, digest = done.stdout.split()
        found[name] = digest
    assert set(found) == {"c", "numpy"}
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("game", ["FrozenLake", "Sokoban"])
def test_observations_are_fresh_and_in_their_space(game):
    for observation in ("grid", "image"):
        envs = make(game, 5, observation=observation, image_size=50)
        first, _ = envs.reset(seed=0)
        kept = first.copy()
        second, *_ = envs.step(np.zeros(5, np.int64))
        assert (first == kept).all() and not np.shares_memory(first, second)
        assert first in envs.observation_space and second in envs.observation_space


def test_vector_info_is_three_arrays_unless_asked_for_more():
    envs = make("Sokoban", 3)
    assert set(envs.reset(seed=0)[1]) == {"success", "valid", "effective"}
    assert set(envs.step(np.array([0, 1, 9]))[4]) == {"success", "valid", "effective"}
    full = make("Sokoban", 3, full_info=True)
    full.reset(seed=0)
    info = full.step(np.array([0, 1, 9]))[4]
    assert {"state", "task", "reward_terms", "actions", "limit", "turn"} <= set(info)
    assert info["actions"].tolist()[2] is None and info["valid"].tolist() == [True, True, False]
    assert info["reward_terms"]["invalid"].tolist() == [0.0, 0.0, -0.1]
    assert info["state"][0]["grid_size"] == [6, 6]


def test_reset_mask_resets_some():
    envs = make("FrozenLake", 4)
    before, _ = envs.reset(seed=0)
    mask = np.array([True, False, False, True])
    after, _ = envs.reset(options={"reset_mask": mask})
    assert (before[~mask] == after[~mask]).all() and (before[mask] != after[mask]).any()


def test_autoreset_mode_is_declared_and_checked():
    assert make("FrozenLake", 2).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert make("FrozenLake", 2, autoreset_mode="SAME_STEP").metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    with pytest.raises(ConfigError, match="autoreset_mode"):
        make("FrozenLake", 2, autoreset_mode="never")


@pytest.mark.parametrize(
    "bad",
    [np.zeros(3, np.int64), np.zeros((4, 1), np.int64), np.zeros(4), np.array(["0"] * 4), None, np.zeros(4, bool)],
)
def test_wrong_action_arrays_raise_and_change_nothing(bad):
    envs = make("FrozenLake", 4)
    envs.reset(seed=0)
    before = envs._batch.codes.copy()
    with pytest.raises(ConfigError, match="actions"):
        envs.step(bad)
    assert (envs._batch.codes == before).all() and (envs._batch.steps == 0).all()


def test_bad_arguments_are_refused():
    for arguments, word in [
        ({"observation": "sound"}, "observation"),
        ({"kind": "text"}, "kind"),
        ({"sise": 4}, "size"),
    ]:
        with pytest.raises(ConfigError, match=word):
            make("FrozenLake", 2, **arguments)
    with pytest.raises(ConfigError, match="num_envs"):
        make("FrozenLake", 0)
    with pytest.raises(ConfigError, match="seeds"):
        make("FrozenLake", 2).reset(seed=[1, 2, 3])
    with pytest.raises(ConfigError, match="reset_mask"):
        make("FrozenLake", 2).reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ConfigError, match="reset"):
        make("FrozenLake", 2).step(np.zeros(2, np.int64))


def test_render_gives_one_picture_each():
    envs = make("Sokoban", 2, render_mode="rgb_array", image_size=96)
    envs.reset(seed=0)
    frames = envs.render()
    assert len(frames) == 2 and frames[0].shape == (96, 96, 3)


def test_gymnasium_vector_wrappers_work_on_top():
    envs = gym.wrappers.vector.RecordEpisodeStatistics(make("FrozenLake", 16))
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    episodes = sum(int(envs.step(rng.integers(0, 4, 16))[4].get("_episode", np.zeros(1)).sum()) for _ in range(50))
    assert episodes > 16
