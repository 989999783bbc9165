"""The trivial environment of `agentrl bench serve` as an OpenEnv server: `openenv_server.py PORT sync|async`.

It runs in the virtual environment of OpenEnv and is told what to say by the standard input.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import sys

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.types import ConcurrencyConfig

WORDS = sys.stdin.read()


class TextAction(Action):
    """What a player says."""

    text: str


class TextObservation(Observation):
    """What a player is told."""

    text: str = ""


class Trivial(Environment):
    """As OpenEnv's examples are written."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None, episode_id=None, **kwargs):
        """Nothing begins."""
        return TextObservation(text=WORDS)

    def step(self, action, timeout_s=None, **kwargs):
        """Nothing happens."""
        return TextObservation(text=WORDS, reward=0.5)

    @property
    def state(self):
        """There is none."""
        return State()


class TrivialAsync(Trivial):
    """The same in the event loop."""

    async def reset_async(self, seed=None, episode_id=None, **kwargs):
        """Nothing begins."""
        return self.reset()

    async def step_async(self, action, timeout_s=None, **kwargs):
        """Nothing happens."""
        return self.step(action)


if __name__ == "__main__":
    kind = {"sync": Trivial, "async": TrivialAsync}[sys.argv[2]]
    limits = ConcurrencyConfig(max_concurrent_envs=100, session_timeout=60.0)
    app = create_app(kind, TextAction, TextObservation, env_name="trivial", concurrency_config=limits)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
