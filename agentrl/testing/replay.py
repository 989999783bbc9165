"""Play an environment by its spec and say what happened in digests: the half of a check that other processes run."""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from agentrl.core.snapshot import restore
from agentrl.testing.compare import fingerprint
from agentrl.testing.subject import Player, trajectory

TURNS_AFTER_RESTORE = 8


def replay(job: dict[str, Any]) -> dict[str, Any]:
    """Digests of some episodes from a seed, and of what follows a snapshot."""
    env = gym.make(EnvSpec.from_json(job["spec"]), disable_env_checker=True)
    results = [fingerprint(result) for result in trajectory(env, job["seed"], job["episodes"])]
    continued = []
    if job["blob"] is not None:
        restore(env, base64.b64decode(job["blob"]))
        player = Player(env, job["seed"])
        continued = [fingerprint(result) for result in player.play(TURNS_AFTER_RESTORE)]
    env.close()
    return {"episodes": results, "continued": continued}


def main() -> None:
    """Read a job as JSON from standard input and write the digests as JSON to standard output."""
    # Whatever an environment prints must not get between the digests.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    json.dump(replay(json.load(sys.stdin)), answer)
    answer.close()
