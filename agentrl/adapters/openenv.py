"""Environments of agentrl as an OpenEnv server: `python -m agentrl.adapters.openenv ID --port 8000`.

It runs where OpenEnv is installed. Each WebSocket is a session with an environment of its own; idle ones are ended.
OpenEnv knows no truncation and no info: `metadata` has `terminated`, `truncated`, `success`, `info` and, after a reset,
`rules`. The other direction is `agentrl.adapters.openenv_client`.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from functools import partial
from typing import Any

import tyro

from agentrl.core.errors import ConfigError, MissingLibrary
from agentrl.policies.openai import clean, data_url
from agentrl.rollout.episode import make
from agentrl.rollout.prompts import read_observation, rules_of
from agentrl.rollout.trajectory import plain

try:
    import uvicorn
    from openenv.core.env_server import Action, ConcurrencyConfig, Environment, Observation, State, create_app
except ImportError as error:
    raise MissingLibrary("openenv", "openenv==0.10.0") from error


class TextAction(Action):
    """One turn."""

    text: str


class TextObservation(Observation):
    """What the environment says, and its pictures: name -> PNG as a data URL."""

    text: str = ""
    images: dict[str, str] = {}


class SuiteEnvironment(Environment[TextAction, TextObservation, State]):
    """An environment of agentrl in one session; `make(split=...)` is called when a split is first asked for."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, make: Any) -> None:
        super().__init__()
        self._make, self._made, self._closed = make, dict[str, Any](), False
        self._split, self._now = "train", State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **chosen: Any) -> TextObservation:
        """Begin an episode: by its seed, or exactly one task of a `split` (train by default), by `index` or `task`."""
        if unknown := sorted(set(chosen) - {"split", "index", "task"}):
            raise ConfigError(f"arguments of reset must be seed, episode_id, split, index or task; got {unknown}")
        split, task = chosen.get("split") or "train", chosen.get("task")
        task = task if chosen.get("index") is None else self._in(split).unwrapped.tasks()[chosen["index"]]
        env, self._split, self._now = self._in(split), split, State(episode_id=episode_id)
        observation, info = env.reset(seed=seed, options=None if task is None else {"task": task})
        return self._observed(observation, info, rules=rules_of(env))

    def step(self, action: TextAction, timeout_s: float | None = None, **_: Any) -> TextObservation:
        """Play a turn."""
        observation, reward, terminated, truncated, info = self._in(self._split).step(action.text)
        self._now.step_count += 1
        seen = self._observed(observation, info, terminated=bool(terminated), truncated=bool(truncated))
        seen.reward, seen.done = float(reward), bool(terminated or truncated)
        return seen

    def _observed(self, observation: dict[str, Any], info: dict[str, Any], **facts: Any) -> TextObservation:
        text, pictures = read_observation(observation)
        images = {name: data_url(part) for name, part in observation.items() if any(part is one for one in pictures)}
        metadata = {**facts, "success": bool(info.get("success", False)), "info": plain(info)}
        return TextObservation(text=clean(text), images=images, metadata=metadata)

    @property
    def state(self) -> State:
        """The turns so far; the true state is in `info`."""
        return self._now

    def close(self) -> None:
        """Give back what the environments hold. A session that was idle is closed while its WebSocket is still open."""
        self._closed = True
        while self._made:
            self._made.popitem()[1].close()

    def _in(self, split: str) -> Any:
        if self._closed:
            raise ConfigError("the session was idle and has ended; connect again")
        return self._made.get(split) or self._made.setdefault(split, self._make(split=split))

    def list_splits(self) -> list[str]:
        """Those of every environment."""
        return ["train", "dev", "test"]

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return len(self._in(split).unwrapped.tasks())

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One of them, which `reset(split=..., index=...)` plays."""
        return {"id": self._in(split).unwrapped.tasks()[index], "index": index}


def serve(id: tyro.conf.Positional[str], port: int = 8000, env_kwargs: str = "{}", idle_seconds: float = 600.0) -> None:
    """Serve an environment on loopback, to a hundred sessions at most; one without a call for so long is ended."""
    factory = partial(make, id, **json.loads(env_kwargs))
    factory(split="train").close()  # a wrong argument is refused here, not in the first session
    limits = ConcurrencyConfig(max_concurrent_envs=100, session_timeout=idle_seconds)
    served, name = partial(SuiteEnvironment, factory), id.rpartition("/")[2]  # the name is a part of URLs
    app = create_app(served, TextAction, TextObservation, env_name=name, concurrency_config=limits)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    try:
        tyro.cli(serve, prog="python -m agentrl.adapters.openenv")
    except ConfigError as error:
        raise SystemExit(f"agentrl: {error}") from error
