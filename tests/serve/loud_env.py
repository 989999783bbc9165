"""An environment that writes to stdout in every way there is, from its import to its end, and reads stdin."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import gymnasium as gym

from agentrl.core.spaces import AnyText


def shout(moment: str) -> None:
    """By Python, by the file descriptor, by the C library (which keeps it for later) and from a child process."""
    print(f'{{"jsonrpc": "2.0", "id": 1, "result": "{moment} by print"}}')
    os.write(1, f"{moment} by write\n".encode())
    ctypes.CDLL(None).puts(f"{moment} by puts".encode())
    subprocess.run(["echo", f"{moment} by echo"], check=True)


class LoudEnv(gym.Env):
    """Two turns of anything."""

    system_prompt = "Say anything, twice."

    def __init__(self, render_mode=None):
        shout("make")
        self.observation_space, self.action_space = gym.spaces.Dict({"text": AnyText()}), AnyText(("good",))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        shout("reset")
        self.turn = 0
        return {"text": f"seed {seed}; stdin says {sys.stdin.read()!r}"}, {"success": False}

    def step(self, action):
        shout("step")
        self.turn += 1
        return {"text": f"turn {self.turn}"}, 1.0, self.turn == 2, False, {"success": self.turn == 2}

    def close(self):
        shout("close")


shout("import")
gym.register("serve-tests/Loud-Text-v0", LoudEnv)
