"""Success of a VLA policy in MuJoCo, on the same starts under several conditions.

The arm is moved in processes, one for each core, by MuJoCo. Pictures are drawn there by OpenGL, or, where there is
none, by MuJoCo Warp from the state that MuJoCo reached; perturbed worlds look different each, so they need OpenGL.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from PIL import Image

from agentrl.envs.common.perturb import FACTORS
from agentrl.envs.libero.simulation import PICTURES
from agentrl.policies.vla import VLAPolicy
from agentrl.rollout.episode import make
from agentrl.rollout.statistics import mean_interval, share_interval
from agentrl.wrappers import ActionChunks
from benchmarks.libero.warp_play import Oracles
from benchmarks.libero.warp_worlds import STATE

RIGHT, SHUFFLED, LEVELS = "right instructions", "shuffled instructions", (1, 2, 3)
EVERY = 5  # chunks between reports
_playing: dict[str, gym.Env] = {}  # of a process


class Episode(NamedTuple):
    """A start, and what is different."""

    task: str
    told: str | None = None  # in place of its instruction
    perturb: str | None = None


def conditions(tasks: list[str], instructions: list[str], *, perturbed: bool) -> dict[str, list[Episode]]:
    """What is measured. `tasks` are ids of starts, the tasks in turn, and `instructions` those of the tasks: shuffled
    ones are the next task's."""
    count = len(instructions)
    others = [instructions[(place + 1) % count] for place in range(len(tasks))]
    found = {RIGHT: [Episode(task) for task in tasks]}
    if count > 1:
        found[SHUFFLED] = [Episode(task, told=other) for task, other in zip(tasks, others, strict=True)]
    for factor in FACTORS if perturbed else ():
        for level in LEVELS:
            change = f"{factor}:{level}"
            found[change] = [Episode(task, perturb=change) for task in tasks]
    return found


# ---------------------------------------------------------------------- in a process of its own


def begin(key: str, env_id: str, kwargs: dict[str, Any], chunk: int, episode: Episode) -> dict[str, Any]:
    """Begin an episode; what is seen."""
    if episode.perturb is not None:
        kwargs = {**kwargs, "perturb": episode.perturb}
    env = ActionChunks(make(env_id, split="test", **kwargs), chunk)
    seen, _ = env.reset(options={"task": episode.task})
    _playing[key] = env
    return shown(env, seen)


def go_on(key: str, actions: np.ndarray) -> tuple[dict[str, Any] | None, bool]:
    """Carry a chunk out; what is seen then, None where the episode is over, and whether it succeeded."""
    env = _playing[key]
    seen, _, terminated, truncated, info = env.step(actions)
    if not terminated and not truncated:
        return shown(env, seen), False
    _playing.pop(key).close()
    return None, bool(info["success"])


def shown(env: gym.Env, seen: dict[str, Any]) -> dict[str, Any]:
    """The observation, and the state from which its pictures can be drawn."""
    data = env.unwrapped._simulation.world.data  # type: ignore[attr-defined]
    return {**seen, "data": {part: getattr(data, part).copy() for part in STATE}}


# ---------------------------------------------------------------------- where the policy is


class Painter:
    """Draws states of MuJoCo by MuJoCo Warp."""

    def __init__(self, env_id: str, tasks: list[str], size: int, device: str | None) -> None:
        self.numbers = sorted({number_of(task) for task in tasks})
        most = max(sum(number_of(task) == number for task in tasks) for number in self.numbers)
        self.env: Any = gym.make_vec(
            env_id, most * len(self.numbers), "vector_entry_point", simulator="warp", device=device, starts=1,
            settle_steps=0, tasks=tuple(self.numbers), image_size=size, split="test", autoreset_mode="Disabled",
        )  # fmt: skip
        self.env.reset()

    def draw(self, episodes: list[Episode], states: list[dict[str, np.ndarray]]) -> list[dict[str, np.ndarray]]:
        """The pictures of each."""
        worlds, taken = [], dict.fromkeys(self.numbers, 0)
        for episode in episodes:
            number = number_of(episode.task)
            worlds.append(self.numbers.index(number) + taken[number] * len(self.numbers))
            taken[number] += 1
        for place, task in enumerate(self.env.tasks):
            own = [n for n, world in enumerate(worlds) if world % len(self.numbers) == place]
            rows, mask = task.batch.rows(), torch.zeros(task.batch.count, dtype=torch.bool, device=self.env.device)
            mask[task.rows[: len(own)]] = True
            for part in STATE if own else ():
                rows[part][task.rows[: len(own)]] = rows[part].new_tensor(np.array([states[n][part] for n in own]))
            task.batch.write(rows, mask)
        seen = self.env.look()
        pictures = {name: seen[name][torch.tensor(worlds)].cpu().numpy() for name in PICTURES}
        return [{name: pictures[name][n] for name in PICTURES} for n in range(len(episodes))]


