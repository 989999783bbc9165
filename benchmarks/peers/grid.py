"""Measures the peers of the grid worlds; a script for the interpreter of the peers' own virtual environment.

python grid.py SECONDS REPEATS      one JSON object on stdout
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from agentrl.core.measure import rates, result

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
warnings.simplefilter("ignore")
Rows = list[dict[str, Any]]


def gymnasium_rows(seconds: float, repeats: int) -> Rows:
    """Steps and pictures of FrozenLake-v1, as Gymnasium makes it."""
    import gymnasium as gym
    import numpy as np

    plain = gym.make("FrozenLake-v1", is_slippery=False)
    drawn = gym.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    plain.reset(seed=0)
    drawn.reset(seed=0)
    plain.action_space.seed(0)
    actions = [int(plain.action_space.sample()) for _ in range(1024)]

    def steps() -> int:
        for action in actions:
            _, _, terminated, truncated, _ = plain.step(action)
            if terminated or truncated:
                plain.reset()
        return len(actions)

    def pictures() -> int:
        picture = drawn.render()
        assert isinstance(picture, np.ndarray) and picture.shape == (256, 256, 3)
        return 1

    v = version("gymnasium")
    return [
        result("steps", "gymnasium FrozenLake-v1", v, rates(steps, seconds, repeats), "steps/s", obs="index"),
        result("pictures", "gymnasium FrozenLake-v1", v, rates(pictures, seconds, repeats), "pictures/s", px=256),
    ]


def envpool_rows(seconds: float, repeats: int) -> Rows:
    """Steps of FrozenLake-v1 with one thread at several batch sizes; the best one counts."""
    import envpool  # pyright: ignore[reportMissingImports]  (the peers' own environment has it)
    import numpy as np

    rows = []
    for n in (64, 512, 1024, 4096, 16384):
        envs = envpool.make("FrozenLake-v1", env_type="gymnasium", num_envs=n, num_threads=1)
        envs.reset()
        actions = np.random.default_rng(0).integers(0, 4, (16, n)).astype(np.int32)

        def steps(envs: Any = envs, actions: Any = actions, n: int = n) -> int:
            for row in actions:
                envs.step(row)
            return n * len(actions)

        found = rates(steps, seconds, repeats)
        rows.append(
            result("steps", "envpool FrozenLake-v1", version("envpool"), found, "steps/s", num_envs=n, obs="index")
        )
    return rows


def gym_sokoban_rows(seconds: float, repeats: int) -> Rows:
    """Resets and steps of a 6x6 room with one box."""
    from gym_sokoban.envs.sokoban_env import SokobanEnv  # pyright: ignore[reportMissingImports]  (as above)

    env = SokobanEnv(dim_room=(6, 6), num_boxes=1, max_steps=9)

    def resets() -> int:
        env.reset()
        return 1

    def steps() -> int:
        env.reset()
        for action in (1, 2, 3, 4, 5, 6, 7, 8):
            env.step(action, observation_mode="tiny_rgb_array")
        return 8

    v = version("gym-sokoban")
    return [
        result("resets", "gym-sokoban 6x6", v, rates(resets, seconds, repeats), "resets/s", obs="tiny_rgb_array"),
        result("steps", "gym-sokoban 6x6", v, rates(steps, seconds, repeats), "steps/s", obs="tiny_rgb_array"),
    ]


PEERS: dict[str, Callable[[float, int], Rows]] = {
    "gymnasium": gymnasium_rows,
    "envpool": envpool_rows,
    "gym-sokoban": gym_sokoban_rows,
}


def main() -> None:
    """Measure every peer that can be imported; say why for the others."""
    seconds, repeats = float(sys.argv[1]), int(sys.argv[2])
    report: dict[str, Any] = {"results": [], "peers": {}}
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print greetings
    for name, measure in PEERS.items():
        try:
            report["results"] += measure(seconds, repeats)
            report["peers"][name] = {"installed": True, "version": version(name), "reason": None}
        except Exception as error:
            report["peers"][name] = {"installed": False, "version": None, "reason": f"{type(error).__name__}: {error}"}
    json.dump(report, output)


if __name__ == "__main__":
    main()
