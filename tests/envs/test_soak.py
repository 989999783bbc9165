"""Minutes of play in one process: what environments leave behind once they are closed does not grow."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentrl.core.cache import forget_caches
from agentrl.registry import known

ROOT = Path(__file__).parents[2]
SECONDS = 5.0  # of each environment
LEFT_OUT = ("LIBERO-90", "LIBERO-10", "LIBERO-Goal", "LIBERO-Object", "Stack", "Align", "Drawer-Text")


class MallInfo(ctypes.Structure):
    """What glibc's `mallinfo2` tells."""

    _fields_ = [("numbers", ctypes.c_size_t * 10)]


def memory() -> dict[str, float]:
    """Once everything that can be given back was: megabytes that the process holds, and what is in use of them, in
    blocks of Python's allocator and in megabytes of the C library's."""
    forget_caches()
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = MallInfo
    _, _, _, _, mapped, _, _, used, *_ = library.mallinfo2().numbers
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"resident": pages / 256, "blocks": sys.getallocatedblocks(), "used": (mapped + used) / 2**20}


def play(env_id: str, seconds: float) -> int:
    """Steps in one environment, by the oracle where it knows one and at random elsewhere; at least a whole episode."""
    env: Any = gym.make(env_id, disable_env_checker=True)
    steps, started = 0, time.monotonic()
    env.reset(seed=0)
    over = False
    while time.monotonic() - started < seconds or not over:
        action = env.unwrapped.oracle() if steps % 3 else None
        *_, terminated, truncated, _ = env.step(env.action_space.sample() if action is None else action)
        steps, over = steps + 1, terminated or truncated
        if over:
            env.reset()
    env.close()
    return steps


def soak() -> None:
    """Play a little in all of them, which loads their libraries, then for long; print what stayed."""
    ids = [entry.id for entry in known() if not any(name in entry.id for name in LEFT_OUT)]
    ids = [env_id for env_id in ids if "MetaWorld" not in env_id or "reach-v" in env_id]
    before = memory()
    from PIL import Image

    from agentrl.envs.webarena.sites.places import PLACES

    Image.init()
    assert all(place.site for place in PLACES.values())  # loads the sites that the first episode does not visit
    for env_id in ids:
        play(env_id, 0.0)
    loaded, steps = memory(), sum(play(env_id, SECONDS) for env_id in ids)
    print(json.dumps({"ids": len(ids), "steps": steps, "before": before, "loaded": loaded, "after": memory()}))


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_memory_after_a_soak_is_that_of_the_libraries(record_property) -> None:
    code = "from tests.envs.test_soak import soak; soak()"
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}  # as docs/concepts.md advises
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=1400)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    before, loaded, after = found["before"], found["loaded"], found["after"]
    record_property(
        "figures",
        f"{found['steps']:,} steps in {found['ids']} environments: {before['resident']:.0f} MB before the first, "
        f"{loaded['resident']:.0f} MB with the libraries of all, {after['resident']:.0f} MB after the soak; in use "
        f"{loaded['used']:.0f} and {after['used']:.0f} MB, {loaded['blocks']:,} and {after['blocks']:,} blocks",
    )
    assert found["ids"] >= 19
    assert after["blocks"] < 1.01 * loaded["blocks"] and after["used"] < 1.04 * loaded["used"], found
    assert after["resident"] < 1.1 * loaded["resident"], found
