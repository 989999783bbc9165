"""An environment behind an OpenEnv server as a Gymnasium environment: `gym.make("agentrl/OpenEnv-v0", url=...)`.

It speaks the server's WebSocket protocol itself (a message of JSON for each call), so that OpenEnv, whose dependencies
clash with agentrl's extras, is not needed on this side; `websockets` is (the extra `serve`).
"""

from __future__ import annotations

import json
import urllib.request
from contextlib import ExitStack
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.adapters.chat import picture_in
from agentrl.core.arguments import positive_number
from agentrl.core.errors import ConfigError, EnvFault, MissingExtra
from agentrl.core.spaces import AnyText

try:
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:
    raise MissingExtra("websockets", "serve") from error

MAX_BYTES = 32 << 20  # of one observation
_answered: set[str] = set()  # a server that never answered is a wrong url; one that did may be lost


class OpenEnvClientEnv(gym.Env):
    """Plays in a session of the OpenEnv server at `url`; a lost connection or a late answer is an `EnvFault`.

    `action_field` and `observation_field` are the server's names for the text of an action and of an observation;
    pictures come from its field `images` (name -> PNG as a data URL). `options` of a reset go there as they are.
    `timeout` is seconds for each call; `system_prompt` are the rules where the server tells none.
    """

    def __init__(
        self,
        url: str = "",
        *,
        split: str = "train",
        timeout: float = 60.0,
        action_field: str = "text",
        observation_field: str = "text",
        system_prompt: str = "",
    ) -> None:
        scheme, _, place = str(url).rstrip("/").partition("://")
        if not place or scheme not in ("http", "https"):
            raise ConfigError(f"url must be that of an OpenEnv server, such as http://127.0.0.1:8000; got {url!r}")
        self._address, self.split, self.system_prompt = f"ws{scheme[4:]}://{place}/ws", split, system_prompt
        self._timeout, self._open = positive_number("timeout", timeout), ExitStack()
        self._socket: ClientConnection | None = None
        self._fields = {"action": action_field, "observation": observation_field}
        try:
            with urllib.request.urlopen(f"{scheme}://{place}/schema", timeout=self._timeout) as answer:
                schema = json.load(answer)
            known = {name: sorted({*schema[name]["properties"]} - {"metadata"}) for name in self._fields}
        except (OSError, ValueError, KeyError, TypeError) as error:
            kind = EnvFault if url in _answered else ConfigError
            raise kind(f"url must be that of an OpenEnv server; {url} gave no schema: {error}") from error
        for name, field in self._fields.items():
            if field not in known[name]:
                raise ConfigError(f"{name}_field must be one of {', '.join(known[name])}; got {field!r}")
        _answered.add(url)
        first, _ = self.reset(seed=0)  # nothing else tells how large pictures are
        boxes = {k: spaces.Box(0, 255, v.shape, np.uint8) for k, v in first.items() if isinstance(v, np.ndarray)}
        self.observation_space, self.action_space = spaces.Dict({"text": AnyText(), **boxes}), AnyText()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, in a new session where the last one has ended."""
        super().reset(seed=seed)
        given = {"seed": seed, "split": self.split, **(options or {})}
        given, began = {name: value for name, value in given.items() if value is not None}, self._socket is not None
        try:
            observation, _, _, told = self._ask("reset", given)
        except EnvFault as fault:
            if not began or isinstance(fault.__cause__, TimeoutError):
                raise
            observation, _, _, told = self._ask("reset", given)  # servers end sessions that were idle for long
        self.system_prompt = told.get("rules") or self.system_prompt
        return observation, told.get("info", told)

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a turn."""
        if self._socket is None:
            raise EnvFault(f"{self._address}: the session is lost; reset begins another one")
        observation, reward, done, told = self._ask("step", {self._fields["action"]: action})
        truncated = bool(told.get("truncated", False))
        terminated = bool(told.get("terminated", done and not truncated))
        return observation, reward, terminated, truncated, told.get("info", told)

    def close(self) -> None:
        """End the session. May be called twice."""
        self._socket = None
        self._open.close()

    def _ask(self, kind: str, data: dict[str, Any]) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        """Observation, reward, done and metadata; whatever goes wrong ends the session and is a fault."""
        try:
            if self._socket is None:
                limits: Any = {"open_timeout": self._timeout, "close_timeout": 1, "max_size": MAX_BYTES}
                self._socket = self._open.enter_context(connect(self._address, **limits))
            self._socket.send(json.dumps({"type": kind, "data": data}))
            answer = json.loads(self._socket.recv(self._timeout))
            if answer["type"] != "observation":
                raise ValueError(answer["data"].get("message", answer))
            told, seen = answer["data"], answer["data"]["observation"]
            images = {name: np.array(picture_in(url)) for name, url in seen.get("images", {}).items()}
            observation = {"text": str(seen[self._fields["observation"]]), **images}
            return observation, float(told.get("reward") or 0.0), bool(told["done"]), told.get("metadata") or {}
        except (OSError, WebSocketException, ValueError, KeyError, TypeError, AttributeError) as error:
            self.close()
            late = f"no answer within {self._timeout:g} s" if isinstance(error, TimeoutError) else ""
            raise EnvFault(f"{self._address} {kind}: {late or error or type(error).__name__}") from error