def number_of(task: str) -> int:
    """Of the task, in the id of a start."""
    return int(task.partition("/")[2].partition(":")[0])


def measure(
    policy: VLAPolicy,
    env_id: str,
    episodes: list[Episode],
    processes: Oracles,
    painter: Painter | None,
    max_turns: int | None = None,
    watch: Callable[[int, np.ndarray], object] | None = None,
) -> list[bool]:
    """Which episodes succeed; all of them are played side by side. `watch` is shown what each of them shows the policy,
    by the first camera."""
    seen_as = {"image_size": policy.spec.picture_size} if painter is None else {"obs_mode": "state"}
    kwargs = {**seen_as, "max_turns": max_turns}
    keys = [f"{n} {one.task} {one.told} {one.perturb}" for n, one in enumerate(episodes)]
    asked = [
        processes.ask(n, begin, key, env_id, kwargs, policy.chunk, one)
        for n, (key, one) in enumerate(zip(keys, episodes, strict=True))
    ]
    seen: dict[int, dict[str, Any]] = {n: one.result() for n, one in enumerate(asked)}
    success, turn = [False] * len(episodes), 0
    while seen:
        rows = list(seen)
        if painter is not None:
            drawn = painter.draw([episodes[n] for n in rows], [seen[n]["data"] for n in rows])
            for n, pictures in zip(rows, drawn, strict=True):
                seen[n] |= pictures
        for n in rows:
            if told := episodes[n].told:
                seen[n]["text"] = told
            if watch is not None:
                watch(n, seen[n][next(iter(PICTURES))])
        talks: Any = [[{"role": "user", "content": "", "observation": seen[n]}] for n in rows]
        answers = policy.act(talks, keys=[f"{keys[n]}/{turn}" for n in rows])
        asked = [processes.ask(n, go_on, keys[n], one.action) for n, one in zip(rows, answers, strict=True)]
        turn += 1
        for n, one in zip(rows, asked, strict=True):
            after, success[n] = one.result()
            seen[n] = after or {}
        seen = {n: one for n, one in seen.items() if one}
        if turn % EVERY == 0:
            print(f"chunk {turn}: {len(seen)} of {len(episodes)} still played", file=sys.stderr, flush=True)
    return success


def film(frames: list[list[np.ndarray]], success: list[bool], path: Path) -> None:
    """Nine episodes in a square, each framed in green from its end on if it succeeded, and in red if not."""
    length, shots = max(map(len, frames)), []
    for moment in range(length + 3):
        cells = []
        for own, won in zip(frames, success, strict=True):
            cell = own[min(moment, len(own) - 1)].copy()
            if moment >= len(own):
                for edge in (cell[:2], cell[-2:], cell[:, :2], cell[:, -2:]):
                    edge[:] = (0, 200, 0) if won else (220, 0, 0)
            cells.append(cell)
        shots.append(Image.fromarray(np.concatenate([np.concatenate(cells[n : n + 3], 1) for n in (0, 3, 6)])))
    path.parent.mkdir(parents=True, exist_ok=True)
    shots[0].save(path, save_all=True, append_images=shots[1:], duration=400, loop=0)


# ---------------------------------------------------------------------- what it comes to


def told(before: dict[str, bool], after: dict[str, bool]) -> dict[str, Any]:
    """Success before and after, and its growth, on the starts that both played; 95 % intervals."""
    common = [start for start in before if start in after]
    pairs = [(before[start], after[start]) for start in common]
    first, second = ([pair[k] for pair in pairs] for k in (0, 1))
    return {
        "starts": len(common),
        "before": figure(first, common),
        "after": figure(second, common),
        "growth": {
            "mean": float(np.mean([b - a for a, b in pairs])),
            "interval": mean_interval([float(b) - float(a) for a, b in pairs]),
        },
    }


def figure(success: list[bool], starts: list[str]) -> dict[str, Any]:
    """A share with its interval."""
    return {"success": float(np.mean(success)), "interval": share_interval(success, starts)}
