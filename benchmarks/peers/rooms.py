"""MiniWorld's pictures of rooms; a script for the peers' interpreter.

python rooms.py PIXELS STEPS     one JSON object on stdout
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from agentrl.core.measure import result

NAME = "miniworld"
WORLDS = {"four empty rooms": "MiniWorld-FourRooms-v0", "a room with boxes": "MiniWorld-PutNext-v0"}


def pictures(env_id: str, pixels: int, steps: int) -> list[float]:
    """Pictures per second of the processor, five times."""
    import gymnasium as gym  # pyright: ignore[reportMissingImports]
    import miniworld  # noqa: F401  # pyright: ignore[reportMissingImports]

    env = gym.make(env_id, obs_width=pixels, obs_height=pixels, max_episode_steps=10**9)
    env.reset(seed=0)
    found = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(steps):
            env.step(0)  # turn left: a step is a picture
        found.append(steps / (time.process_time() - start))
    return found


def main(pixels: int, steps: int) -> dict[str, Any]:
    """The report of this peer."""
    try:
        import pyglet  # pyright: ignore[reportMissingImports]

        pyglet.options["headless"] = True
        rows = [
            result(
                f"pictures of {name}",
                NAME,
                version(NAME),
                pictures(world, pixels, steps),
                "pictures/s",
                px=pixels,
                obs="image",
            )
            for name, world in WORLDS.items()
        ]
    except Exception as error:
        return {"results": [], "peers": {NAME: {"installed": False, "version": None, "reason": f"{error}"}}}
    return {"results": rows, "peers": {NAME: {"installed": True, "version": version(NAME), "reason": None}}}


if __name__ == "__main__":
    stdout = os.dup(1)
    os.dup2(2, 1)  # peers print greetings
    os.write(stdout, json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))).encode())
