"""`agentrl bench grid`: the grid worlds against gymnasium, envpool and gym-sokoban, one thread each, autoreset on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import agentrl
from agentrl.core.measure import machine, measure_peers, rates, result
from agentrl.envs.grid.kernel import kernel_name

GAMES = ("FrozenLake", "Sokoban")
NUM_ENVS = 4096
PICTURE_ENVS = 8  # a batch of pictures that still fits the caches of one core
PEERS = ("gymnasium", "envpool", "gym-sokoban")
# (case, our implementation's case, the peer whose best counts, required ratio)
REQUIRED = (
    *((f"{game} steps, grid observation", f"{game} steps", "envpool", "steps", 20) for game in GAMES),
    ("Sokoban level resets", "Sokoban resets", "gym-sokoban", "resets", 1000),
    *((f"{game} pictures of 96 px", f"{game} pictures 96", "gymnasium", "pictures", 100) for game in GAMES),
    *((f"{game} pictures of 256 px", f"{game} pictures 256", "gymnasium", "pictures", 30) for game in GAMES),
)


def run(quick: bool = False) -> dict[str, Any]:
    """Measure ours, then the peers, and compare."""
    seconds, repeats = (0.05, 1) if quick else (0.5, 5)
    results = our_rows(seconds, repeats)
    theirs = measure_peers("grid.py", [str(x) for x in (seconds, repeats)], PEERS, timeout=600)
    results += theirs["results"]
    ratios = [compare(results, *required) for required in REQUIRED]
    return {
        "schema": 1,
        "name": "grid",
        "machine": machine(),
        "threads": 1,
        "kernel": kernel_name(),
        "results": results,
        "peers": theirs["peers"],
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def our_rows(seconds: float, repeats: int) -> list[dict[str, Any]]:
    """Steps, level resets and pictures of both games through `gym.make_vec`."""
    rows = []
    for game in GAMES:
        steps = rates(stepper(game, NUM_ENVS), seconds, repeats)
        rows.append(_row(f"{game} steps", steps, "steps/s", num_envs=NUM_ENVS, obs="grid"))
        resets = rates(resetter(game, NUM_ENVS), seconds, repeats)
        rows.append(_row(f"{game} resets", resets, "resets/s", num_envs=NUM_ENVS, obs="grid"))
        for pixels in (96, 256):
            work = stepper(game, PICTURE_ENVS, observation="image", image_size=pixels)
            found = rates(work, seconds, repeats)
            rows.append(
                _row(f"{game} pictures {pixels}", found, "pictures/s", num_envs=PICTURE_ENVS, obs="image", px=pixels)
            )
    return rows


def _row(case: str, found: list[float], unit: str, **shape: Any) -> dict[str, Any]:
    return result(case, f"agentrl ({kernel_name()})", agentrl.__version__, found, unit, **shape)


def stepper(game: str, num_envs: int, **arguments: Any) -> Any:
    """Random actions; every observation is fresh, every episode that ends is followed by a new level."""
    envs = gym.make_vec(f"agentrl/{game}-Grid-v0", num_envs=num_envs, **arguments)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 4, (16, num_envs))

    def work() -> int:
        for row in actions:
            envs.step(row)
        return num_envs * len(actions)

    return work


def resetter(game: str, num_envs: int) -> Any:
    """Every environment on to the next level of its walk, observation included."""
    envs = gym.make_vec(f"agentrl/{game}-Grid-v0", num_envs=num_envs)
    envs.reset(seed=0)

    def work() -> int:
        envs.reset()
        return num_envs

    return work


def compare(
    results: list[dict[str, Any]], case: str, ours: str, peer: str, what: str, required: float
) -> dict[str, Any]:
    """Our rate over the peer's best; no peer, no ratio, no pass."""
    mine = next(row["value"] for row in results if row["case"] == ours)
    best = max((row["value"] for row in results if row["impl"].startswith(peer) and row["case"] == what), default=None)
    ratio = None if best is None else mine / best
    passed = ratio is not None and ratio >= required
    return {"case": case, "ours": mine, "peer": best, "ratio": ratio, "required": required, "pass": passed}
