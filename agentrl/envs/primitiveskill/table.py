"""A simulated table in use: the backend, what stands on it, and how that looks now."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from agentrl.core.errors import AgentRLError, ConfigError, EnvFault, did_you_mean
from agentrl.envs.primitiveskill.backend import Action, Backend, Result, Start, run
from agentrl.envs.primitiveskill.tasks.scene import Scene

BACKENDS = {
    "mujoco": "agentrl.envs.primitiveskill.mujoco.backend:MujocoBackend",
    "mani_skill": "agentrl.envs.primitiveskill.mani_skill.backend:ManiSkillBackend",
}


def make_backend(name: str) -> Backend:
    """A new simulated table; `MissingExtra` or `ConfigError` says why there is none."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise ConfigError(
            f"backend must be one of {', '.join(BACKENDS)}; got {name!r}.{did_you_mean(str(name), BACKENDS)}"
        )
    module, _, attribute = BACKENDS[name].partition(":")
    return getattr(import_module(module), attribute)()


T = TypeVar("T")


class Table:
    """Looks at the backend after every change, so that looking again costs nothing. Whatever goes wrong in a simulator
    is an `EnvFault`: it is not the agent's doing."""

    def __init__(self, name: str) -> None:
        self.backend = name
        self._backend: Backend | None = make_backend(name)  # complains now if it cannot work here
        self._pictures: dict[int, np.ndarray] = {}  # by size, of this moment
        self.start: Start | None = None
        self.scene = Scene({}, {}, {}, None)

    def begin(self, start: Start) -> None:
        """Set the table."""
        if self._backend is None:
            self._backend = make_backend(self.backend)
        self.start = start
        self._change(lambda backend: backend.begin(start))

    def run(self, action: Action) -> Result:
        """Let the arm do something."""
        return self._change(lambda backend: run(action, backend))

    def picture(self, size: int) -> np.ndarray:
        """The table from the viewer's place; drawn once for each moment."""
        if size not in self._pictures:
            self._pictures[size] = self._guarded(lambda backend: backend.picture(size))
        return self._pictures[size].copy()

    def save(self) -> dict[str, Any]:
        """The backend's own."""
        return self._guarded(lambda backend: backend.save())

    def load(self, start: Start, data: dict[str, Any]) -> None:
        """Inverse of `save`; ValueError if the data does not fit the start."""
        self.begin(start)
        backend = self._backend
        assert backend is not None  # begin has seen to it
        backend.load(data)
        self._look(backend)

    def close(self) -> None:
        """Free the backend; `begin` makes another one."""
        if self._backend is not None:
            self._backend.close()
            self._backend = None

    def __getstate__(self) -> dict[str, Any]:
        data = self.save() if self.start is not None and self._backend is not None else None
        return {"name": self.backend, "start": self.start, "data": data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["name"])
        if state["data"] is not None:
            self.load(state["start"], state["data"])

    def _change(self, function: Callable[[Backend], T]) -> T:
        result = self._guarded(function)
        assert self._backend is not None
        self._look(self._backend)
        return result

    def _look(self, backend: Backend) -> None:
        assert self.start is not None
        scene = Scene.of(self.start, backend)
        numbers = [value for point in scene.positions.values() for value in point] + list(scene.values.values())
        if not all(map(math.isfinite, numbers)):
            raise EnvFault("the simulation diverged: a position is not finite")
        self.scene, self._pictures = scene, {}

    def _guarded(self, function: Callable[[Backend], T]) -> T:
        if self._backend is None:
            raise EnvFault("the environment is closed; call reset()")
        try:
            return function(self._backend)
        except AgentRLError:
            raise
        except Exception as error:
            raise EnvFault(f"the simulator failed: {type(error).__name__}: {error}") from error
