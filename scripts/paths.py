"""How many files and lines somebody reads who follows one call through the package.

    python scripts/paths.py [NAME ...]      # steppo-update, webrl-phase, site-click, libero-step; all by default

Each call is made once to warm up and once under `sys.setprofile`. Counted: files of the package that are entered, their
lines, and the lines of the functions that ran.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl

PACKAGE = Path(agentrl.__file__).parent
TINY: dict[str, Any] = {"model": "tiny-text", "num_envs": 8, "max_new_tokens": 4, "threads": 1, "report": False}


class Trace:
    """What ran while it was on."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()

    def _enter(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self.codes.add(frame.f_code)

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Watch what runs inside."""
        sys.setprofile(self._enter)
        try:
            yield
        finally:
            sys.setprofile(None)

    def counts(self) -> tuple[int, int, int]:
        """Files, lines of these files, lines of the functions; a lambda's line counts once with its function's."""
        ran: dict[str, set[int]] = {}
        for code in self.codes:
            if Path(code.co_filename).is_relative_to(PACKAGE) and code.co_name != "<module>":
                last = max(line for *_, line in code.co_lines() if line)
                ran.setdefault(code.co_filename, set()).update(range(code.co_firstlineno, last + 1))
        lines = {name: len(Path(name).read_text().splitlines()) for name in ran}
        for name in sorted(ran, key=lambda name: -len(ran[name])):
            print(f"    {Path(name).relative_to(PACKAGE)!s:45}{lines[name]:5} lines, {len(ran[name])} of them ran")
        return len(ran), sum(lines.values()), sum(map(len, ran.values()))


def steppo_update(trace: Trace) -> None:
    """One StepPO update of a tiny model: scores, advantages, losses, gradients, optimiser."""
    from agentrl.trainers.algorithms import steppo

    plain, updates = steppo.update, iter((contextlib.nullcontext(), trace.on()))

    def watched(*arguments: Any) -> dict[str, float]:
        with next(updates):
            return plain(*arguments)

    steppo.update = watched
    train("steppo", "StepPO", iterations=2, episodes=8)


def webrl_phase(trace: Trace) -> None:
    """One phase of WebRL: episodes, labels, critic, advantages, replay, policy, new tasks."""
    with trace.on():
        train("webrl", "WebRL", iterations=1, tasks_per_phase=8)


def train(module: str, name: str, **settings: Any) -> None:
    """Run an algorithm in a folder that is thrown away."""
    found = importlib.import_module(f"agentrl.trainers.algorithms.{module}")
    with tempfile.TemporaryDirectory() as folder:
        arguments = getattr(found, name)(env="agentrl/FrozenLake-Text-v0", output=f"{folder}/run", **TINY, **settings)
        found.train(arguments, lambda *_, **__: None)


def site_click(trace: Trace) -> None:
    """One click on a link of a web site."""
    env = gym.make("agentrl/WebArenaLite-Text-v0")
    observation, _ = env.reset(seed=0)
    for watched in (contextlib.nullcontext(), trace.on()):
        (link,) = re.findall(r'<a id="(\d+)" data-text="Directions"', observation["text"])
        with watched:
            observation, *_, info = env.step(f"do(action='Click', element='{link}')")
        assert info["valid"], info["feedback"]


def libero_step(trace: Trace) -> None:
    """One control step of LIBERO, pictures included."""
    env = gym.make("agentrl/LIBERO-Spatial-v0")
    env.reset(seed=0)
    action = np.zeros(7, np.float32)
    env.step(action)
    with trace.on():
        env.step(action)


PATHS: dict[str, Callable[[Trace], None]] = {
    "steppo-update": steppo_update,
    "webrl-phase": webrl_phase,
    "site-click": site_click,
    "libero-step": libero_step,
}


def main(names: list[str]) -> None:
    """Follow the named paths and print one line for each."""
    for name in names or list(PATHS):
        trace = Trace()
        PATHS[name](trace)
        files, lines, ran = trace.counts()
        print(f"{name}: {files} files, {lines} lines of these files, {ran} lines of functions that ran", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
